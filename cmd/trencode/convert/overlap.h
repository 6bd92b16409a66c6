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

#include "common/calls/calls.h"

/* One waiting row. */
struct overlap_row {
	struct event ev; /* fixed and tail point into data */
	uint8_t *data;
	size_t size;
	uint8_t state;
};

/* Take a row that passes. */
typedef int overlap_next(void *ctx, const struct event *ev, struct error *e);

struct overlap {
	overlap_next *next;
	void *ctx;
	const struct calls *before; /* the calls of the rows passed on; NULL: none */
	struct overlap_row *rows;   /* a ring */
	size_t capacity, first, count, bytes;
	uint64_t number;	 /* number of the first row in the ring */
	struct calls calls;	 /* from the first call with a number on */
	bool numbered;		 /* a call with a number was read */
	struct open_calls leave; /* calls that were left out and are open */
	uint64_t left_out;	 /* calls */
};

void overlap_init(struct overlap *o, struct dictionary *d, overlap_next *next, void *ctx);
/* Take a row, and pass it and the rows that waited for it to next. Returns 0, or -1 with *e
 * filled. */
int overlap_take(struct overlap *o, const struct event *ev, struct error *e);
/* Pass all waiting rows to next, at the end: calls that are still open nest. */
int overlap_end(struct overlap *o, struct error *e);
void overlap_free(struct overlap *o);

#endif
