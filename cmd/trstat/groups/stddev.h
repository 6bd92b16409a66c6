/*
 * stddev.h - the exact population standard deviation of 64-bit integers
 *
 * The sum of squares is kept in 192 bits, enough for 2^64 values of 64 bits, so it cannot wrap and
 * does not depend on the order of values. Only the result is rounded.
 */
#ifndef TR_TRSTAT_GROUPS_STDDEV_H
#define TR_TRSTAT_GROUPS_STDDEV_H

#include "common/util/u128.h"

#include <stdint.h>

/* All zero is the empty sum. */
struct squares {
	uint128 low;
	uint64_t high;
};

static inline void squares_add(struct squares *s, uint64_t value)
{
	s->high += __builtin_add_overflow(s->low, (uint128)value * value, &s->low);
}

/* Returns -1 if the sum does not fit, which takes more than 2^64 values. */
int squares_merge(struct squares *into, const struct squares *from);

/*
 * sqrt(mean of squares - square of mean), rounded to the nearest integer, halves up: the result s
 * has (s - 1/2)^2 <= variance < (s + 1/2)^2. n values (0 gives 0) with that sum and sum of squares.
 */
uint64_t stddev_of(uint64_t n, int128 sum, const struct squares *squares);

#endif
