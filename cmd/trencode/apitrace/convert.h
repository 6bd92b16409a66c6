/*
 * convert.h - convert the events of any source to a .trace: what the files share
 *
 * Functions that return int return 0, or -1 when out of memory; those that return a pointer return
 * NULL then.
 */
#ifndef TR_TRENCODE_APITRACE_CONVERT_H
#define TR_TRENCODE_APITRACE_CONVERT_H

#include "cmd/trencode/convert/convert.h"
#include "common/util/intern.h"

/* The conversion of values of any source to those of a .trace. */
struct apitrace_convert_values {
	const struct dictionary *from;
	struct target_dictionary *to;
	uint32_t *definitions; /* numbers in to, by number in from; 0: not yet converted */
	size_t size;
	struct buffer *out;	  /* of the values that are being converted */
	uint64_t rounded, opaque; /* values */
};

/*
 * Append the details of an event's values to b. Arguments are numbered from 1 in their order, or
 * with keep as recorded. Arguments beyond n are left out and counted in *lost.
 */
int apitrace_convert_details(struct apitrace_convert_values *a, struct buffer *b,
			     const struct event *ev, bool keep, uint32_t n, uint64_t *lost);

/* --- convert_functions.c --- */

/* One function of the target trace. */
struct apitrace_convert_function {
	uint32_t location;  /* number in the target dictionary; 0: not yet declared */
	uint32_t arguments; /* number of */
	bool keep;	    /* arguments keep their recorded numbers */
};

/*
 * The functions of the target trace: one for each name and list of arguments, where the list is
 * known before the call is written. Zero-initialised except conversion.
 */
struct apitrace_convert_functions {
	struct conversion *conversion;
	struct convert_arguments arguments;
	uint64_t cut; /* names */

	/* of calls by location * 2 + numbered, of instants by location, of instants by type, of
	 * lists by known */
	struct apitrace_convert_function *locations, *instants, *types, *lists;
	size_t locations_size, instants_size, types_size, lists_size;
	struct intern known; /* lists of arguments */
	struct buffer key;
	uint32_t signatures;
	uint64_t listed; /* arguments in lists */
};

void apitrace_convert_functions_free(struct apitrace_convert_functions *f);
/* Return the function of an enter or leave. Its arguments are what the enter recorded. */
struct apitrace_convert_function *apitrace_function_of_call(struct apitrace_convert_functions *f,
							    const struct convert_row *r);
/* Return the function of an event with values, named for its location, or for its type. ev: the
 * event with its fields as arguments. */
struct apitrace_convert_function *apitrace_function_of_values(struct apitrace_convert_functions *f,
							      const struct event *ev);
/* Return the function of an event with fields, named for its type; the location, if there is one,
 * is the last argument. */
struct apitrace_convert_function *apitrace_function_of_fields(struct apitrace_convert_functions *f,
							      const struct event *ev,
							      const struct convert_fields *fields);

#endif
