/*
 * histogram.h - --hist: the distribution of the times of calls, or of the values of a field
 *
 * The human-readable output has a line for each power of two, or a half or quarter of one, with a
 * bar and marks for p50, p90 and p99. Machine formats have a row for each bucket of the histogram
 * that is not empty (common/util/histogram.h): the keys, then low and high (both inclusive) and
 * count. Groups are in descending order of their count, groups of equal count in ascending order of
 * their keys.
 */
#ifndef TR_TRSTAT_VIEWS_HISTOGRAM_H
#define TR_TRSTAT_VIEWS_HISTOGRAM_H

#include "cmd/trstat/table/table.h"

struct hist {
	bool keyed; /* the last key of the groups is hist(F); else the columns have percentiles */
	bool duration;	/* values are times */
	const char *of; /* name of the values, for the human-readable output */
	/* keyed: the columns of the least value, the largest value and the sum */
	size_t min, max, sum;
};

int view_hist(const struct table *t, const struct hist *h, enum table_format format,
	      struct text *out, struct error *e);

#endif
