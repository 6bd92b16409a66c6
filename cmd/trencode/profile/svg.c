/*
 * svg.c - a flame graph: one file with the merged stacks of a profile, for any browser
 *
 * A frame is a rectangle above that of its caller; its width is the total of the stack, which is
 * the sum that folded stacks have. Siblings are sorted by name. A frame narrower than a tenth of a
 * pixel is not drawn by itself: those of one caller become one frame. A graph has at most
 * FRAMES_MOST frames; the narrowest ones beyond are merged in the same way.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "cmd/trencode/profile/folded.h"
#include "cmd/trencode/profile/stack_profile.h"
#include "cmd/trencode/profile/svg_script.h"

enum {
	WIDTH = 1200,
	LEFT = 10,
	ROW = 17, /* height of a frame, with the line between two */
	ABOVE = 50,
	BELOW = 12,
	FRAMES_MOST = 8000,
	LETTER = 725, /* hundredths of a pixel */
};

/* A node of the tree as it is drawn. */
struct svg_frame {
	uint64_t total, at; /* from the left side of the graph */
	uint64_t used;	    /* by callees that are drawn */
	uint64_t narrow;    /* sum of those that are not */
	uint32_t depth, merged;
	bool drawn;
};

struct svg {
	const struct stack_tree *tree;
	const struct intern *names;
	struct text *out;
	struct svg_frame *frames; /* by number of the node */
	uint32_t *order;
	size_t count;
	uint64_t total, least; /* the least total that is drawn */
	uint64_t hidden;       /* nodes that are not drawn */
	uint32_t depth;
	const char *what, *unit; /* what is added up */
};

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* Choose the least total of a frame that is drawn. Returns 0, or -1 when out of memory. */
static int choose_least(struct svg *s)
{
	uint64_t *totals = malloc(s->count * sizeof *totals);

	if (!totals)
		return -1;
	for (size_t i = 1; i < s->count; i++)
		totals[i - 1] = s->frames[s->order[i]].total;
	s->least = s->total / (10 * (WIDTH - 2 * LEFT)) + 1;
	if (s->count > FRAMES_MOST) {
		qsort(totals, s->count - 1, sizeof *totals, descending);
		if (totals[FRAMES_MOST - 1] >= s->least)
			s->least = totals[FRAMES_MOST - 1] + 1;
	}
	free(totals);
	return 0;
}

/* Add up the totals of all nodes. */
static void add_totals(struct svg *s)
{
	for (size_t i = s->count; i-- > 1;) {
		const struct stack_node *n = &s->tree->nodes[s->order[i]];
		struct svg_frame *f = &s->frames[s->order[i]], *parent = &s->frames[n->parent];

		if (__builtin_add_overflow(f->total, n->self, &f->total))
			f->total = UINT64_MAX;
		if (__builtin_add_overflow(parent->total, f->total, &parent->total))
			parent->total = UINT64_MAX;
	}
	s->total = s->frames[STACK_ROOT].total;
}

/* Give each frame its place. */
static void place_frames(struct svg *s)
{
	s->frames[STACK_ROOT].drawn = true;
	for (size_t i = 1; i < s->count; i++) {
		uint32_t node = s->order[i];
		struct svg_frame *f = &s->frames[node];
		struct svg_frame *parent = &s->frames[s->tree->nodes[node].parent];

		f->depth = parent->depth + 1;
		if (!parent->drawn || f->total < s->least) {
			s->hidden++;
			parent->merged++;
			parent->narrow += parent->drawn ? f->total : 0;
			continue;
		}
		f->drawn = true;
		f->at = parent->at + parent->used;
		parent->used += f->total;
		if (f->depth > s->depth)
			s->depth = f->depth;
	}
}

static void put_escaped(struct text *out, const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		switch (name[i]) {
		case '&': text_puts(out, "&amp;"); break;
		case '<': text_puts(out, "&lt;"); break;
		case '>': text_puts(out, "&gt;"); break;
		case '"': text_puts(out, "&quot;"); break;
		default: text_char(out, name[i]);
		}
	}
}

static void put_format(struct text *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put_format(struct text *out, const char *format, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof line, format, ap);
	va_end(ap);
	text_puts(out, line);
}

static double pixels(const struct svg *s, uint64_t part)
{
	return s->total ? (double)part / (double)s->total * (WIDTH - 2 * LEFT) : 0;
}

static double percent(const struct svg *s, uint64_t part)
{
	return s->total ? 100 * (double)part / (double)s->total : 0;
}

/* Count the bytes of the longest beginning of a name with so many characters. */
static size_t beginning(const char *name, size_t n, size_t letters)
{
	size_t i = 0;

	while (i < n && letters--)
		for (i++; i < n && ((unsigned char)name[i] & 0xc0) == 0x80;)
			i++;
	return i;
}

/* Choose a warm colour by the name. */
static uint32_t colour_of(const char *name, size_t n)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return (205 + hash % 50) << 16 | (70 + (hash >> 8) % 150) << 8 | (hash >> 16) % 70;
}

static void put_frame(struct svg *s, const char *name, size_t n, const struct svg_frame *f)
{
	double x = LEFT + pixels(s, f->at), width = pixels(s, f->total);
	int y = ABOVE + (int)(s->depth - f->depth) * ROW;
	size_t letters = width > 4 ? (size_t)((width - 4) * 100 / LETTER) : 0, all, part;

	text_puts(s->out, "<g class=\"f\" tabindex=\"0\"><title>");
	put_escaped(s->out, name, n);
	put_format(s->out,
		   " (%" PRIu64 " %s, %.2f%%)</title><rect x=\"%.3f\" y=\"%d\" width=\"%.3f\" "
		   "height=\"%d\" fill=\"#%06x\"/><text x=\"%.3f\" y=\"%d\">",
		   f->total, s->unit, percent(s, f->total), x, y, width, ROW - 1,
		   colour_of(name, n), x + 2, y + 12);
	all = beginning(name, n, letters);
	part = letters < 3 ? 0 : all == n ? n : beginning(name, n, letters - 2);
	put_escaped(s->out, name, part);
	text_puts(s->out, part && part < n ? "..</text></g>\n" : "</text></g>\n");
}

/* Draw the callees of a frame that are too narrow as one. */
static void put_merged(struct svg *s, const struct svg_frame *caller)
{
	char name[64];
	struct svg_frame f = {.total = caller->narrow,
			      .at = caller->at + caller->used,
			      .depth = caller->depth + 1};

	if (caller->narrow < s->least)
		return;
	snprintf(name, sizeof name, "(%" PRIu32 " narrow frames)", caller->merged);
	put_frame(s, name, strlen(name), &f);
}

static void put_head(struct svg *s)
{
	int height = ABOVE + (int)(s->depth + 1) * ROW + BELOW;

	put_format(s->out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		   "height=\"%d\">\n<style>\n",
		   WIDTH, height, WIDTH, height);
	text_puts(s->out, svg_style);
	put_format(s->out, "</style>\n<text class=\"about\" x=\"%d\" y=\"20\">", LEFT);
	put_escaped(s->out, s->what, strlen(s->what));
	put_format(s->out, ": %" PRIu64 " %s", s->total, s->unit);
	if (s->hidden)
		put_format(s->out, ", %" PRIu64 " frames too narrow to see", s->hidden);
	put_format(s->out,
		   "</text>\n<text class=\"about\" id=\"search\" x=\"%d\" y=\"20\" "
		   "text-anchor=\"end\">search (/)</text>\n"
		   "<text class=\"about\" id=\"about\" x=\"%d\" y=\"38\"></text>\n"
		   "<text class=\"about\" id=\"found\" x=\"%d\" y=\"38\" "
		   "text-anchor=\"end\"></text>\n",
		   WIDTH - LEFT, LEFT, WIDTH - LEFT);
}

static void write_graph(struct svg *s)
{
	put_head(s);
	put_frame(s, "all", 3, &s->frames[STACK_ROOT]);
	for (size_t i = 0; i < s->count; i++) {
		uint32_t node = s->order[i], name = s->tree->nodes[node].name;

		if (!s->frames[node].drawn)
			continue;
		if (i)
			put_frame(s, intern_data(s->names, name), intern_size(s->names, name),
				  &s->frames[node]);
		put_merged(s, &s->frames[node]);
	}
	text_puts(s->out, "<script><![CDATA[\n");
	text_puts(s->out, svg_script);
	text_puts(s->out, "]]></script>\n</svg>\n");
}

static int draw(struct encoding *en, struct stack_profile *p)
{
	struct svg s = {.tree = &p->stacks.tree, .names = &p->stacks.names, .out = en->text};
	int bad;

	s.what = sample_profile_type(&p->samples, &s.unit);
	if (!s.what) {
		bool counts = en->options->weight && !strcmp(en->options->weight, "count");

		s.what = counts ? "calls" : "time of calls";
		s.unit = counts ? "calls" : p->ticks ? "ticks" : "ns";
	} else if (!strcmp(s.unit, "nanoseconds")) {
		s.unit = "ns";
	} else {
		s.unit = s.what;
	}
	s.frames = calloc(s.tree->count, sizeof *s.frames);
	s.order = malloc((s.tree->live + 1) * sizeof *s.order);
	s.count = s.frames && s.order ? stack_tree_order(s.tree, s.names, s.order) : 0;
	bad = !s.count;
	if (!bad)
		add_totals(&s);
	bad = bad || choose_least(&s);
	if (!bad) {
		place_frames(&s);
		write_graph(&s);
	}
	free(s.frames);
	free(s.order);
	return bad ? -1 : 0;
}

static int svg_end(struct encoding *en, struct error *e)
{
	struct stack_profile *p = en->state;

	if (stack_profile_finish(p, e))
		return -1;
	if (call_stacks_fold(&p->stacks) || draw(en, p))
		return error_no_memory(e);
	if (!en->options->quiet)
		stack_profile_report(p, "flame graphs show");
	return 0;
}

const struct encoder encoder_svg = {
	.name = "svg",
	.purpose = "a flame graph, for browsers",
	.output = ENCODER_TEXT,
	.report = true,
	.begin = folded_begin,
	.adopt = folded_adopt,
	.block = folded_block,
	.end = svg_end,
	.free = folded_free,
};
