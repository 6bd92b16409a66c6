/*
 * overlap.h - numbered calls of one thread that overlap, left out before others see them
 *
 * So are those that overlap with a call of the thread's stack.
 *
 * A call that was entered inside another one is held back until it is left: if the other one is
 * left first, they overlap, and the one inside is left out. While one is held back all rows behind
 * it are, of all threads, so that their order stays. Not more than a bounded number of rows and
 * bytes waits: what would is left out where the thread has calls of a stack; else it is taken for a
 * call that nests, and is cut by the target's stack if it does not.
 */
#ifndef TR_TRENCODE_CONVERT_OVERLAP_H
#define TR_TRENCODE_CONVERT_OVERLAP_H

#include "common/stream/event.h"
#include "common/util/idmap.h"
#include "common/calls/open_calls.h"

struct error;

struct overlap_row {
	struct event ev; /* fixed and tail are a copy */
	uint8_t *data;
	size_t size;
	uint8_t state;
};

struct overlap_thread {
	struct overlap_open {
		enum {
			OVERLAP_NUMBERED,
			OVERLAP_STACK, /* a call of the thread's stack */
			OVERLAP_OVER,  /* it was left */
		} what;
		uint32_t call;
		uint64_t row;	/* number of its enter's row */
		uint32_t depth; /* STACK: as recorded, else UINT32_MAX */
		size_t below;	/* STACK: index + 1 of the next one of the stack, 0 none */
	} * open;
	size_t count, capacity;
	size_t top; /* index + 1 of the call on top of the stack, 0 none */
	bool stacked;
};

struct overlap {
	int (*next)(void *ctx, const struct event *ev, struct error *e);
	void *ctx;
	struct overlap_row *rows; /* a ring */
	size_t capacity, first, count, bytes;
	uint64_t number;		/* of the first row in the ring */
	struct overlap_thread *threads; /* by the lane's thread */
	size_t threads_size;
	bool numbered;		  /* a call with a number was there */
	struct open_calls inside; /* open calls that wait or were left out: their state */
	uint64_t left_out;
};

/* Take a row; it, and those that waited for it, go to next. */
int overlap_take(struct overlap *o, const struct event *ev, struct error *e);
/* The end: calls that are still open nest. */
int overlap_end(struct overlap *o, struct error *e);
void overlap_free(struct overlap *o);

#endif
