/*
 * diff.c - the difference of two traces, or of many runs of two sides
 */
#include "cmd/trstat/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/trstat/run.h"
#include "cmd/trstat/statistics.h"
#include "cmd/trstat/summary.h"
#include "cmd/trstat/table.h"
#include "common/expr/expression.h"
#include "common/pairs/keys.h"
#include "common/pairs/pair.h"
#include "common/picture/flame_graph.h"
#include "common/util/error.h"
#include "common/util/histogram.h"
#include "common/util/operands.h"
#include "common/util/screen.h"
#include "common/value/aligned.h"
#include "common/value/scalar.h"

/* --- what the writers of --diff have in common --- */

/* The values of a column in a row: in A, in B, and B less A where both have one. With many runs
 * they are those of the means, and the test of the column follows. */
enum diff_cell {
	CELL_A,
	CELL_B,
	CELL_CHANGE,
	CELLS_OF_TRACES,
	CELL_LOW = CELLS_OF_TRACES,
	CELL_HIGH,
	CELL_EFFECT,
	CELL_P,
	CELLS_OF_RUNS
};

static const char *const cell_names[] = {"a", "b", "change", "low", "high", "effect", "p"};

/* The columns of the test, after those of -c; with many runs the first one alone. */
enum diff_test {
	DIFF_VERDICT,
	DIFF_EFFECT,
	DIFF_SHIFT,
	DIFF_SHIFT_LOW,
	DIFF_SHIFT_HIGH,
	DIFF_P,
	DIFF_TESTS
};

static const char *const test_names[DIFF_TESTS] = {
	[DIFF_VERDICT] = "verdict",	[DIFF_EFFECT] = "effect",	  [DIFF_SHIFT] = "shift",
	[DIFF_SHIFT_LOW] = "shift_low", [DIFF_SHIFT_HIGH] = "shift_high", [DIFF_P] = "p"};

/*
 * --fail-if with --diff: conditions on the rows of the difference.
 *
 * A condition is in the language of common/expr/expression.h. Its fields are the cells of a row:
 * keys, columns with _a, _b and _change, and those of the test. A _change that is compared with a
 * percentage is the share of the value in A.
 */

/* Why no row decides an alarm, the reason to report last. */
enum diff_lack {
	LACKS_NOTHING, /* the rows lack values */
	LACKS_TIMES,   /* a row has times in one trace at most */
	LACKS_CALLS_FOR_P,
	LACKS_CALLS, /* for a verdict */
};

/* A word or a condition of --fail-if. */
struct diff_alarm {
	const char *text;	/* as the user wrote it */
	struct node *condition; /* NULL: a word */
	uint32_t verdicts;	/* of a word: one bit for each enum diff_verdict */
};

struct diff_alarms {
	const struct diff *diff;
	const struct diff_options *options;
	struct diff_alarm *alarm;
	size_t count;
	/* while one is judged */
	const struct diff_row *row;
	uint32_t verdicts;
	bool deciding; /* it is true for no row */
	enum diff_lack lack;
	bool few_reported; /* too few calls for a verdict */
};

/* --- diff --- */

/* The words of verdicts, of two traces and of many runs. */
static const char *const diff_verdicts[] = {"", "slower", "faster", "new", "gone", NULL},
			 *const runs_verdicts[] = {"",	   "slower",  "faster", "new",
						   "gone", "changed", NULL};

/* Get the word of a bit of diff_options.fail_if. */
static const char *diff_fail_if_word(enum diff_verdict v)
{
	return v == DIFF_SAME ? "changed" : runs_verdicts[v];
}

bool diff_fail_if(struct diff_options *o, const char *text)
{
	for (int v = DIFF_SAME; v < DIFF_VERDICTS; v++) {
		if (strcmp(text, diff_fail_if_word(v)) != 0)
			continue;
		o->fail_if |= 1u << v;
		return true;
	}
	return false;
}

/* --- the groups of both traces --- */

/* Copy a cell; stacks, which are nodes of their own trace's tree, become texts. */
static int copy_cell(struct groups *into, const struct groups *from, const struct key_cell *cell,
		     struct key_cell *copy)
{
	const char *text;
	size_t size;

	if (cell->kind != KEY_STACK)
		return groups_copy_cell(into, from, cell, copy);
	if (!groups_cell_text(from, cell, &text, &size))
		return 0;
	return groups_text(into, text, size, copy);
}

/* Get the row of a group of either trace. The union's aggregates contain the rows' numbers,
 * from 1. */
static struct diff_row *diff_row_of(struct diff *d, const struct groups *from,
				    const struct aggregate *a, struct key_cell *cells)
{
	const struct key_cell *key = groups_cells(from, a);
	struct aggregate *group;

	for (size_t i = 0; i < from->keys; i++) {
		cells[i] = (struct key_cell){0};
		if (copy_cell(&d->groups, from, &key[i], &cells[i]))
			return NULL;
	}
	group = groups_find(&d->groups, cells);
	if (!group)
		return NULL;
	if (!group->calls) {
		if (ARRAY_REACH(d->row, d->capacity, d->count))
			return NULL;
		group->calls = ++d->count;
		d->row[d->count - 1].group = group;
	}
	return &d->row[group->calls - 1];
}

/* Take the groups of one trace. Returns -1 when out of memory. */
static int pair_side(struct diff *d, const struct groups *side, bool of_b)
{
	struct key_cell *cells = calloc(side->keys + 1, sizeof(*cells));
	int bad = !cells;

	for (size_t i = 0; !bad && i < side->count; i++) {
		const struct aggregate *group = groups_at(side, i);
		struct diff_row *r = diff_row_of(d, side, group, cells);

		bad = !r;
		if (r)
			*(of_b ? &r->b : &r->a) = group;
	}
	free(cells);
	return bad ? -1 : 0;
}

/* --- the tests --- */

static int test_row(const struct diff *d, struct diff_row *r, double alpha)
{
	uint32_t in_a = d->columns->wanted.histogram, in_b = d->b->columns->wanted.histogram;
	struct diff_sample a = {0}, b = {0};
	int bad = 0;

	/* weights of samples are no times of calls */
	if (!r->a || !r->b || !in_a || !in_b || d->a->samples.type || d->b->samples.type)
		return 0;
	bad = sample_of_histogram(&a, aggregate_part(r->a, in_a)) ||
	      sample_of_histogram(&b, aggregate_part(r->b, in_b));
	if (!bad && rank_test(&a, &b, &r->test)) {
		r->tested = true;
		rank_shift(&a, &b, &r->test, alpha);
		r->p = r->test.p;
		r->p_least = r->test.p_least;
	}
	sample_free(&a);
	sample_free(&b);
	return bad;
}

/* Correct the p or, with least, the p_least of all rows. */
static int diff_adjust(struct diff *d, bool least)
{
	double *p = calloc(d->count + 1, sizeof(*p));
	size_t n = 0;
	int bad = !p;

	for (size_t i = 0; !bad && i < d->count; i++)
		if (d->row[i].tested)
			p[n++] = least ? d->row[i].p_least : d->row[i].p;
	bad = bad || holm_adjust(p, n);
	n = 0;
	for (size_t i = 0; !bad && i < d->count; i++)
		if (d->row[i].tested)
			*(least ? &d->row[i].p_least : &d->row[i].p) = p[n++];
	free(p);
	return bad ? -1 : 0;
}

static enum diff_verdict diff_judge(const struct diff *d, const struct diff_row *r, double alpha,
				    double threshold)
{
	const struct aggregate *a = r->a;
	double median, shift = fabs((double)r->test.shift);

	if (!r->a || !r->b)
		return r->a ? DIFF_GONE : DIFF_NEW;
	if (!r->tested || r->p >= alpha)
		return DIFF_SAME;
	median = (double)aggregate_quantile(a, &d->columns->wanted, 1, 2);
	if (shift < threshold * median)
		return DIFF_SAME;
	return r->test.effect > 0 ? DIFF_SLOWER : DIFF_FASTER;
}

/* --- the order of rows --- */

static int diff_rank_of(const struct diff_row *r)
{
	return r->verdict == DIFF_SAME				   ? 2
	       : r->verdict == DIFF_NEW || r->verdict == DIFF_GONE ? 1
								   : 0;
}

/* Set what rows of one rank are sorted by, the largest first. Of two traces: the effect, then the
 * difference of the totals. Of many runs: with a verdict the change of the first column, else its
 * mean. */
static void diff_sizes_of(const struct diff_row *r, double size[2])
{
	const struct run_change *c = r->change;

	if (c) {
		size[0] = r->verdict != DIFF_SAME ? fabs(c->mean_b - c->mean_a)
						  : fmax(fabs(c->mean_a), fabs(c->mean_b));
		size[0] = isnan(size[0]) ? 0 : size[0];
		size[1] = 0;
	} else {
		size[0] = r->tested ? fabs(r->test.effect) : -1;
		size[1] = fabs((double)(r->b ? r->b->total : 0) - (double)(r->a ? r->a->total : 0));
	}
}

static int diff_compare_rows(const void *x, const void *y, void *ctx)
{
	const struct diff_row *r = x, *s = y;
	const struct diff *d = ctx;
	double by[2], than[2];

	if (diff_rank_of(r) != diff_rank_of(s))
		return diff_rank_of(r) - diff_rank_of(s);
	diff_sizes_of(r, by);
	diff_sizes_of(s, than);
	for (int i = 0; i < 2; i++)
		if (by[i] != than[i])
			return by[i] > than[i] ? -1 : 1;
	return groups_compare_first(&d->groups, r->group, s->group, d->groups.keys);
}

/* Make the names of a row's cells: the keys, NAME_a NAME_b NAME_change ... of each column, and the
 * test. Returns -1 when out of memory. */
static int diff_names(struct diff *d)
{
	const struct columns *columns = d->columns;
	size_t most = d->groups.keys + d->cells * columns->printed + DIFF_TESTS;
	bool bad;

	d->names = calloc(most, sizeof(*d->names));
	bad = !d->names;
	for (size_t i = 0; !bad && i < d->groups.keys; i++)
		bad = !(d->names[d->nnames++] = strdup(d->a->keys->names[i]));
	for (size_t i = 0; !bad && i < d->cells * columns->printed; i++) {
		bad = asprintf(&d->names[d->nnames], "%s_%s", columns->column[i / d->cells].name,
			       cell_names[i % d->cells]) < 0;
		d->nnames += !bad;
	}
	for (size_t i = 0; !bad && i < d->tests; i++)
		bad = !(d->names[d->nnames++] = strdup(test_names[i]));
	return bad ? -1 : 0;
}

/* Begin with the first trace; runs: NULL: there are two. */
static void diff_begin(struct diff *d, const struct statistics *a, double alpha,
		       struct diff_runs *runs)
{
	*d = (struct diff){.a = a,
			   .b = a,
			   .columns = a->columns,
			   .runs = runs,
			   .alpha = alpha,
			   .cells = runs ? CELLS_OF_RUNS : CELLS_OF_TRACES,
			   .tests = runs ? 1 : DIFF_TESTS};
	d->wanted.size = (sizeof(struct aggregate) + 15) / 16 * 16;
	groups_init(&d->groups, a->groups.keys, &d->wanted);
}

/* Compare A and B, which have the same keys and columns. Order of the rows: changed groups by
 * the size of the effect; groups of one trace only by their time; other groups by the effect.
 * Returns -1 when out of memory. */
static int diff_make(struct diff *d, const struct statistics *a, const struct statistics *b,
		     const struct diff_options *o)
{
	double alpha = diff_alpha_of(o);

	diff_begin(d, a, alpha, NULL);
	d->b = b;
	if (pair_side(d, &d->a->groups, false) || pair_side(d, &d->b->groups, true) ||
	    diff_names(d))
		return -1;
	for (size_t i = 0; i < d->count; i++)
		if (test_row(d, &d->row[i], alpha))
			return -1;
	if (diff_adjust(d, false) || diff_adjust(d, true))
		return -1;
	for (size_t i = 0; i < d->count; i++) {
		d->tested += d->row[i].tested;
		d->few += d->row[i].tested && !diff_can_judge(&d->row[i], o);
	}
	for (size_t i = 0; i < d->count; i++)
		d->row[i].verdict = diff_judge(d, &d->row[i], alpha, o->threshold);
	if (d->count)
		qsort_r(d->row, d->count, sizeof(*d->row), diff_compare_rows, d);
	return 0;
}

/* --- many runs --- */

static double diff_real_of(const struct column_value *v)
{
	return number_real(v->number, v->fraction);
}

/* Test whether the change of a column is significant. */
static bool is_significant(const struct diff *d, const struct run_change *c)
{
	return c->tested && c->p < d->alpha;
}

/* Make room for the values of all rows. Returns -1 when out of memory. */
static int runs_reach(struct diff *d)
{
	struct diff_runs *runs = d->runs;
	size_t n = runs->a + runs->b, values = n * d->columns->printed;

	if (!d->count || ARRAY_REACH(runs->value, runs->value_capacity, d->count * values - 1) ||
	    ARRAY_REACH(runs->rows, runs->rows_capacity, d->count * n - 1))
		return d->count ? -1 : 0;
	for (size_t i = runs->reached * values; i < d->count * values; i++)
		runs->value[i] = NAN;
	runs->reached = d->count;
	return 0;
}

/* Note how long a run is. */
static void runs_length(struct diff_runs *runs, const struct statistics *s, const char *file)
{
	uint64_t length = s->first < s->last ? s->last - s->first : 0;

	if (!length)
		return;
	if (!runs->longest || length > runs->most) {
		runs->most = length;
		runs->longest = file;
	}
	if (!runs->shortest || length < runs->least) {
		runs->least = length;
		runs->shortest = file;
	}
}

/* Take the values of the next run, of the groups that s has. Returns -1 when out of memory. */
static int runs_take(struct diff *d, const struct statistics *s, const char *file)
{
	struct diff_runs *runs = d->runs;
	struct key_cell *cells = calloc(s->groups.keys + 1, sizeof(*cells));
	struct columns_run run = statistics_run(s, false);
	size_t n = runs->a + runs->b;
	int bad = !cells;

	for (size_t i = 0; !bad && i < s->groups.count; i++) {
		const struct aggregate *a = groups_at(&s->groups, i);
		struct diff_row *r = diff_row_of(d, &s->groups, a, cells);
		size_t row = r ? (size_t)(r - d->row) : 0;

		bad = !r || runs_reach(d);
		for (size_t k = 0; !bad && k < d->columns->printed; k++) {
			struct column_value v =
				column_value(s->columns, &s->columns->column[k], a, &run);

			if (v.present)
				runs->value[(row * d->columns->printed + k) * n + runs->at] =
					diff_real_of(&v);
		}
		if (!bad)
			runs->rows[row * n + runs->at] = (double)aggregate_count(a);
	}
	free(cells);
	runs_length(runs, s, file);
	runs->at++;
	return bad ? -1 : 0;
}

/*
 * Get the resolution of a statistic. A percentile has the width of its bucket. A sum of calls and
 * events has the share of one of them, unless all runs have the same number: by chance they may
 * have some more, or some less. rows: that number by run.
 */
static double resolution_of(const struct column *column, const double *value, const double *rows,
			    size_t runs)
{
	unsigned flags = column->type->flags;
	double sum = 0, of_rows = 0, n = 0, least = 1;
	bool same = true;

	for (size_t i = 0; i < runs; i++) {
		same &= rows[i] == rows[0];
		of_rows += rows[i];
		if (isnan(value[i]))
			continue;
		n++;
		sum += fabs(value[i]);
		if (value[i] != floor(value[i]))
			least = 0;
	}
	if (flags & COLUMN_PERCENTILE && n > 0 && sum / n < 0x1p62) {
		uint32_t bucket = histogram_index((uint64_t)(sum / n));

		return (double)(histogram_high(bucket) - histogram_low(bucket) + 1);
	}
	if (flags & COLUMN_SUM && !(flags & COLUMN_UNIQ) && !same)
		return fmax(least, sum / of_rows);
	return least;
}

/* Get the verdict of a row: that of its first time that has changed, or else of any column. */
static enum diff_verdict judge_runs(const struct diff *d, const struct diff_row *r,
				    double threshold)
{
	const struct diff_runs *runs = d->runs;
	const double *rows = &runs->rows[(size_t)(r - d->row) * (runs->a + runs->b)];
	enum diff_verdict verdict = DIFF_SAME;
	double in_a = 0, in_b = 0;

	for (size_t i = 0; i < d->columns->printed; i++) {
		const struct run_change *c = &r->change[i];
		bool time = column_unit(&d->columns->column[i]) == UNIT_DURATION;
		double change = c->mean_b - c->mean_a;

		if (!is_significant(d, c) || fabs(change) < threshold * fabs(c->mean_a) ||
		    (verdict != DIFF_SAME && (verdict != DIFF_CHANGED || !time)))
			continue;
		verdict = !time ? DIFF_CHANGED : change > 0 ? DIFF_SLOWER : DIFF_FASTER;
	}
	for (size_t i = 0; i < runs->a + runs->b; i++)
		*(i < runs->a ? &in_a : &in_b) += rows[i];
	if (verdict != DIFF_SAME && (in_a == 0 || in_b == 0))
		return in_a > 0 ? DIFF_GONE : DIFF_NEW;
	return verdict;
}

/* A group that a run does not have counts as 0 in sums, if any run has a value. */
static void fill_sum(double *value, size_t runs)
{
	bool any = false;

	for (size_t i = 0; i < runs; i++)
		any |= !isnan(value[i]);
	for (size_t i = 0; any && i < runs; i++)
		if (isnan(value[i]))
			value[i] = 0;
}

/* Test all rows. Returns -1 when out of memory. */
static int test_runs(struct diff *d)
{
	struct diff_runs *runs = d->runs;
	size_t n = runs->a + runs->b, printed = d->columns->printed, count = d->count * printed;
	double *resolution = calloc(count + 1, sizeof(*resolution));
	int bad;

	runs->change = calloc(count + 1, sizeof(*runs->change));
	bad = !resolution || !runs->change;
	for (size_t i = 0; !bad && i < count; i++) {
		const struct column *column = &d->columns->column[i % printed];

		if (column->type->flags & COLUMN_SUM)
			fill_sum(&runs->value[i * n], n);
		resolution[i] =
			resolution_of(column, &runs->value[i * n], &runs->rows[i / printed * n], n);
	}
	runs->test = (struct runs_test){.a = runs->a,
					.b = runs->b,
					.count = count,
					.value = runs->value,
					.resolution = resolution,
					.change = runs->change};
	bad = bad || runs_test(&runs->test, d->alpha);
	free(resolution);
	return bad ? -1 : 0;
}

/* Compare the runs, which are all taken. Returns -1 when out of memory. */
static int runs_compare(struct diff *d, const struct diff_options *o)
{
	size_t printed = d->columns->printed;

	if (diff_names(d) || test_runs(d))
		return -1;
	for (size_t i = 0; i < d->count; i++) {
		struct diff_row *r = &d->row[i];

		r->change = &d->runs->change[i * printed];
		r->p = -1;
		r->p_least = d->runs->test.p_least;
		for (size_t k = 0; k < printed; k++)
			r->tested |= r->change[k].tested;
		d->tested += r->tested;
		d->few += r->tested && !diff_can_judge(r, o);
		r->verdict = judge_runs(d, r, o->threshold);
	}
	if (d->count)
		qsort_r(d->row, d->count, sizeof(*d->row), diff_compare_rows, d);
	return 0;
}

static void diff_free(struct diff *d)
{
	groups_free(&d->groups);
	free(d->row);
	for (size_t i = 0; i < d->nnames; i++)
		free(d->names[i]);
	free(d->names);
	free(d->order);
	if (d->runs) {
		free(d->runs->value);
		free(d->runs->rows);
		free(d->runs->change);
	}
}

/* --- -s with --diff: by keys, by columns of A, of B, their change, and by the test --- */

/* Get the mean of the values of a column. */
static struct column_value mean_value(const struct column *column, double mean)
{
	struct group_number n = {0};
	char digits[32];

	if (column_unit(column) != UNIT_NUMBER) {
		mean = round(mean);
	} else if (fabs(mean) >= 1) {
		mean = round(mean * 1000) / 1000;
	} else {
		snprintf(digits, sizeof(digits), "%.6g", mean);
		mean = strtod(digits, NULL);
	}
	if (!isnan(mean))
		n = number_of_real(mean);
	return (struct column_value){!isnan(mean), n.whole, n.fraction};
}

static void run_values(const struct diff *d, const struct diff_row *r, size_t column,
		       struct column_value v[static CELLS_OF_RUNS])
{
	const struct column *shown = &d->columns->column[column];
	const struct run_change *c = &r->change[column];
	double none = c->tested ? 0 : NAN;

	v[CELL_A] = mean_value(shown, c->mean_a);
	v[CELL_B] = mean_value(shown, c->mean_b);
	v[CELL_CHANGE] = mean_value(shown, c->mean_b - c->mean_a);
	v[CELL_LOW] = mean_value(shown, none + c->low);
	v[CELL_HIGH] = mean_value(shown, none + c->high);
	v[CELL_EFFECT] = (struct column_value){.present = c->tested, .fraction = c->effect};
	v[CELL_P] = (struct column_value){.present = c->tested, .fraction = r->p < 0 ? c->p : r->p};
}

static void diff_values(const struct diff *d, const struct diff_row *r, size_t column,
			struct column_value v[static CELLS_OF_RUNS])
{
	struct columns_run run_a = statistics_run(d->a, false), run_b = statistics_run(d->b, false);
	struct column_value *a = &v[CELL_A], *b = &v[CELL_B], *change = &v[CELL_CHANGE];
	struct group_number of_change = {0};

	if (r->change) {
		run_values(d, r, column, v);
		return;
	}
	*a = *b = (struct column_value){0};
	if (r->a)
		*a = column_value(d->columns, &d->columns->column[column], r->a, &run_a);
	if (r->b)
		*b = column_value(d->b->columns, &d->b->columns->column[column], r->b, &run_b);
	change->present = a->present && b->present;
	if (a->fraction != 0 || b->fraction != 0) {
		double real = diff_real_of(b) - diff_real_of(a);

		change->present &= isfinite(real);
		of_change = number_of_real(change->present ? real : 0);
	} else {
		change->present &= !__builtin_sub_overflow(b->number, a->number, &of_change.whole);
	}
	change->number = of_change.whole;
	change->fraction = of_change.fraction;
}

static struct column_value test_number(const struct diff_row *r, size_t test)
{
	struct column_value n = {.present = r->tested};

	switch (test) {
	case DIFF_VERDICT:
		n.present = r->verdict != DIFF_SAME;
		n.number = -(int128)r->verdict;
		break;
	case DIFF_EFFECT: n.fraction = r->test.effect; break;
	case DIFF_SHIFT: n.number = r->test.shift; break;
	case DIFF_SHIFT_LOW: n.number = r->test.shift_low; break;
	case DIFF_SHIFT_HIGH: n.number = r->test.shift_high; break;
	case DIFF_P: n.fraction = r->p; break;
	}
	return n;
}

/* Get the number in a cell. cell: counted from the first one after the keys */
static struct column_value diff_number(const struct diff *d, const struct diff_row *r, size_t cell)
{
	size_t printed = d->cells * d->columns->printed;
	struct column_value v[CELLS_OF_RUNS];

	if (cell >= printed)
		return test_number(r, cell - printed);
	diff_values(d, r, cell / d->cells, v);
	return v[cell % d->cells];
}

static int compare_in_order(const void *x, const void *y, void *ctx)
{
	const struct diff_row *r = x, *s = y;
	const struct diff *d = ctx;
	const struct groups *g = &d->groups;

	for (size_t i = 0; i < d->norder; i++) {
		size_t cell = d->order[i].cell;
		bool descending = d->order[i].descending;
		struct column_value v, w;
		int c;

		if (cell < g->keys) {
			c = compare_cells(g, &groups_cells(g, r->group)[cell],
					  &groups_cells(g, s->group)[cell], descending);
		} else {
			v = diff_number(d, r, cell - g->keys);
			w = diff_number(d, s, cell - g->keys);
			c = column_value_compare(&v, &w, descending);
		}
		if (c)
			return c;
	}
	return groups_compare_first(g, r->group, s->group, g->keys);
}

/* Find the cell of that name; a column alone is its value in B. option: for the message, with words
 * that it takes besides. -1 with e filled. */
static int diff_find_cell(const struct diff *d, const char *option, const char *words,
			  const char *name, size_t n, struct error *e)
{
	const struct columns *c = d->columns;
	struct nearest nearest;

	nearest_begin(&nearest, name, n);
	nearest_offer_words(&nearest, words);
	for (size_t i = 0; i < d->nnames; i++) {
		if (strlen(d->names[i]) == n && !memcmp(d->names[i], name, n))
			return (int)i;
		nearest_offer(&nearest, d->names[i], strlen(d->names[i]));
	}
	for (size_t i = 0; i < c->printed; i++) {
		if (strlen(c->column[i].name) == n && !memcmp(c->column[i].name, name, n))
			return (int)(d->groups.keys + d->cells * i + CELL_B);
		nearest_offer(&nearest, c->column[i].name, strlen(c->column[i].name));
	}
	return error_set(e, NULL, NO_OFFSET,
			 "%s takes keys of -g, columns such as %s, %s_a and %s_change, %s and "
			 "verdict with --diff, not '%.*s'%s",
			 option, c->column[0].name, c->column[0].name, c->column[0].name,
			 d->runs ? "those with _low, _high, _effect and _p" : "shift, effect, p",
			 (int)(n < 64 ? n : 64), name, nearest_hint(&nearest));
}

/* Sort the rows by a list as of -s. Returns -1 with e filled. */
static int diff_sort(struct diff *d, const char *list, struct error *e)
{
	for (;; list++) {
		size_t n = keys_item_length(list);
		bool sign = *list == '+' || *list == '-';
		int cell = diff_find_cell(d, "-s", "", list + sign, n - sign, e);

		if (cell < 0)
			return -1;
		if (ARRAY_GROW(d->order, d->order_capacity, d->norder))
			return error_no_memory(e);
		d->order[d->norder].cell = (size_t)cell;
		d->order[d->norder++].descending =
			sign ? *list == '-' : (size_t)cell >= d->groups.keys;
		list += n;
		if (!*list)
			break;
	}
	if (d->count)
		qsort_r(d->row, d->count, sizeof(*d->row), compare_in_order, d);
	return 0;
}

/*
 * The rows of --diff as an aligned table: for each column its value in B and its change, then the
 * shift and its significance, then the keys.
 */

enum { OF_TEST = 4 };

static bool diff_ticks(const struct diff *d)
{
	return d->a->ticks || d->b->ticks;
}

static void put_text(struct aligned *a, const char *text, enum ink ink)
{
	aligned_cell(a, text, strlen(text), ink);
}

/* Get the ink of a change from a row's verdict. */
static enum ink diff_ink(const struct diff_row *r)
{
	return r->verdict == DIFF_SLOWER   ? INK_WORSE
	       : r->verdict == DIFF_FASTER ? INK_BETTER
					   : INK_PLAIN;
}

static void put_change(struct aligned *to, const struct diff_row *r, const struct column_value *v,
		       const struct column *column)
{
	const struct column_value *c = &v[CELL_CHANGE];
	char text[VALUE_SIZE] = "";
	double a = diff_real_of(&v[CELL_A]), change = 100 * diff_real_of(c) / fabs(a);

	if (!r->a || !r->b)
		snprintf(text, sizeof(text), "%s", diff_verdicts[r->verdict]);
	else if (!c->present || column_unit(column) == UNIT_TIME)
		;
	else if (!c->number && c->fraction == 0)
		snprintf(text, sizeof(text), "=");
	else if (a == 0)
		snprintf(text, sizeof(text), "from 0");
	else if (fabs(change) < 9999.5)
		snprintf(text, sizeof(text), "%+.1f %%", change);
	else
		snprintf(text, sizeof(text), "x %.3g", diff_real_of(&v[CELL_B]) / a);
	put_text(to, text, INK_PLAIN);
}

static void put_shift(struct aligned *a, int128 shift, bool ticks)
{
	char text[VALUE_SIZE], digits[VALUE_SIZE];

	format_duration(digits, shift, ticks);
	snprintf(text, sizeof(text), "%s%.46s", shift > 0 ? "+" : "", digits);
	put_text(a, text, INK_PLAIN);
}

/* Test whether a column is left out of the table unless -c names it. */
static bool diff_lacks(const struct diff *d, const struct query *q, size_t column)
{
	return column < q->optional && d->count &&
	       column_of_single_weights(&d->columns->column[column]);
}

static void put_test(struct aligned *a, const struct diff_row *r, bool ticks)
{
	char text[VALUE_SIZE];

	if (r->tested) {
		put_shift(a, r->test.shift, ticks);
		snprintf(text, sizeof(text), "%+.2f", r->test.effect);
		put_text(a, text, INK_PLAIN);
		snprintf(text, sizeof(text), "%.2g", r->p);
		put_text(a, text, INK_PLAIN);
	} else {
		for (size_t i = 0; i + 1 < OF_TEST; i++)
			put_text(a, "", INK_PLAIN);
	}
	put_text(a, diff_verdicts[r->verdict], diff_ink(r));
}

/* Write the change of a mean with its interval: "+10.2 % +-1.3 %", and after "~" if it is not
 * significant. */
static void put_run_change(struct aligned *to, const struct diff *d, const struct diff_row *r,
			   size_t column)
{
	const struct run_change *c = &r->change[column];
	double change = c->mean_b - c->mean_a, half = (c->high - c->low) / 2, of = fabs(c->mean_a);
	bool significant = is_significant(d, c);
	const char *mark = c->tested && !significant ? "~ " : "";
	char text[VALUE_SIZE] = "", interval[VALUE_SIZE / 2] = "";

	if (c->tested && of > 0)
		snprintf(interval, sizeof(interval), " +-%.3g %%", 100 * half / of);
	if (isnan(change) || column_unit(&d->columns->column[column]) == UNIT_TIME)
		;
	else if (change == 0 && (!c->tested || half * 1000 < of))
		snprintf(text, sizeof(text), "=");
	else if (of == 0)
		snprintf(text, sizeof(text), "%sfrom 0", mark);
	else if (fabs(100 * change / of) < 9999.5)
		snprintf(text, sizeof(text), "%s%+.1f %%%s", mark, 100 * change / of, interval);
	else
		snprintf(text, sizeof(text), "%sx %.3g", mark, c->mean_b / c->mean_a);
	put_text(to, text, significant ? diff_ink(r) : INK_PLAIN);
}

/* Get the least p of a row's columns; 2: none is tested. */
static double least_p(const struct diff *d, const struct diff_row *r)
{
	double p = 2;

	for (size_t i = 0; i < d->columns->printed; i++)
		if (r->change[i].tested && r->change[i].p < p)
			p = r->change[i].p;
	return p;
}

static void put_run_test(struct aligned *a, const struct diff *d, const struct diff_row *r)
{
	char text[VALUE_SIZE] = "";
	double p = least_p(d, r);

	if (p <= 1)
		snprintf(text, sizeof(text), "%.2g", p);
	put_text(a, text, INK_PLAIN);
	put_text(a, runs_verdicts[r->verdict], diff_ink(r));
}

/* Write what "~" means, and whether all changes are such. */
static void put_runs_line(const struct diff *d, struct text *out)
{
	const struct diff_runs *runs = d->runs;
	size_t changed = 0;

	for (size_t i = 0; i < d->count; i++)
		changed += d->row[i].verdict != DIFF_SAME;
	if (changed)
		text_printf(out, "~ no significant change");
	else
		text_printf(out, "no significant change in %zu group%s", d->count,
			    d->count == 1 ? "" : "s");
	text_printf(out, " (p >= %g, %zu and %zu runs)\n", d->alpha, runs->a, runs->b);
}

/* Get the text of a row's key, or its number in digits, a buffer of the caller. */
static const char *diff_key_text(const struct diff *d, const struct query *q,
				 const struct diff_row *r, size_t key,
				 char digits[static VALUE_SIZE], size_t *n)
{
	const struct key_cell *cell = &groups_cells(&d->groups, r->group)[key];
	const char *p;

	if (groups_cell_text(&d->groups, cell, &p, n))
		return p;
	*n = cell->kind == KEY_MISSING
		     ? 0
		     : format_key_aligned(digits, &q->keys, key, cell, diff_ticks(d));
	return digits;
}

static void diff_aligned_put_row(struct aligned *a, const struct diff *d, const struct query *q,
				 const struct diff_row *r)
{
	const struct columns *c = d->columns;
	bool ticks = diff_ticks(d);
	char text[VALUE_SIZE];

	for (size_t i = 0; i < c->printed; i++) {
		struct column_value v[CELLS_OF_RUNS];

		if (diff_lacks(d, q, i))
			continue;
		diff_values(d, r, i, v);
		format_column(text, &c->column[i], v[r->change || r->b ? CELL_B : CELL_A], ticks);
		put_text(a, text, INK_PLAIN);
		if (r->change)
			put_run_change(a, d, r, i);
		else
			put_change(a, r, v, &c->column[i]);
	}
	if (r->change)
		put_run_test(a, d, r);
	else
		put_test(a, r, ticks);
	for (size_t k = 0; k < d->groups.keys; k++) {
		size_t n;
		const char *p = diff_key_text(d, q, r, k, text, &n);

		aligned_cell(a, p, n, INK_PLAIN);
	}
}

/* Test whether the rows are sorted by a column, its values or (change) its changes. */
static bool diff_sorts(const struct diff *d, size_t column, bool change)
{
	for (size_t i = 0; i < d->norder; i++) {
		size_t cell = d->order[i].cell - d->groups.keys;

		if (d->order[i].cell >= d->groups.keys && cell / d->cells == column &&
		    (cell % d->cells >= CELL_CHANGE) == change)
			return true;
	}
	return false;
}

/* Fill the columns: the values leave a narrow table first, the last ones before the first ones,
 * then the changes. The first change, what the rows are sorted by, and the verdict remain. */
static void diff_put_header(struct aligned *a, const struct diff *d, const struct query *q,
			    char (*names)[VALUE_SIZE])
{
	static const struct {
		const char *name;
		unsigned omit_order;
	} of_test[OF_TEST] = {{"shift", 850}, {"effect", 950}, {"p", 10}, {"verdict", 0}};
	const size_t of_traces = d->runs ? 2 : 0; /* number of those that runs have not */
	const struct columns *c = d->columns;
	size_t n = 0;

	for (size_t i = 0; i < c->printed; i++) {
		const struct column *column = &c->column[i];
		unsigned order = i < 400 ? (unsigned)i : 400;

		if (diff_lacks(d, q, i))
			continue;
		snprintf(names[i], VALUE_SIZE, "%.38s_change", column->name);
		a->column[n++] = (struct aligned_column){
			.name = column->name,
			.unit = column_heading_unit(column, diff_ticks(d), statistics_event(d->b)),
			.optional = i < q->optional,
			.asked = i >= q->usual,
			.omit_order = i && !diff_sorts(d, i, false) ? 500 + order : 0};
		a->column[n++] = (struct aligned_column){
			.name = names[i],
			.optional = i < q->optional,
			.asked = i >= q->usual,
			.omit_order = i && !diff_sorts(d, i, true) ? 450 - order : 0};
	}
	for (size_t i = of_traces; i < OF_TEST; i++)
		a->column[n++] = (struct aligned_column){.name = of_test[i].name,
							 .text = i + 1 == OF_TEST,
							 .optional = q->optional,
							 .omit_order = of_test[i].omit_order};
	for (size_t k = 0; k < d->groups.keys; k++)
		a->column[n++] = (struct aligned_column){.name = q->keys.names[k], .text = true};
	a->columns = n;
}

/* Write the first rows as an aligned table. Returns -1 with e filled. */
static int diff_aligned(const struct diff *d, const struct query *q, size_t rows, struct text *out,
			struct error *e)
{
	size_t columns = d->columns->printed;
	char(*names)[VALUE_SIZE] = calloc(columns + 1, sizeof(*names));
	struct aligned a;
	int bad;

	aligned_begin(&a, 2 * columns + OF_TEST + d->groups.keys);
	a.failed |= !names;
	a.hint = TABLE_HINT;
	a.markdown = q->settings->format == TABLE_MARKDOWN;
	if (!a.failed)
		diff_put_header(&a, d, q, names);
	for (size_t i = 0; i < rows && !a.failed; i++)
		diff_aligned_put_row(&a, d, q, &d->row[i]);
	bad = aligned_write(&a, q->settings->screen, out, e);
	if (d->runs && d->count) {
		text_puts(out, a.markdown ? "\n" : "");
		put_runs_line(d, out);
	}
	table_put_more(out, d->more ? d->count - rows : 0);
	aligned_free(&a);
	free(names);
	return bad;
}

/*
 * The rows of --diff as a differential flame graph.
 *
 * The rows have a single key, the stack, and a single column, its self value.
 */

/* Numbers of sums below 0, and above UINT64_MAX. */
struct diff_widths {
	uint64_t negative, clipped;
};

/* Get a sum as the width of a frame. */
static uint64_t width_of(struct diff_widths *w, struct column_value v)
{
	w->negative += v.present && v.number < 0;
	w->clipped += v.present && v.number > UINT64_MAX;
	return v.present ? saturated_u64(v.number) : 0;
}

static int diff_add_row(struct flame_difference *f, struct diff_widths *w, const struct diff *d,
			const struct diff_row *r)
{
	const struct key_cell *cell = groups_cells(&d->groups, r->group);
	struct column_value v[CELLS_OF_RUNS];
	const char *text;
	size_t size;

	if (!groups_cell_text(&d->groups, cell, &text, &size) || !size)
		return 0;
	diff_values(d, r, 0, v);
	return flame_difference_add(f, text, size, width_of(w, v[CELL_A]), width_of(w, v[CELL_B]));
}

static void remark_sums(const struct diff_widths *w)
{
	warn_count(NULL, w->negative, "{stack|stacks} with a negative weight left out");
	warn_count(NULL, w->clipped, "{sum of a stack was|sums of stacks were} clipped to %" PRIu64,
		   UINT64_MAX);
}

/* Write all rows as a flame graph. Returns -1 with e filled. */
static int diff_svg(const struct diff *d, struct text *out, struct error *e)
{
	const struct columns *columns = d->b->columns;
	struct flame_difference f;
	struct diff_widths w = {0};
	int bad;

	if (d->groups.keys > 1)
		return error_set(e, NULL, NO_OFFSET,
				 "the samples are of several types: choose one with trfilter 'type "
				 "== ...'");
	bad = flame_difference_init(&f);
	for (size_t i = 0; !bad && i < d->count; i++)
		bad = diff_add_row(&f, &w, d, &d->row[i]);
	f.graph.title = *d->title ? d->title : NULL;
	f.graph.what = columns->weights ? "weight of samples" : "time";
	f.graph.unit = columns->weights ? "weight" : d->b->ticks && !columns->ns ? "ticks" : "ns";
	bad = bad || flame_difference_draw(&f, out);
	if (!bad && !d->quiet)
		remark_sums(&w);
	flame_difference_free(&f);
	return bad ? error_no_memory(e) : 0;
}

/*
 * The rows of --diff in machine formats: keys, columns of A, of B and their change, the test.
 */

static void diff_put_real(struct cells *c, bool known, const char *format, double v)
{
	char digits[32];

	if (known)
		cells_number(c, digits, (size_t)snprintf(digits, sizeof(digits), format, v));
	else
		cells_none(c);
}

static void diff_write_put_row(struct cells *c, const struct diff *d, const struct diff_row *r)
{
	const struct columns *columns = d->columns;
	const struct key_cell *keys = groups_cells(&d->groups, r->group);
	const char *verdict = runs_verdicts[r->verdict];

	for (size_t i = 0; i < d->groups.keys; i++)
		cells_key(c, &d->groups, &keys[i]);
	for (size_t i = 0; i < columns->printed; i++) {
		struct column_value v[CELLS_OF_RUNS];

		diff_values(d, r, i, v);
		for (size_t k = 0; k < d->cells && k < CELL_EFFECT; k++)
			cells_value(c, &columns->column[i], v[k]);
		if (!d->runs)
			continue;
		diff_put_real(c, v[CELL_EFFECT].present, "%.4f", v[CELL_EFFECT].fraction);
		diff_put_real(c, v[CELL_P].present, "%.3g", v[CELL_P].fraction);
	}
	if (*verdict)
		cells_text(c, verdict, strlen(verdict));
	else
		cells_none(c);
	if (d->runs)
		return;
	diff_put_real(c, r->tested, "%.4f", r->test.effect);
	cells_integer(c, r->tested, r->test.shift);
	cells_integer(c, r->tested, r->test.shift_low);
	cells_integer(c, r->tested, r->test.shift_high);
	diff_put_real(c, r->tested, "%.3g", r->p);
}

/* Write the rows, at most d->limit. Returns -1 with e filled. */
static int diff_write(const struct diff *d, const struct query *q, struct text *out,
		      struct error *e)
{
	const struct stat_settings *s = q->settings;
	size_t rows = d->limit && d->limit < d->count ? d->limit : d->count;
	struct cells cells;

	if (s->format == TABLE_ALIGNED || s->format == TABLE_MARKDOWN)
		return diff_aligned(d, q, rows, out, e);
	if (s->format == TABLE_SVG)
		return diff_svg(d, out, e);
	cells_begin(&cells, out, s->format, (const char *const *)d->names, d->nnames);
	for (size_t i = 0; i < rows && !text_failed(out); i++)
		diff_write_put_row(&cells, d, &d->row[i]);
	cells_end(&cells);
	return 0;
}

/* --- diff fail if --- */

enum { NAMED_GROUPS = 3 }; /* groups that a message names */

/* Get the number of the test's cell, or -1 for a column. */
static int test_of(const struct diff *d, size_t cell)
{
	size_t columns = d->cells * d->columns->printed;

	return cell < columns ? -1 : (int)(cell - columns);
}

/* Test whether a cell has an effect or a p. */
static bool is_of_test(const struct diff *d, size_t cell)
{
	int test = test_of(d, cell);

	return test < 0 ? cell % d->cells >= CELL_EFFECT : test == DIFF_EFFECT || test == DIFF_P;
}

/* Test whether a cell has a change, or a bound of one. */
static bool is_change(const struct diff *d, size_t cell)
{
	return test_of(d, cell) < 0 && cell % d->cells >= CELL_CHANGE && !is_of_test(d, cell);
}

static enum column_unit diff_unit_of(const struct diff *d, size_t cell)
{
	if (is_of_test(d, cell))
		return UNIT_NUMBER;
	switch (test_of(d, cell)) {
	case DIFF_SHIFT:
	case DIFF_SHIFT_LOW:
	case DIFF_SHIFT_HIGH: return d->columns->weights ? UNIT_NUMBER : UNIT_DURATION;
	case -1: return column_unit(&d->columns->column[cell / d->cells]);
	default: return UNIT_NUMBER;
	}
}

/* --- parsing --- */

/* Refuse a word of --fail-if in a condition. Returns -1. */
static int refuse_word(struct lexer *l, const struct operand *o)
{
	return lexer_error(l, o->column,
			   "--fail-if takes the word '%s' alone; a condition compares the verdict, "
			   "as in 'verdict == \"%s\" && total_b > 1ms'",
			   o->name, strcmp(o->name, "changed") ? o->name : "slower");
}

static int parse_cell(void *ctx, struct lexer *l, struct operand *o, bool quoted)
{
	const struct diff_alarms *all = ctx;
	const struct diff *d = all->diff;
	int cell = diff_find_cell(d, "--fail-if", "changed slower faster new gone", o->name,
				  strlen(o->name), l->error);
	enum column_unit unit;
	size_t at;

	if (cell < 0)
		return diff_fail_if(&(struct diff_options){0}, o->name) ? refuse_word(l, o) : -1;
	if (!quoted && l->token.kind == TOKEN_OPEN)
		return lexer_error(l, l->token.column,
				   "with --diff a condition on keys is joined with &&, as in 'name "
				   "== \"commit\" && p99_change > 10%%'");
	o->field = (unsigned)cell;
	if ((size_t)cell < d->groups.keys) {
		o->words = condition_words(&d->a->keys->key[cell]);
		o->form = o->words ? KNOWN_TEXT : KNOWN_NOTHING;
		return 0;
	}
	at = (size_t)cell - d->groups.keys;
	unit = diff_unit_of(d, at);
	o->words = test_of(d, at) != DIFF_VERDICT ? NULL : d->runs ? runs_verdicts : diff_verdicts;
	o->form = o->words ? KNOWN_TEXT : KNOWN_NUMBER;
	o->of_time = unit == UNIT_DURATION || unit == UNIT_TIME;
	o->may_be_time = test_of(d, at) < 0 && !is_of_test(d, at) &&
			 column_may_be_time(&d->columns->column[at / d->cells]);
	o->of_percent = unit == UNIT_PERCENT || is_change(d, at);
	return 0;
}

static int diff_check_leaf(struct lexer *l, struct node *n, size_t column)
{
	bool time = !n->nfields;

	for (size_t i = 0; i < n->nfields; i++)
		time |= n->fields[i]->of_time || n->fields[i]->form == KNOWN_NOTHING;
	if (n->time_unit && !time)
		return lexer_error(l, column, "%s is not a time", n->fields[0]->name);
	return fail_if_check_leaf(l, n, column);
}

static const struct language language = {
	.field = parse_cell,
	.leaf = diff_check_leaf,
	.no_calls = "under() and over() are trfilter's, which belongs before this program then",
};

/* Add the words of --fail-if, which test verdicts. */
static void add_words(struct diff_alarms *all, const struct diff_options *o)
{
	const uint32_t any = ~(UINT32_MAX << DIFF_VERDICTS) & ~(1u << DIFF_SAME);

	for (int v = DIFF_SAME; v < DIFF_VERDICTS; v++)
		if (o->fail_if >> v & 1)
			all->alarm[all->count++] =
				(struct diff_alarm){.text = diff_fail_if_word(v),
						    .verdicts = v == DIFF_SAME ? any : 1u << v};
}

/* Parse the words and conditions of the options. Returns -1 with e filled; diff_alarms_free in any
 * case. */
static int diff_alarms_parse(struct diff_alarms *all, const struct diff *d,
			     const struct diff_options *o, struct error *e)
{
	struct language of_cells = language;

	*all = (struct diff_alarms){.diff = d, .options = o};
	all->alarm = calloc(o->conditions + DIFF_VERDICTS, sizeof(*all->alarm));
	if (!all->alarm)
		return error_no_memory(e);
	add_words(all, o);
	of_cells.ctx = all;
	for (size_t i = 0; i < o->conditions; i++) {
		struct node *n = expression_parse(o->condition[i], &of_cells, e);

		if (!n)
			return -1;
		all->alarm[all->count++] = (struct diff_alarm){o->condition[i], n, 0};
		if (expression_check_clock(n, "--fail-if", diff_ticks(d), NULL, NULL, e))
			return -1;
	}
	return 0;
}

static void diff_alarms_free(struct diff_alarms *all)
{
	for (size_t i = 0; i < all->count; i++)
		expression_free(all->alarm[i].condition, &language);
	free(all->alarm);
	*all = (struct diff_alarms){0};
}

/* --- judging --- */

/* Get a change in percent of the value in A. */
static struct scalar share_of(const struct diff *d, const struct diff_row *r, size_t cell)
{
	struct column_value a = diff_number(d, r, cell - cell % d->cells + CELL_A);
	struct column_value change = diff_number(d, r, cell);
	struct scalar s = {.form = SCALAR_REAL};

	if (!a.present || !change.present)
		s.form = SCALAR_NONE;
	else if (change.number || change.fraction != 0)
		s.real = (long double)diff_real_of(&change) * 100 / diff_real_of(&a);
	return s;
}

static void diff_give_cell(void *ctx, struct operand *o, struct scalar *s)
{
	const struct diff_alarms *all = ctx;
	const struct diff *d = all->diff;
	const struct key_cell *keys = groups_cells(&d->groups, all->row->group);
	struct column_value n;
	size_t cell;

	if (o->field < d->groups.keys) {
		*s = condition_scalar(&d->groups.texts, &keys[o->field], false);
		return;
	}
	cell = o->field - d->groups.keys;
	if (test_of(d, cell) == DIFF_VERDICT) {
		s->form = SCALAR_TEXT;
		s->text = runs_verdicts[all->row->verdict];
		s->size = strlen(s->text);
		return;
	}
	n = diff_number(d, all->row, cell);
	if (!n.present)
		return;
	if (is_of_test(d, cell)) {
		*s = (struct scalar){.form = SCALAR_REAL, .real = n.fraction};
	} else if (o->percent && is_change(d, cell)) {
		*s = share_of(d, all->row, cell);
	} else {
		*s = column_scalar(diff_unit_of(d, cell), n);
	}
}

/* Append the keys of a row, separated by commas. */
static void append_keys(struct buffer *to, const struct diff *d, const struct diff_row *r)
{
	const struct key_cell *keys = groups_cells(&d->groups, r->group);

	for (size_t i = 0; i < d->groups.keys; i++) {
		char number[VALUE_SIZE];
		const char *text = "";
		size_t size = 0;

		if (keys[i].kind != KEY_MISSING &&
		    !groups_cell_text(&d->groups, &keys[i], &text, &size)) {
			size = format_key(number, &keys[i]);
			text = number;
		}
		buffer_append(to, i ? "," : " ", 1);
		buffer_append(to, text, size < 100 ? size : 100);
	}
}

/* Get the key that a leaf tests alone, other than for being different; NULL: none. */
static const struct operand *key_of_leaf(const struct diff *d, const struct node *n)
{
	bool excludes = n->kind == NODE_COMPARE ? n->comparison == COMPARE_NE : n->negated;

	return n->nfields == 1 && n->fields[0]->field < d->groups.keys && !excludes ? n->fields[0]
										    : NULL;
}

/* Warn of tests of keys that are false for all rows. Returns true if one is a comparison with a
 * text by == or in. */
static bool warn_unmatched(struct diff_alarms *all, const char *text, struct node *n)
{
	const struct expression_values values = {.field = diff_give_cell, .ctx = all};
	const struct operand *key = n->nchildren ? NULL : key_of_leaf(all->diff, n);
	bool names = false;

	for (size_t i = 0; i < n->nchildren && n->kind != NODE_NOT; i++)
		names |= warn_unmatched(all, text, n->children[i]);
	for (size_t i = 0; key && i < all->diff->count; i++) {
		all->row = &all->diff->row[i];
		if (expression_leaf(&values, n))
			return false;
	}
	if (key)
		warn(NULL, NO_OFFSET, "--fail-if '%s': no group matches its condition on %s", text,
		     key->name);
	return names || (key && node_equals_text(n));
}

/* Returns true if the condition does not exclude the row by its keys: no leaf that is joined by &&
 * and tests keys alone is false. */
static bool selects(struct diff_alarms *all, struct node *n)
{
	const struct expression_values values = {.field = diff_give_cell, .ctx = all};

	for (size_t i = 0; n->kind == NODE_AND && i < n->nchildren; i++)
		if (!selects(all, n->children[i]))
			return false;
	return n->nchildren || !key_of_leaf(all->diff, n) || expression_leaf(&values, n);
}

/* Test whether a leaf, or (NULL) a word, is true for the row. */
static bool leaf_holds(const struct expression_values *v, const struct node *n)
{
	const struct diff_alarms *all = v->ctx;

	return n ? expression_leaf(v, n) : all->verdicts >> all->row->verdict & 1;
}

/* The same as if the row had that verdict and that p. */
static bool leaf_would_hold(const struct expression_values *v, const struct node *n,
			    enum diff_verdict verdict, double p)
{
	struct diff_alarms *all = v->ctx;
	const struct diff_row *row = all->row;
	struct diff_row other = *row;
	bool holds;

	other.verdict = verdict;
	other.p = p;
	all->row = &other;
	holds = leaf_holds(v, n);
	all->row = row;
	return holds;
}

/* Returns why the test of the row's times does not decide a leaf: too few calls for a verdict, or
 * for such a p. A row that has no test does not decide whether groups are slower or faster. */
static enum diff_lack lack_of_test(const struct expression_values *v, const struct node *n)
{
	const struct diff_alarms *all = v->ctx;
	const struct diff_row *r = all->row;
	bool same = leaf_would_hold(v, n, DIFF_SAME, r->p),
	     slower = leaf_would_hold(v, n, DIFF_SLOWER, r->p),
	     faster = leaf_would_hold(v, n, DIFF_FASTER, r->p);
	bool depends = slower != same || faster != same;

	for (int i = DIFF_NEW; all->diff->runs && i < DIFF_VERDICTS; i++)
		depends |= leaf_would_hold(v, n, (enum diff_verdict)i, r->p) != same;
	if (r->tested && !diff_can_judge(r, all->options) && depends)
		return LACKS_CALLS;
	if (!all->deciding || leaf_holds(v, n))
		return LACKS_NOTHING;
	if (r->tested)
		return leaf_would_hold(v, n, r->verdict, 0) &&
				       !leaf_would_hold(v, n, r->verdict, r->p_least)
			       ? LACKS_CALLS_FOR_P
			       : LACKS_NOTHING;
	return (slower || faster) && !leaf_would_hold(v, n, DIFF_NEW, r->p) &&
			       !leaf_would_hold(v, n, DIFF_GONE, r->p)
		       ? LACKS_TIMES
		       : LACKS_NOTHING;
}

/* Answer a condition, or (NULL) a word, on a row; ANSWER_LATER: it depends on a column that the row
 * has no value of, or on more calls. */
static enum answer answer_row(void *values, struct node *n)
{
	const struct expression_values *v = values;
	struct diff_alarms *all = v->ctx;
	enum diff_lack lack;

	if (n && expression_joined(n))
		return expression_join(n, answer_row, values);
	for (size_t i = 0; n && i < n->nfields && n->kind != NODE_HAS; i++) {
		struct scalar s = {.form = SCALAR_NONE};

		if (n->fields[i]->field < all->diff->groups.keys)
			continue;
		diff_give_cell(all, n->fields[i], &s);
		if (s.form == SCALAR_NONE)
			return ANSWER_LATER;
	}
	lack = lack_of_test(v, n);
	if (!lack)
		return leaf_holds(v, n) ? ANSWER_YES : ANSWER_NO;
	all->lack = lack > all->lack ? lack : all->lack;
	return ANSWER_LATER;
}

/* Returns true if the condition is decided for no row: each row that it may be true for lacks a
 * value of a column, or calls. With too few runs a single row that it may be true for is enough. */
static bool lacks_values(struct diff_alarms *all, struct node *n)
{
	const struct expression_values values = {.field = diff_give_cell, .ctx = all};
	bool rows = false, decided = false;

	for (size_t i = 0; i < all->diff->count; i++) {
		enum answer is;

		all->row = &all->diff->row[i];
		is = answer_row((void *)(uintptr_t)&values, n);
		rows |= is == ANSWER_LATER;
		/* false for its values, not for its keys */
		decided |= is == ANSWER_NO && (!n || selects(all, n));
	}
	if (all->diff->runs && all->lack > LACKS_TIMES)
		return true;
	return !decided && (rows || !all->diff->count);
}

/* Warn that groups have too few calls for a verdict, or that there are too few runs. before: what
 * the line begins with. */
static void warn_few(const struct diff_alarms *all, const char *before)
{
	const struct diff *d = all->diff;

	if (d->runs) {
		warn(NULL, NO_OFFSET,
		     "%s%zu and %zu run%s are too few for a significant change with --alpha %g: %u "
		     "and %u are enough",
		     before, d->runs->a, d->runs->b, d->runs->b == 1 ? "" : "s", d->alpha,
		     runs_needed(d->alpha), runs_needed(d->alpha));
		return;
	}
	warn(NULL, NO_OFFSET,
	     "%s%zu of %zu group%s with times %s too few calls for a verdict with --alpha %g; "
	     "--fail-if tests changes too, such as 'p99_change > 10%%'",
	     before, d->few, d->tested, d->tested == 1 ? "" : "s", d->few == 1 ? "has" : "have",
	     diff_alpha_of(all->options));
}

/* Warn that a word or a condition could be true for no row; that of words only once. */
static void warn_undecided(struct diff_alarms *all, const struct diff_alarm *a)
{
	char before[200] = "";
	bool few = all->lack == LACKS_CALLS ||
		   (all->lack == LACKS_CALLS_FOR_P && all->diff->runs && all->diff->few);

	if (!a->condition && all->few_reported)
		return;
	all->few_reported |= !a->condition || few;
	if (a->condition)
		snprintf(before, sizeof before, "--fail-if '%.170s': ", a->text);
	if (few)
		warn_few(all, before);
	else
		warn(NULL, NO_OFFSET, "%s%s", before,
		     !all->diff->count ? "neither trace has a group"
		     : all->lack == LACKS_CALLS_FOR_P
			     ? all->diff->runs ? "there are too few runs for this p"
					       : "no group has enough calls for this p"
		     : all->lack && all->diff->tested
			     ? "no group that is compared has times in both traces"
		     : all->lack || !a->condition
			     ? "no group has times in both traces: none is slower or faster"
			     : "no group has the values that are compared");
}

/* Judge a word or a condition. Returns the answer, ANSWER_LATER: no row decides it. */
static enum answer judge(struct diff_alarms *all, const struct diff_alarm *a)
{
	const struct expression_values values = {.field = diff_give_cell, .ctx = all};
	struct buffer named = {0};
	size_t n = 0;

	all->verdicts = a->verdicts;
	all->deciding = false;
	for (size_t k = 0; k < all->diff->count; k++) {
		all->row = &all->diff->row[k];
		if (answer_row((void *)(uintptr_t)&values, a->condition) != ANSWER_YES)
			continue;
		if (n++ < NAMED_GROUPS)
			append_keys(&named, all->diff, all->row);
		else if (n == NAMED_GROUPS + 1)
			buffer_append(&named, " ...", 4);
	}
	if (n)
		warn(NULL, NO_OFFSET, "%s is true for %zu of %zu group%s:%.*s", a->text, n,
		     all->diff->count, all->diff->count == 1 ? "" : "s", (int)named.size,
		     named.data ? (const char *)named.data : "");
	buffer_free(&named);
	if (n)
		return ANSWER_YES;
	if (a->condition && warn_unmatched(all, a->text, a->condition))
		return ANSWER_LATER;
	all->deciding = true;
	all->lack = LACKS_NOTHING;
	if (!lacks_values(all, a->condition))
		return ANSWER_NO;
	warn_undecided(all, a);
	return ANSWER_LATER;
}

/* Test whether a word or a condition is true for a row. Prints each such one. *undecided: one
 * that is true for no row compares with a name that no row has, with a column that no row has a
 * value of, or needs a verdict or a p that no row that is compared can have. */
static bool diff_alarms_judge(struct diff_alarms *all, bool *undecided)
{
	bool any = false;

	for (size_t i = 0; i < all->count; i++) {
		enum answer is = judge(all, &all->alarm[i]);

		any |= is == ANSWER_YES;
		*undecided |= is == ANSWER_LATER;
	}
	return any;
}

/* Warn that groups have too few calls for a verdict, unless diff_alarms_judge did: if all have or,
 * where a word needs a verdict, if any has. */
static void diff_warn_few(const struct diff_alarms *all)
{
	const struct diff *d = all->diff;
	bool words = all->options->fail_if & (1u << DIFF_SLOWER | 1u << DIFF_FASTER);

	if (!all->few_reported && d->few && (words || d->few == d->tested))
		warn_few(all, "");
}

/* --- diff run --- */

/* One of the two inputs, or of the runs. */
struct diff_input {
	char *path;
	struct stage stage;
	struct stat_settings settings;
	struct query query;
	struct statistics statistics;
	const struct diff_input *first; /* of the other ones; NULL: it is the first */
	bool many;			/* one of many runs */
};

/* Rows of two traces are in the order of their totals, and the test needs the histograms that a
 * percentile adds. */
static int add_columns(struct diff_input *s, struct error *e)
{
	struct columns *c = &s->query.columns;

	if (s->many)
		return 0;
	return columns_find(c, "total", e) < 0 || columns_find(c, "p50", e) < 0 ? -1 : 0;
}

static int diff_begin_statistics(struct diff_input *s)
{
	return statistics_init(&s->statistics, &s->query.keys, &s->query.columns,
			       &s->stage.in.dictionary) ||
			       (s->settings.pair && statistics_pair(&s->statistics, &s->query.pair))
		       ? -1
		       : 0;
}

/* Test whether samples are all of one type: for a picture, and beside a first side without the key
 * type. */
static bool has_one_type(const struct diff_input *s)
{
	return s->settings.format == TABLE_SVG || (s->first && !s->first->query.keys.by_type);
}

/* Refuse samples of different types where type is no key. */
static int check_samples(const struct diff_input *s, struct error *e)
{
	const struct sample_counts *c = &s->statistics.samples;
	const char *type = s->first ? s->first->statistics.samples.type : NULL;

	if (!c->other || !has_one_type(s))
		return statistics_check_samples(&s->statistics, e);
	return error_set(e, NULL, NO_OFFSET,
			 "samples of '%.100s' and of '%.100s': choose a type with trfilter 'type "
			 "== \"%.100s\"'",
			 c->type, c->other, type ? type : c->type);
}

/* Begin again with the key type, once, if the types that the stream declares require it. */
static int diff_begin_rows(struct diff_input *s, bool *begun, struct error *e)
{
	if (*begun || has_one_type(s) || !query_mixes_samples(&s->query, &s->stage.in.dictionary)) {
		*begun = true;
		return 0;
	}
	*begun = true;
	statistics_free(&s->statistics);
	s->statistics = (struct statistics){0};
	if (query_add_type(&s->query, e) || add_columns(s, e))
		return -1;
	return diff_begin_statistics(s) ? error_no_memory(e) : 0;
}

/* Read the rows of a stream, whose first block is b. */
static int diff_read_stream(struct diff_input *s, struct block *b)
{
	struct statistics *st = &s->statistics;
	struct stage *stage = &s->stage;
	bool begun = false;
	struct error e;

	if (query_parse(&s->query, &s->settings, &e) || add_columns(s, &e))
		return stage_fail(stage, &e);
	stage->in.reads_values = query_reads_values(&s->query);
	if (diff_begin_statistics(s))
		return stage_no_memory(stage);
	do {
		if (b->kind == BLOCK_EVENTS && diff_begin_rows(s, &begun, &e))
			return stage_fail(stage, &e);
		report_missed_calls(stage, b);
		if (statistics_block(st, b))
			return stage_no_memory(stage);
		if (query_check_clocks(&s->query, &st->clocks, false, &e) ||
		    statistics_check_busy(st, &e) || check_samples(s, &e))
			return stage_fail(stage, error_in_file(&e, s->path));
	} while (stage_next(stage, b));
	if (stage->status == STATUS_FAILED)
		return -1;
	return statistics_finish(st) ? stage_no_memory(stage) : 0;
}

static int read_summary(struct diff_input *s, struct block *b)
{
	struct summary sm = {.s = &s->statistics, .asked = &s->settings};
	struct merging m = {.stage = &s->stage,
			    .q = &s->query,
			    .sm = &sm,
			    .settings = &s->settings,
			    .first = b,
			    .file = s->path,
			    .histograms = !s->many};
	struct error e;
	int bad = summary_merge_run(&m);

	summary_free(&sm);
	if (bad)
		return -1;
	if (s->settings.view == VIEW_TABLE && !s->settings.interval)
		return 0;
	error_set(&e, s->path, NO_OFFSET, "--diff cannot compare the summary of a view");
	return stage_fail(&s->stage, &e);
}

/* Read a stream or a summary, as its first head has it. */
static int read_side(struct diff_input *s)
{
	struct block b;

	s->stage.in.either = true;
	if (!stage_next(&s->stage, &b))
		/* not one complete block was read: a stream without events */
		b = (struct block){0};
	return s->stage.in.summaries ? read_summary(s, &b) : diff_read_stream(s, &b);
}

/* Get the number of keys (-g) or columns (-a). */
static size_t diff_count_of(const struct query *q, bool keys)
{
	return keys ? q->keys.count : q->columns.printed;
}

static const char *diff_name_of(const struct query *q, bool keys, size_t i)
{
	return keys ? q->keys.names[i] : q->columns.column[i].name;
}

static bool same_names(const struct query *a, const struct query *b, bool keys)
{
	bool same = diff_count_of(a, keys) == diff_count_of(b, keys);

	for (size_t i = 0; same && i < diff_count_of(a, keys); i++)
		same = !strcmp(diff_name_of(a, keys, i), diff_name_of(b, keys, i));
	return same;
}

/* List as many names as fit, for a message. */
static void diff_list_names(const struct query *q, bool keys, char *out, size_t size)
{
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < diff_count_of(q, keys) && n < size; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", i ? "," : "",
				      diff_name_of(q, keys, i));
}

/* Warn of samples of two types, whose weights are compared. */
static void check_types(const struct diff_input *a, const struct diff_input *b)
{
	const struct sample_counts *s = &a->statistics.samples, *t = &b->statistics.samples;

	if (s->type && t->type && !s->typed && strcmp(s->type, t->type) != 0 &&
	    !a->stage.options->quiet)
		warn(b->path, NO_OFFSET, "the samples are of '%s', and in %s of '%s'", t->type,
		     a->path, s->type);
}

/* Check that both have the same keys, columns and unit of time. */
static int compare_sides(const struct diff_input *a, const struct diff_input *b, struct error *e)
{
	static const char *const of[] = {"times", "weights"}, *const clock[] = {"ns", "ticks"};
	const struct statistics *s = &a->statistics, *t = &b->statistics;
	bool weights = b->query.columns.weights;
	char one[300], other[300];

	for (int keys = 1; keys >= 0; keys--) {
		if (same_names(&a->query, &b->query, keys))
			continue;
		diff_list_names(&a->query, keys, one, sizeof(one));
		diff_list_names(&b->query, keys, other, sizeof(other));
		return error_set(e, b->path, NO_OFFSET,
				 "has the %s '%s', and not '%s' as %s: use -%c",
				 keys ? "keys" : "columns", other, one, a->path, keys ? 'g' : 'c');
	}
	if (!s->groups.count || !t->groups.count)
		return 0;
	check_types(a, b);
	if (a->query.columns.weights != weights && !s->samples.typed)
		return error_set(e, b->path, NO_OFFSET,
				 "has %s, and not %s of samples as %s: they cannot be compared",
				 of[weights], of[!weights], a->path);
	if (s->ticks != t->ticks && !a->query.columns.weights && !a->query.columns.ns)
		return error_set(e, b->path, NO_OFFSET,
				 "the clock counts %s, and not %s as that of %s: they cannot be "
				 "compared",
				 clock[t->ticks], clock[s->ticks], a->path);
	return 0;
}

static int print_diff(struct stage *stage, const struct diff_input *a, struct diff *d,
		      const char *title)
{
	struct text *text = malloc(sizeof(*text));
	struct error e;
	int bad;

	if (!text)
		return stage_no_memory(stage);
	d->title = title;
	d->quiet = stage->options->quiet;
	text_init(text, &stage->output);
	screen_find(a->settings.screen, &stage->output);
	d->more = output_is_terminal(&stage->output) && !a->settings.limited;
	d->limit = d->more && a->settings.format == TABLE_ALIGNED ? TABLE_ROWS : a->settings.limit;
	bad = diff_write(d, &a->query, text, &e) || text_flush(text, &e);
	free(text);
	return bad ? stage_fail(stage, &e) : 0;
}

/* Report that a stream does not declare the events of the pair, so that it has no groups. */
static bool lacks_pair(const struct diff_input *s)
{
	const struct pair *p = s->statistics.pair;
	char *lacks = p && !p->pairs ? pair_lacks(p->dictionary, p) : NULL;

	if (lacks)
		warn(s->path, NO_OFFSET, "no pair of %s: the trace has %s",
		     p->preset ? p->preset->name : p->text, lacks);
	free(lacks);
	return lacks != NULL;
}

/* Test the conditions of --fail-if. undecided: no row can decide them, as was reported. nameless,
 * named: inputs with and without functions that trsym could name; NULL: none. */
static void fail_if_differs(struct diff_input *a, struct diff_alarms *alarms, bool undecided,
			    const char *nameless, const char *named)
{
	struct error reported = {.what = ""};
	struct stage *stage = &a->stage;
	bool quiet = stage->options->quiet;

	if (stage->status == STATUS_FAILED)
		return;
	if (!undecided && diff_alarms_judge(alarms, &undecided))
		stage->status = status_worse(stage->status, STATUS_CONDITION);
	if (!quiet)
		diff_warn_few(alarms);
	if (nameless && named && (alarms->count || !quiet)) {
		warn(nameless, NO_OFFSET,
		     "some functions have an address but no name, unlike those of %s: run trsym "
		     "before this program",
		     named);
		undecided = true;
	}
	if (undecided && alarms->count && !a->settings.empty_ok && stage->status != STATUS_DAMAGED)
		stage_fail(stage, &reported);
}

static void fail_if_traces_differ(struct diff_input *a, const struct diff_input *b,
				  struct diff_alarms *alarms)
{
	bool in_a = statistics_nameless(&a->statistics), in_b = statistics_nameless(&b->statistics),
	     whole = a->stage.status == STATUS_OK && b->stage.status == STATUS_OK,
	     /* both are reported */
		lacks = alarms->count && !a->settings.empty_ok && whole &&
			lacks_pair(a) + lacks_pair(b) > 0;

	fail_if_differs(a, alarms, lacks,
			in_b   ? b->path
			: in_a ? a->path
			       : NULL,
			!in_a	? a->path
			: !in_b ? b->path
				: NULL);
}

/* Test whether no event of a stream has some field. warned: the warnings so far. */
static bool diff_check_names(struct diff_input *s, struct intern *warned, struct error *e)
{
	return !s->stage.in.summaries &&
	       query_check_names_of(&s->stage, s->path, &s->query, NULL, warned, e);
}

/* Refuse fields that no event of either has. A summary's were checked when it was written. */
static int check_fields(struct diff_input *a, struct diff_input *b, struct error *e)
{
	struct intern warned = {0};
	struct error ea, eb;
	bool bad = diff_check_names(a, &warned, &ea), bad_too = diff_check_names(b, &warned, &eb);

	intern_free(&warned);
	*e = bad ? ea : eb;
	if (bad && bad_too)
		return -1;
	if ((bad || bad_too) && !a->stage.options->quiet)
		warn(e->file, NO_OFFSET, "%s", e->what);
	return 0;
}

/* Get the title of a picture: --title, or the names of both files. */
static const char *title_of(const struct diff_input *a, const struct diff_input *b, char *out,
			    size_t size)
{
	if (a->settings.title)
		return a->settings.title;
	snprintf(out, size, "%.200s, compared with %.200s", basename(b->path), basename(a->path));
	return out;
}

static void make_diff(struct diff_input *a, struct diff_input *b, const struct diff_options *o)
{
	struct stage *stage = &a->stage;
	struct diff_alarms alarms = {0};
	struct diff d = {0};
	struct error e;
	char title[512];

	if (compare_sides(a, b, &e) || check_fields(a, b, &e))
		stage_fail(stage, &e);
	else if (diff_make(&d, &a->statistics, &b->statistics, o))
		stage_no_memory(stage);
	else if (o->sort && diff_sort(&d, o->sort, &e))
		stage_fail(stage, &e);
	else if (diff_alarms_parse(&alarms, &d, o, &e))
		stage_fail(stage, &e);
	else if (!print_diff(stage, a, &d, title_of(a, b, title, sizeof title)))
		fail_if_traces_differ(a, b, &alarms);
	diff_alarms_free(&alarms);
	diff_free(&d);
}

/* Apply to b the keys and columns that a uses, including those from a summary. */
static void follow_side(struct diff_input *b, const struct diff_input *a)
{
	if (a->query.typed_keys)
		b->settings.keys = a->query.typed_keys;
	else if (!b->settings.keys)
		b->settings.keys = a->settings.keys;
	if (!b->settings.columns)
		b->settings.columns = a->settings.columns;
	if (!b->settings.pair)
		b->settings.pair = a->settings.pair;
}

static void remark_side(const struct diff_input *s)
{
	if (s->stage.options->quiet)
		return;
	warn_count(s->path, s->stage.lost, "{event was|events were} lost by the recorder");
	if (s->stage.lost_more)
		warn(s->path, NO_OFFSET, LOST_MORE " were lost by the recorder");
}

static void diff_begin_side(struct diff_input *side, const struct stat_settings *s, char *path)
{
	side->path = path;
	side->settings = *s;
	side->settings.otherwise = s->format == TABLE_SVG ? "self" : DIFF_COLUMNS;
	if (s->format == TABLE_SVG)
		side->settings.keys = "stack";
}

/* Free a side. Returns its exit status; stat is that of a side that was not opened. */
static int finish_side(struct diff_input *side, int status)
{
	if (side->statistics.keys)
		statistics_free(&side->statistics);
	if (side->stage.options) /* the stage was opened */
		status = stage_finish(&side->stage);
	query_free(&side->query);
	stat_settings_free(&side->settings);
	return status;
}

/* Run --diff for two traces. Returns the exit status. */
static int run_traces(const struct stat_settings *s, const struct diff_options *o, char **paths,
		      const struct common_options *options)
{
	struct diff_input *side = calloc(2, sizeof(*side)), *a = side, *b = side + 1;
	int status = STATUS_FAILED;

	if (!side) {
		warn(NULL, NO_OFFSET, "out of memory");
		return STATUS_FAILED;
	}
	diff_begin_side(a, s, paths[0]);
	diff_begin_side(b, s, paths[1]);
	if (!stage_open(&a->stage, &a->path, 1, options) &&
	    !stage_print_to(&a->stage, options->output, OUTPUT_TEXT) &&
	    !stage_open(&b->stage, &b->path, 1, options)) {
		b->stage.in.output = &a->stage.output;
		a->stage.alarm = o->fail_if || o->conditions;
		if (!read_side(a)) {
			follow_side(b, a);
			b->first = a;
			if (!read_side(b))
				make_diff(a, b, o);
		}
		remark_side(a);
		remark_side(b);
		if (s->strict &&
		    (a->stage.lost || b->stage.lost || a->stage.lost_more || b->stage.lost_more))
			a->stage.status = status_worse(a->stage.status, STATUS_DAMAGED);
	}
	/* the output belongs to the first side, which therefore ends last */
	a->stage.status = status_worse(a->stage.status, b->stage.status);
	status = finish_side(b, status);
	status = finish_side(a, status);
	free(side);
	return status;
}

/* --- many runs: reading them --- */

/* --diff of many runs, while they are read. */
struct many_runs {
	struct diff diff;
	struct diff_runs runs;
	const struct diff_options *options;
	char **path; /* of all runs, those of A first */
	/* number of runs that are streams, and of those where no event has some field */
	size_t streams, fieldless;
	struct error fields; /* of the last one of these */
	/* runs with and without functions that trsym could name; NULL: none */
	char *nameless, *named;
	bool lacks_pair;
	struct intern warned; /* warnings of fields, each of which is printed once */
};

/* Take the next run, whose input is read; a: the first one. Returns -1 with e filled. */
static int diff_take_run(struct many_runs *m, struct diff_input *run, struct diff_input *a,
			 struct error *e)
{
	const struct statistics *st = &run->statistics;

	if (run != a && compare_sides(a, run, e))
		return -1;
	m->streams += !run->stage.in.summaries;
	if (diff_check_names(run, &m->warned, e)) {
		m->fields = *e;
		m->fieldless++;
	}
	if (m->options->fail_if || m->options->conditions)
		m->lacks_pair = m->lacks_pair || lacks_pair(run);
	if (statistics_nameless(st))
		m->nameless = run->path;
	else if (st->groups.count)
		m->named = run->path;
	if (!st->groups.count && !run->stage.options->quiet)
		warn(run->path, NO_OFFSET, "this run has no group: its sums are 0");
	remark_side(run);
	return runs_take(&m->diff, st, run->path) ? error_no_memory(e) : 0;
}

/* Read all runs but the first one. Returns -1 when the first one's stage has failed. */
static int read_runs(struct many_runs *m, struct diff_input *a, const struct stat_settings *s)
{
	struct diff_input *run = calloc(1, sizeof(*run));
	struct error e;
	int bad = !run ? stage_no_memory(&a->stage) : 0;

	while (!bad && m->runs.at < m->runs.a + m->runs.b) {
		*run = (struct diff_input){.first = a, .many = true};
		diff_begin_side(run, s, m->path[m->runs.at]);
		/* whether a file is the first one decides nothing but the key type */
		if (a->query.typed_keys)
			run->settings.keys = a->query.typed_keys;
		if (stage_open(&run->stage, &run->path, 1, a->stage.options))
			bad = -1;
		run->stage.in.output = &a->stage.output;
		bad = bad || read_side(run);
		if (!bad && diff_take_run(m, run, a, &e))
			bad = stage_fail(&a->stage, &e);
		if (s->strict && (run->stage.lost || run->stage.lost_more))
			a->stage.status = status_worse(a->stage.status, STATUS_DAMAGED);
		a->stage.status = status_worse(a->stage.status, finish_side(run, STATUS_FAILED));
	}
	free(run);
	return bad;
}

/* Warn of runs that may not be compared as they are. */
static void remark_runs(const struct many_runs *m)
{
	const struct diff_runs *runs = &m->runs;

	if (runs->longest && runs->most / 2 > runs->least)
		warn(runs->longest, NO_OFFSET,
		     "this run is %.3g times as long as that of %s: sums depend on the length; use "
		     "-c rate,self_percent,avg",
		     (double)runs->most / (double)runs->least, runs->shortest);
}

static void compare_many(struct many_runs *m, struct diff_input *a)
{
	struct diff *d = &m->diff;
	struct diff_alarms alarms = {0};
	struct error e;

	if (m->fieldless && m->fieldless == m->streams)
		stage_fail(&a->stage, &m->fields);
	else if (runs_compare(d, m->options))
		stage_no_memory(&a->stage);
	else if ((m->options->sort && diff_sort(d, m->options->sort, &e)) ||
		 diff_alarms_parse(&alarms, d, m->options, &e))
		stage_fail(&a->stage, &e);
	else if (!print_diff(&a->stage, a, d, ""))
		fail_if_differs(a, &alarms, m->lacks_pair, m->nameless, m->named);
	diff_alarms_free(&alarms);
}

/* Run --diff for many runs. Returns the exit status. */
static int run_many(struct many_runs *m, const struct stat_settings *s,
		    const struct common_options *options)
{
	struct diff_input *a = calloc(1, sizeof(*a));
	struct error e;
	int status;

	if (!a) {
		warn(NULL, NO_OFFSET, "out of memory");
		return STATUS_FAILED;
	}
	a->many = true;
	diff_begin_side(a, s, m->path[0]);
	if (!stage_open(&a->stage, &a->path, 1, options) &&
	    !stage_print_to(&a->stage, options->output, OUTPUT_TEXT)) {
		a->stage.alarm = m->options->fail_if || m->options->conditions;
		if (!read_side(a)) {
			diff_begin(&m->diff, &a->statistics, diff_alpha_of(m->options), &m->runs);
			if (diff_take_run(m, a, a, &e))
				stage_fail(&a->stage, &e);
			else if (!read_runs(m, a, s))
				compare_many(m, a);
			if (!options->quiet)
				remark_runs(m);
			diff_free(&m->diff);
			intern_free(&m->warned);
		}
		if (s->strict && (a->stage.lost || a->stage.lost_more))
			a->stage.status = status_worse(a->stage.status, STATUS_DAMAGED);
	}
	status = finish_side(a, STATUS_FAILED);
	free(a);
	return status;
}

/* Run --diff for the files of both sides, the first of_a of them those of A. Returns the exit
 * status. */
static int diff_run_sides(const struct stat_settings *s, const struct diff_options *o,
			  const struct operands *files, size_t of_a,
			  const struct common_options *options)
{
	struct diff_options with = *o;
	struct many_runs m = {.options = &with,
			      .path = files->path,
			      .runs = {.a = of_a, .b = files->count - of_a}};
	struct error e;

	if (of_a == 1 && files->count == 2)
		return run_traces(s, o, files->path, options);
	if (s->format == TABLE_SVG)
		error_set(&e, NULL, NO_OFFSET, "-t svg draws two traces, not %zu", files->count);
	else if (!operands_check_twice(files, &e)) {
		with.alpha = o->alpha > 0 ? o->alpha : RUNS_ALPHA;
		return run_many(&m, s, options);
	}
	error_print(&e);
	return STATUS_FAILED;
}

int diff_run(const struct stat_settings *s, const struct diff_options *o, char **paths,
	     const struct common_options *options)
{
	int olds = o->news < 0 ? 1 : o->operands - o->news, bad = 0, status = STATUS_FAILED;
	struct operands files = {0};
	struct error e;
	size_t of_a = 0;

	for (int i = 0; !bad && i < o->operands; i++) {
		if (o->news > 0 && i >= olds && *paths[i] == '-' && paths[i][1] &&
		    access(paths[i], F_OK))
			bad = error_set(&e, paths[i], NO_OFFSET,
					"no such file; options come before the --");
		else
			bad = operands_add(&files, paths[i], RUNS_MOST, &e);
		if (i < olds)
			of_a = files.count;
	}
	if (bad)
		error_print(&e);
	else
		status = diff_run_sides(s, o, &files, of_a, options);
	operands_free(&files);
	return status;
}
