/*
 * ftrace.c - the decoder of the kernel's trace text: its lines in their order
 */
#include "cmd/trdecode/ftrace/ftrace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trdecode/input/merge.h"

enum { PROBE_LINES = 200, LIVE_WAIT = 20 /* ms */ };

/* --- probe --- */

/* Test for a blank before "-1": in the text of perf script that is the thread -1. */
static bool is_thread_unknown(const struct ftrace_line *l)
{
	return l->tid == 1 && *l->comm.end == '-' && span_ends(l->comm, " ");
}

static enum bid ftrace_probe(const struct input *in)
{
	const char *at = (const char *)in->head, *end, *newline;
	bool forced = in->format && !strcmp(in->format, "ftrace"), binary = false;

	if (in->tree || !in->head_size)
		return BID_NONE;
	end = at + in->head_size;

	/* the attribute is of all pages that catapult makes */
	if (ftrace_is_page(at, in->head_size))
		return memmem(at, in->head_size, "Android System Trace", 20) ||
				       memmem(at, in->head_size, "trace-data", 10) ||
				       memmem(at, in->head_size, "viewer-data", 11) ||
				       memmem(at, in->head_size, "dir:textdirection", 17)
			       ? BID_LIKELY
			       : BID_NONE;
	if (ftrace_is_packed(at, in->head_size))
		return BID_LIKELY;
	for (unsigned n = 0; at < end && n < PROBE_LINES; n++) {
		struct ftrace_line l;
		struct span line = {at, end};

		/* of a long line only the begin may be there */
		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline : end;
		line.end = newline;
		binary |= memchr(at, '\0', span_size(line)) != NULL;
		if (binary && !forced)
			return BID_NONE;
		if (span_begins(line, "# tracer: "))
			return BID_LIKELY;
		ftrace_line_parse(line, &l);
		/* other texts may have bars */
		if ((l.kind == LINE_EVENT && !is_thread_unknown(&l)) ||
		    (l.kind == LINE_GRAPH && l.cpu >= 0))
			return BID_LIKELY;
		at = newline < end ? newline + 1 : end;
	}
	/* find_first reports what a text lacks */
	return forced && !binary ? BID_LIKELY : BID_NONE;
}

/* --- rows --- */

/* Give a line of function_graph the time and the thread that it lacks. */
static int complete_graph(struct ftrace *f)
{
	struct ftrace_line *l = &f->line;
	struct ftrace_cpu *cpu;

	if (l->kind == LINE_SWITCH)
		return ftrace_cpu_thread(f, l);
	cpu = ftrace_cpu(f, l->cpu);
	if (!cpu)
		return -1;
	if (l->tid < 0 && cpu->tid >= 0) {
		const char *comm = intern_data(&f->names, cpu->comm - 1);

		l->tid = cpu->tid;
		l->comm = (struct span){comm, comm + intern_size(&f->names, cpu->comm - 1)};
	}
	if (l->clock == LINE_NO_TIME)
		l->time = cpu->now;
	return 0;
}

/* Make the row of the held line. */
static int convert(struct ftrace *f)
{
	struct ftrace_line l;
	enum line_clock clock;
	bool second;
	int failed;

	f->held = false;
	if ((f->line.kind == LINE_GRAPH || f->line.kind == LINE_SWITCH) && complete_graph(f))
		return -1;
	l = f->line;
	switch (l.kind) {
	case LINE_EVENT:
	case LINE_GRAPH: break;
	case LINE_LOST:
		f->lost.count = f->lost.count == UINT64_MAX || l.lost == UINT64_MAX
					? UINT64_MAX
					: f->lost.count + l.lost;
		f->lost.cpu = l.cpu;
		return 0;
	case LINE_OTHER: ftrace_strange(f); return 0;
	default: return 0;
	}
	clock = l.clock;
	if (clock != f->clock) {
		ftrace_strange(f);
		return 0;
	}
	f->seen.graph |= l.kind == LINE_GRAPH;
	if (ftrace_row_begin(f, &l))
		return -1;
	failed =
		l.kind == LINE_GRAPH ? ftrace_graph(f, &l, l.text, l.duration) : ftrace_text(f, &l);
	second = span_size(f->rest.text) > 0;
	if (!failed && f->has_row && f->events && (second || !f->lines.whole) &&
	    ftrace_row_cut(f, &l)) {
		f->has_row = false;
		/* a second event in the line was reported */
		if (!second)
			ftrace_strange(f);
	}
	return failed;
}

static int finish_stack(struct ftrace *f)
{
	uint8_t *id = f->row.fixed.data;

	f->row.stack = writer_stack_of(f->w, f->stack.frames, f->stack.count);
	if (f->stack.count && !f->row.stack)
		return -1;
	put_u32(id, f->row.stack);
	return 0;
}

/* Make the next row. No row: there is no more. */
static int advance(struct ftrace *f, struct error *e)
{
	int got;

	e->what[0] = '\0';
	while (!f->has_row) {
		if (!f->held) {
			/* a live trace: what is there must show before the next line is waited for
			 */
			if (f->events && !lines_ready(&f->lines, f->input, LIVE_WAIT) &&
			    (ftrace_leaves_write(f, UINT64_MAX, -1) || writer_flush(f->w)))
				return -1;
			got = ftrace_next_line(f, e);
			if (got <= 0)
				return got;
		}
		if (convert(f))
			return -1;
		if (f->has_row) {
			if (ftrace_take_rest(f, e) < 0)
				return -1;
			ftrace_cut_decide(f);
		}
	}
	return f->stack.wanted ? finish_stack(f) : 0;
}

/* --- the decoder --- */

static int ftrace_open(struct input *in, struct error *e)
{
	struct ftrace *f = calloc(1, sizeof *f);

	in->state = f;
	if (!f)
		return error_no_memory(e);
	f->input = in;
	f->w = in->decoding->writer;
	f->html = f->outside = ftrace_is_page((const char *)in->head, in->head_size);
	return f->html || ftrace_is_packed((const char *)in->head, in->head_size)
		       ? ftrace_packed_open(f, e)
		       : 0;
}

static bool is_event(const struct ftrace_line *l)
{
	return l->kind == LINE_EVENT || l->kind == LINE_GRAPH;
}

/* Test for what only a trace has besides events. */
static bool is_part(const struct ftrace_line *l)
{
	return l->kind == LINE_LOST || l->kind == LINE_SWITCH;
}

static int ftrace_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct ftrace *f = in->state;
	uint64_t events = 0, lost = 0;
	bool parts = false;
	int got;

	fact_text(facts, "format", "ftrace");
	while ((got = ftrace_next_line(f, e)) > 0) {
		events += is_event(&f->line);
		parts |= is_part(&f->line);
		lost += f->line.kind == LINE_LOST && f->line.lost != UINT64_MAX ? f->line.lost : 0;
	}
	if (got || (!events && !parts && ftrace_heading_check(f, e)))
		return -1;
	fact_number(facts, "events", events);
	fact_number(facts, "lost", lost);
	return 0;
}

/* Find the first event, whose time shows the clock. */
static int find_first(struct ftrace *f, struct error *e)
{
	bool parts = false; /* of a trace */
	int got;

	while ((got = ftrace_next_line(f, e)) > 0 && !is_event(&f->line))
		if (is_part(&f->line)) {
			parts = true;
			if (convert(f))
				return -1;
		}
	if (got < 0)
		return -1;
	if (!got && !parts && ftrace_heading_check(f, e))
		return -1;
	f->clock = got ? f->line.clock : LINE_SECONDS;
	f->input->ticks = f->clock == LINE_TICKS;
	if (f->clock == LINE_NO_TIME)
		f->input->clock_name = "durations";
	return 0;
}

static int ftrace_begin(struct input *in, struct error *e)
{
	struct ftrace *f = in->state;
	struct writer *w = f->w;

	f->declared.source =
		writer_source(w, &(struct source_entry){writer_text(w, "ftrace"),
							writer_text(w, in->name), 0, 0});
	f->declared.group = writer_text(w, "ftrace");
	in->clock_name = "trace";
	if (ftrace_clock_sync(f, e))
		return -1;
	if (ftrace_first_threads(f))
		return error_no_memory(e);
	if (find_first(f, e) || merge_choose_clock(in, e))
		return -1;
	f->declared.clock = writer_clock(
		w, &(struct clock_entry){
			   .name = writer_text(w, in->clock_name),
			   .flags = (in->ticks ? CLOCK_TICKS : 0) |
				    (in->has_wall ? CLOCK_HAS_WALL : 0) |
				    (in->has_wall && !merge_wall(in) ? CLOCK_IS_WALL : 0),
			   .wall = merge_wall(in)});
	if (!f->declared.source || !f->declared.group || !f->declared.clock)
		return error_no_memory(e);
	in->next = UINT64_MAX;
	if (!f->held)
		return 0;
	if (merge_first(in, f->line.time, e) || advance(f, e))
		return -1;
	if (f->has_row)
		in->next = f->row.time;
	return 0;
}

/* Set the time of the next row. */
static void set_next(struct ftrace *f)
{
	uint64_t leave = ftrace_leaves_next(f), row = f->has_row ? f->row.time : UINT64_MAX;

	f->input->next = leave < row ? leave : row;
}

static int ftrace_run(struct input *in, uint64_t until, struct error *e)
{
	struct ftrace *f = in->state;

	while (in->next <= until && in->next != UINT64_MAX) {
		if (!f->has_row) {
			if (ftrace_leaves_write(f, until, -1))
				return -1;
		} else if (f->row.time > until) {
			if (ftrace_leaves_write(f, until, -1))
				return -1;
		} else {
			if (ftrace_leaves_write(f, f->row.time, f->row.cpu) ||
			    ftrace_row_write(f) || ftrace_leave_later(f) || advance(f, e))
				return -1;
		}
		set_next(f);
	}
	return 0;
}

static void declared_free(struct ftrace_declared *d)
{
	for (size_t i = 0; i < d->ntypes; i++)
		free(d->types[i].fields);
	for (size_t i = 0; i < d->nthreads; i++) {
		free(d->thread[i].frames);
		free(d->thread[i].marks);
	}
	for (size_t i = 0; i < d->ncpus; i++)
		free(d->cpu[i].began);
	free(d->types);
	free(d->bases);
	free(d->thread);
	free(d->cpu);
	id_cache_free(&d->lanes);
	id_cache_free(&d->threads);
	id_cache_free(&d->locations);
	id_cache_free(&d->plain_types);
	id_cache_free(&d->names);
	id_cache_free(&d->cpus);
}

static void ftrace_close(struct input *in)
{
	struct ftrace *f = in->state;

	if (!f)
		return;
	if (!in->decoding->quiet)
		warn_count(in->name, f->strange - (f->strange > 0),
			   "more {line that is no event|lines that are no events}");
	for (size_t i = 0; i < f->nleaves; i++) {
		buffer_free(&f->leaves[i]->tail);
		free(f->leaves[i]);
	}
	if (f->leave)
		buffer_free(&f->leave->tail);
	free(f->leave);
	buffer_free(&f->row.fixed);
	buffer_free(&f->row.tail);
	ftrace_packed_close(f);
	lines_free(&f->lines);
	intern_free(&f->names);
	open_calls_free(&f->async);
	declared_free(&f->declared);
	free(f);
	in->state = NULL;
}

const struct decoder decoder_ftrace = {
	.name = "ftrace",
	.probe = ftrace_probe,
	.open = ftrace_open,
	.info = ftrace_info,
	.begin = ftrace_begin,
	.run = ftrace_run,
	.close = ftrace_close,
};
