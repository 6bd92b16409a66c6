/*
 * duration_scan.h - the case that must be fast: blocks of narrow rows, calls kept by how long they
 * took and by where they are (call_filter_range.c says of which conditions that is all)
 *
 * A row's state is written only where it is kept; the calls that are still open when the block ends
 * are found on the stacks. duration_scan.c goes row by row, call_filter_quick.c through runs of
 * rows that follow one another as they should.
 */
#ifndef TR_TRFILTER_CALLS_DURATION_SCAN_H
#define TR_TRFILTER_CALLS_DURATION_SCAN_H

#include "cmd/trfilter/calls/call_filter_private.h"

enum {
	PLAIN_LANES = 256, /* that narrow rows can name */
	PLAIN_TYPES = 256,
	PLAIN_NONE = 1000, /* more than any depth of theirs */
};

struct plain {
	struct call_filter *w;
	const struct block *b;
	uint64_t block;		    /* the number it will have */
	bool by_location;	    /* there is more to ask of a call than how long it took */
	bool kept;		    /* a row is, or may be */
	bool shared;		    /* two lanes are of one thread */
	uint8_t kinds[PLAIN_TYPES]; /* KIND_INSTANT for all that goes the general way */
	/* for runs: 1 a leave, 0 an enter, both of bare rows; else PLAIN_NONE */
	uint32_t leaves[PLAIN_TYPES];
	struct frame_stack *stacks[PLAIN_LANES];
	bool wanted[PLAIN_LANES];
	uint32_t at[PLAIN_LANES]; /* number of the last row of the fast way + 1, 0 none */
};

/* Is a call wanted, whose enter is a row of that lane, type and place? */
bool plain_wanted(const struct plain *x, uint32_t lane, uint32_t type, uint32_t location);
/* Do the parts hold that ask for an entry of that kind? call_filter_range.c */
bool call_filter_wanted(struct call_filter *w, bool lane, const struct event *e);

/* From a row on, the number of which is first, as far as all is as it should be: the row behind
 * the last that was taken. */
const uint8_t *quick_run(struct plain *x, const uint8_t *run, uint32_t first);

/* A call begins; its frame is there. p: its row, of that number. */
static inline __attribute__((always_inline)) void
plain_enter(const struct plain *x, struct open_frame *f, const uint8_t *p, uint32_t row)
{
	f->start = x->b->base + (get_u32(p) & 0xffffff);
	f->block = x->block;
	f->row = row;
	f->lane = x->b->lanes[p[3]];
	f->depth = p[7];
	f->location = x->b->locations[get_u16(p + 4)];
	f->level = 0;
	f->marks = UINT64_MAX; /* of parts that hold */
	f->answer = ANSWER_LATER;
	f->waits = f->wanted = f->passes = true;
	f->for_callee = f->inner = f->numbered = f->unseen = f->ignored = false;
}

/* A leave: does it close what is open at the top? false: it does not, and nothing was done. */
static inline __attribute__((always_inline)) bool
plain_leave(struct plain *x, struct frame_stack *s, uint64_t time, uint32_t row, uint32_t depth)
{
	struct open_frame *f = frames_top(s);
	struct call_filter *w = x->w;

	if (__builtin_expect(!f || f->depth != depth || f->inner || f->unseen || time < f->start,
			     0))
		return false;
	s->count--;
	if (__builtin_expect(f->answer == ANSWER_LATER &&
				     time - f->start - w->shortest <= w->longest - w->shortest,
			     0)) {
		f->answer = ANSWER_YES;
		call_filter_settle(w, f, true);
	}
	if (__builtin_expect(f->answer == ANSWER_YES, 0)) {
		w->states[row] = ROW_KEEP;
		x->kept = true;
	} else if (f->waits) {
		if (__builtin_expect(f->block != x->block, 0))
			call_filter_settle(w, f, false);
		else
			w->states[f->row] = ROW_DROP;
	}
	return true;
}

#endif
