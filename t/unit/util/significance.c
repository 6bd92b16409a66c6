/*
 * The rank test and the shift against what counting all pairs and all orders says.
 */
#include "common/util/histogram.h"
#include "common/util/significance.h"
#include "t/unit/tap.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 64 };

static struct diff_sample sample_of(struct sample_value *room, const uint64_t *v, size_t n)
{
	struct diff_sample s = {.values = room, .count = n};

	for (size_t i = 0; i < n; i++) { /* v ascends */
		if (!s.size || room[s.size - 1].value != v[i])
			room[s.size++] = (struct sample_value){v[i], 0};
		room[s.size - 1].count++;
	}
	return s;
}

static int ascending(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

static int ascending_signed(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

static uint64_t twice_u(const uint64_t *a, size_t na, const uint64_t *b, size_t nb)
{
	uint64_t u2 = 0;

	for (size_t i = 0; i < na; i++)
		for (size_t k = 0; k < nb; k++)
			u2 += b[k] > a[i] ? 2 : b[k] == a[i];
	return u2;
}

/* Mean and variance of U over all ways of taking nb of the values for b: the permutation
 * distribution that the formula with ties gives the variance of. */
static double variance_by_permutation(const uint64_t *all, size_t n, size_t nb)
{
	double sum = 0, squares = 0, ways = 0;

	for (uint32_t set = 0; set < 1u << n; set++) {
		uint64_t a[MOST], b[MOST];
		size_t na = 0, in_b = 0;
		double u;

		if ((size_t)__builtin_popcount(set) != nb)
			continue;
		for (size_t i = 0; i < n; i++) {
			if (set >> i & 1)
				b[in_b++] = all[i];
			else
				a[na++] = all[i];
		}
		u = (double)twice_u(a, na, b, in_b) / 2;
		sum += u;
		squares += u * u;
		ways++;
	}
	return squares / ways - sum / ways * (sum / ways);
}

static bool near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * (1 + fabs(b));
}

static int64_t floor_half(int64_t v)
{
	return v / 2 - (v < 0 && v % 2);
}

/* Random small samples with many ties. */
static void small_cases(void)
{
	bool u = true, variance = true, shifts = true, mirrored = true;

	srand(7);
	for (int round = 0; round < 300; round++) {
		size_t na = 1 + (size_t)rand() % 6, nb = 1 + (size_t)rand() % 6;
		uint64_t a[MOST], b[MOST], all[MOST], spread = 1 + (uint64_t)rand() % 12;
		struct sample_value room_a[MOST], room_b[MOST];
		int64_t differences[MOST], middle;
		struct rank_test t, back;
		struct diff_sample sa, sb;
		size_t n = 0;

		for (size_t i = 0; i < na; i++)
			all[i] = a[i] = 1000 + (uint64_t)rand() % spread;
		for (size_t i = 0; i < nb; i++)
			all[na + i] = b[i] = 1000 + (uint64_t)rand() % spread;
		qsort(a, na, sizeof(*a), ascending);
		qsort(b, nb, sizeof(*b), ascending);
		sa = sample_of(room_a, a, na);
		sb = sample_of(room_b, b, nb);
		u &= rank_test(&sa, &sb, &t) && t.u2 == twice_u(a, na, b, nb);
		variance &=
			near(t.error * t.error, variance_by_permutation(all, na + nb, nb), 1e-9);
		mirrored &= rank_test(&sb, &sa, &back) && near(back.p, t.p, 1e-12) &&
			    near(back.effect, -t.effect, 1e-12);
		for (size_t i = 0; i < na; i++)
			for (size_t k = 0; k < nb; k++)
				differences[n++] = (int64_t)b[k] - (int64_t)a[i];
		qsort(differences, n, sizeof(*differences), ascending_signed);
		middle = floor_half(differences[(n - 1) / 2] + differences[n / 2]);
		rank_shift(&sa, &sb, &t, 0.05);
		shifts &= t.shift == middle && t.shift_low <= middle && t.shift_high >= middle &&
			  t.shift_low >= differences[0] && t.shift_high <= differences[n - 1];
	}
	ok(u, "U is what counting pairs gives");
	ok(variance, "its variance is that over all orders, ties too");
	ok(mirrored, "the other way round it is the same with the other sign");
	ok(shifts, "the shift is the median of all differences");
}

/* Worked by hand: 1..10 against 11..20: U = 100, mean 50, variance 10*10*21/12 = 175. */
static void known_case(void)
{
	struct sample_value room_a[MOST], room_b[MOST];
	uint64_t a[10], b[10];
	struct diff_sample sa, sb;
	struct rank_test t;

	for (uint64_t i = 0; i < 10; i++) {
		a[i] = i + 1;
		b[i] = i + 11;
	}
	sa = sample_of(room_a, a, 10);
	sb = sample_of(room_b, b, 10);
	ok(rank_test(&sa, &sb, &t) && t.u2 == 200 && near(t.effect, 1, 1e-12), "all are larger");
	ok(near(t.z, 49.5 / sqrt(175), 1e-12), "z with the half for continuity");
	/* the two tails beyond 3.74185, of a table of the normal distribution */
	ok(near(t.p, 0.000182672, 1e-7), "p of both tails");
	rank_shift(&sa, &sb, &t, 0.05);
	/* 50 - 1.96 * 13.2288 = 24.07: the 24th of 100 differences, which are 10 + (j - i) */
	ok(t.shift == 10 && t.shift_low == 7 && t.shift_high == 13, "the shift and where it lies");
}

static void extremes(void)
{
	struct sample_value low = {0, 1ull << 62}, high = {UINT64_MAX, 1ull << 62};
	struct diff_sample a = {&low, 1, low.count}, b = {&high, 1, high.count}, none = {0};
	struct rank_test t;

	ok(rank_test(&a, &b, &t) && t.effect == 1 && t.p == 0, "the largest counts");
	rank_shift(&a, &b, &t, 0.01);
	ok(t.shift == UINT64_MAX, "the largest shift");
	rank_shift(&b, &a, &t, 0.01);
	ok(t.shift == -(int128)UINT64_MAX, "with its sign");
	ok(rank_test(&a, &a, &t) && t.p == 1 && t.effect == 0, "nothing but ties");
	ok(!rank_test(&a, &none, &t) && !rank_test(&none, &b, &t), "nothing to compare with");
	low.count = a.count = (1ull << 62) + 1;
	ok(!rank_test(&a, &b, &t), "counts that no trace has");
}

static void holm(void)
{
	/* 0.01*4, max(0.04, 0.02*3), 0.03*2, max(0.06, 0.04) */
	double p[] = {0.04, 0.01, 0.03, 0.02}, none = 0.3, large[] = {0.6, 0.7};

	ok(!holm_adjust(p, 4) && near(p[1], 0.04, 1e-12) && near(p[3], 0.06, 1e-12) &&
		   near(p[2], 0.06, 1e-12) && near(p[0], 0.06, 1e-12),
	   "Holm's correction of four");
	ok(!holm_adjust(&none, 1) && none == 0.3, "of one");
	ok(!holm_adjust(large, 2) && large[0] == 1 && large[1] == 1, "none beyond 1");
	ok(!holm_adjust(NULL, 0), "of none");
}

static void of_histograms(void)
{
	struct histogram h = {0};
	struct diff_sample s;

	for (uint64_t i = 0; i < 1000; i++)
		histogram_add(&h, i * 1000);
	ok(!sample_of_histogram(&s, &h) && s.count == 1000 && s.values[0].value == 0,
	   "the buckets of a histogram");
	for (size_t i = 1; i < s.size; i++)
		if (s.values[i].value <= s.values[i - 1].value || !s.values[i].count)
			ok(false, "they ascend");
	sample_free(&s);
	histogram_free(&h);
}

int main(void)
{
	small_cases();
	known_case();
	extremes();
	holm();
	of_histograms();
	return done();
}
