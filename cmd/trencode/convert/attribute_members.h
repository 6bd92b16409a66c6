/*
 * attribute_members.h - the members of a JSON object as attributes
 */
#ifndef TR_TRENCODE_CONVERT_ATTRIBUTE_MEMBERS_H
#define TR_TRENCODE_CONVERT_ATTRIBUTE_MEMBERS_H

#include "cmd/trencode/convert/attributes.h"

/* Are these bytes one object of JSON, and nothing else? */
bool attribute_is_object(const char *text, size_t n);

/* The next member of an object that attribute_is_object found right; *at begins at its '{'. The
 * value is a text, or JSON; name is as JSON has it, without its quotes. false: no more. */
bool attribute_member(const char **at, const char *end, struct attribute *item, const char **name,
		      size_t *name_size);

#endif
