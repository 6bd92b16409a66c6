/*
 * indexes.h - the indexes of an array whose elements are reused
 *
 * Zero-initialised: no index is in use.
 */
#ifndef TR_TRSTAT_GROUPS_INDEXES_H
#define TR_TRSTAT_GROUPS_INDEXES_H

#include <stdlib.h>

#include "common/util/buffer.h"

struct indexes {
	size_t count; /* number of indexes ever used: 0 to count - 1 */
	size_t *unused, nunused, capacity;
};

/* Take an unused index. Returns -1 when out of memory. */
static inline int indexes_take(struct indexes *x, size_t *index)
{
	if (x->nunused) {
		*index = x->unused[--x->nunused];
		return 0;
	}
	/* reserved here, so that returning the index cannot fail */
	if (ARRAY_GROW(x->unused, x->capacity, x->count))
		return -1;
	*index = x->count++;
	return 0;
}

static inline void indexes_give(struct indexes *x, size_t index)
{
	x->unused[x->nunused++] = index;
}

static inline void indexes_free(struct indexes *x)
{
	free(x->unused);
	*x = (struct indexes){0};
}

#endif
