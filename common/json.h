/*
 * json.h - strings of JSON
 */
#ifndef TR_JSON_H
#define TR_JSON_H

#include "text.h"

/*
 * The bytes as a JSON string with its quotes (RFC 8259), always valid UTF-8: a byte that is part of
 * no valid character becomes U+FFFD.
 */
void json_string(struct text *t, const char *p, size_t n);

#endif
