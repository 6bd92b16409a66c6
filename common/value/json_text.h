/*
 * json_text.h - reads JSON (RFC 8259) that is a text in memory
 *
 * json_text_is_object checks a text; the other functions take only parts of a checked text.
 */
#ifndef TR_VALUE_JSON_TEXT_H
#define TR_VALUE_JSON_TEXT_H

#include <stdbool.h>

#include "common/util/buffer.h"

/* A member of an object, or an element of an array, whose name is empty. */
struct json_member {
	const char *name; /* as in JSON, without its quotes */
	size_t name_size;
	const char *value; /* as in JSON */
	size_t value_size;
};

/* Test whether the bytes are one object of JSON, and nothing else. */
bool json_text_is_object(const char *text, size_t n);

/* Read the next member of an object, or element of an array; *at begins at its '{' or '['. Returns
 * false after the last. */
bool json_text_member(const char **at, const char *end, struct json_member *m);

/* Append n bytes of the inside of a string, with the escapes resolved. A half of a surrogate pair
 * becomes U+FFFD. Returns 0, or -1 when out of memory. */
int json_text_string(struct buffer *to, const char *p, size_t n);

/* Append a number as a value of the stream (value.h): an integer if it is whole and fits, else a
 * double. The byte after the n bytes is readable. Returns 0, or -1 when out of memory. */
int json_text_number(struct buffer *to, const char *p, size_t n);

#endif
