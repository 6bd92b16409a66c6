/*
 * format_cells.c - tsv, csv, json and ndjson
 */
#include <stdlib.h>

#include "cells.h"
#include "format.h"

int format_cells(const struct rows *rows, struct text *out, struct error *e)
{
	const struct table *t = rows->table;
	const struct columns *c = t->columns;
	size_t keys = t->groups->keys;
	const char **names = calloc(keys + c->printed + 1, sizeof(*names));
	struct cells cells;

	if (!names)
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	for (size_t i = 0; i < keys; i++)
		names[i] = t->keys[i];
	for (size_t i = 0; i < c->printed; i++)
		names[keys + i] = c->column[i].name;
	cells_begin(&cells, out, rows->format, names, keys + c->printed);
	for (size_t r = 0; r < rows->count && !text_failed(out); r++) {
		const struct aggregate *a = rows->row[r];
		const struct key_cell *key = groups_cells(t->groups, a);

		for (size_t i = 0; i < keys; i++)
			cells_key(&cells, t->groups, &key[i]);
		for (size_t i = 0; i < c->printed; i++)
			cells_value(&cells, &c->column[i],
				    column_value(c, &c->column[i], a, &t->run));
	}
	cells_end(&cells);
	free(names);
	return 0;
}
