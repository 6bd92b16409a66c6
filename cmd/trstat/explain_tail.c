/*
 * explain_tail.c - --explain-tail EXPR: what is different about the slow calls
 *
 *      slow    rest  risk ratio  95 % interval        p  difference
 *     97.0%  0.121%        4310    2800 - 6630  < 1e-99  child fsync
 *
 * One pass keeps a sample of the calls (common/pairs/call_sample.h); the end of the trace shows
 * which of them are slow, and what differs between these and the rest is tested.
 *
 * The tests. A candidate is a set of calls: those with an item, or those in which a number is not
 * below a threshold, out of some quantiles of its values. Candidates that are in so few calls that
 * no result can be significant are left out (Tarone 1990), whatever their calls are. Then
 *
 *     1. the candidate that goes with the slow calls most, by the statistic of Cochran, Mantel and
 *        Haenszel, is named if its p is significant
 *     2. the calls are divided into strata by it, and 1 is done again within the strata
 *
 * What goes with the slow calls only by going with a cause makes no difference among calls with the
 * cause, and none among those without, so it is not named. p is Fisher's, from the hypergeometric
 * distribution, and in several strata that of the sum of such, from the normal distribution if
 * counts are large. By Holm's correction p is multiplied by the number of candidates left, which
 * bounds the probability that anything is named where nothing is different, whatever depends on
 * whatever: candidates go with each other, as "cpu is 3" and "comm is a" of a thread that is bound
 * to a CPU do.
 *
 * Shares of the time of a call, in a child or in a state, are candidates of a second kind. They
 * are parts of the duration, so they go with it whatever its cause is, and explain too much: they
 * would hide "arg.mode is sync" after "iowait". So they are tested apart, and within what the
 * others explain, unless having one of them tells TIMES_MORE times as much of the slow calls as
 * having one of the others.
 */
#include "cmd/trstat/explain_tail.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/run.h"
#include "common/expr/expression.h"
#include "common/pairs/call_sample.h"
#include "common/util/screen.h"
#include "common/util/strata.h"
#include "common/value/aligned.h"

/* --- candidates --- */

enum {
	CUTS = 15,	/* thresholds that are tested of a feature */
	RUNS_MOST = 64, /* bins of a feature in strata */
	NAMED_MOST = 12 /* rows of each kind */
};
/* How much more of the slow calls shares of the time must explain to come first. */
#define TIMES_MORE 1.25
/* Smaller ps are not calculated. */
#define P_LEAST 1e-15

/* Calls with an item, or the calls that have a number, of which those not below a threshold are
 * taken. Members are calls of the sample: of numbers in the order of their values. */
struct candidate {
	uint32_t feature, item; /* item: INTERN_NONE for numbers, and calls that have the feature */
	uint32_t begin, end;	/* in comparison.member */
	uint32_t cut[CUTS];	/* where the members of each threshold begin */
	uint32_t cuts;		/* 0: one item, or all of the feature */
	uint32_t tests;		/* that can be significant */
	uint32_t best;		/* of numbers: where the members of the best threshold begin */
	double z;		/* Cochran, Mantel, Haenszel; below 0: rarer among the slow ones */
	bool named;
};

/* A difference that is named. */
struct named {
	uint32_t feature, item, begin, end; /* as of the candidate, from its threshold on */
	bool number;
	bool whole;	     /* all compared calls have the feature, as a text or as a number */
	bool without;	     /* the calls without it are the slow ones */
	uint32_t slow, rest; /* compared calls with it */
	double ratio, low, high, p;
	char *note; /* what else the calls have; NULL: nothing */
};

struct tail_comparison {
	struct call_sample *sample;
	struct chosen_calls of;
	double quantile, alpha;
	uint32_t *member, nmembers;
	uint32_t *value; /* by member: its item */
	struct candidate *candidate;
	size_t candidates, candidates_capacity;
	uint64_t tests;
	uint32_t *stratum; /* by call */
	struct strata strata;
	uint32_t *at;  /* by call: its place in the order of time */
	double *x, *y; /* by place, of burst_inflation */
	struct named named[2 * NAMED_MOST];
	size_t nnamed;
	struct named with[NAMED_MOST]; /* what only goes with the first of named, a share */
	size_t nwith;
	double least; /* corrected p of the best that was not named */
};

static bool candidate_is_time(const struct tail_comparison *c, const struct candidate *k)
{
	return feature_kind(c->sample, k->feature) >= FEATURE_STATE;
}

/* Compare items by feature, texts before numbers, then by value. */
static int compare_items(const void *a, const void *b, void *ctx)
{
	const struct call_sample *m = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	struct sample_item p = item_get(m, x), q = item_get(m, y);
	enum feature_kind of_p = feature_kind(m, p.feature), of_q = feature_kind(m, q.feature);

	if (of_p != of_q)
		return of_p < of_q ? -1 : 1;
	if (p.feature != q.feature)
		return p.feature < q.feature ? -1 : 1;
	if (item_is_number(&p) != item_is_number(&q))
		return item_is_number(&p) ? 1 : -1;
	if (item_is_number(&p) && item_value(&p) != item_value(&q))
		return item_value(&p) < item_value(&q) ? -1 : 1;
	return (x > y) - (x < y);
}

/* Fill member with the calls of each item, in the order of items, whose begins are in *begin. */
static int fill_members(struct tail_comparison *c, const uint32_t *order, uint32_t *begin)
{
	uint32_t items = c->sample->items.count, sum = 0;
	uint32_t *at = calloc((size_t)items + 1, sizeof(*at));

	if (!at)
		return -1;
	for (uint32_t i = 0; i < c->of.n; i++)
		for (uint32_t k = 0; k < c->of.call[i]->count; k++)
			at[c->of.call[i]->item[k]]++;
	for (uint32_t i = 0; i < items; i++) {
		uint32_t count = at[order[i]];

		begin[i] = at[order[i]] = sum;
		sum += count;
	}
	begin[items] = c->nmembers = sum;
	c->member = calloc((size_t)sum + 1, sizeof(*c->member));
	for (uint32_t i = 0; c->member && i < c->of.n; i++)
		for (uint32_t k = 0; k < c->of.call[i]->count; k++)
			c->member[at[c->of.call[i]->item[k]]++] = i;
	free(at);
	return c->member ? 0 : -1;
}

static int tail_add_candidate(struct tail_comparison *c, const struct candidate *k)
{
	if (ARRAY_GROW(c->candidate, c->candidates_capacity, c->candidates))
		return -1;
	c->candidate[c->candidates++] = *k;
	return 0;
}

/* Add the thresholds of a feature whose values begin at begin[0] to begin[values - 1]. */
static int add_thresholds(struct tail_comparison *c, struct candidate k, const uint32_t *begin,
			  uint32_t values)
{
	static const uint8_t rank[CUTS] = {1,  2,  4,	8,   16,  32,  48, 64,
					   80, 96, 112, 120, 124, 126, 127};
	uint32_t at = 0;

	k.item = INTERN_NONE;
	for (int i = 0; i < CUTS; i++) {
		uint32_t to = k.begin + (uint32_t)((uint64_t)(k.end - k.begin) * rank[i] / 128);

		while (at + 1 < values && begin[at + 1] <= to)
			at++;
		/* of the values around the rank the one above, where most are the lower */
		if (at && (!k.cuts || k.cut[k.cuts - 1] != begin[at]))
			k.cut[k.cuts++] = begin[at];
	}
	if (!k.cuts && values > 1)
		k.cut[k.cuts++] = begin[1];
	return k.cuts ? tail_add_candidate(c, &k) : 0;
}

/* Add the candidates of one feature, items order[from] to order[to - 1]. */
static int add_feature(struct tail_comparison *c, const uint32_t *order, const uint32_t *begin,
		       uint32_t from, uint32_t to)
{
	uint32_t feature = item_get(c->sample, order[from]).feature, first = to;
	enum feature_kind kind = feature_kind(c->sample, feature);
	bool scalar = true;

	for (uint32_t i = from; i < to; i++) {
		struct sample_item item = item_get(c->sample, order[i]);

		scalar &= item.form != FORM_NONE;

		if (item_is_number(&item) && first == to)
			first = i;
		if (kind < FEATURE_STATE && item.form != FORM_NONE && begin[i + 1] > begin[i] &&
		    tail_add_candidate(c, &(struct candidate){.feature = feature,
							      .item = order[i],
							      .begin = begin[i],
							      .end = begin[i + 1]}))
			return -1;
	}
	/* of a list has() is true only in trfilter */
	if ((kind == FEATURE_ARGUMENT || kind == FEATURE_RETURN) && scalar &&
	    begin[to] - begin[from] < c->of.n &&
	    tail_add_candidate(c, &(struct candidate){.feature = feature,
						      .item = INTERN_NONE,
						      .begin = begin[from],
						      .end = begin[to]}))
		return -1;
	/* numbers of threads and CPUs have no order */
	if (first == to ||
	    (kind != FEATURE_ARGUMENT && kind != FEATURE_RETURN && kind < FEATURE_STATE))
		return 0;
	return add_thresholds(
		c, (struct candidate){.feature = feature, .begin = begin[first], .end = begin[to]},
		begin + first, to - first);
}

/* Make the candidates. */
static int make_candidates(struct tail_comparison *c)
{
	uint32_t items = c->sample->items.count, from = 0, n = 0;
	uint32_t *order = calloc((size_t)items + 1, sizeof(*order));
	uint32_t *begin = calloc((size_t)items + 1, sizeof(*begin));
	int bad;

	for (uint32_t i = 0; order && i < items; i++)
		order[i] = i;
	if (order && items)
		qsort_r(order, items, sizeof(*order), compare_items, c->sample);
	bad = !order || !begin || fill_members(c, order, begin);
	/* items of calls that are not compared have no members */
	for (uint32_t i = 0; !bad && i < items; i++) {
		if (begin[i + 1] == begin[i])
			continue;
		order[n] = order[i];
		begin[n++] = begin[i];
	}
	if (!bad)
		begin[n] = c->nmembers;
	c->value = calloc((size_t)c->nmembers + 1, sizeof(*c->value));
	bad = bad || !c->value;
	for (uint32_t i = 0; !bad && i < n; i++)
		for (uint32_t k = begin[i]; k < begin[i + 1]; k++)
			c->value[k] = order[i];
	for (uint32_t i = 1; !bad && i <= n; i++) {
		if (i < n && item_get(c->sample, order[i]).feature ==
				     item_get(c->sample, order[from]).feature)
			continue;
		bad = add_feature(c, order, begin, from, i);
		from = i;
	}
	free(order);
	free(begin);
	return bad ? -1 : 0;
}

/* Get the least p that a set of m calls can have. */
static double tail_least_p(const struct tail_comparison *c, uint32_t m, bool time)
{
	return strata_least_p(&c->strata, &(struct stratum){.n = c->of.n, .s = c->of.s, .m = m},
			      time);
}

static int compare_ps(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Count the tests that can be significant if there are so many (Tarone 1990). */
static int count_tests(struct tail_comparison *c)
{
	double *p = calloc(c->candidates * CUTS + 1, sizeof(*p)), limit = 0;
	uint64_t n = 0, tests;

	if (!p)
		return -1;
	for (size_t i = 0; i < c->candidates; i++) {
		const struct candidate *k = &c->candidate[i];
		bool time = candidate_is_time(c, k);

		for (uint32_t j = 0; j < k->cuts; j++)
			p[n++] = tail_least_p(c, k->end - k->cut[j], time);
		if (!k->cuts)
			p[n++] = tail_least_p(c, k->end - k->begin, time);
	}
	qsort(p, n, sizeof(*p), compare_ps);
	tests = n;
	while (c->tests < tests) {
		limit = c->alpha / (double)++c->tests;
		while (tests && p[tests - 1] > limit)
			tests--;
	}
	for (size_t i = 0; i < c->candidates; i++) {
		struct candidate *k = &c->candidate[i];
		bool time = candidate_is_time(c, k);

		for (uint32_t j = 0; j < k->cuts; j++)
			k->tests += tail_least_p(c, k->end - k->cut[j], time) <= limit;
		if (!k->cuts)
			k->tests = tail_least_p(c, k->end - k->begin, time) <= limit;
	}
	free(p);
	return 0;
}

/* --- tests --- */

/* Count the calls from member `begin` on in the strata. */
static void fill_strata(struct tail_comparison *c, uint32_t begin, uint32_t end)
{
	for (uint32_t i = 0; i < c->strata.count; i++)
		c->strata.of[i].m = c->strata.of[i].a = 0;
	for (uint32_t i = begin; i < end; i++) {
		struct stratum *k = &c->strata.of[c->stratum[c->member[i]]];

		k->m++;
		k->a += c->member[i] < c->of.s;
	}
}

/* Find the threshold of numbers that goes with the slow calls most: over all their values, as the
 * thresholds that are tested may be far from the true one. */
static void find_best(struct tail_comparison *c, struct candidate *k)
{
	bool time = candidate_is_time(c, k);
	double excess = 0, variance = 0;

	k->z = 0;
	fill_strata(c, k->begin, k->begin);
	for (uint32_t i = k->end; i-- > k->begin + 1;) {
		struct stratum *of = &c->strata.of[c->stratum[c->member[i]]];
		bool slow = c->member[i] < c->of.s;
		double z;

		variance -= stratum_variance(of);
		of->m++;
		of->a += slow;
		excess += slow - (double)of->s / of->n;
		variance += stratum_variance(of);
		if (c->value[i] == c->value[i - 1])
			continue;
		z = z_of(excess, variance);
		if (time ? z > k->z : fabs(z) > fabs(k->z)) {
			k->z = z;
			k->best = i;
		}
	}
}

/* Get how many times as uncertain the number of slow calls among the members is, as both come in
 * bursts; the strata are filled with them. */
static double burst_inflation(struct tail_comparison *c, uint32_t begin, uint32_t end)
{
	for (uint32_t i = 0; i < c->of.n; i++) {
		const struct stratum *k = &c->strata.of[c->stratum[i]];

		c->x[c->at[i]] = -(double)k->m / k->n;
		c->y[c->at[i]] = (i < c->of.s) - (double)k->s / k->n;
	}
	for (uint32_t i = begin; i < end; i++)
		c->x[c->at[c->member[i]]] += 1;
	return series_inflation(c->x, c->y, c->of.n);
}

/* Get p of the members from `begin` on; below the limit it is that with bursts: as of so many times
 * fewer calls, as the logarithm of a small p is proportional to their number. Negative: out of
 * memory. */
static double members_p(struct tail_comparison *c, uint32_t begin, const struct candidate *k,
			double limit)
{
	double p;

	fill_strata(c, begin, k->end);
	p = strata_p(&c->strata, candidate_is_time(c, k));
	if (p < 0 || p > limit)
		return p;
	return pow(fmax(p, DBL_MIN), 1 / burst_inflation(c, begin, k->end));
}

/* Get p of a candidate, corrected for its thresholds, not for other candidates. Negative: out of
 * memory. */
static double candidate_p(struct tail_comparison *c, const struct candidate *k, double limit)
{
	double least = k->cuts ? 1 : members_p(c, k->begin, k, limit);

	for (uint32_t i = 0; i < k->cuts && least >= 0; i++)
		least = fmin(least, members_p(c, k->cut[i], k, limit));
	return least;
}

/* Divide the strata by a candidate: of numbers also by the thresholds that were tested, as what
 * goes with the number may depend on more than one threshold. Returns -1 when out of memory. */
static int divide_strata(struct tail_comparison *c, const struct candidate *k)
{
	uint8_t *bin = calloc((size_t)c->of.n + 1, sizeof(*bin));
	uint32_t *number = calloc((size_t)c->strata.count * RUNS_MOST + 1, sizeof(*number));
	uint32_t count = 0, cut = 0;

	for (uint32_t i = k->begin; bin && i < k->end; i++) {
		while (cut < k->cuts && k->cut[cut] <= i)
			cut++;
		bin[c->member[i]] = (uint8_t)(1 + 2 * cut + (k->cuts && i >= k->best));
	}
	for (uint32_t i = 0; bin && number && i < c->of.n; i++) {
		uint32_t *to = &number[c->stratum[i] * RUNS_MOST + bin[i]];

		if (!*to)
			*to = ++count;
		c->stratum[i] = *to - 1;
	}
	free(number);
	memset(c->strata.of, 0, c->of.n * sizeof(*c->strata.of));
	c->strata.count = count;
	for (uint32_t i = 0; bin && i < c->of.n; i++) {
		c->strata.of[c->stratum[i]].n++;
		c->strata.of[c->stratum[i]].s += i < c->of.s;
	}
	free(bin);
	return bin && number ? 0 : -1;
}

/* Make one stratum of all calls. */
static void join_strata(struct tail_comparison *c)
{
	memset(c->stratum, 0, c->of.n * sizeof(*c->stratum));
	c->strata.count = 1;
	c->strata.of[0] = (struct stratum){.n = c->of.n, .s = c->of.s};
}

/* --- what is named --- */

/* Test whether all compared calls have the feature of a candidate, as a text or as a number. */
static bool is_whole(const struct tail_comparison *c, const struct candidate *k)
{
	struct sample_item item, other;
	uint32_t calls = 0;

	if (k->cuts || k->item == INTERN_NONE)
		return k->end - k->begin == c->of.n;
	item = item_get(c->sample, k->item);
	for (size_t i = 0; i < c->candidates; i++) {
		const struct candidate *of = &c->candidate[i];

		if (of->cuts || of->feature != k->feature || of->item == INTERN_NONE)
			continue;
		other = item_get(c->sample, of->item);
		if (item_is_number(&other) == item_is_number(&item))
			calls += of->end - of->begin;
	}
	return calls == c->of.n;
}

/* Keep the difference that a candidate makes. */
static void name_candidate(struct tail_comparison *c, struct candidate *k, double p)
{
	struct named *to = &c->named[c->nnamed++];
	struct risk_ratio risk = {.per_other =
					  (double)(c->of.all - c->of.slow) / (c->of.n - c->of.s),
				  .per_slow = (double)c->of.slow / c->of.s};

	*to = (struct named){.feature = k->feature,
			     .item = k->item,
			     .begin = k->cuts ? k->best : k->begin,
			     .end = k->end,
			     .number = k->cuts,
			     .without = k->z < 0,
			     .p = p};
	if (to->number)
		to->item = c->value[to->begin];
	k->named = true;
	fill_strata(c, to->begin, to->end);
	for (uint32_t i = to->begin; i < to->end; i++) {
		to->slow += c->member[i] < c->of.s;
		to->rest += c->member[i] >= c->of.s;
	}
	to->whole = is_whole(c, k);
	if (to->without) {
		to->slow = c->of.s - to->slow;
		to->rest = c->of.n - c->of.s - to->rest;
	}
	risk.inflation = burst_inflation(c, to->begin, to->end);
	risk.without = to->without;
	strata_ratio(&c->strata, &risk);
	to->ratio = risk.ratio;
	to->low = risk.low;
	to->high = risk.high;
}

static int compare_by_z(const void *a, const void *b)
{
	const struct candidate *x = *(struct candidate *const *)a;
	const struct candidate *y = *(struct candidate *const *)b;
	double p = fabs(x->z), q = fabs(y->z);

	if (p != q)
		return p < q ? 1 : -1;
	/* what is there before what is not, then in the order of features */
	if ((x->z < 0) != (y->z < 0))
		return x->z < 0 ? 1 : -1;
	return (x > y) - (x < y);
}

/* Get the candidates of a kind that are left in the order of their z; and how many tests these
 * are. */
static size_t order_candidates(struct tail_comparison *c, bool time, struct candidate **order,
			       uint64_t *tests)
{
	size_t n = 0;

	*tests = c->tests;
	for (size_t i = 0; i < c->candidates; i++) {
		struct candidate *k = &c->candidate[i];

		if (k->named)
			*tests -= k->tests < *tests ? k->tests : *tests - 1;
		if (k->named || !k->tests || candidate_is_time(c, k) != time)
			continue;
		if (k->cuts) {
			find_best(c, k);
		} else {
			fill_strata(c, k->begin, k->end);
			k->z = strata_z(&c->strata);
		}
		if (time && k->z < 0)
			k->z = 0;
		order[n++] = k;
	}
	if (n)
		qsort(order, n, sizeof(*order), compare_by_z);
	return n;
}

/* Name the candidate of a kind that explains most of what is left. Returns 1; 0: none is
 * significant; -1: out of memory. */
static int name_next(struct tail_comparison *c, bool time, struct candidate **order)
{
	/* no p of a smaller z is significant after the correction */
	const double z_least = 2;
	uint64_t tests;
	size_t n = order_candidates(c, time, order, &tests);

	for (size_t i = 0; i < n && fabs(order[i]->z) > z_least; i++) {
		double p = candidate_p(c, order[i], c->alpha / (double)tests);

		if (p < 0)
			return -1;
		p = fmin(p * (double)tests, 1);
		c->least = p < c->least ? p : c->least;
		if (p > c->alpha)
			continue;
		name_candidate(c, order[i], fmax(p, P_LEAST));
		return divide_strata(c, order[i]) ? -1 : 1;
	}
	return 0;
}

/* Name what differs of one kind. Returns -1 when out of memory. */
static int name_all(struct tail_comparison *c, bool time)
{
	struct candidate **order = calloc(c->candidates + 1, sizeof(struct candidate *));
	size_t first = c->nnamed;
	int more = order ? 1 : -1;

	while (more > 0 && c->nnamed - first < NAMED_MOST)
		more = name_next(c, time, order);
	free(order);
	return more < 0 ? -1 : 0;
}

/* Set *most to how well the rows from `from` on, or the first of them, tell the slow calls: z
 * squared of having one of them. Two causes together have the slow calls; two decoys have other
 * calls too. Returns -1 when out of memory. */
static int named_explain(const struct tail_comparison *c, size_t from, double *most)
{
	uint8_t *any = calloc((size_t)c->of.n + 1, sizeof(*any));
	struct stratum k = {.n = c->of.n, .s = c->of.s};

	*most = 0;
	for (size_t i = from; any && i < c->nnamed; i++) {
		const struct named *d = &c->named[i];
		uint8_t *in = calloc((size_t)c->of.n + 1, sizeof(*in));
		double excess, z;

		for (uint32_t m = d->begin; in && m < d->end; m++)
			in[c->member[m]] = 1;
		k.m = k.a = 0;
		for (uint32_t m = 0; in && m < c->of.n; m++) {
			any[m] |= in[m] != d->without;
			k.m += any[m];
			k.a += any[m] && m < c->of.s;
		}
		excess = k.a - (double)k.m * k.s / k.n;
		z = z_of(excess, stratum_variance(&k));
		*most = fmax(*most, z > 0 ? z * z : 0);
		free(in);
	}
	free(any);
	return any ? 0 : -1;
}

/* Divide the strata by all that is named of a kind. Returns -1 when out of memory. */
static int divide_named(struct tail_comparison *c, bool time)
{
	join_strata(c);
	for (size_t i = 0; i < c->candidates; i++)
		if (c->candidate[i].named && candidate_is_time(c, &c->candidate[i]) == time &&
		    divide_strata(c, &c->candidate[i]))
			return -1;
	return 0;
}

/* Forget what is named of a kind. */
static void forget_named(struct tail_comparison *c, bool time)
{
	for (size_t i = 0; i < c->candidates; i++)
		if (candidate_is_time(c, &c->candidate[i]) == time)
			c->candidate[i].named = false;
}

static bool same_named(const struct named *a, const struct named *b)
{
	return a->feature == b->feature && a->number == b->number &&
	       (a->number || a->item == b->item);
}

/* With shares of the time first: name the others within what these explain. Those that make no
 * difference there only go with the first share. Returns -1 when out of memory. */
static int name_within_times(struct tail_comparison *c, size_t others)
{
	struct named alone[NAMED_MOST];
	size_t times = c->nnamed - others;

	memcpy(alone, c->named, others * sizeof(*alone));
	memmove(c->named, c->named + others, times * sizeof(*alone));
	c->nnamed = times;
	forget_named(c, false);
	if (divide_named(c, true) || name_all(c, false))
		return -1;
	for (size_t i = 0; i < others; i++) {
		size_t k = times;

		while (k < c->nnamed && !same_named(&alone[i], &c->named[k]))
			k++;
		if (k == c->nnamed)
			c->with[c->nwith++] = alone[i];
	}
	return 0;
}

/* Name what is different, in the order in which it is written. Returns -1 when out of memory. */
static int name_differences(struct tail_comparison *c)
{
	size_t others;
	double explained, by_times;

	join_strata(c);
	if (name_all(c, false) || named_explain(c, 0, &explained))
		return -1;
	others = c->nnamed;
	/* alone first: do shares of the time explain much more? */
	join_strata(c);
	if (name_all(c, true) || named_explain(c, others, &by_times))
		return -1;
	if (by_times > TIMES_MORE * explained)
		return name_within_times(c, others);
	/* no: what do they explain besides? */
	c->nnamed = others;
	forget_named(c, true);
	return divide_named(c, false) || name_all(c, true) ? -1 : 0;
}

/* --- the comparison of a trace --- */

static void comparison_free(struct tail_comparison *c)
{
	for (size_t i = 0; i < c->nnamed; i++)
		free(c->named[i].note);
	free(c->of.call);
	free(c->member);
	free(c->value);
	free(c->candidate);
	free(c->stratum);
	strata_free(&c->strata);
	free(c->at);
	free(c->x);
	free(c->y);
}

/* --- output --- */

/* Append the value of an item. */
static int put_item_value(struct buffer *b, const struct call_sample *m, uint32_t number)
{
	struct sample_item item = item_get(m, number);
	char digits[SHORTEST_SIZE];
	struct text_ref text;
	bool begins;

	switch ((enum field_form)item.form) {
	case FORM_INT: return buffer_signed(b, (int64_t)item.bits);
	case FORM_UINT: return buffer_decimal(b, item.bits);
	case FORM_REAL:
		return buffer_append(b, digits, shortest_double(digits, (double)item_value(&item)));
	default: break;
	}
	text = item_text(m, number, &begins);
	return buffer_append(b, text.text, text.size) || (begins && buffer_puts(b, "...")) ? -1 : 0;
}

/* Get the operator of a condition on the feature. */
static const char *relation_of(const struct call_sample *m, const struct named *d)
{
	struct sample_item item;

	if (d->number)
		return d->without ? "<" : ">=";
	if (d->item == INTERN_NONE)
		return d->without ? "!has" : "has";
	item = item_get(m, d->item);
	if (item.form == FORM_TEXT && item.bits)
		return d->without ? "!~" : "=~";
	return d->without ? "!=" : "==";
}

/* Append the value of an item as the right side of a condition. */
static int put_operand(struct buffer *b, const struct call_sample *m, uint32_t number)
{
	struct buffer pattern = {0};
	struct text_ref text;
	bool begins;
	int bad;

	if (item_get(m, number).form != FORM_TEXT)
		return put_item_value(b, m, number);
	text = item_text(m, number, &begins);
	if (!begins)
		return expression_put_string(b, text.text, text.size);
	bad = buffer_u8(&pattern, '^');
	for (uint32_t i = 0; i < text.size && !bad; i++) {
		if (memchr(".[]()*+?{}|\\^$", text.text[i], 14))
			bad = buffer_u8(&pattern, '\\');
		bad = bad || buffer_u8(&pattern, (uint8_t)text.text[i]);
	}
	bad = bad || expression_put_string(b, (const char *)pattern.data, pattern.size);
	buffer_free(&pattern);
	return bad ? -1 : 0;
}

/* Append a difference: "arg.size >= 65536", "child fsync", "no child fsync". */
static int put_difference(struct buffer *b, const struct call_sample *m, const struct named *d)
{
	enum feature_kind kind = feature_kind(m, d->feature);
	const char *name = feature_name(m, d->feature), *words;
	struct named positive = *d;
	bool no = d->without;

	if (!d->number && d->item == INTERN_NONE)
		return buffer_printf(b, "%s(%s)", relation_of(m, d), name);
	switch (kind) {
	case FEATURE_CHILD: words = no ? "no child " : "child "; break;
	case FEATURE_BEFORE: words = no ? "not after " : "after "; break;
	case FEATURE_WAKER: words = no ? "not woken by " : "woken by "; break;
	case FEATURE_STATE:
	case FEATURE_CHILD_TIME:
		return buffer_printf(b, "%s%s %s ", kind == FEATURE_CHILD_TIME ? "child " : "",
				     name, relation_of(m, d)) ||
				       put_item_value(b, m, d->item) ||
				       buffer_puts(b, "% of the time")
			       ? -1
			       : 0;
	default:
		/* a comparison is false of calls that lack the feature */
		no = d->without && !d->whole;
		positive.without &= !no;
		return buffer_printf(b, "%s%s %s ", no ? "!(" : "", name,
				     relation_of(m, &positive)) ||
				       put_operand(b, m, d->item) || (no && buffer_puts(b, ")"))
			       ? -1
			       : 0;
	}
	return buffer_puts(b, words) || put_item_value(b, m, d->item) ? -1 : 0;
}

/* Test whether two sets are nearly the same: of the calls in either, 19 of 20 are in both. */
static bool is_alike(const struct tail_comparison *c, const struct named *d, const uint8_t *in,
		     const struct candidate *k)
{
	uint32_t both = 0, n = k->end - k->begin, of = d->end - d->begin, either;

	if (k->cuts || k->feature == d->feature)
		return false;
	for (uint32_t i = k->begin; i < k->end; i++)
		both += in[c->member[i]];
	either = n + of - both;
	if (d->without) {
		uint32_t neither = c->of.n - either;

		either = c->of.n - both;
		both = neither;
	}
	return (uint64_t)both * 20 >= (uint64_t)either * 19;
}

/* Note which other features nearly the same calls have, at most a few. */
static int note_alike(struct tail_comparison *c, const struct named *d, struct buffer *b)
{
	enum { ALIKE_MOST = 3 };
	uint8_t *in = calloc((size_t)c->of.n + 1, sizeof(*in));
	int bad = in ? 0 : -1;
	unsigned found = 0;

	for (uint32_t i = d->begin; in && i < d->end; i++)
		in[c->member[i]] = 1;
	for (size_t i = 0; i < c->candidates && !bad && found < ALIKE_MOST; i++) {
		const struct candidate *k = &c->candidate[i];
		const struct named other = {.feature = k->feature,
					    .item = k->item,
					    .without = d->without,
					    .whole = true};

		if (is_alike(c, d, in, k))
			bad = buffer_puts(b, found++ ? ", " : "as ") ||
			      put_difference(b, c->sample, &other);
	}
	free(in);
	return bad ? -1 : 0;
}

/* Set the notes of what is named. Returns -1 when out of memory. */
static int note_named(struct tail_comparison *c)
{
	for (size_t i = 0; i < c->nnamed; i++) {
		struct named *d = &c->named[i];
		struct buffer b = {0};
		int bad = note_alike(c, d, &b);

		for (size_t k = 0; !i && k < c->nwith && !bad; k++)
			bad = buffer_puts(&b, k	       ? ", "
					      : b.size ? "; often with "
						       : "often with ") ||
			      put_difference(&b, c->sample, &c->with[k]);
		if (!bad && b.size)
			bad = buffer_u8(&b, '\0');
		d->note = (char *)b.data;
		if (bad)
			return -1;
	}
	return 0;
}

static void put_cell(struct aligned *a, const char *fmt, double x)
{
	char text[40];

	aligned_cell(a, text, (size_t)snprintf(text, sizeof text, fmt, x), INK_PLAIN);
}

static void put_share(struct aligned *a, uint32_t n, uint32_t of)
{
	put_cell(a, n == of || !n || 100.0 * n / of >= 0.995 ? "%.1f%%" : "%.2g%%",
		 of ? 100.0 * n / of : 0);
}

/* Get a ratio with the digits that it deserves. */
static void format_ratio(char text[static 40], double x)
{
	snprintf(text, 40, x < 99.5 ? "%.2g" : x < 1e6 ? "%.0f" : "%.1e", x);
}

static int put_row(struct tail_comparison *c, const struct named *d, struct aligned *a)
{
	struct buffer b = {0};
	char text[40], low[40], both[96];
	int bad;

	put_share(a, d->slow, c->of.s);
	put_share(a, d->rest, c->of.n - c->of.s);
	format_ratio(text, d->ratio);
	aligned_cell(a, text, strlen(text), INK_PLAIN);
	format_ratio(low, d->low);
	format_ratio(text, d->high);
	aligned_cell(a, both, (size_t)snprintf(both, sizeof both, "%s - %s", low, text), INK_PLAIN);
	put_cell(a, d->p > P_LEAST ? "%.2g" : "< %.0e", d->p > P_LEAST ? d->p : P_LEAST);
	bad = put_difference(&b, c->sample, d) || (d->note && buffer_printf(&b, " (%s)", d->note));
	if (!bad)
		aligned_cell(a, (const char *)b.data, b.size, INK_PLAIN);
	buffer_free(&b);
	return bad ? -1 : 0;
}

static int put_table(struct tail_comparison *c, struct screen *screen, struct text *out,
		     struct error *e)
{
	static const char *const names[] = {"slow",	     "rest", "risk ratio",
					    "95 % interval", "p",    "difference"};
	enum { COLUMNS = sizeof(names) / sizeof(*names) };
	struct aligned a;
	int bad = 0;

	aligned_begin(&a, COLUMNS);
	for (unsigned i = 0; i < COLUMNS && a.column; i++)
		a.column[i] = (struct aligned_column){
			.name = names[i], .text = i == COLUMNS - 1, .omit_order = i == 3 ? 1 : 0};
	for (size_t i = 0; i < c->nnamed && !bad; i++)
		bad = put_row(c, &c->named[i], &a);
	bad = bad ? error_no_memory(e) : aligned_write(&a, screen, out, e);
	aligned_free(&a);
	return bad;
}

/* Write in which tenth of the time most of the slow calls began, if they are not spread evenly. */
static void put_tenth(const struct tail_comparison *c, struct text *out)
{
	enum { TENTHS = 10 };
	const struct call_sample *m = c->sample;
	struct stratum tenth[TENTHS] = {0};
	int most = 0;

	for (uint32_t i = 0; i < c->of.n; i++) {
		uint64_t at = c->of.call[i]->start - m->first;
		struct stratum *k = &tenth[(uint128)at * TENTHS / (m->last_start - m->first + 1)];

		k->m++;
		k->a += i < c->of.s;
	}
	for (int i = 0; i < TENTHS; i++) {
		tenth[i].n = c->of.n;
		tenth[i].s = c->of.s;
		most = tenth[i].a > tenth[most].a ? i : most;
	}
	if (strata_p(&(struct strata){&tenth[most], 1, c->strata.log_factorial}, true) * TENTHS <=
	    c->alpha)
		text_printf(out,
			    "slow calls come in bursts: %.2g%% of them and %.2g%% of the others "
			    "began in tenth %d of the time\n",
			    100.0 * tenth[most].a / c->of.s,
			    100.0 * (tenth[most].m - tenth[most].a) / (c->of.n - c->of.s),
			    most + 1);
}

/* Write what is compared, the table, and what was not named. */
static int put_people(struct tail_comparison *c, const char *quantile, struct screen *screen,
		      struct text *out, struct error *e)
{
	char above[VALUE_SIZE];

	format_duration(above, c->of.above, c->sample->clocks.ticks);
	text_printf(out,
		    "%s%" PRIu64 " of %" PRIu64
		    " calls are slow: longer than %s, the quantile %s\n",
		    c->of.about ? "about " : "", c->of.slow, c->of.all, above, quantile);
	if (c->of.s < c->of.slow || c->of.n - c->of.s < c->of.all - c->of.slow)
		text_printf(out,
			    "compared: samples of %" PRIu32 " slow calls and %" PRIu32 " others\n",
			    c->of.s, c->of.n - c->of.s);
	if (c->of.s && c->of.s < c->of.n)
		put_tenth(c, out);
	if (c->nnamed)
		return put_table(c, screen, out, e);
	if (!c->of.slow)
		return 0;
	text_printf(out, "nothing is significantly different: of %" PRIu64 " candidates ",
		    c->tests);
	if (c->least < 1)
		text_printf(out, "the best has p %.2g, corrected\n", c->least);
	else
		text_puts(out, "none differs by more than chance does\n");
	return 0;
}

static void put_real(struct cells *cells, double x)
{
	char text[40];

	cells_number(cells, text, (size_t)snprintf(text, sizeof text, "%.4g", x));
}

static int put_cells(struct tail_comparison *c, const struct named *d, struct cells *cells,
		     struct buffer *b)
{
	enum feature_kind kind = feature_kind(c->sample, d->feature);
	bool value = d->item != INTERN_NONE;
	struct sample_item item = value ? item_get(c->sample, d->item) : (struct sample_item){0};

	b->size = 0;
	if (put_difference(b, c->sample, d))
		return -1;
	cells_text(cells, (const char *)b->data, b->size);
	b->size = 0;
	if (buffer_printf(b, "%s%s", feature_name(c->sample, d->feature),
			  kind >= FEATURE_STATE ? "%" : ""))
		return -1;
	cells_text(cells, (const char *)b->data, b->size);
	cells_text(cells, relation_of(c->sample, d), strlen(relation_of(c->sample, d)));
	b->size = 0;
	if (value && put_item_value(b, c->sample, d->item))
		return -1;
	if (!value)
		cells_none(cells);
	else if (item_is_number(&item))
		cells_number(cells, (const char *)b->data, b->size);
	else
		cells_text(cells, (const char *)b->data, b->size);
	cells_u64(cells, d->slow);
	cells_u64(cells, c->of.s);
	cells_u64(cells, d->rest);
	cells_u64(cells, c->of.n - c->of.s);
	put_real(cells, d->ratio);
	put_real(cells, d->low);
	put_real(cells, d->high);
	put_real(cells, d->p);
	if (d->note)
		cells_text(cells, d->note, strlen(d->note));
	else
		cells_none(cells);
	return 0;
}

static int put_differences(struct tail_comparison *c, enum table_format format, struct text *out)
{
	static const char *const names[] = {"difference", "feature", "relation", "value", "slow",
					    "slow_of",	  "rest",    "rest_of",	 "ratio", "low",
					    "high",	  "p",	     "note"};
	struct buffer b = {0};
	struct cells cells;
	int bad = 0;

	cells_begin(&cells, out, format, names, sizeof(names) / sizeof(*names));
	for (size_t i = 0; i < c->nnamed && !bad; i++)
		bad = put_cells(c, &c->named[i], &cells, &b);
	cells_end(&cells);
	buffer_free(&b);
	return bad;
}

static int compare_by_start(const void *a, const void *b, void *ctx)
{
	const struct tail_comparison *c = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t x = c->of.call[i]->start, y = c->of.call[k]->start;

	return x != y ? (x > y) - (x < y) : (i > k) - (i < k);
}

/* Set the places of the calls in the order of time. Returns -1 when out of memory. */
static int order_by_time(struct tail_comparison *c)
{
	uint32_t *order = calloc((size_t)c->of.n + 1, sizeof(*order));

	c->at = calloc((size_t)c->of.n + 1, sizeof(*c->at));
	c->x = calloc((size_t)c->of.n + 1, sizeof(*c->x));
	c->y = calloc((size_t)c->of.n + 1, sizeof(*c->y));
	for (uint32_t i = 0; order && i < c->of.n; i++)
		order[i] = i;
	if (order && c->of.n)
		qsort_r(order, c->of.n, sizeof(*order), compare_by_start, c);
	for (uint32_t i = 0; order && c->at && i < c->of.n; i++)
		c->at[order[i]] = i;
	free(order);
	return order && c->at && c->x && c->y ? 0 : -1;
}

/* Compare the calls. Returns -1 when out of memory. */
static int compare_calls(struct tail_comparison *c)
{
	if (call_sample_choose(c->sample, c->quantile, &c->of))
		return -1;
	c->stratum = calloc((size_t)c->of.n + 1, sizeof(*c->stratum));
	if (strata_init(&c->strata, c->of.n, c->of.s) || !c->stratum || order_by_time(c))
		return -1;
	/* with all calls slow, or none, there is nothing to compare */
	if (!c->of.s || c->of.s == c->of.n)
		return 0;
	return make_candidates(c) || count_tests(c) || name_differences(c) || note_named(c) ? -1
											    : 0;
}

/* Take all blocks. Returns -1 with e filled, or when out of memory. */
static int tail_run(struct call_sample *m, struct stage *stage, struct query *q, struct error *e)
{
	bool weights = false;
	struct block block;

	while (stage_next(stage, &block)) {
		report_missed_calls(stage, &block);
		if (call_sample_block(m, &block) || clocks_check(&m->clocks, CLOCKS_HINT, e) ||
		    query_check_clocks(q, &m->clocks, weights, e))
			return -1;
	}
	return call_sample_end(m);
}

/* Write the result. Returns -1 with e filled. */
static int tail_write(void *ctx, const struct stat_settings *s, struct text *out, struct error *e)
{
	struct tail_comparison *c = ctx;

	if (s->format != TABLE_ALIGNED)
		return put_differences(c, s->format, out) ? error_no_memory(e) : 0;
	return c->sample->count ? put_people(c, s->quantile_text ? s->quantile_text : "0.99",
					     s->screen, out, e)
				: 0;
}

/* Compare the calls, and print the result. Returns -1; the error is in stage. */
static int tail_print(struct call_sample *m, struct stage *stage, const struct query *q)
{
	const struct stat_settings *s = q->settings;
	struct tail_comparison c = {.sample = m,
				    .quantile = s->quantile_text ? s->quantile : 0.99,
				    .alpha = s->alpha,
				    .least = 1};
	int bad = compare_calls(&c) ? stage_no_memory(stage) : view_print(stage, s, tail_write, &c);

	if (!bad && !stage->options->quiet && m->any && !m->count)
		warn(NULL, NO_OFFSET, "the condition is true of none of %" PRIu64 " calls", m->any);
	else if (!bad && !stage->options->quiet && m->count && !c.of.slow)
		warn(NULL, NO_OFFSET,
		     "no call is longer than the quantile %s of all: use a lower one",
		     s->quantile_text ? s->quantile_text : "0.99");
	comparison_free(&c);
	return bad;
}

void run_explain_tail(struct stage *stage, struct query *q)
{
	struct call_sample m;
	struct error e = {0};
	int bad = call_sample_init(&m, &q->where, &stage->in.dictionary) ||
		  tail_run(&m, stage, q, &e);

	if (bad && e.what[0])
		stage_fail(stage, &e);
	else if (bad)
		stage_no_memory(stage);
	if (!query_check_names(stage, q, NULL)) {
		if (!tail_print(&m, stage, q) && !stage->options->quiet)
			report_events(stage, q, &m.calls.counts);
	}
	call_sample_free(&m);
}
