/*
 * duration_threshold.h - the time filter of a recording: calls shorter than a limit are not shown
 *
 * A recording made with -t says so in its default.opts, and uftrace applies it again when it
 * prints, with rules of its own: a call shorter than the limit goes, with the events inside, unless
 * something was already shown from inside of it; scheduling is judged the same way, by itself. An
 * event waits here until it is decided, which is at the latest when the limit has passed since it
 * began.
 */
#ifndef TR_TRENCODE_TEXT_UFTRACE_DURATION_THRESHOLD_H
#define TR_TRENCODE_TEXT_UFTRACE_DURATION_THRESHOLD_H

#include "common/stream/event.h"

struct hold;

enum hold_kind {
	HOLD_ENTER, /* waits for its leave */
	HOLD_LEAVE,
	HOLD_EVENT, /* shown if what it is in is */
	HOLD_SHOWN, /* shown, and all it is in */
	HOLD_ALONE, /* shown, and nothing else is decided by it */
};

struct hold_row {
	struct event event;
	enum hold_kind kind;
	bool scheduling; /* judged with its like, apart from the functions */
};

/* NULL: out of memory. */
struct hold *hold_new(uint64_t limit);
void hold_free(struct hold *h);

/* Take in a row, copied with its data. -1: out of memory. */
int hold_put(struct hold *h, const struct hold_row *row);

/* The next event that is to be shown, in order; false: none is decided now. It is valid until the
 * next call of hold_put or hold_get. */
bool hold_get(struct hold *h, struct event *ev);

/* The end of the trace: all that waits is shown. */
void hold_end(struct hold *h);

/* Calls that were shown undecided, as too much waited. */
uint64_t hold_undecided(const struct hold *h);

/* "100us", "1.5ms": what uftrace takes for -t. False: it is no time. */
bool hold_parse_limit(const char *s, uint64_t *ns);

#endif
