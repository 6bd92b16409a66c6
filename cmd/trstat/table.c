#include "table.h"

#include "format.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct format formats[] = {
	[TABLE_PEOPLE] = {"table", format_people},  [TABLE_TSV] = {"tsv", format_tsv},
	[TABLE_CSV] = {"csv", format_csv},	    [TABLE_JSON] = {"json", format_json},
	[TABLE_NDJSON] = {"ndjson", format_ndjson},
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
			 "unknown format '%.64s'; there are: table tsv csv json ndjson", name);
}

int table_write(const struct table *t, enum table_format format, struct text *out, struct error *e)
{
	const struct aggregate **row = sort_groups(t->sort, t->groups, t->columns, &t->run, e);
	struct rows rows = {.table = t, .row = row, .count = t->groups->count};
	int r;

	if (!row)
		return -1;
	if (t->limit && rows.count > t->limit)
		rows.count = t->limit;
	r = formats[format].write(&rows, out, e);
	free(row);
	return r;
}

const char *table_bounds(const struct columns *c)
{
	bool quantile = false, uniq = false;

	for (size_t i = 0; i < c->printed; i++) {
		quantile |= c->column[i].kind == COLUMN_QUANTILE;
		uniq |= c->column[i].kind == COLUMN_FIELD_UNIQ;
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

size_t format_value(char out[static VALUE_SIZE], enum column_unit unit, int128 number)
{
	char digits[I128_SIZE];
	size_t n, sign = number < 0, whole;

	if (unit != UNIT_THOUSANDTHS)
		return i128_decimal(out, number);

	/* "-5" is -0.005: at least four digits, the point before the last three. */
	n = u128_decimal(digits, sign ? -(uint128)number : (uint128)number);
	whole = n > 3 ? n - 3 : 1;
	if (sign)
		out[0] = '-';
	if (n > 3)
		memcpy(out + sign, digits, whole);
	else
		out[sign] = '0';
	memcpy(out + sign + whole, ".000", 5);
	n = n > 3 ? 3 : n;
	memcpy(out + sign + whole + 4 - n, digits + strlen(digits) - n, n);
	return sign + whole + 4;
}

size_t format_key(char out[static VALUE_SIZE], const struct key_cell *cell)
{
	if (cell->kind == KEY_SIGNED)
		return i128_decimal(out, (int64_t)cell->value);
	return u128_decimal(out, cell->value);
}
