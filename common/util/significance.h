/*
 * significance.h - tests whether values of one side are larger than those of another side
 */
#ifndef TR_UTIL_SIGNIFICANCE_H
#define TR_UTIL_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/u128.h"

struct histogram;

/*
 * Are the values of one sample larger than those of another?
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

/* Zero-initialised is empty. */
struct diff_sample {
	struct sample_value {
		uint64_t value, count;
	} * values; /* ascending, no count 0 */
	size_t size;
	uint64_t count; /* of all */
};

/* Convert a histogram to a sample of the middles of its buckets. Returns -1 when out of memory;
 * sample_free in any case. */
int sample_of_histogram(struct diff_sample *s, const struct histogram *h);
void sample_free(struct diff_sample *s);

struct rank_test {
	uint128 u2;	/* 2 U */
	double effect;	/* P(b > a) - P(b < a): from -1, all b less, to 1, all b larger */
	double z, p;	/* two-sided */
	double error;	/* standard deviation of U if there is no difference */
	double p_least; /* p if all values of one sample were above all of the other sample */
	int128 shift, shift_low, shift_high; /* of rank_shift */
};

/* Test two samples. Returns false if one is empty, or if counts exceed 2^62. */
bool rank_test(const struct diff_sample *a, const struct diff_sample *b, struct rank_test *out);

/*
 * Set the shift between the samples, b - a, by the estimator of Hodges and Lehmann: the median of
 * the differences of all pairs (the mean of the middle two, rounded down, where their number is
 * even). low and high: confidence interval for 1 - alpha (Hollander and Wolfe, 4.3). Time is
 * proportional to the number of different values. Neither sample may be empty.
 */
void rank_shift(const struct diff_sample *a, const struct diff_sample *b, struct rank_test *t,
		double alpha);

/*
 * Apply Holm's correction for n tests at once: each p becomes the least level of significance at
 * which its test still reports a difference. Returns -1 when out of memory.
 */
int holm_adjust(double *p, size_t n);

#endif
