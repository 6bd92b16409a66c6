/*
 * pairing.h - keep a mark for each enter until the leave that ends its call
 *
 * For a filter that decides events one by one and keeps only the decision of each enter: the call
 * engine with calls.balances and calls.pairs_only. struct pairing_block does the same for whole
 * blocks.
 */
#ifndef TR_TRFILTER_PAIRING_H
#define TR_TRFILTER_PAIRING_H

#include "cmd/trfilter/row_state.h"
#include "common/calls/calls.h"

struct pairing {
	struct calls calls; /* data: uint64_t, the mark + 1; 0 in a call without an enter */
	/* calls that ended without a leave, or have no enter, since the caller cleared it: bits
	   pairing_ended() and PAIRING_ENDED_OWN */
	uint8_t ended;
	/* Called with the mark of each call that ended without a leave, and the flag (row_state.h)
	   of the row at which it ended; then only calls without an enter are in `ended`. May be
	   NULL. */
	void (*lost)(void *ctx, uint32_t mark, uint8_t flag);
	void *ctx;
};

/* Prepare a zero-initialised one, with its functions, which must not move afterwards. */
void pairing_init(struct pairing *p, struct dictionary *d);
void pairing_free(struct pairing *p);
/* Forget all calls, without calling lost. */
void pairing_forget(struct pairing *p);
/* Take an enter with its mark, such as a decision. */
void pairing_enter(struct pairing *p, const struct event *e, uint32_t mark);
/* Take a leave. Returns true with the mark of its enter, or false if its enter was never seen. */
bool pairing_leave(struct pairing *p, const struct event *e, uint32_t *mark);
/* Take a row of KIND_DROP. */
void pairing_drop(struct pairing *p, const struct event *e);

/* Returns the data of frame i of a stack. */
static inline uint64_t *pairing_data(const struct pairing *p, const struct stack *s, size_t i)
{
	return calls_data(&p->calls, s, i);
}

/* The leave of a call that has no enter. */
enum { PAIRING_ENDED_OWN = 16 };

/* Returns the bit for calls with that mark, 0 or 1, and calls of types with TYPE_INNER or not. */
static inline uint8_t pairing_ended(uint32_t mark, bool inner)
{
	return (uint8_t)(1 << (2 * inner + (mark & 1)));
}

/* Returns the flags (row_state.h) of a row at which calls with these bits ended. */
static inline uint8_t pairing_flags(unsigned ended)
{
	return (ended & 3 ? ROW_ENDS : 0) | (ended & 12 ? ROW_ENDS_INNER : 0) |
	       (ended & PAIRING_ENDED_OWN ? ROW_ENDS_OWN : 0);
}

/*
 * The same for blocks of narrow rows: what the rows are for the engine, and runs of rows with
 * equal marks, of which most rows are skipped.
 */

struct pairing_block {
	struct pairing *pairing;
	const struct block *block;
	bool runs; /* runs are allowed: no thread has two lanes */
	bool fit;  /* all types are fit for runs */
	struct calls_rows rows;
	/* by type: */
	uint8_t enters[256]; /* is it of calls: KIND_ENTER or KIND_LEAVE, else 0 */
	uint8_t kinds[256];  /* the same for those that calls.h understands */
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
