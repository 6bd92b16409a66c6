/*
 * explain.h - a human-readable explanation of a condition
 */
#ifndef TR_TRFILTER_EXPRESSION_EXPLAIN_H
#define TR_TRFILTER_EXPRESSION_EXPLAIN_H

#include "cmd/trfilter/rows/filter.h"
#include "common/util/text.h"

/* Write the terms of the condition, and how each is decided; invert: -v is given. */
void explain_filter(struct text *t, const struct filter *f, bool invert);
/* Write the names that every stream has. */
void explain_names(struct text *t);
/* Write the types of a stream with their fields. */
void explain_types(struct text *t, const struct dictionary *d);

#endif
