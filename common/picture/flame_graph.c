/*
 * flame_graph.c - draws a tree of stacks as a flame graph
 */
#include "common/picture/flame_graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/picture/svg.h"
#include "common/util/buffer.h"

/* A node of the tree as it is drawn. */
struct graph_frame {
	uint64_t total, before; /* before: the total in the earlier trace */
	uint64_t at;		/* from the left side of the graph */
	uint64_t used;		/* by callees that are drawn */
	uint64_t narrow;	/* sum of those that are not */
	uint64_t narrow_before;
	uint32_t depth, merged;
	bool drawn;
};

struct drawing {
	const struct flame_graph *graph;
	struct text *out;
	struct graph_frame *frames; /* by number of the node */
	uint32_t *order;
	size_t count;
	uint64_t total, before; /* of all stacks */
	uint64_t least;		/* the least total that is drawn */
	uint64_t hidden;	/* nodes that are not drawn */
	uint64_t gone;		/* earlier sum of the stacks that are no more */
	uint32_t depth;
};

static int descending(const void *a, const void *b, void *frames)
{
	const struct graph_frame *f = frames;
	uint64_t x = f[*(const uint32_t *)a].total, y = f[*(const uint32_t *)b].total;

	return x > y ? -1 : x < y;
}

static const char *flame_graph_name_of(const struct drawing *d, uint32_t node, size_t *size)
{
	uint32_t name = d->graph->tree->nodes[node].name;

	*size = intern_size(d->graph->names, name);
	return intern_data(d->graph->names, name);
}

/* Choose the least total of a frame that is drawn. Returns 0, or -1 when out of memory. */
static int choose_least(struct drawing *d)
{
	uint32_t *all = malloc(d->count * sizeof *all); /* nodes */
	size_t n = 0, bytes = 0;
	size_t most = d->graph->part_bytes ? d->graph->part_bytes : SVG_BYTES_MOST;

	if (!all)
		return -1;
	d->least = d->total / SVG_PARTS + 1;
	for (size_t i = 1; i < d->count; i++)
		if (d->frames[d->order[i]].total >= d->least)
			all[n++] = d->order[i];
	qsort_r(all, n, sizeof *all, descending, d->frames);
	for (size_t i = 0; i < n; i++) {
		size_t size;
		const char *name = flame_graph_name_of(d, all[i], &size);

		bytes += svg_frame_bytes(name, size);
		if (i < SVG_FRAMES_MOST && bytes <= most)
			continue;
		d->least = d->frames[all[i]].total + 1;
		break;
	}
	free(all);
	return 0;
}

/* Add up the totals of all nodes. */
static void add_totals(struct drawing *d)
{
	for (size_t i = d->count; i-- > 1;) {
		uint32_t node = d->order[i];
		const struct stack_node *n = &d->graph->tree->nodes[node];
		struct graph_frame *f = &d->frames[node], *parent = &d->frames[n->parent];

		add_saturated(&f->total, saturated_u64(n->self));
		add_saturated(&parent->total, f->total);
		if (d->graph->before)
			add_saturated(&f->before, d->graph->before[node]);
		add_saturated(&parent->before, f->before);
	}
	d->total = d->frames[STACK_ROOT].total;
	d->before = d->frames[STACK_ROOT].before;
}

/* Give each frame its place, or merge it with its caller's other frames that are too narrow. */
static void merge_narrow_frames(struct drawing *d)
{
	d->frames[STACK_ROOT].drawn = true;
	for (size_t i = 1; i < d->count; i++) {
		uint32_t node = d->order[i];
		struct graph_frame *f = &d->frames[node];
		struct graph_frame *parent = &d->frames[d->graph->tree->nodes[node].parent];

		f->depth = parent->depth + 1;
		if (!f->total && d->graph->before) {
			add_saturated(&d->gone, parent->total ? f->before : 0);
			continue;
		}
		if (!parent->drawn || f->total < d->least) {
			d->hidden++;
			parent->merged++;
			add_saturated(&parent->narrow, f->total);
			add_saturated(&parent->narrow_before, f->before);
			/* they are drawn together */
			if (parent->drawn && parent->narrow >= d->least && f->depth > d->depth)
				d->depth = f->depth;
			continue;
		}
		f->drawn = true;
		f->at = parent->at + parent->used;
		add_saturated(&parent->used, f->total);
		if (f->depth > d->depth)
			d->depth = f->depth;
	}
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Choose the colour of a change between shares of the whole: white, if there is none, to red or
 * blue for a frame of one trace only. */
static uint32_t colour_of_change(double before, double now)
{
	double more = now > before ? now : before;
	double change = more > 0 ? (now - before) / more : 0;
	uint32_t rest = 240 - (uint32_t)(125 * (change < 0 ? -change : change) + .5);

	return change < 0 ? rest << 16 | rest << 8 | 240 : 240 << 16 | rest << 8 | rest;
}

static void flame_graph_put_frame(const struct drawing *d, const char *name, size_t n,
				  const struct graph_frame *f)
{
	const char *unit = d->graph->unit;
	double now = share(f->total, d->total), before = share(f->before, d->before);
	struct svg_frame frame = {.name = name,
				  .size = n,
				  .x = share(f->at, d->total) * SVG_INSIDE,
				  .width = now * SVG_INSIDE,
				  .y = SVG_ABOVE + (int)(d->depth - f->depth) * SVG_ROW};
	char value[256], total[SVG_AMOUNT], earlier[SVG_AMOUNT];

	svg_amount(total, f->total, unit, true);
	if (d->graph->before) {
		snprintf(value, sizeof value, "%s, %.2f%%; before %s, %.2f%%", total, 100 * now,
			 svg_amount(earlier, f->before, unit, true), 100 * before);
		frame.colour = colour_of_change(before, now);
		frame.look = now < before ? "less" : NULL;
	} else {
		snprintf(value, sizeof value, "%s, %.2f%%", total, 100 * now);
		frame.colour = svg_colour(name, n);
	}
	frame.value = value;
	svg_put_frame(d->out, &frame);
}

/* Draw the callees of a frame that are too narrow as one. */
static void put_merged(const struct drawing *d, const struct graph_frame *caller)
{
	char name[64];
	struct graph_frame f = {.total = caller->narrow,
				.before = caller->narrow_before,
				.at = caller->at + caller->used,
				.depth = caller->depth + 1};

	if (caller->narrow < d->least)
		return;
	snprintf(name, sizeof name, "(%" PRIu32 " narrow frames)", caller->merged);
	flame_graph_put_frame(d, name, strlen(name), &f);
}

/* Write what is drawn, with amounts that are exact or easy to read. */
static void about_graph(const struct drawing *d, bool exact, char *out, size_t size)
{
	const struct flame_graph *g = d->graph;
	char total[SVG_AMOUNT], earlier[SVG_AMOUNT], gone[SVG_AMOUNT];
	char hidden[64] = "", before[256] = "";

	if (g->before)
		snprintf(before, sizeof before, "; before %s, of which %s in stacks that are gone",
			 svg_amount(earlier, d->before, g->unit, exact),
			 svg_amount(gone, d->gone, g->unit, exact));
	if (d->hidden)
		snprintf(hidden, sizeof hidden, ", %" PRIu64 " frames too narrow to see",
			 d->hidden);
	snprintf(out, size, "%.200s: %s%s%s", g->what, svg_amount(total, d->total, g->unit, exact),
		 before, hidden);
}

static void flame_graph_put_head(const struct drawing *d)
{
	char line[640], exact[640];

	about_graph(d, false, line, sizeof line);
	about_graph(d, true, exact, sizeof exact);
	svg_begin(d->out, &(struct svg_picture){.class = "graph",
						.title = d->graph->title,
						.line = line,
						.exact = exact,
						.height = SVG_ABOVE +
							  (int)(d->depth + 1) * SVG_ROW + SVG_BELOW,
						.part = d->graph->part_bytes != 0});
}

static void flame_graph_write_graph(const struct drawing *d)
{
	flame_graph_put_head(d);
	flame_graph_put_frame(d, "all", 3, &d->frames[STACK_ROOT]);
	for (size_t i = 0; i < d->count; i++) {
		uint32_t node = d->order[i];

		if (!d->frames[node].drawn)
			continue;
		if (i) {
			size_t size;
			const char *name = flame_graph_name_of(d, node, &size);

			flame_graph_put_frame(d, name, size, &d->frames[node]);
		}
		put_merged(d, &d->frames[node]);
	}
	svg_end(d->out, d->graph->part_bytes != 0);
}

int flame_graph_draw(const struct flame_graph *g, struct text *out)
{
	struct drawing d = {.graph = g, .out = out};
	int bad;

	d.frames = calloc(g->tree->count, sizeof *d.frames);
	d.order = malloc((g->tree->live + 1) * sizeof *d.order);
	d.count = d.frames && d.order ? stack_tree_order(g->tree, g->names, d.order) : 0;
	bad = !d.count;
	if (!bad)
		add_totals(&d);
	bad = bad || choose_least(&d);
	if (!bad) {
		merge_narrow_frames(&d);
		flame_graph_write_graph(&d);
	}
	free(d.frames);
	free(d.order);
	return bad ? -1 : 0;
}

/* --- a difference of stacks that are texts --- */

int flame_difference_init(struct flame_difference *f)
{
	*f = (struct flame_difference){0};
	return stack_tree_init(&f->tree);
}

/* Get the node of a stack "a;b;c"; 0: out of memory. */
static uint32_t flame_difference_node(struct flame_difference *f, const char *text, size_t size)
{
	const char *end = text + size;
	uint32_t node = STACK_ROOT;

	while (text < end) {
		const char *next = memchr(text, ';', (size_t)(end - text));
		size_t n = (size_t)((next ? next : end) - text);
		uint32_t name = intern(&f->names, text, n);

		node = name == INTERN_NONE ? 0 : stack_tree_child(&f->tree, node, name);
		if (!node)
			return 0;
		text += n + 1;
	}
	return node;
}

int flame_difference_add(struct flame_difference *f, const char *text, size_t size, uint64_t before,
			 uint64_t now)
{
	uint32_t node = flame_difference_node(f, text, size);

	if (!node || ARRAY_REACH(f->before, f->nbefore, node))
		return -1;
	add_saturated(&f->before[node], before);
	stack_tree_add(&f->tree, node, (int128)now);
	return 0;
}

int flame_difference_draw(struct flame_difference *f, struct text *out)
{
	if (ARRAY_REACH(f->before, f->nbefore, f->tree.count))
		return -1;
	f->graph.tree = &f->tree;
	f->graph.names = &f->names;
	f->graph.before = f->before;
	return flame_graph_draw(&f->graph, out);
}

void flame_difference_free(struct flame_difference *f)
{
	stack_tree_free(&f->tree);
	intern_free(&f->names);
	free(f->before);
}
