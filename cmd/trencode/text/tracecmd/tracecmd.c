/*
 * tracecmd.c - kernel events as `trace-cmd report` prints them, with --no-plugins as its option -N
 * does, with --raw as its option -R
 *
 * The enter of a call is drawn only when the next event of its buffer is read: if that event is the
 * leave, both are one line. Lines of other buffers are queued until then.
 */
#include "cmd/trencode/text/tracecmd/types.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/stream/field.h"
#include "cmd/trencode/convert/convert.h"
#include "cmd/trencode/text/layout.h"
#include "cmd/trencode/text/time_format.h"

enum { QUEUE_MOST = 65536 };

/* A call whose enter is not drawn yet. */
struct tc_open {
	bool is; /* there is such a call */
	const struct lane *lane;
	struct graph_call call;
	struct print_kernel *names;
	size_t size; /* length of its line so far, in queue */
};

struct text_tracecmd {
	struct text *out;
	bool nanoseconds, differences, latency;
	unsigned plugins; /* enum plugin_option */
	struct tc_sources sources;
	struct tc_types types;
	struct plugin_indent indent;
	struct tc_lanes lanes;
	struct line line;
	struct tc_open open;
	const struct dictionary *dictionary;
	const struct calls *calls;
	struct buffer fields; /* fields of an event, as text */
	struct buffer queue;  /* the line of the open call, then lines of other buffers */
	struct time_difference difference;
	uint64_t not_evaluated;
	bool quiet;
};

static int tracecmd_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_tracecmd *s = state;

	(void)e;
	s->out = en->text;
	s->dictionary = en->dictionary;
	s->calls = en->calls;
	s->nanoseconds = en->options->ns;
	s->differences = en->options->ts_diff;
	s->quiet = en->options->quiet;
	s->types.no_plugins = en->options->no_plugins;
	s->types.raw = en->options->raw;
	s->plugins = en->options->plugins;
	return 0;
}

/* ---- lines ---- */

/* Print text. On a terminal control characters are masked, except newlines and tabs, which messages
 * of the kernel contain. */
static void tracecmd_put(struct text *out, const char *p, size_t n)
{
	if (!output_is_terminal(out->out)) {
		text_put(out, p, n);
		return;
	}
	while (n) {
		size_t i = 0;

		while (i < n && p[i] != '\n' && p[i] != '\t')
			i++;
		text_masked(out, p, i);
		if (i < n)
			text_char(out, p[i++]);
		p += i;
		n -= i;
	}
}

/* Print or queue the line. */
static int tracecmd_put_line(struct text_tracecmd *s, struct error *e)
{
	struct line *l = &s->line;
	int r = 0;

	if (l->failed)
		return error_no_memory(e);
	if (s->open.is)
		r = buffer_append(&s->queue, l->data, l->size);
	else
		tracecmd_put(s->out, l->data, l->size);
	l->size = 0;
	return r ? error_no_memory(e) : 0;
}

/* Print the line of the open call, which s->line completes, and the queued lines. */
static void close_open(struct text_tracecmd *s)
{
	struct tc_open *o = &s->open;

	o->is = false;
	tracecmd_put(s->out, (const char *)s->queue.data, o->size);
	line_char(&s->line, '\n');
	tracecmd_put(s->out, s->line.data, s->line.size);
	tracecmd_put(s->out, (const char *)s->queue.data + o->size, s->queue.size - o->size);
	s->line.size = 0;
	s->queue.size = 0;
}

static void resolve_open(struct text_tracecmd *s)
{
	if (!s->open.is)
		return;
	s->line.size = 0;
	graph_enter_text(&s->line, &s->open.call, &(struct graph_style){s->open.names, s->plugins});
	close_open(s);
}

/* ---- events ---- */

static int tracecmd_meta(void *state, const struct source *source, const struct meta *m,
			 struct error *e)
{
	struct text_tracecmd *s = state;

	return tc_sources_meta(&s->sources, source, m) ? error_no_memory(e) : 0;
}

static int print_header(struct text_tracecmd *s, struct error *e)
{
	tc_header(&s->sources, &s->line);
	return s->line.size ? tracecmd_put_line(s, e) : 0;
}

static struct tc_lane *make_lane(struct text_tracecmd *s, const struct lane *lane, struct error *e)
{
	struct tc_source *source = tc_source_of(&s->sources, lane->source);
	struct tc_lane *l = NULL;

	if (!source || tc_source_begin(source)) {
		error_no_memory(e);
		return NULL;
	}
	source->names.plugins = !s->types.no_plugins;
	if (print_header(s, e))
		return NULL;
	l = tc_lane_new(&s->lanes, &s->sources, source, lane);
	if (!l)
		error_no_memory(e);
	return l;
}

static inline struct tc_lane *lane_at(struct text_tracecmd *s, const struct lane *lane,
				      struct error *e)
{
	struct tc_lane *l = tc_lane_at(&s->lanes, lane);

	return __builtin_expect(l != NULL, 1) ? l : make_lane(s, lane, e);
}

void time_text(struct line *out, uint64_t time, bool seconds, bool nanoseconds)
{
	uint64_t second = nanoseconds ? 1000000000 : 1000000;

	if (!seconds) {
		line_u64_wide(out, time, 12, ' ');
		return;
	}
	if (!nanoseconds)
		time = (time + 500) / 1000;
	line_u64_wide(out, time / second, 5, ' ');
	line_char(out, '.');
	line_u64_wide(out, time % second, nanoseconds ? 9 : 6, '0');
}

static void put_time(struct text_tracecmd *s, const struct tc_lane *l, uint64_t time)
{
	if (l->microseconds)
		line_char(&s->line, ' ');
	time_text(&s->line, time, l->microseconds, s->nanoseconds);
	line_char(&s->line, ':');
}

static void put_head(struct text_tracecmd *s, const struct tc_lane *l, const struct tc_type *t,
		     uint64_t time)
{
	char text[DIFFERENCE_MOST];

	line_put(&s->line, l->head, l->head_size);
	put_time(s, l, time);
	/* trace-cmd rounds times only where the trace names its clock */
	if (s->differences)
		line_put(&s->line, text,
			 difference_text(&s->difference, time,
					 s->nanoseconds || !l->source->has_clock, text));
	line_put(&s->line, t->name, t->name_size);
}

/* Read a record of the graph; of a filtered stream with the depth among the calls that are left.
 * Returns false if the record is too short. */
static bool read_call(const struct text_tracecmd *s, const struct tc_type *t,
		      const struct event *ev, struct graph_call *c)
{
	if (!graph_read(&t->graph, ev, c))
		return false;
	if (dictionary_left_out(s->dictionary, ev->lane->thread))
		c->depth = calls_depth(s->calls, ev);
	return true;
}

static int put_message(struct text_tracecmd *s, const struct tc_lane *l, struct tc_type *t,
		       const struct event *ev, struct error *e)
{
	struct tc_source *source = l->source;
	struct plugin_context context = {&source->names,  &s->sources,	  &s->indent,
					 l->microseconds, s->nanoseconds, s->plugins};
	struct line *out = &s->line;
	struct graph_call call;

	if (t->plan) {
		plan_text(t->plan, ev, &source->names, out);
	} else if (t->graph.kind == GRAPH_EXIT && read_call(s, t, ev, &call)) {
		graph_exit_text(out, &call, &(struct graph_style){&source->names, s->plugins});
	} else if (t->plugin.plugin && plugin_text(&t->plugin, ev, &context, out)) {
		/* the text is complete */
	} else if (t->bprint.is) {
		if (bprint_text(&source->binary, &t->bprint, ev, &source->names, out))
			return error_no_memory(e);
	} else if (t->format) {
		print_format_text(t->format, &source->names, ev->tail, ev->tail_size, out);
	} else if (!ev->type->declaration.size) {
		/* a filter removed fields and with them the declaration of the source */
		s->fields.size = 0;
		if (convert_text_fields(&s->fields, s->dictionary, ev))
			return error_no_memory(e);
		line_put(out, (const char *)s->fields.data, s->fields.size);
	} else {
		s->not_evaluated++;
		line_puts(out, "[FAILED TO PARSE]");
		print_fields_text(&t->fields, ev->tail, ev->tail_size,
				  ev->type->flags & TYPE_BIG_ENDIAN, out);
	}
	if (out->size && out->data[out->size - 1] == '\n')
		out->size--;
	line_char(out, '\n');
	return 0;
}

static bool same_buffer(const struct lane *a, const struct lane *b)
{
	return a->source == b->source && a->buffer.number == b->buffer.number;
}

/* Test whether the event is the leave of the open call. */
static bool ends_open(const struct text_tracecmd *s, const struct tc_type *t,
		      const struct event *ev, struct graph_call *end)
{
	return t->graph.kind == GRAPH_EXIT && ev->lane->tid == s->open.lane->tid &&
	       graph_read(&t->graph, ev, end) && end->func == s->open.call.func;
}

/* Make a call the open call. Returns 1, 0 if the record is too short, -1 with *e filled. */
static int set_open(struct text_tracecmd *s, struct tc_source *source, const struct tc_lane *l,
		    const struct tc_type *t, const struct event *ev, struct error *e)
{
	struct tc_open o = {.is = true, .lane = ev->lane, .names = &source->names};

	if (!read_call(s, t, ev, &o.call))
		return 0;
	put_head(s, l, t, ev->time);
	if (s->line.failed || buffer_append(&s->queue, s->line.data, s->line.size))
		return error_no_memory(e);
	o.size = s->line.size;
	s->line.size = 0;
	s->open = o;
	return 1;
}

static int put_gap(struct text_tracecmd *s, const struct event *ev, struct error *e)
{
	const struct tc_lane *l = lane_at(s, ev->lane, e);
	struct line *out = &s->line;
	struct gap_row g;

	if (!l)
		return -1;
	if (!gap_get(ev, &g))
		return 0;
	if (s->open.is && same_buffer(ev->lane, s->open.lane))
		resolve_open(s);
	line_put(out, l->head, l->prefix_size);
	line_puts(out, "CPU:");
	line_i64(out, ev->lane->cpu);
	line_puts(out, " [");
	if (g.count != UINT64_MAX) {
		line_u64(out, g.count);
		line_char(out, ' ');
	}
	line_puts(out, g.unit == GAP_BYTES ? "BYTES " : "EVENTS ");
	line_puts(out, g.reason == GAP_LOST	? "DROPPED"
		       : g.reason == GAP_DAMAGE ? "DAMAGED"
						: "NOT READ");
	if (g.message_size) {
		line_puts(out, ": ");
		line_put(out, g.message, g.message_size);
	}
	line_puts(out, "]\n");
	return tracecmd_put_line(s, e);
}

static int tracecmd_event(void *state, const struct event *ev, struct error *e)
{
	struct text_tracecmd *s = state;
	struct event without_data;
	struct tc_lane *l;
	struct tc_type *t;
	struct graph_call end;
	int r;

	if (ev->type->kind == KIND_GAP)
		return put_gap(s, ev, e);
	if (__builtin_expect(!ev->tail, 0)) {
		/* a type without data gets an empty tail, not NULL */
		without_data = *ev;
		without_data.tail = (const uint8_t *)"";
		ev = &without_data;
	}
	l = lane_at(s, ev->lane, e);
	if (!l)
		return -1;
	t = tc_type_at(&s->types, ev->type, &l->source->names);
	if (!t)
		return error_no_memory(e);
	if (__builtin_expect(s->open.is, 0)) {
		if (same_buffer(ev->lane, s->open.lane)) {
			if (ends_open(s, t, ev, &end)) {
				end.depth = s->open.call.depth;
				graph_leaf_text(&s->line, &end,
						&(struct graph_style){s->open.names, s->plugins});
				close_open(s);
				return 0;
			}
			resolve_open(s);
		} else if (s->queue.size > QUEUE_MOST) {
			resolve_open(s);
		}
	}
	if (__builtin_expect(t->line, 0)) {
		s->latency = true;
		line_put(&s->line, (const char *)ev->tail, ev->tail_size);
		line_char(&s->line, '\n');
		return tracecmd_put_line(s, e);
	}
	if (t->graph.kind == GRAPH_ENTRY && !s->open.is &&
	    (r = set_open(s, l->source, l, t, ev, e)))
		return r < 0 ? -1 : 0;
	put_head(s, l, t, ev->time);
	if (t->graph.kind == GRAPH_ENTRY && read_call(s, t, ev, &end)) {
		graph_enter_text(&s->line, &end,
				 &(struct graph_style){&l->source->names, s->plugins});
		line_char(&s->line, '\n');
	} else if (put_message(s, l, t, ev, e)) {
		return -1;
	}
	return tracecmd_put_line(s, e);
}

static int tracecmd_end(void *state, struct error *e)
{
	struct text_tracecmd *s = state;

	resolve_open(s);
	if (print_header(s, e))
		return -1;
	if (s->latency)
		text_char(s->out, '\n');
	if (!s->quiet)
		remark_count(s->not_evaluated,
			     "{event is shown by its fields: its|events are shown by their fields: "
			     "their} print fmt cannot be evaluated (%s: %s)",
			     s->types.why_type, s->types.why);
	return 0;
}

static void tracecmd_free_state(void *state)
{
	struct text_tracecmd *s = state;

	tc_sources_free(&s->sources);
	tc_types_free(&s->types);
	plugin_indent_free(&s->indent);
	tc_lanes_free(&s->lanes);
	line_free(&s->line);
	buffer_free(&s->fields);
	buffer_free(&s->queue);
}

const struct text_layout text_tracecmd = {
	.format = "trace-cmd",
	.state_size = sizeof(struct text_tracecmd),
	.begin = tracecmd_begin,
	.meta = tracecmd_meta,
	.event = tracecmd_event,
	.end = tracecmd_end,
	.free = tracecmd_free_state,
};
