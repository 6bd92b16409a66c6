/*
 * convert.h - a .trace out of the events of any source: between its files
 */
#ifndef TR_TRENCODE_APITRACE_CONVERT_H
#define TR_TRENCODE_APITRACE_CONVERT_H

#include "cmd/trencode/convert/convert.h"
#include "common/util/intern.h"

/* Values of any source as apitrace has them. */
struct apitrace_convert_values {
	const struct dictionary *from;
	struct target_dictionary *to;
	uint32_t *definitions; /* in to, by number in from; 0 not yet */
	size_t size;
	uint64_t rounded, opaque;
};

/* The definition as the trace to be has it; 0: out of memory. */
uint32_t apitrace_convert_definition(struct apitrace_convert_values *a, const struct definition *d);
/*
 * Append the details of a row's VALUES to b, arguments numbered from 1 on in the order in which
 * they come; those beyond n are left out and counted in *lost. keep: they have their numbers
 * already. -1: out of memory.
 */
int apitrace_convert_call(struct apitrace_convert_values *a, struct buffer *b,
			  const struct event *ev, bool keep, uint32_t n, uint64_t *lost);

/* --- apitrace_convert_functions.c --- */

/* A function of the trace to be. */
struct apitrace_convert_function {
	uint32_t location; /* in the dialect, 0 not yet */
	uint32_t arguments;
	bool keep; /* the arguments' numbers are right as they are */
};

/* The fields of a type. */
struct apitrace_convert_fields {
	struct convert_field *fields;
	uint32_t n;
};

/*
 * The functions of the trace to be: one for each list of arguments that calls of a name come with,
 * where it is known before the call is written. Zero but for anew.
 */
struct apitrace_convert_functions {
	struct conversion *conversion;
	uint64_t cut, fields_lost; /* names; fields of types */

	/* its own */
	/* of calls and of instants by place, of instants by type; those of known */
	struct apitrace_convert_function *locations, *instants, *types, *lists;
	size_t locations_size, instants_size, types_size, lists_size;
	struct intern known; /* lists of arguments */
	struct buffer key;
	struct apitrace_convert_fields *fields; /* by type */
	size_t fields_size;
	uint32_t signatures;
	uint64_t listed; /* arguments in lists */
};

void apitrace_convert_functions_free(struct apitrace_convert_functions *f);
/* -1: out of memory; NULL says the same below. */
int apitrace_convert_fields(struct apitrace_convert_functions *f, const struct type *t,
			    struct apitrace_convert_fields **out);
/* Of a call, at either end: what was recorded with its enter is among the arguments. */
struct apitrace_convert_function *apitrace_convert_of_call(struct apitrace_convert_functions *f,
							   const struct convert_row *r);
/* Of an event with VALUES: it has the names of its place's arguments, and is called as that. */
struct apitrace_convert_function *apitrace_convert_of_values(struct apitrace_convert_functions *f,
							     const struct event *ev);
/* Of one with fields: it is called as its type, and its place is one more argument. */
struct apitrace_convert_function *
apitrace_convert_of_fields(struct apitrace_convert_functions *f, const struct event *ev,
			   const struct apitrace_convert_fields *fields);

#endif
