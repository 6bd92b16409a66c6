/*
 * attribute_members.h - the members of a JSON object as attributes
 */
#ifndef TR_TRENCODE_CONVERT_ATTRIBUTE_MEMBERS_H
#define TR_TRENCODE_CONVERT_ATTRIBUTE_MEMBERS_H

#include "cmd/trencode/convert/attributes.h"

/* Test whether the bytes are one object of JSON, and nothing else. */
bool attribute_is_object(const char *text, size_t n);

/* Read the next member of an object that attribute_is_object accepted; *at begins at its '{'. The
 * value is a text, or JSON; name is as in JSON, without its quotes. Returns false after the last.
 */
bool attribute_member(const char **at, const char *end, struct attribute *item, const char **name,
		      size_t *name_size);

#endif
