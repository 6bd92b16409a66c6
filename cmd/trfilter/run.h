/*
 * run.h - a run of trfilter: its options, and filtering row by row
 */
#ifndef TR_TRFILTER_RUN_H
#define TR_TRFILTER_RUN_H

#include "cmd/trfilter/context.h"
#include "cmd/trfilter/left_out.h"
#include "cmd/trfilter/rewrite.h"
#include "cmd/trfilter/rows.h"
#include "common/cli/program.h"
#include "common/cli/stage.h"

/* --- write the selected rows --- */

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
 * Until the stream declares types of such rows, open calls are counted.
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

/* Returns true if the limit is reached. */
static inline bool emit_rows_done(const struct emit_rows *x)
{
	return x->results && results_done(x->results);
}

/* --- options --- */

struct filter_settings {
	bool invert, count, explain, callers, follow, strict;
	uint64_t limit, depth; /* UINT64_MAX: none */
	struct context context;
	const char *within; /* the time of --within, as the user wrote it; NULL: none */
	struct time_range time_range;
	struct rewrite rewrite;
	const char *key; /* key of --scrub; NULL: a random one */
	/* the command line, for an option of two arguments */
	int argc;
	char **argv;
};

/* Read the stage's inputs and write a stream, or the text that replaces it (a count, an
 * explanation). argv is the command line, which is added to the stream. Errors are printed; the
 * exit status is in the stage. */
void run_filter(struct stage *s, struct filter_settings *o, struct filter *f, int argc,
		char **argv);

#endif
