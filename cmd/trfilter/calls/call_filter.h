/*
 * call_filter.h - filter whole calls: one decision for the enter and the leave of a call, made as
 * soon as it is certain
 *
 * Every row of the stream is read, to follow the stacks. A row that cannot be decided yet is
 * queued, with all that follows (block_queue.h).
 */
#ifndef TR_TRFILTER_CALLS_CALL_FILTER_H
#define TR_TRFILTER_CALLS_CALL_FILTER_H

#include "common/util/buffer.h"
#include "common/calls/calls.h"
#include "cmd/trfilter/expression/decide.h"
#include "cmd/trfilter/calls/ends.h"
#include "cmd/trfilter/rows/filter.h"
#include "cmd/trfilter/calls/left_out.h"
#include "cmd/trfilter/rows/time_range.h"
#include "cmd/trfilter/calls/stack_nodes.h"
#include "cmd/trfilter/calls/block_queue.h"

/* A condition that suits duration_scan.h: a range of durations, and wanted locations and lanes. */
struct duration_range {
	bool only; /* the condition is such a range */
	uint64_t shortest, longest;
	struct duration_scan_runs *quick; /* NULL: none */
};

/* The rows of the present block, by number. */
struct row_states {
	uint8_t *states;
	struct call_address *owners;
	uint32_t *offsets; /* of each row, unless all have one size */
	size_t capacity;
	uint32_t row; /* the present row */
};

struct call_filter {
	struct filter *filter;
	struct time_range *time_range; /* NULL: none */
	struct ends ends;
	struct left_out left_out;
	bool invert;
	/* the condition does not need whole calls: rows are filtered as in filter.h */
	bool single_rows;
	bool row_holds;		    /* with single_rows: result for the present row */
	bool callers;		    /* keep the callers of kept calls */
	bool distinguishes_callers; /* these callers have ROW_CALLER */
	uint32_t max_depth;	    /* UINT32_MAX: any */
	bool surrounds, stack;	    /* the condition needs under() or over(), or stacks */

	struct evaluation *evaluation;
	struct stack_nodes nodes;
	struct calls calls; /* data: struct call_data (call_data.h) */
	struct block_queue queue;
	struct buffer text; /* text of a stack's names */
	struct call_info info;
	struct around {		       /* the calls around the present row */
		const struct stack *s; /* the lowest n of it, and those below the kernel's */
		size_t n;
	} around;
	uint64_t own_under; /* bits of conditions that are true for the event itself */
	uint64_t now;	    /* time of the present row */
	uint8_t ends_here;  /* flags of the present row (row_state.h) */
	bool ignored_row;   /* the call engine ignores the present row */

	struct duration_range duration;
	struct row_states rows;
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

/* Take a block of any kind; head and end as in stage_forward. Returns 0 or -1. */
int call_filter_take(struct call_filter *w, const struct block *b, const struct head *head,
		     const struct end *end, struct error *e);
/* Finish the input. */
int call_filter_finish(struct call_filter *w, struct error *e);

/* Returns the next block whose rows are all decided, without the rows that are left out; NULL if
 * there is none. It is valid until call_filter_done, which must be called for it. */
struct queued_block *call_filter_ready(struct call_filter *w, struct error *e);
void call_filter_done(struct call_filter *w);

/* Prepare the fast loop if the condition suits it; all options must be set. */
void duration_scan_init(struct call_filter *w);

#endif
