/*
 * adopt.h - the calls of a snapshot that the filter adopts, where reading begins inside a stream
 *
 * They are decided as if their enters were rows. A snapshot is written with those that are
 * kept: a copy of its payload, in which the others are rejected (common/stream/snapshot.h).
 */
#ifndef TR_TRFILTER_ROWS_ADOPT_H
#define TR_TRFILTER_ROWS_ADOPT_H

#include "cmd/trfilter/calls/left_out.h"
#include "cmd/trfilter/rows/select.h"
#include "common/stream/snapshot.h"

/* Forget the calls of the parts, which are those before a loss. */
void adopt_begin(struct filter *f, struct time_range *range, const struct snapshot *s);
/* Returns true if an enter is in the time range. Ranges of --between begin afresh. */
bool adopt_wants(struct time_range *range, const struct event *enter);
/* Returns true if the filter keeps a call only with all calls that it made, so that their total in
 * a snapshot is right after the filter. */
bool adopt_is_exact(const struct filter *f, bool invert);
/* For filtering row by row: decide the calls of a block with that payload. Returns -1 when out of
 * memory. */
int adopt_rows(struct select *s, struct left_out *x, const struct snapshot *snapshot,
	       uint8_t *payload);

#endif
