/* links: cmd/trstat */
/* Standard deviations from exact sums of squares, beside those of a model. */
#include "t/unit/tap.h"

#include "cmd/trstat/groups.h"

#include <errno.h>

static uint64_t of(const uint64_t *v, size_t n)
{
	struct squares s = {0}, half[2] = {0};
	uint128 sum = 0;
	uint64_t whole;

	for (size_t i = 0; i < n; i++) {
		squares_add(&s, v[i]);
		squares_add(&half[i % 2], v[i]);
		sum += v[i];
	}
	whole = stddev_of(n, sum, &s);
	if (squares_merge(&half[0], &half[1]) || stddev_of(n, sum, &half[0]) != whole)
		printf("# a merge differs\n");
	return whole;
}

#define OF(...) of((const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8)

int main(void)
{
	uint64_t x = 1;
	bool good = true;
	struct squares full = {UINT128_MAX, UINT64_MAX}, one = {1, 0};

	is_u64(stddev_of(0, 0, &(struct squares){0}), 0, "of nothing");
	is_u64(OF(5), 0, "of one value");
	is_u64(OF(7, 7, 7, 7), 0, "of a constant");
	is_u64(OF(2, 4, 4, 4, 5, 5, 7, 9), 2, "the textbook's");
	is_u64(OF(1, 2), 1, "one half rounds up");
	is_u64(OF(0, 0, 1), 0, "0.471");
	is_u64(OF(1000000000000, 1000000000003), 2, "small on a large mean");
	is_u64(OF(0, UINT64_MAX), (uint64_t)1 << 63, "the largest there is");
	is_u64(OF(UINT64_MAX, UINT64_MAX, UINT64_MAX), 0, "of the largest value");
	is_u64(OF(0, 0, 0, UINT64_MAX), 7987674492471257550u, "sqrt(3) / 4 of the range");

	/* (s - 1/2)^2 <= variance < (s + 1/2)^2 in integers, for random data */
	for (int round = 0; round < 2000; round++) {
		struct squares s = {0};
		uint128 sum = 0, n2v, low, high;
		unsigned n = 1 + (unsigned)round % 37;
		uint64_t d;

		for (unsigned i = 0; i < n; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			squares_add(&s, x >> (20 + round % 40));
			sum += x >> (20 + round % 40);
		}
		d = stddev_of(n, sum, &s);
		n2v = 4 * (n * s.low - sum * sum);
		low = d ? (2 * (uint128)d - 1) * n : 0;
		high = (2 * (uint128)d + 1) * n;
		good &= low * low <= n2v && n2v < high * high;
	}
	ok(good, "rounded to the nearest integer, exactly");

	errno = 0;
	ok(squares_merge(&full, &one) && errno == EOVERFLOW, "a sum does not wrap");
	is_u64(stddev_of(3, 100, &one), 0, "sums that contradict each other give 0");
	return done();
}
