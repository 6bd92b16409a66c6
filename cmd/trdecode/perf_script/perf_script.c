/*
 * perf_script.c - the decoder of the text of perf script
 *
 * An event of the text is a type, whose samples have a period if the text does, and the text of a
 * tracepoint as the field text. A frame is a location with its address, in a space of its file. Its
 * name is that of the text without parameters and offset, as trsym names functions; a function that
 * perf did not know has the name of its file: [libc.so.6]. These are the rules of
 * stackcollapse-perf.pl, so folded stacks of a text are the same.
 *
 * Records that are no samples, as --show-task-events prints them, are instants. Those that perf
 * made from /proc have the time 0, and become no row, as in perf.data; so have those of a text
 * without times.
 *
 * sample_line.h has the grammar of a line.
 */
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input/lines.h"
#include "cmd/trdecode/input/merge.h"
#include "cmd/trdecode/perf_script/frame_name.h"
#include "common/util/intern.h"

enum { PROBE_LINES = 100, PERIOD_SIZE = 8 };

struct perf_script {
	struct input *input;
	struct writer *w;
	struct lines lines;
	struct buffer header;  /* the first line of the next sample */
	struct buffer present; /* that of the sample */
	bool has_header;
	bool timed; /* the samples have times; else the time is their number */
	uint32_t source, clock;
	struct id_cache lanes, types, frames, spaces;
	struct buffer frame; /* locations of the sample's frames, the innermost first */
	struct buffer name;  /* of a function, without parameters */
	/* the next row */
	struct sample_line line;
	struct buffer text; /* of the sample, with its NUL */
	uint64_t samples, strange;
};

/* Test whether a line is not empty and no comment. */
static bool is_content(struct span line)
{
	line = span_trim(line);
	return line.at < line.end && *line.at != '#';
}

/* Accept a text whose first line is a sample. */
static enum bid script_probe(const struct input *in)
{
	const char *at = (const char *)in->head, *end, *newline;
	bool forced = in->format && !strcmp(in->format, "perf-script");

	if (in->tree || !in->head_size)
		return BID_NONE;
	end = at + in->head_size;
	for (unsigned lines = 0; at < end && lines < PROBE_LINES; at = newline + 1, lines++) {
		struct sample_line l;

		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			break;
		if (memchr(at, '\0', (size_t)(newline - at)))
			return BID_NONE;
		if (!is_content((struct span){at, newline}) ||
		    record_line_is_other((struct span){at, newline}))
			continue;
		if (sample_line_parse((struct span){at, newline}, &l))
			return BID_CHANCE;
		/* with -f other lines may be before the samples, such as messages of perf */
		if (!forced)
			return BID_NONE;
	}
	return BID_NONE;
}

static int script_open(struct input *in, struct error *e)
{
	struct perf_script *p = calloc(1, sizeof *p);

	in->state = p;
	if (!p)
		return error_no_memory(e);
	p->input = in;
	p->w = in->decoding->writer;
	return 0;
}

/* --- lines --- */

static void report_strange(struct perf_script *p, struct span line)
{
	if (!record_line_is_other(line) && !p->strange++)
		input_damage(p->input, p->input->name, p->lines.offset,
			     "a line that is neither a sample nor a frame");
}

/* Read a line. Returns 1; 0: no more lines; -1 with *e filled. */
static int next_line(struct perf_script *p, struct span *line, struct error *e)
{
	const char *text;
	size_t n;
	int got = lines_next(&p->lines, p->input, &text, &n, e);

	if (got > 0)
		*line = (struct span){text, text + n};
	return got;
}

/* --- declarations --- */

/* Declare the space of a file. 0: out of memory. */
static uint32_t declare_space(struct perf_script *p, struct span file)
{
	uint32_t *id = id_cache_number(&p->spaces, file.at, span_size(file));

	if (id && !*id)
		*id = writer_space(p->w,
				   &(struct space_entry){
					   .source = p->source,
					   .name = writer_string(p->w, file.at, span_size(file))});
	return id ? *id : 0;
}

/* Declare the location of a function. 0: out of memory. */
static uint32_t declare_location(struct perf_script *p, const struct frame_line *f,
				 struct span function)
{
	struct symbol_entry symbol = {.start = f->address - f->offset,
				      .module = f->file.at,
				      .module_size = (uint32_t)span_size(f->file)};
	struct location_entry location = {.address = f->address};
	bool java = p->line.comm.end - p->line.comm.at >= 4 && !memcmp(p->line.comm.at, "java", 4);
	uint32_t id;

	if (frame_name(&p->name, function, f->file, java))
		return 0;
	symbol.name = (const char *)p->name.data;
	symbol.name_size = (uint32_t)p->name.size;
	location.name = writer_string(p->w, symbol.name, p->name.size);
	location.space = declare_space(p, f->file);
	id = location.space ? writer_location(p->w, &location) : 0;
	return id && !writer_symbol(p->w, id, &symbol) ? id : 0;
}

/* Add the frames of a line: "A->B" is B, which A has inlined. *known becomes the location if there
 * is one. Returns -1 when out of memory. */
static int add_frames(struct perf_script *p, const struct frame_line *f, uint32_t *known)
{
	struct span rest = f->function;
	size_t begin = p->frame.size;

	if (frame_is_process(rest))
		return 0;
	for (const char *arrow; rest.at <= rest.end; rest.at = arrow + 2) {
		uint32_t location;

		arrow = span_find(rest, "->");
		location = declare_location(p, f, (struct span){rest.at, arrow ? arrow : rest.end});
		if (!location || buffer_u32(&p->frame, location))
			return -1;
		if (!arrow)
			break;
	}
	/* innermost first */
	for (size_t i = begin, last = p->frame.size - 4; i < last; i += 4, last -= 4) {
		uint32_t location = get_u32(p->frame.data + i);

		put_u32(p->frame.data + i, get_u32(p->frame.data + last));
		put_u32(p->frame.data + last, location);
	}
	if (p->frame.size - begin == 4)
		*known = get_u32(p->frame.data + begin);
	return 0;
}

/* Add the frames of a line, if it is that of a frame: a line that was met before is not taken apart
 * again. Returns -1 when out of memory. */
static int add_frame_line(struct perf_script *p, struct span line, bool *is_frame)
{
	uint32_t *known = id_cache_number(&p->frames, line.at, span_size(line));
	struct frame_line f;

	*is_frame = true;
	if (!known)
		return -1;
	if (*known)
		return buffer_u32(&p->frame, *known);
	*is_frame = frame_line_parse(line, &f);
	return *is_frame ? add_frames(p, &f, known) : 0;
}

static uint32_t declare_lane(struct perf_script *p, const struct sample_line *l)
{
	struct buffer key = {0};
	int32_t numbers[] = {l->pid, l->tid, l->cpu};
	uint32_t *id = NULL;

	if (!buffer_append(&key, numbers, sizeof numbers) &&
	    !buffer_append(&key, l->comm.at, span_size(l->comm)))
		id = id_cache_number(&p->lanes, key.data, key.size);
	buffer_free(&key);
	if (id && !*id)
		*id = writer_lane(p->w,
				  &(struct lane_entry){.source = p->source,
						       .clock = p->clock,
						       .comm = writer_string(p->w, l->comm.at,
									     span_size(l->comm)),
						       .flags = (l->cpu >= 0 ? LANE_HAS_CPU : 0) |
								(l->tid >= 0 ? LANE_HAS_TID : 0) |
								(l->pid >= 0 ? LANE_HAS_PID : 0),
						       .cpu = l->cpu,
						       .tid = l->tid,
						       .pid = l->pid,
						       .ppid = -1});
	return id ? *id : 0;
}

/* Does the name of an event end with modifiers, cycles:u, and not with the name of a tracepoint? */
static bool is_modifier(struct span s)
{
	for (; s.at < s.end; s.at++)
		if (!strchr("ukhGHpPSDeWIb", *s.at))
			return false;
	return true;
}

static uint32_t declare_type(struct perf_script *p, const struct sample_line *l)
{
	bool has_text = p->text.size > 1;
	const char *colon = memchr(l->event.at, ':', span_size(l->event));
	bool tracepoint = colon && !is_modifier((struct span){colon + 1, l->event.end});
	struct span name = {tracepoint ? colon + 1 : l->event.at, l->event.end};
	struct field_entry fields[2] = {{.name = writer_text(p->w, "period"),
					 .kind = FIELD_UINT,
					 .role = ROLE_PERIOD,
					 .size = PERIOD_SIZE},
					{.name = writer_text(p->w, "text"),
					 .kind = FIELD_STRING,
					 .where = WHERE_STRING,
					 .size = 1}};
	bool in_time = span_begins(l->event, "cpu-clock") || span_begins(l->event, "task-clock");
	struct type_entry type = {
		.source = p->source,
		.name = writer_string(p->w, name.at, span_size(name)),
		.kind = l->is_record ? KIND_INSTANT : KIND_SAMPLE,
		.fixed_size = l->has_period ? PERIOD_SIZE : 0,
		.flags = (uint16_t)((has_text ? TYPE_TAIL : 0) |
				    (in_time && l->has_period ? TYPE_WEIGHT_TIME : 0)),
		.nfields = (uint32_t)l->has_period + has_text,
		.fields = fields + !l->has_period};
	struct buffer key = {0};
	uint8_t parts[] = {l->has_period, has_text};
	uint32_t *id = NULL;

	if (tracepoint)
		type.group = writer_string(p->w, l->event.at, (size_t)(colon - l->event.at));
	if (!buffer_append(&key, parts, sizeof parts) &&
	    !buffer_append(&key, l->event.at, span_size(l->event)))
		id = id_cache_number(&p->types, key.data, key.size);
	buffer_free(&key);
	if (id && !*id) {
		*id = writer_type(p->w, &type);
		if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
			return 0;
	}
	return id ? *id : 0;
}

/* --- samples --- */

/* Begin the sample of the header. The texts of p->line are in p->present. */
static int begin_sample(struct perf_script *p)
{
	struct buffer last = p->present;
	struct span text, frame;
	bool is_frame;

	p->present = p->header;
	p->header = last;
	sample_line_parse((struct span){(const char *)p->present.data,
					(const char *)p->present.data + p->present.size},
			  &p->line);
	p->has_header = false;
	p->frame.size = p->text.size = 0;
	text = p->line.text;
	/* a sample without a call chain has its frame in this line */
	if (!p->line.is_record && frame_line_split(&text, &frame) &&
	    add_frame_line(p, frame, &is_frame))
		return -1;
	return buffer_append(&p->text, text.at, span_size(text)) || buffer_append(&p->text, "", 1)
		       ? -1
		       : 0;
}

/* Keep a line as the header of the next row, unless it is a record without a time. false: it is no
 * header. */
static bool keep_header(struct perf_script *p, struct span line, int *bad)
{
	struct sample_line l;

	if (!sample_line_parse(line, &l))
		return false;
	if (l.is_record && !l.time)
		return true;
	p->header.size = 0;
	*bad = buffer_append(&p->header, line.at, span_size(line));
	p->has_header = true;
	return true;
}

/* A source line after a frame, FILE:LINE: what perf adds with -F +srcline. */
static bool is_source(struct span line)
{
	const char *colon = memrchr(line.at, ':', span_size(line));

	line = span_trim(line);
	if (!colon || colon + 1 >= line.end)
		return false;
	while (++colon < line.end)
		if (*colon < '0' || *colon > '9')
			return false;
	return true;
}

/* Take a line after the header of a sample. *ended: the sample has ended. */
static int take_line(struct perf_script *p, struct span line, bool *ended)
{
	bool is_frame = false;
	int bad = 0;

	/* perf begins the lines of frames with a tab; other programs may have changed it */
	*ended = line.at == line.end ||
		 (*line.at != '\t' && (!is_content(line) || keep_header(p, line, &bad)));
	if (*ended)
		return bad;
	/* records have no stack */
	if (!p->line.is_record)
		bad = add_frame_line(p, line, &is_frame);
	if (!is_frame && !is_source(line))
		report_strange(p, line);
	return bad;
}

/* Read the next sample; in->next is UINT64_MAX if there is none. */
static int script_advance(struct perf_script *p, struct error *e)
{
	struct input *in = p->input;
	struct span line;
	bool ended = false;
	int got = 1, bad = 0;

	e->what[0] = '\0';
	in->next = UINT64_MAX;
	while (!p->has_header && (got = next_line(p, &line, e)) > 0)
		if (is_content(line) && !keep_header(p, line, &bad))
			report_strange(p, line);
	if (got <= 0 || bad)
		return bad ? error_no_memory(e) : got;
	if (begin_sample(p))
		return -1;
	while (!ended && (got = next_line(p, &line, e)) > 0)
		if (take_line(p, line, &ended))
			return -1;
	p->samples += !p->line.is_record;
	in->next = merge_shifted(p->timed ? p->line.time : p->samples, in->shift);
	return got < 0 ? -1 : 0;
}

static int write_row(struct perf_script *p)
{
	uint8_t period[PERIOD_SIZE];
	size_t n = p->frame.size / 4;
	uint32_t *locations = (uint32_t *)(void *)p->frame.data;
	struct new_row row = {.time = p->input->next,
			      .lane = declare_lane(p, &p->line),
			      .type = declare_type(p, &p->line),
			      .location = n ? writer_stack_of(p->w, locations, n) : 0,
			      .fixed = period,
			      .fixed_size = p->line.has_period ? PERIOD_SIZE : 0,
			      .tail = p->text.data,
			      .tail_size = p->text.size > 1 ? (uint32_t)p->text.size : 0,
			      .has_tail = p->text.size > 1};

	put_u64(period, p->line.period);
	if (!row.lane || !row.type || (n && !row.location))
		return -1;
	return p->line.is_record ? writer_row_data(p->w, row) : writer_sample(p->w, row);
}

/* --- the decoder --- */

static int script_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct perf_script *p = in->state;
	uint64_t samples = 0;
	struct span line;
	struct sample_line l;
	int got;

	fact_text(facts, "format", "perf-script");
	while ((got = next_line(p, &line, e)) > 0)
		samples += is_content(line) && sample_line_parse(line, &l) && !l.is_record;
	fact_number(facts, "samples", samples);
	return got;
}

static int script_begin(struct input *in, struct error *e)
{
	struct perf_script *p = in->state;
	struct span line;
	int got = 0, bad = 0;

	while (!p->has_header && (got = next_line(p, &line, e)) > 0)
		if (is_content(line) && !keep_header(p, line, &bad))
			report_strange(p, line);
	if (got < 0 || bad)
		return got < 0 ? -1 : error_no_memory(e);
	if (got)
		sample_line_parse((struct span){(const char *)p->header.data,
						(const char *)p->header.data + p->header.size},
				  &p->line);
	else
		input_damage(in, in->name, NO_OFFSET, "the text has no sample");
	p->timed = got && p->line.has_time;
	in->ticks = !p->timed;
	in->clock_name = p->timed ? "perf" : "samples";
	if (merge_choose_clock(in, e))
		return -1;
	p->source = writer_source(p->w, &(struct source_entry){writer_text(p->w, "perf-script"),
							       writer_text(p->w, in->name), 0, 0});
	p->clock =
		writer_clock(p->w, &(struct clock_entry){.name = writer_text(p->w, in->clock_name),
							 .flags = in->ticks ? CLOCK_TICKS : 0});
	if (!p->source || !p->clock)
		return error_no_memory(e);
	if (script_advance(p, e))
		return -1;
	return in->next == UINT64_MAX ? 0 : merge_first(in, p->timed ? p->line.time : 1, e);
}

static int script_run(struct input *in, uint64_t until, struct error *e)
{
	struct perf_script *p = in->state;

	while (in->next <= until && in->next != UINT64_MAX)
		if (write_row(p) || script_advance(p, e))
			return -1;
	return 0;
}

static void script_close(struct input *in)
{
	struct perf_script *p = in->state;

	if (!p)
		return;
	if (!in->decoding->quiet)
		warn_count(in->name, p->strange - (p->strange > 0),
			   "more {line is|lines are} neither a sample nor a frame");
	lines_free(&p->lines);
	buffer_free(&p->header);
	buffer_free(&p->present);
	buffer_free(&p->frame);
	buffer_free(&p->name);
	buffer_free(&p->text);
	id_cache_free(&p->lanes);
	id_cache_free(&p->types);
	id_cache_free(&p->frames);
	id_cache_free(&p->spaces);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_perf_script = {
	.name = "perf-script",
	.probe = script_probe,
	.open = script_open,
	.info = script_info,
	.begin = script_begin,
	.run = script_run,
	.close = script_close,
};
