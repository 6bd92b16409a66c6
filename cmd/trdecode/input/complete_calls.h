/*
 * complete_calls.h - calls of one event with a duration, the phase X of Chrome's formats: their
 * ends in order, and the rule of those that overlap others
 *
 * The calls of a thread are a stack. An X that ends after the X around it overlaps that one, and so
 * does an X that is open when the B and E around it end: it is on no stack, and has a number. That
 * an E comes before the end of an X is known too late to write the enter of the X. So where a
 * thread may have X and B, all events are looked at before the first row is written, and
 * overlapping X are marked.
 */
#ifndef TR_TRDECODE_INPUT_COMPLETE_CALLS_H
#define TR_TRDECODE_INPUT_COMPLETE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The end of an open X. */
struct complete_end {
	uint64_t time, serial;
	uint32_t thread; /* the decoder's number of the thread, or of the track */
	uint32_t depth;	 /* depth of its frame; on no stack: a number of the decoder */
	bool overlaps;	 /* on no stack */
};

/* The X of an input. */
struct complete_calls {
	struct complete_end *heap; /* ends of the open ones */
	size_t count, capacity;
	uint64_t serial; /* of the last X, in the order of times: from 1 */
	bool looking;	 /* no rows are written */
	uint8_t *marks;	 /* a bit for each X: it overlaps others; NULL: none is known to */
	size_t nmarks;
};

/* Add an end. -1: out of memory. */
int complete_calls_push(struct complete_calls *c, const struct complete_end *end);
/* Remove the earliest end; at one time that of the call that began last. */
struct complete_end complete_calls_pop(struct complete_calls *c);
/* Test for an X that overlaps others. limit: the earliest end of the calls around it; inexact:
 * times are truncated, and may seem to be 1 ns earlier. */
bool complete_calls_overlap(const struct complete_calls *c, const struct complete_end *end,
			    uint64_t limit, bool inexact);
/* While looking: note that an X overlaps others. -1: out of memory. */
int complete_calls_mark(struct complete_calls *c, uint64_t serial);
/* Begin again at the first X, after all events were looked at. */
void complete_calls_rewind(struct complete_calls *c);
void complete_calls_free(struct complete_calls *c);
/* Report calls that ended with the call around them. */
void complete_calls_clipped(const char *file, uint64_t calls);

static inline uint64_t complete_calls_next(const struct complete_calls *c)
{
	return c->count ? c->heap[0].time : UINT64_MAX;
}

/* Test for an end outside of the calls around it. */
static inline bool complete_ends_outside(uint64_t end, uint64_t limit, bool inexact)
{
	return end > limit && end - limit > inexact;
}

#endif
