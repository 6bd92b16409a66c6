/*
 * tick_scale.h - conversion of ticks, which have no unit, to ns by --tick
 *
 * Reports then see a clock that counts ns. The conversions (convert/convert.h) scale ticks
 * themselves.
 */
#ifndef TR_TRENCODE_TICK_SCALE_H
#define TR_TRENCODE_TICK_SCALE_H

#include "cmd/trencode/encoder.h"

#define TICK_HINT "give the length of a tick, as in --tick 1ns"

/* Set the length of a tick, ns, in the clocks of a block's lanes that count ticks. Fails where a
 * time of an event in ns exceeds 64 bits. */
int tick_lanes(struct dictionary *d, const struct block *b, uint64_t tick, struct error *e);

/* Fill *e: ticks of that length, ns, are too long for this time. Returns -1. */
int tick_overflow(const struct lane *lane, uint64_t time, uint64_t tick, struct error *e);

/* Convert a time of a lane to ns, after tick_lanes. */
static inline uint64_t tick_time(const struct lane *lane, uint64_t time)
{
	uint64_t tick = lane->clock ? lane->clock->tick : 0;

	if (tick && __builtin_mul_overflow(time, tick, &time))
		return UINT64_MAX;
	return time;
}

#endif
