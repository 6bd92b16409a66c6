/*
 * utf8.h - finds the valid UTF-8 in bytes
 *
 * Names in traces are bytes; JSON and terminals need characters.
 */
#ifndef TR_UTIL_UTF8_H
#define TR_UTIL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Get the length in bytes of the valid character (RFC 3629: shortest form, no surrogates, to
 * U+10FFFF) at p, where n > 0 bytes are available; 0: none.
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
