/*
 * pairing.h - keep a mark for each enter until the leave that ends its call
 *
 * For a filter that decides events one by one and keeps only the decision of each enter: the call
 * engine with calls.balances and calls.pairs_only. pairing_block.h does the same for whole blocks.
 */
#ifndef TR_TRFILTER_CALLS_PAIRING_H
#define TR_TRFILTER_CALLS_PAIRING_H

#include "cmd/trfilter/calls/row_state.h"
#include "common/calls/calls_rows.h"

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

#endif
