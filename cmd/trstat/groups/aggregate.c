#include "cmd/trstat/groups/aggregate.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

static struct aggregate_field *fields_of(const struct aggregate *a, const struct columns_wanted *w)
{
	return aggregate_part(a, w->fields);
}

void aggregate_init(struct aggregate *a, const struct columns_wanted *w)
{
	aggregate_no_extremes(a);
	if (w->times) {
		struct aggregate_times *t = aggregate_part(a, w->times);

		t->first = UINT64_MAX;
	}
}

void aggregate_free(struct aggregate *a, const struct columns_wanted *w)
{
	if (w->histogram)
		histogram_free(aggregate_part(a, w->histogram));
	for (uint32_t i = 0; i < w->field_count; i++)
		distinct_free(&fields_of(a, w)[i].distinct);
}

void aggregate_call_rare(struct aggregate *a, const struct columns_wanted *w, uint64_t total,
			 uint64_t self, uint64_t time)
{
	if (w->times) {
		struct aggregate_times *t = aggregate_part(a, w->times);

		t->first = time < t->first ? time : t->first;
		t->last = time > t->last ? time : t->last;
	}
	if (w->total_stdev)
		squares_add(aggregate_part(a, w->total_stdev), total);
	if (w->self_stdev)
		squares_add(aggregate_part(a, w->self_stdev), self);
}

static int64_t limited(int128 value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

int aggregate_signed(struct aggregate *a, const struct columns_wanted *w, int128 total, int128 self,
		     bool recursive, uint64_t time)
{
	a->calls++;
	*(recursive ? &a->recursive : &a->total) += total;
	a->self += self;
	aggregate_total_extremes(a, limited(total), limited(total));
	aggregate_self_extremes(a, limited(self), limited(self));
	/* the square does not depend on the sign */
	if (w->rarely)
		aggregate_call_rare(a, w, (uint64_t)magnitude(total), (uint64_t)magnitude(self),
				    time);
	return w->histogram ? histogram_add(aggregate_part(a, w->histogram),
					    total < 0 ? 0 : (uint64_t)total)
			    : 0;
}

uint64_t aggregate_quantile(const struct aggregate *a, const struct columns_wanted *w,
			    uint64_t numerator, uint64_t denominator)
{
	int64_t min = a->total_min < 0 ? 0 : a->total_min,
		max = a->total_max < 0 ? 0 : a->total_max;

	return histogram_quantile(aggregate_part(a, w->histogram), numerator, denominator,
				  (uint64_t)min, (uint64_t)max);
}

void aggregate_field_seen(struct aggregate *a, const struct columns_wanted *w, uint32_t field)
{
	fields_of(a, w)[field].seen = true;
}

/* --- numbers of fields --- */

static double add_reals(double a, double b)
{
	double sum = a + b;

	return isfinite(sum) ? sum : copysign(DBL_MAX, sum);
}

static bool is_less(struct number a, struct number b)
{
	return a.whole != b.whole ? a.whole < b.whole : a.fraction < b.fraction;
}

struct number number_of_real(double real)
{
	int128 whole = (int128)copysign(fmin(fabs(real), (double)NUMBER_MOST), real);

	return (struct number){whole,
			       fabs(real) < (double)NUMBER_MOST ? real - (double)whole : real};
}

double number_real(int128 whole, double fraction)
{
	bool most = whole == NUMBER_MOST || whole == -NUMBER_MOST;

	return most && fraction != 0 ? fraction : (double)whole + fraction;
}

struct number number_settle(struct number n)
{
	double real = number_real(n.whole, n.fraction);

	if (n.fraction == 0)
		return n;
	if (fabs(real) >= (double)NUMBER_MOST || fabs(n.fraction) >= (double)NUMBER_MOST)
		return number_of_real(real);
	/* twice, as the fraction may round to 1 when it takes the sign of the integer */
	for (int i = 0; i < 2; i++) {
		int128 carry = (int128)n.fraction;

		n.whole += carry;
		n.fraction -= (double)carry;
		carry = n.whole > 0 && n.fraction < 0 ? -1 : n.whole < 0 && n.fraction > 0;
		n.whole += carry;
		n.fraction -= (double)carry;
	}
	return n;
}

static int add_number(struct aggregate_field *f, struct number n)
{
	f->min = f->count && is_less(f->min, n) ? f->min : n;
	f->max = f->count && is_less(n, f->max) ? f->max : n;
	f->count++;
	/* integers beyond 64 bits are floats, whose sum could overflow */
	if (n.whole > (int128)UINT64_MAX || n.whole < INT64_MIN)
		n = (struct number){0, number_real(n.whole, n.fraction)};
	f->sum.fraction = add_reals(f->sum.fraction, n.fraction);
	if (!__builtin_add_overflow(f->sum.whole, n.whole, &f->sum.whole))
		return 0;
	errno = EOVERFLOW; /* of a summary, whose sum is impossible */
	return -1;
}

int aggregate_number(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		     int128 value)
{
	struct aggregate_field *f = &fields_of(a, w)[field];

	if (w->field[field].uniq && distinct_add(&f->distinct, distinct_hash_number(value)))
		return -1;
	return add_number(f, (struct number){.whole = value});
}

int aggregate_real(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		   double value)
{
	struct aggregate_field *f = &fields_of(a, w)[field];
	uint64_t bits;

	/* no integer of 64 bits has this upper half */
	memcpy(&bits, &value, sizeof bits);
	if (w->field[field].uniq &&
	    distinct_add(&f->distinct, distinct_hash_number((int128)((uint128)bits << 64))))
		return -1;
	return add_number(f, number_of_real(value));
}

int aggregate_text(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		   const void *data, size_t size)
{
	return w->field[field].uniq ? aggregate_hash(a, w, field, distinct_hash_bytes(data, size))
				    : 0;
}

int aggregate_hash(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		   uint64_t hash)
{
	return w->field[field].uniq ? distinct_add(&fields_of(a, w)[field].distinct, hash) : 0;
}

static int merge_field(struct aggregate_field *into, const struct aggregate_field *from, bool uniq)
{
	into->seen |= from->seen;
	if (from->count) {
		if (!into->count || is_less(from->min, into->min))
			into->min = from->min;
		if (!into->count || is_less(into->max, from->max))
			into->max = from->max;
	}
	if (__builtin_add_overflow(into->count, from->count, &into->count) ||
	    __builtin_add_overflow(into->sum.whole, from->sum.whole, &into->sum.whole)) {
		errno = EOVERFLOW;
		return -1;
	}
	into->sum.fraction = add_reals(into->sum.fraction, from->sum.fraction);
	return uniq ? distinct_merge(&into->distinct, &from->distinct) : 0;
}

/* Groups that are merged have the same sum of all groups, new ones none. */
static void keep_whole(int128 *into, const int128 *from)
{
	*into = *into ? *into : *from;
}

int aggregate_merge_self(struct aggregate *into, const struct aggregate *from,
			 const struct columns_wanted *w)
{
	if (__builtin_add_overflow(into->self, from->self, &into->self)) {
		errno = EOVERFLOW;
		return -1;
	}
	aggregate_self_extremes(into, from->self_min, from->self_max);
	return w->self_stdev ? squares_merge(aggregate_part(into, w->self_stdev),
					     aggregate_part(from, w->self_stdev))
			     : 0;
}

int aggregate_merge(struct aggregate *into, const struct aggregate *from,
		    const struct columns_wanted *w)
{
	return aggregate_merge_of(into, w, from, w, NULL);
}

int aggregate_merge_of(struct aggregate *into, const struct columns_wanted *w,
		       const struct aggregate *from, const struct columns_wanted *v,
		       const uint32_t *fields)
{
	uint64_t rows;

	if (__builtin_add_overflow(into->calls, from->calls, &into->calls) ||
	    __builtin_add_overflow(into->instants, from->instants, &into->instants) ||
	    __builtin_add_overflow(into->calls, into->instants, &rows) ||
	    __builtin_add_overflow(into->total, from->total, &into->total) ||
	    __builtin_add_overflow(into->recursive, from->recursive, &into->recursive) ||
	    __builtin_add_overflow(into->self, from->self, &into->self)) {
		errno = EOVERFLOW;
		return -1;
	}
	aggregate_total_extremes(into, from->total_min, from->total_max);
	aggregate_self_extremes(into, from->self_min, from->self_max);
	if (w->times) {
		struct aggregate_times *t = aggregate_part(into, w->times);
		const struct aggregate_times *u = aggregate_part(from, v->times);

		t->first = u->first < t->first ? u->first : t->first;
		t->last = u->last > t->last ? u->last : t->last;
	}
	if (w->histogram &&
	    histogram_merge(aggregate_part(into, w->histogram), aggregate_part(from, v->histogram)))
		return -1;
	if (w->total_stdev && squares_merge(aggregate_part(into, w->total_stdev),
					    aggregate_part(from, v->total_stdev)))
		return -1;
	if (w->self_stdev &&
	    squares_merge(aggregate_part(into, w->self_stdev), aggregate_part(from, v->self_stdev)))
		return -1;
	if (w->busy) {
		uint128 *busy = aggregate_part(into, w->busy);
		const uint128 *more = aggregate_part(from, v->busy);

		if (__builtin_add_overflow(*busy, *more, busy)) {
			errno = EOVERFLOW;
			return -1;
		}
	}
	if (w->whole && v->whole)
		keep_whole(aggregate_part(into, w->whole), aggregate_part(from, v->whole));
	for (uint32_t i = 0; i < w->field_count; i++) {
		if (merge_field(&fields_of(into, w)[i], &fields_of(from, v)[fields ? fields[i] : i],
				w->field[i].uniq))
			return -1;
	}
	return 0;
}
