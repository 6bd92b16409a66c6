/* links: cmd/trstat */
/* Counts of distinct values: exact for few, estimated for many, and merged. */
#include "t/unit/tap.h"

#include "cmd/trstat/groups.h"

#include <errno.h>
#include <math.h>

static bool fill(struct distinct *d, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		if (distinct_add(d, distinct_hash_number(i)))
			return false;
	}
	return true;
}

int main(void)
{
	struct distinct d = {0}, a = {0}, b = {0};
	static const unsigned sizes[] = {4097, 6000, 20000, 100000, 1000000};

	is_u64(distinct_count(&d), 0, "nothing");
	ok(fill(&d, 0, 1000) && fill(&d, 500, 1000), "numbers, some twice");
	is_u64(distinct_count(&d), 1000, "counted once");
	ok(fill(&d, 0, DISTINCT_EXACT) && !d.registers, "still exact at 4096");
	is_u64(distinct_count(&d), DISTINCT_EXACT, "4096");
	ok(fill(&d, 0, DISTINCT_EXACT + 1) && d.registers, "an estimate from then on");
	distinct_free(&d);

	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		double error;

		fill(&d, 0, sizes[i]);
		error = fabs((double)distinct_count(&d) / sizes[i] - 1);
		printf("# %u: off by %.3f %%\n", sizes[i], 100 * error);
		ok(error < 4 * 0.0081, "within four standard errors");
		distinct_free(&d);
	}

	fill(&d, 0, 9000);
	fill(&a, 0, 3000);
	fill(&b, 2000, 9000);
	ok(!distinct_merge(&a, &b) && !memcmp(a.registers, d.registers, DISTINCT_REGISTERS),
	   "exact and estimated merge to the single run");
	distinct_free(&a);
	distinct_free(&b);
	fill(&a, 0, 4000);
	fill(&b, 3000, 9000);
	ok(!distinct_merge(&b, &a) && !memcmp(b.registers, d.registers, DISTINCT_REGISTERS),
	   "the other way round too");
	distinct_free(&a);
	distinct_free(&b);
	fill(&a, 0, 3000);
	fill(&b, 1000, 4000);
	ok(!distinct_merge(&a, &b) && !a.registers, "exact and exact stay exact");
	is_u64(distinct_count(&a), 4000, "with the right number");
	distinct_free(&a);
	distinct_free(&b);

	ok(!distinct_add(&a, 0) && !distinct_add(&a, 0), "the hash 0 is as good as any");
	is_u64(distinct_count(&a), 1, "and counted once");
	ok(!distinct_merge(&b, &a), "and merged");
	is_u64(distinct_count(&b), 1, "once");
	distinct_free(&b);

	for (unsigned i = 0; i < DISTINCT_REGISTERS; i++)
		distinct_raise(&b, i, 51);
	is_u64(distinct_count(&b), UINT64_MAX, "full registers count as much as there can be");
	errno = 0;
	ok(distinct_raise(&b, DISTINCT_REGISTERS, 1) && errno == EINVAL, "no such register");
	ok(distinct_raise(&b, 0, 52) && distinct_raise(&b, 0, 0), "no such rank");

	ok(distinct_hash_number(-1) != distinct_hash_number(UINT64_MAX), "-1 is not 2^64 - 1");
	ok(distinct_hash_bytes("", 0) != distinct_hash_bytes("\0", 1), "lengths count");
	ok(distinct_hash_bytes("abcdefghi", 9) != distinct_hash_bytes("abcdefghj", 9),
	   "tails count");
	distinct_free(&a);
	distinct_free(&b);
	distinct_free(&d);
	return done();
}
