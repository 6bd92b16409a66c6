/*
 * demangle.h - C++ and Rust names for people
 */
#ifndef TR_SYMBOLS_DEMANGLE_H
#define TR_SYMBOLS_DEMANGLE_H

enum demangle_style {
	DEMANGLE_NO,	 /* the name as it is */
	DEMANGLE_SIMPLE, /* as `uftrace report` prints it: scopes and name only */
	DEMANGLE_FULL,	 /* with parameters and template arguments, as `c++filt -i` prints it */
};

/*
 * The readable form of name, malloc'ed, or a copy of name itself where it is not mangled, cannot be
 * read, or is longer than 64 KiB. NULL only when out of memory. Safe for any bytes: time and memory
 * are bounded, and a full form beyond 64 KiB is given up for the mangled name.
 *
 * SIMPLE drops parameters, template arguments, `.part.0` and `@VERSION`; keeps scopes, `operator+`,
 * `X::~X`; calls lambdas `$_N` in order of their number, and shows virtual tables and their like as
 * `__vtable__X`; it is the key under which `uftrace report` adds up calls, so overloads and
 * instances of a template share one name.
 */
char *demangle(const char *name, enum demangle_style style);

/* "no", "simple" or "full" -> *style. Returns 0, or -1 for any other word. */
int demangle_style_parse(const char *word, enum demangle_style *style);

#endif
