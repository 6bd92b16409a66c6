/*
 * emit.h - writes the selected rows, and rows of KIND_DROP in place of others
 */
#ifndef TR_TRFILTER_EMIT_H
#define TR_TRFILTER_EMIT_H

#include "cmd/trfilter/call_filter.h"
#include "cmd/trfilter/context.h"
#include "cmd/trfilter/left_out.h"
#include "cmd/trfilter/rows.h"
#include "common/cli/stage.h"
#include "common/stream/snapshot.h"

/*
 * Writes rows of KIND_DROP, which end calls without a leave (CALLS in trstream(5)).
 *
 * Such a row has the time, lane and depth of the row that ended the calls in the input. Its type is
 * declared in each segment that needs it, with an id that no other type has.
 */

enum { DROP_TYPES = 8 }; /* combinations of TYPE_INNER, TYPE_KERNEL and TYPE_PER_CPU */

/* Zero-initialised is unused. */
struct drops {
	struct drop_type {
		uint32_t id;	  /* in the stream */
		uint32_t segment; /* of the output that has it; 0 none */
		const struct type *type;
	} types[DROP_TYPES];
};

/* A row of KIND_DROP: the flags of its type, and its depth. */
struct drop_row {
	uint16_t flags;
	uint32_t depth;
};

/* Get the rows that a row needs whose state has flags (row_state.h). Returns their number. */
unsigned drops_of(const struct event *e, uint8_t state, struct drop_row rows[2]);

/* --- write the selected rows --- */

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

#endif
