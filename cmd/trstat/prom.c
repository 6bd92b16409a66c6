/*
 * prom.c - a table as metrics of Prometheus
 */
#include "cmd/trstat/prom.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/histogram.h"
#include "cmd/trstat/table.h"
#include "common/util/text.h"

struct exposition {
	const struct table *table;
	const struct aggregate *const *row;
	size_t count;
	/* by row: the labels of the group, without braces: name="read",tid="7"; no two are alike */
	struct buffer *label;
	struct text *out;
	const char *unit; /* of durations */
	/* of --hist */
	const struct hist *hist;
	const char *name;
	struct buffer field; /* field="F", or empty */
};

/* --- the keys of groups as labels of Prometheus --- */

/* Append a valid name of a label, [a-zA-Z_][a-zA-Z0-9_]*, that Prometheus does not reserve. */
static int prom_put_name(struct buffer *b, const char *name)
{
	static const char *const own[] = {"le",	       "quantile", "field",
					  "duplicate", "job",	   "instance"};
	bool reserved = name[0] == '_' && name[1] == '_';
	int bad;

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		reserved |= !strcmp(name, own[i]);
	bad = reserved || isdigit((unsigned char)*name) ? buffer_append(b, "key_", 4) : 0;
	for (; *name && !bad; name++) {
		/* the end of bucket(time,1s) and the like */
		if (*name == ')' && !name[1])
			break;
		bad = buffer_u8(b, isascii((unsigned char)*name) && isalnum((unsigned char)*name)
					   ? (uint8_t)*name
					   : '_');
	}
	return bad;
}

/* Append a label's value with its quotes. Returns -1 when out of memory. */
static int prom_quoted(struct buffer *b, const char *p, size_t n)
{
	int bad = buffer_u8(b, '"');

	while (n && !bad) {
		size_t length = utf8_length(p, n);

		if (!length) {
			bad = buffer_append(b, "\xef\xbf\xbd", 3);
			length = 1;
		} else if (*p == '\n') {
			bad = buffer_append(b, "\\n", 2);
		} else if (*p == '"' || *p == '\\') {
			bad = buffer_u8(b, '\\') || buffer_u8(b, (uint8_t)*p);
		} else {
			bad = buffer_append(b, p, length);
		}
		p += length;
		n -= length;
	}
	return bad || buffer_u8(b, '"') ? -1 : 0;
}

static int put_key(struct buffer *b, const struct groups *g, const struct key_cell *cell)
{
	char value[VALUE_SIZE];
	const char *p = value;
	size_t n = 0;

	if (key_is_number(cell) || !groups_cell_text(g, cell, &p, &n))
		n = cell->kind == KEY_MISSING ? 0 : format_key(value, cell);
	return prom_quoted(b, p, n);
}

/* Make a text unique by appending a number while it occurs in seen. */
static int make_new(struct intern *seen, struct buffer *b, const char *number, const char *end)
{
	uint32_t before = seen->count;
	size_t size = b->size;

	for (unsigned n = 2;; n++) {
		if (intern(seen, b->size ? (void *)b->data : "", b->size) == INTERN_NONE)
			return -1;
		if (seen->count > before)
			return 0;
		b->size = size;
		if (buffer_printf(b, "%s%s%u%s", size && *end ? "," : "", number, n, end))
			return -1;
	}
}

/* Make the names of the keys' labels; no two are alike. */
static int prom_put_names(struct buffer *names, const struct table *t, size_t keys)
{
	struct intern seen = {0};
	int bad = 0;

	for (size_t i = 0; i < keys && !bad; i++)
		bad = prom_put_name(&names[i], t->keys[i]) || make_new(&seen, &names[i], "_", "");
	intern_free(&seen);
	return bad;
}

static int put_labels(struct buffer *b, const struct buffer *names, const struct table *t,
		      const struct aggregate *a, size_t keys)
{
	const struct key_cell *cells = groups_cells(t->groups, a);

	for (size_t i = 0; i < keys; i++)
		if ((i && buffer_u8(b, ',')) || buffer_append(b, names[i].data, names[i].size) ||
		    buffer_u8(b, '=') || put_key(b, t->groups, &cells[i]))
			return -1;
	return 0;
}

/*
 * Make the labels. keys: how many of each group's keys are labels. Names of keys become names of
 * labels; texts become valid UTF-8; an empty or missing key is an empty label. If two groups get
 * the same labels, the later one gets one more: duplicate="2". Returns -1 when out of memory.
 */
static int prom_labels_make(struct exposition *x, size_t keys)
{
	struct buffer *names = calloc(keys + 1, sizeof(*names));
	struct intern seen = {0};
	int bad = names ? prom_put_names(names, x->table, keys) : -1;

	x->label = calloc(x->count + 1, sizeof(*x->label));
	bad = bad || !x->label;
	for (size_t i = 0; i < x->count && !bad; i++)
		bad = put_labels(&x->label[i], names, x->table, x->row[i], keys) ||
		      make_new(&seen, &x->label[i], "duplicate=\"", "\"");
	for (size_t i = 0; names && i < keys; i++)
		buffer_free(&names[i]);
	free(names);
	intern_free(&seen);
	return bad ? -1 : 0;
}

static void prom_labels_free(struct exposition *x)
{
	for (size_t i = 0; x->label && i < x->count; i++)
		buffer_free(&x->label[i]);
	free(x->label);
}

/* Write "{labels}", or "{labels,more}"; nothing if both are empty. */
static void prom_labels_put(const struct exposition *x, size_t row, const char *more)
{
	const struct buffer *b = &x->label[row];

	if (!b->size && !*more)
		return;
	text_char(x->out, '{');
	if (b->size)
		text_put(x->out, (const char *)b->data, b->size);
	text_puts(x->out, b->size && *more ? "," : "");
	text_puts(x->out, more);
	text_char(x->out, '}');
}

/* --- prom --- */

static void put_metric(struct text *out, const char *name, const char *unit)
{
	const char *at = strchr(name, '@');

	text_put(out, name, at ? (size_t)(at - name) : strlen(name));
	if (at)
		text_puts(out, unit);
}

static void put_family(struct text *out, const char *name, const char *help, const char *unit,
		       const char *type)
{
	text_puts(out, "# HELP ");
	put_metric(out, name, unit);
	text_printf(out, " %s\n# TYPE ", help);
	put_metric(out, name, unit);
	text_printf(out, " %s\n", type);
}

/* Format ns as seconds, with the digits of the value: 1500 is 0.000001500. */
static size_t format_seconds(char out[static VALUE_SIZE], int128 ns)
{
	char digits[U128_SIZE];
	uint128 size = magnitude(ns);

	u128_decimal(digits, size / 1000000000);
	return (size_t)snprintf(out, VALUE_SIZE, "%s%.31s.%09u", ns < 0 ? "-" : "", digits,
				(unsigned)(size % 1000000000));
}

static void prom_put_number(struct text *out, enum column_unit unit, bool ns, struct column_value v)
{
	char value[VALUE_SIZE];

	if (ns && (unit == UNIT_DURATION || unit == UNIT_TIME))
		text_put(out, value, format_seconds(value, v.number));
	else
		text_put(out, value, format_number(value, unit, v));
}

static const char *unit_of_durations(const struct table *t)
{
	return table_durations_ns(t) ? "seconds" : t->columns->weights ? "weight" : "ticks";
}

static const char *prom_unit_of(const struct exposition *x, const struct column_type *type)
{
	return type->unit != UNIT_TIME ? x->unit : x->table->ticks ? "ticks" : "seconds";
}

static bool prom_is_field(const struct column *c)
{
	return c->type->flags & COLUMN_OF_FIELD;
}

/* Test whether a column is the time of calls in a state, which has families of its own. */
static bool prom_is_state(const struct columns *all, const struct column *c)
{
	return prom_is_field(c) && c->duration && all->wanted.field[c->field].state >= 0;
}

/* Get the metric of a column, and what it means. */
static void prom_metric_of(const struct columns *all, const struct column *c, char metric[64],
			   const char **help)
{
	bool sum = !strcmp(c->type->name, "sum");

	snprintf(metric, 64, "%s", c->type->metric);
	*help = c->type->help;
	if (!prom_is_state(all, c))
		return;
	snprintf(metric, 64, "trstat_state%s_@",
		 sum ? "" : c->type->metric + strlen("trstat_field"));
	*help = sum ? "Time of calls in which their threads were in a state."
		    : "The same of single calls: least, largest, mean or percentile.";
}

/* Write the labels that distinguish a column's values from those of other columns of the metric. */
static int put_more(const struct table *t, const struct column *c, struct buffer *more)
{
	bool percentile = c->type->flags & COLUMN_PERCENTILE;
	const char *name;
	char quantile[48];

	more->size = 0;
	if (prom_is_field(c)) {
		name = t->columns->wanted.field[c->field].name;
		if (buffer_append(more, prom_is_state(t->columns, c) ? "state=" : "field=", 6) ||
		    prom_quoted(more, name, strlen(name)) || (percentile && buffer_u8(more, ',')))
			return -1;
	}
	if (percentile) {
		snprintf(quantile, sizeof(quantile), "quantile=\"%.10g\"",
			 (double)c->numerator / (double)c->denominator);
		return buffer_append(more, quantile, strlen(quantile) + 1);
	}
	return buffer_u8(more, 0);
}

static bool same_column(const struct column *a, const struct column *b)
{
	return a->type == b->type && (!prom_is_field(a) || a->field == b->field) &&
	       (!(a->type->flags & COLUMN_PERCENTILE) ||
		(uint128)a->numerator * b->denominator == (uint128)b->numerator * a->denominator);
}

static int prom_put_column(const struct exposition *x, const struct column *c, bool *begun)
{
	const struct table *t = x->table;
	struct buffer more = {0};
	char metric[64];
	const char *help;
	bool field = prom_is_field(c) && c->duration && !prom_is_state(t->columns, c);

	prom_metric_of(t->columns, c, metric, &help);
	if (put_more(t, c, &more)) {
		buffer_free(&more);
		return -1;
	}
	for (size_t i = 0; i < x->count && !text_failed(x->out); i++) {
		struct column_value v = column_value(t->columns, c, x->row[i], &t->run);

		if (!v.present)
			continue;
		if (!*begun)
			put_family(x->out, metric, help, prom_unit_of(x, c->type),
				   c->type == column_percentile() ? "summary" : "gauge");
		*begun = true;
		put_metric(x->out, metric, prom_unit_of(x, c->type));
		prom_labels_put(x, i, (const char *)more.data);
		text_char(x->out, ' ');
		/* a field's metric has no unit in its name */
		prom_put_number(x->out, field ? UNIT_NUMBER : column_unit(c),
				!column_counts_ticks(c, t->ticks), v);
		text_char(x->out, '\n');
	}
	buffer_free(&more);
	return 0;
}

/* Write the sum and count of a summary. */
static void prom_put_summary(const struct exposition *x)
{
	const struct table *t = x->table;
	const char *name = column_percentile()->metric;

	for (size_t i = 0; i < x->count && !text_failed(x->out); i++) {
		const struct aggregate *a = x->row[i];

		if (!a->calls)
			continue;
		put_metric(x->out, name, x->unit);
		text_puts(x->out, "_sum");
		prom_labels_put(x, i, "");
		text_char(x->out, ' ');
		prom_put_number(x->out, UNIT_DURATION, table_durations_ns(t),
				(struct column_value){true, aggregate_every(a), 0});
		text_char(x->out, '\n');
		put_metric(x->out, name, x->unit);
		text_puts(x->out, "_count");
		prom_labels_put(x, i, "");
		text_printf(x->out, " %llu\n", (unsigned long long)a->calls);
	}
}

/* Write all columns of one type, of states or not, which are one family of metrics. */
static int prom_put_type(const struct exposition *x, const struct column_type *type, bool state)
{
	const struct columns *c = x->table->columns;
	bool begun = false;

	for (size_t i = 0; i < c->printed; i++) {
		bool before = c->column[i].type != type || prom_is_state(c, &c->column[i]) != state;

		for (size_t k = 0; k < i && !before; k++)
			before = same_column(&c->column[k], &c->column[i]);
		if (!before && prom_put_column(x, &c->column[i], &begun))
			return -1;
	}
	if (begun && type == column_percentile())
		prom_put_summary(x);
	return 0;
}

int format_prom(const struct table_rows *rows, struct text *out, struct error *e)
{
	const struct table *t = rows->table;
	struct exposition x = {.table = t,
			       .row = rows->row,
			       .count = rows->count,
			       .out = out,
			       .unit = unit_of_durations(t)};
	int bad = prom_labels_make(&x, t->groups->keys);

	for (size_t i = 0; i < column_types_count && !bad; i++)
		bad = prom_put_type(&x, &column_types[i], false) ||
		      prom_put_type(&x, &column_types[i], true);
	prom_labels_free(&x);
	return bad ? error_no_memory(e) : 0;
}

/* --- histograms --- */

static void prom_put_sample(const struct exposition *x, size_t row, const char *suffix,
			    const char *le)
{
	char more[400];

	snprintf(more, sizeof(more), "%s%s%s%s%s", x->field.size ? (char *)x->field.data : "",
		 x->field.size && *le ? "," : "", *le ? "le=\"" : "", le, *le ? "\"" : "");
	put_metric(x->out, x->name, x->unit);
	text_puts(x->out, suffix);
	prom_labels_put(x, row, more);
	text_char(x->out, ' ');
}

static void put_bucket(const struct exposition *x, size_t row, int128 upto, uint64_t count)
{
	char le[VALUE_SIZE];

	if (x->hist->duration && table_durations_ns(x->table))
		format_seconds(le, upto);
	else
		i128_decimal(le, upto);
	prom_put_sample(x, row, "_bucket", le);
	text_printf(x->out, "%llu\n", (unsigned long long)count);
}

/* Values are integers: those below 2^k are those up to 2^k - 1. Values below 0 are one bucket. */
static int put_histogram(const struct exposition *x, size_t row, const struct distribution *d)
{
	size_t n, at = 0;
	struct distribution_bucket *all = distribution_buckets(d, &n);
	uint64_t count = 0;

	if (!all)
		return -1;
	for (int128 edge = d->min < 0 ? -1 : 0; at < n; edge = edge < 0 ? 0 : 2 * edge + 1) {
		for (; at < n && all[at].high <= edge; at++)
			count += all[at].count;
		/* otherwise this bucket and the next one are empty */
		if (count || 2 * edge + 1 >= d->min)
			put_bucket(x, row, edge, count);
	}
	prom_put_sample(x, row, "_bucket", "+Inf");
	text_printf(x->out, "%llu\n", (unsigned long long)d->count);
	prom_put_sample(x, row, "_sum", "");
	prom_put_number(x->out, x->hist->duration ? UNIT_DURATION : UNIT_NUMBER,
			table_durations_ns(x->table), (struct column_value){true, d->sum, 0});
	text_char(x->out, '\n');
	prom_put_sample(x, row, "_count", "");
	text_printf(x->out, "%llu\n", (unsigned long long)d->count);
	free(all);
	return 0;
}

int prom_hist(const struct table *t, const struct hist *h, struct text *out, struct error *e)
{
	const struct column_type *calls = column_percentile();
	bool state = t->columns->wanted.field_count && t->columns->wanted.field[0].state >= 0;
	const char *name = !h->duration ? "trstat_field"
			   : state	? "trstat_call_state_@"
			   : h->keyed	? "trstat_call_self_@"
					: calls->metric,
		   *help = !h->duration ? "Values of a field of the events."
			   : state	? "Times of calls in a state of their threads."
			   : h->keyed	? "Self times of calls."
					: calls->help;
	struct exposition x = {
		.table = t, .hist = h, .out = out, .name = name, .unit = unit_of_durations(t)};
	size_t n;
	struct distribution *d = distributions(t, h, &n, e);
	const struct aggregate **row = d ? calloc(n + 1, sizeof(*row)) : NULL;
	int bad;

	if (!d)
		return -1;
	x.row = row;
	x.count = t->limit && t->limit < n ? t->limit : n;
	for (size_t i = 0; row && i < x.count; i++)
		row[i] = d[i].group;
	bad = !row || prom_labels_make(&x, t->groups->keys - h->keyed);
	if (!bad && (!h->duration || state))
		bad = buffer_append(&x.field, state ? "state=" : "field=", 6) ||
		      prom_quoted(&x.field, h->of, strlen(h->of)) || buffer_u8(&x.field, 0);
	if (!bad && x.count)
		put_family(out, name, help, x.unit, "histogram");
	for (size_t i = 0; i < x.count && !bad && !text_failed(out); i++)
		bad = put_histogram(&x, i, &d[i]);
	prom_labels_free(&x);
	buffer_free(&x.field);
	free(row);
	distributions_free(d, n);
	return bad ? error_no_memory(e) : 0;
}
