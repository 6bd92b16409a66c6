/*
 * demangle_full.h - the full form of a mangled name, by libiberty
 *
 * Private to common/symbols/demangle*.c.
 */
#ifndef TR_SYMBOLS_DEMANGLE_FULL_H
#define TR_SYMBOLS_DEMANGLE_FULL_H

#include "common/symbols/demangle_simple.h"

/* Append the full form of name (length bytes, NUL-terminated). */
enum demangle_result demangle_full(struct demangle_text *t, const char *name, size_t length);

#endif
