/* Buckets of the histogram, its quantiles beside exact ones, and sums of two. */
#include "t/unit/tap.h"

#include "common/util/histogram.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t state = 88172645463325252u;

static uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1du;
}

/* Distributions of times as programs have them, and those that are hard on buckets. */
static uint64_t draw(int distribution, unsigned i)
{
	uint64_t r = random64();

	switch (distribution) {
	case 0: return r % 1000;					    /* small, uniform */
	case 1: return r >> (r & 63);					    /* every octave alike */
	case 2: return 100 + (r & 4095) * ((r >> 12) & 255);		    /* skewed */
	case 3: return r % 100 < 95 ? 500 + r % 50 : 1000000 + r % 1000000; /* two humps */
	case 4: return 12345;						    /* constant */
	case 5: return i;						    /* rising */
	case 6: return 50000000 - i;					    /* falling */
	case 7: return r;						    /* the whole range */
	default: return UINT64_MAX - (r & 1);
	}
}

#define DISTRIBUTIONS 9

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool same(const struct histogram *a, const struct histogram *b)
{
	struct histogram_iterator i, j;
	struct histogram_bucket x, y;
	bool more;

	histogram_begin(&i, a);
	histogram_begin(&j, b);
	do {
		more = histogram_next(&i, &x);
		if (more != histogram_next(&j, &y))
			return false;
		if (more && (x.index != y.index || x.count != y.count))
			return false;
	} while (more);
	return true;
}

static void buckets(void)
{
	bool cover = true, found = true, middle = true, order = true;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_low(i), high = histogram_high(i), m = histogram_middle(i);
		uint64_t off = high - m > m - low ? high - m : m - low;

		cover &= i == 0 ? low == 0 : low == histogram_high(i - 1) + 1;
		found &= histogram_index(low) == i && histogram_index(high) == i;
		order &= low <= m && m <= high;
		middle &= (unsigned __int128)off << (HISTOGRAM_PRECISION + 1) <= low;
	}
	ok(cover && histogram_high(HISTOGRAM_BUCKETS - 1) == UINT64_MAX,
	   "buckets cover all values, without overlap");
	ok(found, "the ends of a bucket are in it");
	ok(order && middle, "the middle is within 2^-8 of every value of its bucket");
}

static void quantiles(void)
{
	static const uint64_t q[][2] = {{0, 1},	   {1, 100},	{1, 10},	 {1, 2}, {9, 10},
					{99, 100}, {999, 1000}, {99999, 100000}, {1, 1}};
	static const unsigned sizes[] = {1, 2, 7, 100, 20000};

	for (int d = 0; d < DISTRIBUTIONS; d++) {
		bool good = true;

		for (unsigned s = 0; s < 5; s++) {
			struct histogram h = {0};
			unsigned n = sizes[s];
			uint64_t *v = malloc(n * sizeof *v);

			for (unsigned i = 0; i < n; i++) {
				v[i] = draw(d, i);
				good &= !histogram_add(&h, v[i]);
			}
			qsort(v, n, sizeof *v, by_value);
			good &= histogram_count(&h) == n;
			for (unsigned k = 0; k < sizeof q / sizeof q[0]; k++) {
				uint64_t rank = (n * q[k][0] + q[k][1] - 1) / q[k][1];
				uint64_t exact = v[rank ? rank - 1 : 0];
				uint64_t got =
					histogram_quantile(&h, q[k][0], q[k][1], v[0], v[n - 1]);
				uint64_t off = got > exact ? got - exact : exact - got;

				good &= off <= exact >> (HISTOGRAM_PRECISION + 1);
				if (rank <= 1 || rank == n)
					good &= got == exact;
				if (!good) {
					printf("# distribution %d, n %u: got %" PRIu64
					       ", exact %" PRIu64 "\n",
					       d, n, got, exact);
					break;
				}
			}
			histogram_free(&h);
			free(v);
		}
		ok(good, "quantiles are within 2^-8 of the exact ones");
	}
}

static void merges(void)
{
	for (int d = 0; d < DISTRIBUTIONS; d++) {
		struct histogram whole = {0}, part[5] = {0}, left = {0}, right = {0};
		bool good = true;

		for (unsigned i = 0; i < 5000; i++) {
			uint64_t v = draw(d, i);

			good &= !histogram_add(&whole, v);
			good &= !histogram_add(&part[i < 10 ? 0 : random64() % 5], v);
		}
		for (int i = 0; i < 5; i++) {
			good &= !histogram_merge(&left, &part[i]);
			good &= !histogram_merge(&right, &part[4 - i]);
		}
		ok(good && same(&whole, &left) && same(&whole, &right),
		   "a merge in any order is the single run");
		for (int i = 0; i < 5; i++)
			histogram_free(&part[i]);
		histogram_free(&whole);
		histogram_free(&left);
		histogram_free(&right);
	}
}

static void edges(void)
{
	struct histogram h = {0}, big = {0};
	struct histogram_iterator it;
	struct histogram_bucket b;

	is_u64(histogram_quantile(&h, 1, 2, 0, UINT64_MAX), 0, "no values: 0");
	is_u64(histogram_count(&h), 0, "no values: count 0");
	histogram_begin(&it, &h);
	ok(!histogram_next(&it, &b), "no values: no buckets");
	ok(!histogram_merge(&h, &big), "nothing added to nothing");

	histogram_add(&h, 1000);
	is_u64(histogram_quantile(&h, 1, 2, 1000, 1000), 1000, "one value is given exactly");
	is_u64(histogram_quantile(&h, 1, 2, 0, UINT64_MAX), histogram_middle(histogram_index(1000)),
	       "extremes unknown: the middle");
	is_u64(histogram_quantile(&h, 1, 2, 5000, 6000), 5000, "clamped");

	errno = 0;
	ok(histogram_add_bucket(&h, HISTOGRAM_BUCKETS, 1) < 0 && errno == EINVAL, "no such bucket");
	ok(!histogram_add_bucket(&h, 3, 0) && histogram_count(&h) == 1, "zero more values");
	ok(!histogram_add_bucket(&big, 7, UINT64_MAX - 1) &&
		   histogram_count(&big) == UINT64_MAX - 1,
	   "counts of 64 bits");
	errno = 0;
	ok(histogram_add_bucket(&big, 7, 2) < 0 && errno == EOVERFLOW, "a count does not wrap");
	ok(!histogram_add_bucket(&big, 8, 2) && histogram_count(&big) == UINT64_MAX,
	   "the sum of counts does not wrap");
	is_u64(histogram_quantile(&big, 1, 1, 0, 8), 8, "and quantiles still end");
	histogram_free(&h);
	histogram_free(&big);

	for (int i = 0; i < 3; i++)
		ok(!histogram_add_bucket(&h, 9, ((uint64_t)1 << 47) - 1),
		   "counts beyond a sparse slot");
	is_u64(histogram_count(&h), 3 * (((uint64_t)1 << 47) - 1), "are all there");
	histogram_free(&h);
}

static void memory(void)
{
	struct histogram h = {0};

	for (unsigned i = 0; i < 40; i++)
		histogram_add(&h, (uint64_t)1 << i);
	ok(!h.span && h.capacity <= HISTOGRAM_SPARSE, "few scattered values stay sparse");
	histogram_free(&h);
	for (unsigned i = 0; i < 1000; i++)
		histogram_add(&h, 1000 + i % 100);
	ok(h.span && h.span <= 64, "close values get a small window");
	for (unsigned i = 0; i < 100000; i++)
		histogram_add(&h, i % 2 ? 1 : UINT64_MAX);
	ok(h.span == HISTOGRAM_BUCKETS, "which grows to the whole range");
	is_u64(histogram_count(&h), 101000, "without losing a value");
	histogram_free(&h);
	for (unsigned i = 0; i < 10000; i++)
		histogram_add(&h, i % 2 ? 10 : 50000);
	ok(h.span, "a busy sparse histogram becomes dense");
	is_u64(histogram_count(&h), 10000, "with all its values");
	histogram_free(&h);
}

int main(void)
{
	buckets();
	quantiles();
	merges();
	edges();
	memory();
	return done();
}
