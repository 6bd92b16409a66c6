/*
 * split.h - cuts what is encoded into parts, each of which is a whole trace (--split)
 *
 * A part ends when its output has reached a size, or its time is over: the next event is then the
 * first one of the next part. At the cut the calls that are open are closed: their leaves are
 * shown, the innermost first. The next part begins with their enters. Both have the time of the
 * cut, which no other event of the earlier part has. Where the encoder needs calls, a part without
 * calls goes on up to the next end.
 *
 *     split_block(&s, &reader, &block, &e)      for each block
 *
 * A leave has the source's type of leaves for such calls, the fields that it shares with the enter,
 * and zeros in its other fields. A call without a known enter is not closed. A call whose arguments
 * have more than SPLIT_ENTER_MOST bytes is opened again without them. A call that the target leaves
 * out before a cut is left out of the later parts, too.
 *
 * Functions that return int return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_SPLIT_H
#define TR_TRENCODE_SPLIT_H

#include "cmd/trencode/copied_row.h"
#include "cmd/trencode/convert/thread_ids.h"
#include "cmd/trencode/timeline/flows.h"
#include "cmd/trencode/timeline/scheduling.h"
#include "cmd/trencode/timeline/tracks.h"
#include "common/calls/adopt.h"
#include "common/cli/remarks.h"
#include "common/formats/part.h"
#include "common/stream/reader.h"

enum { SPLIT_ENTER_MOST = 65536 };

/* Which rows are shown. */
enum split_rows {
	ROWS_OF_TRACE,
	ROWS_THAT_CLOSE, /* leaves of calls that the next part goes on with */
	ROWS_THAT_OPEN,	 /* enters of calls of the part before */
};

/* What the rows are that are shown. */
struct split_shown {
	enum split_rows rows;
	uint64_t start; /* ROWS_THAT_OPEN: time of the call's own enter */
};

/* Where a part ends: at most one of the two is not 0. */
struct split_limit {
	uint64_t bytes; /* of output */
	uint64_t time;	/* ns */
};

/* What encodes the parts. */
struct split_target {
	/* Take rows that are shown, an EVENTS block, or a snapshot of calls that are open. */
	int (*show)(void *ctx, const struct block *b, struct error *e);
	/* Get about the bytes of the present part. */
	uint64_t (*size)(void *ctx);
	/* Get a time of a lane as it is written, for the mark of the part; PART_NO_TIME: it has
	 * none.
	 */
	uint64_t (*mark)(void *ctx, const struct lane *lane, uint64_t time);
	/* End the present part, whose until is set. */
	int (*end)(void *ctx, struct error *e);
	/* Begin a part. Without a since it is the first one of another stream, whose HEAD follows.
	 */
	int (*begin)(void *ctx, struct error *e);
	void *ctx;
};

/* Numbers that all parts of a stream share. */
struct split_numbers {
	struct open_calls left_out; /* that overlap others, where the target's calls nest */
	struct thread_ids threads;
	struct track_numbers tracks;
	struct flow_numbers flows;
	struct scheduling_parts scheduling;
};

struct split {
	struct split_limit limit;
	uint64_t tick; /* --tick, ns; 0: not given */
	struct split_target target;
	struct part part; /* the present one */
	uint64_t rows;	  /* bytes of its rows in the stream */
	struct split_shown showing;
	bool any_call;	  /* the stream has calls so far */
	bool needs_calls; /* no part ends without a call, except the last */
	struct remarks remarks;
	struct split_numbers *numbers;
	/* the rest is private; begins as 0 */
	struct dictionary *dictionary;
	struct calls calls;
	struct copied_rows open; /* enters of open calls, in their order */
	uint64_t name;		 /* of the split, as if the input were one stream */
	uint64_t latest;	 /* highest time of the part */
	uint64_t step;		 /* limit.time on the clock of the stream */
	uint64_t first, ends;	 /* time of the stream's first event; end of the time of the part */
	bool any, begun;	 /* the part, the stream, has events */
	bool called;		 /* the part has calls */
	bool due;		 /* the part is large enough */
	uint64_t empty;		 /* bytes of the part before its first event */
	uint64_t count;		 /* rows of the part */
	uint64_t continued;	 /* calls that were open where the part begins */
	uint32_t slice;		 /* rows until the size is tested again */
	bool clipped;		 /* not all rows of the stream are shown */
	bool foreign;		 /* the values of the open calls have ids of an earlier segment */
	const struct type **leaves; /* by number of the enter's type */
	size_t nleaves;
};

static inline bool split_any(const struct split_limit *l)
{
	return l->bytes || l->time;
}

/* Parse "64M" or "10s". */
int split_parse(struct split_limit *l, const char *text, struct error *e);

/* Prepare s, whose limit and target are set, and which must not move afterwards. clipped: rows are
 * left out of the stream before they are passed to split_block. */
void split_init(struct split *s, struct dictionary *d, bool clipped);
void split_free(struct split *s);
/* Take a block of any kind that was read, with the rows that are encoded. */
int split_block(struct split *s, struct reader *in, const struct block *b, struct error *e);

/* split_leave.c: make the row that closes a call at a time. source_time: the source's own time of
 * the row, if it differs. The caller frees *row. */
int split_leave(struct split *s, const struct copied_row *enter, uint64_t time,
		uint64_t source_time, struct copied_row **row, struct error *e);

#endif
