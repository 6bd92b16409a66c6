/*
 * pairing_block.h - pairing.h for blocks of narrow rows: what the rows are for the engine, and runs
 * of rows with equal marks, of which most rows are skipped
 */
#ifndef TR_TRFILTER_CALLS_PAIRING_BLOCK_H
#define TR_TRFILTER_CALLS_PAIRING_BLOCK_H

#include "cmd/trfilter/calls/pairing.h"
#include "common/calls/calls_run.h"

struct pairing_block {
	struct pairing *pairing;
	const struct block *block;
	bool runs; /* runs are allowed: no thread has two lanes */
	bool fit;  /* all types are fit for runs */
	struct calls_rows rows;
	/* by type: */
	uint8_t enters[256]; /* is it of calls: KIND_ENTER or KIND_LEAVE, else 0 */
	uint8_t kinds[256];  /* the same for those that calls_run.h understands */
	uint8_t unfit[256]; /* 1 for rows that cannot be in a run: with a payload, or other calls */
};

/* Returns true if calls begin or end in the block. */
bool pairing_has_calls(const struct block *b);
/* Prepare for a block of narrow rows, which belongs to the caller. Returns false if the block does
 * not suit, because it has locations of an exec, or out of memory. */
bool pairing_block_begin(struct pairing_block *pb, struct pairing *p, const struct block *b);

/*
 * Take the rows [from, to) of a block for runs, all of fit types. Every enter gets the mark, and
 * every leave has it by itself. Returns false, with nothing done, if a call that was entered
 * earlier with another mark may end in these rows; they must then be taken one by one. Rows need no
 * check but for their size.
 */
bool pairing_run(struct pairing_block *pb, const uint8_t *from, const uint8_t *to, uint32_t mark);

/*
 * Notes by lane and depth, instead of stacks, for callers that go through all rows of a block of
 * fit types and check that each leave has the mark found here. A mark is 0 or 1; with PAIRING_FREE
 * set, no call with an enter is open.
 */
enum { PAIRING_FREE = 2, PAIRING_LANES = 64 };
struct pairing_marks {
	uint8_t at[PAIRING_LANES * RUN_DEPTHS];
};
/* Fill in n from the stacks. Returns false if there are too many lanes. */
bool pairing_marks(const struct pairing_block *pb, struct pairing_marks *n);
/* Set the stacks to what was found in all rows of the block. Returns false, with nothing done, if
 * a call with that mark ended without a leave, or a call without an enter ended. */
bool pairing_found(struct pairing_block *pb, const struct pairing_marks *n, uint8_t mark);

/* Take a row of a call that the engine does not process in line. Returns as pairing_row. */
uint32_t pairing_other_row(struct pairing_block *pb, const uint8_t *row, uint32_t mark);

/* Take a row of a call, of that word. Returns the mark of its call: own, unless the row is a leave
 * whose enter was seen. */
static inline __attribute__((always_inline)) uint32_t
pairing_row(struct pairing_block *pb, const uint8_t *row, uint64_t w, uint32_t mark)
{
	const struct calls_row_type *t = &pb->rows.types[row_type(w)];
	struct stack *s = pb->rows.stacks[row_lane(w) + t->stack];
	const struct event e = {.depth = row_depth(w)};
	uint64_t *data;

	switch (calls_try_on(s, t->kind, &e, NULL, true)) {
	case CALLS_ENTER:
		data = pairing_data(pb->pairing, s, s->count - 1);
		*data = mark + 1ull;
		return mark;
	case CALLS_LEAVE: return (uint32_t)*pairing_data(pb->pairing, s, s->count) - 1;
	default: return pairing_other_row(pb, row, mark);
	}
}

#endif
