/*
 * context.h - events around those that match: -A, -B, --within
 *
 * Takes blocks whose rows are decided, queues the rows that a later match may need, and returns
 * blocks in their order. Both rows of a call are kept, or neither (partners.h), so that calls are
 * balanced.
 */
#ifndef TR_TRFILTER_ROWS_CONTEXT_H
#define TR_TRFILTER_ROWS_CONTEXT_H

#include "cmd/trfilter/calls/partners.h"
#include "cmd/trfilter/rows/results.h"

struct context {
	uint64_t before, after; /* number of events */
	uint64_t within;	/* in ns */
	bool by_time;		/* within is given */
	uint64_t limit;		/* most matches */

	struct results results;
	struct block_queue queue;
	struct partners partners;
	uint64_t pending;    /* number of rows that a later match may reach */
	uint64_t oldest;     /* number of the block with the first of them */
	bool matched_before; /* there was a match in this stream, with these two: */
	uint64_t until;	     /* events up to this time are kept */
	uint64_t left;	     /* number of later events that are kept */
	bool done;	     /* the limit and the context of the last match are reached */
	/* of the present block, by row */
	uint8_t *states;
	struct call_address *owners;
	uint64_t *times;
	uint32_t *offsets;
	size_t capacity;
};

static inline bool context_any(const struct context *c)
{
	return c->before || c->after || c->by_time;
}

/* Prepare c, which must not move afterwards, for streams with that dictionary. */
void context_init(struct context *c, size_t limit, struct dictionary *d);
void context_free(struct context *c);

/* Take a block from call_filter_ready; NULL: end of the input. */
int context_take(struct context *c, struct queued_block *h, struct error *e);
/* Returns the next block of the output, as call_filter_ready does; context_done must follow. */
struct queued_block *context_ready(struct context *c, struct error *e);
void context_done(struct context *c);

#endif
