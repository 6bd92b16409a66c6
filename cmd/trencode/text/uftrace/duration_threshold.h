/*
 * duration_threshold.h - the time filter of a recording: calls shorter than a limit are not shown
 *
 * The default.opts of a recording made with -t contains that option, and uftrace applies it again
 * when it prints. Its rules: a call shorter than the limit is dropped with the events inside it,
 * unless an event inside it was already shown; scheduling is filtered in the same way, apart from
 * functions. An event is queued here until it is decided, at the latest when the limit has passed
 * since the event.
 */
#ifndef TR_TRENCODE_TEXT_UFTRACE_DURATION_THRESHOLD_H
#define TR_TRENCODE_TEXT_UFTRACE_DURATION_THRESHOLD_H

#include "common/stream/event.h"

/* The queue of one recording. */
struct duration_threshold;

enum threshold_kind {
	THRESHOLD_ENTER, /* decided by its leave */
	THRESHOLD_LEAVE, /* decides the last undecided enter */
	THRESHOLD_EVENT, /* shown if the call around it is */
	THRESHOLD_SHOWN, /* shown, and all calls around it */
	THRESHOLD_ALONE, /* shown, decides no call */
};

/* An event on its way through the filter. */
struct threshold_row {
	struct event event;
	enum threshold_kind kind;
	bool scheduling; /* filtered with other scheduling, apart from functions */
};

/* limit: ns. Returns NULL when out of memory. */
struct duration_threshold *duration_threshold_new(uint64_t limit);
void duration_threshold_free(struct duration_threshold *t);

/* Queue a copy of the row and its data. Returns -1 when out of memory. */
int duration_threshold_put(struct duration_threshold *t, const struct threshold_row *row);

/* Take the next event that is shown, in order; returns false if the first event queued is not
 * decided. The event is valid until the next call of duration_threshold_put or
 * duration_threshold_get. */
bool duration_threshold_get(struct duration_threshold *t, struct event *ev);

/* Decide the queue, where the trace ends or does not follow what was queued: all events are shown.
 */
void duration_threshold_flush(struct duration_threshold *t);

/* Return the number of calls that were shown undecided because the queue was full. */
uint64_t duration_threshold_undecided(const struct duration_threshold *t);

/* Parse a time of -t as uftrace does: "100us", "1.5ms". Returns false if it is not a time. */
bool duration_threshold_parse(const char *s, uint64_t *ns);

#endif
