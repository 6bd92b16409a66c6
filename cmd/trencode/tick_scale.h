/*
 * tick_scale.h - times of a trace that has only ticks, where --tick says how long one is to be
 *
 * Of such a clock the reports are told that it counts ns. The encoders that make a trace anew
 * (anew.h) do this themselves.
 */
#ifndef TR_TRENCODE_TICK_SCALE_H
#define TR_TRENCODE_TICK_SCALE_H

#include "cmd/trencode/encoder.h"

#define TICK_HINT "--tick 1ns says how long a tick is to be"

/* The clocks of a block's lanes get the length. -1 with e: an event's time is beyond 64 bits. */
int tick_lanes(struct dictionary *d, const struct block *b, uint64_t tick, struct error *e);

/* That a tick of so many ns is too long for this time. -1 */
int tick_overflow(const struct lane *lane, uint64_t time, uint64_t tick, struct error *e);

/* A time of such a clock in ns, of a block that tick_lanes has seen. */
static inline uint64_t tick_time(const struct lane *lane, uint64_t time)
{
	uint64_t tick = lane->clock ? lane->clock->tick : 0;

	if (tick && __builtin_mul_overflow(time, tick, &time))
		return UINT64_MAX;
	return time;
}

#endif
