/*
 * histogram.h - --hist: how the times of calls, or the values of a field, are distributed
 *
 * For people a line for each power of two or a half or quarter of it, with a bar and marks where
 * p50, p90 and p99 are; for programs a row for each bucket of the histogram that is not empty
 * (common/histogram.h): the keys, then low and high (both inclusive) and count. Groups come in
 * descending order of their count, those of equal count in ascending order of their keys.
 */
#ifndef TR_TRSTAT_VIEWS_HISTOGRAM_H
#define TR_TRSTAT_VIEWS_HISTOGRAM_H

#include "cmd/trstat/table/table.h"

struct hist {
	bool keyed; /* the last key of the groups is hist(F); else the columns have percentiles */
	bool duration;	/* values are times */
	const char *of; /* what, for people */
	/* keyed: the columns of the least and the largest value and of their sum */
	size_t min, max, sum;
};

int view_hist(const struct table *t, const struct hist *h, enum table_format format,
	      struct text *out, struct error *e);

#endif
