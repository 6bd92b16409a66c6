/*
 * demangle.h - readable C++ and Rust names
 */
#ifndef TR_SYMBOLS_DEMANGLE_H
#define TR_SYMBOLS_DEMANGLE_H

enum demangle_style {
	DEMANGLE_NO,	 /* the name unchanged */
	DEMANGLE_SIMPLE, /* as in `uftrace report`: scopes and name only; Rust as FULL */
	DEMANGLE_FULL,	 /* with parameters and template arguments, as in `c++filt -i` */
};

/*
 * Return the readable form of name, malloc'ed, or a copy of name if it is not mangled, cannot be
 * parsed, is longer than 16 KiB, or would become longer than 64 KiB. NULL only when out of memory.
 * Any bytes are safe: time and memory are bounded.
 *
 * SIMPLE of C++ drops parameters, which are not even read, template arguments, `.part.0` and
 * `@VERSION`; keeps scopes, `operator+`, `X::~X`; names lambdas `$_N` in order of their number, and
 * virtual tables and similar objects `__vtable__X`. `uftrace report` adds up calls by this form, so
 * overloads and instances of a template share one name. Rust has one form.
 */
char *demangle(const char *name, enum demangle_style style);

/* Parse "no", "simple" or "full" into *style. Returns 0, or -1 for any other word. */
int demangle_style_parse(const char *word, enum demangle_style *style);

#endif
