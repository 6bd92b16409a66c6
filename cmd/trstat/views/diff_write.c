/*
 * diff_write.c - the rows of --diff in machine formats: keys, columns of A, of B and their change,
 * the test
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trstat/views/diff_write.h"
#include "cmd/trstat/table/cells.h"

static const char *const of_test[DIFF_TESTS] = {
	[DIFF_VERDICT] = "verdict",	[DIFF_EFFECT] = "effect",	  [DIFF_SHIFT] = "shift",
	[DIFF_SHIFT_LOW] = "shift_low", [DIFF_SHIFT_HIGH] = "shift_high", [DIFF_P] = "p"};

struct diff_value diff_value(const struct diff *d, const struct diff_row *r, size_t column)
{
	const struct diff_side *a = &d->a, *b = &d->b;
	struct columns_run run_a = statistics_run(a->statistics);
	struct columns_run run_b = statistics_run(b->statistics);
	struct number change = {0};
	struct diff_value v = {0};

	if (r->a)
		v.a = column_value(a->columns, &a->columns->column[column], r->a, &run_a);
	if (r->b)
		v.b = column_value(b->columns, &b->columns->column[column], r->b, &run_b);
	v.change.present = v.a.present && v.b.present;
	if (v.a.fraction != 0 || v.b.fraction != 0) {
		double real = number_real(v.b.number, v.b.fraction) -
			      number_real(v.a.number, v.a.fraction);

		v.change.present &= isfinite(real);
		change = number_of_real(v.change.present ? real : 0);
	} else {
		v.change.present &= !__builtin_sub_overflow(v.b.number, v.a.number, &change.whole);
	}
	v.change.number = change.whole;
	v.change.fraction = change.fraction;
	return v;
}

static void put_real(struct cells *c, bool known, const char *format, double v)
{
	char digits[32];

	if (known)
		cells_number(c, digits, (size_t)snprintf(digits, sizeof(digits), format, v));
	else
		cells_none(c);
}

static void put_row(struct cells *c, const struct diff *d, const struct diff_row *r)
{
	const struct columns *columns = d->a.columns;
	const struct key_cell *keys = groups_cells(&d->groups, r->group);
	const char *verdict = diff_verdicts[r->verdict];

	for (size_t i = 0; i < d->groups.keys; i++)
		cells_key(c, &d->groups, &keys[i]);
	for (size_t i = 0; i < columns->printed; i++) {
		const struct column *column = &columns->column[i];
		struct diff_value v = diff_value(d, r, i);

		cells_value(c, column, v.a);
		cells_value(c, column, v.b);
		cells_value(c, column, v.change);
	}
	if (*verdict)
		cells_text(c, verdict, strlen(verdict));
	else
		cells_none(c);
	put_real(c, r->tested, "%.4f", r->test.effect);
	cells_integer(c, r->tested, r->shift.middle);
	cells_integer(c, r->tested, r->shift.low);
	cells_integer(c, r->tested, r->shift.high);
	put_real(c, r->tested, "%.3g", r->p);
}

void diff_free_names(char **names, size_t count)
{
	for (size_t i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
}

char **diff_names(const struct diff *d, const struct query *q, size_t *count)
{
	const struct columns *columns = d->a.columns;
	size_t n = 0, most = d->groups.keys + 3 * columns->printed + DIFF_TESTS;
	char **names = calloc(most, sizeof(*names));
	bool bad = !names;

	for (size_t i = 0; !bad && i < d->groups.keys; i++)
		bad = !(names[n++] = strdup(q->keys.names[i]));
	for (size_t i = 0; !bad && i < 3 * columns->printed; i++) {
		static const char *const what[] = {"a", "b", "change"};

		bad = asprintf(&names[n], "%s_%s", columns->column[i / 3].name, what[i % 3]) < 0;
		n += !bad;
	}
	for (size_t i = 0; !bad && i < DIFF_TESTS; i++)
		bad = !(names[n++] = strdup(of_test[i]));
	*count = n;
	if (!bad)
		return names;
	diff_free_names(names, n);
	return NULL;
}

int diff_write(const struct diff *d, const struct query *q, unsigned width, struct text *out,
	       struct error *e)
{
	const struct settings *s = q->settings;
	size_t rows = d->limit && d->limit < d->count ? d->limit : d->count, count;
	struct cells cells;
	char **names;

	if (s->format == TABLE_ALIGNED)
		return diff_aligned(d, q, rows, width, out, e);
	if (s->format == TABLE_SVG)
		return diff_svg(d, out, e);
	names = diff_names(d, q, &count);
	if (!names)
		return error_no_memory(e);
	cells_begin(&cells, out, s->format, (const char *const *)names, count);
	for (size_t i = 0; i < rows && !text_failed(out); i++)
		put_row(&cells, d, &d->row[i]);
	cells_end(&cells);
	diff_free_names(names, count);
	return 0;
}
