/*
 * statistics_private.h - what the files of statistics.h share
 *
 * All that return int return -1 when out of memory.
 */
#ifndef TR_TRSTAT_GROUPS_STATISTICS_PRIVATE_H
#define TR_TRSTAT_GROUPS_STATISTICS_PRIVATE_H

#include "cmd/trstat/groups/statistics.h"

/* --- groups --- */

/* The group of a row: found once for each place, or each of what else the keys look at. NULL:
 * out of memory. */
struct aggregate *statistics_group(struct statistics *s, const struct event_ref *subject);
/* Groups were moved, or names changed: what was found before is found anew. */
void statistics_forget_names(struct statistics *s);

/* --- fields --- */

/* Has a row that does not count something for a column? waits: of its arguments nothing yet. */
bool statistics_has_fields(const struct statistics *s, const struct event *e, bool waits);
/* The arguments of an enter, two cells for each: a number or nothing, a hash or nothing. */
void statistics_argument_cells(const struct statistics *s, const struct event *e,
			       struct key_cell *cells);
/* Those that the leave does not give anew; e is NULL for a call without one. */
int statistics_add_arguments(struct statistics *s, struct aggregate *a, const struct event *e,
			     const struct key_cell *cells);
/* The times of what counts, or of nothing that does. */
struct statistics_times {
	bool known;
	uint64_t total, self;
	uint32_t location; /* of a call: what names it */
};

/* What the columns want of the row's fields, of its times, and of what the lane of a row that
 * counts knows by such a name; NULL: it does not count. waits: of its arguments nothing yet. e is
 * NULL for a call that the end of the trace closed. */
int statistics_add_fields(struct statistics *s, struct aggregate *a, const struct event *e,
			  const struct lane *lane, bool waits,
			  const struct statistics_times *times);

/* --- rows --- */

/* One event, of whatever kind. */
int statistics_take(struct statistics *s, struct event *e);
/* All that are left. */
int statistics_take_rows(struct statistics *s, struct events *it);
/* The event of one row of a block, which all is at. */
int statistics_take_row(struct statistics *s, const struct events *all, const uint8_t *row);
/* A call that the end of the trace closed, and what is known of its leave's type. */
int statistics_take_unfinished(struct statistics *s, const struct call *call,
			       const struct type *type);
/* An event that may end a pair, which counts as a call of that time does. */
int statistics_take_pair(struct statistics *s, const struct event *e);

/* --- narrow rows --- */

/* Which bits of a narrow row's word (event.h) tell the group; 0: they do not. */
uint64_t statistics_row_mask(const struct statistics *s);
/* 1: the block's rows were taken; 0: they are not for loops such as these. */
int statistics_narrow(struct statistics *s, const struct block *b, const struct events *it);

#endif
