/*
 * text.c - latency traces: the text of the kernel's file `trace`. Each line is an event, with the
 * time, CPU and thread that the line gives. Lines of the heading, and further lines of a text, have
 * a type of their own.
 */
#include "cmd/trdecode/ftrace/line.h"
#include "cmd/trdecode/tracecmd/tracecmd.h"
#include "common/util/lines.h"

#include <stdlib.h>

enum { LINE_LIMIT = 64 * 1024, READ = 64 * 1024 };

struct tracecmd_text {
	struct buffer line;
	size_t at;			 /* offset in the window */
	uint32_t event_type, other_type; /* of lines */
	uint32_t type, lane;		 /* of the next line */
	uint64_t time;			 /* time of the previous line */
	bool ended, cut;		 /* cut: the last line has no newline */
	struct lane_key {
		uint32_t cpu, lane;
		int32_t pid;
	} last;
};

/* Limit of what is between "-PID" and the bracket, and of the flags: no word of the kernel's is
   longer. Without it a line of brackets is searched once for each of them. */
enum { WORD_MOST = 64 };

/* A line "COMM-PID [CPU] FLAGS SECONDS.FRACTION: ..." */
struct parsed {
	const char *comm;
	size_t comm_size;
	int32_t pid;
	uint32_t cpu;
	uint64_t time;
};

/* Parse "SECONDS.FRACTION:" at p. */
static bool parse_time(const char *p, const char *end, uint64_t *time)
{
	enum { TIME_MOST = 32 };
	const char *colon = memchr(p, ':', (size_t)(end - p < TIME_MOST ? end - p : TIME_MOST));

	return colon && memchr(p, '.', (size_t)(colon - p)) &&
	       ftrace_seconds((struct span){p, colon}, time);
}

/* Parse the thread: the last "-PID" before the bracket, and the name before it. */
static bool parse_task(const char *line, const char *end, struct parsed *out)
{
	const char *p = end, *first = end - line > WORD_MOST ? end - WORD_MOST : line;
	uint64_t pid;

	while (p > first && p[-1] != '-')
		p--;
	if (p == first || ftrace_digits(p, end, &pid) == p || pid > INT32_MAX)
		return false;
	out->pid = (int32_t)pid;
	while (line < p && *line == ' ')
		line++;
	out->comm = line;
	out->comm_size = (size_t)(p - 1 - line);
	return true;
}

static bool parse_line(const char *line, size_t n, struct parsed *out)
{
	const char *end = line + n, *p = line, *q, *most;
	uint64_t cpu;

	for (;; p++) {
		p = memchr(p, '[', (size_t)(end - p));
		if (!p)
			return false;
		q = ftrace_digits(p + 1, end, &cpu);
		if (q == p + 1 || q == end || *q != ']' || cpu > INT32_MAX)
			continue;
		if (!parse_task(line, p, out))
			continue;
		out->cpu = (uint32_t)cpu;
		for (q++; q < end && *q == ' '; q++)
			;
		if (parse_time(q, end, &out->time))
			return true;
		/* between the CPU and the time are the flags */
		most = end - q > WORD_MOST ? q + WORD_MOST : end;
		while (q < most && *q != ' ')
			q++;
		while (q < end && *q == ' ')
			q++;
		if (parse_time(q, end, &out->time))
			return true;
	}
}

/* Report a last line without a newline, after its event is written. */
static void report_cut(struct tracecmd_reader *r)
{
	struct cpu_data *c = &r->data;

	c->damaged = true;
	error_set(&c->damage, c->file->name, r->buffer->text_offset + r->buffer->text_size,
		  "the text of the latency trace ends in the middle of a line");
}

/* Find the next line, without its newline: 1, 0, -1. Longer lines are split. */
static int text_next_line(struct tracecmd_reader *r, struct error *e)
{
	struct tracecmd_text *x = r->text;
	struct cpu_data *c = &r->data;

	x->line.size = 0;
	for (;;) {
		const uint8_t *from, *newline;
		size_t n;

		if (x->at >= c->window.size) {
			int got = x->ended ? 0 : cpu_data_bytes(c, e);

			x->at = 0;
			if (got < 0)
				return -1;
			if (!got) {
				if (x->cut)
					report_cut(r);
				x->cut = !x->ended && !c->damaged && x->line.size > 0;
				x->ended = true;
				c->window.size = 0;
				return x->line.size > 0;
			}
		}
		from = c->window.data + x->at;
		n = c->window.size - x->at;
		newline = memchr(from, '\n', n);
		if (newline)
			n = (size_t)(newline - from);
		if (n > LINE_LIMIT - x->line.size) {
			n = LINE_LIMIT - x->line.size;
			newline = NULL;
		}
		if (buffer_append(&x->line, from, n))
			return error_no_memory(e);
		x->at += n + (newline != NULL);
		if (newline || x->line.size == LINE_LIMIT)
			return 1;
	}
}

/* Return the time of the first event, which all lines before it get. */
static uint64_t text_first_time(const struct cpu_data *c)
{
	struct lines l = lines_of((char *)c->window.data, c->window.size);
	struct parsed found;

	while (lines_next(&l) && l.whole)
		if (parse_line(l.line, l.size, &found))
			return found.time;
	return 0;
}

static uint32_t lane_of(struct tracecmd *t, struct tracecmd_reader *r, const struct parsed *p)
{
	struct lane_entry entry = {.source = t->source,
				   .clock = t->clock,
				   .buffer = r->buffer_name,
				   .comm = writer_string(t->w, p->comm, p->comm_size),
				   .flags = LANE_HAS_CPU | LANE_HAS_TID,
				   .cpu = (int32_t)p->cpu,
				   .tid = p->pid};

	return writer_lane(t->w, &entry);
}

/* Find the time and the lane of the next line. */
static int text_look(struct tracecmd *t, struct tracecmd_reader *r)
{
	struct tracecmd_text *x = r->text;
	struct parsed p;

	x->type = x->other_type;
	if (parse_line((char *)x->line.data, x->line.size, &p)) {
		x->type = x->event_type;
		if (!x->last.lane || x->last.cpu != p.cpu || x->last.pid != p.pid)
			x->last = (struct lane_key){p.cpu, lane_of(t, r, &p), p.pid};
		x->lane = x->last.lane;
		x->time = p.time;
	} else if (!x->lane) {
		struct lane_entry entry = {
			.source = t->source, .clock = t->clock, .buffer = r->buffer_name};

		x->lane = writer_lane(t->w, &entry);
	}
	r->due.time = tracecmd_text_time(t, r);
	return x->lane ? 0 : -1;
}

uint64_t tracecmd_text_time(const struct tracecmd *t, const struct tracecmd_reader *r)
{
	return tracecmd_time(t, 0, r->text->time);
}

static uint32_t declare_type(struct tracecmd *t, const char *name)
{
	struct writer *w = t->w;
	struct field_entry line = {.name = writer_text(w, "line"),
				   .kind = FIELD_STRING,
				   .role = ROLE_MESSAGE,
				   .where = WHERE_REST,
				   .size = 1};

	return writer_type(w, &(struct type_entry){.source = t->source,
						   .name = writer_text(w, name),
						   .group = writer_text(w, "ftrace"),
						   .kind = KIND_INSTANT,
						   .word_size = t->layout.long_size,
						   .flags = TYPE_TAIL,
						   .nfields = 1,
						   .fields = &line});
}

int tracecmd_text_begin(struct tracecmd *t, struct tracecmd_reader *r, struct error *e)
{
	struct tracecmd_text *x = calloc(1, sizeof *x);
	int got;

	r->text = x;
	r->due.time = UINT64_MAX;
	if (!x)
		return error_no_memory(e);
	cpu_data_begin(&r->data, r->buffer->text_offset, r->buffer->text_size, READ, READ);
	x->event_type = declare_type(t, TRACECMD_TEXT_EVENT);
	x->other_type = declare_type(t, TRACECMD_TEXT_OTHER);
	if (!x->event_type || !x->other_type)
		return -1;
	got = cpu_data_bytes(&r->data, e);
	if (got < 0)
		return -1;
	if (got)
		x->time = text_first_time(&r->data);
	else
		x->ended = true;
	got = text_next_line(r, e);
	return got > 0 ? text_look(t, r) : got;
}

int tracecmd_text_next(struct tracecmd *t, struct tracecmd_reader *r, struct error *e)
{
	struct tracecmd_text *x = r->text;
	int got;

	r->last = r->due.time;
	if (writer_row_data(t->w, (struct new_row){.time = r->due.time,
						   .lane = x->lane,
						   .type = x->type,
						   .tail = x->line.data,
						   .tail_size = (uint32_t)x->line.size,
						   .has_tail = true}))
		return -1;
	got = text_next_line(r, e);
	if (got > 0)
		return text_look(t, r);
	r->due.time = UINT64_MAX;
	return got;
}

void tracecmd_text_free(struct tracecmd_reader *r)
{
	if (r->text)
		buffer_free(&r->text->line);
	free(r->text);
}
