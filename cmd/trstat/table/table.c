#include "cmd/trstat/table/table.h"

#include "cmd/trstat/table/format.h"
#include "cmd/trstat/table/prom.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct format formats[] = {
	[TABLE_ALIGNED] = {"table", format_aligned},
	[TABLE_TSV] = {"tsv", format_cells},
	[TABLE_CSV] = {"csv", format_cells},
	[TABLE_JSON] = {"json", format_cells},
	[TABLE_NDJSON] = {"ndjson", format_cells},
	[TABLE_PROM] = {"prom", format_prom},
	[TABLE_SVG] = {"svg", NULL},
};

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

int table_format_parse(const char *name, enum table_format *format, struct error *e)
{
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		if (!strcmp(formats[i].name, name)) {
			*format = (enum table_format)i;
			return 0;
		}
	}
	return error_set(e, NULL, NO_OFFSET,
			 "unknown format '%.64s'; there are: table tsv csv json ndjson prom svg",
			 name);
}

const char *table_format_name(enum table_format format)
{
	return formats[format].name;
}

int table_write_rows(const struct rows *rows, struct text *out, struct error *e)
{
	return formats[rows->format].write(rows, out, e);
}

void rows_limit(struct rows *rows)
{
	const struct table *t = rows->table;

	if (!t->limit || rows->count <= t->limit)
		return;
	rows->left_out = t->more ? rows->count - t->limit : 0;
	rows->count = t->limit;
}

void table_put_more(struct text *out, size_t rows)
{
	if (rows)
		text_printf(out, "... %zu more (-n 0)\n", rows);
}

int table_write(const struct table *t, enum table_format format, struct text *out, struct error *e)
{
	const struct aggregate **row = sort_groups(t->sort, t->groups, t->columns, &t->run, e);
	struct rows rows = {.format = format, .table = t, .row = row, .count = t->groups->count};
	int r;

	if (!row)
		return -1;
	rows_limit(&rows);
	r = table_write_rows(&rows, out, e);
	free(row);
	return r;
}

const char *table_bounds(const struct columns *c)
{
	bool quantile = false, uniq = false;

	for (size_t i = 0; i < c->printed; i++) {
		quantile |= (c->column[i].type->flags & COLUMN_PERCENTILE) != 0;
		uniq |= (c->column[i].type->flags & COLUMN_UNIQ) != 0;
	}
#define QUANTILE "percentiles: of the exact rank, value within 0.391 %, exact below 256"
#define UNIQ	 "uniq: exact to 4096, then an estimate with standard error 0.81 %"
	if (quantile && uniq)
		return QUANTILE "; " UNIQ;
	return quantile ? QUANTILE : uniq ? UNIQ : NULL;
}

unsigned table_terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	char *end;

	if (!isatty(fd))
		return 0;
	if (columns && *columns) {
		unsigned long n = strtoul(columns, &end, 10);

		if (!*end && n > 0 && n < 1000000)
			return (unsigned)n;
	}
	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}
