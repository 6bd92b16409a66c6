#include "cmd/trstat/groups/distribution.h"

#include <stdlib.h>

#include "common/util/buffer.h"

/* Add the rows of a bucket of the key hist(F). */
static int add_bucket(struct distribution *d, const struct key_cell *low, uint64_t count)
{
	if (low->kind == KEY_SIGNED)
		return histogram_add_bucket(&d->negative, histogram_index(-low->value), count);
	if (low->kind == KEY_UNSIGNED)
		return histogram_add_bucket(&d->positive, histogram_index(low->value), count);
	if (low->kind == KEY_REAL) {
		bool negative = key_real_value(low) < 0;

		d->clipped += count;
		return histogram_add_bucket(
			negative ? &d->negative : &d->positive,
			histogram_index(negative ? magnitude(INT64_MIN) : UINT64_MAX), count);
	}
	return 0; /* rows without a value */
}

static void widen(struct distribution *d, struct column_value min, struct column_value max)
{
	if (!min.present || !max.present)
		return;
	d->min = min.number < d->min ? saturated_64(min.number) : d->min;
	d->max = max.number > d->max ? saturated_64(max.number) : d->max;
}

static int add_group(struct distribution *d, const struct table *t, const struct hist *h,
		     const struct aggregate *a)
{
	const struct columns *c = t->columns;
	struct column_value sum;

	if (!h->keyed) {
		d->sum += aggregate_every(a);
		widen(d, (struct column_value){a->calls > 0, a->total_min, 0},
		      (struct column_value){a->calls > 0, a->total_max, 0});
		return histogram_merge(&d->positive, aggregate_part(a, c->wanted.histogram));
	}
	sum = column_value(c, &c->column[h->sum], a, &t->run);
	if (sum.present && __builtin_add_overflow(d->sum, sum.number, &d->sum))
		d->sum = sum.number > 0 ? INT128_MAX : -INT128_MAX;
	widen(d, column_value(c, &c->column[h->min], a, &t->run),
	      column_value(c, &c->column[h->max], a, &t->run));
	return add_bucket(d, &groups_cells(t->groups, a)[t->groups->keys - 1], aggregate_count(a));
}

struct sorting {
	const struct groups *groups;
	size_t keys;
};

static int compare_distributions(const void *a, const void *b, void *ctx)
{
	const struct distribution *x = a, *y = b;
	const struct sorting *s = ctx;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return groups_compare_first(s->groups, x->group, y->group, s->keys);
}

struct distribution *distributions(const struct table *t, const struct hist *h, size_t *n,
				   struct error *e)
{
	const struct groups *g = t->groups;
	struct sorting s = {g, g->keys - h->keyed};
	struct sort by_keys = {0};
	const struct aggregate **groups = sort_groups(&by_keys, g, t->columns, &t->run, e);
	struct distribution *all = groups ? calloc(g->count + 1, sizeof(*all)) : NULL, *d = NULL;
	int bad = 0;

	*n = 0;
	for (size_t i = 0; all && !bad && i < g->count; i++) {
		if (!i || groups_compare_first(g, groups[i - 1], groups[i], s.keys)) {
			d = &all[(*n)++];
			d->group = groups[i];
			d->min = INT128_MAX;
			d->max = INT128_MIN;
		}
		bad = add_group(d, t, h, groups[i]);
	}
	free(groups);
	if (!all || bad) {
		distributions_free(all, *n);
		error_no_memory(e);
		return NULL;
	}
	for (size_t i = 0; i < *n; i++)
		all[i].count =
			histogram_count(&all[i].negative) + histogram_count(&all[i].positive);
	qsort_r(all, *n, sizeof(*all), compare_distributions, &s);
	while (*n && !all[*n - 1].count)
		--*n; /* groups without a value are left out */
	return all;
}

void distributions_free(struct distribution *d, size_t n)
{
	for (size_t i = 0; d && i < n; i++) {
		histogram_free(&d[i].negative);
		histogram_free(&d[i].positive);
	}
	free(d);
}

/* Returns the value of that rank; rank 1 is the least value. */
static int128 ranked_value(const struct distribution *d, uint64_t rank)
{
	uint64_t below = histogram_count(&d->negative), above = histogram_count(&d->positive);

	if (rank <= below) /* the least value is the negative one of the largest size */
		return -(int128)histogram_quantile(&d->negative, below - rank + 1, below,
						   d->max < 0 ? (uint64_t)magnitude(d->max) : 1,
						   (uint64_t)magnitude(d->min));
	return histogram_quantile(&d->positive, rank - below, above,
				  d->min > 0 ? (uint64_t)d->min : 0, (uint64_t)magnitude(d->max));
}

int128 distribution_quantile(const struct distribution *d, uint64_t numerator, uint64_t denominator)
{
	uint128 rank = ((uint128)d->count * numerator + denominator - 1) / denominator;

	return d->count ? ranked_value(d, rank ? (uint64_t)rank : 1) : 0;
}

struct distribution_bucket *distribution_buckets(const struct distribution *d, size_t *n)
{
	struct distribution_bucket *all = NULL;
	struct histogram_iterator it;
	struct histogram_bucket b;
	size_t capacity = 0;

	*n = 0;
	for (int negative = 1; negative >= 0; negative--) {
		histogram_begin(&it, negative ? &d->negative : &d->positive);
		while (histogram_next(&it, &b)) {
			if (ARRAY_GROW(all, capacity, *n)) {
				free(all);
				return NULL;
			}
			all[(*n)++] = (struct distribution_bucket){
				negative ? -(int128)b.high : (int128)b.low,
				negative ? -(int128)b.low : (int128)b.high, b.count};
		}
		/* so far ordered from 0 downwards */
		for (size_t i = 0; negative && i < *n / 2; i++) {
			struct distribution_bucket swap = all[i];

			all[i] = all[*n - 1 - i];
			all[*n - 1 - i] = swap;
		}
	}
	return all ? all : calloc(1, sizeof(*all));
}
