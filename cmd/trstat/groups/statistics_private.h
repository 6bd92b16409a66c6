/*
 * statistics_private.h - what the files of statistics.h share
 *
 * Functions that return int return -1 when out of memory.
 */
#ifndef TR_TRSTAT_GROUPS_STATISTICS_PRIVATE_H
#define TR_TRSTAT_GROUPS_STATISTICS_PRIVATE_H

#include "cmd/trstat/groups/statistics.h"

/* --- groups --- */

/* Returns the group of a row, from the caches where possible. NULL: out of memory. */
struct aggregate *statistics_group(struct statistics *s, const struct event_ref *subject);
/* Clear the caches after groups were merged or names changed. */
void statistics_forget_names(struct statistics *s);

/* --- fields --- */

/* Set in each group the sum of the self values of all groups, with the key type of those of its
 * type. Returns -1 when out of memory. */
int statistics_share(struct statistics *s);

/* Returns true if a row that does not count has a value for a column. waits: its arguments are
 * ignored. */
bool statistics_has_fields(const struct statistics *s, const struct event *e, bool waits);
/* Make the cells of an enter's arguments, two for each: a number or nothing, a hash or nothing. */
void statistics_argument_cells(const struct statistics *s, const struct event *e,
			       struct key_cell *cells);
/* Add the enter's arguments that the leave does not have; e is NULL for a call without a leave. */
int statistics_add_arguments(struct statistics *s, struct aggregate *a, const struct event *e,
			     const struct key_cell *cells);
/* The times of a call, or of an event without duration. */
struct statistics_times {
	bool known;
	bool pending; /* total and self are not known yet */
	uint64_t total, self;
	uint32_t location; /* of a call: the location that names it */
};

/* Add the values that the columns need: the row's fields, its times, and values of the row's
 * lane; lane is NULL if the row does not count. waits: its arguments are ignored. e is NULL for a
 * call that the end of the trace closed. */
int statistics_add_fields(struct statistics *s, struct aggregate *a, const struct event *e,
			  const struct lane *lane, bool waits,
			  const struct statistics_times *times);

/* Prepare for the rows of a block. */
int statistics_begin_block(struct statistics *s, const struct block *b);

static inline void statistics_note_time(struct statistics *s, uint64_t time)
{
	s->first = time < s->first ? time : s->first;
	s->last = time > s->last ? time : s->last;
}

/* --- selection --- */

/* Returns true if not all rows count. */
static inline bool statistics_selects(const struct statistics *s)
{
	return s->outside || s->where;
}
/* Returns true if a row counts; false with out_of_memory set, too. */
bool statistics_is_selected(struct statistics *s, const struct event_ref *subject);
/* Keep what the condition needs of an enter. */
int statistics_where_cells(struct statistics *s, const struct event_ref *entered,
			   struct key_cell *cells);

/* --- rows --- */

/* Make the calls, without any. */
void statistics_begin_calls(struct statistics *s);
/* Returns how it is found which calls are inside another one of their group. */
enum recursion_of statistics_recursion(const struct statistics *s);

/* Count one event of any kind. */
int statistics_take(struct statistics *s, struct event *e);
/* Count all rows that are left. */
int statistics_take_rows(struct statistics *s, struct events *it);
/* Count one row of the block that all iterates. */
int statistics_take_row(struct statistics *s, const struct events *all, const uint8_t *row);
/* Count a call that the end of the trace closed; type: that of its enter. */
int statistics_take_unfinished(struct statistics *s, const struct call *call,
			       const struct type *type);
/* Take an event that may end a pair; the pair counts as a call of that time. */
int statistics_take_pair(struct statistics *s, const struct event *e);

/* Count a sample. */
int statistics_take_sample(struct statistics *s, const struct event *e);
void statistics_free_samples(struct statistics *s);

/* Learn the functions of a stack's frames. */
int statistics_learn_frames(struct statistics *s, uint32_t stack);
/* Learn the groups of the frames of a sample's stack, which are known. Returns them by stack. NULL
 * without out_of_memory: the type is one too many. */
const struct counted_frame *statistics_learn_groups(struct statistics *s, struct event_ref *subject,
						    uint32_t stack);
/* Add a sample to the sum of its stack. OUTCOME_NO: the columns need each sample by itself. */
enum outcome statistics_sum_sample(struct statistics *s, struct event_ref *subject, uint32_t stack);
/* Add the sums to the groups. To be called before the groups are looked at. */
int statistics_add_sums(struct statistics *s);
/* Add the sums to the groups, and forget the groups and names of the stacks. */
void statistics_forget_samples(struct statistics *s);
void statistics_free_sums(struct statistics *s);
/* Fetch the sums of the stacks of a block before its rows are read. */
void statistics_fetch_sums(const struct statistics *s, const struct block *b);

/* --- narrow rows --- */

/* Returns the bits of a narrow row's word (event.h) that decide the group; 0: they do not
 * suffice. */
uint64_t statistics_row_mask(const struct statistics *s);
/* Count the rows of a block. OUTCOME_NO: the block does not suit these loops. */
enum outcome statistics_narrow(struct statistics *s, const struct block *b,
			       const struct events *it);

#endif
