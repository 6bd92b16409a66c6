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
	char named[2]
		  [256]; /* "SOURCE (CLOCK)" of the first clock in ns and of the first in ticks */
};

/* Record the clock of an event's lane, if it has one. */
void clocks_note(struct clocks *c, const struct lane *lane);

/* Record the clocks of all lanes of an EVENTS block. */
static inline void clocks_look(struct clocks *c, const struct block *b)
{
	for (uint32_t i = 0; b->rows && i < b->nlanes; i++)
		clocks_note(c, b->lanes[i]);
}

/* Record a clock of ticks or of ns with this name. */
void clocks_set(struct clocks *c, bool ticks, const char *source, const char *clock);

/* Refuse a mixture of both: -1 with e naming them. hint: what the user can do, printed after ";
 * ". */
int clocks_check(const struct clocks *c, const char *hint, struct error *e);

#endif
