/*
 * scalar.h - numbers: scalars, and their shortest text
 */
#ifndef TR_VALUE_SCALAR_H
#define TR_VALUE_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One value in conditions: a number, a text, or nothing.
 */

/* --- finds the known name that is most like a misspelt one, for messages --- */

enum { NEAREST_SIZE = 64 }; /* longer names are not compared */

struct nearest {
	const char *word; /* as the user wrote it; belongs to the caller */
	size_t size;
	unsigned distance; /* of name, in units of its own */
	char name[NEAREST_SIZE];
	char second[NEAREST_SIZE]; /* another name that means the same, "" none */
	char hint[2 * NEAREST_SIZE + 32];
};

void nearest_begin(struct nearest *n, const char *word, size_t size);
/* Take a known name into account. If it is the word, the word is not misspelt: there is no hint. A
 * name that means what the word means to the users of other tools is the nearest: avg for "mean".
 */
void nearest_offer(struct nearest *n, const char *name, size_t size);
/* Take blank-separated names into account. */
void nearest_offer_words(struct nearest *n, const char *words);
/* Test whether one of the names is the word, or means the same to users of other tools. */
bool nearest_means(const struct nearest *n);
/* Returns "; did you mean 'name'?", or 'name' or 'second', which is valid as long as n, or "" if no
 * name is alike. */
const char *nearest_hint(struct nearest *n);

/*
 * Floats and doubles as the shortest decimals that read back as the same number.
 *
 * Of several such decimals the one nearest to the number is taken. The layout is that of "%.15g",
 * or of "%.16g" and "%.17g" where so many digits are needed.
 */

enum { SHORTEST_SIZE = 40 };

/* Write the digits to out, which has SHORTEST_SIZE bytes; returns how many were written. There is
 * no NUL. NaN and the infinities are "nan", "inf" and "-inf". */
size_t shortest_double(char *out, double x);
size_t shortest_float(char *out, float x);

/* Write digits * 10^exponent, digits not 0, in the same layout. */
size_t shortest_layout(char *out, uint64_t digits, int exponent);

/* Get the double nearest to the shortest decimal of a float: 0.1 for 0.1f. */
double shortest_widen(float x);

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
			     (value_text.h), or NULL */
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
 * Texts compare by bytes. ORDER_NONE: not comparable (one side is missing, or a number without
 * names has a text beside it); ORDER_UNORDERED: one side is NaN, or the text is no name of a number
 * that has names.
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
