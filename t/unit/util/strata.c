/*
 * Tests in strata against counting all ways in which calls can be slow, and the variance of sums of
 * series with bursts against that of many such series.
 */
#include "common/util/strata.h"
#include "t/unit/tap.h"

#include <math.h>
#include <stdlib.h>

/* Count the ways of two strata in which as many or more calls with the property are slow as are,
 * and as few or fewer, by the choice of the slow ones; the first m calls have the property. */
static void count_ways(const struct stratum *k, unsigned a, double share[2])
{
	double all = 0, ways[2] = {0};

	for (unsigned x = 0; x < 1u << k[0].n; x++)
		for (unsigned y = 0; y < 1u << k[1].n; y++) {
			unsigned slow = (unsigned)__builtin_popcount(x & ((1u << k[0].m) - 1)) +
					(unsigned)__builtin_popcount(y & ((1u << k[1].m) - 1));

			if ((unsigned)__builtin_popcount(x) != k[0].s ||
			    (unsigned)__builtin_popcount(y) != k[1].s)
				continue;
			all++;
			ways[0] += slow <= a;
			ways[1] += slow >= a;
		}
	share[0] = ways[0] / all;
	share[1] = ways[1] / all;
}

static void all_ways(void)
{
	const struct stratum of[][2] = {{{8, 3, 4, 3}, {7, 2, 3, 2}},
					{{9, 4, 2, 0}, {6, 3, 5, 2}},
					{{10, 5, 5, 3}, {1, 1, 1, 1}},
					{{5, 1, 4, 1}, {9, 2, 1, 1}}};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct strata s;
		double share[2], less;

		ok(!strata_init(&s, 20, 5), "strata");
		s.of[0] = of[i][0];
		s.of[1] = of[i][1];
		s.count = 2;
		count_ways(of[i], of[i][0].a + of[i][1].a, share);
		less = share[0] < share[1] ? share[0] : share[1];
		ok(fabs(strata_p(&s, true) - share[1]) < 1e-12, "p of as many or more");
		ok(fabs(strata_p(&s, false) - fmin(2 * less, 1)) < 1e-12, "p to either side");
		strata_free(&s);
	}
}

/* The ratio of one stratum is that of its shares; that of several is on the side of the test, even
 * where most of the other calls are in a stratum without information. */
static void ratios(void)
{
	struct risk_ratio r = {.per_other = 100, .per_slow = 2, .inflation = 1};
	struct strata s;
	double ratio;

	ok(!strata_init(&s, 5000, 40), "one stratum");
	s.of[0] = (struct stratum){.n = 1000, .s = 40, .m = 100, .a = 30};
	strata_ratio(&s, &r);
	ratio = 60 / (60 + 7000.0) / (20 / (20 + 89000.0));
	ok(fabs(r.ratio / ratio - 1) < 1e-9, "the ratio of the risks");
	ok(r.low > 1 && r.high > r.ratio, "its interval");
	/* one other call in a stratum of many slow ones counts for 100 */
	s.of[1] = (struct stratum){.n = 2001, .s = 2000, .m = 1000, .a = 999};
	s.count = 2;
	ok(strata_z(&s) > 5, "z is that of the first stratum");
	strata_ratio(&s, &r);
	ok(r.low > 1, "and so is the ratio");
	strata_free(&s);
}

static double uniform(void)
{
	return rand() / (RAND_MAX + 1.0);
}

/* Make a series of bursts of some length, with the mean 0. */
static void bursts(double *x, size_t n, double rare, double length)
{
	bool now = false;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (uniform() < (now ? 1 / length : rare / length / (1 - rare)))
			now = !now;
		sum += x[i] = now;
	}
	for (size_t i = 0; i < n; i++)
		x[i] -= sum / (double)n;
}

static void series(void)
{
	enum { N = 3001, TRIALS = 400 };
	static const double length[][2] = {{1.1, 1.1}, {1.1, 50}, {30, 1.1}, {20, 20}, {40, 10}};
	static double x[N], y[N];

	srand(1);
	for (size_t k = 0; k < sizeof length / sizeof *length; k++) {
		double squares = 0, white = 0, said = 0;

		for (int i = 0; i < TRIALS; i++) {
			double xy = 0, xx = 0, yy = 0;

			bursts(x, N, 0.1, length[k][0]);
			bursts(y, N, 0.05, length[k][1]);
			for (size_t j = 0; j < N; j++) {
				xy += x[j] * y[j];
				xx += x[j] * x[j];
				yy += y[j] * y[j];
			}
			squares += xy * xy;
			white += xx * yy / N;
			said += series_inflation(x, y, N) * xx * yy / N;
		}
		printf("# bursts of %g and %g: %.3g times the variance of white series, %.3g\n",
		       length[k][0], length[k][1], squares / white, said / white);
		ok(said / squares > 0.8 && said / squares < 1.3, "the variance with bursts");
	}
	for (size_t j = 0; j < N; j++)
		x[j] = y[j] = (j % 50 == 7) - (j < 3000) / 50.0;
	ok(series_inflation(x, y, N) < 1.5, "what is periodic has no bursts");
	ok(series_inflation(x, y, 0) == 1 && series_inflation(x, y, 1) == 1, "no series");
}

int main(void)
{
	all_ways();
	ratios();
	series();
	return done();
}
