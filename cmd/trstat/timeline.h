/*
 * timeline.h - --timeline WIDTH: a column over time, group by group
 *
 * The last key of the groups is bucket(time,WIDTH). The human-readable output has a line for each
 * group of the other keys: the column over the whole time, then a bar for each bucket. Where the
 * buckets exceed the width, a bar covers several. The bars of a line are scaled to its highest.
 * Machine formats have the plain table, in the order of the other keys and the time.
 */
#ifndef TR_TRSTAT_TIMELINE_H
#define TR_TRSTAT_TIMELINE_H

#include "cmd/trstat/table.h"

/* Write the timeline. width: ns or ticks. Returns -1 with e filled when out of memory. */
int view_timeline(const struct table *t, uint64_t width, enum table_format format, struct text *out,
		  struct error *e);

#endif
