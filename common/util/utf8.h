/*
 * utf8.h - what in a run of bytes is valid UTF-8
 *
 * Names in traces are bytes; JSON and terminals want characters.
 */
#ifndef TR_UTIL_UTF8_H
#define TR_UTIL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Length in bytes of the valid character (RFC 3629: shortest form, no surrogates, to U+10FFFF) that
 * begins at p, n > 0 bytes being there; 0 where none does.
 */
size_t utf8_length(const char *p, size_t n);

struct buffer;

/*
 * Append n bytes as valid UTF-8: a byte that is part of no valid character becomes U+FFFD. -1 when
 * out of memory.
 */
int utf8_append(struct buffer *b, const char *p, size_t n);

/* Append the character of that code, which is up to U+10FFFF and no surrogate. -1: out of memory.
 */
int utf8_put(struct buffer *b, uint32_t c);

#endif
