/*
 * scalar.h - one value in conditions: a number, a text, or nothing
 */
#ifndef TR_VALUE_SCALAR_H
#define TR_VALUE_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stream/dictionary.h"

enum scalar_form {
	SCALAR_NONE,  /* missing: every comparison is false */
	SCALAR_OTHER, /* present, but not comparable (an array, a structure) */
	SCALAR_INT,
	SCALAR_UINT,
	SCALAR_REAL,
	SCALAR_TEXT,
};

struct scalar {
	enum scalar_form form;
	bool character;	   /* a number that also compares with a text of one character */
	bool path;	   /* a text that also compares by the part after its last '/' */
	bool bits;	   /* names are those of bits; text contains all that are set */
	bool written;	   /* a constant of a condition with a point or an exponent; a REAL is
			      compared after rounding to the other side's type */
	uint8_t real_size; /* REAL: 4 a float, 8 a double; 0 neither */
	float as_float;	   /* REAL, written */
	union {
		int64_t i;
		uint64_t u;
		long double real;
	};
	const char *text; /* TEXT: may contain NULs; not owned. Of a number its spelling
			     (value_plain.h), or NULL */
	size_t size;
	const struct definition *names; /* of an enum's numbers, else NULL */
	double as_double;		/* REAL, written */
};

enum scalar_order { ORDER_NONE, ORDER_UNORDERED, ORDER_LESS, ORDER_EQUAL, ORDER_GREATER };

static inline bool scalar_is_number(const struct scalar *s)
{
	return s->form == SCALAR_INT || s->form == SCALAR_UINT || s->form == SCALAR_REAL;
}

/*
 * Compare a with b. Integers compare by value over the whole range of both signs. A number with a
 * fraction written in a condition compares as the float or double of the other side would store it.
 * Texts compare by bytes. ORDER_NONE: not comparable (one side is missing, or a text is not a name
 * of the number); ORDER_UNORDERED: one side is NaN.
 */
enum scalar_order scalar_compare(const struct scalar *a, const struct scalar *b);

/* Set *s to the number of NULL, false or true. Returns false for any other text. */
bool scalar_constant(const char *text, size_t size, struct scalar *s);

/* Test whether a value is present, not 0 and not empty. */
bool scalar_true(const struct scalar *s);

/* Get the text of a value for pattern matching: its own, its name in an enum, its character (in
 * *c). false: it has none. */
bool scalar_text(const struct scalar *s, char *c, const char **text, size_t *size);

/* Move *text after the last '/'. */
void scalar_basename(const char **text, size_t *size);

#endif
