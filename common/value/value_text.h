/*
 * value_text.h - values and fields as text, spelled as value_plain.h spells them
 *
 * Strings are in quotes with the escapes of C, and bytes that are no UTF-8 are \xHH. Characters are
 * 'c', arrays [1, 2], structs {a = 1}; a field that the row does not have is "?".
 */
#ifndef TR_VALUE_VALUE_TEXT_H
#define TR_VALUE_VALUE_TEXT_H

#include "common/value/value_plain.h"

/* What values are appended to, and how much of them. What is left out is "...". */
struct value_text {
	struct buffer *out;
	struct plain_source plain;
	size_t bytes, elements; /* most of a string, and of an array or struct */
	unsigned depth;		/* most nested arrays and structs */
	size_t end;		/* the text after this size of out may be dropped */
	uint64_t *blobs;	/* counts BLOBs; may be NULL */
};

/* Append the value after v with its children, or a field. -1: out of memory, or v->bad. */
int value_text_value(struct value_text *t, struct values *v);
int value_text_field(struct value_text *t, const struct event *ev, const struct field *f);

#endif
