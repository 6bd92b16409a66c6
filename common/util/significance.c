/*
 * significance.c - rank tests, and their correction for many tests
 */
#include "common/util/significance.h"

#include <math.h>
#include <stdlib.h>

#include "common/util/histogram.h"

int sample_of_histogram(struct diff_sample *s, const struct histogram *h)
{
	struct histogram_iterator it;
	struct histogram_bucket b;
	size_t n = 0;

	*s = (struct diff_sample){0};
	histogram_begin(&it, h);
	while (histogram_next(&it, &b))
		n++;
	s->values = calloc(n + 1, sizeof(*s->values));
	if (!s->values)
		return -1;
	histogram_begin(&it, h);
	while (histogram_next(&it, &b))
		s->values[s->size++] = (struct sample_value){histogram_middle(b.index), b.count};
	s->count = histogram_count(h);
	return 0;
}

void sample_free(struct diff_sample *s)
{
	free(s->values);
	*s = (struct diff_sample){0};
}

bool rank_test(const struct diff_sample *a, const struct diff_sample *b, struct rank_test *out)
{
	const uint64_t most = (uint64_t)1 << 62;
	double na = (double)a->count, nb = (double)b->count, n = na + nb, ties = 0, distance;
	uint128 u2 = 0;
	uint64_t below = 0; /* values of a */

	if (!a->count || !b->count || a->count > most || b->count > most)
		return false;
	for (size_t i = 0, k = 0; i < a->size || k < b->size;) {
		bool from_a =
			i < a->size && (k == b->size || a->values[i].value <= b->values[k].value);
		bool from_b =
			k < b->size && (i == a->size || b->values[k].value <= a->values[i].value);
		uint64_t in_a = from_a ? a->values[i++].count : 0;
		uint64_t in_b = from_b ? b->values[k++].count : 0;
		double t = (double)in_a + (double)in_b;

		u2 += (uint128)in_b * (2 * (uint128)below + in_a);
		below += in_a;
		ties += t * (t - 1) * (t + 1);
	}
	*out = (struct rank_test){.u2 = u2, .p = 1};
	out->effect = (double)u2 / (na * nb) - 1;
	out->p_least = erfc((na * nb - 1) / 2 / sqrt(na * nb / 12 * (n + 1)) / sqrt(2));
	if (n < 2 || ties >= n * (n - 1) * (n + 1))
		return true; /* all values are the same */
	out->error = sqrt(na * nb / 12 * (n + 1 - ties / (n * (n - 1))));
	out->p_least = erfc((na * nb - 1) / 2 / out->error / sqrt(2));
	distance = (double)((int128)u2 - (int128)a->count * (int128)b->count) / 2;
	/* half a step towards the mean (continuity correction) */
	if (fabs(distance) > 0.5)
		out->z = copysign(fabs(distance) - 0.5, distance) / out->error;
	out->p = erfc(fabs(out->z) / sqrt(2));
	return true;
}

/* Get the number of pairs with b - a <= difference. */
static uint128 pairs_to(const struct diff_sample *a, const struct diff_sample *b, int128 difference)
{
	uint64_t below = 0; /* values of a with b - a > difference */
	uint128 pairs = 0;

	for (size_t k = 0, i = 0; k < b->size; k++) {
		for (; i < a->size && (int128)b->values[k].value - a->values[i].value > difference;
		     i++)
			below += a->values[i].count;
		pairs += (uint128)b->values[k].count * (a->count - below);
	}
	return pairs;
}

/* Get the rank-th smallest difference, from 1. */
static int128 difference_at(const struct diff_sample *a, const struct diff_sample *b, uint128 rank)
{
	int128 low = (int128)b->values[0].value - a->values[a->size - 1].value;
	int128 high = (int128)b->values[b->size - 1].value - a->values[0].value;

	while (low < high) {
		int128 middle = low + (high - low) / 2;

		if (pairs_to(a, b, middle) >= rank)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Returns z such that a normal distribution has alpha outside of [-z, z]. */
static double critical(double alpha)
{
	double low = 0, high = 40;

	for (int i = 0; i < 64; i++) {
		double middle = (low + high) / 2;

		if (erfc(middle / sqrt(2)) > alpha)
			low = middle;
		else
			high = middle;
	}
	return high;
}

void rank_shift(const struct diff_sample *a, const struct diff_sample *b, struct rank_test *t,
		double alpha)
{
	uint128 pairs = (uint128)a->count * b->count, outside = 1;
	double skipped = (double)pairs / 2 - critical(alpha) * t->error;
	int128 first = difference_at(a, b, (pairs + 1) / 2), second = first, sum;

	if (!(pairs & 1))
		second = difference_at(a, b, pairs / 2 + 1);
	sum = first + second;
	if (skipped >= 2)
		outside = (uint128)skipped;
	t->shift = sum / 2 - (sum < 0 && sum % 2);
	t->shift_low = difference_at(a, b, outside);
	t->shift_high = difference_at(a, b, pairs + 1 - outside);
}

static int by_p(const void *x, const void *y)
{
	double a = **(double *const *)x, b = **(double *const *)y;

	return (a > b) - (a < b);
}

int holm_adjust(double *p, size_t n)
{
	double **order = calloc(n + 1, sizeof(*order)), least = 0;

	if (!order)
		return -1;
	for (size_t i = 0; i < n; i++)
		order[i] = &p[i];
	if (n)
		qsort(order, n, sizeof(*order), by_p);
	for (size_t i = 0; i < n; i++) {
		double adjusted = *order[i] * (double)(n - i);

		adjusted = adjusted < 1 ? adjusted : 1;
		least = adjusted > least ? adjusted : least;
		*order[i] = least;
	}
	free(order);
	return 0;
}
