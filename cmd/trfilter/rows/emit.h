/*
 * emit.h - write the selected rows
 */
#ifndef TR_TRFILTER_ROWS_EMIT_H
#define TR_TRFILTER_ROWS_EMIT_H

#include "cmd/trfilter/rows/context.h"
#include "cmd/trfilter/calls/ends.h"
#include "cmd/trfilter/calls/ignored.h"
#include "cmd/trfilter/rows/drops.h"
#include "cmd/trfilter/rows/select.h"
#include "common/cli/stage.h"
#include "cmd/trfilter/calls/call_filter.h"

/* State of filtering row by row. */
struct emit_rows {
	struct stage *stage;
	struct select *select;
	struct results *results; /* NULL: no limit and no count */
	struct ends ends;
	struct left_out left_out;
	struct ignored ignored;
	struct drops drops;
};

void emit_rows_init(struct emit_rows *x, struct stage *s, struct select *select);
void emit_rows_free(struct emit_rows *x);
/* Select rows of an EVENTS block and pass them on. Returns 0, or -1 after stage_fail. */
int emit_block(struct emit_rows *x, struct block *b);
/* Pass on a block of another kind; END is preceded by the facts about threads. */
int emit_other(struct emit_rows *x, const struct block *b);
/* Finish the input, which may lack END. */
int emit_ends(struct emit_rows *x);
/* Select and count rows without output, for --count. */
int emit_nothing(struct emit_rows *x, struct block *b);

/* Returns true if the limit is reached. */
static inline bool emit_rows_done(const struct emit_rows *x)
{
	return x->results && results_done(x->results);
}

/* State of filtering with a queue: whole calls, or events around a match. */
struct emit {
	struct stage *stage;
	struct context *context; /* NULL: none */
	bool pass;		 /* write blocks, else only count */
	struct results *limit;	 /* NULL: no limit, or context has it */
	struct results *total; /* of all that is passed on, with the context of matches; or NULL */
	struct drops drops;
};

/* Take a block of any kind, and pass on what is decided by now. At the limit emit_done is true,
 * and no more blocks may be given. Returns 0, or -1 after stage_fail, as does emit_finish. */
int emit_calls(struct emit *x, struct call_filter *w, const struct block *b);
/* Pass on the rest, after the input has ended or emit_done is true. */
int emit_finish(struct emit *x, struct call_filter *w);

static inline bool emit_done(const struct emit *x)
{
	return (x->limit && results_done(x->limit)) || (x->context && x->context->done);
}

#endif
