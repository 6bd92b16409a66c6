/*
 * explain.h - what trfilter makes of a condition, for people
 */
#ifndef TRFILTER_EXPLAIN_H
#define TRFILTER_EXPLAIN_H

#include "cmd/trfilter/rows/filter.h"
#include "common/util/text.h"

/* The parts of the condition, and how each is decided; invert: of -v. */
void explain_filter(struct text *t, const struct filter *f, bool invert);
/* The names that every stream has. */
void explain_names(struct text *t);
/* The types of a stream with their fields. */
void explain_types(struct text *t, const struct dictionary *d);

#endif
