/*
 * ignored.h - find the rows that the call engine ignores, for filtering row by row: outside any
 * call, calls in the kernel and times that a task is scheduled out
 *
 *     sched-out        ignored: no call is open
 *     sched-in
 *     enter main
 *       sched-out      a call
 *       sched-in
 *
 * A filter that decides row by row has the engine for enters that reach a term of its condition
 * only; so this is one more, in streams with such types.
 */
#ifndef TR_TRFILTER_CALLS_IGNORED_H
#define TR_TRFILTER_CALLS_IGNORED_H

#include "common/calls/calls.h"

struct ignored {
	struct dictionary *dictionary;
	struct calls calls;
	uint32_t ntypes; /* number of types examined: */
	bool possible;	 /* one of them is INNER or KERNEL */
	uint8_t *rows;	 /* of the present block: is the row ignored? */
	size_t capacity;
	bool any; /* some row is; else rows is not filled in */
};

void ignored_init(struct ignored *x, struct dictionary *d);
void ignored_free(struct ignored *x);

/* Returns true if ignored_block reads the rows of the block, which must be checked then. */
bool ignored_reads(struct ignored *x, const struct block *b);
/* Find the ignored rows of a block. Returns -1 when out of memory. */
int ignored_block(struct ignored *x, const struct block *b);
/* Open the calls of a SNAPSHOT (calls_restore). Returns -1 when out of memory. */
int ignored_restore(struct ignored *x, const struct block *b);

#endif
