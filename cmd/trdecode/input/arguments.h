/*
 * arguments.h - the names of the arguments of each function, which its location declares
 *
 * For formats whose events name their arguments, each event its own. Where all events are read
 * before the first row is written, a location declares all arguments that events of its name have:
 * arguments_learn, then arguments_location_of and arguments_values. Arguments are optional, and
 * ends may have other arguments than their begins. So each location also declares the arguments of
 * events without a name, after its own.
 */
#ifndef TR_TRDECODE_INPUT_ARGUMENTS_H
#define TR_TRDECODE_INPUT_ARGUMENTS_H

#include "common/stream/writer.h"
#include "common/util/intern.h"

enum { ARGUMENTS_RECENT = 4096 }; /* slots of a cache of numbers that were used last */

/* A function. Names are strings of the writer. */
struct argument_names {
	uint32_t *names;
	size_t count, capacity;
	uint32_t location; /* 0: not declared, or not with all names */
};

struct argument_table {
	struct id_cache numbers; /* by name of the function: index + 1 */
	struct argument_names *functions;
	size_t count, capacity;
	/* of arguments_learn: numbers by function and name, from 1; the names of all functions */
	struct id_cache pairs;
	struct intern names;
	struct {
		uint64_t pair;	 /* function << 32 | name */
		uint32_t number; /* 0: the slot is free */
	} recent[ARGUMENTS_RECENT];
	uint64_t nameless; /* arguments that arguments_values left out */
};

/* Get the arguments of a function, none at first. The pointer is valid until the next call. NULL:
 * out of memory. */
struct argument_names *arguments_of(struct argument_table *t, uint32_t function);
/* Add a name. -1: out of memory. */
int arguments_add(struct argument_names *f, uint32_t name);
void arguments_free(struct argument_table *t);

/* Record that an event of a function has an argument with a name; at most 4096 names of a function
 * are recorded. -1: out of memory. */
int arguments_learn(struct argument_table *t, uint32_t function, uint32_t name);
/* Test whether any function has an argument with that name. */
bool arguments_has(const struct argument_table *t, uint32_t name);
/* Get the name of a field of the decoder's own that no argument has: the text, followed by as many
 * _ as are needed. 0: out of memory. */
uint32_t arguments_free_name(const struct argument_table *t, struct writer *w, const char *text);
/* Get the location of a function with all names learnt. 0: out of memory. */
uint32_t arguments_location_of(struct argument_table *t, struct writer *w, uint32_t function);
/* Set the content of a buffer to the details (value.h) of named values of a function that has a
 * location. A named value is u32 name, u32 size, and the value. -1: out of memory. */
int arguments_values(struct argument_table *t, uint32_t function, const uint8_t *values,
		     uint32_t size, struct buffer *details);

/* Declare the definitions of the STRUCTs in the details of the next row. -1: out of memory. */
int arguments_use_structs(struct writer *w, const struct buffer *details);

/* Declare a struct whose members have these names. 0: out of memory. */
uint32_t arguments_struct(struct writer *w, const uint32_t *names, size_t n);
/* Declare a function with arguments of these names. 0: out of memory. */
uint32_t arguments_location(struct writer *w, uint32_t function, const uint32_t *names, size_t n);

#endif
