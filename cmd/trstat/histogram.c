/*
 * histogram.c - --hist: the distribution of the times of calls, or of the values of a field
 */
#include "cmd/trstat/histogram.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/prom.h"
#include "cmd/trstat/table.h"
#include "common/picture/plot.h"
#include "common/picture/svg.h"
#include "common/util/buffer.h"
#include "common/util/screen.h"
#include "common/value/aligned.h"
#include "common/value/units.h"

/* Add the rows of a bucket of the key hist(F). */
static int add_bucket(struct distribution *d, const struct key_cell *low, uint64_t count)
{
	if (low->kind == KEY_SIGNED)
		return histogram_add_bucket(&d->negative, histogram_index(-low->value), count);
	if (low->kind == KEY_UNSIGNED)
		return histogram_add_bucket(&d->positive, histogram_index(low->value), count);
	if (low->kind == KEY_REAL) {
		bool negative = key_real_value(low) < 0;

		d->clipped += count;
		return histogram_add_bucket(
			negative ? &d->negative : &d->positive,
			histogram_index(negative ? magnitude(INT64_MIN) : UINT64_MAX), count);
	}
	return 0; /* rows without a value */
}

static void histogram_widen(struct distribution *d, struct column_value min,
			    struct column_value max)
{
	if (!min.present || !max.present)
		return;
	d->min = min.number < d->min ? saturated_64(min.number) : d->min;
	d->max = max.number > d->max ? saturated_64(max.number) : d->max;
}

static int add_group(struct distribution *d, const struct table *t, const struct hist *h,
		     const struct aggregate *a)
{
	const struct columns *c = t->columns;
	struct column_value sum;

	if (!h->keyed) {
		d->sum += aggregate_every(a);
		histogram_widen(d, (struct column_value){a->calls > 0, a->total_min, 0},
				(struct column_value){a->calls > 0, a->total_max, 0});
		return histogram_merge(&d->positive, aggregate_part(a, c->wanted.histogram));
	}
	sum = column_value(c, &c->column[h->sum], a, &t->run);
	if (sum.present && __builtin_add_overflow(d->sum, sum.number, &d->sum))
		d->sum = sum.number > 0 ? INT128_MAX : -INT128_MAX;
	histogram_widen(d, column_value(c, &c->column[h->min], a, &t->run),
			column_value(c, &c->column[h->max], a, &t->run));
	return add_bucket(d, &groups_cells(t->groups, a)[t->groups->keys - 1], aggregate_count(a));
}

static int compare_distributions(const void *a, const void *b, void *ctx)
{
	const struct distribution *x = a, *y = b;
	const struct groups *g = ctx;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	/* of a keyed one, the last key, its value, is that of any source group, but no two have the
	   same keys before it */
	return groups_compare_first(g, x->group, y->group, g->keys);
}

struct distribution *distributions(const struct table *t, const struct hist *h, size_t *n,
				   struct error *e)
{
	const struct groups *g = t->groups;
	struct sort by_keys = {0};
	const struct aggregate **groups = sort_groups(&by_keys, g, t->columns, &t->run, e);
	struct distribution *all = groups ? calloc(g->count + 1, sizeof(*all)) : NULL, *d = NULL;
	int bad = 0;

	*n = 0;
	for (size_t i = 0; all && !bad && i < g->count; i++) {
		if (!i || groups_compare_first(g, groups[i - 1], groups[i], g->keys - h->keyed)) {
			d = &all[(*n)++];
			d->group = groups[i];
			d->min = INT128_MAX;
			d->max = INT128_MIN;
		}
		bad = add_group(d, t, h, groups[i]);
	}
	free(groups);
	if (!all || bad) {
		distributions_free(all, *n);
		error_no_memory(e);
		return NULL;
	}
	for (size_t i = 0; i < *n; i++)
		all[i].count =
			histogram_count(&all[i].negative) + histogram_count(&all[i].positive);
	qsort_r(all, *n, sizeof(*all), compare_distributions, (void *)(uintptr_t)g);
	while (*n && !all[*n - 1].count)
		--*n; /* groups without a value are left out */
	return all;
}

void distributions_free(struct distribution *d, size_t n)
{
	for (size_t i = 0; d && i < n; i++) {
		histogram_free(&d[i].negative);
		histogram_free(&d[i].positive);
	}
	free(d);
}

/* Get the value of that rank; rank 1 is the least value. */
static int128 ranked_value(const struct distribution *d, uint64_t rank)
{
	uint64_t below = histogram_count(&d->negative), above = histogram_count(&d->positive);

	if (rank <= below) /* the least value is the negative one of the largest size */
		return -(int128)histogram_quantile(&d->negative, below - rank + 1, below,
						   d->max < 0 ? (uint64_t)magnitude(d->max) : 1,
						   (uint64_t)magnitude(d->min));
	return histogram_quantile(&d->positive, rank - below, above,
				  d->min > 0 ? (uint64_t)d->min : 0, (uint64_t)magnitude(d->max));
}

/* Get a quantile, with the arguments of histogram_quantile. */
static int128 distribution_quantile(const struct distribution *d, uint64_t numerator,
				    uint64_t denominator)
{
	uint128 rank = ((uint128)d->count * numerator + denominator - 1) / denominator;

	return d->count ? ranked_value(d, rank ? (uint64_t)rank : 1) : 0;
}

struct distribution_bucket *distribution_buckets(const struct distribution *d, size_t *n)
{
	struct distribution_bucket *all = NULL;
	struct histogram_iterator it;
	struct histogram_bucket b;
	size_t capacity = 0;

	*n = 0;
	for (int negative = 1; negative >= 0; negative--) {
		histogram_begin(&it, negative ? &d->negative : &d->positive);
		while (histogram_next(&it, &b)) {
			if (ARRAY_GROW(all, capacity, *n)) {
				free(all);
				return NULL;
			}
			all[(*n)++] = (struct distribution_bucket){
				negative ? -(int128)b.high : (int128)b.low,
				negative ? -(int128)b.low : (int128)b.high, b.count};
		}
		/* so far ordered from 0 downwards */
		for (size_t i = 0; negative && i < *n / 2; i++) {
			struct distribution_bucket swap = all[i];

			all[i] = all[*n - 1 - i];
			all[*n - 1 - i] = swap;
		}
	}
	return all ? all : calloc(1, sizeof(*all));
}

/* --- histogram --- */

/* --- aligned --- */

static const struct {
	const char *name;
	uint64_t numerator, denominator;
} marks[] = {{"p50", 1, 2}, {"p90", 9, 10}, {"p99", 99, 100}};

enum { MARKS = sizeof(marks) / sizeof(*marks) };

struct picture {
	const struct table *table;
	const struct hist *hist;
	struct text *out;
	bool utf8;
	size_t width; /* width of a line */
	/* of the present distribution */
	unsigned parts;
	uint64_t highest;    /* highest count of a line */
	int64_t mark[MARKS]; /* line of each mark */
};

/* Characters of a key where a terminal limits the line: at most, and on narrow ones at least. */
enum { KEY_MOST = 50, KEY_LEAST = 8 };

static size_t histogram_put_number(char out[static VALUE_SIZE], const struct picture *p, int128 v)
{
	return format_duration(out, v, !p->hist->duration || !table_durations_ns(p->table));
}

/* Get the parts of an octave that give about two dozen lines. */
static unsigned parts_of(const struct distribution_bucket *b, size_t n)
{
	int64_t lines = plot_line_of(b[n - 1].low, 1) - plot_line_of(b[0].high, 1) + 1;

	return lines <= 6 ? 4 : lines <= 12 ? 2 : 1;
}

/* Begin an item of n characters, with the comma after it: on a new line where the used characters
 * leave no room for it. */
static void begin_item(const struct picture *p, size_t n, size_t *used)
{
	if (*used && *used + 1 + n > p->width) {
		text_puts(p->out, "\n    ");
		*used = 4;
	} else if (*used) {
		text_char(p->out, ' ');
		++*used;
	}
	*used += n;
}

/* Write the keys: "name fib, tid 4123: ". */
static void put_keys(const struct picture *p, const struct distribution *d, size_t *used)
{
	const struct groups *g = p->table->groups;
	size_t keys = g->keys - p->hist->keyed;
	const struct key_cell *cells = groups_cells(g, d->group);

	for (size_t i = 0; i < keys; i++) {
		const char *name = p->table->keys[i], *s;
		char value[VALUE_SIZE] = "-";
		size_t n = 1, size = strlen(name) + 2, most = SIZE_MAX;

		if (!groups_cell_text(g, &cells[i], &s, &n)) {
			if (cells[i].kind != KEY_MISSING)
				n = format_key_aligned(value, p->table->by, i, &cells[i],
						       p->table->ticks);
			s = value;
		}
		if (p->table->screen->width)
			most = size + KEY_LEAST + 5 < p->width ? p->width - size - 5 : KEY_LEAST;
		most = p->table->screen->width && most > KEY_MOST ? KEY_MOST : most;
		size += format_characters(s, n) < most ? format_characters(s, n) : most;
		begin_item(p, size, used);
		text_puts(p->out, name);
		text_char(p->out, ' ');
		format_elided(p->out, s, n, most);
		text_char(p->out, i + 1 < keys ? ',' : ':');
	}
}

/* Write "NAME VALUE", and a comma if more follow. */
static void put_item(const struct picture *p, const char *name, const char *value, bool more,
		     size_t *used)
{
	begin_item(p, strlen(name) + 1 + strlen(value) + 1, used);
	text_printf(p->out, "%s %s%s", name, value, more ? "," : "");
}

static void histogram_put_summary(const struct picture *p, const struct distribution *d)
{
	char value[VALUE_SIZE];
	size_t used = 0;

	put_keys(p, d, &used);
	begin_item(p, strlen(p->hist->of) + 1, &used);
	text_printf(p->out, "%s,", p->hist->of);
	u128_decimal(value, d->count);
	put_item(p, "count", value, true, &used);
	for (size_t i = 0; i < MARKS; i++) {
		histogram_put_number(
			value, p,
			distribution_quantile(d, marks[i].numerator, marks[i].denominator));
		put_item(p, marks[i].name, value, true, &used);
	}
	histogram_put_number(value, p, d->min);
	put_item(p, "min", value, true, &used);
	histogram_put_number(value, p, d->max);
	put_item(p, "max", value, false, &used);
	text_char(p->out, '\n');
}

static void histogram_put_line(const struct picture *p, int64_t at, uint64_t count)
{
	enum { LABEL = 16, COUNT = 12, AFTER = 2 + 4 * MARKS, LEAST = 10 };
	bool narrow = p->width < LABEL + COUNT + AFTER + LEAST;
	size_t label = narrow ? LABEL - 4 : LABEL, counts = narrow ? COUNT - 4 : COUNT;
	char value[VALUE_SIZE];
	size_t n = histogram_put_number(value, p, plot_line_low(at, p->parts)), used;
	size_t taken = label + counts + AFTER, room = p->width > taken ? p->width - taken : 1;

	text_pad(p->out, ' ', n < label ? label - n : 0);
	text_put(p->out, value, n);
	text_u64_wide(p->out, count, (unsigned)counts, ' ');
	if (count)
		text_puts(p->out, "  ");
	used = plot_bar(p->out, count, p->highest, room, p->utf8);
	for (size_t i = 0; i < MARKS; i++) {
		if (p->mark[i] != at)
			continue;
		text_pad(p->out, ' ', room - used + 1);
		text_puts(p->out, marks[i].name);
		used = room;
	}
	text_char(p->out, '\n');
}

static int put_distribution(struct picture *p, const struct distribution *d, struct error *e)
{
	size_t n;
	struct distribution_bucket *b = distribution_buckets(d, &n);

	if (!b)
		return error_no_memory(e);
	p->parts = parts_of(b, n);
	p->highest = 0;
	for (size_t i = 0; i < MARKS; i++)
		p->mark[i] = plot_line_of(
			distribution_quantile(d, marks[i].numerator, marks[i].denominator),
			p->parts);
	histogram_put_summary(p, d);
	for (int draw = 0; draw < 2; draw++) {
		int64_t line = plot_line_of(b[0].low, p->parts),
			end = plot_line_of(b[n - 1].low, p->parts);

		for (size_t at = 0; line <= end; line++) {
			uint64_t count = 0;

			if (!plot_line_has_values(line, p->parts))
				continue;
			for (; at < n && plot_line_of(b[at].low, p->parts) <= line; at++)
				count += b[at].count;
			p->highest = count > p->highest ? count : p->highest;
			if (draw)
				histogram_put_line(p, line, count);
		}
	}
	free(b);
	return 0;
}

/* --- svg --- */

enum {
	HIST_LINES = 100, /* bars of a picture, about */
	HIST_LEFT = 64,	  /* for the scale of counts */
	HIST_HEIGHT = 140,
	HIST_BELOW = 30, /* for the scale of values */
	HIST_COLOUR = 0x5b8fc7,
	HIST_BYTES = 512, /* of a bar, at most */
};

/* Get the unit of the values, as plot_amount takes it. */
static const char *hist_unit(const struct table *t, const struct hist *h)
{
	return !h->duration	       ? ""
	       : table_durations_ns(t) ? "ns"
	       : t->columns->weights   ? t->event ? t->event : ""
				       : "ticks";
}

/* Write the keys and the percentiles of a distribution. */
static int hist_put_label(const struct picture *p, const struct distribution *d, const char *unit,
			  int y)
{
	char value[PLOT_AMOUNT];
	struct buffer label = {0};
	int bad = table_group_name(p->table, p->table->groups,
				   groups_cells(p->table->groups, d->group),
				   p->table->groups->keys - p->hist->keyed, &label);

	bad = bad || buffer_printf(&label, "%s%s: %" PRIu64 " values", label.size ? ", " : "",
				   p->hist->of, d->count);
	for (size_t i = 0; i < MARKS; i++)
		bad = bad || buffer_printf(&label, ", %s %s", marks[i].name,
					   plot_amount(value,
						       distribution_quantile(d, marks[i].numerator,
									     marks[i].denominator),
						       unit, false));
	bad = bad || buffer_printf(&label, ", min %s", plot_amount(value, d->min, unit, false));
	bad = bad || buffer_printf(&label, ", max %s", plot_amount(value, d->max, unit, false));
	text_printf(p->out, "<text class=\"lane\" x=\"%d\" y=\"%d\">", SVG_LEFT, y);
	if (!bad)
		svg_put_escaped(p->out, (const char *)label.data, label.size);
	text_puts(p->out, "</text>\n");
	buffer_free(&label);
	return bad;
}

/* The bars of one distribution. */
struct hist_bars {
	struct plot plot;
	struct plot_values values;
	uint64_t count[2 * HIST_LINES]; /* by line, from values.first */
	size_t n;
	uint64_t highest;
};

static void hist_count(struct hist_bars *bars, const struct distribution_bucket *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t line = plot_line_of(b[i].low, bars->values.parts) - bars->values.first;
		uint64_t *count = &bars->count[line];

		add_saturated(count, b[i].count);
		bars->highest = *count > bars->highest ? *count : bars->highest;
	}
}

/* Write the bar of a line whose values are below that of the next line. */
static void hist_put_bar(const struct picture *p, const struct hist_bars *bars, size_t line,
			 uint64_t of)
{
	const struct plot_values *v = &bars->values;
	int64_t at = v->first + (int64_t)line, next = at + 1;
	uint64_t count = bars->count[line];
	double height = bars->plot.height * (double)count / (double)bars->highest, from, to;
	char low[PLOT_AMOUNT], high[PLOT_AMOUNT], name[2 * PLOT_AMOUNT + 8], value[96];
	struct svg_frame f = {.name = name, .value = value, .colour = HIST_COLOUR, .look = "mute"};
	/* the values of a negative line are from that of the line before, which is excluded */
	int128 least = at < 0 ? plot_line_low(at - 1, v->parts) + 1 : plot_line_low(at, v->parts);
	int128 most;

	while (next < 0 ? !plot_line_has_values(next, v->parts)
			: next > 1 && !plot_line_has_values(next, v->parts))
		next++;
	most = at < 0 ? plot_line_low(at, v->parts) : plot_line_low(next, v->parts) - 1;
	from = plot_position(v, at < 0 ? least - 1 : least);
	to = at < 0 ? plot_position(v, most) : plot_position(v, most + 1);
	f.x = bars->plot.left - SVG_LEFT + bars->plot.width * from;
	f.width = bars->plot.width * (to - from);
	f.height = height < 1 ? 1 : height;
	f.y = bars->plot.top + bars->plot.height - f.height;
	snprintf(name, sizeof name, "%s to %s", plot_amount(low, least, v->unit, true),
		 plot_amount(high, most, v->unit, true));
	f.size = strlen(name);
	snprintf(value, sizeof value, "%" PRIu64 ", %.2f%%", count,
		 100 * (double)count / (double)of);
	svg_put_frame(p->out, &f);
}

static int hist_put_plot(const struct picture *p, const struct distribution *d, int y,
			 struct error *e)
{
	size_t n;
	struct distribution_bucket *b = distribution_buckets(d, &n);
	const char *unit = hist_unit(p->table, p->hist);
	struct hist_bars bars = {.plot = {HIST_LEFT, y + SVG_ROW + 4,
					  SVG_WIDTH - HIST_LEFT - SVG_LEFT, HIST_HEIGHT}};

	if (!b)
		return error_no_memory(e);
	bars.values = plot_choose_lines(b[0].low, b[n - 1].low, HIST_LINES);
	bars.values.unit = unit;
	bars.n = (size_t)(bars.values.last - bars.values.first + 1);
	hist_count(&bars, b, n);
	free(b);
	if (hist_put_label(p, d, unit, y + 12))
		return error_no_memory(e);
	plot_put_counts(p->out, &bars.plot, bars.highest);
	plot_put_values(p->out, &bars.plot, &bars.values);
	for (size_t i = 0; i < bars.n; i++)
		if (bars.count[i])
			hist_put_bar(p, &bars, i, d->count);
	for (size_t i = 0; i < MARKS; i++) {
		char label[PLOT_AMOUNT + 8], value[PLOT_AMOUNT];
		int128 at = distribution_quantile(d, marks[i].numerator, marks[i].denominator);

		snprintf(label, sizeof label, "%s %s", marks[i].name,
			 plot_amount(value, at, unit, false));
		plot_put_mark(p->out, &bars.plot, plot_position(&bars.values, at), label, (int)i);
	}
	return 0;
}

/* Write a plot for each distribution; those beyond the bytes of a picture are counted. */
static int hist_svg(const struct picture *p, const struct distribution *d, size_t shown, size_t n,
		    struct error *e)
{
	enum { PLOT = SVG_ROW + 4 + HIST_HEIGHT + HIST_BELOW };
	size_t bytes = p->table->part_bytes ? p->table->part_bytes : SVG_BYTES_MOST;
	size_t fit = bytes / (HIST_LINES * HIST_BYTES);
	char line[128];
	int bad = 0;

	shown = shown < fit ? shown : fit;
	snprintf(line, sizeof line, "histogram of %.64s", p->hist->of);
	if (shown < n)
		snprintf(line + strlen(line), sizeof line - strlen(line), ", %zu groups left out",
			 n - shown);
	svg_begin(p->out, &(struct svg_picture){.class = "plot",
						.title = p->table->title,
						.line = line,
						.exact = line,
						.height = SVG_ABOVE + (int)shown * PLOT + SVG_BELOW,
						.part = p->table->part_bytes != 0});
	for (size_t i = 0; i < shown && !bad && !text_failed(p->out); i++)
		bad = hist_put_plot(p, &d[i], SVG_ABOVE + (int)i * PLOT, e);
	svg_end(p->out, p->table->part_bytes != 0);
	return bad;
}

/* --- machine formats --- */

static int put_buckets(struct cells *c, const struct table *t, const struct hist *h,
		       const struct distribution *d, struct error *e)
{
	const struct key_cell *key = groups_cells(t->groups, d->group);
	size_t n;
	struct distribution_bucket *b = distribution_buckets(d, &n);

	if (!b)
		return error_no_memory(e);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < t->groups->keys - h->keyed; k++)
			cells_key(c, t->groups, &key[k]);
		cells_integer(c, true, b[i].low);
		cells_integer(c, true, b[i].high);
		cells_u64(c, b[i].count);
	}
	free(b);
	return 0;
}

static int for_programs(const struct picture *p, enum table_format format,
			const struct distribution *d, size_t n, struct error *e)
{
	const struct table *t = p->table;
	size_t keys = t->groups->keys - p->hist->keyed;
	const char **names = calloc(keys + 3, sizeof(*names));
	struct cells c;
	int bad = 0;

	if (!names)
		return error_no_memory(e);
	for (size_t i = 0; i < keys; i++)
		names[i] = t->keys[i];
	names[keys] = "low";
	names[keys + 1] = "high";
	names[keys + 2] = "count";
	cells_begin(&c, p->out, format, names, keys + 3);
	for (size_t i = 0; i < n && !bad && !text_failed(p->out); i++)
		bad = put_buckets(&c, t, p->hist, &d[i], e);
	cells_end(&c);
	free(names);
	return bad;
}

int view_hist(const struct table *t, const struct hist *h, enum table_format format,
	      struct text *out, struct error *e)
{
	struct picture p = {.table = t,
			    .hist = h,
			    .out = out,
			    .utf8 = plot_utf8(out->out),
			    .width = t->screen->width ? t->screen->width : PLOT_WIDTH};
	size_t n, shown;
	struct distribution *d = distributions(t, h, &n, e);
	uint64_t clipped = 0;
	int bad = 0;

	if (!d)
		return -1;
	shown = t->limit && t->limit < n ? t->limit : n;
	if (format == TABLE_PROM)
		bad = prom_hist(t, h, out, e);
	else if (format == TABLE_SVG)
		bad = hist_svg(&p, d, shown, n, e);
	else if (format != TABLE_ALIGNED)
		bad = for_programs(&p, format, d, shown, e);
	for (size_t i = 0; format == TABLE_ALIGNED && i < shown && !bad && !text_failed(out); i++) {
		if (i)
			text_char(out, '\n');
		bad = put_distribution(&p, &d[i], e);
	}
	for (size_t i = 0; i < n; i++)
		clipped += d[i].clipped;
	if (!t->quiet)
		warn_count(
			NULL, clipped,
			"{value|values} beyond 64 bits counted as the nearest number of 64 bits");
	distributions_free(d, n);
	return bad;
}

/* --- heat map --- */

enum {
	HEAT_COLUMNS = 100, /* most of a picture */
	HEAT_LINES = 32,    /* most lines of a picture, about */
	HEAT_HEIGHT = 12,   /* of a line, pixels */
	HEAT_COLOUR = 0xe06020,
	HEAT_BELOW = 26,   /* with the legend */
	HEAT_CELLS = 6000, /* most of a picture, but for the first heat map */
};

/* The cells of one heat map: the counts by line and column. */
struct heat {
	const struct picture *picture;
	uint64_t first, step; /* time of the first column, and of each */
	size_t columns, lines;
	struct plot_values values;
	uint64_t *count; /* a line after the other, the least values first */
	uint64_t highest;
	size_t cells; /* that are not 0 */
};

static uint64_t heat_time(const struct table *t, const struct aggregate *a)
{
	return groups_cells(t->groups, a)[t->groups->keys - 1].value;
}

/* Choose the columns of all heat maps of a table: each is 1, 2, 5, 10 ... widths. */
static void heat_lay_out(struct heat *h, const struct aggregate *const *group, uint64_t width,
			 size_t most)
{
	const struct table *t = h->picture->table;
	uint64_t first = UINT64_MAX, last = 0, buckets;

	for (size_t i = 0; i < t->groups->count; i++) {
		uint64_t time = heat_time(t, group[i]);

		if (!group[i]->calls)
			continue;
		first = time < first ? time : first;
		last = time > last ? time : last;
	}
	buckets = first <= last ? (last - first) / width : 0;
	h->first = first <= last ? first : 0;
	h->step = width * round_step(buckets / most + 1);
	h->columns = (size_t)(buckets / (h->step / width)) + 1;
}

/* The groups of one heat map, in the order of their times. */
struct heat_groups {
	const struct aggregate *const *group;
	size_t count;
	uint64_t calls;
};

/* Count the calls of groups. Returns -1 when out of memory. */
static int heat_count(struct heat *h, const struct heat_groups *of, unsigned most)
{
	const struct table *t = h->picture->table;
	int128 low = INT128_MAX, high = 0;

	for (size_t i = 0; i < of->count; i++)
		if (of->group[i]->calls) {
			low = of->group[i]->total_min < low ? of->group[i]->total_min : low;
			high = of->group[i]->total_max > high ? of->group[i]->total_max : high;
		}
	/* a negative one counts as 0, as in percentiles */
	h->values = plot_choose_lines(low < 0 ? 0 : low, high, most);
	h->values.upwards = true;
	h->values.unit = hist_unit(t, h->picture->hist);
	h->lines = (size_t)(h->values.last - h->values.first + 1);
	h->highest = 0;
	h->cells = 0;
	free(h->count);
	h->count = calloc(h->lines * h->columns, sizeof *h->count);
	for (size_t i = 0; h->count && i < of->count; i++) {
		size_t column = (size_t)((heat_time(t, of->group[i]) - h->first) / h->step);
		struct histogram_iterator it;
		struct histogram_bucket b;

		histogram_begin(&it, aggregate_part(of->group[i], t->columns->wanted.histogram));
		while (histogram_next(&it, &b)) {
			int64_t line = plot_line_of(b.low, h->values.parts) - h->values.first;
			uint64_t *count = &h->count[(size_t)line * h->columns + column];

			h->cells += !*count;
			add_saturated(count, b.count);
			h->highest = *count > h->highest ? *count : h->highest;
		}
	}
	return h->count ? 0 : -1;
}

static int heat_by_calls(const void *a, const void *b)
{
	const struct heat_groups *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

/* Find the groups of each heat map, those with the most calls first. Returns how many have calls.
 */
static size_t heat_divide(const struct table *t, const struct aggregate *const *group,
			  struct heat_groups *all)
{
	const struct groups *g = t->groups;
	size_t n = 0;

	for (size_t i = 0; i < g->count; i++) {
		if (!i || groups_compare_first(g, group[i - 1], group[i], g->keys - 1))
			all[n++] = (struct heat_groups){.group = &group[i]};
		all[n - 1].count++;
		add_saturated(&all[n - 1].calls, group[i]->calls);
	}
	qsort(all, n, sizeof *all, heat_by_calls);
	while (n && !all[n - 1].calls)
		n--;
	return n;
}

/* Write a heat map for a terminal: a line for each line of values, the longest ones on top. */
static void heat_put_text(const struct heat *h, const struct heat_groups *of)
{
	enum { LABEL = 14 };
	const struct picture *p = h->picture;
	const struct distribution d = {.group = of->group[0]};
	struct shades shades = shades_of(h->highest);
	char value[VALUE_SIZE], step[VALUE_SIZE];
	size_t used = 0;

	put_keys(p, &d, &used);
	u128_decimal(value, of->calls);
	put_item(p, "calls", value, true, &used);
	u128_decimal(value, h->highest);
	put_item(p, "highest", value, true, &used);
	if (p->table->ticks)
		u128_decimal(value, h->first);
	else
		format_time(value, h->first);
	put_item(p, "from", value, true, &used);
	format_duration(step, (int128)h->step, p->table->ticks);
	put_item(p, "each", step, false, &used);
	text_char(p->out, '\n');
	for (size_t line = h->lines; line--;) {
		int64_t at = h->values.first + (int64_t)line;
		size_t n = histogram_put_number(value, p, plot_line_low(at, h->values.parts));

		if (!plot_line_has_values(at, h->values.parts))
			continue;
		text_pad(p->out, ' ', n < LABEL ? LABEL - n : 0);
		text_put(p->out, value, n);
		text_puts(p->out, "  ");
		for (size_t i = 0; i < h->columns; i++) {
			uint64_t count = h->count[line * h->columns + i];

			plot_level(p->out, count ? shade_of(&shades, count) : 0, SHADES, p->utf8);
		}
		text_char(p->out, '\n');
	}
}

/* Write the cell of a line and a column. */
static void heat_put_cell(const struct heat *h, const struct shades *shades, size_t line,
			  size_t column, const struct plot *plot)
{
	const struct plot_values *v = &h->values;
	int64_t at = v->first + (int64_t)line, next = at + 1;
	const char *unit = h->picture->table->ticks ? "ticks" : "ns";
	uint64_t count = h->count[line * h->columns + column];
	char name[64], value[4 * PLOT_AMOUNT], low[PLOT_AMOUNT], high[PLOT_AMOUNT];
	char from[SVG_AMOUNT];
	char look[8];
	struct svg_frame f = {.name = name, .value = value, .colour = HEAT_COLOUR, .look = look};

	while (next > 1 && !plot_line_has_values(next, v->parts))
		next++;
	snprintf(name, sizeof name, "%" PRIu64 " call%s", count, count == 1 ? "" : "s");
	f.size = strlen(name);
	snprintf(look, sizeof look, "h%u", shade_of(shades, count));
	snprintf(value, sizeof value, "%s to %s at %s",
		 plot_amount(low, plot_line_low(at, v->parts), v->unit, true),
		 plot_amount(high, plot_line_low(next, v->parts) - 1, v->unit, true),
		 svg_amount(from, column * h->step, unit, true));
	f.x = plot->width * (double)column / (double)h->columns;
	f.width = plot->width / (double)h->columns;
	f.height = HEAT_HEIGHT;
	f.y = plot->top + HEAT_HEIGHT * (double)(h->lines - 1 - line);
	svg_put_frame(h->picture->out, &f);
}

/* Write a heat map from y on. Returns the y below it; -1 when out of memory. */
static int heat_put_plot(struct heat *h, const struct heat_groups *of, int y)
{
	const struct picture *p = h->picture;
	const struct table *t = p->table;
	struct plot plot = {SVG_LEFT, y + SVG_ROW, SVG_INSIDE, (double)h->lines * HEAT_HEIGHT};
	struct shades shades = shades_of(h->highest);
	struct buffer name = {0};
	int bad = table_group_name(t, t->groups, groups_cells(t->groups, of->group[0]),
				   t->groups->keys - 1, &name);

	text_printf(p->out, "<g>\n<text class=\"lane\" x=\"%d\" y=\"%d\">", SVG_LEFT, y + 12);
	if (name.size)
		svg_put_escaped(p->out, (const char *)name.data, name.size);
	text_printf(p->out, "%s%" PRIu64 " calls</text>\n", name.size ? ": " : "", of->calls);
	buffer_free(&name);
	for (size_t line = h->lines; line--;)
		for (size_t i = 0; i < h->columns; i++)
			if (h->count[line * h->columns + i])
				heat_put_cell(h, &shades, line, i, &plot);
	text_puts(p->out, "</g>\n");
	plot_put_values(p->out, &plot, &h->values);
	y += SVG_ROW + (int)plot.height + 6;
	shades_put_legend(p->out, &shades, y);
	return bad ? -1 : y + HEAT_BELOW;
}

/* Write as many heat maps as a picture has space for. */
static int heat_svg(struct heat *h, const struct heat_groups *all, size_t shown, size_t n)
{
	enum { AXIS = 16 };
	const struct table *t = h->picture->table;
	const char *unit = t->ticks ? "ticks" : "ns";
	char line[256], step[SVG_AMOUNT], from[VALUE_SIZE];
	size_t cells = 0, fit = 0, size;
	int y = SVG_ABOVE + AXIS, height = y;

	for (; fit < shown; fit++) {
		if (heat_count(h, &all[fit], HEAT_LINES))
			return -1;
		cells += h->cells;
		if (fit && cells > HEAT_CELLS)
			break;
		height += SVG_ROW + (int)h->lines * HEAT_HEIGHT + 6 + HEAT_BELOW;
	}
	if (t->ticks)
		u128_decimal(from, h->first);
	else
		format_time(from, h->first);
	size = (size_t)snprintf(line, sizeof line,
				"times of calls by time, from %s on: a column for each %s", from,
				svg_amount(step, h->step, unit, true));
	if (fit < n)
		snprintf(line + size, sizeof line - size, ", %zu groups left out", n - fit);
	svg_begin(h->picture->out, &(struct svg_picture){.class = "chart",
							 .title = t->title,
							 .line = line,
							 .exact = line,
							 .span = h->columns * h->step,
							 .unit = unit,
							 .height = height + SVG_BELOW});
	svg_put_axis(h->picture->out, h->columns * h->step, unit, SVG_ABOVE, height - HEAT_BELOW);
	for (size_t i = 0; i < fit && y >= 0; i++)
		y = heat_count(h, &all[i], HEAT_LINES) ? -1 : heat_put_plot(h, &all[i], y);
	svg_end(h->picture->out, false);
	return y < 0 ? -1 : 0;
}

/* Write the buckets of all groups of heat maps. */
static int heat_for_programs(const struct picture *p, enum table_format format,
			     const struct heat_groups *all, size_t shown, struct error *e)
{
	const struct table *t = p->table;
	struct distribution *d = calloc(t->groups->count + 1, sizeof *d);
	size_t n = 0;
	int bad;

	if (!d)
		return error_no_memory(e);
	for (size_t i = 0; i < shown; i++)
		for (size_t k = 0; k < all[i].count; k++)
			if (all[i].group[k]->calls) {
				d[n].group = all[i].group[k];
				d[n++].positive = *(const struct histogram *)aggregate_part(
					all[i].group[k], t->columns->wanted.histogram);
			}
	bad = for_programs(p, format, d, n, e);
	free(d); /* the histograms are the groups' */
	return bad;
}

/* Write the heat maps of groups that are ordered by their keys. */
static int heat_write(struct heat *h, const struct aggregate *const *group, uint64_t width,
		      enum table_format format, struct error *e)
{
	const struct picture *p = h->picture;
	const struct table *t = p->table;
	struct heat_groups *all = calloc(t->groups->count + 1, sizeof *all);
	size_t n, shown, room = p->width > 16 + 10 ? p->width - 16 : 10;
	int bad = 0;

	if (!all)
		return error_no_memory(e);
	n = heat_divide(t, group, all);
	shown = t->limit && t->limit < n ? t->limit : n;
	heat_lay_out(h, group, width, format == TABLE_SVG ? HEAT_COLUMNS : room);
	if (format == TABLE_SVG)
		bad = heat_svg(h, all, shown, n);
	else if (format != TABLE_ALIGNED)
		bad = heat_for_programs(p, format, all, shown, e);
	for (size_t i = 0; format == TABLE_ALIGNED && i < shown && !bad; i++) {
		if (i)
			text_char(p->out, '\n');
		bad = heat_count(h, &all[i], p->table->screen->height ? 16 : 24);
		if (!bad)
			heat_put_text(h, &all[i]);
	}
	free(all);
	free(h->count);
	return bad ? error_no_memory(e) : 0;
}

int view_heatmap(const struct table *t, const struct hist *hist, uint64_t width,
		 enum table_format format, struct text *out, struct error *e)
{
	/* the key of time has no place among those of a heat map */
	struct hist keyed = *hist;
	struct picture p = {.table = t,
			    .hist = format == TABLE_ALIGNED || format == TABLE_SVG ? &keyed : hist,
			    .out = out,
			    .utf8 = plot_utf8(out->out),
			    .width = t->screen->width ? t->screen->width : PLOT_WIDTH};
	struct sort by_keys = {0};
	const struct aggregate **group = sort_groups(&by_keys, t->groups, t->columns, &t->run, e);
	struct heat h = {.picture = &p};
	int bad;

	keyed.keyed = true;
	bad = group ? heat_write(&h, group, width, format, e) : -1;
	free(group);
	return bad;
}
