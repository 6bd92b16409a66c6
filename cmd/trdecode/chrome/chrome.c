#include "cmd/trdecode/chrome/chrome.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/cli/program.h"
#include "cmd/trdecode/input/merge.h"
#include "cmd/trdecode/input/process_names.h"

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* Test for a key and a colon. */
static bool begins_member(const char *p, const char *end)
{
	p = p < end && *p == '"' ? memchr(p + 1, '"', (size_t)(end - p - 1)) : NULL;
	p = p ? skip_blanks(p + 1, end) : end;
	return p < end && *p == ':';
}

/* Accept an object with a member, and an array of objects with a member: no other format begins so.
 * Those with "traceEvents" or "ph" have the format; in others these words may follow. With -f
 * accept any object or array. */
static enum bid chrome_probe(const struct input *in)
{
	const char *p = (const char *)in->head, *end, *first;
	size_t n;

	if (!p || in->tree)
		return BID_NONE;
	end = p + in->head_size;
	if (in->head_size >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	first = p = skip_blanks(p, end);
	n = (size_t)(end - p);
	if (p == end || (*p != '{' && *p != '['))
		return BID_NONE;
	if (memmem(p, n, *first == '{' ? "\"traceEvents\"" : "\"ph\"", *first == '{' ? 13 : 4))
		return BID_MAGIC;
	if (in->format)
		return strcmp(in->format, "chrome") ? BID_NONE : BID_CHANCE;
	p = skip_blanks(p + 1, end);
	/* an empty array and nothing else: other formats begin with these two bytes too */
	if (*first == '[' && p < end && *p == ']')
		p = skip_blanks(p + 1, end);
	if (*first == '[' && p == end)
		return BID_LIKELY;
	if (*first == '[' && *p == '{')
		p = skip_blanks(p + 1, end);
	return begins_member(p, end) ? BID_CHANCE : BID_NONE;
}

static int chrome_open(struct input *in, struct error *e)
{
	struct chrome *c = calloc(1, sizeof *c);

	in->state = c;
	if (!c)
		return error_no_memory(e);
	c->input = in;
	c->w = in->decoding->writer;
	sorter_init(&c->sorter);
	in->clock_name = "trace";
	return 0;
}

/* --- reading --- */

/* Report the fault in r, in the array at a depth, and go on at the next event. Returns 0; 1: there
 * is none up to the end of the input; -1 with *e filled. */
static int recover(struct chrome *c, struct json_reader *r, int depth, struct error *e)
{
	struct error fault = r->error;
	size_t n = strlen(fault.what);
	enum json_found found;
	int got = 0;

	if (r->keeps && !r->cut)
		snprintf(fault.what + n, sizeof fault.what - n, ": the event is left out");
	c->counts.unread += r->keeps;
	if (!c->counts.faults++)
		input_damage_error(c->input, &fault);
	while ((found = json_recover(r, depth)) == JSON_FOUND_OBJECT) {
		c->read.doubtful = true;
		got = chrome_event(c, r, e);
		c->read.doubtful = false;
		if (got < 0 && !r->error.what[0])
			return -1;
		if (!got) {
			json_rejoin(r, depth);
			return 0;
		}
	}
	return found == JSON_FOUND_NEXT ? 0 : r->failed ? -1 : 1;
}

/* Read the array of events, or of samples, after its '['. Returns 0; 1: the input ended after a
 * fault that was reported; -1 with r->error or *e filled. */
static int read_events(struct chrome *c, struct json_reader *r, bool samples, struct error *e)
{
	enum json_token token;
	int depth = r->depth, bad;

	c->read.sample = samples;
	json_keep_none(r);
	while ((token = json_next(r)) != JSON_ARRAY_END) {
		if (token == JSON_OBJECT) {
			json_keep(r);
			bad = chrome_event(c, r, e);
		} else {
			bad = token == JSON_BAD || !json_skip(r, token);
		}
		/* the input may end between events: its writer may be killed at any time */
		if (bad && (!r->error.what[0] || r->failed || (r->cut && r->depth == depth)))
			return -1;
		bad = bad ? recover(c, r, depth, e) : 0;
		if (bad)
			return bad;
		json_keep_none(r);
	}
	return 0;
}

/* Convert digits to ns or ticks; -1: not a number. */
static int64_t origin_of(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && n < TIME_LIMIT ? (int64_t)n : -1;
}

/* Read "otherData", after its '{': it contains the origin and its unit if trencode wrote the file.
 * -1: BAD. */
static int read_other_data(struct chrome *c, struct json_reader *r)
{
	enum json_token token;
	int64_t origin = -1;
	bool ns = false, ticks = false;
	uint32_t kernel = 0;

	while ((token = json_next(r)) == JSON_KEY) {
		bool is_origin = json_is(r, "origin"), is_unit = json_is(r, "unit");
		bool is_clock = json_is(r, "clock"), is_kernel = json_is(r, CHROME_KERNEL_CATEGORY);

		if (!is_origin && !is_unit && !is_clock && !is_kernel) {
			if (chrome_metadata_member(c, r, true))
				return -1;
			continue;
		}
		token = json_next(r);
		if (token == JSON_STRING && is_unit) {
			ns = json_is(r, "ns");
			ticks = json_is(r, "ticks");
		} else if (token == JSON_STRING && is_origin) {
			origin = origin_of((const char *)r->text.data);
		} else if (token == JSON_STRING && is_clock) {
			snprintf(c->clock_name, sizeof c->clock_name, "%s",
				 (const char *)r->text.data);
		} else if (token == JSON_STRING && is_kernel) {
			kernel = writer_string(c->w, r->text.data, r->text.size);
		} else if (!json_skip(r, token)) {
			return -1;
		}
	}
	if ((ns || ticks) && origin >= 0) {
		c->origin = origin;
		c->ticks = ticks;
		c->kernel = kernel;
		c->depths |= kernel != 0;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Report that the file is no trace. */
static int no_trace(const struct json_reader *r, uint64_t offset, const char *why, struct error *e)
{
	return error_set(e, r->name, offset,
			 "JSON, but no trace: %s; trdecode reads the Trace Event Format, an object "
			 "with traceEvents or an array of events with ph",
			 why);
}

static int read_array(struct chrome *c, struct json_reader *r, struct error *e)
{
	int ended = read_events(c, r, false, e);

	if (ended)
		return ended;
	if (c->counts.ignored && !c->counts.phased && !c->counts.faults)
		return no_trace(r, NO_OFFSET, "no object has a ph", e);
	return json_next(r) == JSON_END ? 0 : -1;
}

/* Read a member of the file after its key. Returns as read_events. */
static int read_member(struct chrome *c, struct json_reader *r, bool *found, struct error *e)
{
	bool events = json_is(r, "traceEvents"), other = json_is(r, "otherData");
	bool samples = json_is(r, "samples"), frames = json_is(r, "stackFrames");
	enum json_token token;

	if (!events && !other && !samples && !frames)
		return chrome_metadata_member(c, r, false);
	token = json_next(r);
	if ((events || samples) && token == JSON_ARRAY) {
		*found |= events;
		return read_events(c, r, samples, e);
	}
	if (frames && token == JSON_OBJECT)
		return chrome_frames_read(&c->frames, c->w, r);
	if (other && token == JSON_OBJECT)
		return read_other_data(c, r);
	return json_skip(r, token) ? 0 : -1;
}

/* Read the members of the file. */
static int read_object(struct chrome *c, struct json_reader *r, struct error *e)
{
	enum json_token token;
	bool found = false;
	struct error fault;
	int ended;

	json_keep(r);
	for (;;) {
		token = json_next(r);
		ended = token == JSON_KEY	   ? read_member(c, r, &found, e)
			: token == JSON_OBJECT_END ? 0
						   : -1;
		if (ended && (found || e->what[0] || !r->error.what[0] || r->failed))
			return ended;
		if (ended) {
			fault = r->error;
			if (!json_recover_key(r, "traceEvents"))
				return no_trace(r, fault.offset, fault.what, e);
			input_damage_error(c->input, &fault);
			found = true;
			ended = read_events(c, r, false, e);
			if (ended)
				return ended;
		}
		if (token == JSON_OBJECT_END)
			break;
		json_keep(r);
	}
	if (!found)
		return no_trace(r, NO_OFFSET, "no traceEvents", e);
	return json_next(r) == JSON_END ? 0 : -1;
}

/* Read the whole file. Returns as read_events. */
static int read_file(struct chrome *c, struct json_reader *r, struct error *e)
{
	enum json_token token = json_next(r);

	return token == JSON_ARRAY    ? read_array(c, r, e)
	       : token == JSON_OBJECT ? read_object(c, r, e)
				      : -1;
}

static int read_all(struct chrome *c, struct error *e)
{
	struct input *in = c->input;
	struct json_reader r;
	int failed = 0;

	if (json_open(&r, in->fd, in->name, in->head, in->head_size)) {
		json_close(&r);
		return error_no_memory(e);
	}
	e->what[0] = '\0';
	if (read_file(c, &r, e) < 0) {
		/* the array of events may be unterminated */
		bool between = r.cut && r.depth == 1 && r.array[0];

		if (e->what[0])
			failed = -1;
		else if (r.error.what[0] && !between)
			input_damage_error(in, &r.error);
		else if (!r.error.what[0])
			failed = error_no_memory(e);
	}
	c->counts.escapes = r.escapes;
	if (r.escapes)
		input_damage(
			in, in->name, r.escape_at,
			"an escape that JSON does not have: its characters are read as they are");
	json_close(&r);
	/* ignore an origin that moves an event out of the range of times */
	if (c->origin > (int64_t)TIME_LIMIT - CHROME_EARLIEST - c->highest)
		c->origin = 0;
	return failed;
}

/* --- the decoder --- */

static int chrome_info(struct input *in, struct trace_info *info, struct error *e)
{
	struct chrome *c = in->state;

	if (read_all(c, e))
		return -1;
	fact_text(info, "format", "chrome");
	fact_number(info, "events", c->counts.events);
	fact_number(info, "threads", c->nthreads);
	return 0;
}

static int chrome_begin(struct input *in, struct error *e)
{
	struct chrome *c = in->state;
	struct writer *w = c->w;
	struct sorter_record r;

	c->texts.begin = writer_text(w, "begin");
	c->texts.end = writer_text(w, "end");
	c->texts.unfinished = writer_text(w, CHROME_UNFINISHED);
	c->texts.gap = writer_text(w, CHROME_GAP);
	c->texts.gap_category = writer_text(w, CHROME_GAP_CATEGORY);
	c->texts.period = writer_text(w, "period");
	if (!c->texts.period || !c->texts.begin || !c->texts.end || !c->texts.unfinished ||
	    !c->texts.gap || !c->texts.gap_category)
		return error_no_memory(e);
	if (read_all(c, e) || sorter_finish(&c->sorter, e))
		return -1;
	c->source = writer_source(w, &(struct source_entry){writer_text(w, "chrome"),
							    writer_text(w, in->name), 0, 0});
	in->ticks = c->ticks;
	if (c->ticks)
		in->clock_name = c->clock_name;
	if (merge_choose_clock(in, e))
		return -1;
	c->clock = writer_clock(w, &(struct clock_entry){.name = writer_text(w, in->clock_name),
							 .flags = c->ticks ? CLOCK_TICKS : 0});
	c->id_name = chrome_id_name(c);
	if (!c->source || !c->clock || !c->id_name ||
	    process_names_write(w, c->source, &c->metadata.process_names) ||
	    chrome_metadata_write(c))
		return error_no_memory(e);
	if (chrome_find_overlaps(c, e))
		return -1;
	return sorter_peek(&c->sorter, &r) ? merge_first(in, chrome_stream_time(c, r.key.time), e)
					   : 0;
}

static int chrome_run(struct input *in, uint64_t until, struct error *e)
{
	struct chrome *c = in->state;
	uint64_t limit;

	if (!merge_unshifted(until, in->shift, &limit))
		return 0;
	if (chrome_rows(c, limit, &in->next, e))
		return -1;
	if (in->next != UINT64_MAX)
		in->next = merge_shifted(in->next, in->shift);
	return 0;
}

/* Report the members of events that the stream has no place for. */
static void report_left_out(const struct chrome *c)
{
	char names[256];
	size_t at = 0;

	for (uint32_t i = 0; i < c->counts.left_out.count && i < CHROME_NAMED_MOST; i++)
		at += (size_t)snprintf(names + at, sizeof names - at, "%s%.20s", i ? ", " : "",
				       (const char *)intern_data(&c->counts.left_out, i));
	warn_count(c->input->name, c->counts.reduced_events,
		   "{event has|events have} members that are left out: %s%s", names,
		   c->counts.left_out.count > CHROME_NAMED_MOST ? ", ..." : "");
}

/* Report the events that the stream does not contain, or contains in another form. */
static void print_remarks(const struct chrome *c)
{
	const struct chrome_counts *n = &c->counts;
	const char *file = c->input->name;
	int64_t lowest = chrome_unit(c, c->lowest);

	if (lowest + c->origin < 0)
		warn_count(
			file, n->negative,
			"{time is|times are} below 0: all times count from the earliest, %" PRId64
			" %s",
			lowest, c->ticks ? "ticks" : "ns");
	warn_count(file, n->lasting_none,
		   "{call has|calls have} no duration (X without dur): {it lasts|they last} 0 %s",
		   c->ticks ? "ticks" : "ns");
	complete_calls_clipped(file, n->clipped);
	if (n->ignored)
		warn(file, n->ignored_first,
		     "the first of %" PRIu64
		     " event%s without a time or a phase, which were left out",
		     n->ignored, n->ignored == 1 ? "" : "s");
	warn_count(
		file, n->named,
		"{id|ids} of processes and threads {is no number|are no numbers} from 0 to "
		"2147483647 (the first one: %s): {it was given a number, and names|they were given "
		"numbers, and name} processes and threads without a name",
		n->named_first);
	warn_count(
		file, c->arguments.nameless,
		"{argument|arguments} of names that have more than 4096 different ones {was|were} "
		"left out");
	warn_count(file, c->frames.unknown,
		   "{frame of stacks is|frames of stacks are} not in the file");
	warn_count(file, n->unopened,
		   "{end|ends} of calls without {a begin|begins} {was|were} left out");
	warn_count(file, n->unkept,
		   "{begin|begins} of asynchronous calls {was|were} left out: too many calls are "
		   "open");
	if (c->async.ids.count)
		warn_count(
			file, c->async.ids.count,
			"{id|ids} of asynchronous events {is no number|are no numbers} (the first "
			"one: %.64s): {it was given a number|they were given numbers}",
			intern_data(&c->async.ids, 0));
	if (n->idless)
		warn(file, NO_OFFSET,
		     "the ids of %" PRIu64 " event%s were left out, which are instants now "
		     "(phases: %s)",
		     n->idless, n->idless == 1 ? "" : "s", n->phases);
	report_left_out(c);
	warn_count(file, n->reduced,
		   "{sample has|samples have} arguments beside the weight, which are left out");
}

/* Report the number of further faults of each kind; the first was reported with its offset. */
static void more_damage(const struct chrome *c)
{
	uint64_t times = c->counts.wrong_times, durations = c->counts.wrong_durations;

	uint64_t faults = c->counts.faults, escapes = c->counts.escapes;

	warn_count(c->input->name, faults - (faults > 0),
		   "more {fault|faults} in the JSON; events that were left out: %" PRIu64,
		   c->counts.unread);
	warn_count(c->input->name, escapes - (escapes > 0),
		   "more {escape|escapes} that JSON does not have");
	warn_count(
		c->input->name, times - (times > 0),
		"more {event|events} with {an impossible time was|impossible times were} left out");
	warn_count(c->input->name, durations - (durations > 0),
		   "more {event|events} with {an impossible duration was|impossible durations "
		   "were} left "
		   "out");
}

static void chrome_close(struct input *in)
{
	struct chrome *c = in->state;
	struct buffer *const buffers[] = {
		&c->read.name,	    &c->read.category, &c->read.phase,	&c->read.pid,
		&c->read.tid,	    &c->read.other,    &c->read.values, &c->read.record,
		&c->read.arguments, &c->read.frame,    &c->read.weight, &c->read.cpu,
		&c->read.id_text,   &c->read.names,    &c->read.nested, &c->read.left_out};

	more_damage(c);
	if (!in->decoding->quiet)
		print_remarks(c);
	sorter_free(&c->sorter);
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_free(buffers[i]);
	json_close(&c->read.json);
	for (size_t i = 0; i < c->nthreads; i++) {
		while (c->threads[i].depth)
			free(c->threads[i].frames[--c->threads[i].depth].values);
		free(c->threads[i].frames);
	}
	free(c->threads);
	for (size_t i = 0; i < c->overlapping.count; i++)
		free(c->overlapping.frames[i].values);
	free(c->overlapping.frames);
	chrome_metadata_free(&c->metadata);
	complete_calls_free(&c->completes);
	free(c->async.open);
	chrome_frames_free(&c->frames);
	intern_free(&c->profiles.keys);
	free(c->profiles.profile);
	open_calls_free(&c->async.keys);
	intern_free(&c->async.ids);
	id_cache_free(&c->async.declared);
	intern_free(&c->thread_keys);
	intern_free(&c->names);
	intern_free(&c->counts.left_out);
	arguments_free(&c->arguments);
	id_cache_free(&c->declared);
	chrome_flows_free(&c->flows);
	id_cache_free(&c->metadata.process_names);
	free(c);
	in->state = NULL;
}

const struct decoder decoder_chrome = {
	.name = "chrome",
	.in_order = true,
	.probe = chrome_probe,
	.open = chrome_open,
	.info = chrome_info,
	.begin = chrome_begin,
	.run = chrome_run,
	.close = chrome_close,
};
