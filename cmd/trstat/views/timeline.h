/*
 * timeline.h - --timeline WIDTH: how a column goes up and down in time, group by group
 *
 * The last key of the groups is bucket(time,WIDTH). For people a line for each group of the other
 * keys: the column over all of the time, then a bar for each bucket; where there are more buckets
 * than room, some are taken together. The bars of a line are scaled to its highest. For programs
 * the table as it is, in the order of the other keys and the time.
 */
#ifndef TR_TRSTAT_VIEWS_TIMELINE_H
#define TR_TRSTAT_VIEWS_TIMELINE_H

#include "cmd/trstat/table/table.h"

/* width: ns or ticks. -1 with e when out of memory. */
int view_timeline(const struct table *t, uint64_t width, enum table_format format, struct text *out,
		  struct error *e);

#endif
