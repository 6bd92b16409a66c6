/*
 * pairing_block.h - pairing.h for blocks of narrow rows: a fast path for single rows, and one for
 * runs of rows with equal notes that skips most rows
 */
#ifndef TR_TRFILTER_CALLS_PAIRING_BLOCK_H
#define TR_TRFILTER_CALLS_PAIRING_BLOCK_H

#include "cmd/trfilter/calls/pairing_private.h"

/* Meaning of a type's rows for the pairing. */
enum pairing_kind {
	PAIRING_NONE,  /* no call */
	PAIRING_ENTER, /* of recorded depth, on the stack of its thread */
	PAIRING_LEAVE, /* of recorded depth, on the stack of its thread */
	PAIRING_OTHER, /* another call: for pairing_enter and pairing_leave */
};

struct pairing_block {
	struct pairing *pairing;
	const struct block *block;
	bool runs;	    /* pairing_run is allowed: no thread has two lanes */
	bool fit;	    /* all types are fit for runs */
	uint8_t kinds[256]; /* by type; enum pairing_kind */
	/* by type: 1 for rows that cannot be in a run: longer than 8 bytes, or PAIRING_OTHER */
	uint8_t unfit[256];
	struct pairing_stack *stacks[256]; /* by lane */
};

/* Returns true if calls begin or end in the block. */
bool pairing_has_calls(const struct block *b);

/* Prepare for a block of narrow rows, which belongs to the caller. Returns -1 when out of
 * memory. */
int pairing_block_begin(struct pairing_block *pb, struct pairing *p, const struct block *b);

/*
 * Take the rows [from, to) of a block for runs, all of fit types. Every enter gets the note, and
 * every leave has it by itself. Returns false, with nothing done, if a call that was entered
 * earlier with another note may end in these rows; they must then be taken one by one. Rows need no
 * check but for their size.
 */
bool pairing_run(struct pairing_block *pb, const uint8_t *from, const uint8_t *to, uint32_t note);

/*
 * Notes by lane and depth, instead of stacks, for callers that go through all rows of a block of
 * fit types and check that each leave has the note found here. A note is 0 or 1; with PAIRING_FREE
 * set, no call is open.
 */
enum { PAIRING_FREE = 2, PAIRING_LANES = 64 };
struct pairing_notes {
	uint8_t at[PAIRING_LANES * 256];
};
/* Fill in n from the stacks. Returns false if there are too many lanes. */
bool pairing_notes(const struct pairing_block *pb, struct pairing_notes *n);
/* Set the stacks to what was found in all rows of the block. Returns false, with nothing done, if
 * a call with that note ended without a leave. */
bool pairing_found(struct pairing_block *pb, const struct pairing_notes *n, uint8_t note);

/* Note that the call on top of n ended without a leave. */
static inline void pairing_note_end(struct pairing *p, const struct pairing_stack *s, size_t n)
{
	const struct pairing_frame *f = &s->frames[n - 1];

	p->ended |= pairing_ended(f->note, f->inner);
}

/* Take a row with PAIRING_ENTER or PAIRING_LEAVE. Returns the note of its call: own, unless the
 * row is a leave whose enter was seen. */
static inline __attribute__((always_inline)) uint32_t
pairing_row(struct pairing_block *pb, uint32_t lane, uint8_t kind, uint32_t depth, uint32_t note)
{
	struct pairing_stack *s = pb->stacks[lane];
	size_t n = s->count;

	/* deeper calls ended without a leave; before an enter also those as deep */
	if (kind == PAIRING_ENTER) {
		for (; __builtin_expect(n && s->frames[n - 1].depth >= depth, 0); n--)
			pairing_note_end(pb->pairing, s, n);
		if (__builtin_expect(n < s->capacity, 1)) {
			s->frames[n] = (struct pairing_frame){.depth = depth, .note = note};
			s->count = n + 1;
		} else {
			s->count = n;
			pairing_push(pb->pairing, s,
				     &(struct pairing_frame){.depth = depth, .note = note});
		}
		return note;
	}
	for (; __builtin_expect(n && (s->frames[n - 1].depth > depth ||
				      (s->frames[n - 1].inner && s->frames[n - 1].depth >= depth)),
				0);
	     n--)
		pairing_note_end(pb->pairing, s, n);
	if (__builtin_expect(n && s->frames[n - 1].depth == depth && !s->frames[n - 1].inner, 1))
		note = s->frames[--n].note;
	s->count = n;
	return note;
}

#endif
