/*
 * demangle_simple.h - the parts of demangle.c: one reader per mangling, and the text they write to
 *
 * Private to common/demangle*.c.
 */
#ifndef TR_SYMBOLS_DEMANGLE_SIMPLE_H
#define TR_SYMBOLS_DEMANGLE_SIMPLE_H

#include <stdbool.h>
#include <stddef.h>

/* Longest mangled name read, longest text written. */
#define DEMANGLE_MAX 65536

struct demangle_text {
	char *buf; /* NUL-terminated; NULL until the first byte */
	size_t length, room;
	bool full;	/* something did not fit in DEMANGLE_MAX */
	bool no_memory; /* realloc failed */
};

/* Append n bytes, which may be bytes of the text itself. False when the text is full or memory is
 * out; the text stays as it was. */
bool demangle_append(struct demangle_text *t, const char *s, size_t n);
bool demangle_puts(struct demangle_text *t, const char *s);

enum demangle_result {
	DEMANGLE_DONE,
	DEMANGLE_UNREADABLE, /* not such a name, or not by its grammar */
	DEMANGLE_EXCESSIVE,  /* too deep, or too long once written out */
};

/* What libiberty has trouble with */
struct demangle_traits {
	unsigned conversions; /* template parameters with arguments inside each other in the type of
				 a conversion operator: where it backtracks */
	bool unresolved;      /* a name in an expression that depends on a template ("sr") */
};

/*
 * Read an Itanium C++ name ("_Z..."; Rust's legacy names are of this form) of n bytes and append
 * its simple form. traits NULL: names with expressions that uftrace cannot read are unreadable here
 * too; else they are read, and traits filled.
 */
enum demangle_result demangle_simple_cxx(struct demangle_text *t, const char *s, size_t n,
					 struct demangle_traits *traits);

/* The same for a Rust v0 name ("_R..."). */
enum demangle_result demangle_simple_rust(struct demangle_text *t, const char *s, size_t n);

#endif
