/*
 * value_plain.h - one value without children, spelled as all programs spell it
 *
 * Rows, keys and conditions share this spelling: a number, a truth value, or a text where the value
 * has names, or is a pointer, a blob or a string.
 */
#ifndef TR_VALUE_VALUE_PLAIN_H
#define TR_VALUE_VALUE_PLAIN_H

#include "common/util/buffer.h"
#include "common/value/value_walk.h"

enum plain_kind {
	PLAIN_NULL,
	PLAIN_BOOL, /* number: 0 or 1 */
	PLAIN_INT,  /* number: two's complement */
	PLAIN_UINT,
	PLAIN_REAL,
	PLAIN_TEXT, /* any bytes */
};

struct plain_value {
	enum plain_kind kind;
	uint8_t size;	 /* REAL: bytes of the value */
	uint64_t number; /* TEXT: its size */
	double real;	 /* of a float, the double nearest to its shortest digits */
	const char *text;
};

struct plain_source {
	const struct dictionary *dictionary;
	struct buffer *scratch; /* buffer of a text, which is valid until the next one */
	bool blobs;		/* BLOB is data, spelled by its size (argument_blobs); else text */
};

/* Spell the value of a walk, or an element of a field; ARRAY, STRUCT, REPR and MISSING are NULL.
 * -1: out of memory. */
int value_plain(const struct plain_source *s, const struct value_item *item,
		struct plain_value *out);

/* Append the spelling, without quotes. -1: out of memory. */
int plain_append(struct buffer *b, const struct plain_value *p);

/* Get the text that conditions compare with texts: of TEXT its own, "NULL", "true", "false",
 * "nan", "inf" and "-inf". false: other numbers have none. */
bool plain_text(const struct plain_value *p, const char **text, size_t *size);

#endif
