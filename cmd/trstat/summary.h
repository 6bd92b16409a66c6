/*
 * summary.h - trstat --partial and --merge: write summaries, make tables of summaries
 */
#ifndef TR_TRSTAT_SUMMARY_H
#define TR_TRSTAT_SUMMARY_H

#include "cmd/trstat/groups.h"
#include "cmd/trstat/run.h"
#include "cmd/trstat/slowest.h"
#include "cmd/trstat/statistics.h"
#include "common/cli/stage.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"

/*
 * Encode and decode the groups of a summary: cells and aggregates.
 */

/* The stacks of a summary. Number 0 is the root, which is not a stack. */
struct packed_stacks {
	uint32_t *number; /* for writing: by node of the tree; 0: not written */
	uint32_t *node;	  /* for reading: by number */
	size_t count, capacity;
};

/*
 * Consecutive segments of a stream, as a summary lists them.
 *
 * Each segment begins with the calls that are open, so its finished rows are in the groups. A part
 * has what is decided when parts are joined: the calls open at its end, and the pairs that it does
 * not decide.
 */

struct summary_part {
	uint64_t stream_id;
	uint32_t first, last; /* sequence numbers of its first and last segment */
	bool ends;	      /* the last segment is the stream's last one */
	const char *file;     /* file that it was read from, for messages */
	/* programs that the stream went through, separated by " | "; or NULL */
	char *stages;
	/* what closing the calls open at its end adds, where that is the end of the trace; their
	   groups have the number as CELL_TAIL */
	struct {
		uint32_t number; /* 0: none */
		uint64_t unfinished, ignored_kernel;
		struct slow_list slowest;
	} tail;
	struct pair_edges *edges; /* NULL without --pair */
};

struct parts {
	struct summary_part *part;
	size_t count, capacity;
	uint32_t tails; /* numbers given to tails so far */
};

/*
 * Summaries, written by trstat --partial and read by --merge.
 *
 * A summary is a stream (trstream(5)) of one segment with HEAD_SUMMARY and a META "trstat" block,
 * whose content is that: groups, and the segments of streams that they count.
 */

#define SUMMARY_META "trstat"

/* The content of a summary, apart from what END has. */
struct summary {
	struct statistics *s;
	const struct stat_settings *asked;
	struct parts parts;
	struct slow_list slowest;
	/* struct summary_thread by the numbers that the bases of call stacks have; unused if
	   streams is set */
	struct intern threads;
	/* ids by the dictionary's numbers of streams: the bases' threads are those of the
	   dictionary */
	uint64_t *streams;
	size_t nstreams;
};

void summary_free(struct summary *sm);

/*
 * Call print for each interval of -i, in order, with its groups in s; true ends this. Afterwards s
 * has no groups. Returns -1 when out of memory, or (EOVERFLOW) if numbers are impossible.
 */
int summary_intervals(struct summary *sm, uint64_t width,
		      bool (*print)(void *ctx, const struct interval *interval), void *ctx);

enum { SUMMARY_PAIR_COUNTS = 5 }; /* pairs, replaced, ended, forgotten, left */

/* The head of a summary. */
struct summary_head {
	char *keys, *columns; /* comma-separated; columns include those of -s */
	/* arguments of -g, -a, -s, the view, -i and --pair; NULL: not given */
	char *group, *asked, *sort, *view_argument, *interval, *pair;
	char *sampled; /* name of the samples' type; NULL: there are none */
	uint32_t view; /* enum view */
	bool ticks, nameless, weights;
	bool histograms; /* its columns include percentiles */
	uint64_t first, last, unmatched, unfinished, ignored_kernel;
	uint64_t pairs[SUMMARY_PAIR_COUNTS]; /* of struct pair */
};

/* A name that became known of an unseen call: see struct stack_base. */
struct unseen_name {
	uint32_t thread, unseen, to, name;
};

/* The state of reading several summaries in sequence. */
struct summaries {
	struct reader *reader;
	struct summary *to;	     /* the caller's; takes what is read */
	struct columns stored;	     /* columns of the present summary */
	uint32_t *fields;	     /* by number of the field in s: its number in the summary */
	struct packed_stacks stacks; /* of the present summary */
	struct summary_head head;    /* of the present summary, without its texts */
	/* of the present summary, laid out as stored; texts are those of the statistics */
	struct groups waiting;
	struct unseen_name *names; /* of the present summary */
	size_t nnames, names_capacity;
	struct slow_list slowest; /* of the present summary */
	struct buffer meta;
	/* Called when the first summary's head is known, to make to->s. Returns -1 with e filled.
	 */
	int (*begin)(void *ctx, const struct summary_head *h, struct error *e);
	void *ctx;
	char *sampled;	  /* of the head of the present summary */
	char *keys;	  /* list of the keys; NULL before begin */
	const char *file; /* file of the present summary */
	enum { SUMMARY_NONE, SUMMARY_OPEN, SUMMARY_DAMAGED } state; /* of the present summary */
	uint64_t begins;					    /* its offset in the file */
	size_t first_part;	  /* its first part, index in parts */
	bool taken;		  /* its content was read */
	uint64_t whole, left_out; /* number of summaries counted, and of those left out */
};

/* --- --partial and --merge --- */

/* Write the summary of the inputs. sm has its statistics, not yet made, and settings. */
void partial_run(struct stage *stage, struct query *q, struct summary *sm, int argc, char **argv);

/* Write a summary. */
int partial_write(struct stage *stage, const struct summary *sm, int argc, char **argv);

struct merging {
	struct stage *stage;
	struct query *q; /* made from settings and, where they are silent, from the summaries */
	/* has its statistics, not yet made; with the interval of -i they are for summary_intervals
	 */
	struct summary *sm;
	struct stat_settings *settings; /* completed by those of the summaries */
	struct alarms *alarms; /* conditions whose keys the summaries' groups must have, or NULL */
	const struct block *first; /* a block that was read already, or NULL */
	const char *file;	   /* the only input, for messages; NULL: there are several */
	bool histograms;	   /* require histograms if the first summary has them */
	bool again;		   /* the result is written as a summary, not as a table */
	uint64_t missing;	   /* number of runs of segments that are missing, so far */
};

/* Join the summaries in the inputs. Returns -1; the error is in stage. */
int summary_merge_run(struct merging *m);

#endif
