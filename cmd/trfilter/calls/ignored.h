/*
 * ignored.h - find the rows of calls that the call engine ignores (CALLS in trstream(5))
 *
 * Calls in the kernel and calls with TYPE_INNER count only inside another call of their thread. In
 * a stack with rows left out all of them count, so those that did not count before must be dropped.
 *
 * The call engine finds these rows. Its frames for the conditions (pairing.h) do not, as
 * they are of the rows only that reach a part of the condition; so there is one more struct calls,
 * for streams with calls in the kernel, which takes a third of trfilter's instructions there.
 * Without such calls the last row with a depth before a row of a type with INNER shows which calls
 * are open: with the engine for all rows, trfilter needs 1.35 times the instructions on a
 * recording of uftrace with scheduling.
 */
#ifndef TR_TRFILTER_CALLS_IGNORED_H
#define TR_TRFILTER_CALLS_IGNORED_H

#include "common/util/buffer.h"
#include "common/calls/calls.h"
#include "cmd/trfilter/calls/ends.h"
#include "common/stream/event.h"

/* The calls with INNER that are open on top of a thread's others. */
struct ignored_stack {
	uint32_t inner;	     /* number of them that count */
	uint64_t block;	     /* number of the block with their last row */
	const uint8_t *last; /* the last row with a depth before that, in that block; NULL: none */
};

struct ignored {
	struct dictionary *dictionary;
	struct calls calls;
	uint32_t ntypes;	      /* number of types examined: */
	bool special;		      /* one of them is INNER or KERNEL */
	bool full;		      /* the engine must read every row */
	struct ignored_stack *stacks; /* by number of the thread */
	size_t nstacks;
	uint8_t *rows; /* of the present block: is the row ignored? */
	size_t capacity;
	bool any; /* some row is; else rows is not filled in */
};

void ignored_init(struct ignored *x, struct dictionary *d);
void ignored_free(struct ignored *x);

/* Examine the types that are new. */
void ignored_look(struct ignored *x);
/* Returns true if rows may be ignored. Then each block must be given to ignored_block. */
static inline bool ignored_needed(struct ignored *x)
{
	if (__builtin_expect(x->ntypes < x->dictionary->types.count, 0))
		ignored_look(x);
	return x->special;
}
/* Returns true if ignored_block reads the rows of the block, which must be checked then. */
bool ignored_reads(struct ignored *x, const struct block *b);
/* Find the ignored rows of a block. *ends: state before the block; gets the last rows that were
 * read. Returns -1 when out of memory. */
int ignored_block(struct ignored *x, struct ends *ends, const struct block *b);

/* Adopt the open calls of a snapshot, after ends_adopt. Returns -1 when out of memory. */
int ignored_adopt(struct ignored *x, const struct snapshot *s);

/* Returns true if an enter with INNER is ignored, given the number of open calls and the
 * location of the innermost one. */
static inline bool ignored_inner(struct ignored *x, const struct event *e, uint32_t open,
				 uint32_t location)
{
	uint32_t thread = e->lane->thread;

	if (open)
		return calls_enters_exec(&x->calls, location);
	return !dictionary_left_out(x->dictionary, thread) ||
	       dictionary_outside(x->dictionary, thread, e->time);
}

#endif
