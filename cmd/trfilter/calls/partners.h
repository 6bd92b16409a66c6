/*
 * partners.h - the two rows of each call that context.h may keep: both are kept, or neither
 *
 * An enter is undecided until its leave is decided, even long after the last match that could reach
 * the enter itself.
 */
#ifndef TR_TRFILTER_CALLS_PARTNERS_H
#define TR_TRFILTER_CALLS_PARTNERS_H

#include "cmd/trfilter/calls/pairing.h"
#include "cmd/trfilter/calls/block_queue.h"

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
	uint8_t ends_here; /* flags (row_state.h) of calls that ended */
	bool failed;
	struct error error;
};

/* Prepare p, which must not move afterwards, for streams with that dictionary. */
void partners_init(struct partners *p, struct block_queue *w, struct dictionary *d);
void partners_free(struct partners *p);

/* Take a row of the present block with its state so far; *at names it for the block queue.
 * Returns the state: kept, undecided or left out. An enter is not left out at once: the enter is
 * undecided until the leave of its call (ROW_PARTNER). */
uint8_t partners_enter(struct partners *p, const struct event *e, uint32_t row, uint8_t state,
		       struct call_address *at);
uint8_t partners_leave(struct partners *p, const struct event *e, uint8_t state,
		       struct call_address *at);
/* Take a row of KIND_DROP. */
void partners_drop(struct partners *p, const struct event *e);
/* Take an enter or leave that matches by itself: conditions on single rows select single rows. */
void partners_match(struct partners *p, const struct event *e);

/* Returns the flags of the calls that ended since the last call. */
static inline uint8_t partners_ended(struct partners *p)
{
	uint8_t flags = p->ends_here;

	if (__builtin_expect(p->pairing.ended, 0))
		flags |= pairing_flags(p->pairing.ended);
	p->ends_here = p->pairing.ended = 0;
	return flags;
}

/* Decide a row with ROW_UNDECIDED: a match reached it, or no later match can. Returns the state,
 * which the caller sets: ROW_KEEP, ROW_LEFT_OUT or ROW_PARTNER. */
uint8_t partners_decide(struct partners *p, struct call_address at, bool reached);

/* End all open calls without a leave. Returns 0, or -1 with e filled. */
int partners_end(struct partners *p, struct error *e);
/* Returns -1 with e filled if anything failed so far. */
int partners_check(const struct partners *p, struct error *e);
/* Callback of the block queue: a row has moved. */
void partners_moved(struct partners *p, struct call_address at, uint64_t block, uint32_t row);

#endif
