/*
 * flame_chart_draw.c - writes a flame chart: a lane for each thread, the outermost frame on top
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/timeline/flame_chart.h"
#include "common/util/stack_limit.h"
#include "common/picture/svg.h"

enum {
	LANES_MOST = 500,
	AXIS = 16, /* height of the line of times */
	GAP = 6,   /* between two lanes */
	GREY = 0xb8b8b8,
};

/* One lane of the picture. */
struct drawn_lane {
	struct chart_lane *lane;
	const struct chart_thread *thread;
	const char *what; /* follows the name */
	uint64_t busy;	  /* time of its outermost frames */
	int depth;
	bool left_out;
};

struct chart_drawing {
	struct flame_chart *chart;
	struct text *out;
	struct drawn_lane *lanes;
	size_t count, left_out;
	uint64_t origin, span;
};

static bool is_visible(const struct chart_drawing *d, const struct chart_frame *f)
{
	return f->end - f->start >= d->chart->frames.least;
}

/* Test whether the frames that are wide enough fit into the picture. */
static bool fits(const struct chart_drawing *d)
{
	const struct intern *names = &d->chart->names;
	size_t n = 0, bytes = 0;

	for (const struct chart_lane *l = d->chart->frames.lanes; l; l = l->next) {
		for (size_t i = 0; i < l->count; i++) {
			const struct chart_frame *f = &l->frames[i];

			if (!is_visible(d, f))
				continue;
			n++;
			bytes += f->merged ? svg_frame_bytes("", 0)
					   : svg_frame_bytes(intern_data(names, f->name),
							     intern_size(names, f->name));
		}
	}
	return n <= SVG_FRAMES_MOST && bytes <= SVG_BYTES_MOST;
}

static void merge_narrow(const struct chart_drawing *d)
{
	struct chart_frames *c = &d->chart->frames;

	if (c->least <= d->span / SVG_PARTS) {
		c->least = d->span / SVG_PARTS + 1;
		chart_frames_merge(c);
	}
	while (!fits(d) && chart_frames_coarsen(c, 4))
		;
}

/* --- lanes --- */

static int add_lane(struct chart_drawing *d, const struct chart_thread *thread,
		    struct chart_lane *lane, const char *what)
{
	struct drawn_lane *to = &d->lanes[d->count];

	if (!lane->count)
		return 0;
	*to = (struct drawn_lane){.lane = lane, .thread = thread, .what = what};
	to->depth = chart_lane_nest(lane);
	if (to->depth < 0)
		return -1;
	for (size_t i = 0; i < lane->count; i++)
		if (!lane->frames[i].level)
			add_saturated(&to->busy, lane->frames[i].end - lane->frames[i].start);
	d->count++;
	return 0;
}

static int by_busy(const void *a, const void *b)
{
	const struct drawn_lane *x = *(struct drawn_lane *const *)a,
				*y = *(struct drawn_lane *const *)b;

	if (x->busy != y->busy)
		return x->busy > y->busy ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Leave out the lanes with the shortest times, where there are too many. */
static int choose_lanes(struct chart_drawing *d)
{
	struct drawn_lane **order;

	if (d->count <= LANES_MOST)
		return 0;
	order = malloc(d->count * sizeof *order);
	if (!order)
		return -1;
	for (size_t i = 0; i < d->count; i++)
		order[i] = &d->lanes[i];
	qsort(order, d->count, sizeof *order, by_busy);
	for (size_t i = LANES_MOST; i < d->count; i++)
		order[i]->left_out = true;
	d->left_out = d->count - LANES_MOST;
	free(order);
	return 0;
}

static int make_lanes(struct chart_drawing *d)
{
	const struct flame_chart *c = d->chart;

	d->lanes = malloc((2 * c->nthreads + 1) * sizeof *d->lanes);
	if (!d->lanes)
		return -1;
	for (size_t i = 0; i < c->nthreads; i++) {
		struct chart_thread *t = c->threads[i];

		if (add_lane(d, t, &t->calls, "") || add_lane(d, t, &t->samples, ", samples"))
			return -1;
	}
	return choose_lanes(d);
}

/* --- frames --- */

static int by_start(const void *a, const void *b)
{
	const struct chart_frame *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->level < y->level ? -1 : x->level > y->level;
}

static double pixels(const struct chart_drawing *d, uint64_t time)
{
	return (double)time / (double)d->span * SVG_INSIDE;
}

static void put_frame(const struct chart_drawing *d, const struct chart_frame *f, int y)
{
	const struct intern *names = &d->chart->names;
	const char *unit = d->chart->unit;
	uint64_t at = f->start - d->origin, time = f->end - f->start;
	struct svg_frame frame = {.x = pixels(d, at), .width = pixels(d, time), .y = y};
	char merged[64], value[160];

	if (f->merged) {
		snprintf(merged, sizeof merged, "(%" PRIu32 " merged frame%s)", f->merged,
			 f->merged == 1 ? "" : "s");
		frame.name = merged;
		frame.size = strlen(merged);
		frame.colour = GREY;
	} else {
		frame.name = intern_data(names, f->name);
		frame.size = intern_size(names, f->name);
		frame.colour = svg_colour(frame.name, frame.size);
	}
	snprintf(value, sizeof value, "%" PRIu64 " %.40s at %" PRIu64 " %.40s, %.2f%%", time, unit,
		 at, unit, 100 * (double)time / (double)d->span);
	frame.value = value;
	svg_put_frame(d->out, &frame);
}

static int put_lane(const struct chart_drawing *d, const struct drawn_lane *l, int y)
{
	const struct buffer *name = &l->thread->name;

	text_printf(d->out, "<g>\n<text class=\"lane\" x=\"%d\" y=\"%d\">", SVG_LEFT, y + 12);
	svg_put_escaped(d->out, (const char *)name->data, name->size);
	text_puts(d->out, l->what);
	text_puts(d->out, "</text>\n");
	y += SVG_ROW;
	qsort(l->lane->frames, l->lane->count, sizeof *l->lane->frames, by_start);
	for (size_t i = 0; i < l->lane->count; i++) {
		const struct chart_frame *f = &l->lane->frames[i];

		if (is_visible(d, f))
			put_frame(d, f, y + (int)f->level * SVG_ROW);
	}
	text_puts(d->out, "</g>\n");
	return y + l->depth * SVG_ROW + GAP;
}

/* --- the head --- */

/* Count the frames that are drawn and not merged. */
static uint64_t count_drawn(const struct chart_drawing *d)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->count; i++)
		for (size_t k = 0; !d->lanes[i].left_out && k < d->lanes[i].lane->count; k++) {
			const struct chart_frame *f = &d->lanes[i].lane->frames[k];

			n += !f->merged && is_visible(d, f);
		}
	return n;
}

/* Write what is drawn, and how much is missing and why; exact: with exact amounts. */
static void about_chart(const struct chart_drawing *d, bool exact, char *out, size_t size)
{
	const struct flame_chart *c = d->chart;
	char hidden[256] = "", deep[64] = "", lanes[80] = "", span[SVG_AMOUNT], least[SVG_AMOUNT];
	uint64_t missing = c->frames.added - count_drawn(d);

	if (c->frames.levels < STACK_FRAMES)
		snprintf(deep, sizeof deep, ", or deeper than %" PRIu32, c->frames.levels);
	if (missing)
		snprintf(hidden, sizeof hidden,
			 ", %" PRIu64 " frames too narrow to see (below %s%s)", missing,
			 svg_amount(least, c->frames.least, c->unit, exact), deep);
	if (d->left_out)
		snprintf(lanes, sizeof lanes, ", %zu threads left out", d->left_out);
	snprintf(out, size, "%s%s%.200s by time: %s%s%s", c->calls || !c->sampled ? "calls" : "",
		 !c->sampled ? ""
		 : c->calls  ? " and samples of "
			     : "samples of ",
		 c->sampled ? c->sampled : "", svg_amount(span, d->span, c->unit, exact), hidden,
		 lanes);
}

static void put_about(const struct chart_drawing *d)
{
	char line[768], exact[768];

	about_chart(d, false, line, sizeof line);
	about_chart(d, true, exact, sizeof exact);
	svg_about(d->out, d->chart->title, line, exact);
}

static void write_chart(struct chart_drawing *d)
{
	char root[128];
	int height = SVG_ABOVE + AXIS + SVG_BELOW, y = SVG_ABOVE + AXIS;

	for (size_t i = 0; i < d->count; i++)
		if (!d->lanes[i].left_out)
			height += (d->lanes[i].depth + 1) * SVG_ROW + GAP;
	snprintf(root, sizeof root, "class=\"chart\" data-span=\"%" PRIu64 "\"", d->span);
	svg_begin(d->out, root, d->chart->unit, height);
	put_about(d);
	svg_put_axis(d->out, d->span, d->chart->unit, SVG_ABOVE, height - SVG_BELOW);
	for (size_t i = 0; i < d->count; i++)
		if (!d->lanes[i].left_out)
			y = put_lane(d, &d->lanes[i], y);
	svg_end(d->out);
}

int flame_chart_draw(struct flame_chart *c, struct text *out)
{
	struct chart_drawing d = {.chart = c, .out = out, .span = 1};
	int bad;

	if (c->frames.last > c->frames.first) {
		d.origin = c->frames.first;
		d.span = c->frames.last - c->frames.first;
	}
	merge_narrow(&d);
	bad = make_lanes(&d);
	if (!bad)
		write_chart(&d);
	free(d.lanes);
	return bad;
}
