/*
 * strata.h - do two properties of calls go together, among calls that are alike in a third one?
 *
 *     stratum            calls n   slow s   with the property m   slow with it a   expected m s / n
 *     mode is sync            60       40                    12                9                  8
 *     other modes           4000       10                   800                2                  2
 *
 * A property that only goes with a cause of slow calls is as frequent among the slow ones as among
 * the others of each stratum, if the strata are those of the cause.
 */
#ifndef TR_UTIL_STRATA_H
#define TR_UTIL_STRATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stratum {
	uint32_t n, s, m, a;
};

struct strata {
	struct stratum *of;
	uint32_t count;
	double *log_factorial; /* up to the number of calls */
};

/* Make one stratum of n calls, s of them slow; there is space for n strata. Returns -1 when out of
 * memory; strata_free in any case. */
int strata_init(struct strata *s, uint32_t n, uint32_t slow);
void strata_free(struct strata *s);

/* Get the variance of a, if the properties do not go together. */
static inline double stratum_variance(const struct stratum *k)
{
	double n = k->n, m = k->m, s = k->s;

	return k->n > 1 ? m * (n - m) * s * (n - s) / (n * n * (n - 1)) : 0;
}

/* Get an excess in standard deviations. */
double z_of(double excess, double variance);
/* Get the statistic of Cochran, Mantel and Haenszel with its sign. */
double strata_z(const struct strata *s);
/*
 * Get p: larger: the probability of as many or more slow calls with the property, else of a
 * deviation as large to either side. p is Fisher's, from the hypergeometric distribution, and in
 * several strata that of the sum of such, from the normal distribution if counts are large.
 * Negative: out of memory.
 */
double strata_p(const struct strata *s, bool larger);
/* Get the least p that m calls of a stratum can have, whichever they are. */
double strata_least_p(const struct strata *s, const struct stratum *k, bool larger);

/*
 * The risk to be slow with the property, divided by that without it. The calls of the strata are
 * samples of the slow ones and of the others.
 */
struct risk_ratio {
	double per_other, per_slow; /* calls for which one of the sample counts */
	bool without;		    /* the inverse */
	double inflation;	    /* of the variance */
	double ratio, low, high;    /* the result, with the interval of 95 % */
};

/*
 * Set the result. Strata have the weights that they have in strata_z, so the ratio is above 1 if
 * and only if that is above 0. The interval is that of the logarithm, by the delta method for two
 * samples.
 */
void strata_ratio(const struct strata *s, struct risk_ratio *r);

/*
 * Get how many times as large the variance of the sum of x[i] y[i] is as it would be if the values
 * of x, or those of y, were independent of each other: slow calls come in bursts, and so may calls
 * with a property. Both have the mean 0 and are in the order of time.
 *
 *     y    ..11..........111.......        one burst of x in one of y is one coincidence, not three
 *     x    .................111....
 *
 * In Haar's transform the values of a white series have equal squares at each scale; those of
 * bursts have larger ones at the scales of their length. The products of the mean squares of x and
 * y, by scale, give the variance. What is periodic has no burst: its scales are as those of a white
 * series. At least 1. Overwrites x and y.
 */
double series_inflation(double *x, double *y, size_t n);

#endif
