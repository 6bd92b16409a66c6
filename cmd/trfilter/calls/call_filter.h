/*
 * call_filter.h - whole calls: each is decided once, when enough of it is known, and its leave
 * follows its enter
 *
 * Every row of the stream is seen, to follow the stacks. A row that cannot be decided yet waits,
 * and all behind it (waiting.h).
 */
#ifndef TR_TRFILTER_CALLS_CALL_FILTER_H
#define TR_TRFILTER_CALLS_CALL_FILTER_H

#include "common/util/buffer.h"
#include "common/calls/calls.h"
#include "cmd/trfilter/expression/decide.h"
#include "cmd/trfilter/calls/ends.h"
#include "cmd/trfilter/rows/filter.h"
#include "cmd/trfilter/calls/ignored.h"
#include "cmd/trfilter/calls/left_out.h"
#include "cmd/trfilter/rows/time_range.h"
#include "cmd/trfilter/calls/stack_nodes.h"
#include "cmd/trfilter/calls/block_queue.h"

struct call_filter {
	struct filter *filter;
	struct time_range *limits; /* NULL none */
	struct ends ends;
	struct left_out left_out;
	struct ignored ignored;
	bool invert;
	bool rows_alone;	  /* nothing is asked of whole calls: rows as filter.h has them */
	bool holds;		  /* the row at hand, with that */
	bool callers;		  /* keep what encloses a call that is kept */
	bool apart;		  /* and tell it from that: ROW_CALLER */
	uint32_t max_depth;	  /* UINT32_MAX: any */
	bool around, self, stack; /* what the condition asks for */

	struct evaluation *evaluation;
	struct frames frames;
	struct stack_nodes nodes;
	struct calls calls; /* for self */
	struct block_queue waiting;
	struct buffer text; /* names of a stack */
	struct call_facts facts;
	uint64_t own_under; /* that hold for the event itself */
	uint64_t now;	    /* time of the row at hand */
	bool ignored_row;   /* the call engine ignores it */

	/* what duration_scan.h says: calls of wanted places and lanes that last so long */
	bool plain;
	uint64_t shortest, longest;
	bool time_unit;	     /* which ticks are not */
	struct quick *quick; /* NULL none */
	uint64_t prepared;   /* counts blocks */

	/* the block at hand: by row */
	uint8_t *states;
	struct frame_at *owners;
	uint32_t *offsets; /* where each stands, unless all have one size */
	size_t rows_capacity;
	uint32_t row;
	bool failed; /* in between, with error */
	struct error error;
};

/* Does the condition need this? */
bool call_filter_needed(const struct filter *f);

/* -1: too many conditions. call_filter_free in any case. */
int call_filter_init(struct call_filter *w, struct filter *filter, size_t limit, struct error *e);
void call_filter_free(struct call_filter *w);

/* Take a block in, of whatever kind; what is said of HEAD and END as in stage_forward. 0 or -1. */
int call_filter_take(struct call_filter *w, const struct block *b, const struct head *head,
		     const struct end *end, struct error *e);
/* The input has ended. */
int call_filter_finish(struct call_filter *w, struct error *e);

/* The next block whose rows are all decided, its dropped rows taken out, until NULL. Until
 * call_filter_done, which it needs. */
struct queued_block *call_filter_ready(struct call_filter *w, struct error *e);
void call_filter_done(struct call_filter *w);

/* When all options are set: is this a condition for the fast loop? */
void duration_scan_init(struct call_filter *w);

#endif
