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

#include "cmd/trencode/split.h"
#include "common/calls/adopt.h"
#include "common/stream/reader.h"
#include "common/value/time_window.h"

enum { CLIP_ENTER_MOST = 65536 };

struct clip {
	struct time_window window;
	uint64_t limit;	     /* most calls and events; UINT64_MAX: all */
	struct split *split; /* NULL: there are no cuts */
	/* Take rows that are shown, an EVENTS block, or a snapshot of calls that are open. */
	int (*show)(void *ctx, const struct block *b, struct error *e);
	void *ctx;
	/* the rest is private; begins as 0 */
	struct calls calls;
	/* enters before the range; with split, of all open calls */
	struct kept_enter *oldest, *newest;
	struct kept_enter *spare; /* allocated, by after */
	struct buffer rows;	  /* of these enters; it spills */
	size_t kept, read;	  /* bytes of these rows; bytes that were read since buffer_rest */
	uint64_t count, open; /* calls and events that are shown; calls of these that are open */
	uint8_t *begun;	      /* by number of the clock: whether its range has begun */
	size_t nbegun;
	uint8_t *passed; /* by thread: whether it has events after the range */
	size_t npassed;
	struct buffer row;	    /* that is shown alone */
	bool adopts_hidden;	    /* the calls of a snapshot begin after the range */
	const struct type **leaves; /* at a cut, by number of the enter's type */
	size_t nleaves;
};

static inline bool clip_any(const struct clip *c)
{
	return time_window_any(&c->window) || c->limit != UINT64_MAX || c->split;
}

/* Prepare c, whose window, limit, show and ctx are set, and which must not move afterwards. */
void clip_init(struct clip *c, struct dictionary *d);
void clip_free(struct clip *c);
/* Take a block of any kind that was read, and show what is in the range. */
int clip_block(struct clip *c, struct reader *in, const struct block *b, struct error *e);

/* Returns true if nothing more is shown. */
static inline bool clip_done(const struct clip *c)
{
	return c->count >= c->limit && !c->open;
}

#endif
