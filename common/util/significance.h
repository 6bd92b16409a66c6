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

/*
 * Many runs of two sides: which statistics of the runs have changed?
 *
 *              side A                  side B                  change
 *     total    10.1  9.9 10.0 10.2     11.0 11.2 10.9 11.1     +1.00 from 0.78 to 1.22, p 0.029
 *     count     7    5    6    5        5    6    7    6       +0.25 from -1.4 to 1.9, p 1
 *
 * The change is that of the mean over the runs. Its confidence interval, for 1 - alpha, is Welch's:
 * the sides may vary differently. A side with one value is taken to vary as the other side does.
 * Its limit is the exact one of Student's distribution. How clear a change is, is Welch's t,
 * converted to a standard normal number as Wallace (1959) does:
 *
 *     z = (8 n + 1) / (8 n + 3) sqrt(n ln(1 + t^2 / n))        n: degrees of freedom
 *
 * or, from RUNS_RANKED runs of each side on, the sum of ranks if that is clearer: single runs that
 * are far off change it little. Of fewer runs no sum of ranks is very clear. If the run that is
 * farthest from the mean of its side is RUNS_FAR standard deviations of the others off, with its
 * own share taken out of both, t without this run counts, too, if it is clearer: one disturbed run
 * does not hide a change.
 *
 * If nothing changed, the runs could as well have been divided otherwise among the two sides. p is
 * the share of all divisions (with 8 runs of 4 + 4: 70) for which any statistic, of those that are
 * not clearer than this one, is as clear as this one is: the step-down maxT method of Westfall and
 * Young (1993). So p is corrected for the number of statistics: if nothing changed, the probability
 * that some p is at most alpha is at most alpha, whatever the noise of the runs is and however the
 * statistics depend on each other. Of more divisions than RUNS_WAYS random ones are drawn, the same
 * ones each time.
 *
 * An error of the resolution is added to the variance of the runs, as that of equal values would be
 * 0: the square of the resolution / 12. By chance all runs of one side may have count 5 and those
 * of the other side count 6. If the values of both sides are the same, there is no error.
 */

enum {
	RUNS_RANKED = 10,
	RUNS_FOR_FAR = 4, /* of each side, from which on a run may be left out */
	RUNS_FAR = 7,
	RUNS_WAYS = 9999,      /* most divisions, but for a very small alpha */
	RUNS_MOST = UINT16_MAX /* most runs of both sides */
};

/* The change of a statistic. */
struct run_change {
	double mean_a, mean_b; /* NAN: no run has a value */
	double low, high;      /* confidence interval of mean_b - mean_a */
	/* of the pairs of a run of A and a run of B: share with B larger less that with B smaller
	 */
	double effect;
	double z, p;
	bool tested; /* the sides have a value each, and one of them more; else only means are set
		      */
};

/* The statistics of all runs. */
struct runs_test {
	size_t a, b;		   /* number of runs of each side, both at least 1 */
	size_t count;		   /* number of statistics */
	const double *value;	   /* by statistic, then run, those of A first; NAN: none */
	const double *resolution;  /* by statistic; 0: none */
	struct run_change *change; /* by statistic: the result */
	size_t ways;		   /* number of divisions that p is of */
	double p_least;		   /* least p that these numbers of runs allow */
};

/* Set the changes, ways and p_least. Returns -1 when out of memory. */
int runs_test(struct runs_test *t, double alpha);
/* Get the least number of runs, of each side, that allow a p below alpha. */
unsigned runs_needed(double alpha);

#endif
