/*
 * clip.h - the part of a stream that is encoded: --since, --until, --limit
 *
 * Calls that are open at --since begin there: their enters are shown at that time, before the first
 * event of the range. Calls that are open at --until end there: their leaves, which are read later,
 * are shown at that time. A call without a leave stays open. At the limit the leaves of the calls
 * that counted are still shown.
 *
 *     clip_block(&c, &reader, &block, &e)      for each block
 *
 * Functions that return int return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_CLIP_H
#define TR_TRENCODE_CLIP_H

#include "cmd/trencode/copied_row.h"
#include "common/calls/adopt.h"
#include "common/stream/reader.h"
#include "common/value/time_window.h"

struct clip {
	struct time_window window;
	uint64_t limit; /* most calls and events; UINT64_MAX: all */
	/* Take rows that are shown, an EVENTS block, or a snapshot of calls that are open. */
	int (*show)(void *ctx, const struct block *b, struct error *e);
	void *ctx;
	/* the rest is private; begins as 0 */
	struct calls calls;
	struct copied_rows entered; /* enters before the range */
	uint64_t count, open; /* calls and events that are shown; calls of these that are open */
	uint8_t *begun;	      /* by number of the clock: whether its range has begun */
	size_t nbegun;
	uint8_t *passed; /* by thread: whether it has events after the range */
	size_t npassed;
	struct buffer row;
	bool adopts_hidden; /* the calls of a snapshot begin after the range */
};

static inline bool clip_any(const struct clip *c)
{
	return time_window_any(&c->window) || c->limit != UINT64_MAX;
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
