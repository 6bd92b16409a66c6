/*
 * context.h - the rows around a match: -A, -B and --within
 */
#ifndef TR_TRFILTER_CONTEXT_H
#define TR_TRFILTER_CONTEXT_H

#include "cmd/trfilter/block_queue.h"
#include "cmd/trfilter/rows.h"

/*
 * Keeps more rows than those that match: context.c, follow.c.
 *
 * It takes blocks whose rows are decided, in which a row that does not match has the state
 * ROW_FOR_CONTEXT, and queues them until it has decided their rows.
 */
struct widening {
	/* Take a block; NULL: end of the input. Returns 0, or -1 with e filled. */
	int (*take)(struct widening *w, struct queued_block *h, struct error *e);
	struct block_queue queue; /* the output */
	struct results results;	  /* the matches, up to a limit */
	bool done;		  /* no row that follows can be kept */
};

/*
 * The two rows of each call that context.h may keep: both are kept, or neither.
 *
 * An enter is undecided until its leave is decided, even long after the last match that could reach
 * the enter itself.
 */

/* Which row of the call call_address.number a row of the block queue is, in call_address.stack. */
enum partner_row { PARTNER_NONE, PARTNER_ENTER, PARTNER_LEAVE };

struct partner {
	uint64_t block; /* block of the enter's row, while it is undecided */
	uint32_t row;
	bool used;
	bool enter_waits, enter_near; /* near: a later match may reach the enter (ROW_UNDECIDED) */
	bool leave_waits, left;	      /* left: its leave was read, or there is none */
	bool leave_dropped;
	bool kept; /* one of its rows is kept, so both are */
};

struct partners {
	struct pairing pairing;
	struct partner *calls;
	size_t count, capacity;
	uint32_t *unused;
	size_t nunused, unused_capacity;
	struct block_queue *queue;
	uint8_t *states;   /* of the present block, which is queued next */
	uint8_t ends_here; /* flags (enum row_state) of calls that ended */
	bool failed;
	struct error error;
};

/* Get the flags of the calls that ended since the last call. */
static inline uint8_t partners_ended(struct partners *p)
{
	uint8_t flags = p->ends_here;

	if (__builtin_expect(p->pairing.ended, 0))
		flags |= pairing_flags(p->pairing.ended);
	p->ends_here = p->pairing.ended = 0;
	return flags;
}

/*
 * Events around those that match: -A, -B, --within.
 *
 * Takes blocks whose rows are decided, queues the rows that a later match may need, and returns
 * blocks in their order. Both rows of a call are kept, or neither, so that calls are
 * balanced.
 */

struct context {
	struct widening widening;
	uint64_t before, after; /* number of events */
	uint64_t within;	/* in ns */
	bool by_time;		/* within is given */
	uint64_t limit;		/* most matches */

	struct partners partners;
	uint64_t pending;    /* number of rows that a later match may reach */
	uint64_t oldest;     /* number of the block with the first of them */
	bool matched_before; /* there was a match in this stream, with these two: */
	uint64_t until;	     /* events up to this time are kept */
	uint64_t left;	     /* number of later events that are kept */
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

#endif
