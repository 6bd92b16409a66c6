/*
 * rank_test.h - are the values of one sample larger than those of another?
 *
 * The test of Mann, Whitney and Wilcoxon on values with counts, such as the buckets of two
 * histograms, all values of a bucket being ties. Over all pairs (a, b) of a value of each sample
 *
 *     U = number of pairs with b > a, and half of those with b == a
 *
 * whose distribution, if both samples are of one population, is taken for normal, with the variance
 * corrected for ties and a half for continuity (Hollander and Wolfe, Nonparametric Statistical
 * Methods, section 4.1). That is good from about eight values on; below it asks for more than an
 * exact test would, so it does not tell differences that are none.
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

/* The buckets of a histogram by their middles. -1: out of memory. sample_free in any case. */
int sample_of_histogram(struct sample *s, const struct histogram *h);
void sample_free(struct sample *s);

struct rank_test {
	uint128 u2;    /* 2 U */
	double effect; /* P(b > a) - P(b < a): from -1, all b less, to 1, all b larger */
	double z, p;   /* of both sides */
	double error; /* standard deviation of U under the hypothesis that there is no difference */
};

/* false: one of them is empty, or counts are beyond 2^62, which no trace has. */
bool rank_test(const struct sample *a, const struct sample *b, struct rank_test *out);

/*
 * The shift between the samples, b - a, as Hodges and Lehmann estimate it: the median of the
 * differences of all pairs (the mean of the middle two, rounded down, where their number is even).
 * low and high: where it lies with a probability of 1 - alpha (Hollander and Wolfe, 4.3). Takes
 * time in proportion to the number of different values. As rank_test it needs values.
 */
struct shift {
	int128 middle, low, high;
};
struct shift rank_shift(const struct sample *a, const struct sample *b, const struct rank_test *t,
			double alpha);

/*
 * Holm's correction for n tests at once: p of each becomes the least level of significance of all
 * of them at which it is still one. -1: out of memory.
 */
int holm_adjust(double *p, size_t n);

#endif
