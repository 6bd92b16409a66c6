/*
 * significance.c - rank tests, tests of many runs, and the correction for many tests
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

/* --- many runs --- */

/* Values of one side. */
struct moments {
	double n, sum, squares;
};

/* One statistic while its divisions are compared. */
struct run_series {
	double *value; /* less their mean */
	double *rank;  /* of each value, less the mean rank */
	double mean;
	double resolution; /* as a variance */
	double ranks;	   /* sum of the squares of rank */
	struct moments all;
	bool whole; /* no run lacks a value */
};

/* Divisions of the runs among the sides. */
struct divisions {
	size_t runs, few; /* runs of both sides; of the smaller side */
	bool of_a;	  /* that is A */
	size_t count;
	uint16_t *run;	 /* count times few: those of the smaller side */
	uint16_t *order; /* room for all runs */
	bool *in_few;	 /* by run: it is of the smaller side of the present division */
};

static double variance_of(const struct moments *m, double resolution)
{
	double v = m->n > 1 ? (m->squares - m->sum * m->sum / m->n) / (m->n - 1) : 0;

	return (v > 0 ? v : 0) + resolution;
}

/* Get the standard error of the difference of the means, and the degrees of freedom. false: there
 * are too few values. */
static bool welch(const struct moments *a, const struct moments *b, double resolution,
		  double *error, double *freedom)
{
	double va, vb;

	if (a->n < 1 || b->n < 1 || a->n + b->n < 3)
		return false;
	va = variance_of(a->n > 1 ? a : b, resolution) / a->n;
	vb = variance_of(b->n > 1 ? b : a, resolution) / b->n;
	*error = sqrt(va + vb);
	if (a->n < 2 || b->n < 2)
		*freedom = a->n + b->n - 2;
	else if (va + vb > 0)
		*freedom = (va + vb) * (va + vb) / (va * va / (a->n - 1) + vb * vb / (b->n - 1));
	else
		*freedom = 1;
	return true;
}

static double wallace(double freedom)
{
	return (8 * freedom + 1) / (8 * freedom + 3);
}

/* Get the continued fraction of the incomplete beta function (Lentz's method). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;

	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), step;
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / (1 + even * d);
		c = 1 + even / c;
		h *= c * d;
		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		step = c * d;
		h *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return h;
}

/* Get t such that Student's distribution has alpha outside of [-t, t], by Newton's method for the
 * logarithm of that probability over the logarithm of t: as the function is concave, each step
 * after the first one is towards the solution. */
static double student(double alpha, double freedom)
{
	const double a = freedom / 2, beta = lgamma(a) + lgamma(0.5) - lgamma(a + 0.5);
	double z = critical(alpha) / wallace(freedom);
	double y = fmin(log(freedom * expm1(fmin(z * z / freedom, 600))) / 2, 300);

	for (int i = 0; i < 50; i++) {
		double u = 2 * y - log(freedom), x = 1 / (1 + exp(u)), step;
		/* the logarithm of x^a (1 - x)^(1/2) / B(a, 1/2) */
		double front = -a * log1p(exp(u)) - log1p(exp(-u)) / 2 - beta, tail;

		if (x < (a + 1) / (a + 2.5))
			tail = front + log(beta_fraction(a, 0.5, x) / a);
		else
			tail = log1p(-2 * exp(front) * beta_fraction(0.5, a, 1 - x));
		step = (tail - log(alpha)) / (2 * exp(front - tail));
		y += step;
		if (fabs(step) < 1e-12)
			break;
	}
	return exp(y);
}

/* Get how clear the difference of the means is. */
static double clearness(const struct moments *a, const struct moments *b, double resolution)
{
	const double most = 1e3; /* values without any noise */
	double error, n, difference, t, z;

	if (!welch(a, b, resolution, &error, &n))
		return 0;
	difference = fabs(b->sum / b->n - a->sum / a->n);
	if (difference == 0)
		return 0;
	t = difference / error;
	z = wallace(n) * sqrt(n * log1p(t * t / n));
	return z < most ? z : most;
}

static void moments_add(struct moments *m, double value)
{
	m->n++;
	m->sum += value;
	m->squares += value * value;
}

/* Take the run that is farthest from the mean of its side out of the moments, if it is RUNS_FAR
 * standard deviations of the other runs off. Returns whether there is one. */
static bool leave_far_run_out(const struct run_series *s, const struct divisions *d,
			      const uint16_t *run, struct moments side[2])
{
	double mean[2] = {side[0].sum / side[0].n, side[1].sum / side[1].n}, most = 0, squares;
	struct moments *of;
	size_t far = 0;

	for (size_t i = 0; i < d->few; i++)
		d->in_few[run[i]] = true;
	for (size_t i = 0; i < d->runs; i++) {
		double off = s->value[i] - mean[d->in_few[i]];

		if (off * off > most) { /* not of NAN */
			most = off * off;
			far = i;
		}
	}
	of = &side[d->in_few[far]];
	for (size_t i = 0; i < d->few; i++)
		d->in_few[run[i]] = false;
	if (of->n < 2)
		return false;
	most *= of->n / (of->n - 1);
	squares = side[0].squares - side[0].sum * mean[0] + side[1].squares -
		  side[1].sum * mean[1] - most;
	if (!(most > 0) ||
	    most < RUNS_FAR * RUNS_FAR * (squares / (side[0].n + side[1].n - 3) + s->resolution))
		return false;
	of->n--;
	of->sum -= s->value[far];
	of->squares -= s->value[far] * s->value[far];
	return true;
}

/* Get how clear a statistic is for a division. */
static double series_clearness(const struct run_series *s, const struct divisions *d,
			       const uint16_t *run)
{
	struct moments few = {0}, side[2]; /* the other side, the smaller one */
	double ranks = 0, t, z = 0;

	for (size_t i = 0; i < d->few; i++) {
		if (!s->whole && isnan(s->value[run[i]]))
			continue;
		moments_add(&few, s->value[run[i]]);
		ranks += s->rank[run[i]];
	}
	side[1] = few;
	side[0] = (struct moments){s->all.n - few.n, s->all.sum - few.sum,
				   s->all.squares - few.squares};
	if (s->ranks > 0 && few.n > 0 && side[0].n > 0)
		z = fabs(ranks) / sqrt(s->ranks * few.n * side[0].n / (s->all.n * (s->all.n - 1)));
	t = clearness(&side[d->of_a], &side[!d->of_a], s->resolution);
	z = fmax(z, t);
	if (side[0].n < RUNS_FOR_FAR || side[1].n < RUNS_FOR_FAR ||
	    !leave_far_run_out(s, d, run, side))
		return z;
	return fmax(z, clearness(&side[d->of_a], &side[!d->of_a], s->resolution));
}

static int by_value(const void *x, const void *y, void *ctx)
{
	const double *value = ctx;
	double a = value[*(const uint16_t *)x], b = value[*(const uint16_t *)y];

	return (a > b) - (a < b);
}

/* Set the ranks; equal values have the mean of theirs. order: room for the runs. */
static void series_ranks(struct run_series *s, size_t runs, uint16_t *order)
{
	size_t n = 0;

	for (size_t i = 0; i < runs; i++)
		if (!isnan(s->value[i]))
			order[n++] = (uint16_t)i;
	qsort_r(order, n, sizeof(*order), by_value, s->value);
	for (size_t first = 0, end; first < n; first = end) {
		double rank;

		for (end = first + 1; end < n && s->value[order[end]] == s->value[order[first]];
		     end++)
			;
		rank = (double)(first + end) / 2 - (double)n / 2;
		for (size_t i = first; i < end; i++) {
			s->rank[order[i]] = rank;
			s->ranks += rank * rank;
		}
	}
}

static void series_init(struct run_series *s, const struct runs_test *t, size_t statistic,
			uint16_t *order)
{
	const double *value = t->value + statistic * (t->a + t->b);
	double *to = s->value, *rank = s->rank, n = 0, sum = 0;

	for (size_t i = 0; i < t->a + t->b; i++) {
		if (isnan(value[i]))
			continue;
		n++;
		sum += value[i];
	}
	*s = (struct run_series){.value = to, .rank = rank, .mean = n > 0 ? sum / n : 0};
	s->resolution = t->resolution[statistic] * t->resolution[statistic] / 12;
	for (size_t i = 0; i < t->a + t->b; i++) {
		to[i] = value[i] - s->mean;
		if (!isnan(to[i]))
			moments_add(&s->all, to[i]);
	}
	s->whole = s->all.n == (double)(t->a + t->b);
	if (s->all.squares == 0)
		s->resolution = 0; /* all values are the same */
	if (t->a >= RUNS_RANKED && t->b >= RUNS_RANKED)
		series_ranks(s, t->a + t->b, order);
}

/* Get the share of pairs of runs with B larger less that with B smaller. */
static double effect_of(const double *a, size_t na, const double *b, size_t nb)
{
	double larger = 0, pairs = 0;

	for (size_t i = 0; i < na; i++)
		for (size_t k = 0; k < nb; k++) {
			if (isnan(a[i]) || isnan(b[k]))
				continue;
			pairs++;
			larger += (b[k] > a[i]) - (b[k] < a[i]);
		}
	return larger / pairs;
}

/* Set all but p. */
static void run_change_of(struct run_change *c, const struct runs_test *t,
			  const struct run_series *s, double alpha)
{
	const double *value = s->value;
	struct moments side[2] = {0};
	double error, n, bound, change;

	for (size_t i = 0; i < t->a + t->b; i++)
		if (!isnan(value[i]))
			moments_add(&side[i >= t->a], value[i]);
	*c = (struct run_change){
		.mean_a = side[0].n > 0 ? s->mean + side[0].sum / side[0].n : NAN,
		.mean_b = side[1].n > 0 ? s->mean + side[1].sum / side[1].n : NAN,
	};
	if (!welch(&side[0], &side[1], s->resolution, &error, &n))
		return;
	c->tested = true;
	bound = error > 0 ? error * student(alpha, n) : 0;
	change = side[1].sum / side[1].n - side[0].sum / side[0].n;
	c->low = change - bound;
	c->high = change + bound;
	c->effect = effect_of(value, t->a, value + t->a, t->b);
}

/* Get the number of ways to take k of n, at most UINT32_MAX. */
static double ways_of(size_t n, size_t k)
{
	double ways = 1;

	for (size_t i = 1; i <= k && ways < UINT32_MAX; i++)
		ways = ways * (double)(n - k + i) / (double)i;
	return ways < UINT32_MAX ? round(ways) : UINT32_MAX;
}

unsigned runs_needed(double alpha)
{
	unsigned n = 2;

	while (n < 16 && 2 / ways_of(2 * (size_t)n, n) >= alpha)
		n++;
	return n;
}

/* A number below n, of a sequence that is always the same (splitmix64). */
static size_t random_below(uint64_t *state, size_t n)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (size_t)(((uint128)(z ^ z >> 31) * n) >> 64);
}

/* Fill in the division after another one, in the order of their numbers. */
static void next_division(uint16_t *to, const uint16_t *from, size_t runs, size_t few)
{
	size_t i = few;

	for (size_t k = 0; k < few; k++)
		to[k] = from[k];
	while (i && to[i - 1] == runs - few + i - 1)
		i--;
	if (!i)
		return;
	to[i - 1]++;
	for (size_t k = i; k < few; k++)
		to[k] = (uint16_t)(to[k - 1] + 1);
}

/* Draw random divisions after the first one, which is the real one. */
static void draw_divisions(struct divisions *d)
{
	uint16_t *order = d->order;
	uint64_t state = 1;

	for (size_t i = 0; i < d->runs; i++)
		order[i] = (uint16_t)i;
	for (size_t k = 1; k < d->count; k++)
		for (size_t i = 0; i < d->few; i++) {
			size_t with = i + random_below(&state, d->runs - i);
			uint16_t taken = order[with];

			order[with] = order[i];
			d->run[k * d->few + i] = order[i] = taken;
		}
}

/* Make all divisions, or as many as the number of statistics allows; the first one is the real one.
 * Returns -1 when out of memory. */
static int make_divisions(struct divisions *d, const struct runs_test *t, double alpha)
{
	const double steps = 2e9; /* some 3 s */
	double most, ways;

	*d = (struct divisions){
		.runs = t->a + t->b, .few = t->a < t->b ? t->a : t->b, .of_a = t->a < t->b};
	most = steps / ((double)t->count + 1) / ((double)d->runs + 2 * (double)d->few + 20);
	most = fmin(fmax(most, 999), RUNS_WAYS);
	most = fmax(most, fmin(20 / alpha, 1e6));
	ways = ways_of(d->runs, d->few);
	d->count = (size_t)fmin(ways, most + 1);
	d->run = calloc(d->count * d->few, sizeof(*d->run));
	d->order = calloc(d->runs, sizeof(*d->order));
	d->in_few = calloc(d->runs, sizeof(*d->in_few));
	if (!d->run || !d->order || !d->in_few)
		return -1;
	for (size_t i = 0; i < d->few; i++)
		d->run[i] = (uint16_t)(d->of_a ? i : t->a + i);
	if (ways > most + 1) {
		draw_divisions(d);
		return 0;
	}
	if (!d->of_a && d->count > 1) {
		/* the real one is the last in the order: the first one follows it */
		for (size_t i = 0; i < d->few; i++)
			d->run[d->few + i] = (uint16_t)i;
	}
	for (size_t k = d->of_a ? 1 : 2; k < d->count; k++)
		next_division(&d->run[k * d->few], &d->run[(k - 1) * d->few], d->runs, d->few);
	return 0;
}

static int by_clearness(const void *x, const void *y, void *ctx)
{
	const struct run_change *change = ctx;
	double a = change[*(const size_t *)x].z, b = change[*(const size_t *)y].z;

	return (a > b) - (a < b);
}

/* Set p of all statistics, in the order of their clearness, the least first. clearest: by division,
 * the clearest statistic so far. */
static void set_p(struct runs_test *t, const struct divisions *d, const size_t *order,
		  double *clearest, struct run_series *s)
{
	double most = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct run_change *c = &t->change[order[i]];
		size_t as_clear = 0;

		/* rounding must not make a division less clear than one that is the same */
		double z = c->z * (1 - 1e-9);

		series_init(s, t, order[i], d->order);
		c->p = 1;
		if (s->all.squares == 0)
			continue; /* all values are the same, however the runs are divided */
		for (size_t k = 0; k < d->count; k++) {
			double other = series_clearness(s, d, &d->run[k * d->few]);

			if (other > clearest[k])
				clearest[k] = other;
			as_clear += clearest[k] >= z;
		}
		c->p = (double)as_clear / (double)d->count;
	}
	for (size_t i = t->count; i--;) {
		struct run_change *c = &t->change[order[i]];

		most = c->p > most ? c->p : most;
		c->p = most;
	}
}

int runs_test(struct runs_test *t, double alpha)
{
	struct run_series s = {.value = calloc(t->a + t->b, sizeof(*s.value)),
			       .rank = calloc(t->a + t->b, sizeof(*s.rank))};
	size_t *order = calloc(t->count + 1, sizeof(*order));
	double *clearest = NULL;
	struct divisions d;
	int bad = make_divisions(&d, t, alpha);

	if (!bad)
		clearest = calloc(d.count, sizeof(*clearest));
	bad = bad || !s.value || !s.rank || !order || !clearest;
	for (size_t i = 0; !bad && i < t->count; i++) {
		series_init(&s, t, i, d.order);
		run_change_of(&t->change[i], t, &s, alpha);
		t->change[i].z = t->change[i].tested ? series_clearness(&s, &d, d.run) : 0;
		order[i] = i;
	}
	if (!bad) {
		qsort_r(order, t->count, sizeof(*order), by_clearness, t->change);
		set_p(t, &d, order, clearest, &s);
		t->ways = d.count;
		t->p_least = (t->a == t->b && t->a < 16 ? 2 : 1) / ways_of(d.runs, d.few);
		t->p_least = fmax(t->p_least, 1 / (double)d.count);
	}
	free(s.value);
	free(s.rank);
	free(order);
	free(clearest);
	free(d.run);
	free(d.order);
	free(d.in_few);
	return bad ? -1 : 0;
}
