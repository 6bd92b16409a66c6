/*
 * list_private.h - what the reading thread collects and list_print prints
 */
#ifndef TR_TRDECODE_LIST_LIST_PRIVATE_H
#define TR_TRDECODE_LIST_LIST_PRIVATE_H

#include <pthread.h>

#include "cmd/trdecode/list/list.h"
#include "common/stream/reader.h"

/* A field of a type, or an argument of its first event with arguments. */
struct listed_field {
	size_t name, name_size; /* in texts */
	const char *kind;
	size_t example, example_size; /* in texts; 0 bytes: none was seen */
};

/* Types of one name, group and kind: sources and segments may declare them again. */
struct listed_type {
	const struct type *type; /* the first one */
	uint64_t events;
	struct listed_field *fields; /* those of type, then arguments */
	size_t nfields, fields_capacity;
	size_t missing;		      /* fields without an example */
	struct text_ref arguments_of; /* function whose arguments are the example; "" none */
};

struct list {
	pthread_t thread;
	int pipe[2];
	struct reader reader;
	bool failed;			    /* out of memory */
	bool ticks;			    /* some event has a clock without a unit */
	uint64_t events, gaps, first, last; /* times of the events */
	struct intern keys; /* of types: name, group, kind; their numbers are indexes in types */
	struct listed_type *types;
	size_t ntypes, types_capacity;
	uint32_t *listed; /* by number of a type: index in types */
	size_t nlisted;
	uint32_t declared; /* the first type that is not in listed */
	struct buffer texts, scratch;
};

#endif
