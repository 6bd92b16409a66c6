/*
 * context.h - events around those that match: -A, -B, --within
 *
 * Takes blocks whose rows are decided, keeps back those that a later match may want, and gives
 * blocks out in their order. Of a call of which one row is kept the other is kept too (partners.h),
 * so that calls stay balanced.
 */
#ifndef TR_TRFILTER_ROWS_CONTEXT_H
#define TR_TRFILTER_ROWS_CONTEXT_H

#include "cmd/trfilter/calls/partners.h"

struct context {
	uint64_t before, after; /* events */
	uint64_t within;	/* ns */
	bool by_time;		/* that is asked for */
	uint64_t limit;		/* of matches */

	struct block_queue waiting;
	struct partners partners;
	uint64_t matched;
	uint64_t pending; /* rows that a later match may reach */
	uint64_t oldest;  /* number of the block with the first of them */
	bool behind;	  /* there was a match in this stream: */
	uint64_t until;	  /* events up to this time are kept */
	uint64_t left;	  /* and so many */
	bool done;	  /* the limit is reached, and what follows the last match */
	/* of the block at hand, by row */
	uint8_t *states;
	struct frame_at *owners;
	uint64_t *times;
	uint32_t *offsets;
	size_t capacity;
};

static inline bool context_any(const struct context *c)
{
	return c->before || c->after || c->by_time;
}

/* Not to be moved from then on. */
void context_init(struct context *c, size_t limit);
void context_free(struct context *c);

/* A block as it came from call_filter_ready; NULL: nothing comes any more. *x: as for
 * block_queue_counts. */
int context_take(struct context *c, struct queued_block *h, struct left_out *x, struct error *e);
/* The next block to go out, as call_filter_ready and call_filter_done. */
struct queued_block *context_ready(struct context *c, struct error *e);
void context_done(struct context *c);

#endif
