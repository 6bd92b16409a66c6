#include "cmd/trstat/groups/stddev.h"

#include <errno.h>
#include <stdbool.h>

struct u256 {
	uint128 high, low;
};

int squares_merge(struct squares *into, const struct squares *from)
{
	uint128 low;
	uint64_t high;

	if (__builtin_add_overflow(into->high, from->high, &high) ||
	    (__builtin_add_overflow(into->low, from->low, &low) && ++high == 0)) {
		errno = EOVERFLOW;
		return -1;
	}
	into->low = low;
	into->high = high;
	return 0;
}

static struct u256 multiply(uint128 a, uint128 b)
{
	uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
	uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
	uint128 p00 = (uint128)a0 * b0, p01 = (uint128)a0 * b1, p10 = (uint128)a1 * b0;
	uint128 middle = (p00 >> 64) + (uint64_t)p01 + (uint64_t)p10;

	return (struct u256){
		.high = (uint128)a1 * b1 + (p01 >> 64) + (p10 >> 64) + (middle >> 64),
		.low = middle << 64 | (uint64_t)p00,
	};
}

static bool not_above(struct u256 a, struct u256 b)
{
	return a.high < b.high || (a.high == b.high && a.low <= b.low);
}

/* Returns a power of two that is not below the square root; at most 2^127, see stddev_of. */
static uint128 root_bound(struct u256 a)
{
	int bits = 0;

	for (uint128 top = a.high ? a.high : a.low; top; top >>= 1)
		bits++;
	bits = (bits + (a.high ? 128 : 0) + 1) / 2;
	return (uint128)1 << (bits < 127 ? bits : 127);
}

uint64_t stddev_of(uint64_t n, int128 signed_sum, const struct squares *squares)
{
	uint128 sum = magnitude(signed_sum);
	struct u256 v, sum2;
	uint128 low, high, bound;

	if (!n)
		return 0;

	/* v = 4 n^2 variance = 4 (n * squares - sum^2). The variance is below 2^126, so v fits. */
	v = multiply(squares->low, n);
	v.high += (uint128)squares->high * n;
	sum2 = multiply(sum, sum);
	if (not_above(v, sum2))
		return 0;
	v.high -= sum2.high + (v.low < sum2.low);
	v.low -= sum2.low;
	v.high = v.high << 2 | v.low >> 126;
	v.low <<= 2;

	/* The largest s with ((2 s - 1) n)^2 <= v: it lies in [low, high). */
	bound = root_bound(v) / n;
	low = 0;
	high = bound / 2 + 2;
	if (high >
	    ((uint128)1 << 63) + 1) /* no standard deviation of 64-bit values is above 2^63 */
		high = ((uint128)1 << 63) + 1;
	while (high - low > 1) {
		uint128 s = low + (high - low) / 2;
		uint128 root = (2 * s - 1) * n;

		if (not_above(multiply(root, root), v))
			low = s;
		else
			high = s;
	}
	return (uint64_t)low;
}
