/*
 * format_aligned.c - the aligned table
 *
 * Numbers are aligned right. The group keys come after the numbers, integers before texts, so that
 * the longest text is at the end of the line. Unprintable characters are shown as '?', because a
 * name from a trace must neither break the table nor control a terminal.
 */
#include "cmd/trstat/table/format.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GAP	  "  "
#define GAP_WIDTH 2
#define NARROWEST 16 /* shortest length in characters to which a text is elided */

struct layout {
	const struct table *table;
	size_t *shown;	/* the columns in printing order */
	size_t columns; /* number of those */
	size_t *column; /* widths of all columns */
	size_t *key;	/* widths of the group keys */
	size_t *order;	/* the group keys in printing order: integers, then texts */
	bool *text;	/* the group key is a text in some row */
};

static const char *unit_of(const struct table *t, const struct column *column)
{
	return column_counts_ticks(column, t->ticks) ? " [ticks]" : "";
}

static void widen(size_t *width, size_t n)
{
	if (*width < n)
		*width = n;
}

static size_t key_width(const struct table *t, size_t key, const struct key_cell *cell)
{
	char value[VALUE_SIZE];
	const char *p;
	size_t n;

	if (cell->kind == KEY_MISSING)
		return 0;
	return groups_cell_text(t->groups, cell, &p, &n)
		       ? format_characters(p, n)
		       : format_key_aligned(value, t->by, key, cell, t->ticks);
}

/* Test whether a column is shown: it was asked for, or some row has a value that is not in
 * ticks. */
static bool is_shown(const struct rows *rows, const struct column_value *values, size_t column)
{
	const struct table *t = rows->table;

	if (column >= t->optional || !rows->count)
		return true;
	if (column_counts_ticks(&t->columns->column[column], t->ticks))
		return false;
	if (column_of_single_weights(&t->columns->column[column]))
		return false;
	for (size_t r = 0; r < rows->count; r++)
		if (values[r * t->columns->printed + column].present)
			return true;
	return false;
}

static void measure_widths(struct layout *l, const struct rows *rows,
			   const struct column_value *values)
{
	const struct table *t = l->table;
	const struct columns *c = t->columns;
	size_t keys = t->groups->keys, n = 0;

	for (size_t i = 0; i < c->printed; i++)
		if (is_shown(rows, values, i))
			l->shown[l->columns++] = i;
	for (size_t i = 0; i < c->printed; i++)
		l->column[i] = format_characters(c->column[i].name, strlen(c->column[i].name)) +
			       strlen(unit_of(t, &c->column[i]));
	for (size_t i = 0; i < keys; i++)
		l->key[i] = format_characters(t->keys[i], strlen(t->keys[i]));
	for (size_t r = 0; r < rows->count; r++) {
		const struct key_cell *cells = groups_cells(t->groups, rows->row[r]);
		char value[VALUE_SIZE];

		for (size_t i = 0; i < c->printed; i++)
			widen(&l->column[i], format_column(value, &c->column[i],
							   values[r * c->printed + i], t->ticks));
		for (size_t i = 0; i < keys; i++) {
			widen(&l->key[i], key_width(t, i, &cells[i]));
			l->text[i] |= cells[i].kind == KEY_TEXT || cells[i].kind == KEY_STACK;
		}
	}
	for (int texts = 0; texts < 2; texts++) {
		for (size_t i = 0; i < keys; i++) {
			if (l->text[i] == texts)
				l->order[n++] = i;
		}
	}
}

/* Elide the texts until the line fits, the longest first, none below NARROWEST. */
static void fit_texts(struct layout *l, size_t width)
{
	const struct table *t = l->table;
	size_t used = 0, keys = t->groups->keys;

	for (size_t i = 0; i < l->columns; i++)
		used += l->column[l->shown[i]] + GAP_WIDTH;
	for (size_t i = 0; i < keys; i++)
		used += l->key[i] + GAP_WIDTH;
	used -= used ? GAP_WIDTH : 0;

	while (used > width) {
		size_t longest = keys, second = NARROWEST, cut;

		for (size_t i = 0; i < keys; i++) {
			if (l->text[i] && (longest == keys || l->key[i] > l->key[longest]))
				longest = i;
		}
		if (longest == keys || l->key[longest] <= NARROWEST)
			return;
		for (size_t i = 0; i < keys; i++) {
			if (l->text[i] && i != longest && l->key[i] > second)
				second = l->key[i];
		}
		/* down to the second longest; if they are equal, by one */
		cut = l->key[longest] - second;
		cut = cut ? cut : 1;
		cut = cut < used - width ? cut : used - width;
		l->key[longest] -= cut;
		used -= cut;
	}
}

void format_interval(char value[static VALUE_SIZE], const struct interval *i, bool ticks)
{
	time_t seconds = (time_t)(i->time / 1000000000);
	struct tm tm;

	if (i->wall && localtime_r(&seconds, &tm))
		strftime(value, VALUE_SIZE, "%F %T", &tm);
	else if (ticks)
		u128_decimal(value, i->time);
	else
		format_time(value, i->time);
}

/* Write the time of an interval above its table. */
static void put_interval(const struct interval *i, bool ticks, struct text *out)
{
	char value[VALUE_SIZE];

	if (!i->first)
		text_char(out, '\n');
	format_interval(value, i, ticks);
	text_puts(out, value);
	text_puts(out, ":\n");
}

static void put_header(const struct layout *l, struct text *out)
{
	const struct table *t = l->table;
	size_t keys = t->groups->keys;

	for (size_t i = 0; i < l->columns; i++) {
		const struct column *column = &t->columns->column[l->shown[i]];
		const char *unit = unit_of(t, column);
		size_t n = strlen(column->name);

		text_pad(out, ' ',
			 (i ? GAP_WIDTH : 0) + l->column[l->shown[i]] -
				 format_characters(column->name, n) - strlen(unit));
		format_elided(out, column->name, n, SIZE_MAX);
		text_puts(out, unit);
	}
	for (size_t k = 0; k < keys; k++) {
		size_t i = l->order[k], n = strlen(t->keys[i]);
		size_t shown = format_characters(t->keys[i], n), pad;

		shown = shown < l->key[i] ? shown : l->key[i];
		pad = l->key[i] - shown;
		if (l->columns + k)
			text_puts(out, GAP);
		if (!l->text[i])
			text_pad(out, ' ', pad);
		format_elided(out, t->keys[i], n, l->key[i]);
		if (l->text[i] && k + 1 < keys)
			text_pad(out, ' ', pad);
	}
	text_char(out, '\n');
}

static void put_row(const struct layout *l, const struct aggregate *a,
		    const struct column_value *values, struct text *out)
{
	const struct table *t = l->table;
	const struct groups *g = t->groups;
	const struct key_cell *cells = groups_cells(g, a);

	for (size_t k = 0; k < l->columns; k++) {
		size_t i = l->shown[k], n;
		char value[VALUE_SIZE];

		n = format_column(value, &t->columns->column[i], values[i], t->ticks);
		text_pad(out, ' ', (k ? GAP_WIDTH : 0) + l->column[i] - n);
		text_put(out, value, n);
	}
	for (size_t k = 0; k < g->keys; k++) {
		size_t i = l->order[k], shown = 0, n;
		char value[VALUE_SIZE];
		const char *p;

		if (l->columns + k)
			text_puts(out, GAP);
		if (groups_cell_text(g, &cells[i], &p, &n)) {
			shown = format_elided(out, p, n, l->key[i]);
		} else if (cells[i].kind != KEY_MISSING) {
			shown = format_key_aligned(value, t->by, i, &cells[i], t->ticks);
			if (!l->text[i])
				text_pad(out, ' ', l->key[i] > shown ? l->key[i] - shown : 0);
			text_put(out, value, shown);
			shown = l->text[i] ? shown : l->key[i];
		}
		if (k + 1 < g->keys && shown < l->key[i])
			text_pad(out, ' ', l->key[i] - shown);
	}
	text_char(out, '\n');
}

int format_aligned(const struct rows *rows, struct text *out, struct error *e)
{
	const struct table *t = rows->table;
	const struct columns *c = t->columns;
	size_t keys = t->groups->keys;
	struct layout l = {
		.table = t,
		.shown = calloc(c->printed + 1, sizeof *l.shown),
		.column = calloc(c->printed + 1, sizeof *l.column),
		.key = calloc(keys + 1, sizeof *l.key),
		.order = calloc(keys + 1, sizeof *l.order),
		.text = calloc(keys + 1, sizeof *l.text),
	};
	struct column_value *values = calloc(rows->count * c->printed + 1, sizeof *values);
	const char *bounds = t->bounds ? table_bounds(c) : NULL;
	int r = 0;

	if (!l.shown || !l.column || !l.key || !l.order || !l.text || !values) {
		r = error_no_memory(e);
		goto out;
	}
	for (size_t i = 0; i < rows->count; i++) {
		for (size_t k = 0; k < c->printed; k++)
			values[i * c->printed + k] =
				column_value(c, &c->column[k], rows->row[i], &t->run);
	}
	measure_widths(&l, rows, values);
	if (t->width)
		fit_texts(&l, t->width);
	if (t->interval)
		put_interval(t->interval, t->ticks, out);
	put_header(&l, out);
	for (size_t i = 0; i < rows->count && !text_failed(out); i++)
		put_row(&l, rows->row[i], &values[i * c->printed], out);
	table_put_more(out, rows->left_out);
	if (bounds)
		text_printf(out, "\n%s\n", bounds);
out:
	free(values);
	free(l.shown);
	free(l.column);
	free(l.key);
	free(l.order);
	free(l.text);
	return r;
}
