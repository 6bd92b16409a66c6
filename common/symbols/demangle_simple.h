/*
 * demangle_simple.h - what the files of demangle.c share: one reader per mangling, and the text
 * they write
 *
 * Private to common/symbols/demangle*.c.
 */
#ifndef TR_SYMBOLS_DEMANGLE_SIMPLE_H
#define TR_SYMBOLS_DEMANGLE_SIMPLE_H

#include <stdbool.h>
#include <stddef.h>

/* bytes of the longest mangled name read, and of the longest text written */
#define DEMANGLE_MAX 65536

struct demangle_text {
	char *buf; /* NUL-terminated; NULL until the first byte */
	size_t length, room;
	bool full;	/* the text exceeds DEMANGLE_MAX */
	bool no_memory; /* realloc failed */
};

/* Append n bytes, which may be bytes of the text itself. Returns false, with the text unchanged,
 * when the text is full or out of memory. */
bool demangle_append(struct demangle_text *t, const char *s, size_t n);
bool demangle_puts(struct demangle_text *t, const char *s);

enum demangle_result {
	DEMANGLE_DONE,
	DEMANGLE_UNREADABLE, /* no such name, or not by its grammar */
	DEMANGLE_EXCESSIVE,  /* too deep, or too long when expanded */
};

/* Properties of a name that libiberty handles badly. */
struct demangle_traits {
	unsigned conversions; /* nesting of template parameters with arguments in the type of a
				 conversion operator: libiberty backtracks there */
	bool unresolved;      /* the name has an expression that depends on a template ("sr") */
};

/*
 * Read an Itanium C++ name ("_Z..."; Rust's legacy names have this form) of n bytes and append its
 * simple form. traits NULL: names with expressions that uftrace cannot read are refused; else they
 * are read, and traits filled.
 */
enum demangle_result demangle_simple_cxx(struct demangle_text *t, const char *s, size_t n,
					 struct demangle_traits *traits);

/* Read a Rust v0 name ("_R...") and append its simple form. */
enum demangle_result demangle_simple_rust(struct demangle_text *t, const char *s, size_t n);

#endif
