/*
 * pairing_block.h - pairing.h for blocks of narrow rows: row by row where that must be fast, and
 * for runs of rows that are all of one mind without a look at most of them
 */
#ifndef TRFILTER_PAIRING_BLOCK_H
#define TRFILTER_PAIRING_BLOCK_H

#include "pairing_private.h"

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
	bool runs;	    /* bare rows, no calls of another sort, no thread with two lanes */
	uint8_t kinds[256]; /* by type; enum pairing_kind */
	struct pairing_stack *stacks[256]; /* by lane */
};

/* Do calls begin or end in the block? */
bool pairing_has_calls(const struct block *b);

/* b has narrow rows, and stays the caller's. -1: memory is out. */
int pairing_block_begin(struct pairing_block *pb, struct pairing *p, const struct block *b);

/*
 * Rows from one on and up to another one of a block for runs, of which every enter is to have the
 * note, and every leave by itself too. false, and nothing was done: a call that was entered before
 * with another note may end in them, and they have to be taken one by one. Rows need not have been
 * checked, but for their size.
 */
bool pairing_run(struct pairing_block *pb, const uint8_t *from, const uint8_t *to, uint32_t note);

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
