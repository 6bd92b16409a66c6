/*
 * ends.h - facts about left-out rows for downstream programs: the last event of a thread with an
 * open call, and the number of calls open before the thread's first event
 *
 * Both are written as entries of the dictionary (THREAD in trstream(5)).
 */
#ifndef TR_TRFILTER_CALLS_ENDS_H
#define TR_TRFILTER_CALLS_ENDS_H

#include "common/stream/dictionary.h"
#include "cmd/trfilter/calls/last_rows.h"
#include "cmd/trfilter/calls/thread_entries.h"

struct thread_end {
	uint64_t last;		 /* time of its last event */
	const struct lane *lane; /* lane of that event */
	uint32_t wire, segment;	 /* id of that lane; the segment that has the thread, from 1 */
	uint32_t row;		 /* number of that event's row in the present block, + 1; 0: none */
	uint32_t deep_row;	 /* the same for the row that deep is from */
	uint32_t deep;		 /* for recorded depths: no call of this depth or deeper is open */
	bool has_depth;
	bool inner; /* row by row: the last event enters a call with INNER */
	bool lost;  /* a kept call ended without a leave */
	/* calls with neither an enter nor a leave are kept; are not, even if all rows are */
	bool unseen, rejects;
	bool started;	    /* row by row: an enter, or a leave of recorded depth, was seen */
	bool kept, dropped; /* row by row: some rows of a block were kept, some left out */
};

struct ends {
	const struct dictionary *dictionary;
	struct thread_end *threads; /* by number of the thread */
	size_t nthreads;
	uint32_t *seen; /* numbers of the threads that the segment has */
	size_t nseen, seen_capacity;
	uint32_t segment;      /* counts from 1 */
	struct last_rows last; /* of the present block */
	uint32_t ntypes;       /* number of types examined: */
	bool calls, depths;    /* one of them is of calls, of calls with depths */
	struct thread_entries entries;
};

void ends_init(struct ends *x, const struct dictionary *d);
void ends_free(struct ends *x);

/* Start a segment of the output. */
static inline void ends_segment(struct ends *x)
{
	x->segment++;
	x->nseen = 0;
}

/* Prepare for the rows of a block, which are checked. Returns -1 when out of memory. */
int ends_block(struct ends *x, const struct block *b);
void ends_block_done(struct ends *x, const struct block *b);

/* Note a row of that number in the block, of a thread of its lanes. */
static inline void ends_note(struct ends *x, uint32_t thread, const struct lane *lane,
			     uint64_t time, uint32_t row)
{
	struct thread_end *t = &x->threads[thread];

	t->last = time;
	t->lane = lane;
	t->row = row + 1;
}

/* Note that no call of that depth or deeper is open in a thread with recorded depths. */
static inline void ends_depth(struct ends *x, uint32_t thread, uint32_t depth)
{
	x->threads[thread].deep = depth;
	x->threads[thread].has_depth = true;
}

/* Make room in threads for the block's lanes, before ends_rows. Returns -1 when out of memory. */
int ends_lanes(struct ends *x, const struct block *b);
/* Note an event that was not read, the last of its thread. Returns -1 when out of memory. */
int ends_last_event(struct ends *x, uint32_t thread, const struct lane *lane, uint64_t time);
/* Note the enter of an open call that was not read, after ends_last_event. */
void ends_enter(struct ends *x, uint32_t thread, const struct event *e);
/* For filtering row by row: returns true if ends_rows is needed for a block that loses rows. */
bool ends_needed(struct ends *x, const struct block *b);
/* Returns true if ends_rows must read all rows of the block. */
bool ends_wants_all(struct ends *x, const struct block *b);
/* Note the last rows of a block, whose rows are checked unless x->last has them; kept: the rows of
 * it that are kept, or NULL. Returns -1
 * when out of memory.
 * */
int ends_rows(struct ends *x, const struct block *b, const struct block *kept);

/* End the segment. open returns true if kept calls of a thread may be open. NULL: they may be open
 * in threads of which ends_rows saw both kept and left-out rows. Returns -1 when out of memory. */
int ends_finish(struct ends *x, bool (*open)(void *ctx, uint32_t thread), void *ctx);

/* Returns the time of a thread's last event, in this stream or upstream. */
uint64_t ends_last(const struct ends *x, uint32_t thread);

#endif
