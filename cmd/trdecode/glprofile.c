/*
 * glprofile.c - glretrace --pgpu --pcpu
 */
#include "cmd/trdecode/glprofile.h"

#include <stdlib.h>

#include "cmd/trdecode/input.h"
#include "common/util/text_span.h"

/* --- the rows of the calls of a profile --- */

/* Types of a profile's own rows. */
enum { TYPE_ENTER, TYPE_LEAVE, TYPE_GPU, TYPE_GPU_END, TYPE_CALL = TYPE_GPU_END + 1 };

static const char gpu_prefix[] = "GPU ";

static uint32_t glprofile_declare_lane(struct glprofile *p, uint32_t source, const char *comm,
				       int32_t tid)
{
	struct writer *w = p->input->decoding->writer;

	return writer_lane(w, &(struct lane_entry){.source = source,
						   .clock = p->clock,
						   .comm = writer_text(w, comm),
						   .flags = LANE_HAS_TID,
						   .tid = tid,
						   .ppid = -1});
}

int glprofile_declare(struct glprofile *p)
{
	struct writer *w = p->input->decoding->writer;
	struct source_entry e = {writer_text(w, "glprofile"), writer_text(w, p->input->name), 0, 0};

	p->queue.w = w;
	/* a call has one number on both: each has numbers of its own */
	p->cpu_source = writer_source(w, &e);
	p->gpu_source = writer_source(w, &e);
	p->clock = writer_clock(w, &(struct clock_entry){.name = writer_text(w, "replay")});
	p->cpu_lane = glprofile_declare_lane(p, p->cpu_source, "CPU", 0);
	p->gpu_lane = glprofile_declare_lane(p, p->gpu_source, "GPU", 1);
	return p->cpu_source && p->gpu_source && p->clock && p->cpu_lane && p->gpu_lane ? 0 : -1;
}

unsigned glprofile_variant(const struct glprofile_call *c, bool gpu)
{
	bool pixels = c->value[COLUMN_PIXELS] >= 0 && (gpu || !glprofile_has_gpu(c));
	bool memory = !gpu && (c->value[COLUMN_VSIZE_START] || c->value[COLUMN_RSS_START]);

	return (pixels ? GLPROFILE_PIXELS : 0) | (memory ? GLPROFILE_MEMORY : 0);
}

static void glprofile_add_field(struct writer *w, struct field_entry *f, const char *name,
				uint32_t *offset, uint32_t size)
{
	*f = (struct field_entry){.name = writer_text(w, name),
				  .kind = size == 4 ? FIELD_UINT : FIELD_INT,
				  .where = WHERE_FIXED,
				  .offset = *offset,
				  .size = size};
	*offset += size;
}

uint32_t glprofile_fields(struct writer *w, unsigned variant, struct field_entry *fields,
			  uint32_t *size)
{
	static const char *const memory[] = {"vsize_start", "vsize_dura", "rss_start", "rss_dura"};
	uint32_t n = 0;

	glprofile_add_field(w, &fields[n++], "program", size, 4);
	if (variant & GLPROFILE_PIXELS)
		glprofile_add_field(w, &fields[n++], "pixels", size, 8);
	for (unsigned i = 0; variant & GLPROFILE_MEMORY && i < 4; i++)
		glprofile_add_field(w, &fields[n++], memory[i], size, 8);
	return n;
}

uint32_t glprofile_fixed(const struct glprofile_call *c, unsigned variant, uint8_t *to)
{
	uint8_t *p = to;

	put_u32(p, (uint32_t)c->value[COLUMN_PROGRAM]);
	p += 4;
	if (variant & GLPROFILE_PIXELS) {
		put_u64(p, (uint64_t)c->value[COLUMN_PIXELS]);
		p += 8;
	}
	for (unsigned i = COLUMN_VSIZE_START; variant & GLPROFILE_MEMORY && i < COLUMN_PIXELS;
	     i++) {
		put_u64(p, (uint64_t)c->value[i]);
		p += 8;
	}
	return (uint32_t)(p - to);
}

/* Get the type of a row. A leave has no fields but the number and the frame. */
static uint32_t glprofile_type_of(struct glprofile *p, unsigned type, unsigned variant)
{
	static const char *const names[] = {"enter", "leave", "enter", "leave", "call"};
	struct writer *w = p->input->decoding->writer;
	bool leave = type == TYPE_LEAVE || type == TYPE_GPU_END, instant = type == TYPE_CALL;
	bool gpu = type == TYPE_GPU || type == TYPE_GPU_END;
	struct field_entry fields[GLPROFILE_FIELDS_MOST];
	uint32_t *id = &p->types[type][variant];
	struct type_entry e = {.source = gpu ? p->gpu_source : p->cpu_source,
			       .name = writer_text(w, names[type]),
			       .group = writer_text(w, "glprofile"),
			       .kind = instant ? KIND_INSTANT
				       : leave ? KIND_LEAVE
					       : KIND_ENTER,
			       .flags = instant ? 0 : TYPE_CALL_NUMBER,
			       .fields = fields};

	if (*id)
		return *id;
	glprofile_add_field(w, &fields[e.nfields++], "call", &e.fixed_size, 4);
	fields[0].role = ROLE_CALL;
	glprofile_add_field(w, &fields[e.nfields++], "frame", &e.fixed_size, 4);
	if (!leave)
		e.nfields += glprofile_fields(w, variant, fields + 2, &e.fixed_size);
	*id = writer_type(w, &e);
	if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
		*id = 0;
	return *id;
}

/* Declare the function of a call. 0: out of memory. */
static uint32_t glprofile_location_of(struct glprofile *p, const struct glprofile_call *c, bool gpu)
{
	char text[sizeof gpu_prefix + GLPROFILE_NAME_MOST];
	size_t prefix = gpu ? sizeof gpu_prefix - 1 : 0, n = intern_size(&p->names, c->name);
	struct writer *w = p->input->decoding->writer;
	uint32_t *id;

	memcpy(text, gpu_prefix, prefix);
	memcpy(text + prefix, intern_data(&p->names, c->name), n);
	id = id_cache_number(&p->locations, text, prefix + n);
	if (id && !*id)
		*id = writer_location(
			w, &(struct location_entry){.name = writer_string(w, text, prefix + n)});
	return id ? *id : 0;
}

/* Add the row of a call to the queue. */
static int glprofile_put_row(struct glprofile *p, const struct glprofile_call *c, uint32_t frame,
			     unsigned type, uint64_t time)
{
	bool gpu = type == TYPE_GPU || type == TYPE_GPU_END;
	bool leave = type == TYPE_LEAVE || type == TYPE_GPU_END;
	unsigned variant = leave ? 0 : glprofile_variant(c, gpu);
	uint8_t fixed[8 + GLPROFILE_FIXED_MOST];
	struct new_row r = {.time = merge_shifted(time, p->input->shift),
			    .lane = gpu ? p->gpu_lane : p->cpu_lane,
			    .type = glprofile_type_of(p, type, variant),
			    .location = glprofile_location_of(p, c, gpu),
			    .fixed = fixed,
			    .fixed_size = 8};

	if (!r.type || !r.location)
		return -1;
	put_u32(fixed, (uint32_t)c->value[COLUMN_NO]);
	put_u32(fixed + 4, frame);
	if (!leave)
		r.fixed_size += glprofile_fixed(c, variant, fixed + 8);
	return row_queue_put(&p->queue, &r, NULL);
}

int glprofile_gpu(struct glprofile *p, const struct glprofile_call *c, uint32_t frame)
{
	uint64_t start = (uint64_t)c->value[COLUMN_GPU_START];
	uint64_t duration = (uint64_t)c->value[COLUMN_GPU_DURA];

	if (!glprofile_has_gpu(c))
		return 0;
	if (!start) {
		/* drivers without timestamps have only durations: after the call before, once the
		 * CPU has begun it */
		start = glprofile_cpu_time(c, false);
		start = start < p->gpu_end ? p->gpu_end : start;
		if (start + duration >= TIME_LIMIT)
			start = TIME_LIMIT - 1 - duration;
	}
	p->gpu_end = start + duration;
	return glprofile_put_row(p, c, frame, TYPE_GPU, start) ||
			       glprofile_put_row(p, c, frame, TYPE_GPU_END, start + duration)
		       ? -1
		       : 0;
}

static int glprofile_cpu(struct glprofile *p, const struct glprofile_call *c)
{
	if (glprofile_has_cpu(c))
		return glprofile_put_row(p, c, p->frame, TYPE_ENTER,
					 glprofile_cpu_time(c, false)) ||
				       glprofile_put_row(p, c, p->frame, TYPE_LEAVE,
							 glprofile_cpu_time(c, true))
			       ? -1
			       : 0;
	return glprofile_has_gpu(c) ? 0 : glprofile_put_row(p, c, p->frame, TYPE_CALL, p->now);
}

/* --- the lines of a profile, and the calls that a trace takes from it --- */

/* Take the next word off a line. It is empty if there is none. */
static struct text_span glprofile_next_word(struct text_span *line)
{
	struct text_span w = {span_skip_blanks(line->at, line->end), line->end};

	line->at = w.at;
	while (line->at < line->end && *line->at != ' ' && *line->at != '\t')
		line->at++;
	w.end = line->at;
	return w;
}

/* Set the columns from a line "# call no ...". false: it is none. */
static bool glprofile_columns(struct glprofile *p, struct text_span line)
{
	static const char *const names[] = {"no",	"gpu_start",   "gpu_dura",   "cpu_start",
					    "cpu_dura", "vsize_start", "vsize_dura", "rss_start",
					    "rss_dura", "pixels",      "program",    "name"};
	struct text_span w;

	if (!span_begins(line, "# call no "))
		return false;
	line.at += 6;
	p->ncolumns = 0;
	while (span_size(w = glprofile_next_word(&line)) && p->ncolumns < GLPROFILE_COLUMNS_MOST) {
		uint8_t column = 0;

		while (column < COLUMN_OTHER && !span_is(w, names[column]))
			column++;
		p->column[p->ncolumns++] = column;
	}
	return true;
}

static bool glprofile_read_number(struct text_span w, int64_t *number)
{
	bool minus = w.at < w.end && *w.at == '-';
	uint64_t n = 0;

	w.at += minus;
	if (w.at == w.end || span_size(w) > 19)
		return false;
	for (; w.at < w.end; w.at++) {
		if (*w.at < '0' || *w.at > '9')
			return false;
		n = n * 10 + (uint64_t)(*w.at - '0');
	}
	if (n > INT64_MAX)
		return false;
	*number = minus ? -(int64_t)n : (int64_t)n;
	return true;
}

/* Test times. A start before the base of the times is as good as none. */
static bool times_are_good(int64_t *start, int64_t duration)
{
	if (*start < 0)
		*start = 0;
	return duration >= 0 && (uint64_t)*start < TIME_LIMIT && (uint64_t)duration < TIME_LIMIT &&
	       (uint64_t)*start + (uint64_t)duration < TIME_LIMIT;
}

/* Read the words after "call". */
static bool glprofile_read_call(struct glprofile *p, struct text_span line,
				struct glprofile_call *c)
{
	struct text_span name = {line.at, line.at};

	*c = (struct glprofile_call){.value[COLUMN_NO] = -1, .value[COLUMN_PIXELS] = -1};
	for (unsigned i = 0; i < p->ncolumns; i++) {
		struct text_span w = glprofile_next_word(&line);

		if (!span_size(w))
			return false;
		if (p->column[i] == COLUMN_NAME)
			name = w;
		else if (p->column[i] < COLUMN_NUMBERS &&
			 !glprofile_read_number(w, &c->value[p->column[i]]))
			return false;
	}
	if (!span_size(name) || span_size(name) > GLPROFILE_NAME_MOST || c->value[COLUMN_NO] < 0 ||
	    c->value[COLUMN_NO] > UINT32_MAX || c->value[COLUMN_PROGRAM] < 0 ||
	    c->value[COLUMN_PROGRAM] > UINT32_MAX ||
	    !times_are_good(&c->value[COLUMN_CPU_START], c->value[COLUMN_CPU_DURA]) ||
	    !times_are_good(&c->value[COLUMN_GPU_START], c->value[COLUMN_GPU_DURA]))
		return false;
	c->name = intern(&p->names, name.at, span_size(name));
	return true;
}

/* Test for a message of the replay, "NO: text", and for its summary. */
static bool glprofile_is_message(struct text_span line)
{
	struct text_span rest = line;

	while (rest.at < line.end && *rest.at >= '0' && *rest.at <= '9')
		rest.at++;
	return !span_size(line) || *line.at == '#' || span_begins(line, "Rendered ") ||
	       (rest.at > line.at && span_begins(rest, ": "));
}

/* Test for the line of a call, whose columns may not be known. */
static bool glprofile_is_call(struct text_span line)
{
	return span_begins(line, "call ") && span_size(line) > 5 && line.at[5] >= '0' &&
	       line.at[5] <= '9';
}

static void glprofile_report(struct glprofile *p, struct text_span line)
{
	int shown = span_size(line) > 200 ? 200 : (int)span_size(line);

	if (span_begins(line, "error: "))
		input_damage(p->input, p->input->name, p->lines.offset, "the replay failed: %.*s",
			     shown - 7, line.at + 7);
	else if (!p->strange++)
		input_damage(p->input, p->input->name, p->lines.offset,
			     p->ncolumns ? "a line that is not a call of a replay"
					 : "a call before the line of the columns, # call no ...");
}

/* Read up to the next call; frames that end are counted. Returns 1; 0: no more. */
static int glprofile_next(struct glprofile *p, struct glprofile_call *c, struct error *e)
{
	const char *text;
	size_t n;
	int got;

	while ((got = input_lines_next(&p->lines, p->input, &text, &n, e)) > 0) {
		struct text_span line = {text, text + n};

		if (glprofile_columns(p, line))
			continue;
		/* what is before the columns is of the program that replays */
		if (!p->ncolumns && !span_begins(line, "error: ") && !glprofile_is_call(line))
			continue;
		if (span_begins(line, "call ") && !p->lines.cut &&
		    glprofile_read_call(p, (struct text_span){text + 5, line.end}, c)) {
			p->calls++;
			return c->name == INTERN_NONE ? error_no_memory(e) : 1;
		}
		if (span_is(line, "frame_end"))
			p->frame++;
		else if (!glprofile_is_message(line))
			glprofile_report(p, line);
	}
	return got;
}

/* --- calls by number --- */

/* Read one more call into the window. Returns 1; 0: no more. */
static int read_ahead(struct glprofile *p, struct error *e)
{
	struct glprofile_call *c = &p->window[p->read % GLPROFILE_WINDOW];
	struct glprofile_call next;
	uint64_t position;
	int got = glprofile_next(p, &next, e);

	if (got <= 0) {
		p->ended = true;
		return got;
	}
	if (p->read >= GLPROFILE_WINDOW) {
		uint32_t old = (uint32_t)c->value[COLUMN_NO];

		p->missing += !c->taken;
		/* a later call may have its number */
		if (open_calls_take(&p->by_number, 0, old, &position) &&
		    position != p->read - GLPROFILE_WINDOW &&
		    open_calls_put(&p->by_number, 0, old, position))
			return error_no_memory(e);
	}
	*c = next;
	if (open_calls_put(&p->by_number, 0, (uint32_t)next.value[COLUMN_NO], p->read++))
		return error_no_memory(e);
	return 1;
}

int glprofile_find(struct glprofile *p, uint32_t number, bool again, struct glprofile_call **found,
		   struct error *e)
{
	struct glprofile_call *c;
	uint64_t position;
	int got = 1;

	*found = NULL;
	if (!p->window) {
		p->window = calloc(GLPROFILE_WINDOW, sizeof *p->window);
		if (!p->window)
			return error_no_memory(e);
	}
	while (!open_calls_take(&p->by_number, 0, number, &position)) {
		if (again || p->ended || p->read - p->matched >= GLPROFILE_WINDOW / 2)
			return 0;
		got = read_ahead(p, e);
		if (got < 0)
			return -1;
	}
	if (open_calls_put(&p->by_number, 0, number, position))
		return error_no_memory(e);
	c = &p->window[position % GLPROFILE_WINDOW];
	if (c->taken != again)
		return 0;
	c->taken = true;
	if (position > p->matched)
		p->matched = position;
	*found = c;
	return 0;
}

int glprofile_missing(struct glprofile *p, uint64_t *missing, struct error *e)
{
	struct glprofile_call c;
	int got;

	while ((got = glprofile_next(p, &c, e)) > 0)
		p->missing++;
	*missing = p->missing;
	for (uint64_t i = 0; p->window && i < p->read && i < GLPROFILE_WINDOW; i++)
		*missing += !p->window[i].taken;
	return got;
}

/* --- the decoder of profiles of a replay --- */

static enum bid glprofile_probe(const struct input *in)
{
	static const char columns[] = "# call no ";
	const char *at = (const char *)in->head;
	const char *end = at ? at + in->head_size : at;

	if (in->tree || !in->head_size)
		return BID_NONE;
	if (in->format && !strcmp(in->format, "glprofile"))
		return BID_LIKELY;
	/* the program that replays may have printed lines before */
	for (; at && (size_t)(end - at) >= sizeof columns - 1;
	     at = memchr(at, '\n', (size_t)(end - at)), at = at ? at + 1 : at)
		if (!memcmp(at, columns, sizeof columns - 1))
			return BID_HEADER;
	return BID_NONE;
}

static int glprofile_open(struct input *in, struct error *e)
{
	struct decoding *d = in->decoding;
	struct glprofile *p = calloc(1, sizeof *p);

	in->state = p;
	if (!p)
		return error_no_memory(e);
	p->input = in;
	in->clock_name = "replay";
	if (d->profile)
		return error_set(e, in->name, NO_OFFSET,
				 "a second profile of a replay: their clocks cannot be compared");
	d->profile = p;
	return 0;
}

static int glprofile_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct glprofile *p = in->state;
	struct glprofile_call c;
	uint64_t draws = 0;
	int got;

	fact_text(facts, "format", "glprofile");
	while ((got = glprofile_next(p, &c, e)) > 0)
		draws += glprofile_has_gpu(&c);
	fact_number(facts, "calls", p->calls);
	fact_number(facts, "calls on the GPU", draws);
	fact_number(facts, "frames count", p->frame);
	return got;
}

/* Add the rows of the next calls to the queue, until the first row is known. Returns 0, or -1. */
static int glprofile_read_rows(struct glprofile *p, struct error *e)
{
	struct glprofile_call c;
	int got;

	while (!p->ended && row_queue_next(&p->queue) >= merge_shifted(p->now, p->input->shift)) {
		e->what[0] = '\0';
		/* a replay that goes on: what is there must show before the next line is waited for
		 */
		if (p->calls && !input_lines_ready(&p->lines, p->input, LIVE_WAIT) &&
		    (row_queue_write(&p->queue, merge_shifted(p->now, p->input->shift)) ||
		     writer_flush(p->queue.w)))
			return -1;
		got = glprofile_next(p, &c, e);
		if (got < 0)
			return -1;
		if (!got) {
			p->ended = true;
			break;
		}
		if (glprofile_gpu(p, &c, p->frame) || glprofile_cpu(p, &c))
			return -1;
		/* the GPU begins a call after the CPU has ended those before; it reads its clock
		 * just before the CPU */
		uint64_t now = glprofile_has_cpu(&c) ? glprofile_cpu_time(&c, true)
						     : (uint64_t)c.value[COLUMN_GPU_START];

		if (now > p->now)
			p->now = now;
	}
	return 0;
}

static int glprofile_begin(struct input *in, struct error *e)
{
	struct glprofile *p = in->state;

	in->next = UINT64_MAX;
	e->what[0] = '\0';
	/* the decoder of the trace writes the rows */
	if (in->decoding->profile_has_trace) {
		in->decoding->shared = in;
		return 0;
	}
	if (glprofile_declare(p) || merge_choose_clock(in, e) || glprofile_read_rows(p, e))
		return -1;
	if (!p->queue.count)
		return 0;
	return merge_first(in, row_queue_next(&p->queue) - (uint64_t)in->shift, e);
}

static int glprofile_run(struct input *in, uint64_t until, struct error *e)
{
	struct glprofile *p = in->state;

	do {
		uint64_t now = p->ended ? UINT64_MAX : merge_shifted(p->now, in->shift);

		if (row_queue_write(&p->queue, until < now ? until : now) ||
		    glprofile_read_rows(p, e))
			return -1;
		in->next = row_queue_next(&p->queue);
	} while (in->next <= until && in->next != UINT64_MAX);
	return 0;
}

static void glprofile_close(struct input *in)
{
	struct glprofile *p = in->state;

	if (!p)
		return;
	if (in->decoding->profile == p)
		in->decoding->profile = NULL;
	if (!in->decoding->quiet)
		warn_count(in->name, p->strange - (p->strange > 0),
			   "more {line that is not a call|lines that are not calls} of a replay");
	row_queue_free(&p->queue);
	input_lines_free(&p->lines);
	intern_free(&p->names);
	id_cache_free(&p->locations);
	open_calls_free(&p->by_number);
	free(p->window);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_glprofile = {
	.name = "glprofile",
	.probe = glprofile_probe,
	.open = glprofile_open,
	.info = glprofile_info,
	.begin = glprofile_begin,
	.run = glprofile_run,
	.close = glprofile_close,
};
