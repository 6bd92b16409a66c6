/*
 * format_cells.c - tsv, csv, json and ndjson
 */
#include <stdlib.h>

#include "cmd/trstat/table/cells.h"
#include "cmd/trstat/table/format.h"

int format_cells(const struct rows *rows, struct text *out, struct error *e)
{
	const struct table *t = rows->table;
	const struct columns *c = t->columns;
	size_t keys = t->groups->keys;
	const struct interval *interval = t->interval;
	const char **names = calloc(keys + c->printed + 2, sizeof(*names));
	struct cells cells;
	size_t n = 0;

	if (!names)
		return error_no_memory(e);
	if (interval)
		names[n++] = "time";
	for (size_t i = 0; i < keys; i++)
		names[n++] = t->keys[i];
	for (size_t i = 0; i < c->printed; i++)
		names[n++] = c->column[i].name;
	if (interval && !interval->first)
		cells_resume(&cells, out, rows->format, names, n);
	else
		cells_begin(&cells, out, rows->format, names, n);
	for (size_t r = 0; r < rows->count && !text_failed(out); r++) {
		const struct aggregate *a = rows->row[r];
		const struct key_cell *key = groups_cells(t->groups, a);

		if (interval)
			cells_u64(&cells, interval->time);
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
