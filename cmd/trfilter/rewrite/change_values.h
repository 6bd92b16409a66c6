/*
 * change_values.h - arguments and returned values that are left out, or get other values
 */
#ifndef TRFILTER_CHANGE_VALUES_H
#define TRFILTER_CHANGE_VALUES_H

#include "cmd/trfilter/expression/projection.h"
#include "cmd/trfilter/rewrite/scrub.h"

/* A tail that is a list of values, behind what out has. names: of the arguments, or NULL. What
 * stands behind a fault in the list is left out. -1: out of memory. */
int change_values(struct projection *p, const struct scrub *s, const struct definition *names,
		  const uint8_t *tail, size_t n, struct buffer *out);

#endif
