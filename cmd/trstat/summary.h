/*
 * summary.h - the file of --partial
 */
#ifndef TR_TRSTAT_SUMMARY_H
#define TR_TRSTAT_SUMMARY_H

#include "cmd/trstat/groups.h"
#include "cmd/trstat/query.h"
#include "cmd/trstat/slowest.h"
#include "cmd/trstat/statistics.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"
#include "common/util/packed.h"

/*
 * Encode and decode the groups of a summary (summary.h): cells and aggregates.
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

/*
 * What closing the calls open at the end of a part adds, where that is the end of the trace. Their
 * groups have the number as CELL_TAIL.
 */
struct part_tail {
	uint32_t number; /* 0: none */
	uint64_t unfinished, ignored_kernel;
	struct slow_list slowest;
};

struct summary_part {
	uint64_t stream_id;
	uint32_t first, last; /* sequence numbers of its first and last segment */
	bool ends;	      /* the last segment is the stream's last one */
	const char *file;     /* file that it was read from, for messages */
	/* programs that the stream went through, separated by " | "; or NULL */
	char *stages;
	struct part_tail tail;
	struct pair_edges *edges; /* NULL without --pair */
};

struct parts {
	struct summary_part *part;
	size_t count, capacity;
	uint32_t tails; /* numbers given to tails so far */
};

/* Add an empty part; NULL when out of memory. */
struct summary_part *parts_add(struct parts *ps);
/* Free the parts from that index on. */
void parts_truncate(struct parts *ps, size_t count);

/*
 * Sort the parts by stream and position, and drop the tails of those that are not the last of their
 * stream. Returns -1 with e filled if a segment occurs twice.
 */
int parts_sort(struct parts *ps, struct error *e);

/* Make each consecutive run of segments one part, and count the pairs that this decides in s. The
 * parts are sorted. Returns -1 when out of memory, or (EOVERFLOW) if their numbers are impossible.
 */
int parts_join(struct parts *ps, struct statistics *s);

/* Count the pairs of all parts, each stream whole, in s. The parts are sorted. */
int parts_count_pairs(struct parts *ps, struct statistics *s);

/*
 * Summaries, written by trstat --partial and read by --merge.
 *
 * A summary is a stream (trstream(5)) of one segment with HEAD_SUMMARY and a META "trstat" block,
 * whose content is that: groups, and the parts of streams that they are of
.
 */

#define SUMMARY_META "trstat"

/* 7 has floats, as keys and in sums of fields; 6 is read. */
enum { SUMMARY_VERSION = 7, SUMMARY_OLDEST = 6 };

enum summary_flags {
	SUMMARY_TICKS = 1,
	SUMMARY_NAMELESS = 2, /* functions are shown by their addresses */
	SUMMARY_WEIGHTS = 4,  /* totals are weights of samples that are no times */
	SUMMARY_SAMPLES = 8,  /* the name of the samples' type ends the head */
};

enum part_flags { PART_ENDS = 1, PART_TAIL = 2, PART_EDGES = 4 };

/* The identity of a thread in any program: its stream, and the words of dictionary_thread. */
struct summary_thread {
	uint64_t stream_id;
	uint32_t word[THREAD_WORDS];
	uint32_t zero; /* the struct is compared by its bytes */
};

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

/* Counts and source of a summary, for END. */
struct summary_end {
	uint64_t lost, gaps;
	bool lost_more; /* more were lost than are counted (END_LOST_MORE) */
	int status;
	const char *message;
	struct printed printed; /* where the programs before printed it */
};

/* Write a summary. w is fresh, with its properties set. Returns -1 with e filled. */
int summary_write(struct writer *w, const struct summary *sm, const struct summary_end *end,
		  struct error *e);

/*
 * Prepare for tables: the calls open at the end of streams that do not end count, the groups have
 * no SUMMARY_CELLS but, with -i, CELL_INTERVAL. The parts are sorted. Returns -1 when out of
 * memory, or (EOVERFLOW) if numbers are impossible.
 */
int summary_settle(struct summary *sm);

/*
 * Call print for each interval of -i, in order, with its groups in s; true ends this. Afterwards s
 * has no groups. Returns -1 when out of memory, or (EOVERFLOW) if numbers are impossible.
 */
int summary_intervals(struct summary *sm, uint64_t width,
		      bool (*print)(void *ctx, const struct interval *interval), void *ctx);

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
	struct summary_pairs {
		uint64_t pairs, replaced, ended, forgotten, left;
	} pairs;
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

void summaries_free(struct summaries *ss);

/* Take a block. Returns -1 with e filled if it is not a summary, or does not match the others. A
 * damaged summary is left out with a message. */
int summaries_block(struct summaries *ss, const struct block *b, struct error *e);
/* To be called when the reader meets damage or the end: leaves out an incomplete summary. */
void summaries_damaged(struct summaries *ss);

#endif
