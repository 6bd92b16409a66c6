/*
 * distribution.h - the values of one group of --hist: a histogram that goes below zero
 */
#ifndef TR_TRSTAT_GROUPS_DISTRIBUTION_H
#define TR_TRSTAT_GROUPS_DISTRIBUTION_H

#include "cmd/trstat/views/histogram.h"

struct distribution {
	const struct aggregate *group; /* one of those it was made of: has its keys */
	struct histogram negative;     /* of the sizes of negative values */
	struct histogram positive;
	uint64_t count;
	int128 min, max, sum;
};

/*
 * The distributions of all groups in the order of view_hist.h: *n of them, the caller's to free by
 * distributions_free. NULL with e when out of memory.
 */
struct distribution *distributions(const struct table *t, const struct hist *h, size_t *n,
				   struct error *e);
void distributions_free(struct distribution *d, size_t n);

/* As histogram_quantile. */
int128 distribution_quantile(const struct distribution *d, uint64_t numerator,
			     uint64_t denominator);

/* The buckets from the least value on, each once. low and high are inclusive. */
struct distribution_bucket {
	int128 low, high;
	uint64_t count;
};

/* All buckets that are not empty, *n of them, to be freed. NULL: out of memory. */
struct distribution_bucket *distribution_buckets(const struct distribution *d, size_t *n);

#endif
