/*
 * strata.c - do two properties of calls go together, among calls that are alike in a third one?
 */
#include "common/util/strata.h"

#include <math.h>
#include <stdlib.h>

int strata_init(struct strata *s, uint32_t n, uint32_t slow)
{
	*s = (struct strata){.of = calloc((size_t)n + 1, sizeof(*s->of)),
			     .count = 1,
			     .log_factorial = calloc((size_t)n + 1, sizeof(*s->log_factorial))};
	if (!s->of || !s->log_factorial)
		return -1;
	for (uint32_t i = 2; i <= n; i++)
		s->log_factorial[i] = s->log_factorial[i - 1] + log(i);
	s->of[0] = (struct stratum){.n = n, .s = slow};
	return 0;
}

void strata_free(struct strata *s)
{
	free(s->of);
	free(s->log_factorial);
}

double z_of(double excess, double variance)
{
	return variance > 1e-9 ? excess / sqrt(variance) : 0;
}

static double stratum_excess(const struct stratum *k)
{
	return k->a - (double)k->m * k->s / k->n;
}

double strata_z(const struct strata *s)
{
	double excess = 0, variance = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		excess += stratum_excess(&s->of[i]);
		variance += stratum_variance(&s->of[i]);
	}
	return z_of(excess, variance);
}

/* --- p --- */

static double log_choose(const struct strata *s, uint32_t n, uint32_t k)
{
	return s->log_factorial[n] - s->log_factorial[k] - s->log_factorial[n - k];
}

/* Get the logarithm of the probability that of m calls, taken from n with s slow ones, x are slow.
 */
static double log_hypergeometric(const struct strata *s, const struct stratum *k, uint32_t x)
{
	return log_choose(s, k->s, x) + log_choose(s, k->n - k->s, k->m - x) -
	       log_choose(s, k->n, k->m);
}

static uint32_t stratum_least(const struct stratum *k)
{
	return k->m + k->s > k->n ? k->m + k->s - k->n : 0;
}

static uint32_t stratum_most(const struct stratum *k)
{
	return k->m < k->s ? k->m : k->s;
}

double strata_least_p(const struct strata *s, const struct stratum *k, bool larger)
{
	double most = exp(log_hypergeometric(s, k, stratum_most(k)));
	double least = exp(log_hypergeometric(s, k, stratum_least(k)));

	return larger ? most : 2 * (most < least ? most : least);
}

/* The probabilities of sums, from least on. */
struct sums {
	double *p;
	size_t n, least;
};

/* Add an independent number to the sums: what is slow of the calls with the property in a stratum.
 */
static int sums_add(const struct strata *s, struct sums *to, const struct stratum *k)
{
	enum { NEGLIGIBLE = -300 }; /* logarithm of a probability */
	uint32_t least = stratum_least(k), most = stratum_most(k);
	struct sums sum;

	while (least < most && log_hypergeometric(s, k, least) < NEGLIGIBLE)
		least++;
	while (least < most && log_hypergeometric(s, k, most) < NEGLIGIBLE)
		most--;
	sum = (struct sums){.n = to->n + most - least, .least = to->least + least};
	sum.p = calloc(sum.n, sizeof(*sum.p));
	for (uint32_t x = least; sum.p && x <= most; x++) {
		double p = exp(log_hypergeometric(s, k, x));

		for (size_t i = 0; i < to->n; i++)
			sum.p[i + x - least] += p * to->p[i];
	}
	free(to->p);
	*to = sum;
	return sum.p ? 0 : -1;
}

/* Get both tails from the exact distribution of the sum of a. Returns -1 when out of memory. */
static int exact_tails(const struct strata *s, size_t a, double tail[2])
{
	struct sums sums = {.n = 1, .p = calloc(1, sizeof(double))};
	int bad = sums.p ? 0 : -1;

	if (!bad)
		sums.p[0] = 1;
	for (uint32_t i = 0; i < s->count && !bad; i++)
		bad = sums_add(s, &sums, &s->of[i]);
	tail[0] = tail[1] = 0;
	for (size_t i = 0; i < sums.n && !bad; i++) {
		if (sums.least + i <= a)
			tail[0] += sums.p[i];
		if (sums.least + i >= a)
			tail[1] += sums.p[i];
	}
	free(sums.p);
	return bad;
}

double strata_p(const struct strata *s, bool larger)
{
	/* where the normal distribution is used: its error is then below that of the correction for
	 * many tests */
	enum { VARIANCE_MOST = 400 };
	double excess = 0, variance = 0, tail[2];
	size_t a = 0, of_several = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct stratum *k = &s->of[i];

		a += k->a;
		excess += stratum_excess(k);
		variance += stratum_variance(k);
		of_several += stratum_variance(k) > 0;
	}
	if (!of_several)
		return 1;
	if (variance > VARIANCE_MOST && of_several > 1) {
		tail[0] = erfc(-(excess + 0.5) / sqrt(2 * variance)) / 2;
		tail[1] = erfc((excess - 0.5) / sqrt(2 * variance)) / 2;
	} else if (exact_tails(s, a, tail)) {
		return -1;
	}
	if (larger || tail[1] < tail[0])
		tail[0] = tail[1];
	return fmin(larger ? tail[0] : 2 * tail[0], 1);
}

/* --- the ratio of risks --- */

/* The calls of a stratum, scaled up to all calls, plus `more` in each number: a slow with what is
 * compared, b not slow with it, d slow without it, e neither. n: calls of the sample. */
struct scaled {
	double a, b, d, e, n;
};

static struct scaled scaled_of(const struct stratum *k, const struct risk_ratio *r, double more)
{
	struct scaled x = {.a = r->per_slow * (k->a + more),
			   .b = r->per_other * (k->m - k->a + more),
			   .d = r->per_slow * (k->s - k->a + more),
			   .e = r->per_other * (k->n - k->s - (k->m - k->a) + more),
			   .n = k->n + 4 * more};

	return r->without ? (struct scaled){x.d, x.e, x.a, x.b, x.n} : x;
}

/* Test whether a stratum has calls with the property and without it: others have no information
 * on the ratio of their risks (Greenland and Robins 1985). */
static bool stratum_compares(const struct stratum *k)
{
	return k->m && k->m < k->n;
}

/* Sums of the ratio: of the risk with the property and without it. */
struct risk_sums {
	double with, without;
};

static struct risk_sums risks_of(const struct strata *s, const struct risk_ratio *r, double more)
{
	struct risk_sums sum = {0};

	for (uint32_t i = 0; i < s->count; i++) {
		const struct stratum *k = &s->of[i];
		struct scaled x = scaled_of(k, r, more * k->n);

		if (!stratum_compares(k))
			continue;
		sum.with += x.a * (x.d + x.e) / x.n;
		sum.without += x.d * (x.a + x.b) / x.n;
	}
	return sum;
}

/* A sum over the calls of a sample: of the influence of each, and its square. */
struct influences {
	double sum, squares;
};

/* Add calls that count for `per` calls each. */
static void influences_add(struct influences *to, double calls, double per, double influence)
{
	to->sum += calls * influence;
	to->squares += calls * per * influence * influence;
}

/* Get the variance of the logarithm of the ratio. */
static double ratio_variance(const struct strata *s, const struct risk_ratio *r,
			     const struct risk_sums *sum, double more)
{
	struct influences slow = {0}, others = {0};
	double n = 0, nslow = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct stratum *k = &s->of[i];
		struct scaled x = scaled_of(k, r, more * k->n);
		double with = 1 / (x.n * sum->with), without = 1 / (x.n * sum->without);

		n += k->n;
		nslow += k->s;
		if (!stratum_compares(k))
			continue;
		influences_add(&slow, x.a, r->per_slow, (x.d + x.e) * with - x.d * without);
		influences_add(&slow, x.d, r->per_slow, x.a * with - (x.a + x.b) * without);
		influences_add(&others, x.b, r->per_other, -x.d * without);
		influences_add(&others, x.e, r->per_other, x.a * with);
	}
	/* the sizes of the samples are fixed */
	return fmax(slow.squares - slow.sum * slow.sum / nslow + others.squares -
			    others.sum * others.sum / (n - nslow),
		    0);
}

void strata_ratio(const struct strata *s, struct risk_ratio *r)
{
	struct risk_sums sum = risks_of(s, r, 0);
	double more = 0, calls = 0, width;

	if (!(sum.with > 0) || !(sum.without > 0)) {
		/* no call of one kind is slow: half a call more in each number, of all strata */
		for (uint32_t i = 0; i < s->count; i++)
			calls += stratum_compares(&s->of[i]) ? s->of[i].n : 0;
		more = 1 / (2 * fmax(calls, 1));
		sum = risks_of(s, r, more);
	}
	width = 1.96 * sqrt(r->inflation * ratio_variance(s, r, &sum, more));
	r->ratio = sum.with / sum.without;
	r->low = r->ratio * exp(-width);
	r->high = r->ratio * exp(width);
}

/* --- bursts --- */

/* Replace n values by the sums of pairs, over the root of 2, and add the squares of the differences
 * of the pairs to *squares: one step of Haar's transform. Returns the number of sums. */
static size_t haar_step(double *v, size_t n, double *squares)
{
	for (size_t i = 0; i + 1 < n; i += 2) {
		double a = v[i], b = v[i + 1];

		*squares += (a - b) * (a - b) / 2;
		v[i / 2] = (a + b) * M_SQRT1_2;
	}
	if (n % 2)
		*squares += v[n - 1] * v[n - 1];
	return n / 2;
}

double series_inflation(double *x, double *y, size_t n)
{
	double xx = 0, yy = 0, sum = 0, white;

	for (size_t i = 0; i < n; i++) {
		xx += x[i] * x[i];
		yy += y[i] * y[i];
	}
	white = xx * yy / (double)(n ? n : 1);
	for (size_t left = n; left > 1;) {
		double of_x = 0, of_y = 0, differences = (double)(left - left / 2);

		haar_step(x, left, &of_x);
		left = haar_step(y, left, &of_y);
		sum += of_x * of_y / differences;
	}
	return sum > white && white > 0 ? sum / white : 1;
}
