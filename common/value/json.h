/*
 * json.h - strings of JSON
 */
#ifndef TR_VALUE_JSON_H
#define TR_VALUE_JSON_H

#include "common/util/buffer.h"
#include "common/util/text.h"

enum { JSON_CHARACTER = 6 }; /* bytes that one character takes at most */

/*
 * What stands in a JSON string (RFC 8259) for the character that begins at p, n > 0 bytes being
 * there; returns how many bytes of out it took, *taken says how many of p. Always valid UTF-8: a
 * byte that is part of no valid character becomes U+FFFD.
 */
size_t json_character(char out[JSON_CHARACTER], const char *p, size_t n, size_t *taken);

/* The bytes as a JSON string with its quotes. */
void json_string(struct text *t, const char *p, size_t n);

/* The same appended to a buffer: -1 when out of memory. */
int json_append_string(struct buffer *b, const char *p, size_t n);

/* And without the quotes, for a string that comes in pieces. */
int json_append_inside(struct buffer *b, const char *p, size_t n);

/* A number with a fraction; JSON has no infinities and no NaN: those are strings. */
int json_append_real(struct buffer *b, double number);
/* The same with the digits that a float needs. */
int json_append_float(struct buffer *b, float number);

#endif
