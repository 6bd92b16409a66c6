/*
 * stage.h - a program of the pipe: it reads streams, writes a stream or a result, and has one exit
 * status
 *
 *     if (stage_open(&s, argv + optind, argc - optind, &common))
 *             return stage_finish(&s);
 *     if (stage_create(&s, argc, argv))            (filters only)
 *             return stage_finish(&s);
 *     while (stage_next(&s, &block))
 *             ...
 *     return stage_finish(&s);
 *
 * Damage in the input is printed and recorded, and reading continues; so is damage that upstream's
 * END reports. In a filter stage_next has already passed on the HEAD, DICT, META, END and unknown
 * blocks that it returns. The filter itself passes EVENTS on, in full or in part.
 *
 * Functions that return int return 0, or -1 after they have printed the error (stage_fail), unless
 * stated otherwise.
 */
#ifndef TR_CLI_STAGE_H
#define TR_CLI_STAGE_H

#include "common/stream/value.h"
#include "common/cli/program.h"
#include "common/util/output.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"

struct stage;
struct index;
struct index_section;
struct time_window;

/* How a filter changes blocks and rows that are passed on. Both functions return 0, or -1 after
 * stage_fail. */
struct stage_rewrite {
	/* for blocks of any kind; head and end are set for HEAD and END only */
	int (*block)(void *ctx, struct stage *s, const struct block *b, const struct head *head,
		     const struct end *end);
	int (*row)(void *ctx, struct stage *s, const struct block *b, const struct event *e);
	void *ctx;
};

/* What a program wants of an indexed file. */
struct stage_seek {
	struct time_window *window;
	/* test whether a section may have wanted rows; NULL: it may */
	bool (*has)(void *ctx, const struct index *x, const struct index_section *s);
	bool restores; /* the program takes the open calls of a segment after some that were left
			  out */
	/* test whether a section after the window is read, in a stream with calls, some of which
	 * may be open; NULL: it is */
	bool (*after)(void *ctx, const struct index_section *s);
	/* take a section that is left out; may be NULL */
	void (*leaves_out)(void *ctx, const struct index_section *s);
	void *ctx;
};

struct stage {
	struct reader in;
	struct output output;
	struct writer out;
	const struct common_options *options;
	int status;  /* output.h; only gets worse */
	bool filter; /* out is in use */
	bool output_open;
	uint64_t lost, gaps;		     /* events lost by recorders; gap rows; of all inputs */
	bool lost_more;			     /* more were lost than counted (END_LOST_MORE) */
	const struct stage_rewrite *rewrite; /* NULL: blocks are passed on unchanged */
	/* set by a filter that leaves rows out: its output is one segment, whatever it reads */
	bool one_segment;
	bool end_left; /* the last block was an END that more segments should follow */
	bool head_sent;
	bool apart;   /* a segment was read without those before it */
	bool holds;   /* a filter that queues blocks and passes all on by stage_forward */
	bool alarm;   /* set by the program: what concerns its alarms is printed with -q too */
	bool stopped; /* this program failed: it reads and passes on no more */
	struct faults faults; /* damage of the inputs */
	struct stage_seek seek;
	struct bad_values bad_values;
	char cause[FAILURE_CAUSE];  /* cause of failure, for the programs after it; "" none */
	struct printed printed;	    /* where the programs before printed the last error of an END */
	struct buffer input_errors; /* the first errors of the inputs, for END */
	/* a lane of the first stream whose clock counts ns, and the last stream compared with it
	 */
	bool one_axis; /* set by the program: times of all streams are compared, or on one axis */
	const struct lane *first_lane;
	uint64_t compared;
	/* set by a program whose output has times that look like ns; the first lane of ticks */
	bool prints_times;
	const struct lane *ticking;
	struct progress progress;
	uint64_t events;	/* events read so far */
	uint64_t segments_most; /* set by a worker: segments that it reads; 0: all */
	bool segments_read;	/* so many were read */
	uint64_t bytes, offset; /* of earlier inputs, and of the present one */
};

int stage_open(struct stage *s, char **paths, int n, const struct common_options *options);
/* Open the output of a program that prints text or a binary format. path: NULL: standard output. */
int stage_print_to(struct stage *s, const char *path, enum output_kind kind);
/* Close this output before another one is opened. */
int stage_print_end(struct stage *s);
/* Open the output stream of a filter. */
int stage_create(struct stage *s, int argc, char **argv);
/* Leave out what the index of a file shows to be not wanted. */
void stage_seek(struct stage *s, const struct stage_seek *seek);
/* Read the next block. true: a block, with its EVENTS loaded unless the reader loads on demand.
 * false: the end, or a failure that was printed. */
bool stage_next(struct stage *s, struct block *b);
/* Check the rows of a block before they are read or the block is passed on, with
 * in.rows_on_demand. -1: the rows are damaged, which was printed, and the block cannot be used. */
int stage_rows(struct stage *s, struct block *b);
/* Print an error of this program itself, and end with status 2. Returns -1. */
int stage_fail(struct stage *s, const struct error *e);
int stage_no_memory(struct stage *s);
/* Pass the block on, or stage_fail. */
int stage_pass(struct stage *s, struct block *b);
/* Pass on any block of a filter that queues blocks (it sets holds after stage_create): the block
 * of stage_next or a copy; for HEAD and END with their content from the reader. */
int stage_forward(struct stage *s, const struct block *b, const struct head *head,
		  const struct end *end);
/* Pass on a block without rewriting, for callers that rewrite. */
int stage_forward_plain(struct stage *s, const struct block *b, const struct head *head,
			const struct end *end);
/* Pass a single row of an EVENTS block on. */
static inline int stage_row(struct stage *s, const struct block *b, const struct event *e)
{
	if (__builtin_expect(s->rewrite != NULL, 0))
		return s->rewrite->row(s->rewrite->ctx, s, b, e);
	return writer_copy_row(&s->out, b, e) ? stage_fail(s, &s->out.error) : 0;
}
/* Test after the end of the inputs whether only some segments of a stream were read. */
bool stage_part(const struct stage *s);
/* Get the errors of the inputs, with file and offset, separated by "; "; NULL: none. */
const char *stage_input_errors(const struct stage *s);
/* Close everything. Returns the exit status. */
int stage_finish(struct stage *s);

#endif
