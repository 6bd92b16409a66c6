/*
 * duration_scan.h - the fast path: blocks of narrow rows, conditions on the duration, location and
 * lane of calls alone (see call_filter_range.c)
 *
 * States are written only for kept rows; calls that are open at the end of the block are found on
 * the stacks of the call engine, which have no times of callees and last events here.
 * duration_scan.c works row by row, duration_scan_quick.c on runs of rows whose depths are
 * consistent.
 */
#ifndef TR_TRFILTER_CALLS_DURATION_SCAN_H
#define TR_TRFILTER_CALLS_DURATION_SCAN_H

#include "cmd/trfilter/calls/call_filter_private.h"
#include "common/calls/calls_rows.h"

enum {
	DURATION_SCAN_LANES = 256, /* number of lanes that narrow rows can name */
	DURATION_SCAN_TYPES = 256,
	DURATION_SCAN_NONE = 1000, /* more than any depth of a narrow row */
};

struct duration_scan {
	struct call_filter *w;
	const struct block *b;
	uint64_t block;	  /* the number that it will have */
	bool by_location; /* the condition also depends on locations */
	bool kept;	  /* a row is kept or undecided */
	bool shared;	  /* two lanes are of one thread */
	/* for runs: 1 a leave, 0 an enter, both of bare rows; else DURATION_SCAN_NONE */
	uint32_t leaves[DURATION_SCAN_TYPES];
	struct calls_rows rows;
	bool wanted[DURATION_SCAN_LANES];
	uint32_t at[DURATION_SCAN_LANES]; /* number of the last row of the fast path + 1; 0: none */
};

/* Returns true if calls with that lane, type and location of the enter are wanted. */
bool duration_scan_wanted(const struct duration_scan *x, uint32_t lane, uint32_t type,
			  uint32_t location);
/* Evaluate the terms that depend on the lane, or else on the location (call_filter_range.c). */
bool call_filter_wanted(struct call_filter *w, bool lane, const struct event *e);

/* Take rows from number first on, as long as their depths are consistent. Returns the row after
 * the last one taken. */
const uint8_t *duration_scan_run(struct duration_scan *x, const uint8_t *run, uint32_t first);

/* Fill in the data of a call that begins with the row p, whose number is row. */
static inline __attribute__((always_inline)) void duration_scan_enter(const struct duration_scan *x,
								      struct call_data *f,
								      const uint8_t *p,
								      uint32_t row)
{
	f->start = x->b->base + row_delta_at(p);
	f->block = x->block;
	f->row = row;
	f->lane = x->b->lanes[row_lane_at(p)];
	f->level = 0;
	f->marks[0] = UINT64_MAX; /* marks of terms that are true */
	f->answer = ANSWER_LATER;
	f->begun = f->undecided = f->in_range = f->row_holds = true;
	f->for_callee = f->numbered = f->ignored = f->per_cpu = false;
	if (x->by_location &&
	    !duration_scan_wanted(x, row_lane_at(p), row_type_at(p), row_location_at(p))) {
		f->answer = ANSWER_NO;
		f->undecided = false;
	}
}

/* Decide a call that was left, and its leave. */
static inline __attribute__((always_inline)) void
duration_scan_leave(struct duration_scan *x, struct call_data *f, uint64_t took, uint32_t row)
{
	struct call_filter *w = x->w;

	if (__builtin_expect(f->answer == ANSWER_LATER &&
				     took - w->duration.shortest <=
					     w->duration.longest - w->duration.shortest,
			     0)) {
		f->answer = ANSWER_YES;
		call_filter_decide(w, f, true);
	}
	if (__builtin_expect(f->answer == ANSWER_YES, 0)) {
		w->rows.states[row] = ROW_KEEP;
		x->kept = true;
	} else if (f->undecided) {
		if (__builtin_expect(f->block != x->block, 0))
			call_filter_decide(w, f, false);
		else
			w->rows.states[f->row] = row_flags(w->rows.states[f->row]);
	}
}

#endif
