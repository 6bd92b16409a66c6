/*
 * scalar.h - one value as conditions see it: a number, a text, or nothing
 */
#ifndef TR_VALUE_SCALAR_H
#define TR_VALUE_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stream/dictionary.h"

enum scalar_form {
	SCALAR_NONE,  /* not there: every comparison is false */
	SCALAR_OTHER, /* there, but nothing to compare with (an array, a structure) */
	SCALAR_INT,
	SCALAR_UINT,
	SCALAR_REAL,
	SCALAR_TEXT,
};

struct scalar {
	enum scalar_form form;
	bool character;	   /* a number that also compares with a text of one character */
	bool path;	   /* a text that also compares by what stands behind its last '/' */
	bool bits;	   /* names are those of bits; text has all that are set */
	bool written;	   /* REAL: stands in a condition, and compares rounded to what it meets */
	uint8_t real_size; /* REAL: 4 a float, 8 a double; 0 neither */
	float as_float;	   /* REAL, written */
	union {
		int64_t i;
		uint64_t u;
		long double real;
	};
	const char *text; /* TEXT: may hold NULs; not owned. Of a number its spelling
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
 * How a stands to b. Integers compare by value over the whole range of both signs, a number with a
 * fraction that is written in a condition as the float or double that it meets would hold it, texts
 * by their bytes. ORDER_NONE: they cannot be compared (one is missing, or a number meets a text
 * that is none of its names); ORDER_UNORDERED: one is no number (NaN).
 */
enum scalar_order scalar_compare(const struct scalar *a, const struct scalar *b);

/* Set *s to the number that NULL, false or true is. Returns false for any other text. */
bool scalar_constant(const char *text, size_t size, struct scalar *s);

/* Not 0, not empty, and there. */
bool scalar_true(const struct scalar *s);

/* The text of a value for those who match texts: its own, its name in an enum, its character (in
 * *c). false: it has none. */
bool scalar_text(const struct scalar *s, char *c, const char **text, size_t *size);

/* Behind the last '/'. */
void scalar_basename(const char **text, size_t *size);

#endif
