/*
 * histogram.h - log-linear histogram of 64-bit values: exact counts, bounded relative error
 *
 * Every octave [2^k, 2^(k+1)) is cut into 2^p buckets of equal width, p = 7; values below 2^(p+1)
 * have a bucket of their own. So a value differs from the middle of its bucket by at most
 * 2^-(p+1) = 0.39 % of itself, 7424 buckets cover all of uint64_t, and the bucket of a value is a
 * count of leading zeros and a shift. Buckets are counters, hence merging is addition: exact,
 * commutative and associative, and the quantiles of a merge are those of a single run.
 *
 * Memory: none until the first value; then an open-addressed table of up to 64 buckets (512
 * bytes); then, when more buckets are in use or there are many values, an array of counters for the
 * range of the buckets seen. The form changes the speed only.
 *
 * Not to be shared between threads without a lock.
 */
#ifndef TR_UTIL_HISTOGRAM_H
#define TR_UTIL_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_PRECISION 7
#define HISTOGRAM_BUCKETS   ((65 - HISTOGRAM_PRECISION) << HISTOGRAM_PRECISION) /* 7424 */
#define HISTOGRAM_SPARSE    64 /* slots of the largest open-addressed table */

/* All zero is an empty histogram; the members belong. */
struct histogram {
	uint64_t *slots;   /* dense: a counter per bucket; sparse: bucket + 1 << 48 | count */
	uint32_t base;	   /* dense: bucket of slots[0] */
	uint32_t span;	   /* dense: number of slots; 0 while sparse */
	uint32_t capacity; /* sparse: number of slots, a power of two or 0 */
	uint32_t used;	   /* sparse: slots in use */
	uint32_t adds;	   /* sparse: additions so far, to see that a dense window pays */
};

struct histogram_bucket {
	uint32_t index;	    /* 0 .. HISTOGRAM_BUCKETS - 1 */
	uint64_t low, high; /* the values it covers, both inclusive */
	uint64_t count;	    /* never 0 from histogram_next */
};

struct histogram_iterator {
	const struct histogram *histogram;
	uint32_t next, size;
	uint64_t sorted[HISTOGRAM_SPARSE];
};

/* Get the bucket of a value. */
static inline uint32_t histogram_index(uint64_t value)
{
	uint32_t shift = (uint32_t)__builtin_clzll(value | 1u << HISTOGRAM_PRECISION);

	shift = 63 - HISTOGRAM_PRECISION - shift;
	return (shift << HISTOGRAM_PRECISION) + (uint32_t)(value >> shift);
}

/* Get the smallest and the largest value of a bucket, and the value that represents all of them.
 * */
uint64_t histogram_low(uint32_t index);
uint64_t histogram_high(uint32_t index);
static inline uint64_t histogram_middle(uint32_t index)
{
	return histogram_low(index) + (histogram_high(index) - histogram_low(index) + 1) / 2;
}

void histogram_free(struct histogram *h);

/*
 * Add n values to the bucket. -1: out of memory (errno ENOMEM), no such bucket (EINVAL) or a count
 * beyond 64 bits (EOVERFLOW); the histogram is then unchanged.
 */
int histogram_add_bucket(struct histogram *h, uint32_t index, uint64_t n);

/* Add a value that is not in the dense window, for histogram_add. */
int histogram_add_slow(struct histogram *h, uint32_t index);

/* Add a value. -1: out of memory, and the histogram is unchanged. */
static inline int histogram_add(struct histogram *h, uint64_t value)
{
	uint32_t index = histogram_index(value), i = index - h->base;

	if (__builtin_expect(i < h->span, 1)) {
		h->slots[i]++;
		return 0;
	}
	return histogram_add_slow(h, index);
}

/*
 * Add all counts of from, which is not changed and may not be into. -1 as histogram_add_bucket;
 * after that, into has a part of from.
 */
int histogram_merge(struct histogram *into, const struct histogram *from);

/* Number of values; UINT64_MAX if a hostile merge brought more than that. */
uint64_t histogram_count(const struct histogram *h);

/*
 * The quantile numerator/denominator (<= 1, denominator > 0): of n values v_1 <= ... <= v_n the one
 * of rank r = max(1, ceil(n * numerator / denominator)), that is the smallest value that at least
 * that share of the values do not exceed. Its bucket is found exactly; the result is the middle
 * of the bucket, low + width / 2, clamped to [min, max], and min itself for rank 1 and max for
 * rank n. min and max are the exact extremes, which the caller keeps; 0 and UINT64_MAX where they
 * are not known. The relative error is at most 2^-(HISTOGRAM_PRECISION + 1), none below 256.
 * 0 for an empty histogram.
 */
uint64_t histogram_quantile(const struct histogram *h, uint64_t numerator, uint64_t denominator,
			    uint64_t min, uint64_t max);

/* Iterate over the buckets that are not empty, in ascending order; not while values are added. */
void histogram_begin(struct histogram_iterator *it, const struct histogram *h);
bool histogram_next(struct histogram_iterator *it, struct histogram_bucket *bucket);

#endif
