/*
 * merge.h - several inputs in one stream, by time
 */
#ifndef TR_TRDECODE_INPUT_MERGE_H
#define TR_TRDECODE_INPUT_MERGE_H

#include "cmd/trdecode/decoder.h"

/*
 * What --clock asks for: with CLOCK_WALL the shift brings the input's times to wall time. -1: the
 * input does not tell it. Times of a shifted input are times of its own clock plus in->shift, and
 * wall times are those plus merge_wall(in).
 */
int merge_choose_clock(struct input *in, struct error *e);

/*
 * The input's first event is at that time of its own clock: in->next is set to it, shifted. -1:
 * --offset would bring it to before the time 0, or gave a unit where the clock counts ticks.
 */
int merge_first(struct input *in, uint64_t first, struct error *e);

static inline int64_t merge_wall(const struct input *in)
{
	return (int64_t)((uint64_t)in->wall - (uint64_t)in->shift);
}

/* time + shift; before the clock's beginning it is 0. time is below TIME_LIMIT. */
static inline uint64_t merge_shifted(uint64_t time, int64_t shift)
{
	return shift < 0 && time < -(uint64_t)shift ? 0 : time + (uint64_t)shift;
}

/* The last time of the input itself that is not above until when shifted; UINT64_MAX is for ever.
 * false: all of them are. */
static inline bool merge_unshifted(uint64_t until, int64_t shift, uint64_t *limit)
{
	uint64_t back = until - (uint64_t)shift;

	if (until == UINT64_MAX || (shift < 0 && back < until))
		back = UINT64_MAX;
	*limit = back;
	return shift <= 0 || until >= (uint64_t)shift;
}

/* Inputs whose clocks have nothing in common are refused, but for those that an offset places.
 * Called once all have begun. */
int merge_check_clocks(const struct input *inputs, int n, struct error *e);

/* Run all to their ends or up to that time, the lowest time first, ties in the order of the inputs.
 */
int merge_run(struct input *inputs, int n, uint64_t last, struct error *e);

#endif
