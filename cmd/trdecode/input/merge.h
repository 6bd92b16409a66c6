/*
 * merge.h - merge several inputs into one stream, by time
 *
 * Functions that take e return 0, or -1 with *e filled.
 */
#ifndef TR_TRDECODE_INPUT_MERGE_H
#define TR_TRDECODE_INPUT_MERGE_H

#include "cmd/trdecode/decoder.h"

/*
 * Set the shift that --clock requires: CLOCK_WALL shifts the input's times to wall time, and fails
 * if the input does not record the wall time. Times of a shifted input are times of its own clock
 * plus in->shift; wall times are these plus merge_wall(in). Fails if the shift is TIME_LIMIT or
 * more; of a wall time as far from that of the clock, reports damage and forgets it.
 */
int merge_choose_clock(struct input *in, struct error *e);

/*
 * Set in->next from the time of the input's first event on its own clock, shifted. Fails if
 * --offset would shift the event to before time 0, or has a unit where the clock counts ticks.
 */
int merge_first(struct input *in, uint64_t first, struct error *e);

static inline int64_t merge_wall(const struct input *in)
{
	return (int64_t)((uint64_t)in->wall - (uint64_t)in->shift);
}

/* Return time + shift, or 0 where the sum is negative, or UINT64_MAX where 64 bits are too few, as
 * only a time of TIME_LIMIT or later can make it. */
static inline uint64_t merge_shifted(uint64_t time, int64_t shift)
{
	uint64_t sum = time + (uint64_t)shift;

	if (shift < 0)
		return sum < time ? sum : 0;
	return sum < time ? UINT64_MAX : sum;
}

/* Find the last time of the input's own clock that is at most until when shifted; UINT64_MAX is
 * no limit. Return false if all times are later. */
static inline bool merge_unshifted(uint64_t until, int64_t shift, uint64_t *limit)
{
	uint64_t back = until - (uint64_t)shift;

	if (until == UINT64_MAX || (shift < 0 && back < until))
		back = UINT64_MAX;
	*limit = back;
	return shift <= 0 || until >= (uint64_t)shift;
}

/* Refuse inputs whose clocks have nothing in common, except those that have an --offset or are
 * aligned: of those, print a remark if some have ticks. Called once, after begin of all inputs. */
int merge_check_clocks(const struct input *inputs, int n, struct error *e);

/* Run all inputs to their ends or up to time `last`, the lowest time first, ties in the order of
 * the inputs. Events up to `last` that are after a later one in their input (decoder.in_order)
 * follow at the end, one input after another. */
int merge_run(struct input *inputs, int n, uint64_t last, struct error *e);

#endif
