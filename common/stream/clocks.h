/*
 * clocks.h - checks that all clocks of a stream count the same: a unit of time, or ticks
 *
 * A stream may contain traces in sequence or merged. Times in ns and in ticks have no sum, no order
 * and no common unit. So a program that adds times up or writes them on one axis must refuse such a
 * mixture.
 */
#ifndef TR_STREAM_CLOCKS_H
#define TR_STREAM_CLOCKS_H

#include "common/util/error.h"
#include "common/stream/event.h"

/* The kinds of clocks seen so far. Zero-initialised: none. */
struct clocks {
	bool ticks, times;
	bool durations; /* of calls, or of samples whose weights are times */
	bool weights;	/* of samples, and no times */
	bool pairs;	/* durations are of pairs of events only */
	char named[2]
		  [256]; /* "SOURCE (CLOCK)" of the first clock in ns and of the first in ticks */
};

/* Record the clock of an event's lane, if it has one. */
void clocks_note(struct clocks *c, const struct lane *lane);

/* Record the clocks and durations of an EVENTS block. */
static inline void clocks_look(struct clocks *c, const struct block *b)
{
	for (uint32_t i = 0; b->rows && i < b->nlanes; i++)
		clocks_note(c, b->lanes[i]);
	for (uint32_t i = 0; b->rows && i < b->ntypes; i++) {
		const struct type *t = b->types[i];

		if (t->kind == KIND_SAMPLE && !(t->flags & TYPE_WEIGHT_TIME))
			c->weights = true;
		else if (t->kind == KIND_ENTER || t->kind == KIND_LEAVE || t->kind == KIND_SAMPLE)
			c->durations = true;
	}
}

/* Returns true if the durations and totals of the events are times of a clock in ns. */
static inline bool clocks_durations(const struct clocks *c)
{
	return c->times && (c->pairs || (c->durations && !c->weights));
}

/* Record a clock of ticks or of ns with this name. */
void clocks_set(struct clocks *c, bool ticks, const char *source, const char *clock);

/* Refuse a mixture of both: -1 with e naming them. hint: what the user can do, printed after ";
 * ". */
int clocks_check(const struct clocks *c, const char *hint, struct error *e);

#endif
