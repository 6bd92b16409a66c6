/*
 * format_json.c - json and ndjson
 */
#include "format.h"

#include "common/json.h"

#include <string.h>

static void put_key(const struct groups *g, const struct key_cell *cell, struct text *out)
{
	char value[VALUE_SIZE];
	const char *p;
	size_t n;

	if (groups_cell_text(g, cell, &p, &n))
		json_string(out, p, n);
	else if (cell->kind == KEY_MISSING)
		text_puts(out, "null");
	else
		text_put(out, value, format_key(value, cell));
}

static void put_name(struct text *out, const char *name, bool first)
{
	if (!first)
		text_puts(out, ", ");
	json_string(out, name, strlen(name));
	text_puts(out, ": ");
}

static void put_object(const struct table *t, const struct aggregate *a, struct text *out)
{
	const struct columns *c = t->columns;
	const struct key_cell *cells = groups_cells(t->groups, a);
	size_t keys = t->groups->keys;

	text_char(out, '{');
	for (size_t i = 0; i < keys; i++) {
		put_name(out, t->keys[i], i == 0);
		put_key(t->groups, &cells[i], out);
	}
	for (size_t i = 0; i < c->printed; i++) {
		struct column_value v = column_value(c, &c->column[i], a, &t->run);
		char value[VALUE_SIZE];

		put_name(out, c->column[i].name, keys + i == 0);
		if (v.present)
			text_put(out, value,
				 format_value(value, column_unit(&c->column[i]), v.number));
		else
			text_puts(out, "null");
	}
	text_char(out, '}');
}

int format_json(const struct rows *rows, struct text *out, struct error *e)
{
	(void)e;
	text_char(out, '[');
	for (size_t i = 0; i < rows->count && !text_failed(out); i++) {
		text_puts(out, i ? ",\n  " : "\n  ");
		put_object(rows->table, rows->row[i], out);
	}
	text_puts(out, rows->count ? "\n]\n" : "]\n");
	return 0;
}

int format_ndjson(const struct rows *rows, struct text *out, struct error *e)
{
	(void)e;
	for (size_t i = 0; i < rows->count && !text_failed(out); i++) {
		put_object(rows->table, rows->row[i], out);
		text_char(out, '\n');
	}
	return 0;
}
