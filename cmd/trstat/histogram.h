/*
 * histogram.h - --hist: the distribution of the times of calls, or of the values of a field
 *
 * The human-readable output has a line for each power of two, or a half or quarter of one, with a
 * bar and marks for p50, p90 and p99. Machine formats have a row for each bucket of the histogram
 * that is not empty (common/util/histogram.h): the keys, then low and high (both inclusive) and
 * count. Groups are in descending order of their count, groups of equal count in ascending order of
 * their keys.
 */
#ifndef TR_TRSTAT_HISTOGRAM_H
#define TR_TRSTAT_HISTOGRAM_H

#include "cmd/trstat/table.h"

struct hist {
	bool keyed; /* the last key of the groups is hist(F); else the columns have percentiles */
	bool duration;	/* values are times */
	const char *of; /* name of the values, for the human-readable output */
	/* keyed: the columns of the least value, the largest value and the sum */
	size_t min, max, sum;
};

int view_hist(const struct table *t, const struct hist *h, enum table_format format,
	      struct text *out, struct error *e);

/*
 * Write heat maps, for --heatmap: the last key of the groups is bucket(time,width), in ns or ticks,
 * and the columns have percentiles. The human-readable output and pictures have a column for each
 * width, or for 2, 5, 10 ... of them, and lines as a histogram has. Machine formats have rows as
 * view_hist writes.
 */
int view_heatmap(const struct table *t, const struct hist *hist, uint64_t width,
		 enum table_format format, struct text *out, struct error *e);

/* --- the values of one group of --hist: a histogram of positive and negative values --- */

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

/* A bucket; low and high are inclusive. */
struct distribution_bucket {
	int128 low, high;
	uint64_t count;
};

/* Get all buckets that are not empty, *n of them, least value first; the caller frees the
 * array. NULL: out of memory. */
struct distribution_bucket *distribution_buckets(const struct distribution *d, size_t *n);

#endif
