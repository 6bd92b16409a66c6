/*
 * context.h - events around those that match: -A, -B, --within
 *
 * Takes blocks whose rows are decided, keeps back those that a later match may want, and gives
 * blocks out in their order.
 */
#ifndef TRFILTER_CONTEXT_H
#define TRFILTER_CONTEXT_H

#include "waiting.h"

struct context {
	uint64_t before, after; /* events */
	uint64_t within;	/* ns */
	uint64_t limit;		/* of matches */

	struct waiting waiting;
	uint64_t matched;
	uint64_t pending; /* rows that wait */
	uint64_t until;	  /* behind a match: events up to this time are kept */
	uint64_t left;	  /* and so many */
	bool done;	  /* the limit is reached, and what follows the last match */
	uint8_t *states;
	uint32_t *offsets, *others;
	size_t capacity;
	uint32_t largest; /* rows of a block */
};

static inline bool context_any(const struct context *c)
{
	return c->before || c->after || c->within;
}

void context_init(struct context *c, size_t limit);
void context_free(struct context *c);

/* A block as it came from whole_ready; NULL: nothing comes any more. */
int context_take(struct context *c, const struct held *h, struct error *e);
/* The next block to go out, as whole_ready and whole_done. */
struct held *context_ready(struct context *c, struct error *e);
void context_done(struct context *c);

#endif
