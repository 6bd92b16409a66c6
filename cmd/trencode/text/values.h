/*
 * values.h - arguments and return values as `uftrace replay` prints them
 *
 * Functions return 0, or -1 when out of memory.
 */
#ifndef TR_TRENCODE_TEXT_VALUES_H
#define TR_TRENCODE_TEXT_VALUES_H

#include "common/stream/dictionary.h"
#include "common/stream/value.h"
#include "cmd/trencode/text/symbols.h"

/* The output of values, and what their text depends on. */
struct value_names {
	struct buffer *out;
	const struct dictionary *dictionary; /* definitions of enums and bit masks */
	struct text_symbols *symbols;	     /* names of pointers; NULL: pointers are numbers */
	const struct space *space;	     /* address space of pointers, NULL: unknown */
	uint64_t time;			     /* of the event, for modules loaded later */
};

/* Append the value after v, and step over it; names: a struct value_names. */
int value_text(void *names, struct values *v);

#endif
