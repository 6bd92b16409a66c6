/*
 * partners.h - the two rows of each call that context.h may keep: both are kept, or none
 *
 * An enter waits until its leave is decided, which may be long after no later match can reach the
 * enter itself any more.
 */
#ifndef TR_TRFILTER_CALLS_PARTNERS_H
#define TR_TRFILTER_CALLS_PARTNERS_H

#include "cmd/trfilter/calls/pairing.h"
#include "cmd/trfilter/calls/block_queue.h"

/* What frame_at.stack says of a row in waiting.h: which row of the call frame_at.frame it is. */
enum partner_row { PARTNER_NONE, PARTNER_ENTER, PARTNER_LEAVE };

struct partner {
	uint64_t block; /* where the row of its enter is, while that waits */
	uint32_t row;
	bool used;
	bool enter_waits, enter_near; /* near: a later match may reach it: ROW_WAIT */
	bool leave_waits, left;	      /* left: its leave came, or never will */
	bool leave_dropped;
	bool kept; /* one of its rows is, so both are */
};

struct partners {
	struct pairing pairing;
	struct partner *calls;
	size_t count, capacity;
	uint32_t *unused;
	size_t nunused, unused_capacity;
	struct block_queue *waiting;
	uint8_t *states; /* of the block at hand, the next of waiting */
	bool failed;
	struct error error;
};

void partners_init(struct partners *p, struct block_queue *w);
void partners_free(struct partners *p);

/* A row of the block at hand, with its state so far; *at names it to waiting.h. The state is kept,
 * waits, or is dropped; of an enter in place of dropped: it waits for its leave (ROW_PARTNER). */
uint8_t partners_enter(struct partners *p, const struct event *e, uint32_t row, uint8_t state,
		       struct frame_at *at);
uint8_t partners_leave(struct partners *p, const struct event *e, uint8_t state,
		       struct frame_at *at);
/* An enter or leave that matches by itself: whoever asked for single rows gets them. */
void partners_match(struct partners *p, const struct event *e);

/* A row with ROW_WAIT is reached by a match, or can be no more. What becomes of it, which the
 * caller notes: ROW_KEEP, ROW_DROP or ROW_PARTNER. */
uint8_t partners_decide(struct partners *p, struct frame_at at, bool reached);

/* All calls that are open have no leave. 0, or -1 with e filled. */
int partners_end(struct partners *p, struct error *e);
/* Has anything gone wrong so far? */
int partners_check(const struct partners *p, struct error *e);
/* Of waiting.h: a row stands elsewhere now. */
void partners_moved(struct partners *p, struct frame_at at, uint64_t block, uint32_t row);

#endif
