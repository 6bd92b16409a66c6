/*
 * summary.h - what trstat --partial writes and --merge reads: groups, and parts of streams
 *
 * A summary is a stream (trstream(5)) with HEAD_SUMMARY: a segment for each part, whose META
 * "trstat" is as summary_write.c lays it out; the first one has the groups of all.
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
/* An empty one more; NULL: out of memory. */
struct part *parts_add(struct parts *ps);

/* Who made it and of what, for END. */
struct summary_end {
	uint64_t lost, gaps;
	bool lost_more; /* than is counted (END_LOST_MORE) */
	int status;
	const char *message;
};

/* -1 with e. The parts must be what s has seen. w is fresh, with its properties set. */
int summary_write(struct writer *w, const struct statistics *s, const struct settings *asked,
		  const struct parts *ps, const struct summary_end *end, struct error *e);

/* Number the stacks that the groups and the parts name, and append them. -1: out of memory. */
int summary_put_stacks(struct buffer *b, const struct statistics *s, const struct parts *ps,
		       struct packed_stacks *stacks);

/* What a summary says of itself at its beginning. */
struct summary_head {
	char *keys, *columns; /* as lists; columns with those to sort by */
	/* what was asked for by -g, -a, -s and the view; NULL: nothing */
	char *group, *asked, *sort, *view_argument;
	uint32_t view; /* enum view */
	bool ticks, nameless;
	bool histograms; /* its columns have percentiles */
	uint64_t first, last, unmatched, unfinished, outside;
};

/* Several summaries being read, one behind the other. */
struct summaries {
	struct reader *reader;
	struct statistics *s; /* whose groups take what is read; the caller's */
	struct parts parts;
	struct columns stored;	     /* as the present summary has them */
	uint32_t *fields;	     /* by their number in s: the number there */
	struct packed_stacks stacks; /* of the present summary */
	struct summary_head head;    /* of the same, without its texts */
	struct groups waiting;	     /* of the same, laid out as stored; texts are those of s */
	struct buffer meta;
	uint64_t meta_total;
	/* the first summary's head is known: s is to be made. -1 with e: not so. */
	int (*begin)(void *ctx, const struct summary_head *h, struct error *e);
	void *ctx;
	char *keys;	   /* of s; NULL before begin */
	const char *file;  /* of the present summary */
	uint64_t *streams; /* ids of the streams that parts are of */
	size_t nstreams, streams_capacity;
	enum { SUMMARY_NONE, SUMMARY_OPEN, SUMMARY_DAMAGED } state; /* of the present summary */
	uint64_t begins;					    /* its offset in the file */
	size_t first_part;					    /* in parts */
	bool expecting;						    /* the summary's next segment */
	bool taken;						    /* the segment's payload came */
	uint64_t whole, left_out; /* how many summaries counted, and did not */
};

void summaries_free(struct summaries *ss);

/* Take a block in. -1 with e: it is no summary, or not like the others. One that is damaged is left
 * out, which is said. */
int summaries_block(struct summaries *ss, const struct block *b, struct error *e);
/* The reader has met damage, or the end: a summary that has not come to its end is left out. */
void summaries_damaged(struct summaries *ss);

#endif
