/*
 * format_delimited.c - tsv and csv
 */
#include "format.h"

#include <string.h>

typedef void put_text(struct text *out, const char *p, size_t n);

/* Tab, newline, carriage return and backslash as \t \n \r \\: a row is a line, a cell has no tab.
 */
static void put_tsv(struct text *out, const char *p, size_t n)
{
	for (; n; p++, n--) {
		switch (*p) {
		case '\t': text_puts(out, "\\t"); break;
		case '\n': text_puts(out, "\\n"); break;
		case '\r': text_puts(out, "\\r"); break;
		case '\\': text_puts(out, "\\\\"); break;
		default: text_char(out, *p);
		}
	}
}

/* RFC 4180; an empty text is quoted too, so that it differs from no text. */
static void put_csv(struct text *out, const char *p, size_t n)
{
	bool quote = !n;

	for (size_t i = 0; i < n; i++)
		quote |= p[i] == '"' || p[i] == ',' || p[i] == '\n' || p[i] == '\r';
	if (!quote) {
		text_put(out, p, n);
		return;
	}
	text_char(out, '"');
	for (; n; p++, n--) {
		if (*p == '"')
			text_char(out, '"');
		text_char(out, *p);
	}
	text_char(out, '"');
}

static void put_key(const struct groups *g, const struct key_cell *cell, struct text *out,
		    put_text *put)
{
	char value[VALUE_SIZE];
	const char *p;
	size_t n;

	if (groups_cell_text(g, cell, &p, &n))
		put(out, p, n);
	else if (cell->kind != KEY_MISSING)
		text_put(out, value, format_key(value, cell));
}

static int write_rows(const struct rows *rows, struct text *out, char separator, put_text *put)
{
	const struct table *t = rows->table;
	const struct columns *c = t->columns;
	size_t keys = t->groups->keys;

	for (size_t i = 0; i < keys + c->printed; i++) {
		const char *name = i < keys ? t->keys[i] : c->column[i - keys].name;

		if (i)
			text_char(out, separator);
		put(out, name, strlen(name));
	}
	text_char(out, '\n');

	for (size_t r = 0; r < rows->count && !text_failed(out); r++) {
		const struct aggregate *a = rows->row[r];
		const struct key_cell *cells = groups_cells(t->groups, a);

		for (size_t i = 0; i < keys; i++) {
			if (i)
				text_char(out, separator);
			put_key(t->groups, &cells[i], out, put);
		}
		for (size_t i = 0; i < c->printed; i++) {
			struct column_value v = column_value(c, &c->column[i], a, &t->run);
			char value[VALUE_SIZE];

			if (keys + i)
				text_char(out, separator);
			if (v.present)
				text_put(out, value,
					 format_value(value, column_unit(&c->column[i]), v.number));
		}
		text_char(out, '\n');
	}
	return 0;
}

int format_tsv(const struct rows *rows, struct text *out, struct error *e)
{
	(void)e;
	return write_rows(rows, out, '\t', put_tsv);
}

int format_csv(const struct rows *rows, struct text *out, struct error *e)
{
	(void)e;
	return write_rows(rows, out, ',', put_csv);
}
