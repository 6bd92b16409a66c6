/*
 * clocks.h - do the clocks of a stream count the same: a unit of time, or ticks?
 *
 * Traces may stand behind or beside each other in a stream. Times in ns and ticks have no sum, no
 * order and no unit in common, so who adds them up or writes them on one axis has to refuse them.
 */
#ifndef TR_STREAM_CLOCKS_H
#define TR_STREAM_CLOCKS_H

#include "common/util/error.h"
#include "common/stream/event.h"

/* All zero: none was seen. */
struct clocks {
	bool ticks, times;
	char named[2][256]; /* "SOURCE (CLOCK)": the first that counts ns, and ticks */
};

/* Take note of the clock of an event's lane; nothing where it has none. */
void clocks_note(struct clocks *c, const struct lane *lane);

/* Of all lanes of a block of EVENTS. */
static inline void clocks_look(struct clocks *c, const struct block *b)
{
	for (uint32_t i = 0; b->rows && i < b->nlanes; i++)
		clocks_note(c, b->lanes[i]);
}

/* One of ticks or ns, known by that name. */
void clocks_set(struct clocks *c, bool ticks, const char *source, const char *clock);

/* Were there both? -1 with e naming them; hint: what the user can do, behind "; ". */
int clocks_check(const struct clocks *c, const char *hint, struct error *e);

#endif
