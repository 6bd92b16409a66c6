/*
 * summary.h - summaries, written by trstat --partial and read by --merge: groups, and parts of
 * streams
 *
 * A summary is a stream (trstream(5)) with HEAD_SUMMARY: a segment for each part, with a META
 * "trstat" block whose layout is that of summary_write.c. The first segment has the groups of all
 * parts.
 */
#ifndef TR_TRSTAT_SUMMARY_SUMMARY_H
#define TR_TRSTAT_SUMMARY_SUMMARY_H

#include "common/stream/reader.h"
#include "common/stream/writer.h"
#include "cmd/trstat/summary/pack.h"
#include "cmd/trstat/summary/part.h"
#include "cmd/trstat/query.h"

#define SUMMARY_META "trstat"

enum { SUMMARY_VERSION = 5 };

enum summary_flags {
	SUMMARY_TICKS = 1,
	SUMMARY_NAMELESS = 2, /* functions are shown by their addresses */
};

enum part_flags { PART_ENDS = 1 };

struct parts {
	struct part *part;
	size_t count, capacity;
};

void parts_free(struct parts *ps);
/* Add an empty part; NULL: out of memory. */
struct part *parts_add(struct parts *ps);

/* Counts and source of a summary, for END. */
struct summary_end {
	uint64_t lost, gaps;
	bool lost_more; /* more were lost than are counted (END_LOST_MORE) */
	int status;
	const char *message;
};

/* Write a summary. The parts must be those that s has taken. w is fresh, with its properties
 * set. Returns -1 with e filled. */
int summary_write(struct writer *w, const struct statistics *s, const struct settings *asked,
		  const struct parts *ps, const struct summary_end *end, struct error *e);

/* Number the stacks that the groups and the parts use, and append them. Returns -1 when out of
 * memory. */
int summary_put_stacks(struct buffer *b, const struct statistics *s, const struct parts *ps,
		       struct packed_stacks *stacks);

/* The head of a summary. */
struct summary_head {
	char *keys, *columns; /* comma-separated; columns include those of -s */
	/* arguments of -g, -a, -s and the view; NULL: not given */
	char *group, *asked, *sort, *view_argument;
	uint32_t view; /* enum view */
	bool ticks, nameless;
	bool histograms; /* its columns include percentiles */
	uint64_t first, last, unmatched, unfinished, outside;
};

/* The state of reading several summaries in sequence. */
struct summaries {
	struct reader *reader;
	struct statistics *s; /* the caller's; its groups take what is read */
	struct parts parts;
	struct columns stored;	     /* columns of the present summary */
	uint32_t *fields;	     /* by number of the field in s: its number in the summary */
	struct packed_stacks stacks; /* of the present summary */
	struct summary_head head;    /* of the present summary, without its texts */
	/* of the present summary, laid out as stored; texts are those of s */
	struct groups waiting;
	struct buffer meta;
	uint64_t meta_total;
	/* Called when the first summary's head is known, to make s. Returns -1 with e filled. */
	int (*begin)(void *ctx, const struct summary_head *h, struct error *e);
	void *ctx;
	char *keys;	   /* list of the keys of s; NULL before begin */
	const char *file;  /* file of the present summary */
	uint64_t *streams; /* ids of the streams that the parts belong to */
	size_t nstreams, streams_capacity;
	/* state of the present summary */
	enum { SUMMARY_NONE, SUMMARY_OPEN, SUMMARY_DAMAGED } state;
	uint64_t begins; /* its offset in the file */
	/* its first part, index in parts */
	size_t first_part;
	/* more segments of the summary are due */
	bool expecting;
	/* the segment's payload was read */
	bool taken;
	uint64_t whole, left_out; /* number of summaries counted, and of those left out */
};

void summaries_free(struct summaries *ss);

/* Take a block. Returns -1 with e filled if it is no summary, or does not match the others. A
 * damaged summary is left out with a message. */
int summaries_block(struct summaries *ss, const struct block *b, struct error *e);
/* To be called when the reader meets damage or the end: leaves out an incomplete summary. */
void summaries_damaged(struct summaries *ss);

#endif
