/*
 * results.h - count the calls and events that are kept, a call once, and end at a limit: -c, -n
 *
 * A call counts at its enter, or at its leave if the enter is not kept. At the limit the leaves of
 * the calls that counted are still taken.
 */
#ifndef TR_TRFILTER_ROWS_RESULTS_H
#define TR_TRFILTER_ROWS_RESULTS_H

#include "cmd/trfilter/calls/pairing.h"

struct results {
	uint64_t limit;		/* most calls and events; UINT64_MAX: all */
	uint64_t count;		/* calls and events so far */
	uint64_t open;		/* open calls that were taken */
	struct pairing pairing; /* mark: whether the call was taken */
};

/* Prepare r, which must not move afterwards, for streams with that dictionary. */
void results_init(struct results *r, uint64_t limit, struct dictionary *d);
void results_free(struct results *r);
/* Begin another stream: no call is open. */
void results_begin(struct results *r);
/* Take an event that is kept; caller: the event counts as nothing by itself. Returns false if the
 * event is beyond the limit. */
bool results_take(struct results *r, const struct event *e, bool caller);
/* Take a row with its state (row_state.h). Returns the state, in which a row beyond the limit is
 * dropped; once results_done is true, all are. */
uint8_t results_row(struct results *r, const struct event *e, uint8_t state);

static inline bool results_full(const struct results *r)
{
	return r->count >= r->limit;
}

/* Returns true if no more rows are taken. */
static inline bool results_done(const struct results *r)
{
	return results_full(r) && !r->open;
}

#endif
