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

/* The example of significance.h: the limit of Student's distribution for 6 degrees of freedom is
 * 2.447, and for 5.88 it is 2.459, of a table. */
static void known_runs(void)
{
	const double value[] = {10.1, 9.9, 10.0, 10.2, 11.0, 11.2, 10.9, 11.1, /* total */
				7,    5,   6,	 5,    5,    6,	   7,	 6,    /* count */
				3,    3,   3,	 3,    3,    3,	   3,	 3};
	const double resolution[] = {0, 1, 1}, error = sqrt(1.0 / 60 / 2),
		     of_count = sqrt(1.0 / 4 + 0.75 / 4);
	struct run_change c[3];
	struct runs_test t = {
		.a = 4, .b = 4, .count = 3, .value = value, .resolution = resolution, .change = c};

	ok(!runs_test(&t, 0.05) && t.ways == 70 && near(t.p_least, 2.0 / 70, 1e-12),
	   "70 ways to divide 4 and 4 runs");
	ok(near(c[0].mean_a, 10.05, 1e-12) && near(c[0].mean_b, 11.05, 1e-12) && c[0].effect == 1,
	   "means, and all runs are larger");
	ok(near(c[0].low, 1 - 2.447 * error, 2e-3) && near(c[0].high, 1 + 2.447 * error, 2e-3),
	   "Welch's interval");
	ok(near(c[0].p, 2.0 / 70, 1e-12),
	   "no other way is as clear but the one with both exchanged");
	ok(near(c[1].low, 0.25 - 2.459 * of_count, 5e-3) &&
		   near(c[1].high, 0.25 + 2.459 * of_count, 5e-3) && c[1].p > 0.9,
	   "counts are known to one call");
	ok(c[2].tested && c[2].low == 0 && c[2].high == 0 && c[2].p == 1 && c[2].effect == 0,
	   "values that are all the same");
}

/* The limits of Student's distribution for 1, 2 and 4 degrees of freedom in closed form. */
static void few_degrees_of_freedom(void)
{
	static const double alphas[] = {0.9, 0.5, 0.05, 0.001, 1e-9};
	const double value[] = {0,  0, -1, 1, /* freedom 1 */
				-1, 1, -1, 1, /* 2 */
				0,  0, 0,  0},
		     of_4[] = {-1, 0, 1, -1, 0, 1}, resolution[] = {0, 0, 0};
	struct run_change c[3], d;
	struct runs_test t = {
		.a = 2, .b = 2, .count = 3, .value = value, .resolution = resolution, .change = c};
	struct runs_test u = {
		.a = 3, .b = 3, .count = 1, .value = of_4, .resolution = resolution, .change = &d};
	bool right = true;

	for (size_t i = 0; i < sizeof(alphas) / sizeof(*alphas); i++) {
		double alpha = alphas[i], x = sqrt(alpha * (2 - alpha));

		right &= !runs_test(&t, alpha) && !runs_test(&u, alpha);
		right &= fabs(c[0].high * tan(M_PI * alpha / 2) - 1) < 1e-9; /* error 1 */
		right &= fabs(c[1].high / (sqrt(2) * (1 - alpha) * sqrt(2) / x) - 1) < 1e-9;
		/* error sqrt(2 / 3) */
		right &= fabs(d.high / sqrt(2.0 / 3) / (2 * sqrt(cos(acos(x) / 3) / x - 1)) - 1) <
			 1e-6;
		right &= c[0].low == -c[0].high && c[2].high == 0;
	}
	ok(right, "the intervals are Welch's with 1, 2 and 4 degrees of freedom");
}

static void few_runs(void)
{
	const double value[] = {1, 2, 3, 10, 11, 12, 1, NAN, NAN, 2, NAN, NAN};
	const double resolution[] = {0, 0};
	struct run_change c[2];
	struct runs_test t = {
		.a = 3, .b = 3, .count = 2, .value = value, .resolution = resolution, .change = c};

	ok(!runs_test(&t, 0.05) && near(c[0].p, 0.1, 1e-12) && near(t.p_least, 0.1, 1e-12),
	   "3 and 3 runs cannot be significant");
	ok(!c[1].tested && c[1].mean_a == 1 && c[1].mean_b == 2, "one value each is no test");
	t.a = 1;
	t.b = 5;
	ok(!runs_test(&t, 0.05) && t.ways == 6 && near(t.p_least, 1.0 / 6, 1e-12) && c[0].tested,
	   "one run of a side");
	ok(runs_needed(0.05) == 4 && runs_needed(0.01) == 5 && runs_needed(0.2) == 3,
	   "runs that are enough");
}

/* Get Welch's t as a normal number, without a run, of a number below n; and the squares of the
 * differences from the means. */
static double welch_without(const double *value, const bool *in_b, size_t n, size_t without,
			    double *squares)
{
	double sum[2] = {0}, of[2] = {0}, count[2] = {0}, t, v, w;

	for (size_t i = 0; i < n; i++) {
		count[in_b[i]] += i != without;
		sum[in_b[i]] += i != without ? value[i] : 0;
	}
	for (size_t i = 0; i < n; i++)
		if (i != without)
			of[in_b[i]] += pow(value[i] - sum[in_b[i]] / count[in_b[i]], 2);
	*squares = of[0] + of[1];
	v = of[0] / (count[0] - 1) / count[0];
	w = of[1] / (count[1] - 1) / count[1];
	t = fabs(sum[1] / count[1] - sum[0] / count[0]) / sqrt(v + w);
	w = (v + w) * (v + w) / (v * v / (count[0] - 1) + w * w / (count[1] - 1));
	return (8 * w + 1) / (8 * w + 3) * sqrt(w * log(1 + t * t / w));
}

/* Compare p of random divisions with p of other ones, and sums of ranks with counts of pairs. */
static double clear_by_pairs(const double *value, const bool *in_b, size_t n)
{
	double mean[2] = {0}, count[2] = {0}, u = 0, ties = 0, most = 0, v, z, all, others;
	size_t far = 0;

	for (size_t i = 0; i < n; i++) {
		count[in_b[i]]++;
		mean[in_b[i]] += value[i];
		for (size_t k = 0, equal = 0; k < n; k++) {
			u += in_b[i] && !in_b[k]
				     ? (value[i] > value[k]) + 0.5 * (value[i] == value[k])
				     : 0;
			equal += value[i] == value[k];
			ties += k == n - 1 ? (double)(equal * equal) - 1 : 0;
		}
	}
	for (size_t i = 0; i < n; i++) {
		double off = fabs(value[i] - mean[in_b[i]] / count[in_b[i]]);

		far = off > most ? i : far;
		most = fmax(off, most);
	}
	z = welch_without(value, in_b, n, n, &all);
	v = welch_without(value, in_b, n, far, &others);
	if (all - others >= 49 * others / ((double)n - 3))
		z = fmax(z, v);
	v = count[0] * count[1] / 12 * ((double)n + 1 - ties / ((double)n * ((double)n - 1)));
	return fmax(z, fabs(u - count[0] * count[1] / 2) / sqrt(v));
}

static double uniform(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 0x1p53;
}

static void random_ways(void)
{
	enum { EACH = 10, RUNS = 2 * EACH, COUNT = 3, WAYS = 20000 };
	double value[COUNT * RUNS], real[COUNT], as_clear[COUNT] = {0};
	const double resolution[COUNT] = {0};
	struct run_change c[COUNT];
	struct runs_test t = {.a = EACH,
			      .b = EACH,
			      .count = COUNT,
			      .value = value,
			      .resolution = resolution,
			      .change = c};
	bool in_b[RUNS], as_expected = true;

	for (size_t i = 0; i < COUNT * RUNS; i++) /* with ties; the first ones change most */
		value[i] = floor(20 * uniform()) +
			   (i % RUNS < EACH ? 0 : 6.0 / (double)(1 + i / RUNS));
	value[3] = 90; /* one run is far off */
	ok(!runs_test(&t, 0.05) && t.ways == RUNS_WAYS + 1, "random ways of 184756");
	for (int way = 0; way <= WAYS; way++) {
		double z[COUNT], most = 0;

		for (size_t i = 0; i < RUNS; i++)
			in_b[i] = i >= EACH;
		for (size_t i = 0; way && i < RUNS; i++) {
			size_t with = i + (size_t)(uniform() * (double)(RUNS - i));
			bool b = in_b[i];

			in_b[i] = in_b[with];
			in_b[with] = b;
		}
		for (size_t k = 0; k < COUNT; k++)
			z[k] = clear_by_pairs(&value[k * RUNS], in_b, RUNS);
		for (size_t k = 0; !way && k < COUNT; k++)
			real[k] = z[k];
		for (size_t k = 0; k < COUNT; k++) {
			most = 0;
			for (size_t i = 0; i < COUNT; i++)
				most = real[i] <= real[k] ? fmax(most, z[i]) : most;
			as_clear[k] += way && most >= real[k] * (1 - 1e-9);
		}
	}
	for (size_t k = 0; k < COUNT; k++) {
		double p = 0;

		as_expected &= near(c[k].z, real[k], 1e-9);
		for (size_t i = 0; i < COUNT; i++)
			p = real[i] >= real[k] ? fmax(p, as_clear[i] / WAYS) : p;
		as_expected &= fabs(c[k].p - p) < 0.015; /* 3 standard deviations */
	}
	ok(as_expected, "p is that of other random ways");
}

enum noise { LOG_NORMAL, HEAVY_TAILS, DRIFT, TWO_MODES, RARE, BUCKETS, DISTURBED_RUNS, NOISES };
enum { STATISTICS = 40 };

static double log_normal(double deviation)
{
	return exp(deviation * sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()));
}

/* Make values of runs, of which only statistic 0 has changed by the factor. */
static void make_runs(double *value, double *resolution, enum noise noise, size_t each,
		      double factor)
{
	double machine[MOST];

	for (size_t r = 0; r < 2 * each; r++) {
		machine[r] = log_normal(0.02);
		if (noise == DRIFT)
			machine[r] *= 1 + 0.05 * (double)(r % each) / (double)each;
		if (noise == DISTURBED_RUNS && uniform() < 0.05)
			machine[r] *= 1.3;
	}
	for (size_t i = 0; i < STATISTICS; i++) {
		resolution[i] = noise == BUCKETS ? 8192 : 1;
		for (size_t r = 0; r < 2 * each; r++) {
			double x = 1e6 * machine[r] * log_normal(0.02);

			if (noise == HEAVY_TAILS && uniform() < 0.03)
				x *= 1.5;
			if (noise == TWO_MODES && uniform() < 0.5)
				x *= 1.05;
			if (noise == RARE && i >= 5)
				x = uniform() < 0.5;
			if (i == 0 && r >= each)
				x *= factor;
			value[i * 2 * each + r] = floor(x / resolution[i]) * resolution[i];
		}
	}
}

/* Count the tables in which something that has not changed is significant, and those in which
 * statistic 0 is. */
static void try_noise(enum noise noise, size_t each, double factor, int tables, int *wrong,
		      int *found)
{
	static double value[STATISTICS * MOST], resolution[STATISTICS];
	struct run_change c[STATISTICS];
	struct runs_test t = {.a = each,
			      .b = each,
			      .count = STATISTICS,
			      .value = value,
			      .resolution = resolution,
			      .change = c};

	*wrong = *found = 0;
	for (int i = 0; i < tables; i++) {
		bool any = false;

		make_runs(value, resolution, noise, each, factor);
		if (runs_test(&t, 0.05))
			return;
		for (size_t k = factor > 1; k < STATISTICS; k++)
			any |= c[k].p < 0.05;
		*wrong += any;
		*found += c[0].p < 0.05;
	}
}

/* With the level 0.05 an average of 5 of 100 tables may have a false report: of 700 tables 35, and
 * 47 or more in one of fifty cases. */
static void level_and_power(void)
{
	static const char *const names[NOISES] = {"log-normal",	   "heavy tails", "drift",
						  "two modes",	   "rare groups", "buckets",
						  "disturbed runs"};
	int wrong, found, all = 0;

	for (int noise = 0; noise < NOISES; noise++) {
		try_noise((enum noise)noise, 5, 1, 100, &wrong, &found);
		all += wrong;
		ok(wrong <= 10, names[noise]);
	}
	ok(all < 47, "nothing is significant in 95 of 100 tables without a change");
	for (int noise = 0; noise < NOISES; noise++) {
		/* two runs of 12 are disturbed in one of nine tables */
		int least = noise == HEAVY_TAILS || noise == DISTURBED_RUNS ? 34 : 38;

		try_noise((enum noise)noise, 6, 1.2, 40, &wrong, &found);
		ok(found >= least, "a change of 20 % is found");
	}
}

int main(void)
{
	small_cases();
	known_case();
	extremes();
	holm();
	of_histograms();
	known_runs();
	few_degrees_of_freedom();
	few_runs();
	random_ways();
	level_and_power();
	return done();
}
