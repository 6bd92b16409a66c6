/*
 * histogram.c - --hist: the distribution of the times of calls, or of the values of a field
 */
#include "cmd/trstat/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/prom.h"
#include "cmd/trstat/table.h"
#include "common/util/buffer.h"
#include "common/util/screen.h"
#include "common/value/aligned.h"

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

/*
 * Returns the line of a value: octave * parts + part, from 1 on; 0 for 0; negated for negative
 * values. An octave [2^k, 2^(k+1)) is divided into parts, fewer if it has fewer values.
 */
static int64_t histogram_line_of(int128 value, unsigned parts)
{
	uint64_t size = (uint64_t)magnitude(value), k;
	int64_t at;

	if (!size)
		return 0;
	k = 63 - (uint64_t)__builtin_clzll(size);
	at = 1 + (int64_t)(k * parts) +
	     (int64_t)((uint128)(size - ((uint64_t)1 << k)) * parts >> k);
	return value < 0 ? -at : at;
}

/* Get the value of the line that is nearest to 0. */
static int128 line_low(int64_t at, unsigned parts)
{
	uint64_t n = (uint64_t)(at < 0 ? -at : at) - 1, k = n / parts;
	uint128 low;

	if (!at)
		return 0;
	low = (uint128)1 << k;
	low += (((uint128)(n % parts) << k) + parts - 1) / parts;
	return at < 0 ? -(int128)low : (int128)low;
}

static size_t histogram_put_number(char out[static VALUE_SIZE], const struct picture *p, int128 v)
{
	return format_duration(out, v, !p->hist->duration || !table_durations_ns(p->table));
}

/* Get the parts of an octave that give about two dozen lines. */
static unsigned parts_of(const struct distribution_bucket *b, size_t n)
{
	int64_t lines = histogram_line_of(b[n - 1].low, 1) - histogram_line_of(b[0].high, 1) + 1;

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
	size_t n = histogram_put_number(value, p, line_low(at, p->parts)), used;
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

/* Returns true if a value is between the least ones of this line and the next. */
static bool histogram_has_values(int64_t line, unsigned parts)
{
	return histogram_line_of(line_low(line, parts), parts) == line;
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
		p->mark[i] = histogram_line_of(
			distribution_quantile(d, marks[i].numerator, marks[i].denominator),
			p->parts);
	histogram_put_summary(p, d);
	for (int draw = 0; draw < 2; draw++) {
		int64_t line = histogram_line_of(b[0].low, p->parts),
			end = histogram_line_of(b[n - 1].low, p->parts);

		for (size_t at = 0; line <= end; line++) {
			uint64_t count = 0;

			if (!histogram_has_values(line, p->parts))
				continue;
			for (; at < n && histogram_line_of(b[at].low, p->parts) <= line; at++)
				count += b[at].count;
			p->highest = count > p->highest ? count : p->highest;
			if (draw)
				histogram_put_line(p, line, count);
		}
	}
	free(b);
	return 0;
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
