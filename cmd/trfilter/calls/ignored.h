/*
 * ignored.h - which rows of calls the call engine ignores (CALLS in trstream(5))
 *
 * Calls in the kernel and calls with TYPE_INNER count only inside another call of their thread. In
 * a stack of which rows are left out all of them count, so those that did not must go.
 */
#ifndef TR_TRFILTER_CALLS_IGNORED_H
#define TR_TRFILTER_CALLS_IGNORED_H

#include "common/util/buffer.h"
#include "common/calls/calls.h"
#include "cmd/trfilter/calls/ends.h"
#include "common/stream/event.h"

/* Calls with INNER that are open on top of a thread's others. */
struct ignored_stack {
	uint32_t inner;	     /* so many count */
	uint64_t block;	     /* number of the block with the last of their rows */
	const uint8_t *last; /* the last row with a depth before that, in that block; NULL none */
};

struct ignored {
	struct dictionary *dictionary;
	struct calls calls;
	uint32_t ntypes;	      /* that were looked at: */
	bool special;		      /* one is INNER or KERNEL */
	bool full;		      /* the engine has to see every row */
	struct ignored_stack *stacks; /* by number of the thread */
	size_t nstacks;
	const uint8_t **last; /* scratch, by lane of a block: its last row with a recorded depth */
	size_t nlast;
	uint8_t *classes; /* scratch, by type of a block */
	size_t nclasses;
	uint8_t *rows; /* of the block at hand: is the row ignored? */
	size_t capacity;
	bool any; /* one is; else rows is not filled in */
};

void ignored_init(struct ignored *x, struct dictionary *d);
void ignored_free(struct ignored *x);

/* May rows be ignored? Then each block must be seen. */
bool ignored_needed(struct ignored *x);
/* Of a block whose rows are checked. *ends: of the blocks before it; NULL: look only if full. -1:
 * out of memory. */
int ignored_block(struct ignored *x, const struct ends *ends, const struct block *b);

/* Is an enter with INNER ignored where so many calls are open and the innermost has that place? */
static inline bool ignored_inner(struct ignored *x, const struct event *e, uint32_t open,
				 uint32_t location)
{
	uint32_t thread = e->lane->thread;

	if (open)
		return calls_enters_exec(&x->calls, location);
	return !dictionary_left_out(x->dictionary, thread) ||
	       dictionary_outside(x->dictionary, thread, e->time);
}

static inline bool ignored_is(const struct ignored *x, uint32_t row)
{
	return x->any && x->rows[row];
}

#endif
