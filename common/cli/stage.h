/*
 * stage.h - a program of the pipe: streams in, a stream out or a result, one exit status
 *
 *     if (stage_open(&s, argv + optind, argc - optind, &common))
 *             return stage_finish(&s);
 *     if (stage_create(&s, argc, argv))            (filters only)
 *             return stage_finish(&s);
 *     while (stage_next(&s, &block))
 *             ...
 *     return stage_finish(&s);
 *
 * Damage in the input is printed, remembered and gone past; so is what upstream's END says. In a
 * filter HEAD, DICT, META, END and unknown blocks have been passed on when stage_next returns them,
 * and EVENTS are the filter's to pass on, whole or in part.
 */
#ifndef TR_CLI_STAGE_H
#define TR_CLI_STAGE_H

#include "common/stream/bad_values.h"
#include "common/cli/failure.h"
#include "common/util/output.h"
#include "common/cli/program.h"
#include "common/util/progress.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"

struct stage;

/* What a filter makes of blocks and rows on their way out. Both: 0, or -1 after stage_fail. */
struct stage_rewrite {
	/* of any kind; head and end only for those */
	int (*block)(void *ctx, struct stage *s, const struct block *b, const struct head *head,
		     const struct end *end);
	int (*row)(void *ctx, struct stage *s, const struct block *b, const struct event *e);
	void *ctx;
};

struct stage {
	struct reader in;
	struct output output;
	struct writer out;
	const struct common_options *options;
	int status;  /* status.h; only gets worse */
	bool filter; /* out is in use */
	bool output_open;
	uint64_t lost, gaps; /* events that recorders lost; rows of gaps; of all inputs */
	bool lost_more;	     /* than is counted (END_LOST_MORE) */
	const struct stage_rewrite *rewrite; /* NULL: what is passed on goes as it came */
	bool head_sent;
	bool holds;	  /* a filter that holds blocks back passes all by stage_forward */
	bool stopped;	  /* this program's own work failed: nothing more is read or passed */
	uint64_t damages; /* of the inputs */
	struct bad_values bad_values;
	char cause[FAILURE_CAUSE]; /* why it failed, for the programs after it; "" it did not */
	struct buffer told; /* what is wrong with them, the first things: for who passes it on */
	/* a lane of the first stream whose clock counts ns, and the stream that was compared with
	 * it */
	bool one_axis; /* set by the program: times of all streams are compared, or on one axis */
	const struct lane *first_lane;
	uint64_t compared;
	struct progress progress;
	uint64_t events;	/* that came so far */
	uint64_t bytes, offset; /* of earlier inputs, and of the present one */
};

int stage_open(struct stage *s, char **paths, int n, const struct common_options *options);
/* For those that print: open the output, text or a binary format. */
int stage_print_to(struct stage *s, enum output_kind kind);
/* For filters: open the output stream. */
int stage_create(struct stage *s, int argc, char **argv);
/* true: a block, with EVENTS at hand unless the reader loads on demand. false: the end, or a
   failure that was printed. */
bool stage_next(struct stage *s, struct block *b);
/* With in.rows_on_demand: have the rows of a block checked, before they are looked at or the block
 * is passed on. 0, or -1: they are damaged, which was printed, and the block is of no use. */
int stage_rows(struct stage *s, struct block *b);
/* Something of this program's own failed: print it, and end with status 2. Returns -1. */
int stage_fail(struct stage *s, const struct error *e);
int stage_no_memory(struct stage *s);
/* Pass the block on, or stage_fail. */
int stage_pass(struct stage *s, struct block *b);
/* Of a filter that holds blocks back (set holds behind stage_create): pass on any block, as it came
 * from stage_next or a copy of it; for HEAD and END what the reader said of them. */
int stage_forward(struct stage *s, const struct block *b, const struct head *head,
		  const struct end *end);
/* The same without rewriting, for who rewrites. */
int stage_forward_plain(struct stage *s, const struct block *b, const struct head *head,
			const struct end *end);
/* Pass a single row of an EVENTS block on. */
static inline int stage_row(struct stage *s, const struct block *b, const struct event *e)
{
	if (__builtin_expect(s->rewrite != NULL, 0))
		return s->rewrite->row(s->rewrite->ctx, s, b, e);
	return writer_copy_row(&s->out, b, e) ? stage_fail(s, &s->out.error) : 0;
}
/* What is wrong with the inputs, with file and place, "; " between; NULL: nothing. */
const char *stage_told(const struct stage *s);
/* Close everything. The exit status. */
int stage_finish(struct stage *s);

#endif
