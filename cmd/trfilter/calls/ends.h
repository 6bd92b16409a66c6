/*
 * ends.h - what the programs downstream must know of rows that are left out: when the thread of a
 * call that stays open had its last event, and how many calls were open before its first one
 *
 * Both go into the stream as entries of the dictionary (THREAD in trstream(5)).
 */
#ifndef TR_TRFILTER_CALLS_ENDS_H
#define TR_TRFILTER_CALLS_ENDS_H

#include "common/stream/dictionary.h"
#include "cmd/trfilter/calls/thread_entries.h"

struct thread_end {
	uint64_t last;		 /* time of its last event */
	const struct lane *lane; /* of that event */
	uint32_t wire, segment;	 /* that lane's id, and in which segment: counted from 1 */
	uint32_t row;		 /* of that event in the block at hand, + 1; 0: none there */
	uint32_t deep_row;	 /* the same of the row that deep is from */
	uint32_t deep;		 /* of recorded depth: no call of this depth or deeper is open */
	uint32_t location;	 /* of the call at the depth below deep, if that is its enter */
	uint64_t deep_block;	 /* row by row: number of the block that deep is from */
	bool has_depth;
	bool inner;	    /* row by row: the last event enters a call with INNER */
	bool lost;	    /* a kept call ended without a leave */
	bool unseen;	    /* calls with neither an enter nor a leave are kept */
	bool started;	    /* row by row: an enter, or a leave of recorded depth, was seen */
	bool kept, dropped; /* row by row: of some block rows were */
};

struct ends {
	const struct dictionary *dictionary;
	struct thread_end *threads; /* by number */
	size_t nthreads;
	uint32_t segment;
	uint64_t blocks;      /* that ends_rows was given */
	const uint8_t **last; /* scratch, by lane of a block: its last rows of each class */
	uint8_t *classes;     /* scratch, by type of a block: what its rows say */
	size_t nlast, nclasses;
	uint32_t ntypes; /* that were looked at: */
	bool depths;	 /* one is of calls with depths */
	struct thread_entries entries;
};

void ends_init(struct ends *x, const struct dictionary *d);
void ends_free(struct ends *x);

/* A segment begins. */
static inline void ends_segment(struct ends *x)
{
	x->segment++;
}

/* Before the rows of a block, which are checked, and after them. -1: out of memory. */
int ends_block(struct ends *x, const struct block *b);
void ends_block_done(struct ends *x, const struct block *b);

/* A row of that number in the block, of a thread of its lanes. */
static inline void ends_note(struct ends *x, uint32_t thread, const struct lane *lane,
			     uint64_t time, uint32_t row)
{
	struct thread_end *t = &x->threads[thread];

	t->last = time;
	t->lane = lane;
	t->row = row + 1;
}

/* No call of that depth or deeper is open in a thread whose calls have recorded depths. */
static inline void ends_depth(struct ends *x, uint32_t thread, uint32_t depth, uint32_t location)
{
	x->threads[thread].deep = depth;
	x->threads[thread].location = location;
	x->threads[thread].deep_block = x->blocks;
	x->threads[thread].has_depth = true;
}

/* Before ends_rows: threads has those of the block's lanes. -1: out of memory. */
int ends_lanes(struct ends *x, const struct block *b);
/* For those who decide row by row: is there anything to find out in a block of which rows are not
 * kept? */
bool ends_needed(struct ends *x, const struct block *b);
/* All of that for a block whose rows are checked, and those of its rows that are kept, or NULL.
 * always: find the last rows out, whatever is kept. */
int ends_rows(struct ends *x, const struct block *b, const struct block *kept, bool always);

/* The segment ends. open: are kept calls of a thread open? NULL: perhaps, of those
 * of which ends_rows knows that rows were kept, and others not. -1:
 * out of memory. */
int ends_finish(struct ends *x, bool (*open)(void *ctx, uint32_t thread), void *ctx);

/* The time of the last event of a thread, of this stream or those upstream. */
uint64_t ends_last(const struct ends *x, uint32_t thread);

#endif
