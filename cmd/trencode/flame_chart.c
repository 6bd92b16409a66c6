/*
 * flame_chart.c - flame charts as SVG, by time
 */
#include "cmd/trencode/flame_chart.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/convert.h"
#include "cmd/trencode/folded.h"
#include "cmd/trencode/stack_profile.h"
#include "cmd/trencode/spans.h"
#include "cmd/trencode/tracks.h"
#include "common/picture/svg.h"
#include "common/scheduling/states.h"
#include "common/util/buffer.h"
#include "common/util/stack_limit.h"

/*
 * -t svg --by-time: a flame chart, the calls and the samples of each thread by time.
 *
 * A call is a frame from its enter to its leave. A sample lasts until the next sample of its
 * thread. Where its weight is a time, and the next sample is more than twice the weight later, the
 * sample lasts its weight: the thread did not run in between. Neighbouring samples share the frames
 * that their stacks have in common. The samples are those of one type, the first in the trace.
 *
 * Where the trace has samples without times, whose clock counts ticks, and no calls, a sample lasts
 * its weight, from the end of the sample before it: the chart counts what the samples count.
 *
 * Where the trace has events of the scheduler, each thread has a lane of its states: a frame for
 * each time in a state, whose height shows the state as its colour does.
 */

enum {
	WIDEST = 64, /* levels are halved rather than merging frames of this part of the whole */
	LEVELS_LEAST = 8,
};

/*
 * The frames of a flame chart that are wide enough to see, in bounded memory.
 *
 * Frames are added when they end, so callees before their callers. A frame shorter than `least` is
 * not kept by itself, and neither are its callees: such frames of one caller that are less than
 * `least` apart become one merged frame, from the start of the first to the end of the last. So do
 * frames at `levels` or more above the outermost one. Where CHART_FRAMES_MOST frames are kept,
 * `least` is doubled, and where this merges too much, `levels` is halved. The result is that of a
 * chart of all frames with the same `least` and `levels`.
 */

enum { CHART_FRAMES_MOST = 1 << 17 };

/* One frame, or several frames that are merged. */
struct chart_frame {
	uint64_t start, end;
	uint32_t name;	 /* the caller's; of a merged frame 0 */
	uint32_t level;	 /* number of frames below, of which some may be missing */
	uint32_t merged; /* number of frames that are merged; 0: it is a frame */
};

/* The frames of one lane, by their ends. */
struct chart_lane {
	struct chart_frame *frames;
	size_t count, capacity;
	struct chart_lane *next; /* in chart_frames.lanes */
	bool listed;
	bool aside; /* its frames do not widen the chart */
};

/* The frames of all lanes. */
struct chart_frames {
	struct chart_lane *lanes; /* those with frames; the memory is the caller's */
	uint64_t least;		  /* shortest time of a frame that is kept by itself */
	uint32_t levels;
	uint64_t first, last; /* earliest start and latest end */
	uint64_t added;	      /* frames */
	size_t kept, most;    /* frames in memory, and their limit */
};

/* Join a merged frame with the one before it, if these are merged frames of one caller. */
static bool join_last(const struct chart_frames *c, struct chart_lane *lane,
		      const struct chart_frame *f)
{
	struct chart_frame *last = lane->count ? &lane->frames[lane->count - 1] : NULL;

	/* frames between two levels may be missing, so the caller of both is that of the lower */
	if (!last || !last->merged || last->level < f->level ||
	    (f->start > last->end && f->start - last->end >= c->least))
		return false;
	last->level = f->level;
	last->merged = last->merged + f->merged < f->merged ? UINT32_MAX : last->merged + f->merged;
	last->start = f->start < last->start ? f->start : last->start;
	last->end = f->end > last->end ? f->end : last->end;
	return true;
}

/* Append a frame, for which there is memory. */
static void append(const struct chart_frames *c, struct chart_lane *lane, struct chart_frame f)
{
	if (!f.merged && (f.end - f.start < c->least || f.level >= c->levels)) {
		while (lane->count && lane->frames[lane->count - 1].level > f.level &&
		       lane->frames[lane->count - 1].start >= f.start)
			lane->count--;
		f.merged = 1;
		f.name = 0;
	}
	while (f.merged && join_last(c, lane, &f))
		f = lane->frames[--lane->count];
	lane->frames[lane->count++] = f;
}

/* Merge all frames with a larger `least` or a smaller `levels`, which the caller has set. */
static void chart_frames_merge(struct chart_frames *c)
{
	c->kept = 0;
	for (struct chart_lane *lane = c->lanes; lane; lane = lane->next) {
		size_t n = lane->count;

		lane->count = 0;
		for (size_t i = 0; i < n; i++)
			append(c, lane, lane->frames[i]);
		c->kept += lane->count;
	}
}

/* Make the frames fewer: add `least` / parts to `least`, or halve `levels`. Returns
 * false if all frames are merged. */
static bool chart_frames_coarsen(struct chart_frames *c, unsigned parts)
{
	uint64_t span = c->last > c->first ? c->last - c->first : 0;

	if (c->least > span)
		return false;
	if (c->least > span / WIDEST && c->levels > LEVELS_LEAST)
		c->levels /= 2;
	else if (__builtin_add_overflow(c->least, c->least / parts + 1, &c->least))
		c->least = UINT64_MAX;
	chart_frames_merge(c);
	return true;
}

/* Add a frame, which must end after all frames that it calls. Returns 0, or -1 when out of memory.
 */
static int chart_frames_add(struct chart_frames *c, struct chart_lane *lane,
			    const struct chart_frame *f)
{
	size_t had = lane->count;

	if (c->kept >= c->most) {
		while (c->kept > c->most / 2 && chart_frames_coarsen(c, 1))
			;
		/* where each lane has a single frame there may be more */
		if (c->most < 2 * c->kept)
			c->most = 2 * c->kept;
		had = lane->count;
	}
	if (ARRAY_GROW(lane->frames, lane->capacity, lane->count))
		return -1;
	if (!lane->listed) {
		lane->listed = true;
		lane->next = c->lanes;
		c->lanes = lane;
	}
	if (!lane->aside && f->start < c->first)
		c->first = f->start;
	if (!lane->aside && f->end > c->last)
		c->last = f->end;
	c->added++;
	append(c, lane, *f);
	c->kept += lane->count;
	c->kept -= had;
	return 0;
}

/* Test whether a frame, which ended before top, is not called by top. Levels alone do not show
 * this, as frames between them may be missing. */
static bool is_beside(const struct chart_frame *f, const struct chart_frame *top, uint32_t level)
{
	return level >= f->level || (f->end <= top->start && f->start < top->start);
}

/* Set the level of each frame of a lane to the number of frames below that are kept. Returns the
 * largest level + 1, 0 if there is no frame; -1 when out of memory. To be called once, at the end.
 */
static int chart_lane_nest(struct chart_lane *lane)
{
	/* the frames that call the present one: index and level */
	struct {
		size_t frame;
		uint32_t level;
	} *open = malloc((lane->count + 1) * sizeof *open);
	size_t n = 0, depth = 0;

	if (!open)
		return -1;
	for (size_t i = lane->count; i--;) {
		struct chart_frame *f = &lane->frames[i];

		while (n && is_beside(f, &lane->frames[open[n - 1].frame], open[n - 1].level))
			n--;
		open[n].frame = i;
		open[n].level = f->level;
		f->level = (uint32_t)n++;
		depth = n > depth ? n : depth;
	}
	free(open);
	return (int)depth;
}

/* --- the threads, and the run --- */

/* One thread. */
struct chart_thread {
	struct buffer name;
	struct chart_lane calls, samples, states;
	bool tracked; /* calls or samples have shown it */
	struct {
		struct {
			uint64_t start;
			uint32_t name;
		} * open; /* frames that samples have shown, and that go on; outermost first */
		size_t nopen, capacity;
		uint64_t time, weight, interval; /* of the last one; time since the one before it */
		bool seen;
	} sampled;
};

/* The state of a thread, and the one before if it is not known yet which that was. */
struct chart_task {
	struct chart_thread *thread; /* NULL: nothing is known of it */
	uint64_t since;
	uint8_t state; /* enum state */
	bool blocked;  /* from blocked_since to since: in I/O wait if iowait is larger now */
	uint64_t blocked_since, iowait;
};

/* One run of the encoder. */
struct chart_run {
	struct chart_frames frames;
	struct chart_thread **threads; /* in the order of their appearance */
	size_t nthreads, capacity;
	struct intern chart_names;
	bool calls; /* there are calls */
	const char
		*unit; /* of times: "ns", "ticks", or the type that samples without times count */
	struct spans spans;
	struct tracks tracks;
	struct location_names names;
	uint32_t *numbers; /* by location: number in chart_names + 1; 0 not yet looked up */
	size_t nnumbers;
	uint32_t symbol_changes;
	struct states states;
	struct chart_task *tasks; /* by number in states */
	size_t ntasks, tasks_capacity;
	uint32_t state_names[STATES]; /* in chart_names */
	uint64_t first, last;	      /* times of the states; of all events */
	uint64_t states_added;
	const struct type *sampled; /* of the samples that are shown; NULL: there are none */
	struct buffer stack;	    /* locations of a stack, innermost first */
	struct other_events others;
	uint64_t crossing, samples, negative;
	uint64_t elapsed; /* with timeless: weight of the samples so far */
	bool started, drop, timeless;
};

/* --- writes a flame chart: a lane for each thread, the outermost frame on top --- */

enum {
	LANES_MOST = 500,
	AXIS = 16,   /* height of the line of times */
	GAP = 6,     /* between two lanes */
	LEGEND = 22, /* height of the legend of states */
	GREY = 0xb8b8b8,
};

/* One lane of the picture. */
struct drawn_lane {
	struct chart_lane *lane;
	const struct chart_thread *thread;
	const char *what; /* follows the name */
	bool states;
	uint64_t busy; /* time of its outermost frames, of states those in which it runs */
	int depth;
	bool left_out;
};

struct chart_drawing {
	struct chart_run *chart;
	const char *title; /* NULL: none */
	struct text *out;
	struct drawn_lane *lanes;
	size_t count, left_out;
	bool states; /* a lane has states */
	uint64_t origin, span;
};

static bool is_visible(const struct chart_drawing *d, const struct chart_frame *f)
{
	return f->end - f->start >= d->chart->frames.least;
}

/* Test whether the frames that are wide enough fit into the picture. */
static bool flame_chart_fits(const struct chart_drawing *d)
{
	const struct intern *names = &d->chart->chart_names;
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
	while (!flame_chart_fits(d) && chart_frames_coarsen(c, 4))
		;
}

/* --- lanes --- */

static int add_lane(struct chart_drawing *d, const struct chart_thread *thread,
		    struct chart_lane *lane, const char *what)
{
	const struct chart_run *c = d->chart;
	struct drawn_lane *to = &d->lanes[d->count];

	if (!lane->count)
		return 0;
	*to = (struct drawn_lane){
		.lane = lane, .thread = thread, .what = what, .states = lane == &thread->states};
	d->states |= to->states;
	to->depth = chart_lane_nest(lane);
	if (to->depth < 0)
		return -1;
	for (size_t i = 0; i < lane->count; i++)
		if (!lane->frames[i].level &&
		    (!to->states || (!lane->frames[i].merged &&
				     lane->frames[i].name == c->state_names[STATE_RUNNING])))
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
	const struct chart_run *c = d->chart;

	d->lanes = malloc((3 * c->nthreads + 1) * sizeof *d->lanes);
	if (!d->lanes)
		return -1;
	for (size_t i = 0; i < c->nthreads; i++) {
		struct chart_thread *t = c->threads[i];

		if (add_lane(d, t, &t->states, ", states") || add_lane(d, t, &t->calls, "") ||
		    add_lane(d, t, &t->samples, ", samples"))
			return -1;
	}
	return choose_lanes(d);
}

/* --- frames --- */

static int flame_chart_by_start(const void *a, const void *b)
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

/* How a state is drawn: its height, as a part of a row, and its colour. */
static const struct {
	double height;
	uint32_t colour;
} state_looks[STATES] = {
	[STATE_RUNNING] = {1, 0x3a9d68},   [STATE_IRQ] = {1, 0x95952c},
	[STATE_RUNNABLE] = {.7, 0xc9822b}, [STATE_BLOCKED] = {.5, 0xd8604f},
	[STATE_IOWAIT] = {.5, 0xb07ac0},   [STATE_OFFCPU] = {.3, 0x8c8c8c},
	[STATE_SLEEPING] = {.2, 0x5b8fc7},
};

/* Give a frame the look of a state, at the bottom of its row. */
static void put_state_look(struct svg_frame *f, enum state state)
{
	double height = state_looks[state].height * (SVG_ROW - 1);

	f->colour = state_looks[state].colour;
	f->y += SVG_ROW - 1 - height;
	f->height = height;
	f->look = state == STATE_IRQ || state == STATE_IOWAIT ? "less" : NULL;
}

static void flame_chart_put_frame(const struct chart_drawing *d, const struct drawn_lane *lane,
				  const struct chart_frame *f, int y)
{
	const struct intern *names = &d->chart->chart_names;
	const char *unit = d->chart->unit;
	uint64_t at = f->start - d->origin, time = f->end - f->start;
	struct svg_frame frame = {.x = pixels(d, at), .width = pixels(d, time), .y = y};
	char merged[64], value[256], amount[SVG_AMOUNT], begin[SVG_AMOUNT];

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
	for (int i = 0; lane->states && !f->merged && i < STATES; i++)
		if (f->name == d->chart->state_names[i])
			put_state_look(&frame, (enum state)i);
	snprintf(value, sizeof value, "%s at %s, %.2f%%", svg_amount(amount, time, unit, true),
		 svg_amount(begin, at, unit, true), 100 * (double)time / (double)d->span);
	frame.value = value;
	svg_put_frame(d->out, &frame);
}

static int flame_chart_put_lane(const struct chart_drawing *d, const struct drawn_lane *l, int y)
{
	const struct buffer *name = &l->thread->name;

	text_printf(d->out, "<g>\n<text class=\"lane\" x=\"%d\" y=\"%d\">", SVG_LEFT, y + 12);
	svg_put_escaped(d->out, (const char *)name->data, name->size);
	text_puts(d->out, l->what);
	text_puts(d->out, "</text>\n");
	y += SVG_ROW;
	qsort(l->lane->frames, l->lane->count, sizeof *l->lane->frames, flame_chart_by_start);
	for (size_t i = 0; i < l->lane->count; i++) {
		const struct chart_frame *f = &l->lane->frames[i];

		if (is_visible(d, f))
			flame_chart_put_frame(d, l, f, y + (int)f->level * SVG_ROW);
	}
	text_puts(d->out, "</g>\n");
	return y + l->depth * SVG_ROW + GAP;
}

/* --- the head --- */

/* Count the frames, or the states, that are drawn and not merged. */
static uint64_t count_drawn(const struct chart_drawing *d, bool states)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->count; i++)
		for (size_t k = 0; !d->lanes[i].left_out && d->lanes[i].states == states &&
				   k < d->lanes[i].lane->count;
		     k++) {
			const struct chart_frame *f = &d->lanes[i].lane->frames[k];

			n += !f->merged && is_visible(d, f);
		}
	return n;
}

/* Write what is drawn, and how much is missing and why; exact: with exact amounts. */
static void about_chart(const struct chart_drawing *d, bool exact, char *out, size_t size)
{
	const struct chart_run *c = d->chart;
	char frames[48] = "", of_states[48] = "", hidden[352] = "", deep[64] = "", lanes[80] = "",
	     span[SVG_AMOUNT], least[SVG_AMOUNT];
	uint64_t missing = c->frames.added - count_drawn(d, false);
	uint64_t states = c->states_added - count_drawn(d, true);

	if (c->frames.levels < STACK_FRAMES)
		snprintf(deep, sizeof deep, ", or deeper than %" PRIu32, c->frames.levels);
	if (states)
		snprintf(of_states, sizeof of_states, "%s%" PRIu64 " states",
			 missing ? " and " : ", ", states);
	if (missing)
		snprintf(frames, sizeof frames, ", %" PRIu64 " frames", missing);
	if (missing || states)
		snprintf(hidden, sizeof hidden, "%s%s too narrow to see (below %s%s)", frames,
			 of_states, svg_amount(least, c->frames.least, c->unit, exact), deep);
	if (d->left_out)
		snprintf(lanes, sizeof lanes, ", %zu threads left out", d->left_out);
	snprintf(out, size, "%s%s%s%.200s by time: %s%s%s", d->states ? "states" : "",
		 c->calls || !(c->sampled || d->states) ? d->states ? " and calls" : "calls" : "",
		 !c->sampled		 ? ""
		 : c->calls || d->states ? " and samples of "
					 : "samples of ",
		 c->sampled ? c->sampled->name.text : "", svg_amount(span, d->span, c->unit, exact),
		 hidden, lanes);
}

static void flame_chart_begin(const struct chart_drawing *d, int height)
{
	char line[768], exact[768];

	about_chart(d, false, line, sizeof line);
	about_chart(d, true, exact, sizeof exact);
	svg_begin(d->out, &(struct svg_picture){.class = "chart",
						.title = d->title,
						.line = line,
						.exact = exact,
						.span = d->span,
						.unit = d->chart->unit,
						.height = height});
}

/* Write what the heights and colours of states mean. */
static void put_legend(const struct chart_drawing *d, int y)
{
	enum { EACH = 120, BOX = 24 };

	text_puts(d->out, "<g class=\"legend\">\n");
	for (int i = 0; i < STATE_UNKNOWN; i++) {
		struct svg_frame f = {.y = y};
		int x = SVG_LEFT + i * EACH;

		put_state_look(&f, (enum state)i);
		text_printf(d->out,
			    "<rect x=\"%d\" y=\"%.7g\" width=\"%d\" height=\"%.7g\" "
			    "fill=\"#%06x\"%s/><text class=\"lane\" x=\"%d\" y=\"%d\">%s</text>\n",
			    x, f.y, BOX, f.height, f.colour,
			    f.look ? " stroke-dasharray=\"3 2\"" : "", x + BOX + 5, y + 13,
			    state_names[i]);
	}
	text_puts(d->out, "</g>\n");
}

static void write_chart(struct chart_drawing *d)
{
	int height = SVG_ABOVE + AXIS + SVG_BELOW + (d->states ? LEGEND : 0), y = SVG_ABOVE + AXIS;

	for (size_t i = 0; i < d->count; i++)
		if (!d->lanes[i].left_out)
			height += (d->lanes[i].depth + 1) * SVG_ROW + GAP;
	flame_chart_begin(d, height);
	svg_put_axis(d->out, d->span, d->chart->unit, SVG_ABOVE,
		     height - SVG_BELOW - (d->states ? LEGEND : 0));
	for (size_t i = 0; i < d->count; i++)
		if (!d->lanes[i].left_out)
			y = flame_chart_put_lane(d, &d->lanes[i], y);
	if (d->states)
		put_legend(d, y);
	svg_end(d->out, false);
}

/* Keep of a lane what is within the time of the chart. */
static void clip_states(struct chart_run *c, struct chart_lane *lane)
{
	size_t kept = 0;

	for (size_t i = 0; i < lane->count; i++) {
		struct chart_frame f = lane->frames[i];

		f.start = f.start < c->frames.first ? c->frames.first : f.start;
		f.end = f.end > c->frames.last ? c->frames.last : f.end;
		if (f.start < f.end)
			lane->frames[kept++] = f;
		else
			c->states_added -= f.merged ? f.merged : 1;
	}
	lane->count = kept;
}

/* Write the chart. Merges the frames that are too narrow. Returns 0, or -1 when out of memory. */
static int flame_chart_draw(struct chart_run *c, const char *title, struct text *out)
{
	struct chart_drawing d = {.chart = c, .title = title, .out = out, .span = 1};
	int bad;

	if (!c->frames.added && c->states_added) {
		c->frames.first = c->first;
		c->frames.last = c->last;
	}
	if (c->frames.last > c->frames.first) {
		d.origin = c->frames.first;
		d.span = c->frames.last - c->frames.first;
	}
	for (size_t i = 0; i < c->nthreads; i++)
		clip_states(c, &c->threads[i]->states);
	merge_narrow(&d);
	bad = make_lanes(&d);
	if (!bad)
		write_chart(&d);
	free(d.lanes);
	return bad;
}

static int flame_chart_clean_name(struct buffer *to, const char *name, size_t n)
{
	return n ? folded_clean_name(to, NULL, (struct text_ref){name, (uint32_t)n, 0})
		 : buffer_u8(to, '?');
}

/* Get the number of a location's name. */
static int flame_chart_name_of(struct chart_run *s, uint32_t location, uint32_t *number)
{
	const struct dictionary *d = s->names.dictionary;
	uint32_t size;
	const char *name;

	if (ARRAY_REACH(s->numbers, s->nnumbers, location))
		return -1;
	if (s->symbol_changes != d->symbol_changes)
		memset(s->numbers, 0, s->nnumbers * sizeof *s->numbers);
	s->symbol_changes = d->symbol_changes;
	if (!s->numbers[location]) {
		name = location_names_get(&s->names, location, &size);
		*number = name ? intern(&s->chart_names, name, size) : INTERN_NONE;
		if (*number == INTERN_NONE)
			return -1;
		s->numbers[location] = *number + 1;
	}
	*number = s->numbers[location] - 1;
	return 0;
}

/* Add a thread. NULL: out of memory. */
static struct chart_thread *flame_chart_add_thread(struct chart_run *s)
{
	struct chart_thread *t;

	if (ARRAY_GROW(s->threads, s->capacity, s->nthreads))
		return NULL;
	t = calloc(1, sizeof *t);
	if (t) {
		s->threads[s->nthreads++] = t;
		t->states.aside = true;
	}
	return t;
}

/* Get a task. NULL: out of memory. */
static struct chart_task *chart_task_of(struct chart_run *s, uint32_t number)
{
	size_t had = s->ntasks;

	if (number >= had && ARRAY_REACH(s->tasks, s->tasks_capacity, number))
		return NULL;
	for (; s->ntasks <= number; s->ntasks++)
		s->tasks[s->ntasks] = (struct chart_task){.state = STATE_UNKNOWN};
	return &s->tasks[number];
}

/* Get the thread of that number; NULL: out of memory. */
static struct chart_thread *flame_chart_thread_of(struct chart_run *s, uint32_t number,
						  const struct lane *lane)
{
	struct track *track = tracks_get(&s->tracks, number, lane);
	struct chart_thread *t = track ? track->user : NULL;

	if (!track)
		return NULL;
	if (!t && lane->flags & LANE_HAS_TID && lane->tid > 0) {
		/* the one that has the states of its task */
		uint32_t of = states_task(&s->states, lane->tid);
		struct chart_task *task = of ? chart_task_of(s, of) : NULL;

		if (!task)
			return NULL;
		/* another source may have a thread with that number, too */
		if (!task->thread || task->thread->tracked)
			t = flame_chart_add_thread(s);
		else
			t = task->thread;
		if (!task->thread)
			task->thread = t;
	} else if (!t) {
		t = flame_chart_add_thread(s);
	}
	if (!t)
		return NULL;
	track->user = t;
	t->tracked = true;
	return track_rename(track, lane, &t->name) ? NULL : t;
}

/* --- calls --- */

static int flame_chart_end_call(void *ctx, const struct span *span, const struct event *leave,
				struct error *e)
{
	struct chart_run *s = ctx;
	struct chart_frame f = {span->start, span->end, 0, span->level + span->beside, 0};
	struct chart_thread *t;

	(void)leave;
	if (span->unfinished && s->drop)
		return 0;
	if (span->crossing) {
		s->crossing++;
		return 0;
	}
	if (f.end < f.start)
		f.end = f.start;
	t = flame_chart_thread_of(s, span->thread, span->lane);
	if (!t || flame_chart_name_of(s, span->location, &f.name) ||
	    chart_frames_add(&s->frames, &t->calls, &f))
		return error_no_memory(e);
	s->calls = true;
	return 0;
}

/* --- samples --- */

/* End the frames above the lowest ones. */
static int close_frames(struct chart_run *s, struct chart_thread *t, size_t lowest, uint64_t time)
{
	while (t->sampled.nopen > lowest) {
		size_t level = --t->sampled.nopen;
		uint64_t start = t->sampled.open[level].start;
		struct chart_frame f = {start, time > start ? time : start,
					t->sampled.open[level].name, (uint32_t)level, 0};

		if (chart_frames_add(&s->frames, &t->samples, &f))
			return -1;
	}
	return 0;
}

/* Open the frames of a stack that are not open, and end those that it does not have. */
static int show_stack(struct chart_run *s, struct chart_thread *t, uint32_t stack, uint64_t time)
{
	const struct dictionary *d = s->names.dictionary;
	size_t level = 0;

	s->stack.size = 0;
	for (; stack; stack = dictionary_stack_parent(d, stack))
		if (buffer_u32(&s->stack, dictionary_stack_location(d, stack)))
			return -1;
	for (size_t i = s->stack.size; i && level < STACK_FRAMES; i -= 4, level++) {
		uint32_t name;

		if (flame_chart_name_of(s, get_u32(s->stack.data + i - 4), &name))
			return -1;
		if (level < t->sampled.nopen && t->sampled.open[level].name == name)
			continue;
		if (close_frames(s, t, level, time) ||
		    ARRAY_GROW(t->sampled.open, t->sampled.capacity, level))
			return -1;
		t->sampled.open[level].start = time;
		t->sampled.open[level].name = name;
		t->sampled.nopen = level + 1;
	}
	return close_frames(s, t, level, time);
}

/* Get the time at which the last sample ends, where the next one is at `next`. */
static uint64_t end_of_sample(const struct chart_run *s, const struct chart_thread *t,
			      uint64_t next)
{
	uint64_t time = t->sampled.time, weight = t->sampled.weight;
	bool timed = s->sampled->flags & TYPE_WEIGHT_TIME;

	return s->timeless || (timed && next - time > weight && next - time - weight > weight)
		       ? time + weight
		       : next;
}

static int add_sample(struct chart_run *s, const struct event *ev)
{
	struct chart_thread *t = flame_chart_thread_of(s, ev->lane->thread, ev->lane);
	uint64_t time = s->timeless ? s->elapsed : ev->time;

	if (!t)
		return -1;
	add_saturated(&s->elapsed, sample_weight(ev));
	if (t->sampled.seen) {
		/* a later stream may have earlier times */
		uint64_t before = t->sampled.time;
		uint64_t end = time < before ? before : end_of_sample(s, t, time);

		if (end != time && close_frames(s, t, 0, end))
			return -1;
		t->sampled.interval = end > before ? end - before : 0;
	}
	t->sampled.seen = true;
	t->sampled.time = time;
	t->sampled.weight = s->timeless ? s->elapsed - time : sample_weight(ev);
	return show_stack(s, t, ev->stack, time);
}

/* End the frames of the last sample of each thread: it lasts as long as the sample before it, or,
 * if its weight is a time, its weight. */
static int end_samples(struct chart_run *s)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		struct chart_thread *t = s->threads[i];
		uint64_t end = t->sampled.time;

		if (!t->sampled.seen)
			continue;
		add_saturated(&end, s->timeless || s->sampled->flags & TYPE_WEIGHT_TIME
					    ? t->sampled.weight
					    : t->sampled.interval);
		if (close_frames(s, t, 0, end))
			return -1;
	}
	return 0;
}

/* --- states --- */

/* Add a frame of a state. */
static int add_state(struct chart_run *s, struct chart_task *t, enum state state, uint64_t start,
		     uint64_t end)
{
	struct chart_frame f = {start, end, s->state_names[state], 0, 0};

	if (state == STATE_UNKNOWN || end <= start)
		return 0;
	if (!t->thread)
		t->thread = flame_chart_add_thread(s);
	if (!t->thread || chart_frames_add(&s->frames, &t->thread->states, &f))
		return -1;
	s->first = start < s->first ? start : s->first;
	s->frames.added--;
	s->states_added++;
	return 0;
}

/* Add the frame of a time in which the task was blocked, now that it is known if that was I/O. */
static int end_blocked(struct chart_run *s, struct chart_task *t, const struct state_task *task)
{
	bool io = task->now.ns[STATE_IOWAIT] > t->iowait;
	uint64_t end = t->since;

	if (!t->blocked)
		return 0;
	t->blocked = false;
	return add_state(s, t, io ? STATE_IOWAIT : STATE_BLOCKED, t->blocked_since, end);
}

/* Take a change of a state, for struct states. */
static int chart_state(void *ctx, uint32_t number, enum state state, uint64_t since)
{
	struct chart_run *s = ctx;
	const struct state_task *task = pool_at(&s->states.tasks, number);
	struct chart_task *t = chart_task_of(s, number);
	enum state was;

	if (!t || end_blocked(s, t, task))
		return -1;
	was = (enum state)t->state;
	if (was == STATE_BLOCKED) {
		t->blocked = true;
		t->blocked_since = t->since;
	} else if (add_state(s, t, was, t->since, since)) {
		return -1;
	}
	if (state == STATE_BLOCKED)
		t->iowait = task->now.ns[STATE_IOWAIT];
	t->state = (uint8_t)state;
	t->since = since;
	return 0;
}

/* Name the thread of a task, if it has no name yet. */
static int name_chart_task(struct chart_run *s, int64_t tid, const char *comm, size_t size)
{
	uint32_t number = states_task(&s->states, tid);
	struct chart_task *t = number ? chart_task_of(s, number) : NULL;

	if (!t)
		return tid > 0 ? -1 : 0;
	if (!t->thread)
		t->thread = flame_chart_add_thread(s);
	if (!t->thread)
		return -1;
	return t->thread->name.size
		       ? 0
		       : buffer_printf(&t->thread->name, "%.*s [%" PRId64 "]", size ? (int)size : 6,
				       size ? comm : "thread", tid);
}

/* Name the threads of a row that changes states, and end the thread that a switch ends. */
static int take_tasks(struct chart_run *s, const struct event *ev)
{
	const struct scheduling_type *type = scheduling_types_get(&s->states.types, ev->type);
	const struct lane *lane = ev->lane;

	if (!type)
		return -1;
	if (type->kind != SCHEDULING_SWITCH)
		return lane->flags & LANE_HAS_TID
			       ? name_chart_task(s, lane->tid, lane->comm.text, lane->comm.size)
			       : 0;
	for (unsigned i = 0; i < 2; i++) {
		const char *comm = "";
		size_t size = 0;
		int64_t tid;

		if (!scheduling_number(type, ev, i ? SWITCH_NEXT_TID : SWITCH_PREV_TID, &tid))
			continue;
		scheduling_text(type, ev, i ? SWITCH_NEXT_COMM : SWITCH_PREV_COMM, &comm, &size);
		if (name_chart_task(s, tid, comm, size))
			return -1;
		if (!i && tid > 0) {
			struct switch_state state = scheduling_state(type, ev);

			if (scheduling_ended(&state))
				s->tasks[states_task(&s->states, tid)].state = STATE_UNKNOWN;
		}
	}
	return 0;
}

/* End the frames of the states at the end of a trace. */
static int end_states(struct chart_run *s)
{
	for (size_t i = 1; i < s->ntasks; i++)
		if (chart_state(s, (uint32_t)i, STATE_UNKNOWN, s->last) ||
		    end_blocked(s, &s->tasks[i], pool_at(&s->states.tasks, (uint32_t)i)))
			return -1;
	s->ntasks = 0;
	return 0;
}

/* Take an event of any kind for the states. */
static int chart_states(struct chart_run *s, const struct event *ev)
{
	/* the tasks of another trace are others */
	if (s->states.stream != s->states.dictionary->stream && end_states(s))
		return -1;
	if (states_take(&s->states, ev))
		return -1;
	s->last = ev->time > s->last ? ev->time : s->last;
	return states_changed_by(&s->states, ev->type) && ev->type->kind != KIND_GAP
		       ? take_tasks(s, ev)
		       : 0;
}

/* --- events --- */

static bool flame_chart_has_calls(const struct dictionary *d)
{
	for (uint32_t i = 1; i < d->types.count; i++)
		if (dictionary_type(d, i)->kind == KIND_ENTER)
			return true;
	return false;
}

static int flame_chart_other_event(void *ctx, const struct event *ev, struct error *e)
{
	struct chart_run *s = ctx;

	if (ev->type->kind != KIND_SAMPLE) {
		if (states_changed_by(&s->states, ev->type))
			return 0;
		return other_events_add(&s->others, ev->type) ? error_no_memory(e) : 0;
	}
	if (!s->sampled) {
		s->sampled = ev->type;
		s->timeless =
			!strcmp(s->unit, "ticks") && !flame_chart_has_calls(s->names.dictionary);
		if (s->timeless)
			s->unit = ev->type->flags & TYPE_WEIGHT_TIME ? "ns" : ev->type->name.text;
	}
	if (!sample_profile_same_type(s->sampled, ev->type)) {
		s->samples++;
		return 0;
	}
	if (sample_is_negative(ev)) {
		s->negative++;
		return 0;
	}
	return add_sample(s, ev) ? error_no_memory(e) : 0;
}

static const struct span_sink sink = {.end = flame_chart_end_call,
				      .other = flame_chart_other_event};

static int chart_begin(struct encoding *en, struct error *e)
{
	struct chart_run *s = calloc(1, sizeof *s);

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->drop = en->options->flags & ENCODE_DROP;
	s->unit = "ns";
	s->frames = (struct chart_frames){
		.least = 1, .levels = STACK_FRAMES, .first = UINT64_MAX, .most = CHART_FRAMES_MOST};
	spans_init(&s->spans, en, &sink, s);
	location_names_init(&s->names, en->dictionary, flame_chart_clean_name);
	states_init(&s->states, en->dictionary, NULL);
	s->states.watch.state = chart_state;
	s->states.watch.ctx = s;
	s->first = UINT64_MAX;
	for (int i = 0; i < STATES; i++) {
		s->state_names[i] = intern(&s->chart_names, state_names[i], strlen(state_names[i]));
		if (s->state_names[i] == INTERN_NONE)
			return error_no_memory(e);
	}
	if (en->options->weight)
		return error_set(e, NULL, NO_OFFSET,
				 "--weight does not go with --by-time, whose widths are times");
	return 0;
}

static int chart_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct chart_run *s = en->state;

	if (!s->started) {
		s->started = true;
		if (ev->lane->clock && ev->lane->clock->flags & CLOCK_TICKS)
			s->unit = "ticks";
	}
	return chart_states(s, ev) ? error_no_memory(e) : spans_event(&s->spans, ev, e);
}

static void chart_report(const struct chart_run *s)
{
	location_names_report(&s->names);
	spans_report(&s->spans, s->drop);
	remark_count(s->crossing, SPANS_OVERLAP);
	if (s->samples)
		remark(NULL,
		       "the chart is of the samples of '%s', the first type: choose others with "
		       "trfilter 'type == ...'",
		       s->sampled->name.text);
	remark_count(s->samples, "{sample|samples} of other types left out");
	remark_count(s->negative, SAMPLES_NEGATIVE);
	remark_count(s->others.count,
		     "other {event|events} left out: flame charts show calls, samples and states "
		     "of threads only");
}

static int chart_end(struct encoding *en, struct error *e)
{
	struct chart_run *s = en->state;
	char title[SVG_TITLE];

	if (spans_finish(&s->spans, e))
		return -1;
	if (end_states(s) || end_samples(s) ||
	    flame_chart_draw(
		    s, svg_title(title, en->options->title, &en->dictionary->sources, en->wall),
		    en->text))
		return error_no_memory(e);
	if (!s->calls && !s->sampled && !s->states_added)
		other_events_report_empty(&s->others);
	if (!(en->options->flags & ENCODE_QUIET))
		chart_report(s);
	return 0;
}

static void chart_free(struct encoding *en)
{
	struct chart_run *s = en->state;

	if (!s)
		return;
	for (size_t i = 0; i < s->nthreads; i++) {
		struct chart_thread *t = s->threads[i];

		free(t->calls.frames);
		free(t->samples.frames);
		free(t->states.frames);
		free(t->sampled.open);
		buffer_free(&t->name);
		free(t);
	}
	free(s->threads);
	free(s->tasks);
	states_free(&s->states);
	intern_free(&s->chart_names);
	intern_free(&s->others.types);
	tracks_free(&s->tracks);
	spans_free(&s->spans);
	location_names_free(&s->names);
	buffer_free(&s->stack);
	free(s->numbers);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_flame_chart = {
	.name = "svg",
	.output = ENCODER_TEXT,
	.report = true,
	.deferred = true,
	.begin = chart_begin,
	.drops = true,
	.event = chart_event,
	.end = chart_end,
	.free = chart_free,
};
