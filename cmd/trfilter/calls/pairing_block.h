/*
 * pairing_block.h - pairing.h for blocks of narrow rows: row by row where that must be fast, and
 * for runs of rows that are all of one mind without a look at most of them
 */
#ifndef TR_TRFILTER_CALLS_PAIRING_BLOCK_H
#define TR_TRFILTER_CALLS_PAIRING_BLOCK_H

#include "cmd/trfilter/calls/pairing_private.h"

/* What a row of a type is to the pairing. */
enum pairing_kind {
	PAIRING_NONE,  /* no call */
	PAIRING_ENTER, /* of recorded depth, on the stack of its thread */
	PAIRING_LEAVE, /* the same */
	PAIRING_OTHER, /* a call of another sort: for pairing_enter and pairing_leave */
};

struct pairing_block {
	struct pairing *pairing;
	const struct block *block;
	bool runs;	    /* pairing_run may be asked: no thread has two lanes */
	bool fit;	    /* all types are */
	uint8_t kinds[256]; /* by type; enum pairing_kind */
	/* by type: 1 where rows cannot be in a run, having more behind their 8 bytes, or being of
	   PAIRING_OTHER */
	uint8_t unfit[256];
	struct pairing_stack *stacks[256]; /* by lane */
};

/* Do calls begin or end in the block? */
bool pairing_has_calls(const struct block *b);

/* b has narrow rows, and stays the caller's. -1: out of memory. */
int pairing_block_begin(struct pairing_block *pb, struct pairing *p, const struct block *b);

/*
 * Rows from one on and up to another one of a block for runs, all of types that are fit, of which
 * every enter is to have the note, and every leave by itself too. false, and nothing was done: a
 * call that was entered before with another note may end in them, and they have to be taken one by
 * one. Rows need not have been checked, but for their size.
 */
bool pairing_run(struct pairing_block *pb, const uint8_t *from, const uint8_t *to, uint32_t note);

/*
 * Notes by lane and depth, in place of stacks, for those who go through all rows of a block for
 * runs of fit types and find that each leave has the note that stands there. A note is 0 or 1, or
 * PAIRING_FREE with anything: nothing is open.
 */
enum { PAIRING_FREE = 2, PAIRING_LANES = 64 };
struct pairing_notes {
	uint8_t at[PAIRING_LANES * 256];
};
/* As it stands. false: there are too many lanes. */
bool pairing_notes(const struct pairing_block *pb, struct pairing_notes *n);
/* What was found of all rows of the block is so. */
void pairing_found(struct pairing_block *pb, const struct pairing_notes *n);

/* A row with PAIRING_ENTER or PAIRING_LEAVE. Returns the note of its call: that of the row by
 * itself, unless it is a leave whose enter was seen. */
static inline __attribute__((always_inline)) uint32_t
pairing_row(struct pairing_block *pb, uint32_t lane, uint8_t kind, uint32_t depth, uint32_t note)
{
	struct pairing_stack *s = pb->stacks[lane];
	size_t n = s->count;

	/* what is open deeper ended without a leave, as what is open as deep as an enter did */
	if (kind == PAIRING_ENTER) {
		while (__builtin_expect(n && s->frames[n - 1].depth >= depth, 0))
			n--;
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
	while (__builtin_expect(n && (s->frames[n - 1].depth > depth ||
				      (s->frames[n - 1].inner && s->frames[n - 1].depth >= depth)),
				0))
		n--;
	if (__builtin_expect(n && s->frames[n - 1].depth == depth && !s->frames[n - 1].inner, 1))
		note = s->frames[--n].note;
	s->count = n;
	return note;
}

#endif
