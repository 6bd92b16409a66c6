/*
 * Kernel events as `trace-cmd report -N` prints them, and function graphs as it does without -N.
 *
 * The begin of a call is drawn only when the next event of its buffer is there: if that is its end,
 * both are one line. What other buffers have meanwhile waits behind it.
 */
#include "text_tracecmd.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/field.h"
#include "text_layout.h"

enum { NAME_WIDTH = 20, WAITING_MOST = 65536, BUFFERS_MOST = 1 << 20 };

/* An input of trdecode. */
struct tc_source {
	const struct source *source;
	struct text_kernel *kernel;
	struct print_kernel names;
	struct buffer buffers; /* the META of that name: name, clock, page size, CPUs */
	struct binary_formats binary;
	bool ready;
};

/* What is made of a type once. */
struct tc_type {
	bool ready;
	bool line;		     /* a line of a latency tracer's text, as it is */
	struct print_format *format; /* NULL: it cannot be evaluated */
	struct format_fields fields; /* for those */
	struct graph_fields graph;
	struct bprint_fields bprint;
	char *name; /* " sched_switch:         " */
	size_t name_size;
};

/* What is made of a lane once. */
struct tc_lane {
	struct tc_source *source;
	char *head; /* "            work-151   [001]" */
	size_t head_size, prefix_size;
	bool microseconds; /* else the clock's own numbers */
};

/* A call that may turn out to have nothing inside. */
struct tc_open {
	bool is;
	const struct lane *lane;
	struct graph_call call;
	struct print_kernel *names;
	size_t size; /* of its line so far, in waiting */
};

struct state {
	struct text *out;
	bool nanoseconds, differences, header, latency;
	struct tc_source **sources;
	size_t source_count, source_capacity;
	struct tc_type *types;
	struct tc_lane *lanes;
	size_t type_count, lane_count;
	struct line line;
	struct tc_open open;
	struct buffer waiting; /* the open call's line, then those of other buffers */
	int prefix_width;      /* 0: no column of files and buffers */
	uint64_t last_time;
	bool has_last;
	uint64_t not_evaluated;
	char why[PRINT_WHY], why_type[64];
	bool quiet;
};

static int out_of_memory(struct error *e)
{
	return error_set(e, NULL, NO_OFFSET, "out of memory");
}

static void *begin(const struct encoding *en, struct error *e)
{
	struct state *s = calloc(1, sizeof *s);

	if (!s) {
		out_of_memory(e);
		return NULL;
	}
	s->out = en->text;
	s->nanoseconds = en->options->ns;
	s->differences = en->options->ts_diff;
	s->quiet = en->options->quiet;
	return s;
}

/* ---- lines ---- */

/* On a terminal nothing in a trace steers it, but messages of the kernel have lines. */
static void put(struct text *out, const char *p, size_t n)
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

static int emit(struct state *s, struct error *e)
{
	struct line *l = &s->line;
	int r = 0;

	if (l->failed)
		return out_of_memory(e);
	if (s->open.is)
		r = buffer_append(&s->waiting, l->data, l->size);
	else
		put(s->out, l->data, l->size);
	l->size = 0;
	return r ? out_of_memory(e) : 0;
}

/* The open call's line is complete with what is in s->line: it goes out, and what waited. */
static void close_open(struct state *s)
{
	struct tc_open *o = &s->open;

	o->is = false;
	put(s->out, (const char *)s->waiting.data, o->size);
	line_char(&s->line, '\n');
	put(s->out, s->line.data, s->line.size);
	put(s->out, (const char *)s->waiting.data + o->size, s->waiting.size - o->size);
	s->line.size = 0;
	s->waiting.size = 0;
}

static void resolve_open(struct state *s)
{
	if (!s->open.is)
		return;
	s->line.size = 0;
	graph_enter_text(&s->line, &s->open.call, s->open.names);
	close_open(s);
}

/* ---- sources ---- */

static struct tc_source *source_of(struct state *s, const struct source *source)
{
	struct tc_source *t, **sources;

	for (size_t i = 0; i < s->source_count; i++)
		if (s->sources[i]->source == source)
			return s->sources[i];
	sources = array_grow(s->sources, &s->source_capacity, s->source_count, sizeof *sources);
	if (!sources)
		return NULL;
	s->sources = sources;
	t = calloc(1, sizeof *t);
	if (t)
		t->kernel = text_kernel_new();
	if (!t || !t->kernel) {
		free(t);
		return NULL;
	}
	t->source = source;
	return sources[s->source_count++] = t;
}

/* The next line of the META "buffers" from *at on: its name, and the CPUs. */
static bool next_buffer(const struct tc_source *t, size_t *at, const char **name, size_t *size,
			uint64_t *cpus)
{
	const char *p, *end, *q;

	if (*at >= t->buffers.size)
		return false;
	p = (const char *)t->buffers.data + *at;
	end = (const char *)t->buffers.data + t->buffers.size;
	q = memchr(p, '\n', (size_t)(end - p));
	if (!q)
		q = end;
	*at += (size_t)(q - p) + 1;
	*name = p;
	end = memchr(p, '\t', (size_t)(q - p));
	*size = (size_t)((end ? end : q) - p);
	*cpus = 0;
	for (end = q; end > p && end[-1] >= '0' && end[-1] <= '9';)
		end--;
	for (; end < q; end++)
		*cpus = *cpus * 10 + (uint64_t)(*end - '0');
	return true;
}

static const char *file_name(const struct source *source)
{
	const char *slash = strrchr(source->name.text, '/');

	return slash ? slash + 1 : source->name.text;
}

/* The widest name of a file, if there are several, or of an instance. */
static void find_width(struct state *s)
{
	size_t width = 0, n;

	for (size_t i = 0; i < s->source_count; i++) {
		size_t at = 0, size;
		const char *name;
		uint64_t cpus;

		while (next_buffer(s->sources[i], &at, &name, &size, &cpus))
			if (size > width)
				width = size;
		n = s->source_count > 1 && s->sources[i]->source
			    ? strlen(file_name(s->sources[i]->source))
			    : 0;
		if (n > width)
			width = n;
	}
	s->prefix_width = (int)(width < 256 ? width : 256);
}

/* "file: ", blank for the top buffer of the only file. */
static void prefix(const struct state *s, const char *name, size_t n, struct line *out)
{
	size_t start = out->size;

	if (!s->prefix_width)
		return;
	line_put(out, name, n);
	line_column(out, start, s->prefix_width, s->prefix_width, false);
	line_puts(out, n ? ": " : "  ");
}

/* "cpus=2": what report begins with, when all inputs' META are there. */
static int print_header(struct state *s, struct error *e)
{
	if (s->header)
		return 0;
	s->header = true;
	for (size_t i = 0; i < s->source_count; i++) {
		const struct tc_source *t = s->sources[i];
		const char *name;
		size_t at = 0, size;
		uint64_t cpus = 0;

		if (!next_buffer(t, &at, &name, &size, &cpus))
			continue;
		find_width(s);
		if (s->source_count > 1 && t->source)
			prefix(s, file_name(t->source), strlen(file_name(t->source)), &s->line);
		line_puts(&s->line, "cpus=");
		line_u64(&s->line, cpus);
		line_char(&s->line, '\n');
		if (emit(s, e))
			return -1;
	}
	find_width(s);
	return 0;
}

static int meta(void *state, const struct source *source, const struct meta *m, struct error *e)
{
	struct state *s = state;
	struct tc_source *t = source_of(s, source);

	if (!t)
		return out_of_memory(e);
	if (m->name_size == 7 && !memcmp(m->name, "buffers", 7)) {
		if (m->offset == t->buffers.size && m->size <= BUFFERS_MOST - t->buffers.size &&
		    buffer_append(&t->buffers, m->data, m->size))
			return out_of_memory(e);
		return 0;
	}
	return text_kernel_meta(t->kernel, m) ? out_of_memory(e) : 0;
}

static int source_ready(struct state *s, struct tc_source *t, struct error *e)
{
	if (t->ready)
		return 0;
	t->ready = true;
	if (text_kernel_get(t->kernel, &t->names))
		return out_of_memory(e);
	return print_header(s, e);
}

/* ---- lanes and types ---- */

/* An element i of an array that grows with zeros. */
static void *slot(void *array, size_t *count, size_t i, size_t element)
{
	size_t n = *count;
	char *p = array;

	if (i < n)
		return p;
	n = n ? n : 64;
	while (n <= i)
		n *= 2;
	p = realloc(array, n * element);
	if (!p)
		return NULL;
	memset(p + *count * element, 0, (n - *count) * element);
	*count = n;
	return p;
}

static bool in_microseconds(const char *clock)
{
	static const char *const names[] = {"local", "global",	 "uptime", "perf",
					    "tai",   "tsc2nsec", "wall"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(clock, names[i]))
			return true;
	return !strncmp(clock, "mono", 4);
}

static int make_lane(struct state *s, struct tc_lane *l, const struct lane *lane, struct error *e)
{
	struct line line = {0};
	size_t start;

	l->source = source_of(s, lane->source);
	if (!l->source)
		return out_of_memory(e);
	if (source_ready(s, l->source, e))
		return -1;
	l->microseconds = !lane->clock || in_microseconds(lane->clock->name.text);
	if (lane->buffer.size)
		prefix(s, lane->buffer.text, lane->buffer.size, &line);
	else if (s->source_count > 1 && lane->source)
		prefix(s, file_name(lane->source), strlen(file_name(lane->source)), &line);
	else
		prefix(s, "", 0, &line);
	l->prefix_size = start = line.size;
	line_put(&line, lane->comm.text, lane->comm.size);
	line_column(&line, start, 16, -1, false);
	line_char(&line, '-');
	start = line.size;
	line_i64(&line, lane->tid);
	line_column(&line, start, 5, -1, true);
	line_puts(&line, " [");
	line_u64_wide(&line, (uint64_t)(lane->cpu < 0 ? 0 : lane->cpu), 3, '0');
	line_char(&line, ']');
	if (line.failed) {
		line_free(&line);
		return out_of_memory(e);
	}
	l->head = line.data;
	l->head_size = line.size;
	return 0;
}

static struct tc_lane *lane_at(struct state *s, const struct lane *lane, struct error *e)
{
	struct tc_lane *lanes = slot(s->lanes, &s->lane_count, lane->number, sizeof *lanes);

	if (!lanes) {
		out_of_memory(e);
		return NULL;
	}
	s->lanes = lanes;
	if (!lanes[lane->number].head && make_lane(s, &lanes[lane->number], lane, e))
		return NULL;
	return &lanes[lane->number];
}

static int make_type(struct state *s, struct tc_type *t, const struct type *type,
		     const struct tc_source *source, struct error *e)
{
	bool big = type->flags & TYPE_BIG_ENDIAN;
	struct line name = {0};
	char why[PRINT_WHY];

	t->ready = true;
	if (!type->declaration.size && !strcmp(type->name.text, "latency")) {
		t->line = s->latency = true;
		return 0;
	}
	line_char(&name, ' ');
	line_put(&name, type->name.text, type->name.size);
	line_puts(&name, ": ");
	if (type->name.size < NAME_WIDTH)
		line_pad(&name, ' ', NAME_WIDTH - type->name.size);
	t->name = name.data;
	t->name_size = name.size;
	t->format = print_format_compile(type->declaration.text, type->declaration.size,
					 type->word_size, big, &source->names, why);
	if (name.failed || (!t->format && !*why) ||
	    format_fields_read(&t->fields, type->declaration.text, type->declaration.size,
			       type->word_size))
		return out_of_memory(e);
	if (!t->format && !*s->why) {
		memcpy(s->why, why, sizeof why);
		memcpy(s->why_type, type->name.text,
		       type->name.size < sizeof s->why_type ? type->name.size
							    : sizeof s->why_type - 1);
	}
	graph_fields_find(&t->graph, type, &t->fields);
	bprint_fields_find(&t->bprint, type, &t->fields);
	return 0;
}

static struct tc_type *type_at(struct state *s, const struct type *type,
			       const struct tc_source *source, struct error *e)
{
	struct tc_type *types = slot(s->types, &s->type_count, type->number, sizeof *types);

	if (!types) {
		out_of_memory(e);
		return NULL;
	}
	s->types = types;
	if (!types[type->number].ready && make_type(s, &types[type->number], type, source, e))
		return NULL;
	return &types[type->number];
}

/* ---- events ---- */

/* In the unit that is printed: report rounds before it subtracts. */
static uint64_t shown_time(const struct state *s, const struct tc_lane *l, uint64_t time)
{
	return l->microseconds && !s->nanoseconds ? (time + 500) / 1000 : time;
}

static void put_time(struct state *s, const struct tc_lane *l, uint64_t time)
{
	struct line *out = &s->line;
	uint64_t t = shown_time(s, l, time);

	if (!l->microseconds) {
		line_u64_wide(out, t, 12, ' ');
	} else if (s->nanoseconds) {
		line_char(out, ' ');
		line_u64_wide(out, t / 1000000000, 5, ' ');
		line_char(out, '.');
		line_u64_wide(out, t % 1000000000, 9, '0');
	} else {
		line_char(out, ' ');
		line_u64_wide(out, t / 1000000, 5, ' ');
		line_char(out, '.');
		line_u64_wide(out, t % 1000000, 6, '0');
	}
	line_char(out, ':');
}

static void put_difference(struct state *s, const struct tc_lane *l, uint64_t time)
{
	struct line *out = &s->line;
	uint64_t t = shown_time(s, l, time);
	size_t start;

	line_char(out, ' ');
	start = out->size;
	if (s->has_last) {
		line_puts(out, "(+");
		line_i64(out, (int64_t)(t - s->last_time));
		line_char(out, ')');
	}
	line_column(out, start, 8, -1, true);
	s->has_last = t != 0;
	s->last_time = t;
}

static void put_head(struct state *s, const struct tc_lane *l, const struct tc_type *t,
		     uint64_t time)
{
	line_put(&s->line, l->head, l->head_size);
	put_time(s, l, time);
	if (s->differences)
		put_difference(s, l, time);
	line_put(&s->line, t->name, t->name_size);
}

static int message(struct state *s, struct tc_source *source, const struct tc_type *t,
		   const struct event *ev, struct error *e)
{
	struct line *out = &s->line;
	struct graph_call call;

	if (t->graph.kind == GRAPH_EXIT && graph_read(&t->graph, ev, &call)) {
		graph_exit_text(out, &call);
	} else if (t->bprint.is) {
		if (bprint_text(&source->binary, &t->bprint, ev, &source->names, out))
			return out_of_memory(e);
	} else if (t->format) {
		print_format_text(t->format, &source->names, ev->tail, ev->tail_size, out);
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

/* Is this the end of the call that was drawn last, with nothing between? */
static bool ends_open(const struct state *s, const struct tc_type *t, const struct event *ev,
		      struct graph_call *end)
{
	return t->graph.kind == GRAPH_EXIT && ev->lane->tid == s->open.lane->tid &&
	       graph_read(&t->graph, ev, end) && end->func == s->open.call.func;
}

static int graph_enter(struct state *s, struct tc_source *source, const struct tc_lane *l,
		       const struct tc_type *t, const struct event *ev, struct error *e)
{
	struct tc_open o = {.is = true, .lane = ev->lane, .names = &source->names};

	if (!graph_read(&t->graph, ev, &o.call))
		return 0;
	put_head(s, l, t, ev->time);
	if (s->line.failed || buffer_append(&s->waiting, s->line.data, s->line.size))
		return out_of_memory(e);
	o.size = s->line.size;
	s->line.size = 0;
	s->open = o;
	return 1;
}

static int gap(struct state *s, const struct event *ev, struct error *e)
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
	return emit(s, e);
}

static int event(void *state, const struct event *ev, struct error *e)
{
	struct state *s = state;
	struct event without_data;
	struct tc_lane *l;
	struct tc_type *t;
	struct graph_call end;
	int r;

	if (ev->type->kind == KIND_GAP)
		return gap(s, ev, e);
	if (__builtin_expect(!ev->tail, 0)) {
		/* a type without data: nothing, but somewhere */
		without_data = *ev;
		without_data.tail = (const uint8_t *)"";
		ev = &without_data;
	}
	l = lane_at(s, ev->lane, e);
	t = l ? type_at(s, ev->type, l->source, e) : NULL;
	if (!t)
		return -1;
	if (__builtin_expect(s->open.is, 0)) {
		if (same_buffer(ev->lane, s->open.lane)) {
			if (ends_open(s, t, ev, &end)) {
				end.depth = s->open.call.depth;
				graph_leaf_text(&s->line, &end, s->open.names);
				close_open(s);
				return 0;
			}
			resolve_open(s);
		} else if (s->waiting.size > WAITING_MOST) {
			resolve_open(s);
		}
	}
	if (__builtin_expect(t->line, 0)) {
		line_put(&s->line, (const char *)ev->tail, ev->tail_size);
		line_char(&s->line, '\n');
		return emit(s, e);
	}
	if (t->graph.kind == GRAPH_ENTRY && !s->open.is &&
	    (r = graph_enter(s, l->source, l, t, ev, e)))
		return r < 0 ? -1 : 0;
	put_head(s, l, t, ev->time);
	if (t->graph.kind == GRAPH_ENTRY && graph_read(&t->graph, ev, &end)) {
		graph_enter_text(&s->line, &end, &l->source->names);
		line_char(&s->line, '\n');
	} else if (message(s, l->source, t, ev, e)) {
		return -1;
	}
	return emit(s, e);
}

static int end(void *state, struct error *e)
{
	struct state *s = state;

	resolve_open(s);
	if (s->source_count && print_header(s, e))
		return -1;
	if (s->latency)
		text_char(s->out, '\n');
	if (s->not_evaluated && !s->quiet)
		warn(NULL, NO_OFFSET,
		     "%" PRIu64 " events are shown by their fields: their print fmt cannot be "
		     "evaluated (%s: %s)",
		     s->not_evaluated, s->why_type, s->why);
	return 0;
}

static void free_state(void *state)
{
	struct state *s = state;

	for (size_t i = 0; i < s->source_count; i++) {
		text_kernel_free(s->sources[i]->kernel);
		buffer_free(&s->sources[i]->buffers);
		binary_formats_free(&s->sources[i]->binary);
		free(s->sources[i]);
	}
	for (size_t i = 0; i < s->lane_count; i++)
		free(s->lanes[i].head);
	for (size_t i = 0; i < s->type_count; i++) {
		print_format_free(s->types[i].format);
		format_fields_free(&s->types[i].fields);
		free(s->types[i].name);
	}
	free(s->sources);
	free(s->lanes);
	free(s->types);
	line_free(&s->line);
	buffer_free(&s->waiting);
	free(s);
}

const struct text_layout text_tracecmd = {
	.format = "trace-cmd",
	.begin = begin,
	.meta = meta,
	.event = event,
	.end = end,
	.free = free_state,
};
