/*
 * speedscope.c - the decoder of the files of speedscope.app: calls and samples, many profiles a
 * file
 *
 *     {"shared": {"frames": [{"name": "main"}, {"name": "f", "file": "a.js", "line": 3}]},
 *      "profiles": [
 *        {"type": "evented", "name": "work [7]", "unit": "nanoseconds", "startValue": 0,
 * "endValue": 9, "events": [{"type": "O", "frame": 0, "at": 1}, {"type": "C", "frame": 0, "at":
 * 9}]},
 *        {"type": "sampled", "name": "CPU", "unit": "milliseconds", "startValue": 0, "endValue": 2,
 *         "samples": [[0, 1]], "weights": [2]}]}
 *
 * is a call of main in the thread work with the tid 7, from 1 to 9 ns, and a sample with the stack
 * main, f, which weighs 2 ms.
 *
 * Members are in any order, and the frames may come last. So the file is read whole; events are
 * sorted by time, and the stacks and frames remain in memory.
 *
 * Source: src/lib/file-format-spec.ts of github.com/jlfwong/speedscope.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/frames.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/util/u128.h"
#include "common/value/json.h"

enum { SPEEDSCOPE_FRAMES = 1 << 28 }; /* indexes of frames are below it */

/* A unit, and the power of ten of the ns in it; -1: it is no time. Weights of two types of samples
 * are never added, so those of other units are of other types. */
struct speedscope_unit {
	const char *name;
	int digits;
	const char *type; /* of samples whose profile names none */
};

static const struct speedscope_unit speedscope_units[] = {
	{"none", -1, "samples"},     {"bytes", -1, "bytes"},	  {"nanoseconds", 0, "time"},
	{"microseconds", 3, "time"}, {"milliseconds", 6, "time"}, {"seconds", 9, "time"},
};

struct speedscope_profile {
	uint32_t name; /* string of the writer */
	const struct speedscope_unit *unit;
	uint32_t lane, type;	     /* type: of samples; 0: not declared yet */
	uint32_t comm, samples_name; /* strings of the writer */
	int32_t tid;		     /* -1: not known yet */
	uint64_t events, samples;
};

/* Damage of one kind. */
struct speedscope_fault {
	uint64_t count;
	size_t profile; /* number of the first that has it */
};

enum speedscope_kind { SPEEDSCOPE_OPEN, SPEEDSCOPE_CLOSE, SPEEDSCOPE_SAMPLE };

/* An event or a sample, as sorted. */
struct speedscope_record {
	uint64_t weight;
	uint32_t profile, kind; /* index of its profile; enum speedscope_kind */
	uint32_t what;		/* index of its frame; number of its stack */
};

struct speedscope_decoder {
	struct input *input;
	struct writer *w;
	struct frame_locations locations;
	struct named_frame *frames; /* by index */
	size_t nframes, frames_capacity;
	struct stack_table stacks; /* of indexes of frames + 1 */
	uint32_t *declared;	   /* by number of a stack: that of the writer; 0 not yet */
	struct speedscope_profile *profiles;
	size_t nprofiles, capacity;
	struct sorter sorter;
	uint64_t records;
	uint32_t source, clock, enter, leave;
	bool in_time; /* a profile has a unit of time */
	bool inexact; /* a value has more digits than are kept */
	/* The profile that is read. */
	struct {
		struct buffer events, weights; /* JSON that was read before the unit */
		struct buffer start;	       /* the text of startValue */
		struct buffer stacks;	       /* u32 each: of the samples */
		struct buffer values;	       /* i64 each: their weights */
		struct buffer open;	       /* u32 each: frames that are open */
		int64_t last;		       /* of the events: time */
		int64_t carry;		       /* of the weights: the fraction left out */
		bool has_unit;
	} read;
	int64_t earliest; /* time that becomes 0; at most 0 */
	struct {
		uint32_t frame; /* highest index */
		size_t profile; /* number of its profile; 0: none */
	} highest;
	struct {
		struct speedscope_fault unclosed, back, frames, negative, range, events, types;
	} counts;
};

/* Note damage in the profile that is read. */
static void speedscope_note(struct speedscope_decoder *s, struct speedscope_fault *fault)
{
	if (!fault->count++)
		fault->profile = s->nprofiles;
}

static bool speedscope_index(const struct json_reader *r, enum json_token token, uint32_t *index)
{
	int64_t n;
	bool inexact = false;

	*index = SPEEDSCOPE_FRAMES - 1;
	if (token != JSON_NUMBER || !json_decimal((const char *)r->text.data, 0, &n, &inexact) ||
	    inexact || n < 0 || n >= SPEEDSCOPE_FRAMES)
		return false;
	*index = (uint32_t)n;
	return true;
}

/* Note that a profile names a frame, which may come later. */
static uint32_t speedscope_name_frame(struct speedscope_decoder *s, const struct json_reader *r,
				      enum json_token token)
{
	uint32_t frame;

	if (!speedscope_index(r, token, &frame)) {
		speedscope_note(s, &s->counts.frames);
	} else if (!s->highest.profile || frame > s->highest.frame) {
		s->highest.frame = frame;
		s->highest.profile = s->nprofiles;
	}
	return frame;
}

/* --- values --- */

/* Get the number of digits to keep of a value. */
static int speedscope_digits(const struct speedscope_profile *p)
{
	return p->unit->digits > 0 ? p->unit->digits : 0;
}

/* Convert the text of a number to ns, or to the profile's unit. */
static int64_t speedscope_number(struct speedscope_decoder *s, const char *text)
{
	int64_t n;

	if (json_decimal(text, speedscope_digits(&s->profiles[s->nprofiles - 1]), &n, &s->inexact))
		return n;
	speedscope_note(s, &s->counts.range);
	return 0;
}

enum { SPEEDSCOPE_DIGITS = 6 }; /* of fractions that are carried */

/* Convert the text of a weight. The sum keeps what whole weights would lose. */
static int64_t speedscope_weight(struct speedscope_decoder *s, const char *text)
{
	const int64_t one = 1000000; /* SPEEDSCOPE_DIGITS */
	int64_t n = speedscope_number(s, text), fine;
	int digits = speedscope_digits(&s->profiles[s->nprofiles - 1]) + SPEEDSCOPE_DIGITS;

	if (n < 0 || n > INT64_MAX / one || !json_decimal(text, digits, &fine, NULL))
		return n;
	s->read.carry += fine - n * one;
	if (s->read.carry >= one) {
		s->read.carry -= one;
		n++;
	}
	return n;
}

/* Add a record of the profile that is read. */
static int speedscope_add(struct speedscope_decoder *s, int64_t time, struct speedscope_record r,
			  struct error *e)
{
	struct sorter_key key = {(uint64_t)time + (uint64_t)INT64_MIN, s->records++};
	struct speedscope_record record;

	if (time < s->earliest)
		s->earliest = time;

	/* its padding, too, is written to a temporary file */
	memset(&record, 0, sizeof record);
	record.weight = r.weight;
	record.profile = (uint32_t)s->nprofiles - 1;
	record.kind = r.kind;
	record.what = r.what;
	return sorter_add(&s->sorter, key, &record, sizeof record, e);
}

/* --- calls --- */

/* Close the open frames down to the innermost one of that index; 1: it is not open. */
static int speedscope_close_frame(struct speedscope_decoder *s, uint32_t frame, struct error *e)
{
	struct buffer *open = &s->read.open;
	size_t at = open->size;

	while (at && get_u32(open->data + at - 4) != frame)
		at -= 4;
	if (!at)
		return 1;
	for (size_t i = at; i < open->size; i += 4)
		speedscope_note(s, &s->counts.unclosed);
	while (open->size >= at) {
		open->size -= 4;
		if (speedscope_add(
			    s, s->read.last,
			    (struct speedscope_record){.kind = SPEEDSCOPE_CLOSE,
						       .what = get_u32(open->data + open->size)},
			    e))
			return -1;
	}
	return 0;
}

/* Take an event: 'O' opens a frame, 'C' closes it. */
static int speedscope_event_at(struct speedscope_decoder *s, char type, uint32_t frame, int64_t at,
			       struct error *e)
{
	int status;

	if (at < s->read.last)
		speedscope_note(s, &s->counts.back);
	else
		s->read.last = at;
	if (type == 'C') {
		status = speedscope_close_frame(s, frame, e);
		if (status > 0)
			speedscope_note(s, &s->counts.unclosed);
		return status < 0 ? -1 : 0;
	}
	s->profiles[s->nprofiles - 1].events++;
	return buffer_u32(&s->read.open, frame)
		       ? error_no_memory(e)
		       : speedscope_add(
				 s, s->read.last,
				 (struct speedscope_record){.kind = SPEEDSCOPE_OPEN, .what = frame},
				 e);
}

/* Read an event, after its '{'. Here and below: 0, or -1: BAD, or *e is filled. */
static int speedscope_read_event(struct speedscope_decoder *s, struct json_reader *r,
				 struct error *e)
{
	uint32_t frame = SPEEDSCOPE_FRAMES - 1;
	enum json_token token;
	int64_t at = 0;
	char type = 0;
	bool timed = false;

	while ((token = json_next(r)) == JSON_KEY) {
		bool is_type = json_is(r, "type"), is_frame = json_is(r, "frame");
		bool is_at = json_is(r, "at");

		token = json_next(r);
		if (is_type && token == JSON_STRING && r->text.size == 1)
			type = (char)r->text.data[0];
		else if (is_frame && token == JSON_NUMBER)
			frame = speedscope_name_frame(s, r, token);
		else if (is_at && token == JSON_NUMBER)
			at = speedscope_number(s, (char *)r->text.data), timed = true;
		else if (!json_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	if ((type == 'O' || type == 'C') && timed)
		return speedscope_event_at(s, type, frame, at, e);
	speedscope_note(s, &s->counts.events);
	return 0;
}

/* --- samples --- */

/* Read the stack of a sample, after its '[': frames, outermost first. */
static int speedscope_read_stack(struct speedscope_decoder *s, struct json_reader *r)
{
	enum json_token token;
	uint32_t stack = 0, frame;

	while ((token = json_next(r)) != JSON_ARRAY_END) {
		if (token == JSON_BAD || token == JSON_OBJECT || token == JSON_ARRAY) {
			if (!json_skip(r, token))
				return -1;
			continue;
		}
		frame = speedscope_name_frame(s, r, token);
		if (!stack_table_fits(&s->stacks, stack))
			continue;
		stack = stack_table_add(&s->stacks, stack, frame + 1);
		if (!stack)
			return -1;
	}
	return buffer_u32(&s->read.stacks, stack);
}

/* Read an array, after its '[': of events, stacks of samples, or weights. */
static int speedscope_read_array(struct speedscope_decoder *s, struct json_reader *r, char what,
				 struct error *e)
{
	enum json_token token;
	int failed = 0;

	while (!failed && (token = json_next(r)) != JSON_ARRAY_END) {
		if (what == 'e' && token == JSON_OBJECT)
			failed = speedscope_read_event(s, r, e);
		else if (what == 's' && token == JSON_ARRAY)
			failed = speedscope_read_stack(s, r);
		else if (what == 'w' && token == JSON_NUMBER)
			failed = buffer_u64(&s->read.values,
					    (uint64_t)speedscope_weight(s, (char *)r->text.data));
		else
			failed = token == JSON_BAD || !json_skip(r, token);
	}
	return failed ? -1 : 0;
}

/* --- profiles --- */

/* Read an array that was kept as text until the unit was known. */
static int speedscope_read_kept(struct speedscope_decoder *s, struct buffer *text, char what,
				struct error *e)
{
	struct json_reader r = {0};
	int failed;

	if (!text->size)
		return 0;
	json_open_text(&r, (const char *)text->data, text->size);
	failed = json_next(&r) != JSON_ARRAY || speedscope_read_array(s, &r, what, e);
	json_close(&r);
	text->size = 0;
	return failed ? -1 : 0;
}

static void speedscope_set_unit(struct speedscope_decoder *s, const struct json_reader *r)
{
	for (size_t i = 0; i < sizeof speedscope_units / sizeof *speedscope_units; i++)
		if (json_is(r, speedscope_units[i].name))
			s->profiles[s->nprofiles - 1].unit = &speedscope_units[i];
	s->in_time |= s->profiles[s->nprofiles - 1].unit->digits >= 0;
	s->read.has_unit = true;
}

/* Read a member of a profile, whose key r has read. */
static int speedscope_member(struct speedscope_decoder *s, struct json_reader *r, struct error *e)
{
	struct speedscope_profile *p = &s->profiles[s->nprofiles - 1];
	bool name = json_is(r, "name"), unit = json_is(r, "unit"), start = json_is(r, "startValue");
	bool type = json_is(r, "type");
	char what = json_is(r, "events")    ? 'e'
		    : json_is(r, "samples") ? 's'
		    : json_is(r, "weights") ? 'w'
					    : 0;
	enum json_token token = json_next(r);

	if (name && token == JSON_STRING)
		p->name = writer_string(s->w, r->text.data, r->text.size);
	else if (unit && token == JSON_STRING)
		speedscope_set_unit(s, r);
	else if (type && token == JSON_STRING) {
		if (!json_is(r, "evented") && !json_is(r, "sampled"))
			speedscope_note(s, &s->counts.types);
	} else if (start && token == JSON_NUMBER) {
		s->read.start.size = 0;
		return buffer_append(&s->read.start, r->text.data, r->text.size + 1);
	} else if (what && what != 's' && token == JSON_ARRAY && !s->read.has_unit)
		return json_copy(r, token, what == 'e' ? &s->read.events : &s->read.weights,
				 SIZE_MAX);
	else if (what && token == JSON_ARRAY)
		return speedscope_read_array(s, r, what, e);
	else if (!json_skip(r, token))
		return -1;
	return 0;
}

/* Add the samples of the profile that was read: each begins where the one before ends. */
static int speedscope_add_samples(struct speedscope_decoder *s, struct error *e)
{
	struct speedscope_profile *p = &s->profiles[s->nprofiles - 1];
	size_t n = s->read.stacks.size / 4;
	bool in_time = p->unit->digits >= 0;
	int64_t time = 0;

	if (in_time && s->read.start.size)
		time = speedscope_number(s, (char *)s->read.start.data);
	if (s->read.values.size / 8 < n && s->read.values.size)
		input_damage(s->input, s->input->name, NO_OFFSET,
			     "profile %zu has %zu samples and %zu weights: the others weigh 0",
			     s->nprofiles, n, s->read.values.size / 8);
	for (size_t i = 0; i < n; i++) {
		struct speedscope_record r = {.kind = SPEEDSCOPE_SAMPLE,
					      .what = get_u32(s->read.stacks.data + 4 * i),
					      .weight = !s->read.values.size};
		int64_t weight = 8 * i < s->read.values.size
					 ? (int64_t)get_u64(s->read.values.data + 8 * i)
					 : (int64_t)r.weight;

		if (weight < 0)
			speedscope_note(s, &s->counts.negative);
		r.weight = weight < 0 ? 0 : (uint64_t)weight;
		if (speedscope_add(s, in_time ? time : (int64_t)i + 1, r, e))
			return -1;
		/* saturates below where a time is damage */
		if (__builtin_add_overflow(time, (int64_t)r.weight, &time) ||
		    time >= (int64_t)TIME_LIMIT)
			time = (int64_t)TIME_LIMIT - 1;
		p->samples++;
	}
	return 0;
}

/* Read a profile, after its '{'. */
static int speedscope_read_profile(struct speedscope_decoder *s, struct json_reader *r,
				   struct error *e)
{
	enum json_token token;
	int failed = 0, bad;

	if (ARRAY_GROW(s->profiles, s->capacity, s->nprofiles))
		return error_no_memory(e);
	s->profiles[s->nprofiles++] =
		(struct speedscope_profile){.unit = speedscope_units, .tid = -1};
	s->read.events.size = s->read.weights.size = 0;
	s->read.start.size = s->read.stacks.size = s->read.values.size = s->read.open.size = 0;
	s->read.has_unit = false;
	s->read.last = INT64_MIN;
	s->read.carry = 0;
	while (!failed && (token = json_next(r)) == JSON_KEY)
		failed = speedscope_member(s, r, e);
	bad = failed || token != JSON_OBJECT_END;
	/* what was read before a fault is kept */
	if (!e->what[0] &&
	    (speedscope_read_kept(s, &s->read.events, 'e', e) ||
	     speedscope_read_kept(s, &s->read.weights, 'w', e) || speedscope_add_samples(s, e)))
		return -1;
	return bad ? -1 : 0;
}

/* --- the file --- */

/* Read a frame, after its '{'. */
static int speedscope_read_frame(struct speedscope_decoder *s, struct json_reader *r)
{
	struct named_frame f = {0};
	enum json_token token;
	int64_t n;

	while ((token = json_next(r)) == JSON_KEY) {
		bool name = json_is(r, "name"), file = json_is(r, "file"),
		     line = json_is(r, "line");

		token = json_next(r);
		if ((name || file) && token == JSON_STRING)
			*(name ? &f.name : &f.file) =
				writer_string(s->w, r->text.data, r->text.size);
		else if (line && token == JSON_NUMBER) {
			if (json_decimal((char *)r->text.data, 0, &n, NULL) && n > 0 &&
			    n <= UINT32_MAX)
				f.line = (uint32_t)n;
		} else if (!json_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END || ARRAY_GROW(s->frames, s->frames_capacity, s->nframes))
		return -1;
	s->frames[s->nframes++] = f;
	return 0;
}

/* Read "shared", after its '{'. */
static int speedscope_read_shared(struct speedscope_decoder *s, struct json_reader *r)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool frames = json_is(r, "frames");

		token = json_next(r);
		if (!frames || token != JSON_ARRAY) {
			if (!json_skip(r, token))
				return -1;
			continue;
		}
		while ((token = json_next(r)) != JSON_ARRAY_END)
			if (token == JSON_OBJECT ? speedscope_read_frame(s, r)
						 : token == JSON_BAD || !json_skip(r, token))
				return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read the members of the file. */
static int speedscope_read_members(struct speedscope_decoder *s, struct json_reader *r, bool *found,
				   struct error *e)
{
	enum json_token token;

	if (json_next(r) != JSON_OBJECT)
		return -1;
	while ((token = json_next(r)) == JSON_KEY) {
		bool profiles = json_is(r, "profiles"), shared = json_is(r, "shared");

		token = json_next(r);
		if (shared && token == JSON_OBJECT) {
			if (speedscope_read_shared(s, r))
				return -1;
			continue;
		}
		if (!profiles || token != JSON_ARRAY) {
			if (!json_skip(r, token))
				return -1;
			continue;
		}
		*found = true;
		while ((token = json_next(r)) != JSON_ARRAY_END)
			if (token == JSON_OBJECT ? speedscope_read_profile(s, r, e)
						 : token == JSON_BAD || !json_skip(r, token))
				return -1;
	}
	return token == JSON_OBJECT_END && json_next(r) == JSON_END ? 0 : -1;
}

static void speedscope_report(struct speedscope_decoder *s, const struct speedscope_fault *fault,
			      const char *what)
{
	if (fault->count)
		input_damage(s->input, s->input->name, NO_OFFSET,
			     "%s: %" PRIu64 ", the first in profile %zu", what, fault->count,
			     fault->profile);
}

/* Report what the file has that no file should. */
static void speedscope_report_damage(struct speedscope_decoder *s, bool whole)
{
	speedscope_report(s, &s->counts.types,
			  "a profile that is neither evented nor sampled; such profiles");
	speedscope_report(s, &s->counts.events,
			  "an event that opens or closes no frame, or has no time, is left out; "
			  "such events");
	speedscope_report(s, &s->counts.frames, "an index of a frame that is none; such indexes");
	if (whole && s->highest.profile && s->highest.frame >= s->nframes)
		input_damage(s->input, s->input->name, NO_OFFSET,
			     "profile %zu names the frame %" PRIu32 ", and the file has %zu frames",
			     s->highest.profile, s->highest.frame, s->nframes);
	speedscope_report(s, &s->counts.range,
			  "a value that is out of range: 0 is in its place; such values");
	speedscope_report(s, &s->counts.negative,
			  "a negative weight: 0 is in its place; such weights");
	speedscope_report(s, &s->counts.unclosed,
			  "the frame that is closed is not the innermost one; such events");
	speedscope_report(s, &s->counts.back,
			  "an event is earlier than the one before: it has its time; such events");
}

/* Read the file. Damage is reported. 0, or -1 with *e filled. */
static int speedscope_read_file(struct speedscope_decoder *s, struct error *e)
{
	struct input *in = s->input;
	struct json_reader r;
	bool found = false, whole = true;
	int failed;

	e->what[0] = '\0';
	if (input_open_json(in, &r, e))
		return -1;
	failed = speedscope_read_members(s, &r, &found, e);
	if (e->what[0])
		failed = -1;
	else if (!found && !r.failed)
		failed = error_set(e, in->name, r.error.what[0] ? r.error.offset : NO_OFFSET,
				   "no file of speedscope: %s",
				   r.error.what[0] ? r.error.what : "no profiles");
	else if (failed && !r.error.what[0])
		failed = error_no_memory(e);
	else if (failed) {
		input_damage_error(in, &r.error);
		whole = false;
		failed = 0;
	}
	json_close(&r);
	if (failed)
		return -1;
	speedscope_report_damage(s, whole);
	return sorter_finish(&s->sorter, e);
}

/* --- the decoder --- */

static enum bid speedscope_probe(const struct input *in)
{
	return input_bid_object(
		in, "speedscope",
		input_head_has(in, "speedscope.app/file-format-schema") ||
			(input_head_has(in, "\"profiles\"") &&
			 (input_head_has(in, "\"evented\"") ||
			  input_head_has(in, "\"sampled\""))) ||
			(input_head_has(in, "\"shared\"") && input_head_has(in, "\"frames\"")));
}

static int speedscope_open(struct input *in, struct error *e)
{
	struct speedscope_decoder *s = calloc(1, sizeof *s);

	in->state = s;
	if (!s)
		return error_no_memory(e);
	s->input = in;
	s->w = s->locations.w = in->decoding->writer;
	sorter_init(&s->sorter);
	return 0;
}

static int speedscope_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct speedscope_decoder *s = in->state;
	uint64_t calls = 0, samples = 0;

	if (speedscope_read_file(s, e))
		return -1;
	fact_text(facts, "format", "speedscope");
	fact_number(facts, "profiles", s->nprofiles);
	for (size_t i = 0; i < s->nprofiles; i++) {
		calls += s->profiles[i].events;
		samples += s->profiles[i].samples;
	}
	fact_number(facts, "calls", calls);
	fact_number(facts, "samples", samples);
	fact_number(facts, "frames", s->nframes);
	for (size_t i = 0; i < s->nprofiles; i++) {
		size_t n;
		const char *text = writer_string_of(s->w, s->profiles[i].name, &n);
		struct buffer name = {0};

		if (buffer_append(&name, text, n) || buffer_puts(&name, ", ") ||
		    buffer_puts(&name, s->profiles[i].unit->name) || buffer_u8(&name, 0)) {
			buffer_free(&name);
			return error_no_memory(e);
		}
		fact_item(facts, "profile", (const char *)name.data);
		buffer_free(&name);
	}
	return 0;
}

/* Find the tid in the name of a profile, "COMM [TID]" or "COMM [TID] TYPE", and the end of COMM.
 * NULL: there is none. */
static const char *speedscope_tid(const char *name, const char *end, int32_t *tid,
				  const char **type)
{
	const char *found = NULL;

	for (const char *p = name; p + 3 < end; p++) {
		const char *digit = p + 2;
		int64_t n = 0;

		if (p[0] != ' ' || p[1] != '[')
			continue;
		for (; digit < end && *digit >= '0' && *digit <= '9' && n <= INT32_MAX; digit++)
			n = 10 * n + *digit - '0';
		if (digit == p + 2 || digit == end || *digit != ']' || n > INT32_MAX ||
		    (digit + 1 < end && digit[1] != ' '))
			continue;
		found = p;
		*tid = (int32_t)n;
		*type = digit + 1 < end ? digit + 2 : end;
	}
	return found;
}

/* Set the type of the samples of a profile from its name. units: by type, the name of its first
 * unit; a type with another unit has the name of that, too. */
static int speedscope_name_samples(struct speedscope_decoder *s, struct speedscope_profile *p,
				   struct text_span type, struct id_cache *units)
{
	uint32_t unit = writer_text(s->w, p->unit->type), *first;
	struct buffer name = {0};
	int failed = 0;

	p->samples_name = span_size(type) ? writer_string(s->w, type.at, span_size(type)) : unit;
	first = id_cache_number(units, &p->samples_name, sizeof p->samples_name);
	if (!p->samples || !first || !*first || *first == unit) {
		if (first && p->samples)
			*first = unit;
		return first ? 0 : -1;
	}
	failed = buffer_append(&name, type.at, span_size(type)) || buffer_puts(&name, " ") ||
		 buffer_puts(&name, p->unit->type);
	if (!failed)
		p->samples_name = writer_string(s->w, name.data, name.size);
	buffer_free(&name);
	return failed ? -1 : 0;
}

/* Find the thread, the comm and the type in the name of a profile. */
static int speedscope_read_name(struct speedscope_decoder *s, struct speedscope_profile *p,
				struct id_cache *units)
{
	size_t n;
	const char *name = writer_string_of(s->w, p->name, &n), *type, *end;
	/* the text of a string is valid until the next one is declared */
	char *copy = malloc(n + 1);
	int failed;

	if (!copy)
		return -1;
	memcpy(copy, name, n);
	type = copy + n;
	end = speedscope_tid(copy, copy + n, &p->tid, &type);
	p->comm = writer_string(s->w, copy, end ? (size_t)(end - copy) : n);
	failed = speedscope_name_samples(s, p, (struct text_span){type, copy + n}, units);
	free(copy);
	return failed;
}

/*
 * Give each profile a thread of its own. The calls of a thread and each type of its samples, as
 * trencode writes them, are one thread: their names have the same tid and comm.
 */
static int speedscope_number_threads(struct speedscope_decoder *s)
{
	struct id_cache tids = {0}, kinds = {0}; /* by tid: comm + 1; by tid and kind: 1 */
	struct id_cache units = {0};
	int32_t next = (int32_t)s->nprofiles;
	int failed = 0;

	for (size_t i = 0; i < s->nprofiles && !failed; i++) {
		struct speedscope_profile *p = &s->profiles[i];
		uint32_t kind[2], *comm, *used;

		failed = speedscope_read_name(s, p, &units);
		kind[0] = (uint32_t)p->tid;
		kind[1] = p->events ? 0 : p->name;
		if (failed || p->tid < 0)
			continue;
		comm = id_cache_number(&tids, &p->tid, sizeof p->tid);
		used = id_cache_number(&kinds, kind, sizeof kind);
		failed = comm && used ? 0 : -1;
		if (!failed && (*used || (*comm && *comm != p->comm + 1)))
			p->tid = -1;
		else if (!failed)
			*used = 1, *comm = p->comm + 1;
	}
	for (size_t i = 0; i < s->nprofiles && !failed; i++) {
		struct speedscope_profile *p = &s->profiles[i];
		uint32_t *comm = NULL;

		if (p->tid >= 0)
			continue;
		/* that of the profile, or the next one that is free */
		for (p->tid = (int32_t)i + 1;
		     (comm = id_cache_number(&tids, &p->tid, sizeof p->tid)) && *comm;)
			p->tid = ++next;
		if (comm)
			*comm = p->comm + 1;
		failed = comm ? 0 : -1;
	}
	id_cache_free(&tids);
	id_cache_free(&kinds);
	id_cache_free(&units);
	return failed;
}

/* Declare the lane of a profile, and the type of its samples. */
static int speedscope_declare(struct speedscope_decoder *s, struct speedscope_profile *p)
{
	struct lane_entry lane = {.source = s->source,
				  .clock = s->clock,
				  .flags = LANE_HAS_TID,
				  .comm = p->comm,
				  .cpu = -1,
				  .pid = -1,
				  .ppid = -1,
				  .tid = p->tid};
	struct type_entry samples = {.source = s->source,
				     .name = p->samples_name,
				     .flags = p->unit->digits >= 0 ? TYPE_WEIGHT_TIME : 0};

	p->lane = writer_lane(s->w, &lane);
	if (p->samples)
		p->type = sample_type_declare(s->input->decoding, samples, "weight", false);
	return p->lane && (p->type || !p->samples) ? 0 : -1;
}

static int speedscope_declare_all(struct speedscope_decoder *s)
{
	struct writer *w = s->w;
	const struct input *in = s->input;
	struct type_entry call = {.kind = KIND_ENTER};
	bool calls = false;

	s->source = call.source =
		writer_source(w, &(struct source_entry){writer_text(w, "speedscope"),
							writer_text(w, in->name), 0, 0});
	s->clock = input_declare_clock(in, false);
	call.name = writer_text(w, "open");
	s->enter = writer_type(w, &call);
	call.name = writer_text(w, "close");
	call.kind = KIND_LEAVE;
	s->leave = writer_type(w, &call);
	s->declared = calloc(s->stacks.count + (size_t)1, sizeof *s->declared);
	if (!s->source || !s->clock || !s->enter || !s->leave || !s->declared)
		return -1;
	if (speedscope_number_threads(s))
		return -1;
	for (size_t i = 0; i < s->nprofiles; i++) {
		calls |= s->profiles[i].events;
		if (speedscope_declare(s, &s->profiles[i]))
			return -1;
	}
	return calls && (row_filter_announce(in->decoding->row_filter, s->enter, 0) ||
			 row_filter_announce(in->decoding->row_filter, s->leave, 0))
		       ? -1
		       : 0;
}

/* Get the time of a record: from the earliest one on, if that is negative. */
static uint64_t speedscope_time(const struct speedscope_decoder *s, const struct sorter_record *r)
{
	uint64_t time = r->key.time - (uint64_t)INT64_MIN - (uint64_t)s->earliest;

	return time < TIME_LIMIT ? time : TIME_LIMIT - 1;
}

static int speedscope_decode_begin(struct input *in, struct error *e)
{
	struct speedscope_decoder *s = in->state;
	struct sorter_record r;

	if (speedscope_read_file(s, e))
		return -1;
	in->clock_name = "trace";
	if (!s->in_time)
		merge_count_rows(in, "values");
	if (merge_choose_clock(in, e))
		return -1;
	if (speedscope_declare_all(s))
		return error_no_memory(e);
	in->next = UINT64_MAX;
	return sorter_peek(&s->sorter, &r) ? merge_first(in, speedscope_time(s, &r), e) : 0;
}

/* Get the location of a frame. 0: out of memory. */
static uint32_t speedscope_location(struct speedscope_decoder *s, uint32_t frame)
{
	static const struct named_frame none;

	return frame_location(&s->locations, frame < s->nframes ? &s->frames[frame] : &none);
}

/* Get the writer's stack of a stack. -1: out of memory. */
static int speedscope_stack(struct speedscope_decoder *s, uint32_t number, uint32_t *stack)
{
	struct buffer *path = &s->read.open;

	path->size = 0;
	for (; number && !s->declared[number]; number = stack_table_at(&s->stacks, number).parent)
		if (buffer_u32(path, number))
			return -1;
	*stack = number ? s->declared[number] : 0;
	for (size_t i = path->size; i; i -= 4) {
		uint32_t n = get_u32(path->data + i - 4);
		uint32_t location =
			speedscope_location(s, stack_table_at(&s->stacks, n).location - 1);

		*stack = location ? writer_stack(s->w, *stack, location) : 0;
		s->declared[n] = *stack;
		if (!*stack)
			return -1;
	}
	return 0;
}

static int speedscope_write(struct speedscope_decoder *s, const struct speedscope_record *r)
{
	const struct speedscope_profile *p = &s->profiles[r->profile];
	struct new_row row = {.time = s->input->next, .lane = p->lane};
	uint8_t weight[8];

	if (r->kind != SPEEDSCOPE_SAMPLE) {
		row.location = speedscope_location(s, r->what);
		return row.location ? writer_row(s->w, row.time, row.lane,
						 r->kind == SPEEDSCOPE_OPEN ? s->enter : s->leave,
						 row.location, 0)
				    : -1;
	}
	put_u64(weight, r->weight);
	row.type = p->type;
	row.fixed = weight;
	row.fixed_size = sizeof weight;
	return speedscope_stack(s, r->what, &row.location) ? -1 : writer_sample(s->w, row);
}

static int speedscope_run(struct input *in, uint64_t until, struct error *e)
{
	struct speedscope_decoder *s = in->state;
	struct speedscope_record record;
	struct sorter_record r;

	for (;;) {
		bool more = sorter_peek(&s->sorter, &r);

		in->next = more ? merge_shifted(speedscope_time(s, &r), in->shift) : UINT64_MAX;
		if (!more || in->next > until)
			return 0;
		/* the sorter aligns to 4 bytes */
		memcpy(&record, r.data, sizeof record);
		if (speedscope_write(s, &record) || sorter_advance(&s->sorter, e))
			return -1;
	}
}

static void speedscope_close(struct input *in)
{
	struct speedscope_decoder *s = in->state;

	if (!s)
		return;
	if (!in->decoding->quiet && s->earliest < 0)
		warn(in->name, NO_OFFSET,
		     "some times are below 0: all times count from the earliest, %" PRId64 " %s",
		     s->earliest, in->ticks ? "ticks" : "ns");
	if (!in->decoding->quiet && s->inexact)
		warn(in->name, NO_OFFSET,
		     "some values have a fraction of a nanosecond or of their unit, which is left "
		     "out");
	sorter_free(&s->sorter);
	frame_locations_free(&s->locations);
	stack_table_free(&s->stacks);
	buffer_free(&s->read.events);
	buffer_free(&s->read.weights);
	buffer_free(&s->read.start);
	buffer_free(&s->read.stacks);
	buffer_free(&s->read.values);
	buffer_free(&s->read.open);
	free(s->frames);
	free(s->declared);
	free(s->profiles);
	free(s);
	in->state = NULL;
}

const struct decoder decoder_speedscope = {
	.name = "speedscope",
	.in_order = true,
	.probe = speedscope_probe,
	.open = speedscope_open,
	.info = speedscope_info,
	.begin = speedscope_decode_begin,
	.run = speedscope_run,
	.close = speedscope_close,
};
