/*
 * left_out.h - THREAD entries of the dictionary, collected to be written
 */
#ifndef TR_TRFILTER_LEFT_OUT_H
#define TR_TRFILTER_LEFT_OUT_H

#include "cmd/trfilter/pairing.h"
#include "common/calls/calls.h"
#include "common/stream/dictionary.h"
#include "common/stream/event.h"
#include "common/util/buffer.h"

struct thread_entries {
	struct buffer entries;
	size_t sent; /* bytes written already */
};

/* Make a block of the entries; to be called until it returns false. */
bool thread_entries_block(struct thread_entries *x, struct block *b);

/*
 * The stacks with calls whose rows are left out (THREAD in trstream(5)).
 *
 * Until the first row of a call is left out, a stack is the same in the output and in the input.
 * The entry for a stack is written before the block from which that row is missing, or before the
 * next block that has rows of the stack.
 */

struct left_out_stack {
	bool incomplete; /* rows of the stack are left out */
	bool written;	 /* the entry was written in this segment */
	bool per_cpu;
	struct time_span ignored; /* with outside: rows that the call engine ignores */
	bool outside;
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

/* --- find the last rows of each lane of a block, which show the state of its thread --- */

/* Meaning of a row: none; an event of its thread, or of its CPU's; a depth of its thread's
 * stack. */
enum last_class { LAST_NONE, LAST_THREAD, LAST_CPU, LAST_DEPTH, LAST_CLASSES };

struct last_rows {
	const uint8_t **at; /* by lane of the block and class: the last row; NULL: none */
	uint8_t *classes;   /* by type of the block: class of its rows, and flags */
	size_t nat, nclasses;
	bool found; /* at is filled in */
};

static inline bool type_is_call(const struct type *t)
{
	return t->kind == KIND_ENTER || t->kind == KIND_LEAVE;
}

/* Returns true if the depth of the type's rows is that of the thread's stack. */
static inline bool type_has_depth(const struct type *t)
{
	enum { NOT_OWN = TYPE_INNER | TYPE_KERNEL | TYPE_CALL_NUMBER };

	return type_is_call(t) && (t->flags & (TYPE_DEPTH | NOT_OWN)) == TYPE_DEPTH;
}

/*
 * The same for a block whose rows are not checked. Returns 1 if all rows must be checked and read
 * for that, or if a row that was found is impossible.
 */
int last_rows_unchecked(struct last_rows *x, const struct block *b);

/* Returns the last row of a class in a lane of the block. */
static inline const uint8_t *last_row(const struct last_rows *x, uint32_t lane,
				      enum last_class class)
{
	return x->at[LAST_CLASSES * (size_t)lane + class];
}

/*
 * Facts about left-out rows for downstream programs: the last event of a thread with an open call,
 * and the number of calls open before the thread's first event.
 *
 * Both are written as entries of the dictionary (THREAD in trstream(5)).
 */

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

/*
 * Find the rows that the call engine ignores, for filtering row by row: outside any call, calls in
 * the kernel and times that a task is scheduled out.
 *
 *     sched-out        ignored: no call is open
 *     sched-in
 *     enter main
 *       sched-out      a call
 *       sched-in
 *
 * A filter that decides row by row has the call engine for enters that reach a term of its
 * condition only. Where all calls have depths, the last row with a depth before such a row shows
 * which calls are open, and blocks without such rows are not read; else this is one more engine.
 */

/* The open calls of a stack, without the call engine. */
struct ignored_stack {
	uint32_t open;		 /* number of open calls but for those with TYPE_INNER */
	uint32_t location;	 /* of the innermost of these; 0 unknown */
	uint32_t inner;		 /* number of those with TYPE_INNER on top that are not ignored */
	const struct lane *lane; /* of the last row; NULL: there was none */
	bool per_cpu;
	const uint8_t *last; /* the last row with a depth in the present block; NULL: none */
};

struct ignored {
	struct dictionary *dictionary;
	struct pairing pairing;
	struct ignored_stack *stacks; /* by number of the thread, or of the CPU's */
	size_t nstacks;
	uint32_t ntypes; /* number of types examined: */
	bool possible;	 /* one of them is INNER or KERNEL */
	bool by_engine;	 /* one is of calls in the kernel, of a CPU, or without a depth */
	bool started;	 /* the engine has the open calls */
	uint8_t *rows;	 /* of the present block: is the row ignored? */
	size_t capacity;
	bool any; /* some row is; else rows is not filled in */
};

void ignored_init(struct ignored *x, struct dictionary *d);
void ignored_free(struct ignored *x);

/* Returns true if ignored_block reads the rows of the block, which must be checked then. */
bool ignored_reads(struct ignored *x, const struct block *b);
/* Returns true if it reads the last rows of the block. */
bool ignored_reads_last(struct ignored *x, const struct block *b);
/* Find the ignored rows of a block. last: of the block; its rows are checked if they are not found
 * yet. Returns -1 when out of memory. */
int ignored_block(struct ignored *x, struct last_rows *last, const struct block *b);
/* Open the calls of a SNAPSHOT. Returns -1 when out of memory. */
int ignored_restore(struct ignored *x, const struct block *b);

#endif
