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

/* The dictionaries that the text of values depends on. */
struct value_names {
	const struct dictionary *dictionary; /* definitions of enums and bit masks */
	struct text_symbols *symbols;	     /* names of pointers; NULL: pointers are numbers */
	const struct space *space;	     /* address space of pointers, NULL: unknown */
	uint64_t time;			     /* of the event, for modules loaded later */
	bool sums; /* as uftrace prints values: an enum without a label of its own is a sum of
		      labels; strings end at a NUL */
};

/* Append one value; arrays and structs as "{...}". */
int value_text(struct buffer *out, const struct value_names *names, const struct value *v);

/* Append the arguments in a tail: "(1, 2)". */
int value_text_arguments(struct buffer *out, const struct value_names *names, const uint8_t *tail,
			 size_t n);

/* Append the first return value in a tail, " = 3"; nothing where there is none. */
int value_text_return(struct buffer *out, const struct value_names *names, const uint8_t *tail,
		      size_t n);

#endif
