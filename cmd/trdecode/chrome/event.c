/*
 * event.c - reads one object of "traceEvents"
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/chrome/chrome.h"
#include "common/stream/value.h"

enum {
	ARGUMENTS_MOST = 1024,
	CHROME_CPUS = 1 << 16, /* more than any system has */
};

bool chrome_time(const char *text, int64_t *ns, bool *inexact)
{
	bool minus = *text == '-';
	unsigned __int128 n = 0;
	long scale = 3; /* n must be multiplied by so many powers of ten */
	bool point = false;

	for (text += minus; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
		if (*text == '.') {
			point = true;
			continue;
		}
		/* digits after the 30th cannot be part of a time in range */
		if (n > (unsigned __int128)1 << 100) {
			scale += !point;
			continue;
		}
		n = n * 10 + (unsigned)(*text - '0');
		scale -= point;
	}
	if (*text == 'e' || *text == 'E') {
		long exponent = strtol(text + 1, NULL, 10);

		if (exponent > 1000 || exponent < -1000)
			return false;
		scale += exponent;
	}
	for (; scale < 0 && n; scale++) {
		*inexact |= n % 10 != 0;
		n /= 10;
	}
	for (; scale > 0 && n; scale--) {
		if (n > TIME_LIMIT)
			return false;
		n *= 10;
	}
	if (n >= TIME_LIMIT)
		return false;
	*ns = minus ? -(int64_t)n : (int64_t)n;
	return true;
}

/* --- arguments --- */

/* Read "args": { name: value, ... } in the form of a record. */
static int read_arguments(struct chrome *c, struct json_reader *r)
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

/* Convert a pid or tid; -1: there is none. *named: the text is no number in range, and gets one. */
static int32_t id_of(struct chrome *c, const struct buffer *b, bool *named)
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

int32_t chrome_id(struct chrome *c, const struct buffer *text)
{
	bool named;

	return id_of(c, text, &named);
}

/* Name a process by its pid, which is no number, unless a metadata event named it. */
static int name_process(struct chrome *c, int32_t pid)
{
	uint32_t *name = id_cache_number(&c->metadata.process_names, &pid, sizeof pid);

	if (name && !*name)
		*name = writer_string(c->w, c->read.pid.data, c->read.pid.size);
	return name && *name ? 0 : -1;
}

struct chrome_thread *chrome_thread(struct chrome *c, uint32_t *number)
{
	int32_t key[2];
	struct chrome_thread *t;
	/* uftrace writes a tid only if it differs from the pid */
	const struct buffer *tid = c->read.tid.size ? &c->read.tid : &c->read.pid;
	bool pid_named = false, tid_named = false;

	key[0] = id_of(c, &c->read.pid, &pid_named);
	key[1] = id_of(c, tid, &tid_named);
	*number = intern(&c->thread_keys, key, sizeof key);
	if (*number == INTERN_NONE)
		return NULL;
	if (*number == c->nthreads) {
		if (pid_named && name_process(c, key[0]))
			return NULL;
		if (ARRAY_GROW(c->threads, c->threads_capacity, c->nthreads))
			return NULL;
		t = c->threads;
		t += c->nthreads++;
		*t = (struct chrome_thread){.pid = key[0], .tid = key[1], .cpu = -1};
		if (pid_named || tid_named) {
			const struct buffer *id = tid_named ? tid : &c->read.pid;

			t->comm = writer_string(c->w, id->data, id->size);
		}
	}
	return &c->threads[*number];
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

/* Return the number in "cpu" of an event of a thread; -1: there is none. */
static int32_t cpu_of(struct chrome *c, uint32_t thread)
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

/* Return the second part of the key of an event: of calls that begin at one time the longer one is
 * the outer one, and those without an enter are outside of others. */
static uint64_t second_key(enum chrome_kind kind, uint64_t duration, bool unseen)
{
	static const uint64_t others = (uint64_t)1 << 63;

	if (unseen)
		return others - 1 - (kind == CHROME_COMPLETE ? duration : others - 1);
	return kind == CHROME_COMPLETE ? UINT64_MAX - duration : others;
}

/* Note that a thread has an event. */
static void note_thread(struct chrome *c, struct chrome_thread *t, enum chrome_kind kind)
{
	t->used = true;
	t->begins |= kind == CHROME_BEGIN;
	t->completes |= kind == CHROME_COMPLETE;
	c->overlapping.mixed |= t->begins && t->completes;
}

/* Add the event to the sorter. */
static int keep_event(struct chrome *c, enum chrome_kind kind, int64_t time, uint64_t duration,
		      struct error *e)
{
	struct chrome_record record = {
		.duration = duration, .kind = (uint16_t)kind, .phase = c->read.phase.data[0]};
	struct sorter_key key = {(uint64_t)time + (uint64_t)INT64_MIN, 0};
	const uint8_t *p;
	uint32_t name; /* of the row with the arguments */

	record.id = c->read.id;
	record.marks = c->read.marks;
	record.marks.unseen &= kind == CHROME_COMPLETE || kind == CHROME_BEGIN;
	c->depths |= record.marks.unfinished || record.marks.unseen;
	if (c->read.has_nested && chrome_nested_convert(c))
		return error_no_memory(e);
	if (record.marks.unfinished)
		forget_argument(c, c->texts.unfinished);
	if ((c->read.flows && c->read.bind.form & CHROME_ID_HERE && is_phase(c, "XBb") &&
	     chrome_flow_add(c, &record, time)) ||
	    !chrome_thread(c, &record.thread))
		return error_no_memory(e);
	note_thread(c, &c->threads[record.thread], kind);
	record.scope = is_phase(c, "iI") ? c->read.scope : 0;
	record.cpu = kind == CHROME_INSTANT ? cpu_of(c, record.thread) : -1;
	/* an end without a name ends any call */
	record.name = c->read.name.size || kind == CHROME_END || is_phase(c, "eF")
			      ? writer_string(c->w, c->read.name.data, c->read.name.size)
			      : writer_text(c->w, "(no name)");
	if (kind == CHROME_INSTANT && c->read.frame.size) {
		record.other = chrome_frame(&c->frames, 0, c->read.frame.data, c->read.frame.size);
		if (!record.other)
			return error_no_memory(e);
	}
	if (kind == CHROME_COMPLETE || kind == CHROME_END)
		record.other = writer_string(c->w, c->read.other.data, c->read.other.size);
	name = kind == CHROME_COMPLETE && record.other && !record.marks.unseen ? record.other
									       : record.name;
	record.category = writer_string(c->w, c->read.category.data, c->read.category.size);
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
	key.second = second_key(kind, duration, record.marks.unseen);
	c->read.record.size = 0;
	if (buffer_append(&c->read.record, &record, sizeof record) ||
	    (record.values && buffer_append(&c->read.record, p, record.values)))
		return error_no_memory(e);
	c->counts.events++;
	return sorter_add(&c->sorter, key, c->read.record.data, c->read.record.size, e);
}

/* Add an element of "samples". */
static int keep_sample(struct chrome *c, int64_t time, struct error *e)
{
	struct chrome_sample s = {.time = time,
				  .weight = 1,
				  .in_time = c->read.in_time,
				  .name = c->read.name.size ? (char *)c->read.name.data
							    : "samples"};
	const char *weight = (char *)c->read.weight.data;
	const struct buffer *args = &c->read.arguments;

	if (c->read.weight.size && *weight != '-')
		s.weight = strtoull(weight, NULL, 10);
	if (c->read.frame.size)
		s.frame = chrome_frame(&c->frames, 0, c->read.frame.data, c->read.frame.size);
	if (!chrome_thread(c, &s.thread) || (c->read.frame.size && !s.frame))
		return error_no_memory(e);
	s.cpu = cpu_of(c, s.thread);
	c->counts.reduced += args->size && (get_u32(args->data) != c->texts.period ||
					    args->size > 8 + get_u32(args->data + 4));
	return chrome_sample(c, &s, e);
}

/* Return the buffer for the value of a key whose value is text or a number, or NULL. */
static struct buffer *text_of(struct chrome *c, const struct json_reader *r)
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
		if ((local || global) && (token == JSON_STRING || token == JSON_NUMBER)) {
			c->read.id.form &= CHROME_ID_ENCLOSING;
			c->read.id.form |= local ? CHROME_ID_LOCAL : 0;
			if (chrome_read_id(c, &r->text, &c->read.id))
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

/* Count the event that is read if the stream is without some of its members. Returns 0, or -1 when
 * out of memory. */
static int count_left_out(struct chrome *c)
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
static int keep_text(struct buffer *text, const struct json_reader *r)
{
	text->size = 0;
	if (buffer_append(text, r->text.data, r->text.size + 1))
		return -1;
	text->size--;
	return 0;
}

struct times {
	int64_t ts, dur;
	bool has_ts, has_dur, wrong, wrong_dur;
};

static int read_member(struct chrome *c, struct json_reader *r, struct times *t)
{
	bool ts = json_is(r, "ts"), dur = json_is(r, "dur"), args = json_is(r, "args");
	bool id = json_is(r, "id"), id2 = json_is(r, "id2"), bp = json_is(r, "bp");
	bool unfinished = json_is(r, CHROME_UNFINISHED), unseen = json_is(r, CHROME_UNSEEN);
	bool unit = json_is(r, CHROME_WEIGHT_UNIT);
	bool overlaps = json_is(r, CHROME_OVERLAPS), scope = json_is(r, "s"),
	     derived = json_is(r, CHROME_DERIVED_MARK);
	bool bind = json_is(r, "bind_id");
	bool flow_out = json_is(r, "flow_out"), flows = flow_out || json_is(r, "flow_in");
	struct buffer *text = text_of(c, r);
	enum json_token token;

	if (!(ts || dur || args || id || id2 || bp || unfinished || unseen || unit || overlaps ||
	      scope || derived || bind || flows || text) &&
	    leave_out(c, (char *)r->text.data, r->text.size))
		return -1;
	token = json_next(r);
	if (token == JSON_BAD || (!ts && !dur && json_spell_whole(r, token)))
		return -1;
	if (args && token == JSON_OBJECT)
		return read_arguments(c, r);
	if (id2 && token == JSON_OBJECT)
		return read_id2(c, r);
	if (id && (token == JSON_STRING || token == JSON_NUMBER))
		return chrome_read_id(c, &r->text, &c->read.id);
	if (bind && (token == JSON_STRING || token == JSON_NUMBER))
		return chrome_read_number(c, &r->text, &c->read.bind);
	c->read.flows |= flows && token == JSON_TRUE;
	c->read.flow_out |= flow_out && token == JSON_TRUE;
	/* some writers put numbers beyond 2^53 in quotes */
	if ((ts || dur) && (token == JSON_NUMBER ||
			    (token == JSON_STRING && json_is_number((char *)r->text.data)))) {
		if (!chrome_time((char *)r->text.data, ts ? &t->ts : &t->dur,
				 &c->read.marks.inexact))
			*(ts ? &t->wrong : &t->wrong_dur) = true;
		t->has_ts |= ts;
		t->has_dur |= dur;
		return 0;
	}
	t->wrong_dur |= dur && token != JSON_NULL;
	if (bp && token == JSON_STRING && !strcmp((char *)r->text.data, "e"))
		c->read.id.form |= CHROME_ID_ENCLOSING;
	if (scope && token == JSON_STRING)
		c->read.scope = json_is(r, "g")	  ? CHROME_GLOBAL
				: json_is(r, "p") ? CHROME_PROCESS
						  : 0;
	c->read.marks.unfinished |= unfinished && token == JSON_TRUE;
	c->read.marks.unseen |= unseen && token == JSON_TRUE;
	c->read.marks.overlaps |= overlaps && token == JSON_TRUE;
	c->read.derived |= derived && token == JSON_TRUE;
	c->read.in_time |= unit && token == JSON_STRING && json_is(r, "ns");
	if (text && (token == JSON_STRING || token == JSON_NUMBER))
		return keep_text(text, r);
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

/* Convert the arguments of a counter that are numbers in quotes to numbers, as Perfetto does. */
static int read_counter(struct chrome *c)
{
	struct buffer *from = &c->read.arguments, *to = &c->read.nested, other;
	size_t size;

	to->size = 0;
	for (size_t i = 0; i < from->size; i += 8 + size) {
		struct buffer *text = &c->read.weight;
		size_t at = to->size, plus;
		struct values v;
		struct value value;

		size = get_u32(from->data + i + 4);
		values_begin(&v, from->data + i + 8, size);
		text->size = 0;
		if (!values_value(&v, &value) || value.tag != VALUE_STRING ||
		    buffer_append(text, value.bytes, value.n) || buffer_u8(text, 0) ||
		    strlen((char *)text->data) != value.n || !is_decimal((char *)text->data)) {
			if (buffer_append(to, from->data + i, 8 + size))
				return -1;
			continue;
		}
		plus = *text->data == '+';
		if (buffer_append(to, from->data + i, 8) ||
		    json_put_number(to, (char *)text->data + plus, value.n - plus))
			return -1;
		put_u32(to->data + at + 4, (uint32_t)(to->size - at - 8));
	}
	other = *from;
	*from = *to;
	*to = other;
	return 0;
}

/* Add an event with a time, by its phase. */
static int keep_phase(struct chrome *c, const struct times *t, struct error *e)
{
	const char *name = (char *)c->read.name.data;
	bool done = false;

	if (c->read.sample)
		return keep_sample(c, t->ts, e);
	if (is_phase(c, "P") && (!strcmp(name, "Profile") || !strcmp(name, "ProfileChunk")) &&
	    (chrome_cpu_profile(c, t->ts, &done, e) || done))
		return done ? 0 : -1;
	if (is_phase(c, "B"))
		return keep_event(c, CHROME_BEGIN, t->ts, 0, e);
	if (is_phase(c, "E"))
		return keep_event(c, CHROME_END, t->ts, 0, e);
	if (is_phase(c, "X"))
		return keep_event(c, CHROME_COMPLETE, t->ts, (uint64_t)t->dur, e);
	if (is_phase(c, "C"))
		return chrome_name_counter(c) || read_counter(c)
			       ? error_no_memory(e)
			       : keep_event(c, CHROME_COUNTER, t->ts, 0, e);
	if (chrome_is_async((char)c->read.phase.data[0]) ||
	    (chrome_is_flow((char)c->read.phase.data[0]) && c->read.id.form & CHROME_ID_HERE))
		return keep_event(c, CHROME_ASYNC, t->ts, 0, e);
	/* instants, objects, samples */
	chrome_count_id(c);
	return keep_event(c, CHROME_INSTANT, t->ts, 0, e);
}

/* Test for an event that trencode made from others, which are in the file too. */
static bool is_derived(const struct chrome *c)
{
	const char *category = (const char *)c->read.category.data;

	return !strcmp(category, CHROME_DERIVED) || (c->read.derived && is_phase(c, "M")) ||
	       (c->read.derived && is_phase(c, "stf") && !strcmp(category, CHROME_FLOW) &&
		!strcmp((const char *)c->read.name.data, CHROME_FLOW));
}

int chrome_event(struct chrome *c, struct json_reader *r, struct error *e)
{
	struct buffer *const all[] = {&c->read.name,   &c->read.other,	   &c->read.category,
				      &c->read.phase,  &c->read.pid,	   &c->read.tid,
				      &c->read.values, &c->read.arguments, &c->read.frame,
				      &c->read.weight, &c->read.cpu,	   &c->read.left_out};
	uint64_t offset = json_offset(r) - 1; /* offset of its '{' */
	struct times t = {0};
	enum json_token token;

	c->read.id = c->read.bind = (struct chrome_id){0};
	c->read.flows = c->read.flow_out = c->read.has_nested = false;
	c->read.scope = 0;
	c->read.marks = (struct chrome_marks){0};
	c->read.in_time = c->read.derived = false;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		all[i]->size = 0;
		if (buffer_u8(all[i], 0))
			return error_no_memory(e);
		all[i]->size = 0;
	}
	while ((token = json_next(r)) == JSON_KEY)
		if (read_member(c, r, &t))
			return -1;
	if (token == JSON_BAD)
		return -1;
	if (c->read.doubtful &&
	    !(is_phase(c, "M") || (t.has_ts && (c->read.phase.size == 1 || c->read.sample))))
		return 1;
	c->counts.phased += c->read.phase.size == 1;
	if (is_derived(c))
		return 0;
	if (is_phase(c, "M"))
		return take_metadata(c) ? error_no_memory(e) : 0;
	if (t.wrong || (t.has_ts && (t.ts < -CHROME_EARLIEST ||
				     t.ts >= (int64_t)TIME_LIMIT - CHROME_EARLIEST))) {
		if (!c->counts.wrong_times++)
			input_damage(c->input, c->input->name, offset,
				     "an event with an impossible time");
		return 0;
	}
	if (!t.has_ts || (c->read.phase.size != 1 && !c->read.sample)) {
		if (!c->counts.ignored++)
			c->counts.ignored_first = offset;
		return 0;
	}
	if (is_phase(c, "X") &&
	    (t.wrong_dur || t.dur < 0 || t.dur >= (int64_t)TIME_LIMIT - CHROME_EARLIEST - t.ts)) {
		if (!c->counts.wrong_durations++)
			input_damage(c->input, c->input->name, offset,
				     "an event with an impossible duration, which is left out");
		return 0;
	}
	c->counts.lasting_none += is_phase(c, "X") && !t.has_dur;
	if (count_left_out(c))
		return error_no_memory(e);
	return keep_phase(c, &t, e);
}
