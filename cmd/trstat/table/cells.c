#include "cmd/trstat/table/cells.h"

#include <string.h>

#include "common/value/json.h"
#include "cmd/trstat/table/format.h"

/* Write tab, newline, carriage return and backslash as \t \n \r \\, so that a row is a line and
 * a cell has no tab. */
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

/* RFC 4180; an empty text is quoted too, to distinguish it from a missing text. */
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

static bool is_json(const struct cells *c)
{
	return c->format == TABLE_JSON || c->format == TABLE_NDJSON;
}

static void put_text(const struct cells *c, const char *p, size_t n)
{
	if (is_json(c))
		json_string(c->out, p, n);
	else if (c->format == TABLE_CSV)
		put_csv(c->out, p, n);
	else
		put_tsv(c->out, p, n);
}

void cells_resume(struct cells *c, struct text *out, enum table_format format,
		  const char *const *names, size_t count)
{
	*c = (struct cells){.out = out, .format = format, .names = names, .count = count};
}

void cells_begin(struct cells *c, struct text *out, enum table_format format,
		 const char *const *names, size_t count)
{
	cells_resume(c, out, format, names, count);
	if (format == TABLE_JSON)
		text_char(out, '[');
	for (size_t i = 0; !is_json(c) && i < count; i++) {
		if (i)
			text_char(out, format == TABLE_CSV ? ',' : '\t');
		put_text(c, names[i], strlen(names[i]));
	}
	if (!is_json(c))
		text_char(out, '\n');
}

void cells_end(struct cells *c)
{
	if (c->format == TABLE_JSON)
		text_puts(c->out, c->rows ? "\n]\n" : "]\n");
}

/* Write the separator before a cell. */
static void put_separator(struct cells *c)
{
	if (!is_json(c)) {
		if (c->at)
			text_char(c->out, c->format == TABLE_CSV ? ',' : '\t');
		return;
	}
	if (c->at)
		text_puts(c->out, ", ");
	else if (c->format == TABLE_JSON)
		text_puts(c->out, c->rows ? ",\n  {" : "\n  {");
	else
		text_char(c->out, '{');
	json_string(c->out, c->names[c->at], strlen(c->names[c->at]));
	text_puts(c->out, ": ");
}

static void after(struct cells *c)
{
	if (++c->at < c->count)
		return;
	c->at = 0;
	c->rows = true;
	if (is_json(c))
		text_char(c->out, '}');
	if (c->format != TABLE_JSON)
		text_char(c->out, '\n');
}

void cells_text(struct cells *c, const char *p, size_t n)
{
	put_separator(c);
	put_text(c, p, n);
	after(c);
}

void cells_number(struct cells *c, const char *digits, size_t n)
{
	put_separator(c);
	text_put(c->out, digits, n);
	after(c);
}

void cells_u64(struct cells *c, uint64_t number)
{
	put_separator(c);
	text_u64(c->out, number);
	after(c);
}

void cells_integer(struct cells *c, bool known, int128 number)
{
	char digits[I128_SIZE];

	if (known)
		cells_number(c, digits, i128_decimal(digits, number));
	else
		cells_none(c);
}

void cells_none(struct cells *c)
{
	put_separator(c);
	if (is_json(c))
		text_puts(c->out, "null");
	after(c);
}

void cells_key(struct cells *c, const struct groups *g, const struct key_cell *cell)
{
	char value[VALUE_SIZE];
	const char *p;
	size_t n;

	if (groups_cell_text(g, cell, &p, &n))
		cells_text(c, p, n);
	else if (cell->kind == KEY_MISSING)
		cells_none(c);
	else if (cell->kind == KEY_ADDRESS)
		cells_text(c, value, format_key(value, cell));
	else
		cells_number(c, value, format_key(value, cell));
}

void cells_value(struct cells *c, const struct column *column, struct column_value v)
{
	char value[VALUE_SIZE];

	if (v.present)
		cells_number(c, value, format_number(value, column_unit(column), v));
	else
		cells_none(c);
}
