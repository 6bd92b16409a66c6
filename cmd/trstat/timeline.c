/*
 * timeline.c - --timeline WIDTH: a column over time, group by group
 */
#include "cmd/trstat/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/table.h"
#include "common/picture/plot.h"
#include "common/picture/svg.h"
#include "common/util/buffer.h"
#include "common/util/screen.h"
#include "common/value/aligned.h"
#include "common/value/units.h"

/* Characters of the value, the bars at least, the keys together, a key at least, and from tick to
 * tick. */
enum { VALUE = 12, LEAST = 10, NAMES = 30, KEY_LEAST = 8, AXIS = 10 };

struct timeline {
	const struct table *table;
	const struct aggregate **group; /* ordered by the other keys, then by time */
	size_t keys;			/* number of keys other than the time */
	uint64_t first, last;		/* the first and the last bucket */
	uint64_t step;			/* time from one bar to the next */
	size_t bars;
	uint64_t *height; /* of the bars of one line */
	struct text *out;
	bool utf8;
	/* over the whole time, by the other keys and a cell with the index of their first group */
	struct groups sums;
	size_t *end;	      /* by group of sums: index after its last group */
	size_t *key, *widest; /* widths of the keys, and those of whole texts */
};

/* Get the bucket of a group; false if it has none. */
static bool timeline_bucket_of(const struct timeline *tl, const struct aggregate *a, uint64_t *time)
{
	const struct key_cell *c = &groups_cells(tl->table->groups, a)[tl->keys];

	*time = c->value;
	return c->kind == KEY_UNSIGNED;
}

/* Get the run of the sums, which are not of buckets. */
static struct columns_run whole_run(const struct table *t)
{
	struct columns_run run = t->run;

	run.bucket = run.bucket_key = 0;
	return run;
}

static int timeline_add_sum(struct timeline *tl, struct key_cell *cells, size_t begin, size_t end)
{
	const struct groups *g = tl->table->groups;
	struct aggregate *sum;

	for (size_t i = 0; i < tl->keys; i++)
		if (groups_copy_cell(&tl->sums, g, &groups_cells(g, tl->group[begin])[i],
				     &cells[i]))
			return -1;
	cells[tl->keys] = key_unsigned(begin);
	tl->end[begin] = end;
	sum = groups_find(&tl->sums, cells);
	if (!sum)
		return -1;
	for (size_t i = begin; i < end; i++)
		if (aggregate_merge(sum, tl->group[i], tl->sums.wanted))
			return -1;
	return 0;
}

static int add_sums(struct timeline *tl)
{
	const struct groups *g = tl->table->groups;
	struct key_cell *cells = calloc(tl->keys + 1, sizeof(*cells));
	int bad = cells ? 0 : -1;

	tl->end = calloc(g->count + 1, sizeof(*tl->end));
	if (!tl->end)
		bad = -1;
	for (size_t i = 0, end; !bad && i < g->count; i = end) {
		for (end = i + 1; end < g->count &&
				  !groups_compare_first(g, tl->group[i], tl->group[end], tl->keys);)
			end++;
		bad = timeline_add_sum(tl, cells, i, end);
	}
	free(cells);
	/* the sums have the stacks of the groups, which are compared and shown */
	return bad || !g->texts.stacks ? bad : groups_stacks(&tl->sums, g->texts.stacks);
}

/* Compute the number of bars, at most most, and the time of each: 1, 2, 5, 10 ... buckets. */
static void timeline_lay_out(struct timeline *tl, uint64_t width, size_t most)
{
	const struct table *t = tl->table;
	uint64_t buckets, together;

	tl->first = UINT64_MAX;
	tl->last = 0;
	for (size_t i = 0; i < t->groups->count; i++) {
		uint64_t time;

		if (!timeline_bucket_of(tl, tl->group[i], &time))
			continue;
		tl->first = time < tl->first ? time : tl->first;
		tl->last = time > tl->last ? time : tl->last;
	}
	buckets = tl->first <= tl->last ? (tl->last - tl->first) / width : 0;
	together = round_step(buckets / most + 1);
	tl->step = width * together;
	tl->bars = (size_t)(buckets / together) + 1;
}

/* Compute the heights of bars: the column over all groups in the time of each. Returns -1 when
 * out of memory. */
static int bar_heights(struct timeline *tl, size_t i, size_t end, uint64_t *highest)
{
	const struct table *t = tl->table;
	const struct columns_wanted *w = t->groups->wanted;
	struct columns_run run = whole_run(t);

	run.bucket = tl->step;
	memset(tl->height, 0, tl->bars * sizeof(*tl->height));
	*highest = 0;
	while (i < end) {
		struct aggregate *sum = aligned_alloc(16, w->size);
		struct column_value v;
		uint64_t time, next;
		size_t bar;
		int bad = 0;

		if (!sum)
			return -1;
		memset(sum, 0, w->size);
		aggregate_init(sum, w);
		timeline_bucket_of(tl, tl->group[i], &time);
		bar = (size_t)((time - tl->first) / tl->step);
		for (; i < end && !bad; i++) {
			timeline_bucket_of(tl, tl->group[i], &next);
			if ((next - tl->first) / tl->step != bar)
				break;
			bad = aggregate_merge(sum, tl->group[i], w);
		}
		run.bucket_begin = tl->first + bar * tl->step;
		v = column_value(t->columns, &t->columns->column[0], sum, &run);
		aggregate_free(sum, w);
		free(sum);
		if (bad)
			return -1;
		if (v.present && v.number > 0 && bar < tl->bars)
			tl->height[bar] = v.number > UINT64_MAX ? UINT64_MAX : (uint64_t)v.number;
		*highest = tl->height[bar] > *highest ? tl->height[bar] : *highest;
	}
	return 0;
}

/* Write the cell of a key, unless out is NULL. Returns its width. */
static size_t timeline_put_cell(const struct timeline *tl, struct text *out, size_t key,
				const struct key_cell *cell)
{
	char value[VALUE_SIZE];
	const char *p;
	size_t n;

	if (groups_cell_text(&tl->sums, cell, &p, &n))
		return out ? format_elided(out, p, n, tl->key[key]) : format_characters(p, n);
	n = cell->kind == KEY_MISSING
		    ? (size_t)snprintf(value, sizeof(value), "-")
		    : format_key_aligned(value, tl->table->by, key, cell, tl->table->ticks);
	if (out)
		text_put(out, value, n);
	return n;
}

/* Measure the keys. Returns -1 when out of memory. */
static int timeline_measure_keys(struct timeline *tl)
{
	size_t width = tl->table->screen->width;

	tl->key = calloc(2 * tl->keys + 1, sizeof(*tl->key));
	if (!tl->key)
		return -1;
	tl->widest = tl->key + tl->keys;
	for (size_t k = 0; k < tl->keys; k++) {
		size_t widest = strlen(tl->table->keys[k]);

		for (size_t i = 0; i < tl->sums.count; i++) {
			const struct aggregate *a = groups_at(&tl->sums, i);
			size_t n = timeline_put_cell(tl, NULL, k, &groups_cells(&tl->sums, a)[k]);

			widest = n > widest ? n : widest;
		}
		tl->widest[k] = width && widest > width ? width : widest;
	}
	return 0;
}

/* Where a terminal limits the line, elide the longest keys until all have at most that width.
 * Returns their width, with the gaps before them. */
static size_t timeline_fit_keys(struct timeline *tl, size_t most)
{
	size_t sum = 0;

	for (size_t k = 0; k < tl->keys; k++) {
		tl->key[k] = tl->widest[k];
		sum += tl->key[k] + 2;
	}
	while (tl->table->screen->width && sum > most) {
		size_t longest = 0;

		for (size_t k = 1; k < tl->keys; k++)
			longest = tl->key[k] > tl->key[longest] ? k : longest;
		if (tl->key[longest] <= KEY_LEAST)
			break;
		tl->key[longest]--;
		sum--;
	}
	return sum;
}

/* Write the axis, above the bars: a mark at each AXIS-th bar, with the time since the first one. */
static void put_axis(const struct timeline *tl)
{
	char label[VALUE_SIZE];
	size_t bar = 0;

	text_puts(tl->out, "  ");
	while (bar < tl->bars) {
		size_t n = bar ? format_duration(label, (int128)bar * tl->step, tl->table->ticks)
			       : (size_t)snprintf(label, sizeof label, "0");

		if (bar + n + 2 > tl->bars)
			break;
		text_char(tl->out, '|');
		text_put(tl->out, label, n);
		bar += n + 1;
		do
			text_char(tl->out, ' ');
		while (++bar < tl->bars && bar % AXIS);
	}
	text_pad(tl->out, ' ', tl->bars - bar);
}

static void timeline_put_head(const struct timeline *tl)
{
	const struct table *t = tl->table;
	const struct column *c = &t->columns->column[0];
	char from[VALUE_SIZE], to[VALUE_SIZE], step[VALUE_SIZE], head[3 * VALUE_SIZE + 32];
	size_t n = strlen(c->name);
	int size;

	if (t->ticks) {
		u128_decimal(from, tl->first);
		u128_decimal(to, (uint128)tl->first + (uint128)tl->bars * tl->step);
	} else {
		format_time(from, tl->first);
		format_time(to, tl->first + tl->bars * tl->step);
	}
	format_duration(step, tl->step, t->ticks);
	size = snprintf(head, sizeof head, "from %s to %s, %s a bar", from, to, step);
	aligned_words(tl->out, head, (size_t)size, t->screen->width, 4, 0);
	text_char(tl->out, '\n');
	text_pad(tl->out, ' ', n < VALUE ? VALUE - n : 0);
	text_puts(tl->out, c->name);
	put_axis(tl);
	for (size_t i = 0; i < tl->keys; i++) {
		text_puts(tl->out, "  ");
		format_elided(tl->out, t->keys[i], strlen(t->keys[i]), tl->key[i]);
	}
	text_char(tl->out, '\n');
}

static int timeline_put_line(struct timeline *tl, const struct aggregate *sum)
{
	const struct table *t = tl->table;
	const struct column *c = &t->columns->column[0];
	const struct columns_run whole = whole_run(t);
	struct column_value v = column_value(t->columns, c, sum, &whole);
	char value[VALUE_SIZE];
	size_t n = format_column(value, c, v, t->ticks);
	uint64_t highest, begin = groups_cells(&tl->sums, sum)[tl->keys].value;

	if (bar_heights(tl, begin, tl->end[begin], &highest))
		return -1;
	text_pad(tl->out, ' ', n < VALUE ? VALUE - n : 0);
	text_put(tl->out, value, n);
	text_puts(tl->out, "  ");
	for (size_t i = 0; i < tl->bars; i++)
		plot_level(tl->out, tl->height[i], highest, tl->utf8);
	for (size_t k = 0; k < tl->keys; k++) {
		text_puts(tl->out, "  ");
		timeline_put_cell(tl, tl->out, k, &groups_cells(&tl->sums, sum)[k]);
	}
	text_char(tl->out, '\n');
	return 0;
}

static int timeline_for_people(struct timeline *tl, uint64_t width, struct error *e)
{
	const struct table *t = tl->table;
	const struct columns_run whole = whole_run(t);
	const struct aggregate **sums;
	size_t n, fitted, room = t->screen->width ? t->screen->width : PLOT_WIDTH;
	int bad = 0;

	if (!t->groups->count)
		return 0;
	if (add_sums(tl))
		return error_no_memory(e);
	if (timeline_measure_keys(tl))
		return error_no_memory(e);
	n = t->screen->width * 3 / 8 > NAMES ? t->screen->width * 3 / 8 : NAMES;
	/* on a narrow screen the bars come first */
	if (t->screen->width && t->screen->width < VALUE + 6 + LEAST + n)
		n = t->screen->width > VALUE + 6 + LEAST + KEY_LEAST
			    ? t->screen->width - VALUE - 6 - LEAST
			    : KEY_LEAST;
	fitted = timeline_fit_keys(tl, n);
	n = VALUE + 6 + (t->screen->width || fitted < n ? fitted : n);
	timeline_lay_out(tl, width, room > n + LEAST ? room - n : LEAST);
	/* the bars may be fewer than fit */
	n = VALUE + 2 + (tl->bars > LEAST ? tl->bars : LEAST);
	timeline_fit_keys(tl, t->screen->width > n + KEY_LEAST ? t->screen->width - n : KEY_LEAST);
	tl->height = calloc(tl->bars, sizeof(*tl->height));
	sums = sort_groups(t->sort, &tl->sums, t->columns, &whole, e);
	n = t->limit && t->limit < tl->sums.count ? t->limit : tl->sums.count;
	if (!sums || !tl->height) {
		free(sums);
		return error_no_memory(e);
	}
	timeline_put_head(tl);
	for (size_t i = 0; i < n && !bad && !text_failed(tl->out); i++)
		bad = timeline_put_line(tl, sums[i]);
	free(sums);
	return bad ? error_no_memory(e) : 0;
}

/* --- svg --- */

enum {
	TIMELINE_BARS = 236, /* most bars of a row of the picture */
	TIMELINE_ABOVE = 16, /* for the scale of times */
	TIMELINE_HEIGHT = 44,
	TIMELINE_COLOUR = 0x5b8fc7,
};

/* Write the scale of a row: 0, and the greatest round value. */
static void timeline_put_scale(const struct timeline *tl, int y, uint64_t highest)
{
	const struct plot plot = {SVG_LEFT, y + SVG_ROW, SVG_INSIDE, TIMELINE_HEIGHT};
	const struct column *c = &tl->table->columns->column[0];
	uint64_t step = 1, next;
	char label[PLOT_AMOUNT];

	while (step < highest && (next = round_step(step + 1)) <= highest)
		step = next;
	if (column_unit(c) == UNIT_DURATION && !column_counts_ticks(c, tl->table->ticks))
		plot_amount(label, (int128)step, "ns", true);
	else
		format_column(label, c, (struct column_value){true, (int128)step, 0},
			      tl->table->ticks);
	plot_put_level(tl->out, &plot, 0, "");
	if (highest)
		plot_put_level(tl->out, &plot, (double)step / (double)highest, label);
}

/* Write a row of bars, with their scale. */
static int timeline_put_bars(struct timeline *tl, const struct aggregate *sum, int y)
{
	const struct table *t = tl->table;
	const struct column *c = &t->columns->column[0];
	const struct columns_run whole = whole_run(t);
	const char *unit = t->ticks ? "ticks" : "ns";
	uint64_t highest, begin = groups_cells(&tl->sums, sum)[tl->keys].value;
	char value[VALUE_SIZE], most[VALUE_SIZE];
	struct buffer name = {0};
	double part = (double)SVG_INSIDE / (double)tl->bars;

	if (table_group_name(t, &tl->sums, groups_cells(&tl->sums, sum), tl->keys, &name) ||
	    bar_heights(tl, begin, tl->end[begin], &highest)) {
		buffer_free(&name);
		return -1;
	}
	format_column(value, c, column_value(t->columns, c, sum, &whole), t->ticks);
	format_column(most, c, (struct column_value){true, (int128)highest, 0}, t->ticks);
	text_printf(tl->out, "<g>\n<text class=\"lane\" x=\"%d\" y=\"%d\">", SVG_LEFT, y + 12);
	svg_put_escaped(tl->out, name.size ? (const char *)name.data : "", name.size);
	text_printf(tl->out, "%s%s %s, highest bar %s</text>\n", name.size ? ": " : "", c->name,
		    *value ? value : "-", *most ? most : "-");
	for (size_t i = 0; i < tl->bars; i++) {
		char at[SVG_AMOUNT], text[VALUE_SIZE + SVG_AMOUNT + 8];
		double height =
			highest ? TIMELINE_HEIGHT * (double)tl->height[i] / (double)highest : 0;
		struct svg_frame f = {.name = name.size ? (const char *)name.data : c->name,
				      .size = name.size ? name.size : strlen(c->name),
				      .value = text,
				      .x = part * (double)i,
				      .width = part,
				      .colour = TIMELINE_COLOUR,
				      .look = "mute"};

		if (!tl->height[i])
			continue;
		f.height = height < 1 ? 1 : height;
		f.y = y + SVG_ROW + TIMELINE_HEIGHT - f.height;
		format_column(value, c, (struct column_value){true, (int128)tl->height[i], 0},
			      t->ticks);
		snprintf(text, sizeof text, "%s %s at %s", c->name, value,
			 svg_amount(at, i * tl->step, unit, true));
		svg_put_frame(tl->out, &f);
	}
	text_puts(tl->out, "</g>\n");
	timeline_put_scale(tl, y, highest);
	buffer_free(&name);
	return 0;
}

/* Count the rows that a picture has space for. */
static size_t timeline_rows(const struct timeline *tl, const struct aggregate **sums)
{
	const struct table *t = tl->table;
	size_t most = t->limit && t->limit < tl->sums.count ? t->limit : tl->sums.count;
	size_t frames = 0, bytes = 0, bytes_most = t->part_bytes ? t->part_bytes : SVG_BYTES_MOST;

	for (size_t i = 0; i < most; i++) {
		const char *text = "";
		size_t name = 0, n;

		for (size_t k = 0; k < tl->keys; k++)
			name += groups_cell_text(&tl->sums, &groups_cells(&tl->sums, sums[i])[k],
						 &text, &n)
					? 6 * n + 2
					: VALUE_SIZE;
		frames += tl->bars;
		bytes += tl->bars * (svg_frame_bytes("", 0) + VALUE_SIZE + name);
		if (i && (frames > SVG_FRAMES_MOST || bytes > bytes_most))
			return i;
	}
	return most;
}

static int timeline_svg(struct timeline *tl, uint64_t width, struct error *e)
{
	const struct table *t = tl->table;
	const struct columns_run whole = whole_run(t);
	const char *unit = t->ticks ? "ticks" : "ns";
	enum { ROW = SVG_ROW + TIMELINE_HEIGHT + 8, TOP = SVG_ABOVE + TIMELINE_ABOVE };
	char line[256], step[SVG_AMOUNT], from[VALUE_SIZE];
	const struct aggregate **sums;
	size_t n, size;
	int height, bad = 0;

	if (add_sums(tl))
		return error_no_memory(e);
	timeline_lay_out(tl, width, TIMELINE_BARS);
	tl->height = calloc(tl->bars, sizeof(*tl->height));
	sums = sort_groups(t->sort, &tl->sums, t->columns, &whole, e);
	if (!sums || !tl->height) {
		free(sums);
		return error_no_memory(e);
	}
	n = timeline_rows(tl, sums);
	svg_amount(step, tl->step, unit, true);
	if (t->ticks)
		u128_decimal(from, tl->first > tl->last ? 0 : tl->first);
	else
		format_time(from, tl->first > tl->last ? 0 : tl->first);
	size = (size_t)snprintf(line, sizeof line, "%.64s by time, from %s on: a bar for each %s",
				t->columns->column[0].name, from, step);
	if (n < tl->sums.count)
		snprintf(line + size, sizeof line - size, ", %zu groups left out",
			 tl->sums.count - n);
	height = TOP + (int)n * ROW + SVG_BELOW;
	svg_begin(tl->out, &(struct svg_picture){.class = "chart",
						 .title = t->title,
						 .line = line,
						 .exact = line,
						 .span = tl->bars * tl->step,
						 .unit = unit,
						 .height = height,
						 .part = t->part_bytes != 0});
	svg_put_axis(tl->out, tl->bars * tl->step, unit, SVG_ABOVE, height - SVG_BELOW);
	for (size_t i = 0; i < n && !bad && !text_failed(tl->out); i++)
		bad = timeline_put_bars(tl, sums[i], TOP + (int)i * ROW);
	svg_end(tl->out, t->part_bytes != 0);
	free(sums);
	return bad ? error_no_memory(e) : 0;
}

/* Keep in tl->group only the rows of the first limit groups, as the picture does. Returns -1
 * when out of memory. */
static int limit_groups(struct timeline *tl, size_t *count, struct error *e)
{
	const struct table *t = tl->table;
	const struct columns_run whole = whole_run(t);
	const struct aggregate **sums;
	size_t kept = 0;

	if (!t->limit)
		return 0;
	if (add_sums(tl))
		return error_no_memory(e);
	sums = sort_groups(t->sort, &tl->sums, t->columns, &whole, e);
	if (!sums)
		return -1;
	/* groups over the limit become empty */
	for (size_t i = t->limit; i < tl->sums.count; i++) {
		size_t begin = groups_cells(&tl->sums, sums[i])[tl->keys].value;

		tl->group[begin] = NULL;
	}
	for (size_t i = 0, end; i < *count; i = end) {
		end = tl->end[i];
		for (size_t row = i; tl->group[i] && row < end; row++)
			tl->group[kept++] = tl->group[row];
	}
	*count = kept;
	free(sums);
	return 0;
}

int view_timeline(const struct table *t, uint64_t width, enum table_format format, struct text *out,
		  struct error *e)
{
	struct sort by_keys = {0};
	struct timeline tl = {
		.table = t, .keys = t->groups->keys - 1, .out = out, .utf8 = plot_utf8(out->out)};
	struct table_rows rows = {.format = format, .table = t, .count = t->groups->count};
	int bad;

	groups_init(&tl.sums, tl.keys + 1, t->groups->wanted);
	tl.group = sort_groups(&by_keys, t->groups, t->columns, &t->run, e);
	rows.row = tl.group;
	if (!tl.group)
		bad = -1;
	else if (format == TABLE_ALIGNED)
		bad = timeline_for_people(&tl, width, e);
	else if (format == TABLE_SVG)
		bad = timeline_svg(&tl, width, e);
	else
		bad = limit_groups(&tl, &rows.count, e) || table_write_rows(&rows, out, e);
	groups_free(&tl.sums);
	free(tl.group);
	free(tl.height);
	free(tl.end);
	free(tl.key);
	return bad;
}
