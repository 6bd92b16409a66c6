/*
 * change_values.h - leave out arguments and return values, or replace them
 */
#ifndef TR_TRFILTER_REWRITE_CHANGE_VALUES_H
#define TR_TRFILTER_REWRITE_CHANGE_VALUES_H

#include "cmd/trfilter/expression/projection.h"
#include "cmd/trfilter/rewrite/scrub.h"

/* Append a tail that is a list of values to out. names: of the arguments, or NULL. Values after
 * a fault in the list are left out. Returns -1 when out of memory. */
int change_values(struct projection *p, const struct scrub *s, const struct definition *names,
		  const uint8_t *tail, size_t n, struct buffer *out);

#endif
