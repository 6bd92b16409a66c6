/*
 * chrome.c - reads Chrome JSON: the Trace Event Format, and CPU profiles
 *
 *     {"traceEvents": [
 *        {"ph": "B", "ts": 1.5, "pid": 1, "tid": 2, "name": "draw", "args": {"frame": 3}},
 *        {"ph": "E", "ts": 9, "pid": 1, "tid": 2}]}
 *
 * is an enter of draw at 1,500 ns in thread 2 of process 1, with frame=3, and its leave at 9,000
 * ns. Events are read one at a time and sorted; chrome_rows.c makes rows of them.
 */
#include "cmd/trdecode/chrome.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/calls/open_calls.h"
#include "common/cli/program.h"
#include "common/formats/chrome.h"
#include "common/formats/perfetto.h"
#include "common/stream/value.h"
#include "common/stream/writer.h"
#include "common/util/intern.h"
#include "common/value/json.h"

/* --- ids --- */

/* Convert a pid or tid; -1: there is none. *named: the text is no number in range, and gets one. */
static int32_t chrome_id_of(struct chrome *c, const struct buffer *b, bool *named)
{
	uint32_t number;
	char *end;
	long n;

	if (!b->size)
		return -1;
	n = strtol((char *)b->data, &end, 10);
	if (!*end && n >= 0 && n <= INT32_MAX)
		return (int32_t)n;
	/* not a number in range: use one that no other id has, the same each time */
	number = intern(&c->names, b->data, b->size);
	if (number == c->counts.named) {
		if (!number)
			snprintf(c->counts.named_first, sizeof c->counts.named_first, "%s",
				 (char *)b->data);
		c->counts.named++;
	}
	*named = true;
	return (int32_t)(0x40000000u | (number & 0x3fffffff));
}

/* Convert a pid or tid. A text that is no number in range gets one. */
static int32_t chrome_id(struct chrome *c, const struct buffer *text)
{
	bool named;

	return chrome_id_of(c, text, &named);
}

/* Convert the text of a number of a flow. */
static int chrome_read_number(struct chrome *c, const struct buffer *text, struct chrome_id *id)
{
	const char *p = (const char *)text->data, *digits = p;
	bool hex = *p == '0' && (p[1] == 'x' || p[1] == 'X');
	uint64_t number = 0;
	unsigned digit;

	id->form &= CHROME_ID_LOCAL | CHROME_ID_ENCLOSING;
	id->form |= CHROME_ID_HERE;
	for (digits += hex ? 2 : 0; *digits; digits++) {
		digit = *digits >= '0' && *digits <= '9' ? (unsigned)(*digits - '0')
			: hex && (*digits | 32) >= 'a' && (*digits | 32) <= 'f'
				? (unsigned)((*digits | 32) - 'a') + 10
				: UINT32_MAX;
		if (digit == UINT32_MAX ||
		    __builtin_mul_overflow(number, hex ? 16u : 10u, &number) ||
		    __builtin_add_overflow(number, digit, &number))
			break;
	}
	if (text->size && !*digits && digits == p + text->size) {
		id->number = number;
		id->form |= hex ? CHROME_ID_HEX : 0;
		return 0;
	}
	/* ids that are not numbers get numbers that no process uses as addresses */
	number = intern(&c->async.ids, text->data, text->size);
	if (number == INTERN_NONE)
		return -1;
	id->number = number | 1ull << 63;
	id->form |= CHROME_ID_HEX;
	return 0;
}

/* Convert the text of an event's id. */
static int chrome_read_id(struct chrome *c, const struct buffer *text, struct chrome_id *id)
{
	c->read.id_text.size = 0;
	if (buffer_append(&c->read.id_text, text->data, text->size))
		return -1;
	return chrome_read_number(c, text, id);
}

/* Count an instant of a phase without ids, whose id is left out. */
static void chrome_count_id(struct chrome *c)
{
	char phase = (char)c->read.phase.data[0];
	size_t n = strlen(c->counts.phases);

	if (!(c->event.id.form & CHROME_ID_HERE))
		return;
	c->counts.idless++;
	if (!strchr(c->counts.phases, phase) && n + 1 < sizeof c->counts.phases)
		c->counts.phases[n] = phase;
}

/* Append the id of a counter to the name, as viewers do: "name[id]". A counter has one track for
 * each name and id. */
static int chrome_name_counter(struct chrome *c)
{
	struct buffer *name = &c->read.name;

	if (!(c->event.id.form & CHROME_ID_HERE))
		return 0;
	if (buffer_u8(name, '[') ||
	    buffer_append(name, c->read.id_text.data, c->read.id_text.size) ||
	    buffer_append(name, "]", 2))
		return -1;
	name->size--;
	return 0;
}

/* Get a name for the field with the ids of asynchronous events that no argument has. */
static uint32_t chrome_id_name(struct chrome *c)
{
	uint32_t name = writer_text(c->w, CHROME_ID_FIELD);

	return name && arguments_has(&c->arguments, name)
		       ? arguments_free_name(&c->arguments, c->w, CHROME_ID_FIELD_2)
		       : name;
}

/*
 * What a file has beside its events: metadata events, and members next to traceEvents.
 *
 * All of this is the META CHROME_META, itself Trace Event JSON:
 *
 *     {"otherData":{"origin":"0","version":"2.1"},
 *     "traceEvents":[
 *     {"ph":"M","pid":1,"tid":2,"name":"thread_sort_index","args":{"sort_index":5}}],
 *     "schemaVersion":1}
 */

enum { METADATA_MOST = 4 << 20 }; /* bytes of the events, and of the members */

/* --- metadata events --- */

/* Append the value of an argument as JSON. */
static int chrome_put_value(struct buffer *b, const uint8_t *p, uint32_t size)
{
	long double real;
	struct values v;
	struct value value;

	values_begin(&v, p, size);
	if (!values_value(&v, &value))
		return buffer_puts(b, "null");
	switch (value.tag) {
	case VALUE_STRING: return json_append_string(b, (const char *)value.bytes, value.n);
	/* an object or array */
	case VALUE_BLOB: return buffer_append(b, value.bytes, value.n);
	case VALUE_UINT: return buffer_decimal(b, value.number);
	case VALUE_NEGATIVE: return buffer_signed(b, (int64_t)value.number);
	case VALUE_TRUE: return buffer_puts(b, "true");
	case VALUE_FALSE: return buffer_puts(b, "false");
	default: break;
	}
	return value_real(&value, &real) ? json_append_real(b, (double)real)
					 : buffer_puts(b, "null");
}

/* Append the beginning of a metadata event, up to its arguments. An id of -1 is left out. */
static int chrome_meta_head(struct buffer *b, int32_t pid, int32_t tid, const char *name, size_t n)
{
	return buffer_puts(b, "{\"ph\":\"M\"") ||
			       (pid >= 0 && buffer_printf(b, ",\"pid\":%" PRId32, pid)) ||
			       (tid >= 0 && buffer_printf(b, ",\"tid\":%" PRId32, tid)) ||
			       buffer_puts(b, ",\"name\":") || json_append_string(b, name, n) ||
			       buffer_puts(b, ",\"args\":{")
		       ? -1
		       : 0;
}

/* Append the metadata event in metadata.text. *last: where the one of its kind before begins, + 1;
 * 0. */
static int chrome_add_event(struct chrome *c, uint32_t *last)
{
	struct buffer *b = &c->metadata.events;
	size_t size = c->metadata.text.size;

	/* recorders repeat such events */
	if (*last && *last - 1 + size <= b->size &&
	    !memcmp(b->data + *last - 1, c->metadata.text.data, size))
		return 0;
	if (b->size + size > METADATA_MOST) {
		c->metadata.events_left_out = 1;
		return 0;
	}
	if (b->size && buffer_puts(b, ",\n"))
		return -1;
	*last = (uint32_t)b->size + 1;
	return buffer_append(b, c->metadata.text.data, size);
}

/* Keep the metadata event that is read, unless it is the name of a thread or process. */
static int chrome_metadata_event(struct chrome *c)
{
	const struct buffer *args = &c->read.arguments, *name = &c->read.name;
	uint32_t size, *last;
	size_t head, n;

	if (c->metadata.events_left_out) {
		c->metadata.events_left_out++;
		return 0;
	}
	c->metadata.text.size = 0;
	if (chrome_meta_head(&c->metadata.text, c->read.pid.size ? chrome_id(c, &c->read.pid) : -1,
			     c->read.tid.size ? chrome_id(c, &c->read.tid) : -1,
			     (const char *)name->data, name->size))
		return -1;
	head = c->metadata.text.size;
	for (size_t i = 0; i < args->size; i += 8 + size) {
		const char *key = writer_string_of(c->w, get_u32(args->data + i), &n);

		size = get_u32(args->data + i + 4);
		if ((i && buffer_u8(&c->metadata.text, ',')) ||
		    json_append_string(&c->metadata.text, key, n) ||
		    buffer_u8(&c->metadata.text, ':') ||
		    chrome_put_value(&c->metadata.text, args->data + i + 8, size))
			return -1;
	}
	last = id_cache_number(&c->metadata.last, c->metadata.text.data, head);
	return !last || buffer_puts(&c->metadata.text, "}}") || chrome_add_event(c, last) ? -1 : 0;
}

/* Add the event with the name of a thread or process that has no other events. */
static int chrome_add_name(struct chrome *c, const char *what, int32_t pid, int32_t tid,
			   uint32_t name)
{
	uint32_t last = 0;
	size_t n;
	const char *text = writer_string_of(c->w, name, &n);

	c->metadata.text.size = 0;
	if (chrome_meta_head(&c->metadata.text, pid, tid, what, strlen(what)) ||
	    buffer_puts(&c->metadata.text, "\"name\":") ||
	    json_append_string(&c->metadata.text, text, n) || buffer_puts(&c->metadata.text, "}}"))
		return -1;
	return chrome_add_event(c, &last);
}

/* Add the names of threads that no row of the stream has, or none as the thread's own: the comm of
 * the rows may be the name of the process. And those of processes in whose place the pid was. */
static int chrome_add_names(struct chrome *c)
{
	struct id_cache *names = &c->metadata.process_names;
	struct key_map used = {0};
	int failed = 0;

	for (size_t i = 0; i < c->nthreads && !failed; i++) {
		const struct chrome_thread *t = &c->threads[i];
		uint32_t *is = t->used ? key_map_number(&used, (uint32_t)t->pid) : NULL;
		const uint32_t *process = id_cache_number(names, &t->pid, sizeof t->pid);

		if (is)
			*is = 1;
		failed = !process || (t->used && !is) ||
			 (t->has_name && (!t->used || t->comm == *process) &&
			  chrome_add_name(c, "thread_name", t->pid, t->tid, t->comm));
	}
	for (uint32_t i = 0; i < names->keys.count && !failed; i++) {
		int32_t pid;

		memcpy(&pid, intern_data(&names->keys, i), sizeof pid);
		if (names->numbers[i] && !key_map_get(&used, (uint32_t)pid) &&
		    intern_find(&c->metadata.named, &pid, sizeof pid) == INTERN_NONE)
			failed = chrome_add_name(c, "process_name", pid, -1, names->numbers[i]);
	}
	key_map_free(&used);
	return failed ? -1 : 0;
}

/* --- members --- */

/* Keep a member of the file, or of otherData, whose key r has read. -1: BAD, or out of memory. */
static int chrome_metadata_member(struct chrome *c, struct json_reader *r, bool other)
{
	/* what trencode writes in any case */
	static const char unit[] = "\"displayTimeUnit\":\"ns\"";
	struct buffer *b = other ? &c->metadata.other : &c->metadata.members;
	size_t at = b->size, from, used = c->metadata.members.size + c->metadata.other.size;
	enum json_token token;
	int status;

	if (used + r->text.size > METADATA_MOST) {
		c->metadata.members_left_out++;
		return json_skip(r, json_next(r)) ? 0 : -1;
	}
	if (buffer_u8(b, ','))
		return -1;
	from = b->size;
	if (json_append_string(b, (const char *)r->text.data, r->text.size) || buffer_u8(b, ':'))
		return -1;
	token = json_next(r);
	used = c->metadata.members.size + c->metadata.other.size;
	status = json_copy(r, token, b, used > METADATA_MOST ? 0 : METADATA_MOST - used);
	c->metadata.members_left_out += status > 0;
	if (status || (!other && b->size - from == sizeof unit - 1 &&
		       !memcmp(b->data + from, unit, sizeof unit - 1)))
		b->size = at;
	return status < 0 ? -1 : 0;
}

/* --- the META --- */

/* Write the META, after all events were read. */
static int chrome_metadata_write(struct chrome *c)
{
	struct buffer *b = &c->metadata.text;
	const struct input *in = c->input;
	bool in_wall = in->has_wall && !merge_wall(in);

	if (chrome_add_names(c))
		return -1;
	warn_count(c->input->name, c->metadata.events_left_out,
		   "metadata {event is|events are} left out: they are larger than 4 MiB");
	warn_count(c->input->name, c->metadata.members_left_out,
		   "{member|members} beside the events {is|are} left out: all are larger than "
		   "4 MiB");
	if (!c->metadata.events.size && !c->metadata.members.size && !c->metadata.other.size)
		return 0;
	b->size = 0;
	/* members may depend on the origin, such as beginningOfTime: it is that of the file's
	 * times, if these are wall times, too */
	return buffer_printf(b, "{\"otherData\":{\"origin\":\"%" PRId64 "\"",
			     chrome_zero(c) + (in_wall ? in->wall : 0)) ||
			       buffer_append(b, c->metadata.other.data, c->metadata.other.size) ||
			       buffer_puts(b, "},\n\"traceEvents\":[\n") ||
			       buffer_append(b, c->metadata.events.data, c->metadata.events.size) ||
			       buffer_puts(b, "]") ||
			       buffer_append(b, c->metadata.members.data,
					     c->metadata.members.size) ||
			       buffer_puts(b, "}\n") ||
			       writer_meta(c->w, c->source, CHROME_META, b->data, b->size)
		       ? -1
		       : 0;
}

/*
 * Arguments that are objects or arrays: STRUCTs and ARRAYs.
 *
 * An argument that is read is a BLOB of its JSON text until the phase of its event is known, as a
 * profile (chrome.c) is read from that text. What exceeds the limits is a STRING of its text.
 */

/* Append the object or array that token began to c->read.values. */
static int chrome_nested_put(struct chrome *c, struct json_reader *r, enum json_token token)
{
	struct buffer text = {0};
	int failed = json_copy(r, token, &text, SIZE_MAX) ||
		     value_put_bytes(&c->read.values, VALUE_BLOB, text.data, text.size);

	buffer_free(&text);
	c->event.has_nested = true;
	return failed ? -1 : 0;
}

/* Convert the arguments of the event that is read. convert: append another value for a value to
 * c->read.nested; 1: the value remains. */
static int chrome_convert_arguments(struct chrome *c,
				    int (*convert)(struct chrome *c, const struct value *value))
{
	struct buffer *from = &c->read.arguments, *to = &c->read.nested, other;
	size_t size;

	to->size = 0;
	for (size_t i = 0; i < from->size; i += 8 + size) {
		size_t at = to->size + 8;
		struct values v;
		struct value value;
		int status;

		size = get_u32(from->data + i + 4);
		values_begin(&v, from->data + i + 8, size);
		if (buffer_append(to, from->data + i, 8))
			return -1;
		status = values_value(&v, &value) ? convert(c, &value) : 1;
		if (status > 0)
			status = buffer_append(to, from->data + i + 8, size);
		if (status)
			return -1;
		put_u32(to->data + at - 4, (uint32_t)(to->size - at));
	}
	other = *from;
	*from = *to;
	*to = other;
	return 0;
}

/* Convert an object or array. */
static int chrome_nested_convert(struct chrome *c, const struct value *value)
{
	size_t at = c->read.nested.size;
	int status = value->tag == VALUE_BLOB
			     ? nested_json_put(&c->read.objects, c->w, (const char *)value->bytes,
					       value->n, &c->read.nested)
			     : 1;

	if (status <= 0 || value->tag != VALUE_BLOB)
		return status;
	c->read.nested.size = at;
	return value_put_bytes(&c->read.nested, VALUE_STRING, value->bytes, value->n);
}

/* --- the frames of "stackFrames" --- */

static bool is_scalar(enum json_token token)
{
	return token == JSON_STRING || token == JSON_NUMBER;
}

/* Read the content of a frame, after its '{'. */
static int chrome_read_frame(struct chrome *c, struct json_reader *r, struct named_frame *frame,
			     uint32_t *of)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool name = json_is(r, "name"), parent = json_is(r, "parent");

		token = json_next(r);
		if (json_spell_whole(r, token))
			return -1;
		if (name && token == JSON_STRING) {
			frame->name = writer_string(c->w, r->text.data, r->text.size);
		} else if (parent && is_scalar(token)) {
			*of = frame_table_number(&c->frames, 0, r->text.data, r->text.size);
			if (!*of)
				return -1;
		} else if (!json_skip(r, token)) {
			return -1;
		}
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read "stackFrames", after its '{'. -1: BAD, or out of memory. */
static int chrome_frames_read(struct chrome *c, struct json_reader *r)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		struct named_frame frame = {0};
		uint32_t number, parent = 0;

		number = frame_table_number(&c->frames, 0, r->text.data, r->text.size);

		token = json_next(r);
		if (!number || (token == JSON_OBJECT ? chrome_read_frame(c, r, &frame, &parent)
						     : !json_skip(r, token)))
			return -1;
		frame_table_set(&c->frames, number, &frame, parent);
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* --- reads one object of "traceEvents" --- */

enum {
	ARGUMENTS_MOST = 1024,
	CHROME_CPUS = 1 << 16, /* more than any system has */
};

/* Convert microseconds, as written in JSON, to ns. false: out of range. */
static bool chrome_time(const char *text, int64_t *ns, bool *inexact)
{
	return json_decimal(text, 3, ns, inexact);
}

/* --- arguments --- */

/* Read "args": { name: value, ... } in the form of a record. */
static int chrome_read_arguments(struct chrome *c, struct json_reader *r)
{
	struct buffer *to = &c->read.arguments;
	enum json_token token;
	size_t n = 0;

	while ((token = json_next(r)) == JSON_KEY) {
		uint32_t key = writer_string(c->w, r->text.data, r->text.size);

		token = json_next(r);
		if (n++ == ARGUMENTS_MOST) {
			if (!json_skip(r, token))
				return -1;
			n--;
			continue;
		}
		c->read.values.size = 0;
		if ((token == JSON_OBJECT || token == JSON_ARRAY
			     ? chrome_nested_put(c, r, token)
			     : json_put_scalar(r, token, &c->read.values)) ||
		    buffer_u32(to, key) || buffer_u32(to, (uint32_t)c->read.values.size) ||
		    buffer_append(to, c->read.values.data, c->read.values.size))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* --- threads --- */

/* Name a process by its pid, which is no number, unless a metadata event named it. */
static int name_process(struct chrome *c, int32_t pid)
{
	uint32_t *name = id_cache_number(&c->metadata.process_names, &pid, sizeof pid);

	if (name && !*name)
		*name = writer_string(c->w, c->read.pid.data, c->read.pid.size);
	return name && *name ? 0 : -1;
}

/* Get the thread of the event that is read, and its number. NULL: out of memory. */
static struct chrome_thread *chrome_thread(struct chrome *c, uint32_t *number)
{
	int32_t key[2];
	struct chrome_thread *t;
	/* uftrace writes a tid only if it differs from the pid */
	const struct buffer *tid = c->read.tid.size ? &c->read.tid : &c->read.pid;
	bool pid_named = false, tid_named = false;

	key[0] = chrome_id_of(c, &c->read.pid, &pid_named);
	key[1] = chrome_id_of(c, tid, &tid_named);
	*number = intern(&c->thread_keys, key, sizeof key);
	if (*number == INTERN_NONE)
		return NULL;
	if (*number == c->nthreads) {
		if (pid_named && name_process(c, key[0]))
			return NULL;
		if (ARRAY_GROW(c->threads, c->threads_capacity, c->nthreads))
			return NULL;
		t = &c->threads[c->nthreads++];
		*t = (struct chrome_thread){.pid = key[0], .tid = key[1], .cpu = -1};
		if (pid_named || tid_named) {
			const struct buffer *id = tid_named ? tid : &c->read.pid;

			t->comm = writer_string(c->w, id->data, id->size);
		}
	}
	return &c->threads[*number];
}

/* The limit of times below 0, in ns. If there are any, the earliest is time 0 of the stream. */
static const int64_t CHROME_EARLIEST = (int64_t)1 << 60;

/*
 * The events Profile and ProfileChunk of V8's CPU profiler.
 *
 * Profile has the thread that is sampled and the time at which this begins. Each ProfileChunk of
 * the same process and id has new nodes, which are frames with the ids of their callers, the ids of
 * the nodes of samples, and the microseconds from each sample to the next: "args": {"data":
 * {"cpuProfile": {"nodes": [...], "samples": [...]}, "timeDeltas": [...]}}.
 *
 * Source: the traces that Chrome and Node.js write, and src/profiler of V8.
 */

/* Add a sample. r has its thread, frame and name, the weight and its kind, or the profile. 0, or -1
 * with *e filled. */
static int chrome_sample(struct chrome *c, struct chrome_record *r, int64_t time, struct error *e)
{
	struct sorter_key key = {(uint64_t)time + (uint64_t)INT64_MIN, (uint64_t)1 << 63};

	r->phase = 'P';
	r->category = writer_string(c->w, c->read.category.data, c->read.category.size);
	if (time < c->lowest)
		c->lowest = time;
	if (time > c->highest)
		c->highest = time;
	c->counts.negative += time < 0;
	c->counts.events++;
	c->threads[r->thread].used = true;
	return sorter_add(&c->sorter, key, r, sizeof *r, e);
}

/* --- reading --- */

/* Find the argument "data" in the arguments that were read: an object as text. */
static bool chrome_find_data(struct chrome *c, struct value *data)
{
	const struct buffer *b = &c->read.arguments;
	uint32_t name = writer_text(c->w, "data");
	struct values v;

	for (size_t i = 0; i < b->size; i += 8 + get_u32(b->data + i + 4)) {
		if (get_u32(b->data + i) != name)
			continue;
		values_begin(&v, b->data + i + 8, get_u32(b->data + i + 4));
		return values_value(&v, data) && data->tag == VALUE_BLOB;
	}
	return false;
}

/* --- samples --- */

/* Find the number of the profile with the id of the event, in the event's process; INTERN_NONE: out
 * of memory. */
static uint32_t profile_of(struct chrome *c)
{
	struct {
		struct chrome_id id;
		int64_t pid;
	} key;
	uint32_t thread, number;

	memset(&key, 0, sizeof key);
	key.id.number = c->event.id.number;
	key.id.form = c->event.id.form;
	if (!chrome_thread(c, &thread))
		return INTERN_NONE;
	key.pid = c->threads[thread].pid;
	number = intern(&c->profiles.keys, &key, sizeof key);
	if (number == INTERN_NONE || number < c->profiles.count)
		return number;
	if (ARRAY_GROW(c->profiles.profile, c->profiles.capacity, c->profiles.count))
		return INTERN_NONE;
	memset(&c->profiles.profile[number], 0, sizeof *c->profiles.profile);
	c->profiles.profile[number].thread = thread;
	c->profiles.profile[number].time = c->profiles.profile[number].end = -1;
	c->profiles.count++;
	return number;
}

/* Add the samples of the chunk. Times of the profiler go back now and then. */
static int keep_samples(struct chrome *c, struct error *e)
{
	const struct buffer *samples = &c->profiles.chunk.samples,
			    *deltas = &c->profiles.chunk.deltas;
	uint32_t number = c->profiles.chunk.space - 1;
	int64_t time = c->profiles.profile[number].time;

	for (size_t i = 0; i < samples->size / 4; i++) {
		struct chrome_record r = {.kind = CHROME_TIME_SAMPLE,
					  .thread = c->profiles.profile[number].thread,
					  .name = writer_text(c->w, "cpu_profile"),
					  .other = get_u32(samples->data + 4 * i),
					  .id.number = c->profiles.chunk.space,
					  .cpu = -1};
		uint64_t delta = 8 * i < deltas->size ? get_u64(deltas->data + 8 * i) : 0;
		int64_t next = time + (int64_t)delta;

		if (next >= 0 && next < (int64_t)TIME_LIMIT - CHROME_EARLIEST)
			time = next;
		if (buffer_u64(&c->profiles.profile[number].times, (uint64_t)time))
			return error_no_memory(e);
		if (chrome_sample(c, &r, time, e))
			return -1;
	}
	c->profiles.profile[number].time = time;
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = get_u64(a), y = get_u64(b);

	return (x > y) - (x < y);
}

/* Sort the times of the samples of each profile: a sample lasts to the next one. */
static void sort_profiles(struct chrome *c)
{
	for (size_t i = 0; i < c->profiles.count; i++) {
		struct buffer *times = &c->profiles.profile[i].times;

		if (times->size)
			qsort(times->data, times->size / 8, 8, compare_times);
	}
}

/* Take the Profile or ProfileChunk that was read. Returns 1: it has no data of one; 0, or -1 with
 * *e filled. */
static int chrome_cpu_profile(struct chrome *c, struct error *e)
{
	struct json_reader r = {0};
	struct value data;
	uint32_t number;
	bool bad = false;

	if (!chrome_find_data(c, &data))
		return 1;
	number = profile_of(c);
	if (number == INTERN_NONE)
		return error_no_memory(e);
	c->profiles.chunk.space = number + 1;
	v8_profile_clear(&c->profiles.chunk);
	json_open_text(&r, (const char *)data.bytes, data.n);
	if (json_next(&r) == JSON_OBJECT)
		bad = v8_profile_read(&c->profiles.chunk, &r);
	c->event.marks.inexact |= c->profiles.chunk.inexact;
	/* the text was read before, so it is JSON */
	bad = bad && !r.error.what[0];
	json_close(&r);
	if (bad)
		return error_no_memory(e);
	if (c->profiles.chunk.begin >= 0 || c->profiles.profile[number].time < 0)
		c->profiles.profile[number].time =
			c->profiles.chunk.begin >= 0 ? c->profiles.chunk.begin : c->event.ts;
	if (c->profiles.chunk.end >= 0)
		c->profiles.profile[number].end = c->profiles.chunk.end;
	return keep_samples(c, e);
}

/* --- flows: the argument flow_ids of calls with a "bind_id" (chrome_rows.c) --- */

enum { FLOWS_MOST = 1 << 18 }; /* the ends of other flows are not found */

/* Note an event of the flow that is read. *event: its number. */
static int note_event(struct chrome *c, int64_t time, uint32_t *event)
{
	uint64_t id = c->event.bind.number;
	uint32_t *number;

	*event = 0;
	if (c->flows.count == FLOWS_MOST && !key_map_get(&c->flows.ids, id))
		return 0;
	number = key_map_number(&c->flows.ids, id);
	if (!number)
		return -1;
	if (!*number) {
		if (ARRAY_GROW(c->flows.last, c->flows.capacity, c->flows.count))
			return -1;
		c->flows.last[c->flows.count].time = INT64_MIN;
		*number = ++c->flows.count;
	}
	*event = ++c->flows.events;
	if (time >= c->flows.last[*number - 1].time) {
		c->flows.last[*number - 1].time = time;
		c->flows.last[*number - 1].event = *event;
	}
	return 0;
}

/* Add the flow of an event that begins a call, as the last argument. */
static int chrome_flow_add(struct chrome *c, struct chrome_record *record, int64_t time)
{
	struct buffer *to = &c->read.arguments, *value = &c->read.values;
	uint32_t event;

	if (!c->texts.flows) {
		c->texts.flows = writer_text(c->w, PERFETTO_FLOWS);
		c->texts.ended_flows = writer_text(c->w, PERFETTO_ENDED_FLOWS);
	}
	value->size = 0;
	if (!c->texts.flows || !c->texts.ended_flows || note_event(c, time, &event) ||
	    value_put_uint(value, VALUE_UINT, c->event.bind.number) ||
	    buffer_u32(to, c->texts.flows) || buffer_u32(to, (uint32_t)value->size))
		return -1;
	if (!c->event.flow_out)
		record->flow = event;
	return buffer_append(to, value->data, value->size);
}

/* --- events --- */

/* Take an "M" event; one with the name of a thread or process has the name as its only argument. */
static int take_metadata(struct chrome *c)
{
	const char *what = (char *)c->read.name.data;
	struct chrome_thread *t;
	struct values v;
	struct value name;
	uint32_t number, *process;

	if (strcmp(what, "thread_name") && strcmp(what, "process_name"))
		return chrome_metadata_event(c);
	if (c->read.arguments.size <= 8)
		return 0;
	values_begin(&v, c->read.arguments.data + 8, get_u32(c->read.arguments.data + 4));
	if (!values_value(&v, &name) || name.tag != VALUE_STRING)
		return 0;
	t = chrome_thread(c, &number);
	if (!t)
		return -1;
	number = writer_string(c->w, name.bytes, name.n);
	if (*what == 'p') {
		if (c->read.pid.size &&
		    (chrome_metadata_event(c) ||
		     intern(&c->metadata.named, &t->pid, sizeof t->pid) == INTERN_NONE))
			return -1;
		process = id_cache_number(&c->metadata.process_names, &t->pid, sizeof t->pid);
		if (!process)
			return -1;
		*process = number;
	}
	if (*what == 't' || !t->has_name)
		t->comm = number;
	t->has_name |= *what == 't';
	return 0;
}

static bool is_phase(const struct chrome *c, const char *any)
{
	return c->read.phase.size == 1 && strchr(any, c->read.phase.data[0]);
}

/* Remove the last argument, if it has that name: it repeats a member of the event. */
static void forget_argument(struct chrome *c, uint32_t name)
{
	const struct buffer *b = &c->read.arguments;
	size_t last = 0;

	for (size_t i = 0; i < b->size; i += 8 + get_u32(b->data + i + 4))
		last = i;
	if (b->size && get_u32(b->data + last) == name)
		c->read.arguments.size = last;
}

/* Get the number in "cpu" of an event of a thread; -1: there is none. */
static int32_t chrome_cpu_of(struct chrome *c, uint32_t thread)
{
	struct chrome_thread *t = &c->threads[thread];
	const char *text = (char *)c->read.cpu.data;
	char *end;
	unsigned long cpu = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || cpu >= CHROME_CPUS)
		return -1;
	if (!t->tid) {
		t->cpus |= t->cpu >= 0 && t->cpu != (int32_t)cpu;
		t->cpu = (int32_t)cpu;
	}
	return (int32_t)cpu;
}

/* Get the second part of the key of an event: of calls that begin at one time the longer one is
 * the outer one, and those without an enter are outside of others. A part of a flow is inside of
 * the calls that begin at its time, except where the file orders the calls by their begins. */
static uint64_t second_key(const struct chrome *c, const struct chrome_record *r)
{
	static const uint64_t others = (uint64_t)1 << 63;
	bool complete = r->kind == CHROME_COMPLETE;

	if (r->marks.unseen)
		return others - 1 - (complete ? r->duration : others - 1);
	if (is_phase(c, "stf") && !c->threads[r->thread].begins)
		return UINT64_MAX;
	return complete ? UINT64_MAX - r->duration : others;
}

/* Note that a thread has an event. */
static void chrome_note_thread(struct chrome *c, struct chrome_thread *t, enum chrome_kind kind)
{
	t->used = true;
	t->begins |= kind == CHROME_BEGIN;
	t->completes |= kind == CHROME_COMPLETE;
	c->overlapping.mixed |= t->begins && t->completes;
}

/*
 * Give a "b" a number, and the "e" that is the next event of the file the same one.
 *
 * clang writes each call of its async events so: all have one id and one name, and are not in the
 * order of their times. Calls that begin at one time have no other relation to their ends.
 */
static void chrome_pair(struct chrome *c, struct chrome_record *r, int64_t time)
{
	const struct chrome_record *b = &c->async.begin;

	if (r->phase == 'b') {
		r->pair = b->pair + (b->pair < UINT32_MAX);
		c->async.begin = *r;
		c->async.begin_time = time;
		c->async.begin_event = c->counts.events;
	} else if (r->phase == 'e' && b->pair && c->counts.events == c->async.begin_event + 1 &&
		   time >= c->async.begin_time && r->name == b->name && r->thread == b->thread &&
		   r->category == b->category && r->id.number == b->id.number &&
		   r->id.form == b->id.form) {
		r->pair = b->pair;
	}
}

/* Add the event to the sorter. */
static int chrome_keep_event(struct chrome *c, enum chrome_kind kind, int64_t time,
			     uint64_t duration, struct error *e)
{
	struct chrome_record record = {
		.duration = duration, .kind = (uint16_t)kind, .phase = c->read.phase.data[0]};
	struct sorter_key key = {(uint64_t)time + (uint64_t)INT64_MIN, 0};
	const uint8_t *p;
	uint32_t name; /* of the row with the arguments */

	record.id = c->event.id;
	record.marks = c->event.marks;
	record.marks.unseen &= kind == CHROME_COMPLETE || kind == CHROME_BEGIN;
	c->depths |= record.marks.unfinished || record.marks.unseen;
	if (c->event.has_nested && chrome_convert_arguments(c, chrome_nested_convert))
		return error_no_memory(e);
	if (record.marks.unfinished)
		forget_argument(c, c->texts.unfinished);
	if ((c->event.flows && c->event.bind.form & CHROME_ID_HERE && is_phase(c, "XBb") &&
	     chrome_flow_add(c, &record, time)) ||
	    !chrome_thread(c, &record.thread))
		return error_no_memory(e);
	chrome_note_thread(c, &c->threads[record.thread], kind);
	record.scope = is_phase(c, "iI") ? c->event.scope : 0;
	record.cpu = kind == CHROME_INSTANT ? chrome_cpu_of(c, record.thread) : -1;
	/* an end without a name ends any call */
	record.name = c->read.name.size || kind == CHROME_END || is_phase(c, "eF")
			      ? writer_string(c->w, c->read.name.data, c->read.name.size)
			      : writer_text(c->w, "(no name)");
	if (kind == CHROME_INSTANT && c->read.frame.size) {
		record.other =
			frame_table_number(&c->frames, 0, c->read.frame.data, c->read.frame.size);
		if (!record.other)
			return error_no_memory(e);
	}
	if (kind == CHROME_COMPLETE || kind == CHROME_END)
		record.other = writer_string(c->w, c->read.other.data, c->read.other.size);
	name = kind == CHROME_COMPLETE && record.other && !record.marks.unseen ? record.other
									       : record.name;
	record.category = writer_string(c->w, c->read.category.data, c->read.category.size);
	chrome_pair(c, &record, time);
	record.values = (uint32_t)c->read.arguments.size;
	p = c->read.arguments.data;
	for (size_t i = 0; i < c->read.arguments.size; i += 8 + get_u32(p + i + 4))
		if (arguments_learn(&c->arguments, name, get_u32(p + i)))
			return error_no_memory(e);
	if (record.flow && arguments_learn(&c->arguments, name, c->texts.ended_flows))
		return error_no_memory(e);
	c->counts.negative += time < 0;
	if (time < c->lowest)
		c->lowest = time;
	if (time + (int64_t)duration > c->highest)
		c->highest = time + (int64_t)duration;
	key.second = second_key(c, &record);
	c->read.record.size = 0;
	if (buffer_append(&c->read.record, &record, sizeof record) ||
	    (record.values && buffer_append(&c->read.record, p, record.values)))
		return error_no_memory(e);
	c->counts.events++;
	return sorter_add(&c->sorter, key, c->read.record.data, c->read.record.size, e);
}

/* Add an element of "samples". */
static int chrome_keep_sample(struct chrome *c, struct error *e)
{
	const char *name = c->read.name.size ? (char *)c->read.name.data : "samples";
	const char *weight = (char *)c->read.weight.data;
	const struct buffer *args = &c->read.arguments;
	struct chrome_record r = {.duration = 1,
				  .kind = c->event.in_time ? CHROME_TIME_SAMPLE : CHROME_SAMPLE,
				  .name = writer_text(c->w, name)};

	if (c->read.weight.size && *weight != '-')
		r.duration = strtoull(weight, NULL, 10);
	if (c->read.frame.size)
		r.other = frame_table_number(&c->frames, 0, c->read.frame.data, c->read.frame.size);
	if (!chrome_thread(c, &r.thread) || (c->read.frame.size && !r.other))
		return error_no_memory(e);
	r.cpu = chrome_cpu_of(c, r.thread);
	c->counts.reduced += args->size && (get_u32(args->data) != c->texts.period ||
					    args->size > 8 + get_u32(args->data + 4));
	return chrome_sample(c, &r, c->event.ts, e);
}

/* Get the buffer for the value of a key whose value is text or a number, or NULL. */
static struct buffer *chrome_text_of(struct chrome *c, const struct json_reader *r)
{
	static const char *const keys[] = {"name",
					   "cat",
					   "ph",
					   "pid",
					   "tid",
					   "sf",
					   "weight",
					   "cpu",
					   CHROME_ENTER_NAME,
					   CHROME_LEAVE_NAME};
	struct buffer *const texts[] = {
		&c->read.name,	&c->read.category, &c->read.phase, &c->read.pid,   &c->read.tid,
		&c->read.frame, &c->read.weight,   &c->read.cpu,   &c->read.other, &c->read.other};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (json_is(r, keys[i]))
			return texts[i];
	return NULL;
}

/* Read "id2": { "local" or "global": id }. */
static int read_id2(struct chrome *c, struct json_reader *r)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool local = json_is(r, "local"), global = json_is(r, "global");

		token = json_next(r);
		if (json_spell_whole(r, token))
			return -1;
		if ((local || global) && is_scalar(token)) {
			c->event.id.form &= CHROME_ID_ENCLOSING;
			c->event.id.form |= local ? CHROME_ID_LOCAL : 0;
			if (chrome_read_id(c, &r->text, &c->event.id))
				return -1;
		} else if (!json_skip(r, token)) {
			return -1;
		}
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Keep the name of a member that the stream has no place for. */
static int leave_out(struct chrome *c, const char *name, size_t size)
{
	return buffer_append(&c->read.left_out, name, size) || buffer_u8(&c->read.left_out, 0);
}

enum { CHROME_NAMED_MOST = 8 }; /* number of names of members in a remark */

/* Count the event that is read if the stream is without some of its members. Returns 0, or -1 when
 * out of memory. */
static int chrome_count_left_out(struct chrome *c)
{
	const struct buffer *b = &c->read.left_out;
	const char *name = (const char *)b->data;
	size_t n;

	/* only these have a frame */
	if (c->read.frame.size && !c->read.sample && is_phase(c, "BEXCbenSTFpstf") &&
	    leave_out(c, "sf", 2))
		return -1;
	c->counts.reduced_events += b->size > 0;
	for (size_t i = 0; i < b->size && c->counts.left_out.count <= CHROME_NAMED_MOST;
	     i += n + 1) {
		name = (const char *)b->data + i;
		n = strlen(name);
		if (intern(&c->counts.left_out, name, n) == INTERN_NONE)
			return -1;
	}
	return 0;
}

/* Keep the text of a member, ended by a NUL. */
static int chrome_keep_text(struct buffer *text, const struct json_reader *r)
{
	text->size = 0;
	if (buffer_append(text, r->text.data, r->text.size + 1))
		return -1;
	text->size--;
	return 0;
}

static int event_read_member(struct chrome *c, struct json_reader *r)
{
	bool ts = json_is(r, "ts"), dur = json_is(r, "dur"), args = json_is(r, "args");
	bool id = json_is(r, "id"), id2 = json_is(r, "id2"), bp = json_is(r, "bp");
	bool unfinished = json_is(r, CHROME_UNFINISHED), unseen = json_is(r, CHROME_UNSEEN);
	bool unit = json_is(r, CHROME_WEIGHT_UNIT);
	bool overlaps = json_is(r, CHROME_OVERLAPS), scope = json_is(r, "s"),
	     derived = json_is(r, CHROME_DERIVED_MARK);
	bool bind = json_is(r, "bind_id");
	bool flow_out = json_is(r, "flow_out"), flows = flow_out || json_is(r, "flow_in");
	struct buffer *text = chrome_text_of(c, r);
	enum json_token token;

	if (!(ts || dur || args || id || id2 || bp || unfinished || unseen || unit || overlaps ||
	      scope || derived || bind || flows || text) &&
	    leave_out(c, (char *)r->text.data, r->text.size))
		return -1;
	token = json_next(r);
	if (token == JSON_BAD || (!ts && !dur && json_spell_whole(r, token)))
		return -1;
	if (args && token == JSON_OBJECT)
		return chrome_read_arguments(c, r);
	if (id2 && token == JSON_OBJECT)
		return read_id2(c, r);
	if (id && is_scalar(token))
		return chrome_read_id(c, &r->text, &c->event.id);
	if (bind && is_scalar(token))
		return chrome_read_number(c, &r->text, &c->event.bind);
	c->event.flows |= flows && token == JSON_TRUE;
	c->event.flow_out |= flow_out && token == JSON_TRUE;
	/* some writers put numbers beyond 2^53 in quotes */
	if ((ts || dur) && (token == JSON_NUMBER ||
			    (token == JSON_STRING && json_is_number((char *)r->text.data)))) {
		if (!chrome_time((char *)r->text.data, ts ? &c->event.ts : &c->event.dur,
				 &c->event.marks.inexact))
			*(ts ? &c->event.wrong : &c->event.wrong_dur) = true;
		c->event.has_ts |= ts;
		c->event.has_dur |= dur;
		return 0;
	}
	c->event.wrong_dur |= dur && token != JSON_NULL;
	if (bp && token == JSON_STRING && !strcmp((char *)r->text.data, "e"))
		c->event.id.form |= CHROME_ID_ENCLOSING;
	if (scope && token == JSON_STRING)
		c->event.scope = json_is(r, "g")   ? CHROME_GLOBAL
				 : json_is(r, "p") ? CHROME_PROCESS
						   : 0;
	c->event.marks.unfinished |= unfinished && token == JSON_TRUE;
	c->event.marks.unseen |= unseen && token == JSON_TRUE;
	c->event.marks.overlaps |= overlaps && token == JSON_TRUE;
	c->event.derived |= derived && token == JSON_TRUE;
	c->event.in_time |= unit && token == JSON_STRING && json_is(r, "ns");
	if (text && is_scalar(token))
		return chrome_keep_text(text, r);
	return json_skip(r, token) ? 0 : -1;
}

/* Test for a decimal number, also in forms that JSON does not have: +1, .5, 5., 007. */
static bool is_decimal(const char *p)
{
	static const char digits[] = "0123456789";
	size_t n;

	p += *p == '-' || *p == '+';
	n = strspn(p, digits);
	p += n;
	if (*p == '.') {
		n += strspn(p + 1, digits);
		p += 1 + strspn(p + 1, digits);
	}
	if (n && (*p == 'e' || *p == 'E')) {
		p++;
		p += *p == '-' || *p == '+';
		n = strspn(p, digits);
		p += n;
	}
	return n && !*p;
}

/* Convert the argument of a counter that is a number in quotes to a number, as Perfetto does. */
static int chrome_counter_convert(struct chrome *c, const struct value *value)
{
	struct buffer *text = &c->read.weight;
	size_t plus;

	text->size = 0;
	if (value->tag != VALUE_STRING || buffer_append(text, value->bytes, value->n) ||
	    buffer_u8(text, 0) || strlen((char *)text->data) != value->n ||
	    !is_decimal((char *)text->data))
		return 1;
	plus = *text->data == '+';
	return json_put_number(&c->read.nested, (char *)text->data + plus, value->n - plus);
}

/* Add an event with a time, by its phase. */
static int keep_phase(struct chrome *c, struct error *e)
{
	const char *name = (char *)c->read.name.data;
	int64_t ts = c->event.ts;
	int status = 1;

	if (c->read.sample)
		return chrome_keep_sample(c, e);
	if (is_phase(c, "P") && (!strcmp(name, "Profile") || !strcmp(name, "ProfileChunk")))
		status = chrome_cpu_profile(c, e);
	if (status <= 0)
		return status;
	if (is_phase(c, "B"))
		return chrome_keep_event(c, CHROME_BEGIN, ts, 0, e);
	if (is_phase(c, "E"))
		return chrome_keep_event(c, CHROME_END, ts, 0, e);
	if (is_phase(c, "X"))
		return chrome_keep_event(c, CHROME_COMPLETE, ts, (uint64_t)c->event.dur, e);
	if (is_phase(c, "C"))
		return chrome_name_counter(c) || chrome_convert_arguments(c, chrome_counter_convert)
			       ? error_no_memory(e)
			       : chrome_keep_event(c, CHROME_COUNTER, ts, 0, e);
	if (is_phase(c, "benSFTp") || (is_phase(c, "stf") && c->event.id.form & CHROME_ID_HERE))
		return chrome_keep_event(c, CHROME_ASYNC, ts, 0, e);
	/* instants, objects, samples */
	chrome_count_id(c);
	return chrome_keep_event(c, CHROME_INSTANT, ts, 0, e);
}

/* Test for an event that trencode made from others, which are in the file too. */
static bool is_derived(const struct chrome *c)
{
	const char *category = (const char *)c->read.category.data;

	return !strcmp(category, CHROME_DERIVED) || (c->event.derived && is_phase(c, "M")) ||
	       (c->event.derived && is_phase(c, "stf") && !strcmp(category, CHROME_FLOW) &&
		!strcmp((const char *)c->read.name.data, CHROME_FLOW));
}

/* Read one event object, after its '{', into the sorter. 1: a doubtful one is no event. -1 with *e
 * or r->error filled. */
static int chrome_take_event(struct chrome *c, struct json_reader *r, struct error *e)
{
	struct buffer *const all[] = {&c->read.name,   &c->read.other,	   &c->read.category,
				      &c->read.phase,  &c->read.pid,	   &c->read.tid,
				      &c->read.values, &c->read.arguments, &c->read.frame,
				      &c->read.weight, &c->read.cpu,	   &c->read.left_out};
	uint64_t offset = json_offset(r) - 1; /* offset of its '{' */
	enum json_token token;

	memset(&c->event, 0, sizeof c->event);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		all[i]->size = 0;
		if (buffer_u8(all[i], 0))
			return error_no_memory(e);
		all[i]->size = 0;
	}
	while ((token = json_next(r)) == JSON_KEY)
		if (event_read_member(c, r))
			return -1;
	if (token == JSON_BAD)
		return -1;
	if (c->read.doubtful &&
	    !(is_phase(c, "M") || (c->event.has_ts && (c->read.phase.size == 1 || c->read.sample))))
		return 1;
	c->counts.phased += c->read.phase.size == 1;
	if (is_derived(c))
		return 0;
	if (is_phase(c, "M"))
		return take_metadata(c) ? error_no_memory(e) : 0;
	if (c->event.wrong ||
	    (c->event.has_ts && (c->event.ts < -CHROME_EARLIEST ||
				 c->event.ts >= (int64_t)TIME_LIMIT - CHROME_EARLIEST))) {
		if (!c->counts.wrong_times++)
			input_damage(c->input, c->input->name, offset,
				     "an event with an impossible time");
		return 0;
	}
	if (!c->event.has_ts || (c->read.phase.size != 1 && !c->read.sample)) {
		if (!c->counts.ignored++)
			c->counts.ignored_first = offset;
		return 0;
	}
	if (is_phase(c, "X") &&
	    (c->event.wrong_dur || c->event.dur < 0 ||
	     c->event.dur >= (int64_t)TIME_LIMIT - CHROME_EARLIEST - c->event.ts)) {
		if (!c->counts.wrong_durations++)
			input_damage(c->input, c->input->name, offset,
				     "an event with an impossible duration, which is left out");
		return 0;
	}
	c->counts.lasting_none += is_phase(c, "X") && !c->event.has_dur;
	if (chrome_count_left_out(c))
		return error_no_memory(e);
	return keep_phase(c, e);
}

/* --- chrome --- */

static const char *chrome_skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* Test for a key and a colon. */
static bool begins_member(const char *p, const char *end)
{
	p = p < end && *p == '"' ? memchr(p + 1, '"', (size_t)(end - p - 1)) : NULL;
	p = p ? chrome_skip_blanks(p + 1, end) : end;
	return p < end && *p == ':';
}

/* Accept an object with a member, and an array of objects with a member: no other format begins so.
 * Those with "traceEvents" or "ph" have the format; in others these words may follow. With -f
 * accept any object or array. */
static enum bid chrome_probe(const struct input *in)
{
	const char *p = (const char *)in->head, *end, *first;

	if (!p || in->tree)
		return BID_NONE;
	end = p + in->head_size;
	if (in->head_size >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	first = p = chrome_skip_blanks(p, end);
	if (p == end || (*p != '{' && *p != '['))
		return BID_NONE;
	if (input_head_has(in, *first == '{' ? "\"traceEvents\"" : "\"ph\""))
		return BID_MAGIC;
	if (in->format)
		return strcmp(in->format, "chrome") ? BID_NONE : BID_CHANCE;
	p = chrome_skip_blanks(p + 1, end);
	/* an empty array and nothing else: other formats begin with these two bytes too */
	if (*first == '[' && p < end && *p == ']')
		p = chrome_skip_blanks(p + 1, end);
	if (*first == '[' && p == end)
		return BID_LIKELY;
	if (*first == '[' && *p == '{')
		p = chrome_skip_blanks(p + 1, end);
	return begins_member(p, end) ? BID_CHANCE : BID_NONE;
}

static int chrome_open(struct input *in, struct error *e)
{
	struct chrome *c = calloc(1, sizeof *c);

	in->state = c;
	if (!c)
		return error_no_memory(e);
	c->input = in;
	c->w = c->frames.locations.w = in->decoding->writer;
	c->profiles.chunk.frames = &c->frames;
	sorter_init(&c->sorter);
	in->clock_name = "trace";
	c->began = -1;
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
		got = chrome_take_event(c, r, e);
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
			bad = chrome_take_event(c, r, e);
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

/* Read the member with the wall time of the file's time 0, in units of `unit` ns, and keep it. -1:
 * BAD, or out of memory. */
static int read_began(struct chrome *c, struct json_reader *r, int64_t unit)
{
	const char *name = unit == 1 ? "baseTimeNanoseconds" : "beginningOfTime";
	uint64_t offset = json_offset(r);
	const char *text;
	bool inexact = false;
	int64_t n;

	if (chrome_metadata_member(c, r, false))
		return -1;
	/* of null, or an object without members, the text is the key */
	text = r->text.size && !json_is(r, name) ? (const char *)r->text.data : "no number";
	if (*text < '0' || *text > '9' || !json_decimal(text, 0, &n, &inexact) || inexact)
		n = -1;
	if (n > 0 && n < (int64_t)TIME_LIMIT / unit)
		c->began = n * unit;
	else if (!n && !c->input->decoding->quiet)
		/* the recorder had no clock of the day */
		warn(c->input->name, offset, "%s is 0: the trace has no wall time", name);
	else if (!c->input->decoding->quiet)
		warn(c->input->name, offset,
		     "%s is no whole number of %s since 1970: %.40s; the trace has no wall time",
		     name, unit == 1 ? "ns" : "us", text);
	return 0;
}

/* Report that the file is no trace. */
static int no_trace(const struct json_reader *r, uint64_t offset, const char *why, struct error *e)
{
	return error_set(
		e, r->name, offset,
		"JSON, but no trace: %s; trdecode reads the Trace Event Format, an object "
		"with traceEvents or an array of events with ph, spans of OTLP, Jaeger and "
		"Zipkin, rows of trencode after jq -c '.[]', and other rows of JSON with --map",
		why);
}

static int chrome_read_array(struct chrome *c, struct json_reader *r, struct error *e)
{
	int ended = read_events(c, r, false, e);

	if (ended)
		return ended;
	if (c->counts.ignored && !c->counts.phased && !c->counts.faults)
		return no_trace(r, NO_OFFSET, "no object has a ph", e);
	return json_next(r) == JSON_END ? 0 : -1;
}

/* Read a member of the file after its key. Returns as read_events. */
static int chrome_read_member(struct chrome *c, struct json_reader *r, bool *found, struct error *e)
{
	bool events = json_is(r, "traceEvents"), other = json_is(r, "otherData");
	bool samples = json_is(r, "samples"), frames = json_is(r, "stackFrames");
	enum json_token token;

	/* of clang -ftime-trace, and of PyTorch */
	if (json_is(r, "beginningOfTime"))
		return read_began(c, r, 1000);
	if (json_is(r, "baseTimeNanoseconds"))
		return read_began(c, r, 1);
	if (!events && !other && !samples && !frames)
		return chrome_metadata_member(c, r, false);
	token = json_next(r);
	if ((events || samples) && token == JSON_ARRAY) {
		*found |= events;
		return read_events(c, r, samples, e);
	}
	if (frames && token == JSON_OBJECT)
		return chrome_frames_read(c, r);
	if (other && token == JSON_OBJECT)
		return read_other_data(c, r);
	return json_skip(r, token) ? 0 : -1;
}

/* Read the members of the file. */
static int chrome_read_object(struct chrome *c, struct json_reader *r, struct error *e)
{
	enum json_token token;
	bool found = false;
	struct error fault;
	int ended;

	json_keep(r);
	for (;;) {
		token = json_next(r);
		ended = token == JSON_KEY	   ? chrome_read_member(c, r, &found, e)
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
static int chrome_read_file(struct chrome *c, struct json_reader *r, struct error *e)
{
	enum json_token token = json_next(r);

	return token == JSON_ARRAY    ? chrome_read_array(c, r, e)
	       : token == JSON_OBJECT ? chrome_read_object(c, r, e)
				      : -1;
}

static int chrome_read_all(struct chrome *c, struct error *e)
{
	struct input *in = c->input;
	struct json_reader r;
	int failed = 0;

	if (input_open_json(in, &r, e))
		return -1;
	if (chrome_read_file(c, &r, e) < 0) {
		/* the array of events may be unterminated */
		bool between = r.cut && r.depth == 1 && json_is_array(&r, 0);

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

	if (chrome_read_all(c, e))
		return -1;
	fact_text(info, "format", "chrome");
	fact_number(info, "events", c->counts.events);
	fact_number(info, "threads", c->nthreads);
	return 0;
}

/* Choose the clock. */
static int chrome_choose_clock(struct chrome *c, struct error *e)
{
	struct input *in = c->input;

	in->ticks = c->ticks;
	if (c->ticks)
		in->clock_name = c->clock_name;
	if (c->began >= 0 && !c->ticks) {
		in->has_wall = in->own_zero = true;
		in->wall = c->began - chrome_zero(c);
	}
	return merge_choose_clock(in, e);
}

static int decode_chrome_begin(struct input *in, struct error *e)
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
	if (chrome_read_all(c, e) || sorter_finish(&c->sorter, e))
		return -1;
	sort_profiles(c);
	c->source = writer_source(w, &(struct source_entry){writer_text(w, "chrome"),
							    writer_text(w, in->name), 0, 0});
	if (chrome_choose_clock(c, e))
		return -1;
	c->clock = input_declare_clock(in, in->has_wall && !merge_wall(in));
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
static void chrome_report_left_out(const struct chrome *c)
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
static void chrome_print_remarks(const struct chrome *c)
{
	const char *file = c->input->name;
	int64_t lowest = chrome_unit(c, c->lowest);

	if (lowest + c->origin < 0)
		warn_count(
			file, c->counts.negative,
			"{time is|times are} below 0: all times count from the earliest, %" PRId64
			" %s",
			lowest, c->ticks ? "ticks" : "ns");
	warn_count(file, c->counts.lasting_none,
		   "{call has|calls have} no duration (X without dur): {it lasts|they last} 0 %s",
		   c->ticks ? "ticks" : "ns");
	complete_calls_clipped(file, c->counts.clipped);
	if (c->counts.ignored)
		warn(file, c->counts.ignored_first,
		     "the first of %" PRIu64
		     " event%s without a time or a phase, which were left out",
		     c->counts.ignored, c->counts.ignored == 1 ? "" : "s");
	warn_count(
		file, c->counts.named,
		"{id|ids} of processes and threads {is not a number|are not numbers} from 0 to "
		"2147483647 (the first one: %s): {it was given a number, and names|they were given "
		"numbers, and name} processes and threads without a name",
		c->counts.named_first);
	arguments_report(&c->arguments, file);
	warn_count(file, c->frames.unknown,
		   "{frame of stacks is|frames of stacks are} not in the file");
	warn_count(file, c->counts.unopened,
		   "{end|ends} of calls without {a begin|begins} {was|were} left out");
	warn_count(file, c->counts.unkept,
		   "{begin|begins} of asynchronous calls {was|were} left out: too many calls are "
		   "open");
	if (c->async.ids.count)
		warn_count(file, c->async.ids.count,
			   "{id|ids} of asynchronous events {is not a number|are not numbers} (the "
			   "first "
			   "one: %.64s): {it was given a number|they were given numbers}",
			   intern_data(&c->async.ids, 0));
	if (c->counts.idless)
		warn(file, NO_OFFSET,
		     "the ids of %" PRIu64 " event%s were left out, which are instants now "
		     "(phases: %s)",
		     c->counts.idless, c->counts.idless == 1 ? "" : "s", c->counts.phases);
	chrome_report_left_out(c);
	warn_count(file, c->counts.reduced,
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
		&c->read.name,	      &c->read.category,  &c->read.phase,    &c->read.pid,
		&c->read.tid,	      &c->read.other,	  &c->read.values,   &c->read.record,
		&c->read.arguments,   &c->read.frame,	  &c->read.weight,   &c->read.cpu,
		&c->read.id_text,     &c->read.nested,	  &c->read.left_out, &c->metadata.events,
		&c->metadata.members, &c->metadata.other, &c->metadata.text};

	more_damage(c);
	if (!in->decoding->quiet)
		chrome_print_remarks(c);
	sorter_free(&c->sorter);
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_free(buffers[i]);
	nested_json_free(&c->read.objects);
	for (size_t i = 0; i < c->nthreads; i++) {
		while (c->threads[i].depth)
			free(c->threads[i].frames[--c->threads[i].depth].values);
		free(c->threads[i].frames);
	}
	free(c->threads);
	for (size_t i = 0; i < c->overlapping.count; i++)
		free(c->overlapping.frames[i].values);
	free(c->overlapping.frames);
	id_cache_free(&c->metadata.last);
	intern_free(&c->metadata.named);
	complete_calls_free(&c->completes);
	free(c->async.open);
	frame_table_free(&c->frames);
	v8_profile_free(&c->profiles.chunk);
	intern_free(&c->profiles.keys);
	for (size_t i = 0; i < c->profiles.count; i++)
		buffer_free(&c->profiles.profile[i].times);
	free(c->profiles.profile);
	open_calls_free(&c->async.keys);
	intern_free(&c->async.ids);
	id_cache_free(&c->async.declared);
	intern_free(&c->thread_keys);
	intern_free(&c->names);
	intern_free(&c->counts.left_out);
	arguments_free(&c->arguments);
	id_cache_free(&c->declared);
	key_map_free(&c->flows.ids);
	free(c->flows.last);
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
	.begin = decode_chrome_begin,
	.run = chrome_run,
	.close = chrome_close,
};
