/*
 * demangle_cxx.h - the reader that demangle_cxx*.c share
 *
 * demangle_cxx_base.c reads numbers, identifiers and substitutions, demangle_cxx_type.c types,
 * template arguments and expressions, and demangle_cxx.c names. Every cxx_read function moves the
 * reader to after what it read, and returns false if the name does not have that there, or if the
 * text is full.
 */
#ifndef TR_SYMBOLS_DEMANGLE_CXX_H
#define TR_SYMBOLS_DEMANGLE_CXX_H

#include "common/symbols/demangle_simple.h"

#include <string.h>

/* Most levels of nested types, names and expressions: more than compilers accept, few enough for
 * the stack. */
#define DEPTH_MAX 2000

struct cxx {
	const char *s;
	size_t at, end;
	struct demangle_text *out;
	unsigned types;	    /* number of types around the present one: their names are not shown */
	unsigned templates; /* number of template argument lists around the present one */
	bool show_types;    /* a special name shows its type */
	bool started;	    /* a scope was written: "::" precedes the next */
	bool strict;	    /* fail where uftrace fails */
	bool ref_temp;	    /* a reference temporary: '_' after the name is not a discriminator */
	unsigned depth;
	bool too_deep;
	bool conversion; /* inside the type of a conversion operator */
	unsigned nested; /* template parameters with arguments in it */
	struct demangle_traits traits;
};

/* The locale must not matter, nor the sign of char: ctype.h is not used. */
static inline bool cxx_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool cxx_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool cxx_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool cxx_is_hex(char c)
{
	return cxx_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Is c one of the letters? NUL, the end of the name, is none. */
static inline bool cxx_one_of(char c, const char *letters)
{
	return c && strchr(letters, c);
}

static inline char cxx_peek(const struct cxx *r, size_t ahead)
{
	return ahead < r->end - r->at ? r->s[r->at + ahead] : '\0';
}

static inline bool cxx_looking_at(const struct cxx *r, const char *text)
{
	size_t n = strlen(text);

	return n <= r->end - r->at && !memcmp(r->s + r->at, text, n);
}

static inline bool cxx_accept(struct cxx *r, const char *text)
{
	if (!cxx_looking_at(r, text))
		return false;
	r->at += strlen(text);
	return true;
}

static inline bool cxx_enter(struct cxx *r)
{
	if (++r->depth > DEPTH_MAX) {
		r->too_deep = true;
		return false;
	}
	return true;
}

static inline bool cxx_leave(struct cxx *r, bool result)
{
	r->depth--;
	return result;
}

static inline bool cxx_put(struct cxx *r, const char *s)
{
	return demangle_puts(r->out, s);
}

static inline bool cxx_separate(struct cxx *r)
{
	bool first = !r->started;

	r->started = true;
	return first || cxx_put(r, "::");
}

static inline bool cxx_names_shown(const struct cxx *r)
{
	return (!r->types || r->show_types) && !r->templates;
}

/* demangle_cxx_base.c */
bool cxx_read_number(struct cxx *r, unsigned *value); /* digits after an optional n, for minus */
bool cxx_read_index(struct cxx *r, unsigned *value);  /* "_" is 0, "0_" is 1 */
bool cxx_read_sequence(struct cxx *r);		      /* digits and capitals, then '_' */
bool cxx_read_source_name(struct cxx *r); /* <length><identifier>; shown outside types */
bool cxx_read_abi_tags(struct cxx *r);
bool cxx_read_substitution(struct cxx *r);
bool cxx_read_template_param(struct cxx *r);
bool cxx_read_function_param(struct cxx *r);

/* demangle_cxx_type.c */
bool cxx_read_type(struct cxx *r);
bool cxx_read_decltype(struct cxx *r);
bool cxx_read_template_args(struct cxx *r);
bool cxx_read_optional_args(struct cxx *r); /* template arguments, or nothing */
bool cxx_read_operator(struct cxx *r);	    /* of a function's name; shown outside types */

/* demangle_cxx.c */
bool cxx_read_encoding(struct cxx *r); /* a name and the types of its parameters */
bool cxx_read_name(struct cxx *r);
bool cxx_read_unqualified(struct cxx *r);

#endif
