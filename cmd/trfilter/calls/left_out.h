/*
 * left_out.h - the stacks with calls whose rows are left out (THREAD in trstream(5))
 *
 * Until the first row of a call is left out, a stack is the same in the output and in the input.
 * The entry for a stack is written before the block from which that row is missing, or before the
 * next block that has rows of the stack.
 */
#ifndef TR_TRFILTER_CALLS_LEFT_OUT_H
#define TR_TRFILTER_CALLS_LEFT_OUT_H

#include "common/stream/dictionary.h"
#include "cmd/trfilter/calls/thread_entries.h"

struct left_out_stack {
	bool incomplete; /* rows of the stack are left out */
	bool written;	 /* the entry was written in this segment */
	bool per_cpu;
	struct time_span ignored; /* rows that the call engine ignores; last 0: none */
	/* id of a lane with rows that were passed on, and number of that segment + 1 */
	uint32_t wire, segment;
};

struct left_out {
	struct left_out_stack *stacks; /* by number of the thread */
	size_t nstacks;
	uint32_t *seen; /* numbers of the stacks that the segment has */
	size_t nseen, seen_capacity;
	uint32_t segment; /* number of the segment, counted from 1; 0: it has no HEAD */
	uint32_t *counts; /* scratch: by lane the block's rows of its thread's calls, then of its
			     CPU's; then the same of the rows that are kept */
	size_t ncounts;
	struct thread_entries entries;
};

void left_out_free(struct left_out *x);

/* Start a segment of the output. */
static inline void left_out_segment(struct left_out *x)
{
	x->segment++;
	x->nseen = 0;
}

/* Returns true if a stack of the block is not known yet to have rows left out. */
bool left_out_wanted(const struct left_out *x, const struct block *b);
/* Note that a block whose rows are checked loses all rows but those of kept (NULL: all). Returns -1
 * when out of memory. */
int left_out_rows(struct left_out *x, const struct block *b, const struct block *kept);

/* Note that rows are left out which have the state ROW_LEFT_OUT, or may be, ROW_FOR_CONTEXT
 * (row_state.h), until all lanes are known to have such rows. Returns -1 when out of memory. */
int left_out_dropped(struct left_out *x, const struct block *b, const uint8_t *states);

/* Note that rows of a stack are left out. Returns -1 when out of memory. */
int left_out_stack(struct left_out *x, uint32_t stack);
/* Note that the row of a call is left out; no effect for other rows. Returns -1 when out of memory.
 */
int left_out_row(struct left_out *x, const struct event *e);

/* Note rows of the block that the call engine ignores: those whose state has that bit. */
int left_out_ignored(struct left_out *x, const struct block *b, const uint8_t *states,
		     uint8_t ignored);
/* Make entries for the next block passed on, or for the end of a segment. Returns -1 when out of
 * memory. */
int left_out_block(struct left_out *x, const struct block *b);
int left_out_end(struct left_out *x, const struct dictionary *d);

#endif
