/*
 * restored.h - the calls that are open where reading begins inside a stream (SNAPSHOT)
 *
 *     the block has   main > worker > read
 *     worker is kept  LEFT_OUT   open   LEFT_OUT
 *
 * They are decided as if their enters were rows. The block is passed on as a copy, in which the
 * calls that are not kept are left out (common/stream/snapshot.h).
 */
#ifndef TR_TRFILTER_ROWS_RESTORED_H
#define TR_TRFILTER_ROWS_RESTORED_H

#include "cmd/trfilter/calls/ends.h"
#include "cmd/trfilter/calls/left_out.h"
#include "cmd/trfilter/rows/select.h"
#include "common/stream/snapshot.h"

/* Forget the calls of the terms, which are those before a loss. */
void restored_begin(struct filter *f, struct time_range *range, const struct snapshot *s);
/* Returns true if an enter is in the time range. Ranges of --between begin afresh. */
bool restored_in_range(struct time_range *range, const struct event *enter);
/* Returns true if the filter keeps a call only with all calls that it made, so that their total in
 * a snapshot is right after the filter. */
bool restored_exact(const struct filter *f, bool invert);
/* For filtering row by row: decide the calls of a block with that payload. Returns -1 when out of
 * memory. */
int restored_rows(struct select *s, struct left_out *x, const struct snapshot *snapshot,
		  uint8_t *payload);
/* Note the last events of the threads, and which calls are open. Returns -1 when out of memory. */
int restored_ends(struct ends *x, const struct snapshot *snapshot);

#endif
