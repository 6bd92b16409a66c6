/*
 * clip.h - the part of a stream that is encoded: --since, --until, --limit; and its parts: --split
 *
 * Calls that are open at --since begin there: their enters are shown at that time, before the first
 * event of the range. Calls that are open at --until end there: their leaves, which are read later,
 * are shown at that time. A call without a leave stays open. At the limit the leaves of the calls
 * that counted are still shown.
 *
 * With split, the range is cut into parts. At a cut the open calls end: their leaves are shown, the
 * innermost first. The next part begins with their enters. Both have the time of the cut:
 *
 *     f [1                       9]
 *     since=3, until=7, cut at 5
 *         [3       5] [5       7]
 *
 * A part ends when its output has reached a size, or its time is over: the next event is then the
 * first one of the next part. The cut is a time that no event of the earlier part has.
 *
 * The leave at a cut has the type of the source's leaves of such calls, the fields that the enter
 * has too, and zeros in the other fields. A call whose arguments have more than CLIP_ENTER_MOST
 * bytes begins at a cut without them. A call without a known enter is not cut. After the limit
 * there are no cuts.
 *
 *     clip_block(&c, &reader, &block, &e)      for each block
 *
 * Functions that return int return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_CLIP_H
#define TR_TRENCODE_CLIP_H

#include "common/calls/calls.h"
#include "common/stream/reader.h"
#include "common/value/moment.h"

enum { CLIP_ENTER_MOST = 65536 };

/* A part of --split. */
struct clip_part {
	uint32_t number;     /* from 0 */
	uint64_t bytes;	     /* of its rows in the stream */
	uint64_t rows;	     /* that are shown */
	uint64_t begun_size; /* bytes of its output before its first event */
	uint64_t latest;     /* highest time of its events */
	uint64_t continued;  /* calls that were open where it begins */
	uint32_t slice;	     /* rows until the size is tested again */
	bool any, called;    /* it has events, calls */
	bool due;	     /* it is large enough */
};

struct clip {
	struct time_window window;
	uint64_t limit; /* most calls and events; UINT64_MAX: all */
	/* where a part ends: at most one of bytes and time is not 0; without both there are no cuts
	 */
	struct {
		uint64_t bytes; /* of output */
		uint64_t time;	/* ns */
		uint64_t tick;	/* length of a tick, ns; 0: not given */
	} split;
	bool needs_calls; /* no part ends without a call, except the last */
	/* Take rows that are shown, an EVENTS block, or a snapshot of calls that are open. */
	int (*show)(void *ctx, const struct block *b, struct error *e);
	/* With split: get about the bytes of output of the present part. */
	uint64_t (*part_size)(void *ctx);
	/* With split: end a part, and begin the next one, which c->part describes. same_stream: it
	   goes on with the stream; else the HEAD of another follows. */
	int (*next_part)(void *ctx, bool same_stream, struct error *e);
	void *ctx;
	/* the rest begins as 0; public is: */
	struct clip_part part; /* that is written */
	bool closing;	       /* what is shown ends calls at a cut */
	struct {
		/* of the last one; the source's own time of an event then, if that differs */
		uint64_t time, source_time;
		/* calls that go on after cuts, each as often as it does */
		uint64_t divided; /* that are cut */
		uint64_t unseen;  /* without an enter, in parts in which their thread has calls */
	} cuts;
	/* the rest is private */
	uint64_t step, ends; /* with split.time, on the clock of the stream: length of a part; end
				of the part, 0: the stream has no event */
	struct calls calls;
	/* enters before the range; with split, of all open calls */
	struct kept_enter *oldest, *newest;
	struct kept_enter *spare; /* allocated, by after */
	struct buffer rows;	  /* of these enters; it spills */
	size_t kept, read;	  /* bytes of these rows; bytes that were read since buffer_rest */
	uint64_t count, open; /* calls and events that are shown; calls of these that are open */
	uint8_t *begun;	      /* by number of the clock: whether its range has begun */
	size_t nbegun;
	struct {
		bool passed;   /* it has events after the range */
		uint32_t part; /* number of the last part that has a row of its calls, + 1 */
	} * threads;	       /* by number */
	size_t nthreads;
	struct buffer row;	    /* that is shown alone */
	bool adopts_hidden;	    /* the calls of a snapshot begin after the range */
	const struct type **leaves; /* at a cut, by number of the enter's type */
	size_t nleaves;
};

static inline bool clip_splits(const struct clip *c)
{
	return c->split.bytes || c->split.time;
}

static inline bool clip_any(const struct clip *c)
{
	return time_window_any(&c->window) || c->limit != UINT64_MAX || clip_splits(c);
}

/* Prepare c, whose public members are set, and which must not move afterwards. */
void clip_init(struct clip *c, struct dictionary *d);
void clip_free(struct clip *c);
/* Begin a stream, before its HEAD is taken: it begins a part. */
int clip_stream(struct clip *c, struct error *e);
/* Take a block of any kind that was read, and show what is in the range. */
int clip_block(struct clip *c, struct reader *in, const struct block *b, struct error *e);

/* Returns true if nothing more is shown. */
static inline bool clip_done(const struct clip *c)
{
	return c->count >= c->limit && !c->open;
}

#endif
