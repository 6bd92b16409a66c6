/*
 * clocks.c - checks that all clocks of a stream count the same: a unit of time, or ticks
 */
#include "common/stream/clocks.h"

#include <stdio.h>

void clocks_set(struct clocks *c, bool ticks, const char *source, const char *clock)
{
	bool *seen = ticks ? &c->ticks : &c->times;

	if (*seen)
		return;
	*seen = true;
	snprintf(c->named[ticks], sizeof c->named[ticks], "%.120s (clock %.100s)", source, clock);
}

void clocks_note(struct clocks *c, const struct lane *lane)
{
	const struct clock *clock = lane->clock;
	bool ticks = clock && clock->flags & CLOCK_TICKS;

	if (!clock || (ticks ? c->ticks : c->times))
		return;
	clocks_set(c, ticks, lane->source ? lane->source->name.text : "?", clock->name.text);
}

int clocks_check(const struct clocks *c, const char *hint, struct error *e)
{
	if (!c->ticks || !c->times)
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "the stream has clocks of ticks and of ns; %s: %s and %s", hint,
			 c->named[1], c->named[0]);
}
