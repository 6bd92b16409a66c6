/*
 * distribution.h - the values of one group of --hist: a histogram of positive and negative values
 */
#ifndef TR_TRSTAT_GROUPS_DISTRIBUTION_H
#define TR_TRSTAT_GROUPS_DISTRIBUTION_H

#include "cmd/trstat/views/histogram.h"

struct distribution {
	const struct aggregate *group; /* one of its source groups: has the keys */
	struct histogram negative;     /* sizes of the negative values */
	struct histogram positive;
	uint64_t count;
	uint64_t clipped; /* floats beyond 64 bits, which count as the nearest integer of 64 bits */
	int128 min, max, sum;
};

/*
 * Make the distributions of all groups, in the order that histogram.h describes: an array of *n, to
 * be freed with distributions_free. Returns NULL with e filled when out of memory.
 */
struct distribution *distributions(const struct table *t, const struct hist *h, size_t *n,
				   struct error *e);
void distributions_free(struct distribution *d, size_t n);

/* Returns a quantile, with the arguments of histogram_quantile. */
int128 distribution_quantile(const struct distribution *d, uint64_t numerator,
			     uint64_t denominator);

/* A bucket; low and high are inclusive. */
struct distribution_bucket {
	int128 low, high;
	uint64_t count;
};

/* Returns all buckets that are not empty, *n of them, least value first; the caller frees the
 * array. NULL: out of memory. */
struct distribution_bucket *distribution_buckets(const struct distribution *d, size_t *n);

#endif
