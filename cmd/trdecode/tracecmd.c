/*
 * tracecmd.c - trace.dat
 */
#include "cmd/trdecode/tracecmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/kernel_line.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/row_filter.h"
#include "common/formats/tracecmd.h"
#include "common/util/bisect.h"
#include "common/util/intern.h"
#include "common/util/output.h"
#include "common/util/lines.h"
#include "common/util/u128.h"
#include "common/value/json.h"

/*
 * Latency traces: the text of the kernel's file `trace`. Each line is an event, with the time, CPU
 * and thread that the line gives. Lines of the heading, and further lines of a text, have a type
 * of their own.
 */

enum { LINE_LIMIT = 64 * 1024, READ = 64 * 1024 };

struct tracecmd_text {
	struct buffer line;
	size_t at;			 /* offset in the window */
	uint32_t event_type, other_type; /* of lines */
	uint32_t type, lane;		 /* of the next line */
	uint64_t time;			 /* time of the previous line */
	bool ended, cut;		 /* cut: the last line has no newline */
	/* of the line with a thread before: its lane (0: none), CPU and thread */
	uint32_t last_lane;
	int32_t last_cpu, last_tid;
};

/* Limit of what is between "-PID" and the bracket, and of the flags: no word of the kernel's is
   longer. Without it a line of brackets is searched once for each of them. */
enum { WORD_MOST = 64 };

/* Parse "SECONDS.FRACTION:" at p. */
static bool tracecmd_parse_time(const char *p, const char *end, uint64_t *time)
{
	enum { TIME_MOST = 32 };
	const char *colon = memchr(p, ':', (size_t)(end - p < TIME_MOST ? end - p : TIME_MOST));

	return colon && memchr(p, '.', (size_t)(colon - p)) &&
	       span_seconds((struct text_span){p, colon}, TIME_LIMIT, time);
}

/* Parse the thread: the last "-PID" before the bracket, and the name before it. */
static bool parse_task(const char *line, const char *end, struct ftrace_line *out)
{
	const char *p = end, *first = end - line > WORD_MOST ? end - WORD_MOST : line;
	uint64_t pid;

	while (p > first && p[-1] != '-')
		p--;
	if (p == first || span_digits(p, end, &pid) == p || pid > INT32_MAX)
		return false;
	out->tid = (int32_t)pid;
	while (line < p && *line == ' ')
		line++;
	out->comm = (struct text_span){line, p - 1};
	return true;
}

/* Parse a line "COMM-PID [CPU] FLAGS SECONDS.FRACTION: ...": comm, tid, cpu and time. */
static bool tracecmd_parse_line(const char *line, size_t n, struct ftrace_line *out)
{
	const char *end = line + n, *p = line, *q, *most;
	uint64_t cpu;

	for (;; p++) {
		p = memchr(p, '[', (size_t)(end - p));
		if (!p)
			return false;
		q = span_digits(p + 1, end, &cpu);
		if (q == p + 1 || q == end || *q != ']' || cpu > INT32_MAX)
			continue;
		if (!parse_task(line, p, out))
			continue;
		out->cpu = (int32_t)cpu;
		for (q++; q < end && *q == ' '; q++)
			;
		if (tracecmd_parse_time(q, end, &out->time))
			return true;
		/* between the CPU and the time are the flags */
		most = end - q > WORD_MOST ? q + WORD_MOST : end;
		while (q < most && *q != ' ')
			q++;
		while (q < end && *q == ' ')
			q++;
		if (tracecmd_parse_time(q, end, &out->time))
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

/* Get the time of the first event, which all lines before it get. */
static uint64_t text_first_time(const struct cpu_data *c)
{
	struct lines l = lines_of((char *)c->window.data, c->window.size);
	struct ftrace_line found;

	while (lines_next(&l) && l.whole)
		if (tracecmd_parse_line(l.line, l.size, &found))
			return found.time;
	return 0;
}

/* Find the time and the lane of the next line. */
static int text_look(struct tracecmd *t, struct tracecmd_reader *r)
{
	struct tracecmd_text *x = r->text;
	struct lane_entry entry = {
		.source = t->source, .clock = t->clock, .buffer = r->buffer_name};
	struct ftrace_line l;

	x->type = x->other_type;
	if (tracecmd_parse_line((char *)x->line.data, x->line.size, &l)) {
		x->type = x->event_type;
		if (!x->last_lane || x->last_cpu != l.cpu || x->last_tid != l.tid) {
			entry.comm = writer_string(t->w, l.comm.at, span_size(l.comm));
			entry.flags = LANE_HAS_CPU | LANE_HAS_TID;
			entry.cpu = x->last_cpu = l.cpu;
			entry.tid = x->last_tid = l.tid;
			x->last_lane = writer_lane(t->w, &entry);
		}
		x->lane = x->last_lane;
		x->time = l.time;
	} else if (!x->lane) {
		x->lane = writer_lane(t->w, &entry);
	}
	r->due.time = tracecmd_time(t, 0, x->time);
	return x->lane ? 0 : -1;
}

static uint32_t text_declare_type(struct tracecmd *t, const char *name)
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

/* Read the first line of a latency trace. */
static int tracecmd_text_begin(struct tracecmd *t, struct tracecmd_reader *r, struct error *e)
{
	struct tracecmd_text *x = calloc(1, sizeof *x);
	int got;

	r->text = x;
	r->due.time = UINT64_MAX;
	if (!x)
		return error_no_memory(e);
	cpu_data_begin(&r->data, r->buffer->text_offset, r->buffer->text_size, READ, READ);
	x->event_type = text_declare_type(t, TRACECMD_TEXT_EVENT);
	x->other_type = text_declare_type(t, TRACECMD_TEXT_OTHER);
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

/* Write the next line, and read the line after it. */
static int tracecmd_text_next(struct tracecmd *t, struct tracecmd_reader *r, struct error *e)
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

/* --- read the options that matter for decoding: clocks, names, CPUs --- */

enum { OPTIONS_CPUS_LIMIT = 65536 };

/* Find the active clock in a text "local global [mono]", or a plain name. NULL: out of memory. */
static char *tracecmd_clock_name(const char *text, size_t n)
{
	const char *open = memchr(text, '[', n), *close;

	if (open) {
		open++;
		close = memchr(open, ']', n - (size_t)(open - text));
		if (close)
			return strndup(open, (size_t)(close - open));
	}
	while (n && (text[n - 1] == '\n' || !text[n - 1]))
		n--;
	return strndup(text, n);
}

static int tracecmd_set_text(char **to, const uint8_t *data, size_t n, struct error *e)
{
	free(*to);
	*to = strndup((const char *)data, n);
	return *to ? 0 : error_no_memory(e);
}

/* Parse a signed number in decimal or hexadecimal text. */
static bool tracecmd_text_number(const uint8_t *data, size_t n, int64_t *number)
{
	char text[64], *end;
	size_t size = n < sizeof text - 1 ? n : sizeof text - 1;
	bool minus;

	memcpy(text, data, size);
	text[size] = '\0';
	minus = text[strspn(text, " \t")] == '-';
	errno = 0;
	if (minus)
		*number = strtoll(text, &end, 0);
	else
		*number = (int64_t)strtoull(text, &end, 0);
	return end != text && !errno;
}

/* Set the numbers that are added to all times, if the times fit 64 bits with them. */
static bool set_shift(struct tracecmd_header *h, int128 date, int128 offset)
{
	const int128 limit = TIME_LIMIT, all = date + offset;

	if (date >= limit || date <= -limit || offset >= limit || offset <= -limit ||
	    all >= limit || all <= -limit)
		return false;
	h->times.date = (int64_t)date;
	h->times.offset = (int64_t)offset;
	return true;
}

static bool take_date(struct tracecmd_header *h, const uint8_t *data, size_t n)
{
	int64_t us;

	if (!tracecmd_text_number(data, n, &us) ||
	    !set_shift(h, (int128)us * 1000, h->times.offset))
		return false;
	h->times.has_date = true;
	return true;
}

static bool tracecmd_take_offset(struct tracecmd_header *h, const uint8_t *data, size_t n)
{
	int64_t offset;

	if (!tracecmd_text_number(data, n, &offset) ||
	    !set_shift(h, h->times.date, (int128)h->times.offset + offset))
		return false;
	h->times.has_offset = true;
	return true;
}

static bool take_tsc(struct tracecmd_header *h, struct ring_cursor *c)
{
	uint64_t mult, shift;

	if (cursor_number(c, 4, &mult, NULL) || cursor_number(c, 4, &shift, NULL) || shift > 63 ||
	    !mult)
		return false;
	h->times.tsc_mult = (uint32_t)mult;
	h->times.tsc_shift = (uint32_t)shift;
	h->times.has_tsc = true;
	return true;
}

/* Read one of the numbers of n samples. */
static bool sync_array(struct ring_cursor *c, struct tracecmd_sync *sample, uint32_t n,
		       unsigned which)
{
	uint64_t v;

	for (uint32_t i = 0; i < n; i++) {
		if (cursor_number(c, 8, &v, NULL))
			return false;
		switch (which) {
		case 0: sample[i].time = v; break;
		case 1: sample[i].offset = (int64_t)v; break;
		case 2: sample[i].scaling = v; break;
		case 3: sample[i].fraction = v; break;
		}
	}
	return true;
}

static int tracecmd_take_sync(struct tracecmd_header *h, struct ring_cursor *c, bool *good,
			      struct error *e)
{
	uint64_t flags, cpus, n;

	*good = false;
	if (h->link.sync || cursor_number(c, 8, &h->link.peer_id, NULL) ||
	    cursor_number(c, 4, &flags, NULL) || cursor_number(c, 4, &cpus, NULL) ||
	    cpus > OPTIONS_CPUS_LIMIT)
		return 0;
	h->link.interpolate = flags & 1;
	h->link.sync = calloc(cpus + 1, sizeof *h->link.sync);
	if (!h->link.sync)
		return error_no_memory(e);
	h->link.nsync = (uint32_t)cpus;
	for (uint32_t i = 0; i < cpus; i++) {
		struct tracecmd_sync *sample;

		if (cursor_number(c, 4, &n, NULL) || n > cursor_left(c) / 24)
			return 0;
		sample = calloc(n + 1, sizeof *sample);
		if (!sample)
			return error_no_memory(e);
		h->link.sync[i].sample = sample;
		h->link.sync[i].count = (uint32_t)n;
		for (unsigned k = 0; k < 3; k++)
			if (!sync_array(c, sample, (uint32_t)n, k))
				return 0;
	}
	/* bits of the fraction, in files of recorders that write them */
	for (uint32_t i = 0; cursor_left(c) && i < cpus; i++)
		if (!sync_array(c, h->link.sync[i].sample, h->link.sync[i].count, 3))
			return 0;
	*good = true;
	return 0;
}

static int take_guest(struct tracecmd_header *h, const uint8_t *data, size_t n, bool *good,
		      struct error *e)
{
	const uint8_t *nul = memchr(data, 0, n);

	*good = nul && n - (size_t)(nul - data) >= 9;
	if (!*good)
		return 0;
	if (ARRAY_GROW(h->link.guests, h->link.guests_capacity, h->link.nguests))
		return error_no_memory(e);
	h->link.guests[h->link.nguests++] = get_uint(nul + 1, 8, h->big_endian);
	return 0;
}

static int keep_option(struct tracecmd_header *h, uint16_t id, const uint8_t *data, size_t n,
		       struct error *e)
{
	return buffer_u32(&h->options, id) || buffer_u32(&h->options, (uint32_t)n) ||
			       (n && buffer_append(&h->options, data, n))
		       ? error_no_memory(e)
		       : 0;
}

/* Take an option that is not a section. Returns 0, or -1: out of memory. */
static int tracecmd_option(struct tracecmd_header *h, uint16_t id, const uint8_t *data, size_t n,
			   struct error *e)
{
	struct ring_cursor c = {
		.file = &h->file, .mem = data, .size = n, .big_endian = h->big_endian};
	bool good = true;
	uint64_t number;
	int result = 0;

	if (!data)
		data = (const uint8_t *)"";
	if (keep_option(h, id, data, n, e))
		return -1;
	switch (id) {
	case TRACECMD_DATE: good = take_date(h, data, n); break;
	case TRACECMD_OFFSET: good = tracecmd_take_offset(h, data, n); break;
	case TRACECMD_TSC2NSEC: good = take_tsc(h, &c); break;
	case TRACECMD_TIME_SHIFT: result = tracecmd_take_sync(h, &c, &good, e); break;
	case TRACECMD_GUEST: result = take_guest(h, data, n, &good, e); break;
	case TRACECMD_UNAME: return tracecmd_set_text(&h->uname, data, n, e);
	case TRACECMD_VERSION: return tracecmd_set_text(&h->recorder, data, n, e);
	case TRACECMD_TRACECLOCK:
		free(h->times.clock);
		h->times.clock = tracecmd_clock_name((const char *)data, n);
		return h->times.clock ? 0 : error_no_memory(e);
	case TRACECMD_CPUCOUNT:
		good = !cursor_number(&c, 4, &number, NULL) && number <= OPTIONS_CPUS_LIMIT;
		if (good)
			h->cpus = (uint32_t)number;
		break;
	case TRACECMD_TRACEID: good = !cursor_number(&c, 8, &h->link.trace_id, NULL); break;
	}
	if (!good)
		input_damage(h->input, h->file.name, NO_OFFSET, "option %u cannot be understood",
			     id);
	return result;
}

/* --- header --- */

enum { SYSTEMS_LIMIT = 65536, EVENTS_LIMIT_EACH = 65536, NAME_LIMIT = 4096 };

static bool tracecmd_good_page_size(uint64_t size)
{
	return size >= 1024 && size <= 1 << 26 && !(size & (size - 1));
}

/* Read a text that follows its length of size bytes. */
static int tracecmd_read_text(struct ring_cursor *c, unsigned size, struct buffer *b,
			      struct error *e)
{
	uint64_t n;

	b->size = 0;
	return cursor_number(c, size, &n, e) || cursor_append(c, b, n, e) ? -1 : 0;
}

static int read_tag(struct ring_cursor *c, const char *want, size_t n, struct error *e)
{
	char have[16];

	if (cursor_bytes(c, have, n, e))
		return -1;
	if (memcmp(have, want, n))
		return error_set(e, c->file->name, cursor_offset(c), "'%s' is missing here", want);
	return 0;
}

/* Read bodies that are equal in both versions. Returns 0, or -1 with *e filled: damage, or out of
 * memory. */
static int tracecmd_read_header_info(struct tracecmd_header *h, struct ring_cursor *c,
				     struct error *e)
{
	if (read_tag(c, TRACECMD_HEADER_PAGE, sizeof TRACECMD_HEADER_PAGE, e) ||
	    tracecmd_read_text(c, 8, &h->header_page, e) ||
	    read_tag(c, TRACECMD_HEADER_EVENT, sizeof TRACECMD_HEADER_EVENT, e))
		return -1;
	return tracecmd_read_text(c, 8, &h->header_event, e);
}

static int read_format(struct tracecmd_header *h, struct ring_cursor *c, const char *system,
		       struct error *e)
{
	struct buffer text = {0};

	if (tracecmd_read_text(c, 8, &text, e)) {
		buffer_free(&text);
		return -1;
	}
	if (ARRAY_GROW(h->formats, h->formats_capacity, h->nformats)) {
		buffer_free(&text);
		return error_no_memory(e);
	}
	h->formats[h->nformats].system = strdup(system);
	h->formats[h->nformats].text = (char *)text.data;
	h->formats[h->nformats].size = text.size;
	return h->formats[h->nformats++].system ? 0 : error_no_memory(e);
}

static int read_system(struct tracecmd_header *h, struct ring_cursor *c, const char *system,
		       struct error *e)
{
	uint64_t n;

	if (cursor_number(c, 4, &n, e))
		return -1;
	if (n > EVENTS_LIMIT_EACH)
		return error_set(e, c->file->name, cursor_offset(c), "%llu events in one system",
				 (unsigned long long)n);
	while (n--)
		if (read_format(h, c, system, e))
			return -1;
	return 0;
}

static int tracecmd_read_events(struct tracecmd_header *h, struct ring_cursor *c, struct error *e)
{
	struct buffer name = {0};
	uint64_t n;
	int result = cursor_number(c, 4, &n, e);

	if (!result && n > SYSTEMS_LIMIT)
		result = error_set(e, c->file->name, cursor_offset(c), "%llu systems of events",
				   (unsigned long long)n);
	while (!result && n--) {
		name.size = 0;
		result = cursor_text(c, &name, NAME_LIMIT, e);
		if (!result)
			result = read_system(h, c, (char *)name.data, e);
	}
	buffer_free(&name);
	return result;
}

/* Add a buffer; NULL: out of memory. */
static struct tracecmd_buffer *tracecmd_add_buffer(struct tracecmd_header *h, const char *name,
						   size_t n)
{
	struct tracecmd_buffer *b;

	if (ARRAY_GROW(h->buffers, h->buffers_capacity, h->nbuffers))
		return NULL;
	b = &h->buffers[h->nbuffers];
	*b = (struct tracecmd_buffer){.name = strndup(name, n), .page_size = h->page_size};
	if (!b->name)
		return NULL;
	h->nbuffers++;
	return b;
}

/* Add a CPU's data. Data beyond the end of the file are damage, and are cut off. */
static int tracecmd_add_row(struct tracecmd_header *h, struct tracecmd_buffer *b, uint64_t cpu,
			    uint64_t offset, uint64_t size, struct error *e)
{
	uint64_t have = offset < h->file.size ? h->file.size - offset : 0;

	if (!size)
		return 0;
	if (cpu > INT32_MAX) {
		input_damage(h->input, h->file.name, offset, "data of a CPU without a number");
		return 0;
	}
	if (size > have) {
		input_short(h->input, h->file.name, h->file.size,
			    "the file ends %llu byte%s before the end of the data of CPU %llu",
			    (unsigned long long)(size - have), size - have == 1 ? "" : "s",
			    (unsigned long long)cpu);
		size = have;
	}
	if (!size)
		return 0;
	if (ARRAY_GROW(b->rows, b->rows_capacity, b->nrows))
		return error_no_memory(e);
	b->rows[b->nrows++] = (struct tracecmd_row){(uint32_t)cpu, offset, size};
	return 0;
}

/* Report damage. Returns -1 if out of memory. */
static int tracecmd_report(struct tracecmd_header *h, const struct error *damage, struct error *e)
{
	if (!damage->file[0]) {
		*e = *damage;
		return -1;
	}
	if (h->v7.cut)
		input_short(h->input, damage->file, damage->offset, "%s", damage->what);
	else
		input_damage_error(h->input, damage);
	return 0;
}

/* --- read version 6: a header that is read from its start to the tables of the CPUs' data --- */

enum { V6_CPUS_LIMIT = 65536, SEARCH_PIECE = 65536, SEARCH_LIMIT = 64 << 20 };

static int tracecmd_add_instance(struct tracecmd_header *h, const uint8_t *data, size_t n,
				 struct error *e)
{
	if (n < 9) {
		input_damage(h->input, h->file.name, NO_OFFSET, "an instance without a name");
		return 0;
	}
	if (ARRAY_GROW(h->instances, h->instances_capacity, h->ninstances))
		return error_no_memory(e);
	h->instances[h->ninstances].offset = get_uint(data, 8, h->big_endian);
	h->instances[h->ninstances].name = strndup((const char *)data + 8, n - 8);
	return h->instances[h->ninstances++].name ? 0 : error_no_memory(e);
}

static int v6_read_options(struct tracecmd_header *h, struct ring_cursor *c, struct error *e)
{
	struct buffer payload = {0};
	uint64_t id, size;
	int result;

	for (;;) {
		result = cursor_number(c, 2, &id, e);
		if (result || id == TRACECMD_DONE)
			break;
		payload.size = 0;
		result = cursor_number(c, 4, &size, e);
		if (!result && size > cursor_left(c))
			result = error_set(e, h->file.name, cursor_offset(c),
					   "option %u of %llu bytes reaches beyond the file",
					   (unsigned)id, (unsigned long long)size);
		if (!result)
			result = cursor_append(c, &payload, size, e);
		if (!result && id == TRACECMD_BUFFER)
			result = tracecmd_add_instance(h, payload.data, payload.size, e);
		else if (!result)
			result = tracecmd_option(h, (uint16_t)id, payload.data, payload.size, e);
		if (result)
			break;
	}
	buffer_free(&payload);
	return result;
}

/* Find, after a damaged option, the tag that follows the options. */
static int tracecmd_find_data(struct tracecmd_header *h, struct ring_cursor *c, struct error *e)
{
	uint64_t limit = cursor_left(c) < SEARCH_LIMIT ? c->size : c->pos + SEARCH_LIMIT;
	uint8_t *piece = malloc(SEARCH_PIECE);
	int result = -1;

	if (!piece)
		return error_no_memory(e);
	while (c->pos < limit) {
		ssize_t n = tracecmd_file_read(&h->file, piece, SEARCH_PIECE, c->pos, e);
		const uint8_t *found;

		if (n < TRACECMD_TAG_SIZE)
			break;
		found = memmem(piece, (size_t)n, TRACECMD_TAG_DATA, TRACECMD_TAG_SIZE);
		if (found) {
			c->pos += (uint64_t)(found - piece);
			result = 0;
			break;
		}
		c->pos += (uint64_t)n - TRACECMD_TAG_SIZE + 1;
	}
	free(piece);
	return result;
}

/* Read the table of the CPUs' data, from its tag to the clock's name. */
static int tracecmd_read_table(struct tracecmd_header *h, struct tracecmd_buffer *b,
			       struct ring_cursor *c, struct error *e)
{
	struct buffer clock = {0};
	uint64_t first = UINT64_MAX, offset, size, n;
	struct error none;

	for (uint32_t cpu = 0; cpu < h->cpus; cpu++) {
		if (cursor_number(c, 8, &offset, e) || cursor_number(c, 8, &size, e) ||
		    tracecmd_add_row(h, b, cpu, offset, size, e))
			return -1;
		if (offset < first)
			first = offset;
	}
	/* old files have zeros at this offset, or data */
	if (!cursor_number(c, 8, &n, &none) && n && n <= TRACECMD_TEXT_LIMIT &&
	    c->pos + n <= first && !cursor_append(c, &clock, n, &none)) {
		b->clock = tracecmd_clock_name((char *)clock.data, clock.size);
		buffer_free(&clock);
		if (!b->clock)
			return error_no_memory(e);
		return 0;
	}
	buffer_free(&clock);
	return 0;
}

static int read_instance(struct tracecmd_header *h, uint64_t offset, const char *name,
			 struct error *e)
{
	struct ring_cursor c = {
		.file = &h->file, .size = h->file.size, .pos = offset, .big_endian = h->big_endian};
	struct tracecmd_buffer *b;
	char tag[TRACECMD_TAG_SIZE];

	if (offset >= h->file.size)
		return error_set(e, h->file.name, h->file.size,
				 "the file ends before the data of instance '%.64s'", name);
	if (cursor_bytes(&c, tag, sizeof tag, e))
		return -1;
	if (memcmp(tag, TRACECMD_TAG_DATA, sizeof tag))
		return error_set(e, h->file.name, offset, "no data of instance '%.64s' here", name);
	b = tracecmd_add_buffer(h, name, strlen(name));
	if (!b)
		return error_no_memory(e);
	return tracecmd_read_table(h, b, &c, e);
}

/* Read what follows the tag. */
static int tracecmd_read_data(struct tracecmd_header *h, struct ring_cursor *c, const char *tag,
			      struct error *e)
{
	struct tracecmd_buffer *top = tracecmd_add_buffer(h, "", 0);

	if (!top)
		return error_no_memory(e);
	if (!memcmp(tag, TRACECMD_TAG_LATENCY, TRACECMD_TAG_SIZE)) {
		top->text = true;
		top->text_offset = c->pos;
		top->text_size = cursor_left(c);
		return 0;
	}
	if (memcmp(tag, TRACECMD_TAG_DATA, TRACECMD_TAG_SIZE))
		return error_set(e, h->file.name, cursor_offset(c) - TRACECMD_TAG_SIZE,
				 "neither options nor data where they should begin");
	return tracecmd_read_table(h, top, c, e);
}

static int read_behind_texts(struct tracecmd_header *h, struct ring_cursor *c, struct error *e)
{
	char tag[TRACECMD_TAG_SIZE];
	struct error damage;
	uint64_t n;

	if (cursor_number(c, 4, &n, e))
		return -1;
	if (n > V6_CPUS_LIMIT)
		return error_set(e, h->file.name, cursor_offset(c) - 4, "a file of %llu CPUs",
				 (unsigned long long)n);
	h->cpus = (uint32_t)n;
	if (cursor_bytes(c, tag, sizeof tag, e))
		return -1;
	if (!memcmp(tag, TRACECMD_TAG_OPTIONS, sizeof tag)) {
		uint64_t begin = c->pos;

		if (v6_read_options(h, c, &damage)) {
			if (tracecmd_report(h, &damage, e))
				return -1;
			c->pos = begin;
			if (tracecmd_find_data(h, c, e))
				return error_set(e, h->file.name, begin,
						 "no data after the options");
		}
		if (cursor_bytes(c, tag, sizeof tag, e))
			return -1;
		if (h->cpus > V6_CPUS_LIMIT)
			return error_set(e, h->file.name, begin, "a file of %u CPUs", h->cpus);
	}
	return tracecmd_read_data(h, c, tag, e);
}

/* Read all that follows the prefix. */
static int tracecmd_read_v6(struct tracecmd_header *h, uint64_t at, struct error *e)
{
	struct ring_cursor c = {
		.file = &h->file, .size = h->file.size, .pos = at, .big_endian = h->big_endian};
	int result = tracecmd_read_header_info(h, &c, e) || read_system(h, &c, "ftrace", e) ||
				     tracecmd_read_events(h, &c, e) ||
				     tracecmd_read_text(&c, 4, &h->kallsyms, e) ||
				     tracecmd_read_text(&c, 4, &h->printk, e) ||
				     tracecmd_read_text(&c, 8, &h->cmdlines, e) ||
				     read_behind_texts(h, &c, e)
			     ? -1
			     : 0;

	/* an instance does not need the top buffer's table */
	for (size_t i = 0; i < h->ninstances; i++) {
		struct error damage;

		if (read_instance(h, h->instances[i].offset, h->instances[i].name, &damage) &&
		    tracecmd_report(h, &damage, e))
			return -1;
	}
	return result;
}

/*
 * Recover sections of a version 7 file whose chain of options is broken: the recorder died, the
 * file is truncated, or an offset is damaged. Sections follow each other and are found by their
 * headers; the CPUs of a buffer whose table is lost are found by their pages.
 */

struct tracecmd_section {
	uint16_t id;
	bool compressed;
	uint64_t offset, size; /* of the body; size as in the file */
};

/* The highest known id is 25; sections of later versions are skipped. */
enum { SECTION_IDS = 64, BUFFERS_LIMIT = 1024, CHUNKS_LIMIT = 1 << 26, UNPACKED_LIMIT = 64 << 20 };

/* Read the header of a section. Returns 0, or -1: it is not in the file. */
static int tracecmd_section_header(struct tracecmd_header *h, uint64_t at,
				   struct tracecmd_section *s, struct error *e)
{
	struct ring_cursor c = {
		.file = &h->file, .size = h->file.size, .pos = at, .big_endian = h->big_endian};
	uint8_t bytes[TRACECMD_SECTION_HEADER];

	if (cursor_bytes(&c, bytes, sizeof bytes, e))
		return -1;
	s->id = (uint16_t)get_uint(bytes, 2, h->big_endian);
	s->compressed = get_uint(bytes + 2, 2, h->big_endian) & TRACECMD_COMPRESSED;
	s->size = get_uint(bytes + 8, 8, h->big_endian);
	s->offset = c.pos;
	return 0;
}

/*
 * Find the next section at or after *at; *at moves to the end of that section. Returns 1; 0: the
 * bytes there are no section, or the file ends; -1: the file cannot be read.
 */
static int tracecmd_next_section(struct tracecmd_header *h, uint64_t *at,
				 struct tracecmd_section *s, struct error *e)
{
	if (*at >= h->file.size || h->file.size - *at < TRACECMD_SECTION_HEADER)
		return 0;
	if (tracecmd_section_header(h, *at, s, e))
		return -1;
	if (s->id >= SECTION_IDS)
		return 0;
	*at = s->size > h->file.size - s->offset ? h->file.size : s->offset + s->size;
	return 1;
}

/* Read the u32 at an offset of the file. Return false if the range ends before. */
static bool word_at(struct tracecmd_header *h, uint64_t at, uint64_t end, uint32_t *word)
{
	uint8_t bytes[4];

	if (at > end || end - at < 4 || tracecmd_file_read(&h->file, bytes, 4, at, NULL) < 4)
		return false;
	*word = (uint32_t)get_uint(bytes, 4, h->big_endian);
	return true;
}

/* Read the head of a chunk; *next: offset after its data. Return false if there is no chunk. */
static bool chunk_at(struct tracecmd_header *h, uint64_t at, uint64_t end, uint64_t *next)
{
	uint32_t packed, size;

	if (!word_at(h, at, end, &packed) || !word_at(h, at + 4, end, &size) || !packed || !size ||
	    size % h->page_size || size > UNPACKED_LIMIT || packed > size + size / 8 + 64)
		return false;
	*next = at + 8 + packed;
	return true;
}

/* Get the size of the compressed data of a CPU that begin here, 0 if there are none. */
static uint64_t chunks_size(struct tracecmd_header *h, uint64_t at, uint64_t end)
{
	uint64_t p = at + 4, next;
	uint32_t count;

	if (!word_at(h, at, end, &count) || !count || count > CHUNKS_LIMIT)
		return 0;
	if (!chunk_at(h, p, end, &next))
		return 0;
	while (count--) {
		/* damage in a later chunk is reported when the chunk is read */
		if (!chunk_at(h, p, end, &next) || next > end)
			return end - at;
		p = next;
	}
	return p - at;
}

static int add_chunks(struct tracecmd_header *h, struct tracecmd_buffer *b, uint64_t at,
		      uint64_t end, struct error *e)
{
	uint32_t cpu = 0;

	while (at < end) {
		uint64_t size = chunks_size(h, at, end);

		if (size && tracecmd_add_row(h, b, cpu++, at, size, e))
			return -1;
		at += size ? align_up(size, h->page_size) : h->page_size;
	}
	return 0;
}

static int add_pages(struct tracecmd_header *h, struct tracecmd_buffer *b, uint64_t at,
		     uint64_t end, struct error *e)
{
	uint64_t begin = at, before = 0;
	uint32_t cpu = 0;

	for (; at < end && end - at >= 8; at += h->page_size) {
		uint8_t bytes[8];
		ssize_t got = tracecmd_file_read(&h->file, bytes, 8, at, e);
		uint64_t time = get_uint(bytes, 8, h->big_endian);

		if (got < 0)
			return -1;
		/* a page that was never written has no time */
		if (got < 8 || !time)
			continue;
		if (time < before) {
			if (tracecmd_add_row(h, b, cpu++, begin, at - begin, e))
				return -1;
			begin = at;
		}
		before = time;
	}
	return before ? tracecmd_add_row(h, b, cpu, begin, end - begin, e) : 0;
}

/* Add the buffers that are not known yet. */
static int add_known(struct tracecmd_header *h)
{
	for (; h->v7.nknown < h->nbuffers; h->v7.nknown++) {
		const struct tracecmd_buffer *b = &h->buffers[h->v7.nknown];

		if (intern(&h->v7.sections, &b->section, sizeof b->section) == INTERN_NONE ||
		    intern_string(&h->v7.names, b->name) == INTERN_NONE)
			return -1;
	}
	return 0;
}

static bool known_name(const struct tracecmd_header *h, const char *name, size_t n)
{
	return intern_find(&h->v7.names, name, n) != INTERN_NONE;
}

/* Get the name of an instance: statistics of CPUs name instances too, in the order of their
 * data. This is the first name without a buffer. */
static const char *instance_name(struct tracecmd_header *h, size_t *n)
{
	static const char head[] = "\nBuffer: ";
	const struct buffer *o = &h->options;

	while (h->v7.stats + 8 <= o->size) {
		const uint8_t *p = o->data + h->v7.stats;
		uint32_t id = get_u32(p), size = get_u32(p + 4);
		const char *text = (const char *)p + 8, *end;

		h->v7.stats += 8 + size;
		if (id != TRACECMD_CPUSTAT || size < sizeof head ||
		    memcmp(text, head, sizeof head - 1))
			continue;
		text += sizeof head - 1;
		size -= sizeof head - 1;
		end = memchr(text, '\n', size);
		*n = end ? (size_t)(end - text) : 0;
		if (*n && !known_name(h, text, *n))
			return text;
	}
	*n = strlen("unnamed");
	return "unnamed";
}

/* Report that the CPUs of a buffer are not known. Where a signal cut the file, that is no damage.
 */
static void report_lost_table(struct tracecmd_header *h, const struct tracecmd_buffer *b)
{
	static const char lost[] = "the table of this data%s%.64s is lost: its CPUs are numbered "
				   "in the order of the file";
	const char *of = *b->name ? " of instance " : "";

	if (!h->v7.cut || !io_cut())
		input_damage(h->input, h->file.name, b->section, lost, of, b->name);
	else if (!h->input->decoding->quiet)
		warn(h->file.name, b->section, lost, of, b->name);
}

/*
 * Add a buffer for the section, unless a BUFFER option leads to the section. Each CPU's data begin
 * at a page: compressed data follow each other; a new CPU's plain pages begin where the time
 * decreases. CPUs are numbered in this order. What is guessed is reported as the input's damage.
 * Returns 0, or -1: out of memory, or the file cannot be read.
 */
static int tracecmd_recover_buffer(struct tracecmd_header *h, const struct tracecmd_section *s,
				   struct error *e)
{
	uint64_t begin, end = h->file.size;
	struct tracecmd_buffer *b;
	const char *name = "";
	size_t n = 0;

	if (add_known(h))
		return error_no_memory(e);
	if (intern_find(&h->v7.sections, &s->offset, sizeof s->offset) != INTERN_NONE)
		return 0;
	if (!tracecmd_good_page_size(h->page_size) || s->offset >= end ||
	    h->nbuffers >= BUFFERS_LIMIT)
		return 0;
	if (s->size < end - s->offset)
		end = s->offset + s->size;
	if (known_name(h, "", 0))
		name = instance_name(h, &n);
	b = tracecmd_add_buffer(h, name, n);
	if (!b)
		return error_no_memory(e);
	b->section = s->offset;
	b->chunks = s->compressed;
	b->text = s->id == TRACECMD_BUFFER_TEXT;
	b->text_offset = s->offset;
	b->text_size = end - s->offset;
	if (b->text)
		return 0;
	report_lost_table(h, b);
	begin = (b->section + h->page_size - 1) / h->page_size * h->page_size;
	return b->chunks ? add_chunks(h, b, begin, end, e) : add_pages(h, b, begin, end, e);
}

/* --- read version 7: sections that are found through chained lists of options --- */

enum { SECTION_NAME_LIMIT = 4096 };

/* Read the header of the section with that id. */
static int tracecmd_read_section(struct tracecmd_header *h, uint64_t at, int id,
				 struct tracecmd_section *s, struct error *e)
{
	if (at >= h->file.size || h->file.size - at < TRACECMD_SECTION_HEADER)
		h->v7.cut = true;
	if (at >= h->file.size)
		return error_set(e, h->file.name, h->file.size,
				 "the file ends before its section %d at 0x%llx", id,
				 (unsigned long long)at);
	if (tracecmd_section_header(h, at, s, e))
		return -1;
	if (s->id != id)
		return error_set(e, h->file.name, at, "section %d is not here (but %u)", id, s->id);
	if (s->size > h->file.size - s->offset)
		h->v7.cut = true;
	return 0;
}

/* Open the body of a metadata section, unpacked into b where it is packed. */
static int open_section(struct tracecmd_header *h, const struct tracecmd_section *s,
			struct buffer *b, struct ring_cursor *body, struct error *e)
{
	struct ring_cursor c = {.file = &h->file,
				.base = s->offset,
				.size = h->file.size - s->offset,
				.big_endian = h->big_endian};
	struct buffer packed = {0};
	const char *what;
	uint64_t n, size;
	int result;

	if (s->size < c.size)
		c.size = s->size;
	*body = c;
	if (!s->compressed)
		return 0;
	if (cursor_number(&c, 4, &n, e) || cursor_number(&c, 4, &size, e))
		return -1;
	if (size > TRACECMD_UNPACKED_LIMIT)
		return error_set(e, h->file.name, s->offset, "a section of %llu bytes",
				 (unsigned long long)size);
	result = cursor_append(&c, &packed, n, e);
	if (!result) {
		result = tracecmd_unpack(&h->unpacker, packed.data, packed.size, (size_t)size, b,
					 &what);
		if (result)
			error_set(e, h->file.name, s->offset, "%s (section %u)", what, s->id);
	}
	buffer_free(&packed);
	*body = (struct ring_cursor){.file = &h->file,
				     .mem = b->data ? b->data : (const uint8_t *)"",
				     .base = s->offset,
				     .size = b->size,
				     .big_endian = h->big_endian};
	return result;
}

static int read_body(struct tracecmd_header *h, uint16_t id, struct ring_cursor *c, struct error *e)
{
	switch (id) {
	case TRACECMD_HEADER_INFO: return tracecmd_read_header_info(h, c, e);
	case TRACECMD_FTRACE_EVENTS: return read_system(h, c, "ftrace", e);
	case TRACECMD_EVENT_FORMATS: return tracecmd_read_events(h, c, e);
	case TRACECMD_KALLSYMS: return tracecmd_read_text(c, 4, &h->kallsyms, e);
	case TRACECMD_PRINTK: return tracecmd_read_text(c, 4, &h->printk, e);
	case TRACECMD_CMDLINES: return tracecmd_read_text(c, 8, &h->cmdlines, e);
	case TRACECMD_BTF: h->btf.size = 0; return cursor_append(c, &h->btf, c->size, e);
	case TRACECMD_MODULES:
		h->modules.size = 0;
		return cursor_append(c, &h->modules, c->size, e);
	}
	return 0;
}

static int tracecmd_read_metadata(struct tracecmd_header *h, uint16_t id, uint64_t at,
				  struct error *e)
{
	struct buffer b = {0};
	struct tracecmd_section s;
	struct ring_cursor c;
	int result = tracecmd_read_section(h, at, id, &s, e);

	/* of equal sections the first counts */
	if (result || h->v7.read & 1u << id)
		return result;
	h->v7.read |= 1u << id;
	result = open_section(h, &s, &b, &c, e);
	if (!result)
		result = read_body(h, id, &c, e);
	buffer_free(&b);
	return result;
}

/* Read the names of a buffer and of its clock. NULL: *e is filled. */
static struct tracecmd_buffer *tracecmd_read_names(struct tracecmd_header *h, struct ring_cursor *c,
						   struct error *e)
{
	struct buffer text = {0};
	struct tracecmd_buffer *b = NULL;
	int result = cursor_text(c, &text, SECTION_NAME_LIMIT, e);

	if (!result) {
		b = tracecmd_add_buffer(h, (char *)text.data, text.size);
		text.size = 0;
		result = b ? cursor_text(c, &text, SECTION_NAME_LIMIT, e) : error_no_memory(e);
	}
	if (!result) {
		b->clock = tracecmd_clock_name((char *)text.data, text.size);
		result = b->clock ? 0 : error_no_memory(e);
	}
	buffer_free(&text);
	return result ? NULL : b;
}

/* Find the lines of a buffer that is a text. */
static int read_lines(struct tracecmd_header *h, struct tracecmd_buffer *b, uint64_t at,
		      struct error *e)
{
	struct tracecmd_section s = {0};

	b->text = true;
	if (tracecmd_read_section(h, at, TRACECMD_BUFFER_TEXT, &s, e))
		return -1;
	b->section = s.offset;
	b->chunks = s.compressed;
	b->text_offset = s.offset;
	b->text_size = h->file.size - s.offset;
	if (s.size < b->text_size)
		b->text_size = s.size;
	return 0;
}

/* Read a BUFFER or BUFFER_TEXT option. */
static int read_buffer(struct tracecmd_header *h, uint16_t id, struct ring_cursor *c,
		       struct error *e)
{
	struct tracecmd_section s = {0};
	struct tracecmd_buffer *b;
	struct error damage;
	uint64_t at, page_size, rows, cpu, offset, size;

	if (cursor_number(c, 8, &at, e))
		return -1;
	b = tracecmd_read_names(h, c, e);
	if (!b)
		return -1;
	if (id == TRACECMD_BUFFER_TEXT)
		return read_lines(h, b, at, e);
	if (cursor_number(c, 4, &page_size, e) || cursor_number(c, 4, &rows, e))
		return -1;
	b->page_size = (uint32_t)page_size;
	if (!rows)
		return 0;
	/* the option has the CPUs' offsets: without the section only its flag is guessed */
	if (tracecmd_read_section(h, at, id, &s, &damage)) {
		if (tracecmd_report(h, &damage, e))
			return -1;
		s.compressed = h->unpacker.method != TRACECMD_NONE;
	}
	b->section = s.offset;
	b->chunks = s.compressed;
	while (rows--)
		if (cursor_number(c, 4, &cpu, e) || cursor_number(c, 8, &offset, e) ||
		    cursor_number(c, 8, &size, e) || tracecmd_add_row(h, b, cpu, offset, size, e))
			return -1;
	return 0;
}

static bool tracecmd_is_metadata(uint16_t id)
{
	return id == TRACECMD_BTF || id == TRACECMD_MODULES ||
	       (id >= TRACECMD_HEADER_INFO && id <= TRACECMD_CMDLINES);
}

/* Read one option. Damage is reported, and the next option is read. -1: out of memory. */
static int one_option(struct tracecmd_header *h, uint16_t id, const uint8_t *data, size_t n,
		      uint64_t at, struct error *e)
{
	struct ring_cursor c = {
		.file = &h->file, .mem = data, .base = at, .size = n, .big_endian = h->big_endian};
	bool buffer = id == TRACECMD_BUFFER || id == TRACECMD_BUFFER_TEXT,
	     metadata = tracecmd_is_metadata(id);
	struct error damage;
	uint64_t section;
	int result;

	if (buffer)
		result = read_buffer(h, id, &c, &damage);
	else if (metadata)
		result = cursor_number(&c, 8, &section, &damage)
				 ? -1
				 : tracecmd_read_metadata(h, id, section, &damage);
	else
		result = tracecmd_option(h, id, data, n, &damage);
	if (!result)
		return 0;
	h->v7.incomplete |= buffer || metadata;
	return tracecmd_report(h, &damage, e);
}

/* Read the options of one section; *next: offset of the next list, 0: none. */
static int read_list(struct tracecmd_header *h, struct ring_cursor *c, uint64_t *next,
		     struct error *e)
{
	struct buffer payload = {0};
	uint64_t id, size;
	int result;

	*next = 0;
	for (;;) {
		uint64_t at = cursor_offset(c);

		if (!cursor_left(c)) {
			result = error_set(e, h->file.name, at, "options without an end");
			break;
		}
		result = cursor_number(c, 2, &id, e);
		if (!result)
			result = cursor_number(c, 4, &size, e);
		if (!result && id == TRACECMD_DONE) {
			result = size < 8 ? 0 : cursor_number(c, 8, next, e);
			break;
		}
		payload.size = 0;
		if (!result && size > cursor_left(c))
			result = error_set(e, h->file.name, at,
					   "option %u of %llu bytes reaches beyond its section",
					   (unsigned)id, (unsigned long long)size);
		if (!result)
			result = cursor_append(c, &payload, size, e);
		if (!result)
			result = one_option(h, (uint16_t)id, payload.data, payload.size, at, e);
		if (result)
			break;
	}
	buffer_free(&payload);
	return result;
}

/* Move the top buffer to the front, whatever the order of the options. */
static int top_first(struct tracecmd_header *h, struct error *e)
{
	for (size_t i = 0; i < h->nbuffers; i++)
		if (!*h->buffers[i].name) {
			struct tracecmd_buffer top = h->buffers[i];

			memmove(h->buffers + 1, h->buffers, i * sizeof top);
			h->buffers[0] = top;
			return 0;
		}
	if (h->nbuffers && !tracecmd_add_buffer(h, "", 0))
		return error_no_memory(e);
	if (h->nbuffers) {
		struct tracecmd_buffer top = h->buffers[h->nbuffers - 1];

		memmove(h->buffers + 1, h->buffers, (h->nbuffers - 1) * sizeof top);
		h->buffers[0] = top;
	}
	return 0;
}

static bool was_read(const struct tracecmd_header *h, uint64_t at)
{
	for (size_t i = 0; i < h->v7.nlists; i++)
		if (h->v7.lists[i] == at)
			return true;
	return false;
}

/* Read the list of options at *at, which moves to the next list. */
static int v7_read_options(struct tracecmd_header *h, uint64_t *at, struct error *e)
{
	struct tracecmd_section s;
	struct buffer b = {0};
	struct ring_cursor c;
	int result;

	if (was_read(h, *at))
		return error_set(e, h->file.name, *at, "the options lead back to here");
	if (h->v7.nlists >= TRACECMD_LISTS_MOST)
		return error_set(e, h->file.name, *at, "more than %d lists of options",
				 TRACECMD_LISTS_MOST);
	h->v7.lists[h->v7.nlists++] = *at;
	result = tracecmd_read_section(h, *at, TRACECMD_DONE, &s, e);
	if (!result)
		result = open_section(h, &s, &b, &c, e);
	if (!result)
		result = read_list(h, &c, at, e);
	buffer_free(&b);
	return result;
}

/* Read the sections that no option led to, in the order of the file. Texts and options are
 * first: they may name the buffers. */
static int scan_sections(struct tracecmd_header *h, uint64_t begin, struct error *e)
{
	struct tracecmd_section s;
	struct error damage;
	uint64_t at = begin, here = at;
	int got;

	while ((got = tracecmd_next_section(h, &at, &s, e)) > 0) {
		uint64_t list = here;
		int result = 0;

		if (s.id == TRACECMD_DONE && !was_read(h, here) &&
		    h->v7.nlists < TRACECMD_LISTS_MOST)
			result = v7_read_options(h, &list, &damage);
		else if (tracecmd_is_metadata(s.id) && !(h->v7.read & 1u << s.id))
			result = tracecmd_read_metadata(h, s.id, here, &damage);
		if (result && tracecmd_report(h, &damage, e))
			return -1;
		here = at;
	}
	for (at = begin; !got && (got = tracecmd_next_section(h, &at, &s, e)) > 0; got = 0)
		if ((s.id == TRACECMD_BUFFER || s.id == TRACECMD_BUFFER_TEXT) &&
		    tracecmd_recover_buffer(h, &s, e)) {
			got = -1;
			break;
		}
	return got;
}

static int tracecmd_read_v7(struct tracecmd_header *h, uint64_t at, uint64_t options,
			    struct error *e)
{
	struct error damage;
	int result = 0;

	if (!options)
		result = error_set(&damage, h->file.name, NO_OFFSET,
				   "the recorder died before it wrote where the options are");
	while (options && !result)
		result = v7_read_options(h, &options, &damage);
	if (result) {
		if (tracecmd_report(h, &damage, e))
			return -1;
		h->v7.incomplete = true;
	}
	if (h->v7.incomplete && scan_sections(h, at, e))
		return -1;
	return top_first(h, e);
}

/* --- all of a file but its events --- */

/* Read a short text of the prefix. */
static int prefix_text(struct ring_cursor *c, char *out, size_t size, struct error *e)
{
	struct buffer b = {0};
	int result = cursor_text(c, &b, TRACECMD_TEXT_LIMIT, e);

	if (!result) {
		size_t n = b.size < size - 1 ? b.size : size - 1;

		memcpy(out, b.data, n);
		out[n] = '\0';
	}
	buffer_free(&b);
	return result;
}

static int read_prefix(struct tracecmd_header *h, struct ring_cursor *c, uint64_t *options,
		       struct error *e)
{
	char version[16];
	uint64_t n;

	c->pos = TRACECMD_MAGIC_SIZE;
	if (prefix_text(c, version, sizeof version, e))
		return -1;
	h->version = (unsigned)atoi(version);
	if (h->version < 1 || h->version > 7)
		return error_set(e, h->file.name, TRACECMD_MAGIC_SIZE,
				 "version '%.8s' of trace.dat is not supported (6 and 7 are)",
				 version);
	if (cursor_number(c, 1, &n, e))
		return -1;
	if (n > 1)
		return error_set(e, h->file.name, cursor_offset(c) - 1,
				 "neither little-endian nor big-endian");
	h->big_endian = c->big_endian = n;
	if (cursor_number(c, 1, &n, e))
		return -1;
	h->program_long = n == 4 ? 4 : 8;
	if (cursor_number(c, 4, &n, e))
		return -1;
	h->page_size = (uint32_t)n;
	if (h->version < 7)
		return 0;
	return prefix_text(c, h->compression, sizeof h->compression, e) ||
			       prefix_text(c, h->compression_version, sizeof h->compression_version,
					   e) ||
			       cursor_number(c, 8, options, e)
		       ? -1
		       : 0;
}

/* Read everything but the events. Damage is reported as the input's. Returns 0, or -1: out of
 * memory, the file cannot be read, or its version is unknown. */
static int tracecmd_header_read(struct tracecmd_header *h, struct input *in, struct error *e)
{
	struct ring_cursor c = {.file = &h->file, .size = h->file.size};
	uint64_t options = 0;
	struct error damage = {.what = ""};
	int result;

	h->input = in;
	if (read_prefix(h, &c, &options, e))
		return -1;
	h->unpacker.method = tracecmd_compression(h->compression);
	/* damage after the prefix: what was read before the damage is kept */
	result = h->version < 7 ? tracecmd_read_v6(h, c.pos, &damage)
				: tracecmd_read_v7(h, c.pos, options, &damage);
	if (result && !damage.file[0]) {
		*e = damage;
		return -1;
	}
	if (result)
		input_damage_error(in, &damage);
	return 0;
}

static void tracecmd_header_free(struct tracecmd_header *h)
{
	struct buffer *const texts[] = {&h->header_page, &h->header_event, &h->kallsyms,
					&h->printk,	 &h->cmdlines,	   &h->btf,
					&h->modules,	 &h->options};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		buffer_free(texts[i]);
	intern_free(&h->v7.sections);
	intern_free(&h->v7.names);
	for (size_t i = 0; i < h->nformats; i++) {
		free(h->formats[i].system);
		free(h->formats[i].text);
	}
	for (size_t i = 0; i < h->nbuffers; i++) {
		free(h->buffers[i].name);
		free(h->buffers[i].clock);
		free(h->buffers[i].rows);
	}
	for (size_t i = 0; i < h->ninstances; i++)
		free(h->instances[i].name);
	for (size_t i = 0; i < h->link.nsync; i++)
		free(h->link.sync[i].sample);
	free(h->link.sync);
	free(h->link.guests);
	free(h->formats);
	free(h->buffers);
	free(h->instances);
	free(h->times.clock);
	free(h->uname);
	free(h->recorder);
	tracecmd_unpacker_free(&h->unpacker);
	tracecmd_file_close(&h->file);
}

/*
 * Convert times of the ring buffer's clock to those that `trace-cmd report` prints.
 *
 * In its order: the guest's clock to the host's; TSC to nanoseconds; date and offset.
 */

static void tracecmd_clock(struct tracecmd *t)
{
	const struct tracecmd_header *h = &t->h;
	struct input *in = t->input;
	const char *name = h->times.clock;
	bool raw = in->decoding->clock == CLOCK_RAW;

	for (size_t i = 0; !name && i < h->nbuffers; i++)
		if (h->buffers[i].clock && *h->buffers[i].clock)
			name = h->buffers[i].clock;
	if (!name || !*name)
		name = "local";
	t->raw = raw;
	t->tsc = h->times.has_tsc && !raw;
	t->sync = h->link.sync && !raw;
	if (t->tsc)
		name = "tsc2nsec";
	in->clock_name = name;
	in->ticks = !strcmp(name, "counter") || !strcmp(name, "x86-tsc") ||
		    !strcmp(name, "ppc-tb") || !strcmp(name, "s390-tod");
	in->trace_id = h->link.trace_id;
	in->host_id = h->link.peer_id;
	in->on_host_clock = t->sync;
	if (!raw) {
		in->guest_ids = h->link.guests;
		in->nguest_ids = h->link.nguests;
	}
	if (h->times.has_date) {
		in->has_wall = true;
		in->wall = raw ? h->times.date + h->times.offset : 0;
	}
	if (!raw)
		t->shift = h->times.date + h->times.offset;
}

/* Convert by the first of two samples; interpolate: along the line through both. */
static int128 time_correct(uint64_t time, const struct tracecmd_sync *a,
			   const struct tracecmd_sync *b, bool interpolate)
{
	unsigned bits = a->fraction < 127 ? (unsigned)a->fraction : 127;
	uint128 product = (uint128)time * a->scaling >> bits;
	int128 span = (int128)b->time - a->time, offset = a->offset;
	/* 64 bits: the product below has less than 128 */
	int64_t change = saturated_i64((int128)b->offset - a->offset);

	if (interpolate && span > 0)
		offset += (((int128)time - a->time) * change + span / 2) / span;
	/* what exceeds 64 bits is beyond all times */
	return (int128)(product > UINT64_MAX ? UINT64_MAX : product) + offset;
}

/* Convert the guest's time to the host's. */
static int128 time_synchronise(const struct tracecmd_header *h, uint32_t cpu, uint64_t time)
{
	const struct tracecmd_sync *sample;
	uint32_t count = cpu < h->link.nsync ? h->link.sync[cpu].count : 0;

	if (!count)
		return time;
	sample = h->link.sync[cpu].sample;
	if (count == 1)
		return (int128)time + sample->offset;
	/* the samples around the time, or the outermost two */
	sample += BISECT(count - 2, i, sample[i + 1].time <= time);
	return time_correct(time, sample, sample + 1, h->link.interpolate);
}

uint64_t tracecmd_time_slow(const struct tracecmd *t, uint32_t cpu, uint64_t time)
{
	int128 out = t->sync ? time_synchronise(&t->h, cpu, time) : time;

	/* a product of 96 bits */
	if (t->tsc)
		out = (int128)saturated_u64(out) * t->h.times.tsc_mult >> t->h.times.tsc_shift;
	/* times below 0 become 0, times beyond the limit the limit */
	time = saturated_u64(out + t->shift);
	return time - (time == UINT64_MAX);
}

/*
 * Declare in the stream what a trace.dat has before its events, and the parts that symbolising,
 * printing and encoding need.
 */

static int tracecmd_send_meta(struct tracecmd *t, const char *name, const struct buffer *b)
{
	return b->size ? writer_meta(t->w, t->source, name, b->data, b->size) : 0;
}

/* Write the prefix as a META, with the conversion of times. */
static int send_file(struct tracecmd *t)
{
	const struct tracecmd_header *h = &t->h;
	struct buffer b = {0};
	int result = buffer_printf(&b,
				   "version %u\nlong_size %u\npage_size %u\ncompression %s\n"
				   "compression_version %s\ntime_added %lld\ncpus %u\n",
				   h->version, h->program_long, h->page_size,
				   *h->compression ? h->compression : "none",
				   h->compression_version, (long long)t->shift, h->cpus);

	/* the part of the sum that the options do not give (--offset) */
	if (t->input->shift && !result)
		result = buffer_printf(&b, "offset_added %lld\n", (long long)t->input->shift);
	result = result || tracecmd_send_meta(t, "file", &b) ? -1 : 0;
	buffer_free(&b);
	return result;
}

static int send_buffers(struct tracecmd *t)
{
	struct buffer b = {0};
	int result = 0;

	for (size_t i = 0; i < t->h.nbuffers && !result; i++) {
		const struct tracecmd_buffer *from = &t->h.buffers[i];

		result = buffer_printf(&b, "%s\t%s\t%u\t%u\n", from->name,
				       from->clock ? from->clock : "", from->page_size, t->h.cpus);
	}
	if (!result)
		result = tracecmd_send_meta(t, "buffers", &b);
	buffer_free(&b);
	return result;
}

/* Write all formats: a format without events is in no type of the stream. */
static int send_formats(struct tracecmd *t)
{
	struct buffer b = {0};
	int result = 0;

	for (size_t i = 0; i < t->h.nformats && !result; i++) {
		const char *system = t->h.formats[i].system;
		size_t n = strlen(system), size = t->h.formats[i].size;

		result = buffer_u32(&b, (uint32_t)n) || buffer_u32(&b, (uint32_t)size) ||
					 buffer_append(&b, system, n) ||
					 buffer_append(&b, t->h.formats[i].text, size)
				 ? -1
				 : 0;
	}
	if (!result)
		result = tracecmd_send_meta(t, "formats", &b);
	buffer_free(&b);
	return result;
}

static int tracecmd_declare_space(struct tracecmd *t)
{
	struct writer *w = t->w;
	struct map_entry map = {.end = UINT64_MAX,
				.path = writer_text(w, "[kernel]"),
				.table = writer_text(w, t->h.kallsyms.size ? "kallsyms" : NULL)};

	t->space = writer_space(w, &(struct space_entry){.source = t->source,
							 .name = writer_text(w, "kernel"),
							 .flags = SPACE_KERNEL});
	map.space = t->space;
	return t->space ? writer_map(w, &map) : -1;
}

/* Declare source, clock and META. */
static int tracecmd_declare(struct tracecmd *t)
{
	struct writer *w = t->w;
	struct input *in = t->input;
	struct tracecmd_header *h = &t->h;

	t->source = writer_source(w, &(struct source_entry){writer_text(w, "trace-cmd"),
							    writer_text(w, in->name),
							    t->layout.long_size, h->big_endian});
	t->clock = input_declare_clock(in, in->has_wall && !merge_wall(in));
	if (!t->source || !t->clock || tracecmd_send_meta(t, "kallsyms", &h->kallsyms) ||
	    tracecmd_declare_space(t) || send_file(t) || send_buffers(t) ||
	    tracecmd_send_meta(t, "header_page", &h->header_page) ||
	    tracecmd_send_meta(t, "header_event", &h->header_event) ||
	    tracecmd_send_meta(t, "printk_formats", &h->printk) ||
	    tracecmd_send_meta(t, "saved_cmdlines", &h->cmdlines) ||
	    tracecmd_send_meta(t, "options", &h->options) || send_formats(t) ||
	    tracecmd_send_meta(t, "btf", &h->btf) || tracecmd_send_meta(t, "modules", &h->modules))
		return -1;
	/* large, and no longer needed */
	buffer_free(&h->kallsyms);
	buffer_free(&h->btf);
	return 0;
}

/*
 * The stacks of kernel_stack, user_stack and function.
 *
 * The frames of kernel_stack are those of the kernel. The frames of user_stack are in the space of
 * its process, whose mappings are those of the option PROCMAPS: for each process a line "PID COUNT
 * COMMAND" and COUNT lines "START END PATH", all numbers hexadecimal. The lines have no offsets:
 * the segments of a file are taken to be as far apart in the file as in memory.
 */

/* --- spaces of processes --- */

/* Take a hexadecimal number, and the blank after it, off the front of a line. */
static bool take_hex(struct lines *l, uint64_t *number)
{
	const char *p = l->line, *end = l->line + l->size;

	if (!digits_hex(&p, end, number) || (p < end && *p != ' '))
		return false;
	p += p < end;
	l->line += p - l->line;
	l->size = (size_t)(end - p);
	return true;
}

/* Declare the mappings of a process from an option, which may be of another. */
static int tracecmd_declare_maps(struct tracecmd *t, uint32_t space, uint32_t process,
				 const uint8_t *text, size_t size)
{
	uint64_t pid, count = 0, base = 0;
	uint32_t path = 0;
	bool wanted = false;

	for (struct lines l = lines_of((const char *)text, size); lines_next(&l);) {
		struct map_entry map = {.space = space};

		if (!count) {
			if (!take_hex(&l, &pid) || !take_hex(&l, &count))
				return 0;
			wanted = pid == process;
			continue;
		}
		count--;
		if (!wanted || !take_hex(&l, &map.start) || !take_hex(&l, &map.end) ||
		    map.end <= map.start || !l.size)
			continue;
		map.path = writer_string(t->w, l.line, strnlen(l.line, l.size));
		base = map.path == path ? base : map.start;
		path = map.path;
		map.offset = map.start - base;
		if (writer_map(t->w, &map))
			return -1;
	}
	return 0;
}

/* Get the space of a process. 0: out of memory. */
static uint32_t tracecmd_space_of(struct tracecmd *t, uint32_t process)
{
	uint32_t space = idmap_get(&t->spaces, process);
	const struct buffer *options = &t->h.options;
	char name[24];

	if (space)
		return space;
	snprintf(name, sizeof name, "pid.%u", process);
	space = writer_space(t->w, &(struct space_entry){.source = t->source,
							 .name = writer_text(t->w, name),
							 .pid = (int32_t)process});
	if (!space || idmap_set(&t->spaces, process, space))
		return 0;
	for (size_t at = 0; options->size - at >= 8;) {
		uint32_t size = get_u32(options->data + at + 4);

		if (size > options->size - at - 8)
			break;
		if (get_u32(options->data + at) == TRACECMD_PROCMAPS &&
		    tracecmd_declare_maps(t, space, process, options->data + at + 8, size))
			return 0;
		at += 8 + (size_t)size;
	}
	return space;
}

/* --- frames --- */

static uint32_t tracecmd_location(struct tracecmd *t, uint64_t address)
{
	size_t i = hash_u64(address) % LOCATION_SLOTS;

	if (t->locations[i].address != address || !t->locations[i].location) {
		t->locations[i].address = address;
		t->locations[i].location = writer_location(
			t->w, &(struct location_entry){.space = t->space, .address = address});
	}
	return t->locations[i].location;
}

/* Declare the stack of a function and its caller. */
static uint32_t stack_of_pair(struct tracecmd *t, uint64_t address, uint64_t parent)
{
	size_t i = hash_u64(address ^ parent * 31) % LOCATION_SLOTS;
	uint32_t locations[2];

	if (t->pairs[i].stack && t->pairs[i].address == address && t->pairs[i].parent == parent)
		return t->pairs[i].stack;
	locations[0] = tracecmd_location(t, address);
	locations[1] = tracecmd_location(t, parent);
	t->pairs[i].stack = locations[0] && locations[1] ? writer_stack_of(t->w, locations, 2) : 0;
	t->pairs[i].address = address;
	t->pairs[i].parent = parent;
	return t->pairs[i].stack;
}

/* Put the locations of the frames in t->frames. -1: out of memory. */
static int tracecmd_take_frames(struct tracecmd *t, const struct ftrace_event *v,
				const struct ring_record *r)
{
	struct number_at at = v->stack.caller;
	bool big = t->h.big_endian;
	uint64_t most = UINT64_MAX, end = at.size == 4 ? UINT32_MAX : UINT64_MAX;
	uint32_t space = t->space, location;

	t->frames.size = 0;
	if (v->stack.count.size && ftrace_number_fits(r, v->stack.count))
		most = event_format_ftrace_number(r, v->stack.count, big);
	if (v->stack.tgid.size && ftrace_number_fits(r, v->stack.tgid))
		space = tracecmd_space_of(
			t, (uint32_t)event_format_ftrace_number(r, v->stack.tgid, big));
	if (!space)
		return -1;
	for (; most && ftrace_number_fits(r, at); most--, at.offset += at.size) {
		uint64_t address = event_format_ftrace_number(r, at, big);

		/* what is not used of an array of a fixed size */
		if (!address || address == end)
			break;
		location = space == t->space
				   ? tracecmd_location(t, address)
				   : writer_location(t->w,
						     &(struct location_entry){.space = space,
									      .address = address});
		if (!location || buffer_u32(&t->frames, location))
			return -1;
	}
	return 0;
}

/* Declare the stack of a record, of whose event v has one. 0: it has no frame, or out of
 * memory, which *bad shows. */
static uint32_t tracecmd_stack(struct tracecmd *t, const struct ftrace_event *v,
			       const struct ring_record *record, bool *bad)
{
	bool big = t->h.big_endian;
	uint32_t stack;
	size_t n;

	if (v->stack.is_parent) {
		if (!v->address.size || !ftrace_number_fits(record, v->address) ||
		    !ftrace_number_fits(record, v->stack.caller))
			return 0;
		stack = stack_of_pair(t, event_format_ftrace_number(record, v->address, big),
				      event_format_ftrace_number(record, v->stack.caller, big));
		*bad = !stack;
		return stack;
	}
	*bad = tracecmd_take_frames(t, v, record) != 0;
	n = t->frames.size / 4;
	if (*bad || !n)
		return 0;
	stack = writer_stack_of(t->w, (const uint32_t *)(void *)t->frames.data, n);
	*bad = !stack;
	return stack;
}

/*
 * Skip pages before the first wanted time, and CPUs that are not wanted.
 *
 * The times of a CPU's pages ascend, so the first wanted page is found by bisection, and pages
 * before it are never read. Of compressed pages, the lengths of all chunks are read to find each
 * chunk, and only a few chunks are unpacked. Where a tenth of the recording of t/bench/trace-cmd.sh
 * is wanted, 'trdecode --since TIME | trstat' takes 5.7 times the instructions without either of
 * skip_pages and tracecmd_late.
 */

/* A CPU's data that are not yet read, in pieces: pages, or chunks of pages, or runs of chunks. */
struct pieces {
	const struct tracecmd *t;
	struct tracecmd_reader *r;
	uint64_t count;
	/* of runs of chunks: where each run begins */
	uint64_t *offsets;
	uint64_t run; /* chunks in a run */
	struct buffer page;
};

enum {
	RUNS_MOST = 1 << 16,
	CHUNKS_LEAST = 16, /* fewer chunks are read, not searched */
};

/* Find where runs of chunks begin. If there are many chunks, a run has more than one. */
static bool find_runs(struct pieces *p)
{
	const struct cpu_data *c = &p->r->data;
	uint64_t offset = c->offset, n = c->chunks;

	if (n < CHUNKS_LEAST)
		return false;
	p->run = n / RUNS_MOST + 1;
	p->offsets = calloc((size_t)(n / p->run) + 1, sizeof *p->offsets);
	for (uint64_t i = 0; p->offsets && i < n; i++) {
		if (i % p->run == 0)
			p->offsets[p->count++] = offset;
		if (!cpu_data_chunk(c, offset, NULL, &offset))
			return false;
	}
	return p->offsets;
}

static bool find_pieces(struct pieces *p, const struct tracecmd *t, struct tracecmd_reader *r)
{
	const struct cpu_data *c = &r->data;

	*p = (struct pieces){.t = t, .r = r};
	if (c->unpacker)
		return find_runs(p);
	p->count = (c->end - c->offset) / c->page_size;
	return true;
}

static void free_pieces(struct pieces *p)
{
	free(p->offsets);
	buffer_free(&p->page);
}

/* Read the time of the first page of piece n. -1: it cannot be read. */
static int piece_time(struct pieces *p, uint64_t n, uint64_t *time)
{
	const struct cpu_data *c = &p->r->data;
	uint8_t stamp[8];
	uint64_t next;
	struct error e;

	if (c->unpacker) {
		if (!cpu_data_chunk(c, p->offsets[n], &p->page, &next) ||
		    p->page.size < sizeof stamp)
			return -1;
		memcpy(stamp, p->page.data, sizeof stamp);
	} else if (tracecmd_file_read(c->file, stamp, sizeof stamp, c->offset + n * c->page_size,
				      &e) != sizeof stamp) {
		return -1;
	}
	*time = tracecmd_time(p->t, p->r->cpu, get_uint(stamp, 8, p->t->layout.big_endian));
	return 0;
}

/* Drop what was read of this CPU, and continue at offset. */
static void go_on_at(struct cpu_data *c, uint64_t offset)
{
	c->offset = offset;
	c->at = c->window.size;
	c->page = (struct ring_page){0};
}

static void skip_pages(const struct tracecmd *t, struct tracecmd_reader *r, uint64_t first)
{
	uint64_t low = 0, high, at, before, time;
	struct cpu_data *c = &r->data;
	struct pieces p;

	if (!find_pieces(&p, t, r))
		goto out;
	high = p.count;
	/* piece low is at most `first`; piece high is later, or does not exist */
	if (!high || piece_time(&p, 0, &time) || time > first)
		goto out;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (piece_time(&p, middle, &time))
			goto out;
		if (time > first)
			high = middle;
		else
			low = middle;
	}
	/* a damaged time has misled the search: everything is read */
	if (low && (piece_time(&p, low, &at) || piece_time(&p, low - 1, &before) || before > at))
		goto out;
	if (c->unpacker) {
		c->chunks -= low * p.run;
		go_on_at(c, p.offsets[low]);
	} else {
		go_on_at(c, c->offset + low * c->page_size);
	}
out:
	free_pieces(&p);
}

/* Find the time of the last page (struct decoder, late). */
static bool tracecmd_late(struct input *in, uint64_t *latest)
{
	struct tracecmd *t = in->state;

	for (size_t i = 0; i < t->nreaders; i++) {
		struct tracecmd_reader *r = &t->readers[i];
		struct pieces p;
		uint64_t time;

		if (r->text)
			continue;
		if (r->due.time != UINT64_MAX && r->due.time > *latest)
			*latest = r->due.time;
		if (find_pieces(&p, t, r) && p.count && !piece_time(&p, p.count - 1, &time) &&
		    time > *latest)
			*latest = time;
		free_pieces(&p);
	}
	return false;
}

/* Skip what is not wanted, before the first event is written. */
static void tracecmd_skip(struct tracecmd *t)
{
	const struct row_filter *l = t->input->decoding->row_filter;

	if (t->skipped || !l)
		return;
	t->skipped = true;
	for (size_t i = 0; i < t->nreaders; i++) {
		struct tracecmd_reader *r = &t->readers[i];

		if (r->text)
			continue;
		if (!row_filter_cpu(l, r->cpu)) {
			r->data.chunks = 0;
			go_on_at(&r->data, r->data.end);
		} else if (l->first_time) {
			skip_pages(t, r, l->first_time);
		}
	}
}

/* --- declare types and lanes, and write rows --- */

/* Where the common fields are, if no format gives them. */
static const struct number_at usual_type = {0, 2}, usual_pid = {4, 4};

static int tracecmd_read_formats(struct tracecmd *t, struct error *e)
{
	struct ftrace_events *v = &t->events;
	uint64_t bad = 0;

	for (size_t i = 0; i < t->h.nformats; i++) {
		const char *system = t->h.formats[i].system;

		switch (ftrace_events_add(v, system, strlen(system), t->h.formats[i].text,
					  t->h.formats[i].size, t->layout.long_size)) {
		case FTRACE_NO_MEMORY: return error_no_memory(e);
		case FTRACE_NO_FORMAT: bad++; break;
		case FTRACE_KNOWN:
		case FTRACE_ADDED: break;
		}
	}
	if (ftrace_events_kinds(v))
		return error_no_memory(e);
	if (t->h.uname && strrchr(t->h.uname, ' '))
		v->machine = strrchr(t->h.uname, ' ') + 1;
	if (!v->type.size) {
		v->type = usual_type;
		v->pid = usual_pid;
	}
	t->common_end = v->pid.offset + 4;
	if (t->common_end < v->type.offset + 2)
		t->common_end = v->type.offset + 2;
	if (bad)
		input_damage(t->input, t->h.file.name, NO_OFFSET,
			     "%llu event formats cannot be understood", (unsigned long long)bad);
	return 0;
}

/* --- declaring types --- */

/* Get the length of a name without the mark that distinguishes equal names. */
static size_t tracecmd_plain_size(const char *name, size_t n)
{
	size_t mark = sizeof TRACECMD_ANOTHER - 1, end = n;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	/* the mark ends with a letter */
	return end < n && name[end] != '0' && end > mark &&
			       !memcmp(name + end - mark, TRACECMD_ANOTHER, mark)
		       ? end - mark
		       : n;
}

/* Get the id of the name as it was before trencode escaped it with that mark; 0: out of
 * memory. */
static uint32_t tracecmd_name_of(struct tracecmd *t, const char *name, size_t n, char mark)
{
	uint32_t string;
	char *copy;

	if (!mark || !memchr(name, mark, n))
		return writer_string(t->w, name, n);
	copy = malloc(n);
	if (!copy)
		return 0;
	memcpy(copy, name, n);
	string = writer_string(t->w, copy, escape_undo(copy, n, mark));
	free(copy);
	return string;
}

/* Declare the type of an event, or of marks that its records are. */
static uint32_t events_declare_type(struct tracecmd *t, const struct ftrace_event *v,
				    const struct atrace_row *mark)
{
	struct field_entry fields[FTRACE_FIELDS + ATRACE_FIELDS + 2];
	struct writer *w = t->w;
	const struct event_format *f = &v->format;
	bool with_time = t->tsc || t->sync;
	uint32_t time_size = with_time ? 8 : 0;
	struct type_entry e = {.source = t->source,
			       .kind = (uint8_t)v->kind,
			       .word_size = t->layout.long_size,
			       .flags = TYPE_TAIL | (t->h.big_endian ? TYPE_BIG_ENDIAN : 0),
			       .fixed_size = time_size + (v->stack.caller.size ? 4 : 0),
			       .native = f->id,
			       .fields = fields};

	if (v->system) {
		char escape = f->escaped ? '_' : 0;

		e.name = tracecmd_name_of(t, f->name, tracecmd_plain_size(f->name, f->name_size),
					  escape);
		e.group = tracecmd_name_of(t, v->system, v->system_size, escape);
		e.declaration = writer_string(w, v->text, v->text_size);
	} else {
		char name[32];

		snprintf(name, sizeof name, "unknown:%u", f->id);
		e.name = writer_text(w, name);
	}
	if (v->kind != KIND_INSTANT)
		e.flags |= TYPE_DEPTH;
	if (with_time)
		fields[e.nfields++] = (struct field_entry){.name = writer_text(w, "raw_time"),
							   .kind = FIELD_UINT,
							   .role = ROLE_SOURCE_TIME,
							   .where = WHERE_FIXED,
							   .size = 8};
	if (v->stack.caller.size)
		fields[e.nfields++] = (struct field_entry){.name = writer_text(w, "stack"),
							   .kind = FIELD_UINT,
							   .role = ROLE_STACK,
							   .where = WHERE_FIXED,
							   .offset = time_size,
							   .size = 4};
	if (mark)
		atrace_set_type(mark, w, fields, &e);
	ftrace_fields(&t->events, v, w, fields, &e);
	return writer_type(w, &e);
}

/* --- lanes --- */

static int tracecmd_read_comms(struct tracecmd *t, struct error *e)
{
	const char *text = (char *)t->h.cmdlines.data;

	for (struct lines l = lines_of(text, t->h.cmdlines.size); lines_next(&l);) {
		uint32_t pid = 0;
		const char *q = l.line;

		while (q < l.end && *q >= '0' && *q <= '9' && pid < 1u << 28)
			pid = pid * 10 + (uint32_t)(*q++ - '0');
		if (q > l.line && pid && !idmap_get(&t->comms, pid) &&
		    (size_t)(q - text) < UINT32_MAX - 1 &&
		    idmap_set(&t->comms, pid, (uint32_t)(q - text) + 1))
			return error_no_memory(e);
	}
	return 0;
}

static uint32_t tracecmd_comm_of(struct tracecmd *t, int32_t pid)
{
	uint32_t at = pid ? idmap_get(&t->comms, (uint32_t)pid) : 0;
	const char *text, *end, *recorder = t->h.recorder;
	bool own = recorder && !strncmp(recorder, TRACECMD_OWN, sizeof TRACECMD_OWN - 1);

	if (!at)
		return pid ? idmap_get(&t->learned, (uint32_t)pid) : writer_text(t->w, "<idle>");
	text = (char *)t->h.cmdlines.data + at - 1;
	end = (char *)t->h.cmdlines.data + t->h.cmdlines.size;
	while (text < end && *text == ' ')
		text++;
	return tracecmd_name_of(t, text, strcspn(text, "\n"), own ? '\\' : 0);
}

static struct lane_entry tracecmd_lane_entry(const struct tracecmd *t,
					     const struct tracecmd_reader *r)
{
	return (struct lane_entry){.source = t->source,
				   .clock = t->clock,
				   .buffer = r->buffer_name,
				   .flags = LANE_HAS_CPU,
				   .cpu = (int32_t)r->cpu};
}

static uint32_t tracecmd_lane(struct tracecmd *t, struct tracecmd_reader *r, int32_t pid)
{
	struct idmap *lanes = idmap_get(&t->learned, (uint32_t)pid) ? &r->named : &r->lanes;
	uint32_t lane = idmap_get(lanes, (uint32_t)pid);
	struct lane_entry entry;

	if (lane)
		return lane;
	entry = tracecmd_lane_entry(t, r);
	entry.flags |= LANE_HAS_TID;
	entry.tid = pid;
	entry.comm = tracecmd_comm_of(t, pid);
	lane = writer_lane(t->w, &entry);
	return lane && !idmap_set(lanes, (uint32_t)pid, lane) ? lane : 0;
}

/* Learn the names of threads that saved_cmdlines lacks, for the records after this one. */
static int tracecmd_learn_names(struct tracecmd *t, const struct ftrace_event *v,
				const struct ring_record *record)
{
	for (unsigned i = 0; i < 2 && v->tasks[i].comm.size; i++) {
		const struct task_at *at = &v->tasks[i];
		const char *name = (const char *)record->data + at->comm.offset;
		size_t n = ftrace_number_fits(record, at->comm) ? strnlen(name, at->comm.size) : 0;
		uint32_t tid, comm;

		if (!n || !ftrace_number_fits(record, at->tid))
			continue;
		tid = (uint32_t)event_format_ftrace_number(record, at->tid, t->h.big_endian);
		if (!tid || idmap_get(&t->comms, tid) || idmap_get(&t->learned, tid))
			continue;
		comm = writer_string(t->w, name, n);
		if (!comm || idmap_set(&t->learned, tid, comm))
			return -1;
		t->nlearned++; /* the thread gets new lanes, with the name */
	}
	return 0;
}

/* Write a gap of no thread. */
static int tracecmd_gap(struct tracecmd *t, struct tracecmd_reader *r, uint64_t time,
			const struct gap *g)
{
	if (!r->bare_lane) {
		struct lane_entry entry = tracecmd_lane_entry(t, r);

		r->bare_lane = writer_lane(t->w, &entry);
	}
	return r->bare_lane ? writer_gap(t->w, time, r->bare_lane, g) : -1;
}

/* --- rows --- */

/* Write the row of a record that is too short for its type and thread. */
static int emit_short(struct tracecmd *t, struct tracecmd_reader *r)
{
	struct gap g = {.reason = GAP_DAMAGE,
			.unit = GAP_EVENTS,
			.count = 1,
			.offset = NO_OFFSET,
			.file = t->h.file.name,
			.message = "a record shorter than its common fields"};

	input_damage(t->input, t->h.file.name, NO_OFFSET, "%s (CPU %u)", g.message, r->cpu);
	return tracecmd_gap(t, r, r->due.time, &g);
}

/* Get the event of an id without a format, with its type declared. NULL: out of memory. */
static struct ftrace_event *unknown_type(struct tracecmd *t, uint16_t id)
{
	struct ftrace_event *v = ftrace_events_unknown(&t->events, id);

	if (v)
		v->type = events_declare_type(t, v, NULL);
	return v && v->type ? v : NULL;
}

/* Declare all types. */
static int tracecmd_announce_types(struct tracecmd *t)
{
	for (size_t i = 0; i < t->events.count; i++) {
		struct ftrace_event *v = &t->events.event[i];

		v->type = events_declare_type(t, v, NULL);
		if (!v->type || row_filter_announce(t->input->decoding->row_filter, v->type, 0))
			return -1;
	}
	return 0;
}

/* Write a record with its time if the file has ticks, with its stack, or where it does not fit the
 * block. */
static __attribute__((noinline)) int emit_row(struct tracecmd *t, const struct tracecmd_reader *r,
					      const struct ftrace_event *v, uint32_t location,
					      uint32_t depth)
{
	uint8_t fixed[12];
	uint32_t stack, fixed_size = t->tsc || t->sync ? 8 : 0;
	bool bad = false;

	put_u64(fixed, r->record.time);
	if (v->stack.caller.size) {
		stack = tracecmd_stack(t, v, &r->record, &bad);
		if (bad || (stack && writer_use_stack(t->w, stack)))
			return -1;
		put_u32(fixed + fixed_size, stack);
		fixed_size += 4;
	}
	return writer_row_data(t->w, (struct new_row){.time = r->due.time,
						      .lane = r->lane,
						      .type = v->type,
						      .location = location,
						      .depth = depth,
						      .fixed = fixed,
						      .fixed_size = fixed_size,
						      .tail = r->record.data,
						      .tail_size = r->record.size,
						      .has_tail = true});
}

/* Write a record whose text may be a mark. Returns 1; 0: it is none; -1: an error. */
static __attribute__((noinline)) int
tracecmd_mark(struct tracecmd *t, const struct tracecmd_reader *r, const struct ftrace_event *v)
{
	size_t index = (size_t)(v - t->events.event);
	struct atrace_record record = {.event = v,
				       .data = r->record.data,
				       .size = r->record.size,
				       .thread = r->pid,
				       .long_size = t->layout.long_size,
				       .big_endian = t->h.big_endian};
	uint32_t fixed_size = t->tsc || t->sync ? 8 : 0, *type;
	uint8_t fixed[8 + ATRACE_FIXED];
	struct atrace_row mark;
	int got = atrace_event_row(&t->marks, t->w, index, &record, &mark);

	if (got <= 0)
		return got;
	type = atrace_type(&t->marks, t->w, index, &mark);
	if (!type)
		return -1;
	if (!*type) {
		*type = events_declare_type(t, v, &mark);
		if (!*type || row_filter_announce(t->input->decoding->row_filter, *type, 0))
			return -1;
	}
	put_u64(fixed, r->record.time);
	fixed_size += atrace_put_fixed(&mark, fixed + fixed_size);
	return writer_row_data(t->w, (struct new_row){.time = r->due.time,
						      .lane = r->lane,
						      .type = *type,
						      .location = mark.location,
						      .fixed = fixed,
						      .fixed_size = fixed_size,
						      .tail = r->record.data,
						      .tail_size = r->record.size,
						      .has_tail = true})
		       ? -1
		       : 1;
}

/* Write the next record. */
static int tracecmd_emit(struct tracecmd *t, struct tracecmd_reader *r)
{
	const struct ring_record *record = &r->record;
	bool big = t->h.big_endian, with_time = t->tsc || t->sync;
	const struct ftrace_event *v;
	uint32_t pid, location = 0, depth = 0;
	uint16_t id;
	int mark;

	if (__builtin_expect(record->size < t->common_end, 0))
		return emit_short(t, r);
	id = (uint16_t)get_uint(record->data + t->events.type.offset, 2, big);
	pid = (uint32_t)get_uint(record->data + t->events.pid.offset, 4, big);
	if (__builtin_expect(pid != r->pid || !r->lane || r->nlearned != t->nlearned, 0)) {
		r->lane = tracecmd_lane(t, r, (int32_t)pid);
		r->pid = pid;
		r->nlearned = t->nlearned;
		if (!r->lane)
			return -1;
	}
	v = ftrace_events_find(&t->events, id);
	if (__builtin_expect(!v, 0)) {
		v = unknown_type(t, id);
		if (!v)
			return -1;
	}
	if (!v->system)
		t->unknown++;
	if (v->address.size && record->size >= v->least) {
		location =
			tracecmd_location(t, event_format_ftrace_number(record, v->address, big));
		if (!location)
			return -1;
		t->marks.calls.graph |= v->depth.size != 0;
		if (v->depth.size)
			depth = (uint32_t)event_format_ftrace_number(record, v->depth, big);
	}
	r->last = r->due.time;
	if (__builtin_expect(v->mark, 0) && (mark = tracecmd_mark(t, r, v)))
		return mark < 0 ? -1 : 0;
	/* with emit_row for all: 'trdecode | trstat -g type' of t/bench/trace-cmd.sh takes 1.13
	 * times the instructions */
	if (__builtin_expect(!with_time && !v->stack.caller.size, 1)) {
		struct new_row row = {.time = r->due.time,
				      .lane = r->lane,
				      .type = v->type,
				      .location = location,
				      .depth = depth};
		uint8_t *p = writer_row_reserve(t->w, &row, 4 + (size_t)record->size);

		if (__builtin_expect(p != NULL, 1)) {
			put_u32(p, record->size);
			writer_copy_words(p + 4, record->data, record->size);
			return v->tasks[0].comm.size ? tracecmd_learn_names(t, v, record) : 0;
		}
	}
	return emit_row(t, r, v, location, depth) ? -1 : tracecmd_learn_names(t, v, record);
}

/* --- print a trace.dat's properties for --info --- */

static uint64_t data_bytes(const struct tracecmd_buffer *b)
{
	uint64_t sum = b->text_size;

	for (size_t i = 0; i < b->nrows; i++)
		sum += b->rows[i].size;
	return sum;
}

static void buffer_facts(struct trace_info *f, const struct tracecmd_buffer *b)
{
	char name[160], value[160];

	if (*b->name)
		snprintf(name, sizeof name, "instance %.128s", b->name);
	else
		snprintf(name, sizeof name, "top buffer");
	snprintf(value, sizeof value, "%zu CPUs with data, %llu bytes, sub-buffers of %u", b->nrows,
		 (unsigned long long)data_bytes(b), b->page_size);
	if (b->text)
		snprintf(value, sizeof value, "text of a latency tracer, %llu bytes",
			 (unsigned long long)b->text_size);
	fact_text(f, name, value);
}

static int tracecmd_info(struct input *in, struct trace_info *f, struct error *e)
{
	const struct tracecmd *t = in->state;
	const struct tracecmd_header *h = &t->h;
	char text[64];

	(void)e;
	fact_text(f, "format", "trace-cmd");
	fact_number(f, "version", h->version);
	fact_text(f, "byte order", h->big_endian ? "big-endian" : "little-endian");
	fact_number(f, "word size", t->layout.long_size);
	if (h->version >= 7) {
		snprintf(text, sizeof text, "%s %s", h->compression, h->compression_version);
		fact_text(f, "compression", text);
	}
	fact_text(f, "clock", in->clock_name);
	if (h->times.has_date) {
		snprintf(text, sizeof text, "%lld", (long long)h->times.date);
		fact_text(f, "date offset", text);
	}
	if (h->times.has_offset) {
		snprintf(text, sizeof text, "%lld", (long long)h->times.offset);
		fact_text(f, "time offset", text);
	}
	if (h->times.has_tsc) {
		snprintf(text, sizeof text, "* %u >> %u", h->times.tsc_mult, h->times.tsc_shift);
		fact_text(f, "tsc to ns", text);
	}
	fact_text(f, "kernel", h->uname);
	fact_text(f, "recorded by", h->recorder);
	if (h->link.trace_id) {
		snprintf(text, sizeof text, "%llx", (unsigned long long)h->link.trace_id);
		fact_text(f, "trace id", text);
	}
	fact_number(f, "cpus", h->cpus);
	fact_number(f, "guests", h->link.nguests);
	fact_number(f, "event formats", t->events.count);
	for (size_t i = 0; i < h->nbuffers; i++)
		buffer_facts(f, &h->buffers[i]);
	return 0;
}

/* --- the decoder of trace-cmd's trace.dat: open it, and merge its CPUs by time --- */

/* Bytes read ahead: shared by all CPUs, and at most for each. */
enum { READ_AHEAD = 4 << 20, READ_AHEAD_EACH = 128 * 1024 };

static enum bid tracecmd_probe(const struct input *in)
{
	return in->head_size >= TRACECMD_MAGIC_SIZE &&
			       !memcmp(in->head, TRACECMD_MAGIC, TRACECMD_MAGIC_SIZE)
		       ? BID_HEADER
		       : BID_NONE;
}

/* Get the bytes of a sub-buffer, where the file gives no valid size. */
static uint32_t usual_page_size(const struct tracecmd *t, uint32_t data_size)
{
	uint64_t size = (uint64_t)t->layout.data + data_size;

	if (tracecmd_good_page_size(t->h.page_size))
		return t->h.page_size;
	return data_size && tracecmd_good_page_size(size) ? (uint32_t)size : 4096;
}

static void set_layout(struct tracecmd *t)
{
	struct tracecmd_header *h = &t->h;
	uint32_t data_size, usual;

	/* kernels before header_page give an empty text */
	if (!ring_layout_parse(&t->layout, h->header_page.size ? (char *)h->header_page.data : "",
			       h->header_page.size, h->big_endian, h->program_long, &data_size) &&
	    h->header_page.size)
		input_damage(t->input, h->file.name, NO_OFFSET, "unknown layout of header_page");
	usual = usual_page_size(t, data_size);
	for (size_t i = 0; i < h->nbuffers; i++) {
		struct tracecmd_buffer *b = &h->buffers[i];

		if (tracecmd_good_page_size(b->page_size))
			continue;
		if (b->nrows)
			input_damage(t->input, h->file.name, NO_OFFSET,
				     "sub-buffers of %u bytes are impossible", b->page_size);
		b->page_size = usual;
	}
}

static int tracecmd_open(struct input *in, struct error *e)
{
	struct tracecmd *t = calloc(1, sizeof *t);

	in->state = t;
	if (!t)
		return error_no_memory(e);
	t->input = in;
	t->w = in->decoding->writer;
	if (tracecmd_file_open(&t->h.file, in->name, in->fd, in->head, in->head_size, e) ||
	    tracecmd_header_read(&t->h, in, e))
		return -1;
	set_layout(t);
	tracecmd_clock(t);
	return tracecmd_read_formats(t, e) || tracecmd_read_comms(t, e) ? -1 : 0;
}

static uint64_t tracecmd_fingerprint(const struct input *in)
{
	const struct tracecmd *t = in->state;
	const struct buffer *o = &t->h.options;
	uint64_t h = hash_bytes(o->data, o->size, t->h.file.size);

	return hash_bytes(t->h.cmdlines.data, t->h.cmdlines.size, h);
}

/* --- merging --- */

/* Write the gaps before the next record, or at the end. */
static int tracecmd_report_missing(struct tracecmd *t, struct tracecmd_reader *r)
{
	uint64_t time = r->due.time == UINT64_MAX ? r->last : r->due.time, missed = r->data.missed;
	const struct error *d = &r->data.damage;

	if (r->data.damaged) {
		input_damage_error(t->input, d);
		r->data.damaged = false;
		if (tracecmd_gap(t, r, time,
				 &(struct gap){.reason = GAP_DAMAGE,
					       .unit = GAP_EVENTS,
					       .count = UINT64_MAX,
					       .offset = d->offset,
					       .file = t->h.file.name,
					       .message = d->what}))
			return -1;
	}
	r->data.missed = 0;
	return missed ? tracecmd_gap(t, r, time,
				     &(struct gap){.reason = GAP_LOST,
						   .unit = GAP_EVENTS,
						   .count = missed,
						   .offset = NO_OFFSET})
		      : 0;
}

static inline int reader_advance(struct tracecmd *t, struct tracecmd_reader *r, struct error *e)
{
	int got = cpu_data_next(&r->data, &r->record, e);

	if (__builtin_expect(got <= 0, 0)) {
		r->due.time = UINT64_MAX;
		/* there is no record to write the gaps before */
		return got < 0 ? -1 : tracecmd_report_missing(t, r);
	}
	r->due.time = tracecmd_time(t, r->cpu, r->record.time);
	return 0;
}

/* Write all events of one reader that are before time and rank. */
static int run_reader(struct tracecmd *t, struct tracecmd_reader *r, uint64_t time, uint32_t rank,
		      struct error *e)
{
	if (r->text) {
		while (r->due.time < time ||
		       (r->due.time == time && r->due.rank < rank && time != UINT64_MAX))
			if ((r->data.damaged && tracecmd_report_missing(t, r)) ||
			    tracecmd_text_next(t, r, e))
				return -1;
		return r->due.time == UINT64_MAX && r->data.damaged ? tracecmd_report_missing(t, r)
								    : 0;
	}
	while (r->due.time < time ||
	       (r->due.time == time && r->due.rank < rank && time != UINT64_MAX)) {
		if (__builtin_expect(r->data.damaged || r->data.missed, 0) &&
		    tracecmd_report_missing(t, r))
			return -1;
		if (tracecmd_emit(t, r) || reader_advance(t, r, e))
			return -1;
	}
	return 0;
}

static int tracecmd_run(struct input *in, uint64_t until, struct error *e)
{
	struct tracecmd *t = in->state;
	uint64_t limit = until;

	tracecmd_skip(t);
	while (t->heap.count) {
		struct tracecmd_reader *first = (struct tracecmd_reader *)t->heap.items[0];
		const struct heap_item *second = heap_second(&t->heap);
		uint64_t time = UINT64_MAX;
		uint32_t rank = UINT32_MAX;

		if (first->due.time > limit)
			break;
		if (second) {
			time = second->time;
			rank = second->rank;
		}
		if (limit < time) {
			time = limit;
			rank = UINT32_MAX;
		}
		if (run_reader(t, first, time, rank, e))
			return -1;
		heap_settle(&t->heap);
	}
	in->next = t->heap.count ? t->heap.items[0]->time : UINT64_MAX;
	return 0;
}

static int by_cpu(const void *a, const void *b)
{
	const struct tracecmd_row *x = a, *y = b;

	return x->cpu != y->cpu ? (x->cpu > y->cpu) - (x->cpu < y->cpu)
				: (x->offset > y->offset) - (x->offset < y->offset);
}

static struct tracecmd_reader *add_reader(struct tracecmd *t, const struct tracecmd_buffer *b)
{
	struct tracecmd_reader *r = &t->readers[t->nreaders];

	r->due.rank = (uint32_t)t->nreaders++;
	r->buffer = b;
	r->buffer_name = writer_text(t->w, b->name);
	r->data.file = &t->h.file;
	r->data.unpacker = b->chunks ? &t->h.unpacker : NULL;
	r->data.packed = &t->packed;
	r->data.layout = t->layout;
	return r;
}

static int begin_buffer(struct tracecmd *t, struct tracecmd_buffer *b, uint32_t read_ahead,
			struct error *e)
{
	struct tracecmd_reader *r;

	if (b->text) {
		r = add_reader(t, b);
		return tracecmd_text_begin(t, r, e);
	}
	if (b->nrows)
		qsort(b->rows, b->nrows, sizeof *b->rows, by_cpu);
	for (size_t i = 0; i < b->nrows; i++) {
		const struct tracecmd_row *row = &b->rows[i];
		uint64_t size;

		if (i && row->cpu == row[-1].cpu) {
			input_damage(t->input, t->h.file.name, row->offset,
				     "CPU %u is listed twice", row->cpu);
			continue;
		}
		r = add_reader(t, b);
		r->cpu = row->cpu;
		/* in some versions the size of compressed data does not include its first word */
		size = row->size + (b->chunks ? 4 : 0);
		if (size > t->h.file.size - row->offset)
			size = t->h.file.size - row->offset;
		cpu_data_begin(&r->data, row->offset, size, b->page_size, read_ahead);
		if (reader_advance(t, r, e))
			return -1;
	}
	return 0;
}

static int tracecmd_begin_readers(struct tracecmd *t, struct error *e)
{
	size_t n = 0;
	uint32_t each;

	for (size_t i = 0; i < t->h.nbuffers; i++)
		n += t->h.buffers[i].nrows + t->h.buffers[i].text;
	t->readers = calloc(n + 1, sizeof *t->readers);
	t->heap.items = calloc(n + 1, sizeof *t->heap.items);
	if (!t->readers || !t->heap.items)
		return error_no_memory(e);
	each = n ? (uint32_t)(READ_AHEAD / n) : READ_AHEAD_EACH;
	if (each > READ_AHEAD_EACH)
		each = READ_AHEAD_EACH;
	for (size_t i = 0; i < t->h.nbuffers; i++)
		if (begin_buffer(t, &t->h.buffers[i], each, e))
			return -1;
	for (size_t i = 0; i < t->nreaders; i++)
		if (t->readers[i].due.time != UINT64_MAX)
			t->heap.items[t->heap.count++] = &t->readers[i].due;
	heap_build(&t->heap);
	return 0;
}

/* Get the time of the first event, shifted only as the trace requires. */
static uint64_t tracecmd_first_time(const struct tracecmd *t)
{
	const struct tracecmd_reader *r = (const struct tracecmd_reader *)t->heap.items[0];
	struct tracecmd own = *t;

	own.shift = (int64_t)((uint64_t)t->shift - (uint64_t)t->input->shift);
	return r->text ? tracecmd_time(&own, 0, r->text->time)
		       : tracecmd_time(&own, r->cpu, r->record.time);
}

static int decode_tracecmd_begin(struct input *in, struct error *e)
{
	struct tracecmd *t = in->state;

	if (merge_choose_clock(in, e))
		return -1;
	t->shift = (int64_t)((uint64_t)t->shift + (uint64_t)in->shift);
	if (tracecmd_declare(t) || tracecmd_announce_types(t) || tracecmd_begin_readers(t, e))
		return -1;
	return t->heap.count ? merge_first(in, tracecmd_first_time(t), e) : 0;
}

static void tracecmd_close(struct input *in)
{
	struct tracecmd *t = in->state;

	if (!t)
		return;
	if (!in->decoding->quiet)
		warn_count(in->name, t->unknown,
			   "{event is of a type|events are of types} whose format the trace does "
			   "not have");
	for (size_t i = 0; i < t->nreaders; i++) {
		idmap_free(&t->readers[i].lanes);
		idmap_free(&t->readers[i].named);
		cpu_data_free(&t->readers[i].data);
		if (t->readers[i].text)
			buffer_free(&t->readers[i].text->line);
		free(t->readers[i].text);
	}
	free(t->readers);
	free(t->heap.items);
	idmap_free(&t->comms);
	idmap_free(&t->learned);
	idmap_free(&t->spaces);
	buffer_free(&t->frames);
	ftrace_events_free(&t->events);
	atrace_free(&t->marks);
	buffer_free(&t->packed);
	tracecmd_header_free(&t->h);
	free(t);
	in->state = NULL;
}

const struct decoder decoder_tracecmd = {
	.name = "trace-cmd",
	.in_order = true,
	.raw_clock = true,
	.probe = tracecmd_probe,
	.open = tracecmd_open,
	.fingerprint = tracecmd_fingerprint,
	.info = tracecmd_info,
	.begin = decode_tracecmd_begin,
	.late = tracecmd_late,
	.run = tracecmd_run,
	.close = tracecmd_close,
};
