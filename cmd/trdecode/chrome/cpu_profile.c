/*
 * cpu_profile.c - the events Profile and ProfileChunk of V8's CPU profiler
 *
 * Profile has the thread that is sampled and the time at which this begins. Each ProfileChunk of
 * the same process and id has new nodes, which are frames with the ids of their callers, the ids of
 * the nodes of samples, and the microseconds from each sample to the next: "args": {"data":
 * {"cpuProfile": {"nodes": [...], "samples": [...]}, "timeDeltas": [...]}}.
 *
 * Source: the traces that Chrome and Node.js write, and src/profiler of V8.
 */
#include <stdlib.h>

#include "cmd/trdecode/chrome/chrome.h"
#include "common/stream/value.h"

int chrome_sample(struct chrome *c, const struct chrome_sample *s, struct error *e)
{
	struct chrome_record record = {
		.duration = s->weight,
		.kind = s->in_time ? CHROME_TIME_SAMPLE : CHROME_SAMPLE,
		.phase = 'P',
		.thread = s->thread,
		.name = writer_text(c->w, s->name),
		.category = writer_string(c->w, c->read.category.data, c->read.category.size),
		.other = s->frame,
		.id.number = s->profile,
		.cpu = s->cpu};
	struct sorter_key key = {(uint64_t)s->time + (uint64_t)INT64_MIN, (uint64_t)1 << 63};

	if (s->time < c->lowest)
		c->lowest = s->time;
	if (s->time > c->highest)
		c->highest = s->time;
	c->counts.negative += s->time < 0;
	c->counts.events++;
	c->threads[s->thread].used = true;
	return sorter_add(&c->sorter, key, &record, sizeof record, e);
}

/* A profile of a process. */
struct chrome_profile {
	uint32_t thread; /* number in chrome.threads */
	int64_t time;	 /* ns: of the last sample */
	int64_t start;	 /* ns: of the sample before the first one, in the order of times */
};

/* What a chunk has. */
struct chunk {
	uint32_t space;		       /* number of the profile + 1 */
	struct buffer samples, deltas; /* u32 frames + 1; i64 ns */
	int64_t start;		       /* ns; -1: not given */
};

/* --- reading --- */

/* Read "callFrame", after its '{'. Lines count from 0. */
static int read_call_frame(struct chrome *c, struct json_reader *r, struct chrome_call_frame *frame)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool name = json_is(r, "functionName"), file = json_is(r, "url");
		bool line = json_is(r, "lineNumber");

		token = json_next(r);
		if (json_spell_whole(r, token))
			return -1;
		if (name && token == JSON_STRING)
			frame->name = r->text.size ? writer_string(c->w, r->text.data, r->text.size)
						   : writer_text(c->w, "(anonymous)");
		else if (file && token == JSON_STRING)
			frame->file = writer_string(c->w, r->text.data, r->text.size);
		else if (line && token == JSON_NUMBER && r->text.data[0] != '-')
			frame->line = (uint32_t)strtoul((char *)r->text.data, NULL, 10) + 1;
		else if (!json_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read a node, after its '{'. */
static int read_node(struct chrome *c, struct json_reader *r, struct chunk *chunk)
{
	struct chrome_call_frame frame = {0};
	uint32_t number = 0;
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool id = json_is(r, "id"), parent = json_is(r, "parent");
		bool content = json_is(r, "callFrame");

		token = json_next(r);
		if (json_spell_whole(r, token))
			return -1;
		if ((id || parent) && token == JSON_NUMBER) {
			uint32_t n =
				chrome_frame(&c->frames, chunk->space, r->text.data, r->text.size);

			if (!n)
				return -1;
			*(id ? &number : &frame.parent) = n;
		} else if (content && token == JSON_OBJECT) {
			if (read_call_frame(c, r, &frame))
				return -1;
		} else if (!json_skip(r, token)) {
			return -1;
		}
	}
	if (token != JSON_OBJECT_END)
		return -1;
	return number ? chrome_frame_set(&c->frames, number, &frame) : 0;
}

/* Read an array, after its '[': of nodes, of samples, or of times. */
static int read_array(struct chrome *c, struct json_reader *r, struct chunk *chunk, char what)
{
	enum json_token token;

	while ((token = json_next(r)) != JSON_ARRAY_END) {
		uint32_t frame;
		int64_t ns = 0;

		if (what == 's' && json_spell_whole(r, token))
			return -1;
		if (what == 'n' && token == JSON_OBJECT) {
			if (read_node(c, r, chunk))
				return -1;
		} else if (what == 's' && token == JSON_NUMBER) {
			frame = chrome_frame(&c->frames, chunk->space, r->text.data, r->text.size);
			if (!frame || buffer_u32(&chunk->samples, frame))
				return -1;
		} else if (what == 't' && token == JSON_NUMBER) {
			if (!chrome_time((char *)r->text.data, &ns, &c->read.marks.inexact))
				ns = 0;
			if (buffer_u64(&chunk->deltas, (uint64_t)ns))
				return -1;
		} else if (token == JSON_BAD || !json_skip(r, token)) {
			return -1;
		}
	}
	return 0;
}

/* Read "data" or "cpuProfile", after its '{'. */
static int read_chunk(struct chrome *c, struct json_reader *r, struct chunk *chunk)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool profile = json_is(r, "cpuProfile"), start = json_is(r, "startTime");
		char what = json_is(r, "nodes")	       ? 'n'
			    : json_is(r, "samples")    ? 's'
			    : json_is(r, "timeDeltas") ? 't'
						       : 0;

		token = json_next(r);
		if (profile && token == JSON_OBJECT && r->depth < 4) {
			if (read_chunk(c, r, chunk))
				return -1;
		} else if (start && token == JSON_NUMBER) {
			if (!chrome_time((char *)r->text.data, &chunk->start,
					 &c->read.marks.inexact))
				chunk->start = -1;
		} else if (what && token == JSON_ARRAY) {
			if (read_array(c, r, chunk, what))
				return -1;
		} else if (!json_skip(r, token)) {
			return -1;
		}
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Find the argument "data" in the arguments that were read: an object as text. */
static bool find_data(struct chrome *c, struct value *data)
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

/* Get the number of the profile with the id of the event, in the event's process. */
static struct chrome_profile *profile_of(struct chrome *c, uint32_t *number)
{
	struct chrome_profile *p;
	struct {
		struct chrome_id id;
		int64_t pid;
	} key;
	uint32_t thread;

	memset(&key, 0, sizeof key);
	key.id.number = c->read.id.number;
	key.id.form = c->read.id.form;
	if (!chrome_thread(c, &thread))
		return NULL;
	key.pid = c->threads[thread].pid;
	*number = intern(&c->profiles.keys, &key, sizeof key);
	if (*number == INTERN_NONE)
		return NULL;
	if (*number >= c->profiles.count) {
		if (ARRAY_GROW(c->profiles.profile, c->profiles.capacity, c->profiles.count))
			return NULL;
		p = c->profiles.profile;
		p[c->profiles.count++] = (struct chrome_profile){.thread = thread, .time = -1};
	}
	return &c->profiles.profile[*number];
}

/* Add the samples of a chunk. Times of the profiler go back now and then. */
static int keep_samples(struct chrome *c, struct chrome_profile *p, const struct chunk *chunk,
			struct error *e)
{
	size_t n = chunk->samples.size / 4;

	for (size_t i = 0; i < n; i++) {
		uint64_t delta =
			8 * i < chunk->deltas.size ? get_u64(chunk->deltas.data + 8 * i) : 0;
		int64_t time = p->time + (int64_t)delta;

		if (time < 0 || time >= (int64_t)TIME_LIMIT - CHROME_EARLIEST)
			time = p->time;
		if (chrome_sample(
			    c,
			    &(struct chrome_sample){.thread = p->thread,
						    .frame = get_u32(chunk->samples.data + 4 * i),
						    .time = time,
						    .profile = chunk->space,
						    .cpu = -1,
						    .name = "cpu_profile",
						    .in_time = true},
			    e))
			return -1;
		p->time = time;
	}
	return 0;
}

uint64_t chrome_profile_weight(struct chrome *c, uint32_t profile, uint64_t time)
{
	struct chrome_profile *p = &c->profiles.profile[profile - 1];
	int64_t before = p->start;

	p->start = (int64_t)(time - (uint64_t)chrome_zero(c));
	return p->start > before ? (uint64_t)(p->start - before) : 0;
}

int chrome_cpu_profile(struct chrome *c, int64_t time, bool *done, struct error *e)
{
	struct chunk chunk = {.start = -1};
	struct chrome_profile *p;
	struct json_reader r = {0};
	struct value data;
	uint32_t number;
	bool first;
	int bad = 0;

	*done = find_data(c, &data);
	if (!*done)
		return 0;
	p = profile_of(c, &number);
	if (!p)
		return error_no_memory(e);
	chunk.space = number + 1;
	json_open_text(&r, (const char *)data.bytes, data.n);
	if (json_next(&r) == JSON_OBJECT)
		bad = read_chunk(c, &r, &chunk);
	/* the text was read before, so it is JSON */
	bad = bad && !r.error.what[0] ? error_no_memory(e) : 0;
	json_close(&r);
	first = p->time < 0;
	if (chunk.start >= 0)
		p->time = chunk.start;
	else if (first)
		p->time = time;
	if (first)
		p->start = p->time;
	bad = bad || keep_samples(c, p, &chunk, e) ? -1 : 0;
	buffer_free(&chunk.samples);
	buffer_free(&chunk.deltas);
	return bad;
}
