/*
 * left_out.h - the stacks of calls of which rows are left out (THREAD in trstream(5))
 *
 * Until the first row of a call is left out, a stack is in the output as it is in the input. The
 * entry for a stack goes out before the block from which that row is missing, or before the next
 * block that has rows of the stack.
 */
#ifndef TR_TRFILTER_CALLS_LEFT_OUT_H
#define TR_TRFILTER_CALLS_LEFT_OUT_H

#include "common/stream/dictionary.h"
#include "cmd/trfilter/calls/thread_entries.h"

struct left_out_stack {
	bool yes;  /* rows of it are left out */
	bool said; /* in this segment */
	bool per_cpu;
	struct time_span ignored; /* rows that the call engine ignores; last 0: none */
	uint32_t wire, segment;	  /* id of a lane with rows that were passed on, in that segment */
};

struct left_out {
	struct left_out_stack *stacks; /* by number of the thread */
	size_t nstacks;
	uint32_t segment; /* counted from 1 */
	uint32_t *counts; /* scratch, as left_out_count fills it */
	size_t ncounts;
	struct thread_entries entries;
};

void left_out_free(struct left_out *x);

/* A segment begins. */
static inline void left_out_segment(struct left_out *x)
{
	x->segment++;
}

/* Is it unknown of a stack of the block whether rows of it are left out? */
bool left_out_wanted(const struct left_out *x, const struct block *b);
/* How many of the checked rows of a block are of calls: by lane those of its thread, then by lane
 * those of its CPU. */
void left_out_count(const struct block *b, uint32_t *counts);
/* Of a block with these counts some rows are left out: all but those of kept, NULL none. -1: out of
 * memory. */
int left_out_note(struct left_out *x, const struct block *b, const uint32_t *counts,
		  const struct block *kept);
/* The same in one, for a block whose rows are checked. */
int left_out_rows(struct left_out *x, const struct block *b, const struct block *kept);

/* Rows of a block are left out whose states are 0 (ROW_DROP). As soon as all lanes have such rows,
 * no more is looked at. -1: out of memory. */
int left_out_dropped(struct left_out *x, const struct block *b, const uint8_t *states);

/* The same for the rows of that block that the call engine ignores: those with that state. */
int left_out_ignored(struct left_out *x, const struct block *b, const uint8_t *states,
		     uint8_t ignored);
/* Entries for a block that is passed on next, or for the end of a segment, until left_out_dict
 * returns false. -1: out of memory. */
int left_out_block(struct left_out *x, const struct block *b);
int left_out_end(struct left_out *x);
bool left_out_dict(struct left_out *x, struct block *b);

#endif
