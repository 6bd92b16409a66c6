/*
 * left_out.h - facts about rows that are left out: THREAD entries, and rows of KIND_DROP
 */
#ifndef TR_TRFILTER_LEFT_OUT_H
#define TR_TRFILTER_LEFT_OUT_H

#include "cmd/trfilter/rows.h"
#include "common/calls/calls.h"
#include "common/cli/stage.h"
#include "common/stream/dictionary.h"
#include "common/stream/event.h"
#include "common/util/buffer.h"

struct snapshot;

/* Make a block of THREAD entries that were collected to be written, from *sent on, 0 at first; to
 * be called until it returns false, which forgets them. */
bool thread_entries_block(struct buffer *entries, size_t *sent, struct block *b);

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
	struct buffer entries; /* of THREAD, to be written */
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
 * (enum row_state), until all lanes are known to have such rows. Returns -1 when out of memory. */
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

/* Returns true if rows of the type are on a stack of calls. */
static inline bool type_is_on_stack(const struct type *t)
{
	return type_is_call(t) && !(t->flags & TYPE_CALL_NUMBER);
}

/* Returns true if the depth of the type's rows is that of the thread's stack. */
static inline bool type_has_depth(const struct type *t)
{
	enum { NOT_OWN = TYPE_INNER | TYPE_KERNEL | TYPE_CALL_NUMBER };

	return type_is_call(t) && (t->flags & (TYPE_DEPTH | NOT_OWN)) == TYPE_DEPTH;
}

/* Find the last rows of a block whose rows are checked, unless that is done. Returns -1 when out
 * of memory. */
int last_rows_find(struct last_rows *x, const struct block *b);

/*
 * The same for a block whose rows are not checked. Returns 1 if all rows must be checked and read
 * for that, or if a row that was found is impossible.
 */
int last_rows_unchecked(struct last_rows *x, const struct block *b);

/* Get the last row of a class in a lane of the block. */
static inline const uint8_t *last_row(const struct last_rows *x, uint32_t lane,
				      enum last_class class)
{
	return x->at[LAST_CLASSES * (size_t)lane + class];
}

/*
 * Facts about left-out rows for downstream programs, as entries of the dictionary (THREAD in
 * trstream(5)): the last event of a thread with an open call, and the number of calls open before
 * the thread's first event. Of a thread of which "main" alone is kept:
 *
 *     time  row
 *      100  enter main  depth 0    kept: the first event; no call was open before, deep is 1
 *      110  enter f     depth 1    left out: deep is 2, as f is open
 *      120  leave f     depth 1    left out: deep is 1
 *      130  tick                   left out: last is 130, where main ends if it never returns
 */

struct thread_end {
	uint64_t last;		 /* time of its last event */
	const struct lane *lane; /* lane of that event */
	uint32_t wire, segment;	 /* id of that lane; the segment that has the thread, from 1 */
	uint32_t row;		 /* number of that event's row in the present block, + 1; 0: none */
	uint32_t deep_row;	 /* the same for the row that deep is from */
	uint32_t deep; /* with has_depth: calls at smaller depths may be open, no others */
	bool has_depth;
	bool lost;    /* a kept call ended without a leave */
	bool unseen;  /* the filter keeps calls of which the trace has neither enter nor leave */
	bool rejects; /* it leaves them out */
	/* for filtering row by row: */
	bool inner;	    /* the last event is an enter with TYPE_INNER, which is not in deep */
	bool started;	    /* an enter, or a leave of recorded depth, was read */
	bool kept, dropped; /* rows of it were kept, left out */
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
	struct buffer entries; /* of THREAD, to be written */
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

/*
 * Writes rows of KIND_DROP, which end calls without a leave (CALLS in trstream(5)).
 *
 * Such a row has the time, lane and depth of the row that ended the calls in the input. Its type is
 * declared in each segment that needs it, with an id that no other type has.
 */

enum { DROP_TYPES = 8 }; /* combinations of TYPE_INNER, TYPE_KERNEL and TYPE_PER_CPU */

/* Zero-initialised is unused. */
struct drops {
	/* by the combination */
	uint32_t id[DROP_TYPES];      /* in the stream */
	uint32_t segment[DROP_TYPES]; /* of the output that has it; 0 none */
	const struct type *type[DROP_TYPES];
};

/* Write the rows that a row needs whose state has flags (enum row_state). Returns 0, or -1 after
 * stage_fail. */
int drops_put(struct drops *x, struct stage *s, const struct block *b, const struct event *e,
	      uint8_t state);

/*
 * The calls that are open where reading begins inside a stream (SNAPSHOT).
 *
 *     the block has   main > worker > read
 *     worker is kept  LEFT_OUT   open   LEFT_OUT
 *
 * They are decided as if their enters were rows. The block is passed on as a copy, in which the
 * calls that are not kept are left out (common/stream/snapshot.h).
 */

/* Forget the calls of the terms, which are those before a loss. */
void restored_begin(struct filter *f, struct time_range *range, const struct snapshot *s);

/* Returns true if an enter is in the time range. Ranges of --between begin afresh. */
bool restored_in_range(struct time_range *range, const struct event *enter);

/* Returns true if the filter keeps a call only with all calls that it made, so that their total in
 * a snapshot is right after the filter. */
bool restored_exact(const struct filter *f, bool invert);

/* Note the last events of the threads, and which calls are open. Returns -1 when out of memory. */
int restored_ends(struct ends *x, const struct snapshot *snapshot);

/* Write the entries. Returns 0, or -1 after stage_fail. */
int thread_entries_pass(struct stage *s, struct buffer *entries);

/* Pass on a snapshot block of an input segment, with a payload in which calls are left out. */
int restored_pass(struct stage *s, struct block *b, uint8_t *payload, uint32_t sequence);

/* Bytes of rows from which a block is passed on whole instead of row by row. */
enum { DENSE_ROWS = 16 * 1024 };

#endif
