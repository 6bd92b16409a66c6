/*
 * values.h - arguments and return values as `uftrace replay` prints them
 */
#ifndef TR_TRENCODE_TEXT_VALUES_H
#define TR_TRENCODE_TEXT_VALUES_H

#include "common/stream/dictionary.h"
#include "common/stream/value.h"
#include "cmd/trencode/text/symbols.h"

/* What values are printed by. */
struct value_names {
	const struct dictionary *dictionary; /* of enums */
	struct text_symbols *symbols;	     /* of pointers; NULL: as numbers */
	const struct space *space;	     /* where pointers point to, NULL unknown */
	uint64_t time;
	bool sums; /* as uftrace has them: enums are ints, without a label the sum of several;
		      strings end at a NUL */
};

/* Append one value; arrays and structs as "{...}". -1: out of memory. */
int value_text(struct buffer *out, const struct value_names *names, const struct value *v);

/* Append "(1, 2)": the arguments in a tail. -1: out of memory. */
int value_text_arguments(struct buffer *out, const struct value_names *names, const uint8_t *tail,
			 size_t n);

/* Append " = 3": the first return value in a tail, nothing where there is none. -1: out of memory.
 */
int value_text_return(struct buffer *out, const struct value_names *names, const uint8_t *tail,
		      size_t n);

#endif
