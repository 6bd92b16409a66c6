/*
 * rank_test.h - are the values of one sample larger than those of another?
 *
 * The test of Mann, Whitney and Wilcoxon on values with counts, such as the buckets of two
 * histograms, all values of a bucket being ties. Over all pairs (a, b) of values of the two samples
 *
 *     U = number of pairs with b > a, and half of those with b == a
 *
 * If both samples are of one population, the distribution of U is approximately normal. The
 * variance is corrected for ties, and U by a half for continuity (Hollander and Wolfe,
 * Nonparametric Statistical Methods, section 4.1). The approximation is good from about eight
 * values on. With fewer values the test is stricter than an exact test, so it reports no false
 * differences.
 */
#ifndef TR_TRSTAT_VIEWS_RANK_TEST_H
#define TR_TRSTAT_VIEWS_RANK_TEST_H

#include "common/util/histogram.h"
#include "common/util/u128.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. */
struct sample {
	struct sample_value {
		uint64_t value, count;
	} * values; /* ascending, no count 0 */
	size_t size;
	uint64_t count; /* of all */
};

/* Convert a histogram to a sample of the middles of its buckets. Returns -1 when out of memory;
 * sample_free in any case. */
int sample_of_histogram(struct sample *s, const struct histogram *h);
void sample_free(struct sample *s);

struct rank_test {
	uint128 u2;	/* 2 U */
	double effect;	/* P(b > a) - P(b < a): from -1, all b less, to 1, all b larger */
	double z, p;	/* two-sided */
	double error;	/* standard deviation of U if there is no difference */
	double p_least; /* p if all values of one sample were above all of the other sample */
};

/* Test two samples. Returns false if one is empty, or if counts exceed 2^62. */
bool rank_test(const struct sample *a, const struct sample *b, struct rank_test *out);

/*
 * The shift between the samples, b - a, by the estimator of Hodges and Lehmann: the median of the
 * differences of all pairs (the mean of the middle two, rounded down, where their number is even).
 * low and high: confidence interval for 1 - alpha (Hollander and Wolfe, 4.3). Time is proportional
 * to the number of different values. Neither sample may be empty.
 */
struct shift {
	int128 middle, low, high;
};
struct shift rank_shift(const struct sample *a, const struct sample *b, const struct rank_test *t,
			double alpha);

/*
 * Apply Holm's correction for n tests at once: each p becomes the least level of significance at
 * which its test still reports a difference. Returns -1 when out of memory.
 */
int holm_adjust(double *p, size_t n);

#endif
