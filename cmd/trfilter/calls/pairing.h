/*
 * pairing.h - what was noted at an enter, given back at the leave that closes it
 *
 * Not common/calls.h, which pairs for those who measure: it has no frame where no time is to be
 * counted (outside of any call, after an exec), but here every leave must find its enter, or the
 * output is not balanced. One frame is 8 bytes. pairing_block.h has the same for whole blocks.
 */
#ifndef TR_TRFILTER_CALLS_PAIRING_H
#define TR_TRFILTER_CALLS_PAIRING_H

#include "common/stream/event.h"
#include "common/calls/open_calls.h"

struct pairing_stack;

struct pairing {
	struct pairing_stack *stacks; /* by number of the thread */
	size_t size;
	uint64_t blocks;	    /* that pairing_block.c has begun */
	struct open_calls numbered; /* of types that pair by number */
	bool out_of_memory;
	/* NULL, or told the notes of calls that ended without a leave */
	void (*lost)(void *ctx, uint32_t note);
	void *ctx;
};

/* Forgets all calls, and does not call lost. */
void pairing_free(struct pairing *p);
/* An enter, and what is noted of it, such as a decision: below 2^31. */
void pairing_enter(struct pairing *p, const struct event *e, uint32_t note);
/* A leave: true, and the note of its enter, or false where its enter was never seen. */
bool pairing_leave(struct pairing *p, const struct event *e, uint32_t *note);

#endif
