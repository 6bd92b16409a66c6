/*
 * details.h - the arguments and return values of a call, in parentheses and after =
 *
 * Functions return 0, or -1 when out of memory. value appends the value after v and steps over it.
 */
#ifndef TR_TRENCODE_TEXT_DETAILS_H
#define TR_TRENCODE_TEXT_DETAILS_H

#include "common/stream/value.h"

/* Append the arguments in a tail: "(1, 2)". Of a repeated argument the last value is valid. */
int details_append_arguments(struct buffer *out, const uint8_t *tail, size_t n,
			     int (*value)(void *to, struct values *v), void *to);

/* Append the first return value in a tail, " = 3"; nothing where there is none. */
int details_append_return(struct buffer *out, const uint8_t *tail, size_t n,
			  int (*value)(void *to, struct values *v), void *to);

#endif
