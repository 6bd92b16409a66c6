/*
 * encode.h - encode a stream
 */
#ifndef TR_TRENCODE_ENCODE_H
#define TR_TRENCODE_ENCODE_H

#include "cmd/trencode/encoder.h"

struct stage;

/* Encode the stage's inputs to its output, or to the directory options->output. clip: its window,
 * limit and split are set. Prints errors and sets the exit status in the stage. */
void encode_stream(struct stage *s, const struct encoder *encoder,
		   const struct encode_options *options, struct clip *clip);

/*
 * Conversion of ticks, which have no unit, to ns by --tick.
 *
 * Reports then see a clock that counts ns. The conversions (convert.h) scale ticks
 * themselves.
 */

#define TICK_HINT "give the length of a tick, as in --tick 1ns"

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
