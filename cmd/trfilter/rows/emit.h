/*
 * emit.h - what was selected, onto the output
 */
#ifndef TR_TRFILTER_ROWS_EMIT_H
#define TR_TRFILTER_ROWS_EMIT_H

#include "cmd/trfilter/rows/context.h"
#include "cmd/trfilter/calls/ends.h"
#include "cmd/trfilter/rows/select.h"
#include "common/cli/stage.h"
#include "cmd/trfilter/calls/call_filter.h"

/* Where rows are decided one by one. */
struct emit_rows {
	struct stage *stage;
	struct select *select;
	struct ends ends;
	struct left_out left_out;
	struct ignored ignored;
};

void emit_rows_init(struct emit_rows *x, struct stage *s, struct select *select);
void emit_rows_free(struct emit_rows *x);
/* Select from an EVENTS block and pass on what is kept. 0, or -1 after stage_fail. */
int emit_block(struct emit_rows *x, struct block *b);
/* Pass on any other block, with what is known of threads before END. */
int emit_other(struct emit_rows *x, const struct block *b);
/* The input has ended, perhaps without END. */
int emit_ends(struct emit_rows *x);
/* Select only, for those who count. */
int emit_nothing(struct stage *s, struct select *select, struct block *b);

/* Where rows wait for whole calls, or for what is around a match. */
struct emit {
	struct stage *stage;
	struct context *context; /* NULL none */
	bool pass;		 /* or only count */
	uint64_t limit;		 /* of events that match */
	uint64_t matched;	 /* of those that went on */
	uint64_t events;	 /* that went on, with what is around them */
};

/* Take a block of any kind. What is decided by now is passed on, up to the limit: then emit_done,
 * and no more is to be taken. 0, or -1 after stage_fail, as below. */
int emit_whole(struct emit *x, struct call_filter *w, const struct block *b);
/* The input has ended, or emit_done: pass on what is left. */
int emit_finish(struct emit *x, struct call_filter *w);

static inline bool emit_done(const struct emit *x)
{
	return x->matched >= x->limit || (x->context && x->context->done);
}

#endif
