/*
 * calls_run.h - find the calls open after a run of narrow rows of recorded depth, reading
 * backwards, for calls.pairs_only
 *
 * A row that is deeper than a later row of its lane does not matter: its call has ended by the
 * later row. A row that is less deep than all later rows is open at the end if it is an enter. So
 * most rows only need a comparison with the lowest depth after them.
 */
#ifndef TR_CALLS_CALLS_RUN_H
#define TR_CALLS_CALLS_RUN_H

#include "common/calls/calls_rows.h"

/* depth of a lane without rows: more than any narrow row's */
enum { RUN_DEPTHS = NARROW_DEPTH_MOST + 1, RUN_NO_ROWS = RUN_DEPTHS };

struct calls_run {
	const uint8_t *kinds; /* by type: KIND_ENTER and KIND_LEAVE of recorded depth, else 0 */
	uint16_t low[256];    /* by lane: the lowest depth of its rows */
	/* of lanes with rows: open calls, a bit for each depth */
	uint64_t open[256][RUN_DEPTHS / 64];
};

/* Read the rows [from, to), each of 8 bytes, of a block with nlanes lanes. Unchecked rows make the
 * result useless, but do no other harm. */
void calls_run_read(struct calls_run *r, const uint8_t *kinds, uint32_t nlanes, const uint8_t *from,
		    const uint8_t *to);
/* Test whether calls_run_end may process the rows of a lane with that stack: no call is open of
 * which calls.h has rules of its own. None of the run's locations may be an exec. */
static inline bool calls_run_fits(const struct calls_run *r, const struct stack *s, uint32_t lane)
{
	return r->low[lane] == RUN_NO_ROWS || (s->started && !calls_is_slow(s));
}
/* Replace the calls of a lane's stack by those open after the run, without a call of on_lost. *new:
 * number of the first frame that the run entered, whose data are zero. -1: out of memory. */
int calls_run_end(struct calls *c, struct stack *s, const struct calls_run *r, uint32_t lane,
		  size_t *new);

#endif
