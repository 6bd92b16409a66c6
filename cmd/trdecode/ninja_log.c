/*
 * ninja_log.c - the decoder of .ninja_log, in which ninja notes the commands of builds
 *
 *     # ninja log v5
 *     4	125	0	obj/a.o	9c3f0e1d55aa0102
 *
 * is a call of obj/a.o from 4 ms to 125 ms of its build. Fields are separated by tabs: start and
 * end in ms, the time of the output (restat), the output, a hash of the command.
 *
 * The file does not say which job ran a command, nor where a build begins. A build begins where an
 * end is before the end of the line above, or an output is made again. The commands of a build are
 * on as few lanes as they need. ninja sometimes rewrites the file with the last line of each
 * output, in no order: that part is one build.
 *
 * Sources: src/build_log.cc of ninja; ninjatracing, which draws the same lanes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/util/heap.h"
#include "common/util/intern.h"
#include "common/util/text_span.h"

enum {
	NINJA_OLDEST = 5,
	NINJA_NEWEST = 7,
	NINJA_NAME_MOST = 4096, /* bytes of the outputs of a call */
	NINJA_FIXED = 20,	/* i64 mtime, u64 hash, u32 outputs */
	NINJA_BUILDS_LISTED = 20,
	NINJA_RUNS = 3,
	NINJA_RUN = 8,
	NINJA_MS = 1000000, /* ns */
};

#define NINJA_HEADER "# ninja log v"

/* A line. */
struct ninja_line {
	uint64_t start, end, hash; /* ms */
	int64_t mtime;
	uint32_t output; /* string of the writer */
	uint32_t build;	 /* from 1 */
	uint32_t next;	 /* index + 1 of the next output of the command; 0 */
};

/* A command: the lines of one build that have its hash and times. */
struct ninja_command {
	uint32_t first;
	union {
		uint32_t last;	   /* line, while lines are joined */
		uint32_t location; /* then; 0: not declared */
	};
	uint32_t outputs;
	uint32_t lane; /* from 0, of its build */
};

struct ninja_log {
	struct input_lines lines;
	uint64_t version;
	uint32_t *last_build; /* of each output; 0: it is none */
	size_t last_builds;
	uint64_t outputs; /* different ones */
	struct ninja_line *line;
	size_t nlines, lines_capacity;
	struct ninja_command *commands;
	size_t ncommands, commands_capacity;
	uint32_t builds;
	bool compacted; /* the first build is the part without an order */
	struct sorter sorter;
	uint32_t source, clock, enter, leave;
	struct id_cache lanes;
	struct buffer text;
};

/* --- lines --- */

/* Take a field up to a tab off a line. */
static struct text_span ninja_take_field(struct text_span *line)
{
	struct text_span field = *line;
	const char *tab = memchr(line->at, '\t', span_size(*line));

	field.end = tab ? tab : line->end;
	line->at = tab ? tab + 1 : line->end;
	return field;
}

static bool ninja_number(struct text_span s, uint64_t *number)
{
	return span_size(s) && span_digits(s.at, s.end, number) == s.end;
}

static bool ninja_hash(struct text_span s, uint64_t *hash)
{
	*hash = 0;
	for (const char *p = s.at; p < s.end; p++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = *p ? strchr(digits, *p) : NULL;

		if (!digit)
			return false;
		*hash = *hash << 4 | (uint64_t)(digit - digits);
	}
	return span_size(s) && span_size(s) <= 16;
}

/* Read a line into l; *output: its output. */
static bool ninja_parse(struct text_span line, struct ninja_line *l, struct text_span *output)
{
	struct text_span start = ninja_take_field(&line), end = ninja_take_field(&line);
	struct text_span mtime = ninja_take_field(&line);
	bool minus = span_skip(&mtime, "-");
	uint64_t time;

	*output = ninja_take_field(&line);
	if (!ninja_number(start, &l->start) || !ninja_number(end, &l->end) || l->end < l->start ||
	    l->end >= TIME_LIMIT / NINJA_MS || !span_size(mtime) || span_size(mtime) > 19 ||
	    !span_size(*output) || !ninja_hash(line, &l->hash))
		return false;
	/* a number of 19 digits is ns since 1970 */
	time = strtoull(mtime.at, NULL, 10);
	for (const char *p = mtime.at; p < mtime.end; p++)
		if (*p < '0' || *p > '9')
			return false;
	l->mtime = time > INT64_MAX ? INT64_MAX : (int64_t)time;
	l->mtime = minus ? -l->mtime : l->mtime;
	return true;
}

/* Give a line its build: another one than the line above if it ended earlier, or if the build made
 * its output already. -1: out of memory. */
static int ninja_number_build(struct ninja_log *n, struct ninja_line *l)
{
	uint32_t *last;

	if (ARRAY_REACH(n->last_build, n->last_builds, l->output))
		return -1;
	last = &n->last_build[l->output];
	n->outputs += !*last;
	l->build = n->nlines ? l[-1].build + (l->end < l[-1].end || *last == l[-1].build) : 1;
	*last = l->build;
	return 0;
}

static int ninja_read_lines(struct input *in, struct error *e)
{
	struct ninja_log *n = in->state;
	const char *text;
	size_t size;
	int got;

	while ((got = input_lines_next(&n->lines, in, &text, &size, e)) > 0) {
		struct ninja_line *l;
		struct text_span output;

		if (!size || *text == '#')
			continue;
		if (ARRAY_GROW(n->line, n->lines_capacity, n->nlines))
			return error_no_memory(e);
		l = &n->line[n->nlines];
		*l = (struct ninja_line){0};
		if (n->lines.cut || !n->lines.whole ||
		    !ninja_parse((struct text_span){text, text + size}, l, &output)) {
			input_damage(in, in->name, n->lines.offset,
				     "a line that is not a command of a build");
			continue;
		}
		l->output = writer_string(in->decoding->writer, output.at, span_size(output));
		if (!l->output)
			return error_no_memory(e);
		if (ninja_number_build(n, l))
			return error_no_memory(e);
		n->nlines++;
	}
	return got;
}

/* --- builds and commands --- */

/*
 * Find the part that ninja rewrote, up to the first line whose output another line has. In the
 * order of a hash table every other line has an earlier end. A part without an order is one build.
 */
static int ninja_find_compacted(struct ninja_log *n)
{
	uint8_t *seen = calloc(n->last_builds + 1, 1);
	size_t end = 0;
	uint32_t first;

	if (!seen)
		return -1;
	while (end < n->nlines && !seen[n->line[end].output])
		seen[n->line[end++].output] = 1;
	free(seen);
	while (end && end < n->nlines && n->line[end].build == n->line[end - 1].build)
		end--;
	first = end ? n->line[end - 1].build : 0;
	n->compacted = first > NINJA_RUNS && (uint64_t)first * NINJA_RUN > end;
	for (size_t i = 0; n->compacted && i < n->nlines; i++)
		n->line[i].build = i < end ? 1 : n->line[i].build - first + 1;
	n->builds = n->nlines ? n->line[n->nlines - 1].build : 0;
	return 0;
}

/* Test for lines of one command. */
static bool ninja_is_same(const struct ninja_line *a, const struct ninja_line *b)
{
	return a->build == b->build && a->hash == b->hash && a->start == b->start &&
	       a->end == b->end;
}

/* Join the lines of one command. */
static int ninja_join(struct ninja_log *n)
{
	struct key_map known = {0};
	int failed = 0;

	for (size_t i = 0; i < n->nlines && !failed; i++) {
		const struct ninja_line *l = &n->line[i];
		uint64_t key[] = {l->build, l->hash, l->start, l->end};
		uint32_t *number = key_map_number(&known, hash_bytes(key, sizeof key, 0));
		struct ninja_command *c;

		if (!number || ARRAY_GROW(n->commands, n->commands_capacity, n->ncommands)) {
			failed = -1;
			break;
		}
		c = *number ? &n->commands[*number - 1] : NULL;
		if (!c || !ninja_is_same(&n->line[c->first], l)) {
			n->commands[n->ncommands++] = (struct ninja_command){
				.first = (uint32_t)i, .last = (uint32_t)i, .outputs = 1};
			*number = (uint32_t)n->ncommands;
			continue;
		}
		n->line[c->last].next = (uint32_t)i + 1;
		c->last = (uint32_t)i;
		c->outputs++;
	}
	key_map_free(&known);
	for (size_t i = 0; i < n->ncommands; i++)
		n->commands[i].location = 0;
	return failed;
}

static const struct ninja_line *ninja_line_of(const struct ninja_log *n, uint32_t command)
{
	return &n->line[n->commands[command].first];
}

/* Lanes of a build whose last placed command begins at a time, and those that are free. */
struct ninja_lanes {
	struct {
		uint64_t start;
		uint32_t lane;
	} * busy;
	uint32_t *free_ones;
	size_t nbusy, busy_capacity, nfree, free_capacity;
	uint32_t count;
};

/* Give a command the first lane whose commands all begin at its end or later. Commands are placed
 * from the last end to the first. */
static int ninja_place(struct ninja_lanes *l, const struct ninja_line *line, uint32_t *lane)
{
	while (l->nbusy && l->busy[0].start >= line->end) {
		if (ARRAY_GROW(l->free_ones, l->free_capacity, l->nfree))
			return -1;
		l->free_ones[l->nfree++] = l->busy[0].lane;
		HEAP_UP(l->free_ones, l->nfree - 1, a, b, *a < *b);
		l->busy[0] = l->busy[--l->nbusy];
		if (l->nbusy)
			HEAP_DOWN(l->busy, l->nbusy, 0, a, b, a->start > b->start);
	}
	if (ARRAY_GROW(l->busy, l->busy_capacity, l->nbusy))
		return -1;
	if (l->nfree) {
		*lane = l->free_ones[0];
		l->free_ones[0] = l->free_ones[--l->nfree];
		if (l->nfree)
			HEAP_DOWN(l->free_ones, l->nfree, 0, a, b, *a < *b);
	} else {
		*lane = l->count++;
	}
	l->busy[l->nbusy].start = line->start;
	l->busy[l->nbusy++].lane = *lane;
	HEAP_UP(l->busy, l->nbusy - 1, a, b, a->start > b->start);
	return 0;
}

static int ninja_sort_add(struct ninja_log *n, uint64_t time, uint64_t second, uint32_t command,
			  struct error *e)
{
	return sorter_add(&n->sorter, (struct sorter_key){time, second}, &command, sizeof command,
			  e);
}

/* Give all commands lanes. */
static int ninja_place_all(struct ninja_log *n, struct error *e)
{
	struct ninja_lanes lanes = {0};
	struct sorter_record r;
	uint32_t build = 0, i;
	int failed = 0;

	for (i = 0; i < n->ncommands; i++)
		if (ninja_sort_add(n, ninja_line_of(n, i)->build,
				   UINT64_MAX - ninja_line_of(n, i)->end, i, e))
			return -1;
	if (sorter_finish(&n->sorter, e))
		return -1;
	while (!failed && sorter_peek(&n->sorter, &r)) {
		memcpy(&i, r.data, sizeof i);
		if (r.key.time != build)
			lanes.nbusy = lanes.nfree = lanes.count = 0;
		build = (uint32_t)r.key.time;
		failed = ninja_place(&lanes, ninja_line_of(n, i), &n->commands[i].lane)
				 ? error_no_memory(e)
				 : sorter_advance(&n->sorter, e);
	}
	free(lanes.busy);
	free(lanes.free_ones);
	return failed;
}

/* Sort the starts and ends by time. At one time calls end, then those without a duration begin and
 * end, then others begin. */
static int ninja_sort_rows(struct ninja_log *n, struct error *e)
{
	sorter_clear(&n->sorter);
	for (uint32_t i = 0; i < n->ncommands; i++) {
		const struct ninja_line *l = ninja_line_of(n, i);
		uint64_t order = (uint64_t)i << 1, rank = 1ull << 60;
		bool none = l->start == l->end;

		/* the lowest bit: the end */
		if (ninja_sort_add(n, l->start, (none ? rank : 2 * rank) | order, i, e) ||
		    ninja_sort_add(n, l->end, (none ? rank : 0) | order | 1, i, e))
			return -1;
	}
	return sorter_finish(&n->sorter, e);
}

/* Read the file. */
static int ninja_read(struct input *in, struct error *e)
{
	struct ninja_log *n = in->state;

	if (ninja_read_lines(in, e))
		return -1;
	return ninja_find_compacted(n) || ninja_join(n) ? error_no_memory(e) : 0;
}

/* --- the decoder --- */

static enum bid ninja_probe(const struct input *in)
{
	size_t n = strlen(NINJA_HEADER);

	if (in->tree || in->head_size <= n || memcmp(in->head, NINJA_HEADER, n) != 0)
		return BID_NONE;
	return in->head[n] >= '0' && in->head[n] <= '9' ? BID_HEADER : BID_NONE;
}

static int ninja_open(struct input *in, struct error *e)
{
	struct ninja_log *n = calloc(1, sizeof *n);
	struct text_span line;
	const char *text;
	size_t size;
	int got;

	in->state = n;
	if (!n)
		return error_no_memory(e);
	sorter_init(&n->sorter);
	in->clock_name = "build";
	in->own_zero = true;
	got = input_lines_next(&n->lines, in, &text, &size, e);
	if (got < 0)
		return -1;
	line = (struct text_span){text, text + (got ? size : 0)};
	if (!got || !span_skip(&line, NINJA_HEADER) || !ninja_number(line, &n->version))
		return error_set(e, in->name, 0, "no log of ninja: the first line is not \"%sN\"",
				 NINJA_HEADER);
	if (n->version < NINJA_OLDEST || n->version > NINJA_NEWEST)
		return error_set(e, in->name, 0,
				 "a log of ninja of version %" PRIu64
				 ": versions %d to %d can be read",
				 n->version, NINJA_OLDEST, NINJA_NEWEST);
	return 0;
}

/* Print the commands and the last end of the last builds. */
static int ninja_list_builds(const struct ninja_log *n, struct trace_info *facts)
{
	struct {
		uint64_t commands, end;
	} *builds = calloc(n->builds + 1, sizeof *builds);
	uint32_t first = n->builds > NINJA_BUILDS_LISTED ? n->builds - NINJA_BUILDS_LISTED : 0;
	char text[100];

	if (!builds)
		return -1;
	for (uint32_t i = 0; i < n->ncommands; i++) {
		const struct ninja_line *l = ninja_line_of(n, i);

		builds[l->build].commands++;
		if (l->end > builds[l->build].end)
			builds[l->build].end = l->end;
	}
	for (uint32_t i = first + 1; i <= n->builds; i++) {
		snprintf(text, sizeof text,
			 "%" PRIu32 "%s: %" PRIu64 " command%s, %" PRIu64 ".%03u s", i,
			 n->compacted && i == 1 ? " (several, compacted)" : "", builds[i].commands,
			 builds[i].commands == 1 ? "" : "s", builds[i].end / 1000,
			 (unsigned)(builds[i].end % 1000));
		fact_item(facts, first ? "last builds" : "builds", text);
	}
	free(builds);
	return 0;
}

static int ninja_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct ninja_log *n = in->state;

	fact_text(facts, "format", "ninja-log");
	fact_number(facts, "version", n->version);
	if (ninja_read(in, e))
		return -1;
	fact_number(facts, "commands", n->ncommands);
	fact_number(facts, "outputs", n->outputs);
	fact_number(facts, "builds count", n->builds);
	return ninja_list_builds(n, facts) ? error_no_memory(e) : 0;
}

/* Declare the types of rows. -1: out of memory. */
static int ninja_declare_types(struct input *in)
{
	struct ninja_log *n = in->state;
	struct writer *w = in->decoding->writer;
	struct field_entry fields[] = {
		{.name = writer_text(w, "mtime"), .kind = FIELD_INT, .offset = 0, .size = 8},
		{.name = writer_text(w, "hash"), .kind = FIELD_HEX, .offset = 8, .size = 8},
		{.name = writer_text(w, "outputs"), .kind = FIELD_UINT, .offset = 16, .size = 4},
	};
	struct type_entry enter = {.source = n->source,
				   .name = writer_text(w, "start"),
				   .group = writer_text(w, "ninja"),
				   .kind = KIND_ENTER,
				   .fixed_size = NINJA_FIXED,
				   .nfields = 3,
				   .fields = fields};
	struct type_entry leave = {.source = n->source,
				   .name = writer_text(w, "end"),
				   .group = enter.group,
				   .kind = KIND_LEAVE};

	n->enter = writer_type(w, &enter);
	n->leave = writer_type(w, &leave);
	return n->enter && n->leave &&
			       !row_filter_announce(in->decoding->row_filter, n->enter, 0) &&
			       !row_filter_announce(in->decoding->row_filter, n->leave, 0)
		       ? 0
		       : -1;
}

/* Write the names of the builds. */
static int ninja_name_builds(struct ninja_log *n, struct writer *w)
{
	struct id_cache names = {0};
	int failed = 0;

	for (uint32_t i = 1; i <= n->builds && !failed; i++) {
		int32_t pid = (int32_t)i;
		uint32_t *name = id_cache_number(&names, &pid, sizeof pid);
		char text[40];

		snprintf(text, sizeof text,
			 n->compacted && i == 1 ? "compacted builds" : "build %" PRIu32, i);
		failed = !name || !(*name = writer_text(w, text)) ? -1 : 0;
	}
	failed = failed || process_names_write(w, n->source, &names) ? -1 : 0;
	id_cache_free(&names);
	return failed;
}

static int ninja_begin(struct input *in, struct error *e)
{
	struct ninja_log *n = in->state;
	struct writer *w = in->decoding->writer;
	struct sorter_record r;

	if (ninja_read(in, e) || ninja_place_all(n, e) || ninja_sort_rows(n, e) ||
	    merge_choose_clock(in, e))
		return -1;
	n->source = writer_source(w, &(struct source_entry){writer_text(w, "ninja-log"),
							    writer_text(w, in->name), 0, 0});
	n->clock = input_declare_clock(in, false);
	if (!n->source || !n->clock || ninja_declare_types(in) || ninja_name_builds(n, w))
		return error_no_memory(e);
	in->next = UINT64_MAX;
	return sorter_peek(&n->sorter, &r) ? merge_first(in, r.key.time * NINJA_MS, e) : 0;
}

/* Get the location of a command: the names of its outputs. */
static uint32_t ninja_location(struct ninja_log *n, struct writer *w, uint32_t command)
{
	struct ninja_command *c = &n->commands[command];
	uint32_t left = c->outputs;

	if (c->location)
		return c->location;
	n->text.size = 0;
	for (uint32_t i = c->first + 1; i; i = n->line[i - 1].next, left--) {
		size_t size;
		const char *output = writer_string_of(w, n->line[i - 1].output, &size);

		if (n->text.size && n->text.size + size > NINJA_NAME_MOST) {
			if (buffer_printf(&n->text, " and %" PRIu32 " more", left))
				return 0;
			break;
		}
		if ((n->text.size && buffer_append(&n->text, ", ", 2)) ||
		    buffer_append(&n->text, output, size))
			return 0;
	}
	return c->location = writer_location(
		       w, &(struct location_entry){
				  .name = writer_string(w, n->text.data, n->text.size)});
}

static int ninja_put_row(struct input *in, const struct sorter_record *r)
{
	struct ninja_log *n = in->state;
	struct writer *w = in->decoding->writer;
	uint8_t fixed[NINJA_FIXED];
	const struct ninja_line *l;
	struct lane_entry lane = {.source = n->source,
				  .clock = n->clock,
				  .flags = LANE_HAS_PID | LANE_HAS_TID | LANE_PROCESS_TID,
				  .ppid = -1};
	bool leave = r->key.second & 1;
	char comm[20];
	uint32_t i;

	memcpy(&i, r->data, sizeof i);
	l = ninja_line_of(n, i);
	lane.pid = (int32_t)l->build;
	lane.tid = (int32_t)n->commands[i].lane + 1;
	snprintf(comm, sizeof comm, "job %" PRId32, lane.tid);
	lane.comm = writer_text(w, comm);
	put_u64(fixed, (uint64_t)l->mtime);
	put_u64(fixed + 8, l->hash);
	put_u32(fixed + 16, n->commands[i].outputs);
	struct new_row row = {.time = merge_shifted(r->key.time * NINJA_MS, in->shift),
			      .lane = writer_lane_once(w, &n->lanes, &lane),
			      .type = leave ? n->leave : n->enter,
			      .location = ninja_location(n, w, i),
			      .fixed = fixed,
			      .fixed_size = leave ? 0 : NINJA_FIXED};

	return row.lane && row.location ? writer_row_data(w, row) : -1;
}

static int ninja_run(struct input *in, uint64_t until, struct error *e)
{
	struct ninja_log *n = in->state;
	struct sorter_record r;

	for (;;) {
		bool more = sorter_peek(&n->sorter, &r);

		in->next = more ? merge_shifted(r.key.time * NINJA_MS, in->shift) : UINT64_MAX;
		if (!more || in->next > until)
			return 0;
		if (ninja_put_row(in, &r) || sorter_advance(&n->sorter, e))
			return -1;
	}
}

static void ninja_close(struct input *in)
{
	struct ninja_log *n = in->state;

	if (!n)
		return;
	input_lines_free(&n->lines);
	free(n->last_build);
	id_cache_free(&n->lanes);
	sorter_free(&n->sorter);
	buffer_free(&n->text);
	free(n->line);
	free(n->commands);
	free(n);
	in->state = NULL;
}

const struct decoder decoder_ninja_log = {
	.name = "ninja-log",
	.in_order = true,
	.probe = ninja_probe,
	.open = ninja_open,
	.info = ninja_info,
	.begin = ninja_begin,
	.run = ninja_run,
	.close = ninja_close,
};
