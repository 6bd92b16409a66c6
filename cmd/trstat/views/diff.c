#include "cmd/trstat/views/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const diff_verdicts[] = {"", "slower", "faster", "new", "gone", NULL};

/* Parse a number without a sign. Returns what follows the number; NULL: there is none. */
static const char *parse_number(const char *text, double *number)
{
	size_t n = strspn(text, "0123456789.eE-");
	char *end;

	*number = strtod(text, &end);
	return n && end == text + n && *text != '-' && isfinite(*number) ? end : NULL;
}

int diff_threshold(struct diff_options *o, const char *text, struct error *e)
{
	double number;
	const char *unit = parse_number(text, &number);

	if (unit && !strcmp(unit, "%")) {
		o->threshold = number / 100;
		return 0;
	}
	if (unit && !strcmp(unit, "x") && number >= 1) {
		o->threshold = number - 1;
		return 0;
	}
	return error_set(e, NULL, NO_OFFSET,
			 "--threshold takes a share such as 5%% or a factor such as 1.05x, not "
			 "'%.64s'",
			 text);
}

int diff_alpha(struct diff_options *o, const char *text, struct error *e)
{
	const char *unit = parse_number(text, &o->alpha);

	if (unit && *unit == '%') {
		o->alpha /= 100;
		unit++;
	}
	if (unit && !*unit && o->alpha > 0 && o->alpha < 1)
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "--alpha takes a probability between 0 and 1, not '%s'", text);
}

const char *diff_fail_if_word(enum diff_verdict v)
{
	return v == DIFF_SAME ? "changed" : diff_verdicts[v];
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

/* Returns the row of a group of either trace. The union's aggregates contain the rows' numbers,
 * from 1. */
static struct diff_row *row_of(struct diff *d, const struct groups *from, const struct aggregate *a,
			       struct key_cell *cells)
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
		group->calls = ++d->count;
		d->row[d->count - 1].group = group;
	}
	return &d->row[group->calls - 1];
}

static int pair_up(struct diff *d)
{
	const struct groups *a = &d->a.statistics->groups, *b = &d->b.statistics->groups;
	struct key_cell *cells = calloc(a->keys + 1, sizeof(*cells));
	int bad = 0;

	d->row = calloc(a->count + b->count + 1, sizeof(*d->row));
	bad = !cells || !d->row;
	for (size_t i = 0; !bad && i < a->count; i++) {
		struct diff_row *r = row_of(d, a, groups_at(a, i), cells);

		bad = !r;
		if (r)
			r->a = groups_at(a, i);
	}
	for (size_t i = 0; !bad && i < b->count; i++) {
		struct diff_row *r = row_of(d, b, groups_at(b, i), cells);

		bad = !r;
		if (r)
			r->b = groups_at(b, i);
	}
	free(cells);
	return bad ? -1 : 0;
}

/* --- the tests --- */

static int test_row(const struct diff *d, struct diff_row *r, double alpha)
{
	uint32_t in_a = d->a.columns->wanted.histogram, in_b = d->b.columns->wanted.histogram;
	struct sample a = {0}, b = {0};
	int bad = 0;

	/* weights of samples are no times of calls */
	if (!r->a || !r->b || !in_a || !in_b || d->a.statistics->samples.type ||
	    d->b.statistics->samples.type)
		return 0;
	bad = sample_of_histogram(&a, aggregate_part(r->a, in_a)) ||
	      sample_of_histogram(&b, aggregate_part(r->b, in_b));
	if (!bad && rank_test(&a, &b, &r->test)) {
		r->tested = true;
		r->shift = rank_shift(&a, &b, &r->test, alpha);
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
	double median, shift = fabs((double)r->shift.middle);

	if (!r->a || !r->b)
		return r->a ? DIFF_GONE : DIFF_NEW;
	if (!r->tested || r->p >= alpha)
		return DIFF_SAME;
	median = (double)aggregate_quantile(a, &d->a.columns->wanted, 1, 2);
	if (shift < threshold * median)
		return DIFF_SAME;
	return r->test.effect > 0 ? DIFF_SLOWER : DIFF_FASTER;
}

/* --- the order of rows --- */

static int rank_of(const struct diff_row *r)
{
	return r->verdict == DIFF_SAME					? 2
	       : r->verdict == DIFF_SLOWER || r->verdict == DIFF_FASTER ? 0
									: 1;
}

static uint128 size_of(const struct diff_row *r)
{
	int128 a = r->a ? r->a->total : 0, b = r->b ? r->b->total : 0;

	return a > b ? (uint128)a - (uint128)b : (uint128)b - (uint128)a;
}

static int compare_rows(const void *x, const void *y, void *ctx)
{
	const struct diff_row *r = x, *s = y;
	const struct diff *d = ctx;
	double by = r->tested ? fabs(r->test.effect) : -1,
	       than = s->tested ? fabs(s->test.effect) : -1;

	if (rank_of(r) != rank_of(s))
		return rank_of(r) - rank_of(s);
	if (by != than)
		return by > than ? -1 : 1;
	if (size_of(r) != size_of(s))
		return size_of(r) > size_of(s) ? -1 : 1;
	return groups_compare_first(&d->groups, r->group, s->group, d->groups.keys);
}

int diff_make(struct diff *d, struct diff_side a, struct diff_side b, const struct diff_options *o)
{
	double alpha = diff_alpha_of(o);

	*d = (struct diff){.a = a, .b = b};
	d->wanted.size = (sizeof(struct aggregate) + 15) / 16 * 16;
	groups_init(&d->groups, a.statistics->groups.keys, &d->wanted);
	if (pair_up(d))
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
		qsort_r(d->row, d->count, sizeof(*d->row), compare_rows, d);
	return 0;
}

void diff_free(struct diff *d)
{
	groups_free(&d->groups);
	free(d->row);
}
