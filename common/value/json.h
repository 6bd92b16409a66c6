/*
 * json.h - writes strings and numbers of JSON
 */
#ifndef TR_VALUE_JSON_H
#define TR_VALUE_JSON_H

#include "common/util/buffer.h"
#include "common/util/text.h"

/* Write the bytes as a JSON string (RFC 8259) with its quotes. The output is valid UTF-8: a byte
 * that is part of no valid character becomes U+FFFD. */
void json_string(struct text *t, const char *p, size_t n);

/* Append the bytes as a JSON string to a buffer: -1 when out of memory. */
int json_append_string(struct buffer *b, const char *p, size_t n);

/* Append without the quotes, for a string that is written in pieces. */
int json_append_inside(struct buffer *b, const char *p, size_t n);

/* Append a number with a fraction. JSON has neither infinities nor NaN: these are written as
 * strings. */
int json_append_real(struct buffer *b, double number);
/* Append a number with the digits that a float needs. */
int json_append_float(struct buffer *b, float number);

#endif
