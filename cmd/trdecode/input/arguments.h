/*
 * arguments.h - the names of the arguments of each function, which its location declares
 *
 * For formats whose events name their arguments, each event its own.
 */
#ifndef TR_TRDECODE_INPUT_ARGUMENTS_H
#define TR_TRDECODE_INPUT_ARGUMENTS_H

#include "common/stream/writer.h"
#include "common/util/intern.h"

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
};

/* Get the arguments of a function, none at first. The pointer is valid until the next call. NULL:
 * out of memory. */
struct argument_names *arguments_of(struct argument_table *t, uint32_t function);
/* Add a name. -1: out of memory. */
int arguments_add(struct argument_names *f, uint32_t name);
void arguments_free(struct argument_table *t);

/* Declare a struct whose members have these names. 0: out of memory. */
uint32_t arguments_struct(struct writer *w, const uint32_t *names, size_t n);
/* Declare a function with arguments of these names. 0: out of memory. */
uint32_t arguments_location(struct writer *w, uint32_t function, const uint32_t *names, size_t n);

#endif
