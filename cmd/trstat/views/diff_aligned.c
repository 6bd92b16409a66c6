/*
 * diff_aligned.c - the rows of --diff as an aligned table: for each column its value in B and its
 * change, then the shift and its significance, then the keys
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trstat/views/diff_write.h"
#include "cmd/trstat/table/format.h"

enum { GAP = 2, NARROW = 12, OF_TEST = 4 };

static bool diff_ticks(const struct diff *d)
{
	return d->a.statistics->ticks || d->b.statistics->ticks;
}

/* All cells but those of the keys, row by row; the first row is the header. */
struct grid {
	size_t columns, *width; /* a width of 0: the column is left out */
	char (*cell)[VALUE_SIZE];
};

static void put_grid(struct grid *g, size_t row, size_t column, const char *text)
{
	size_t n = format_characters(text, strlen(text));

	snprintf(g->cell[row * g->columns + column], VALUE_SIZE, "%s", text);
	if (n > g->width[column])
		g->width[column] = n;
}

/* Leave out the columns that -c does not name, if they are empty in all rows or of single weights.
 */
static void hide_empty(struct grid *g, size_t rows, const struct query *q,
		       const struct columns *columns)
{
	size_t named = g->columns - OF_TEST;

	for (size_t i = 0; rows && q->optional && i < g->columns; i++) {
		bool empty = i < 2 * q->optional || i >= named;

		for (size_t row = 1; empty && row <= rows; row++)
			empty = !*g->cell[row * g->columns + i];
		empty = empty ||
			(i < 2 * q->optional && column_of_single_weights(&columns->column[i / 2]));
		if (empty)
			g->width[i] = 0;
	}
}

static double real_of(const struct column_value *v)
{
	return number_real(v->number, v->fraction);
}

static void put_change(struct grid *g, size_t row, size_t at, const struct diff_row *r,
		       const struct diff_value *v, const struct column *column)
{
	char text[VALUE_SIZE] = "";
	double a = real_of(&v->a), change = 100 * real_of(&v->change) / fabs(a);

	if (!r->a || !r->b)
		snprintf(text, sizeof(text), "%s", diff_verdicts[r->verdict]);
	else if (!v->change.present || column_unit(column) == UNIT_TIME)
		;
	else if (!v->change.number && v->change.fraction == 0)
		snprintf(text, sizeof(text), "=");
	else if (a == 0)
		snprintf(text, sizeof(text), "from 0");
	else if (fabs(change) < 9999.5)
		snprintf(text, sizeof(text), "%+.1f %%", change);
	else
		snprintf(text, sizeof(text), "x %.3g", real_of(&v->b) / a);
	put_grid(g, row, at, text);
}

static void put_shift(struct grid *g, size_t row, size_t at, int128 shift, bool ticks)
{
	char text[VALUE_SIZE], digits[VALUE_SIZE];

	format_duration(digits, shift, ticks);
	snprintf(text, sizeof(text), "%s%.46s", shift > 0 ? "+" : "", digits);
	put_grid(g, row, at, text);
}

static void put_row(struct grid *g, size_t row, const struct diff *d, const struct diff_row *r,
		    bool ticks)
{
	const struct columns *c = d->a.columns;
	size_t at = 0;

	for (size_t i = 0; i < c->printed; i++) {
		struct diff_value v = diff_value(d, r, i);
		char text[VALUE_SIZE];

		format_column(text, &c->column[i], r->b ? v.b : v.a, ticks);
		put_grid(g, row, at++, text);
		put_change(g, row, at++, r, &v, &c->column[i]);
	}
	if (r->tested) {
		char text[VALUE_SIZE];

		put_shift(g, row, at, r->shift.middle, ticks);
		snprintf(text, sizeof(text), "%+.2f", r->test.effect);
		put_grid(g, row, at + 1, text);
		snprintf(text, sizeof(text), "%.2g", r->p);
		put_grid(g, row, at + 2, text);
	}
	put_grid(g, row, at + 3, diff_verdicts[r->verdict]);
}

static void put_header(struct grid *g, const struct columns *c, bool ticks)
{
	static const char *const of_test[OF_TEST] = {"shift", "effect", "p", "verdict"};
	size_t at = 0;

	for (size_t i = 0; i < c->printed; i++) {
		const struct column *column = &c->column[i];
		bool unit = column_counts_ticks(column, ticks);
		char text[VALUE_SIZE];

		snprintf(text, sizeof(text), "%.38s%s", column->name, unit ? " [ticks]" : "");
		put_grid(g, 0, at++, text);
		snprintf(text, sizeof(text), "%.38s_change", column->name);
		put_grid(g, 0, at++, text);
	}
	for (size_t i = 0; i < OF_TEST; i++)
		put_grid(g, 0, at++, of_test[i]);
}

/* --- the keys --- */

/* Returns the text of a row's key, or its number in digits, a buffer of the caller. */
static const char *diff_key_text(const struct diff *d, const struct query *q, size_t row,
				 size_t key, char digits[static VALUE_SIZE], size_t *n)
{
	const struct key_cell *cell = &groups_cells(&d->groups, d->row[row].group)[key];
	const char *p;

	if (groups_cell_text(&d->groups, cell, &p, n))
		return p;
	*n = cell->kind == KEY_MISSING
		     ? 0
		     : format_key_aligned(digits, &q->keys, key, cell, diff_ticks(d));
	return digits;
}

static void measure_keys(const struct diff *d, const struct query *q, size_t rows, size_t *width)
{
	for (size_t k = 0; k < d->groups.keys; k++) {
		width[k] = format_characters(q->keys.names[k], strlen(q->keys.names[k]));
		for (size_t i = 0; i < rows; i++) {
			char digits[VALUE_SIZE];
			size_t n;
			const char *p = diff_key_text(d, q, i, k, digits, &n);

			n = format_characters(p, n);
			width[k] = n > width[k] ? n : width[k];
		}
	}
}

/* Shorten the last key where the line is too long. */
static void fit_keys(const struct grid *g, size_t *keys, size_t nkeys, unsigned width)
{
	size_t used = 0;

	for (size_t i = 0; i < g->columns; i++)
		used += g->width[i] ? g->width[i] + GAP : 0;
	for (size_t k = 0; k + 1 < nkeys; k++)
		used += keys[k] + GAP;
	if (nkeys && width && used + keys[nkeys - 1] > width) {
		size_t room = width > used + NARROW ? width - used : NARROW;

		keys[nkeys - 1] = room < keys[nkeys - 1] ? room : keys[nkeys - 1];
	}
}

static void print_row(const struct grid *g, size_t row, bool keys, struct text *out)
{
	bool first = true;

	for (size_t i = 0; i < g->columns; i++) {
		const char *cell = g->cell[row * g->columns + i];
		size_t n = format_characters(cell, strlen(cell));
		bool last = i + 1 == g->columns; /* a verdict: aligned left */

		if (!g->width[i])
			continue;
		text_pad(out, ' ', (first ? 0 : GAP) + (last ? 0 : g->width[i] - n));
		format_elided(out, cell, strlen(cell), SIZE_MAX);
		if (last && keys)
			text_pad(out, ' ', g->width[i] - n);
		first = false;
	}
}

static void print_grid(const struct diff *d, const struct query *q, const struct grid *g,
		       size_t rows, const size_t *width, struct text *out)
{
	size_t keys = d->groups.keys;

	for (size_t row = 0; row <= rows && !text_failed(out); row++) {
		print_row(g, row, keys, out);
		for (size_t k = 0; k < keys; k++) {
			char digits[VALUE_SIZE];
			const char *p = q->keys.names[k];
			size_t n = strlen(p), shown;

			if (row)
				p = diff_key_text(d, q, row - 1, k, digits, &n);
			text_pad(out, ' ', GAP);
			shown = format_elided(out, p, n, width[k]);
			if (k + 1 < keys)
				text_pad(out, ' ', width[k] - shown);
		}
		text_char(out, '\n');
	}
}

int diff_aligned(const struct diff *d, const struct query *q, size_t rows, unsigned width,
		 struct text *out, struct error *e)
{
	bool ticks = diff_ticks(d);
	size_t columns = 2 * d->a.columns->printed + OF_TEST;
	struct grid g = {.columns = columns,
			 .width = calloc(columns, sizeof(*g.width)),
			 .cell = calloc((rows + 1) * columns, sizeof(*g.cell))};
	size_t *keys = calloc(d->groups.keys + 1, sizeof(*keys));
	int bad = 0;

	if (!g.width || !g.cell || !keys) {
		bad = error_no_memory(e);
	} else {
		put_header(&g, d->a.columns, ticks);
		for (size_t i = 0; i < rows; i++)
			put_row(&g, i + 1, d, &d->row[i], ticks);
		hide_empty(&g, rows, q, d->a.columns);
		measure_keys(d, q, rows, keys);
		fit_keys(&g, keys, d->groups.keys, width);
		print_grid(d, q, &g, rows, keys, out);
		table_put_more(out, d->more ? d->count - rows : 0);
	}
	free(g.width);
	free(g.cell);
	free(keys);
	return bad;
}
