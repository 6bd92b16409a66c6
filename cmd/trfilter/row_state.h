/*
 * row_state.h - what happens to a row
 *
 * A row may end calls that are kept, by its depth or by an exec, although no leave matches them
 * (CALLS in trstream(5)). Such a row has flags beside its state, and remains in the queue: where
 * the row itself is not kept, or does not end the calls that are kept, a row of KIND_DROP does.
 */
#ifndef TR_TRFILTER_ROW_STATE_H
#define TR_TRFILTER_ROW_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum row_state {
	ROW_LEFT_OUT,
	ROW_KEEP,
	ROW_UNDECIDED,
	ROW_GAP,	 /* kept, and no event */
	ROW_FOR_CONTEXT, /* left out, unless context.h keeps it */
	ROW_CALLER,	 /* kept because it encloses a kept call: no match by itself */
	ROW_PARTNER,	 /* undecided until its leave is decided (context.h) */
	/* flags: kept calls end here */
	ROW_ENDS = 16,	     /* that are as deep as the row ends calls */
	ROW_ENDS_INNER = 32, /* of types with TYPE_INNER, on top of others */
	ROW_ENDS_OWN = 64,   /* the row's own call, which has no enter */
	ROW_ENDS_ANY = ROW_ENDS | ROW_ENDS_INNER | ROW_ENDS_OWN,
	ROW_IGNORED = 128, /* flag: the call engine ignores the call that the row enters */
};

static inline enum row_state row_state(uint8_t state)
{
	return state & 15;
}

static inline uint8_t row_flags(uint8_t state)
{
	return state & (ROW_ENDS_ANY | ROW_IGNORED);
}

static inline bool row_undecided(uint8_t state)
{
	return row_state(state) == ROW_UNDECIDED || row_state(state) == ROW_PARTNER;
}

/* Returns true for events that are kept, but not as callers. */
static inline bool row_kept(uint8_t state)
{
	return row_state(state) == ROW_KEEP;
}

/* Returns true for a row that is in the output; all rows must be decided. */
static inline bool row_passes(uint8_t state)
{
	return row_kept(state) || row_state(state) == ROW_GAP || row_state(state) == ROW_CALLER;
}

#endif
