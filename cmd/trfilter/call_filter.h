/*
 * call_filter.h - filter whole calls
 */
#ifndef TR_TRFILTER_CALL_FILTER_H
#define TR_TRFILTER_CALL_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "cmd/trfilter/block_queue.h"
#include "cmd/trfilter/context.h"
#include "cmd/trfilter/left_out.h"
#include "cmd/trfilter/rows.h"
#include "common/calls/calls.h"
#include "common/cli/stage.h"
#include "common/expr/expression.h"
#include "common/util/buffer.h"

struct states;

/*
 * Trfilter's data of each open call, which the call engine keeps (calls.balances).
 */

/* An open call. All is zero where the call was open before its thread's first event. */
struct call_data {
	uint64_t start;
	const struct lane *lane;
	/* block of the row of its enter in the queue (block_queue.h), if undecided */
	uint64_t block;
	uint32_t row;
	enum answer answer : 8;
	bool begun;	 /* its enter was read */
	bool undecided;	 /* the row of its enter is undecided */
	bool in_range;	 /* its enter is in the time range */
	bool row_holds;	 /* the conditions on single rows hold for its enter */
	bool for_callee; /* kept as the caller of a kept call */
	bool numbered;	 /* is not a callee and has none */
	bool ignored;	 /* does not count (calls.ignored) */
	bool per_cpu;	 /* is on the stack of a CPU */
	uint32_t level;	 /* number of calls around it, or since the one that under() selects */
	uint32_t children;
	uint32_t node;	      /* node of its stack */
	uint64_t under, over; /* conditions true around it; conditions true for it or within it */
	uint64_t marks[];     /* results of conditions at the enter */
};

/* Get the bytes of the data for so many marks, without the mark for states after them. */
static inline size_t call_data_size(size_t marks)
{
	return sizeof(struct call_data) + (marks / 64 + 1) * sizeof(uint64_t);
}

static inline void call_data_mark(struct call_data *f, unsigned mark, bool yes)
{
	uint64_t *word = &f->marks[mark / 64];

	*word = (*word & ~(1ull << mark % 64)) | (uint64_t)yes << mark % 64;
}

static inline bool call_data_marked(const struct call_data *f, unsigned mark)
{
	return f->marks[mark / 64] >> mark % 64 & 1;
}

/*
 * Conditions on whole calls, some of which are decided only when the call has ended.
 *
 * Conditions that the enter decides are evaluated there once and noted in the data of the call.
 * Later evaluations use the marks, because the enter's row may be freed by then.
 */

enum decide_when {
	DECIDE_ENTER, /* the event is the enter */
	/* the event has a lane only; the call's dur is the time it has been open */
	DECIDE_OPEN,
	DECIDE_LEAVE, /* the event is the leave, and all of the call is known */
	/* as DECIDE_LEAVE, for the decision about the leave's own row (term.by_both) */
	DECIDE_LEAVE_ROW,
	DECIDE_NEVER, /* the event has a lane only: the call has no leave */
};

enum { STACK_NODES_BOTTOM = 1, STACK_NODES_LIMIT = 1 << 16 };

/*
 * Filter whole calls: one decision for the enter and the leave of a call, made as soon as it is
 * certain.
 *
 * Every row of the stream is read, to follow the stacks. A row that cannot be decided yet is
 * queued, with all that follows (block_queue.h).
 */

struct call_filter {
	struct filter *filter;
	struct time_range *time_range; /* NULL: none */
	struct ends ends;
	struct left_out left_out;
	bool invert;
	/* the condition does not need whole calls: rows are filtered as in rows.h */
	bool single_rows;
	bool row_holds;		    /* with single_rows: result for the present row */
	bool callers;		    /* keep the callers of kept calls */
	bool distinguishes_callers; /* these callers have ROW_CALLER */
	uint32_t max_depth;	    /* UINT32_MAX: any */
	bool surrounds, stack;	    /* the condition needs under() or over(), or stacks */

	struct evaluation *evaluation;
	/* The numbers of distinct call stacks: of a stack below, and a location on top. */
	struct {
		struct key_map numbers; /* by below << 32 | location */
		uint32_t count;
		uint64_t deep; /* number of calls on STACK_FRAMES or more others (stack_limit.h) */
	} nodes;
	struct calls calls;    /* data: struct call_data */
	struct states *states; /* of threads, if the condition tests one; else NULL */
	struct block_queue queue;
	struct buffer text; /* text of a stack's names */
	struct call_info info;
	struct around {		       /* the calls around the present row */
		const struct stack *s; /* the lowest n of it, and those below the kernel's */
		size_t n;
	} around;
	uint64_t own_under; /* bits of conditions that are true for the event itself */
	uint64_t now;	    /* time of the present row */
	uint8_t ends_here;  /* flags of the present row (enum row_state) */
	bool ignored_row;   /* the call engine ignores the present row */

	/* A condition that suits the fast path: a range of durations, and wanted locations and
	 * lanes. */
	struct {
		bool only; /* the condition is such a range */
		uint64_t shortest, longest;
		struct duration_scan_runs *quick; /* NULL: none */
	} duration;
	/* The rows of the present block, by number. */
	struct {
		uint8_t *states;
		struct call_address *owners;
		uint32_t *offsets; /* of each row, unless all have one size */
		size_t capacity;
		uint32_t row; /* the present row */
	} rows;
	bool goes_on;	     /* the last segment was not the stream's last one */
	bool restores_exact; /* times of callees are right for calls that are restored */
	bool failed;	     /* a callback failed, with error */
	struct error error;
};

/* Returns true if the condition needs whole calls. */
bool call_filter_needed(const struct filter *f);

/* Prepare w. Returns -1 if there are too many conditions. call_filter_free in any case. */
int call_filter_init(struct call_filter *w, struct filter *filter, size_t limit, struct error *e);
void call_filter_free(struct call_filter *w);

/* Prepare the fast loop if the condition suits it; all options must be set. */
void duration_scan_init(struct call_filter *w);

/* State of filtering with a queue: whole calls, or events around a match. */
struct emit {
	struct stage *stage;
	struct widening *widening; /* NULL: none */
	bool pass;		   /* write blocks, else only count */
	struct results *limit;	   /* NULL: no limit, or the widening has it */
	struct results
		*total; /* of all that is passed on, with what is kept beside matches; or NULL */
	struct drops drops;
};

/* Take a block of any kind, and pass on what is decided by now. At the limit emit_done is true,
 * and no more blocks may be given. Returns 0, or -1 after stage_fail, as does emit_finish. */
int emit_calls(struct emit *x, struct call_filter *w, const struct block *b);

/* Pass on the rest, after the input has ended or emit_done is true. */
int emit_finish(struct emit *x, struct call_filter *w);

static inline bool emit_done(const struct emit *x)
{
	return (x->limit && results_done(x->limit)) || (x->widening && x->widening->done);
}

#endif
