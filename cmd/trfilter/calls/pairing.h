/*
 * pairing.h - keep a note for each enter until the leave that closes it
 *
 * A filter that decides events one by one keeps only the decision of each enter, so it does not run
 * the call engine (common/calls/calls.h), whose rule "calls balance" the pairing follows.
 * One frame is 8 bytes. pairing_block.h does the same for whole blocks.
 */
#ifndef TR_TRFILTER_CALLS_PAIRING_H
#define TR_TRFILTER_CALLS_PAIRING_H

#include "cmd/trfilter/calls/row_state.h"
#include "common/stream/event.h"
#include "common/calls/open_calls.h"

struct pairing_stack;

struct pairing {
	struct pairing_stack *stacks; /* by number of the thread */
	size_t size;
	uint64_t blocks;	    /* number of blocks that pairing_block.c has begun */
	struct open_calls numbered; /* calls of types that pair by number */
	bool out_of_memory;
	/* calls that ended without a leave since the caller cleared it: bits pairing_ended() */
	uint8_t ended;
	/* Called with the note of each call that ended without a leave. May be NULL. */
	void (*lost)(void *ctx, uint32_t note);
	void *ctx;
};

/* Forget all calls, without calling lost. */
void pairing_free(struct pairing *p);
/* Take an enter with its note, such as a decision: below 2^31. */
void pairing_enter(struct pairing *p, const struct event *e, uint32_t note);
/* Take a leave. Returns true with the note of its enter, or false if its enter was never seen. */
bool pairing_leave(struct pairing *p, const struct event *e, uint32_t *note);

/* Take a row of KIND_DROP. */
void pairing_drop(struct pairing *p, const struct event *e);

/* Returns the bit for calls with that note, 0 or 1, and calls of types with TYPE_INNER or not. */
static inline uint8_t pairing_ended(uint32_t note, bool inner)
{
	return (uint8_t)(1 << (2 * inner + (note & 1)));
}

/* Returns the flags (row_state.h) of a row at which calls with these bits ended. */
static inline uint8_t pairing_flags(unsigned ended)
{
	return (ended & 3 ? ROW_ENDS : 0) | (ended >> 2 ? ROW_ENDS_INNER : 0);
}

#endif
