/*
 * overlap.h - leave out numbered calls that overlap with other calls of their thread
 *
 * The other call may have a number too, or be on the thread's stack.
 *
 * The enter of a call inside of another call waits for the leave. If the outer call is left first,
 * the calls overlap, and the inner call is left out. All later rows of all threads wait too, so
 * their order does not change. The number and the bytes of waiting rows are bounded. If a call
 * exceeds the bound, it is left out if its thread has calls of a stack; otherwise it passes as a
 * call that nests, and the target's stack ends it if it does not.
 */
#ifndef TR_TRENCODE_CONVERT_OVERLAP_H
#define TR_TRENCODE_CONVERT_OVERLAP_H

#include "common/stream/event.h"
#include "common/util/idmap.h"
#include "common/calls/open_calls.h"

struct error;

/* One waiting row. */
struct overlap_row {
	struct event ev; /* fixed and tail point into data */
	uint8_t *data;
	size_t size;
	uint8_t state;
};

/* The open calls of one thread, in the order of their enters. */
struct overlap_thread {
	struct overlap_open {
		enum {
			OVERLAP_NUMBERED,
			OVERLAP_STACK, /* a call of the thread's stack */
			OVERLAP_OVER,  /* a numbered call that was left */
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
	uint64_t number;		/* number of the first row in the ring */
	struct overlap_thread *threads; /* by the lane's thread */
	size_t threads_size;
	bool numbered;		  /* a call with a number was read */
	struct open_calls inside; /* open calls that wait or were left out: their state */
	uint64_t left_out;	  /* calls */
};

/* Take a row, and pass it and the rows that waited for it to next. Returns 0, or -1 with *e
 * filled. */
int overlap_take(struct overlap *o, const struct event *ev, struct error *e);
/* Pass all waiting rows to next, at the end: calls that are still open nest. */
int overlap_end(struct overlap *o, struct error *e);
void overlap_free(struct overlap *o);

#endif
