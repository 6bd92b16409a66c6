/*
 * metadata.c - what a file has beside its events: metadata events, and members next to traceEvents
 *
 * All of this is the META CHROME_META, itself Trace Event JSON:
 *
 *     {"otherData":{"origin":"0","version":"2.1"},
 *     "traceEvents":[
 *     {"ph":"M","pid":1,"tid":2,"name":"thread_sort_index","args":{"sort_index":5}}],
 *     "schemaVersion":1}
 */
#include <inttypes.h>

#include "common/cli/program.h"
#include "common/stream/value.h"
#include "common/value/json.h"
#include "cmd/trdecode/chrome/chrome.h"

enum { METADATA_MOST = 4 << 20 }; /* bytes of the events, and of the members */

/* --- metadata events --- */

/* Append the value of an argument as JSON. */
static int put_value(struct buffer *b, const uint8_t *p, uint32_t size)
{
	long double real;
	struct values v;
	struct value value;

	values_begin(&v, p, size);
	if (!values_value(&v, &value))
		return buffer_puts(b, "null");
	switch (value.tag) {
	case VALUE_STRING: return json_append_string(b, (const char *)value.bytes, value.n);
	/* an object or array (nested.c) */
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
static int put_head(struct buffer *b, int32_t pid, int32_t tid, const char *name, size_t n)
{
	return buffer_puts(b, "{\"ph\":\"M\"") ||
			       (pid >= 0 && buffer_printf(b, ",\"pid\":%" PRId32, pid)) ||
			       (tid >= 0 && buffer_printf(b, ",\"tid\":%" PRId32, tid)) ||
			       buffer_puts(b, ",\"name\":") || json_append_string(b, name, n) ||
			       buffer_puts(b, ",\"args\":{")
		       ? -1
		       : 0;
}

/* Append the metadata event in k->text. *last: where the one of its kind before begins, + 1; 0. */
static int add_event(struct chrome_metadata *k, uint32_t *last)
{
	struct buffer *b = &k->events;
	size_t size = k->text.size;

	/* recorders repeat such events */
	if (*last && *last - 1 + size <= b->size &&
	    !memcmp(b->data + *last - 1, k->text.data, size))
		return 0;
	if (b->size + size > METADATA_MOST) {
		k->events_left_out = 1;
		return 0;
	}
	if (b->size && buffer_puts(b, ",\n"))
		return -1;
	*last = (uint32_t)b->size + 1;
	return buffer_append(b, k->text.data, size);
}

int chrome_metadata_event(struct chrome *c)
{
	struct chrome_metadata *k = &c->metadata;
	const struct buffer *args = &c->read.arguments, *name = &c->read.name;
	uint32_t size, *last;
	size_t head, n;

	if (k->events_left_out) {
		k->events_left_out++;
		return 0;
	}
	k->text.size = 0;
	if (put_head(&k->text, c->read.pid.size ? chrome_id(c, &c->read.pid) : -1,
		     c->read.tid.size ? chrome_id(c, &c->read.tid) : -1, (const char *)name->data,
		     name->size))
		return -1;
	head = k->text.size;
	for (size_t i = 0; i < args->size; i += 8 + size) {
		const char *key = writer_string_of(c->w, get_u32(args->data + i), &n);

		size = get_u32(args->data + i + 4);
		if ((i && buffer_u8(&k->text, ',')) || json_append_string(&k->text, key, n) ||
		    buffer_u8(&k->text, ':') || put_value(&k->text, args->data + i + 8, size))
			return -1;
	}
	last = id_cache_number(&k->last, k->text.data, head);
	return !last || buffer_puts(&k->text, "}}") || add_event(k, last) ? -1 : 0;
}

/* Add the event with the name of a thread or process that has no other events. */
static int add_name(struct chrome *c, const char *what, int32_t pid, int32_t tid, uint32_t name)
{
	struct chrome_metadata *k = &c->metadata;
	uint32_t last = 0;
	size_t n;
	const char *text = writer_string_of(c->w, name, &n);

	k->text.size = 0;
	if (put_head(&k->text, pid, tid, what, strlen(what)) ||
	    buffer_puts(&k->text, "\"name\":") || json_append_string(&k->text, text, n) ||
	    buffer_puts(&k->text, "}}"))
		return -1;
	return add_event(k, &last);
}

/* Add the names of threads that no row of the stream has, or none as the thread's own: the comm of
 * the rows may be the name of the process. And those of processes in whose place the pid was. */
static int add_names(struct chrome *c)
{
	struct id_cache *names = &c->metadata.process_names;
	struct id_cache used = {0};
	int failed = 0;

	for (size_t i = 0; i < c->nthreads && !failed; i++) {
		const struct chrome_thread *t = &c->threads[i];
		uint32_t *is = t->used ? id_cache_number(&used, &t->pid, sizeof t->pid) : NULL;
		const uint32_t *process = id_cache_number(names, &t->pid, sizeof t->pid);

		if (is)
			*is = 1;
		failed = !process || (t->used && !is) ||
			 (t->has_name && (!t->used || t->comm == *process) &&
			  add_name(c, "thread_name", t->pid, t->tid, t->comm));
	}
	for (uint32_t i = 0; i < names->keys.count && !failed; i++) {
		int32_t pid;

		memcpy(&pid, intern_data(&names->keys, i), sizeof pid);
		if (names->numbers[i] && intern_find(&used.keys, &pid, sizeof pid) == INTERN_NONE &&
		    intern_find(&c->metadata.named, &pid, sizeof pid) == INTERN_NONE)
			failed = add_name(c, "process_name", pid, -1, names->numbers[i]);
	}
	id_cache_free(&used);
	return failed ? -1 : 0;
}

/* --- members --- */

int chrome_metadata_member(struct chrome *c, struct json_reader *r, bool other)
{
	/* what trencode writes in any case */
	static const char unit[] = "\"displayTimeUnit\":\"ns\"";
	struct chrome_metadata *k = &c->metadata;
	struct buffer *b = other ? &k->other : &k->members;
	size_t at = b->size, from, used = k->members.size + k->other.size;
	enum json_token token;
	int status;

	if (used + r->text.size > METADATA_MOST) {
		k->members_left_out++;
		return json_skip(r, json_next(r)) ? 0 : -1;
	}
	if (buffer_u8(b, ','))
		return -1;
	from = b->size;
	if (json_append_string(b, (const char *)r->text.data, r->text.size) || buffer_u8(b, ':'))
		return -1;
	token = json_next(r);
	used = k->members.size + k->other.size;
	status = json_copy(r, token, b, used > METADATA_MOST ? 0 : METADATA_MOST - used);
	k->members_left_out += status > 0;
	if (status || (!other && b->size - from == sizeof unit - 1 &&
		       !memcmp(b->data + from, unit, sizeof unit - 1)))
		b->size = at;
	return status < 0 ? -1 : 0;
}

/* --- the META --- */

int chrome_metadata_write(struct chrome *c)
{
	struct chrome_metadata *k = &c->metadata;
	struct buffer *b = &k->text;

	if (add_names(c))
		return -1;
	warn_count(c->input->name, k->events_left_out,
		   "metadata {event is|events are} left out: they are larger than 4 MiB");
	warn_count(c->input->name, k->members_left_out,
		   "{member|members} beside the events {is|are} left out: all are larger than "
		   "4 MiB");
	if (!k->events.size && !k->members.size && !k->other.size)
		return 0;
	b->size = 0;
	return buffer_printf(b, "{\"otherData\":{\"origin\":\"%" PRId64 "\"", chrome_zero(c)) ||
			       buffer_append(b, k->other.data, k->other.size) ||
			       buffer_puts(b, "},\n\"traceEvents\":[\n") ||
			       buffer_append(b, k->events.data, k->events.size) ||
			       buffer_puts(b, "]") ||
			       buffer_append(b, k->members.data, k->members.size) ||
			       buffer_puts(b, "}\n") ||
			       writer_meta(c->w, c->source, CHROME_META, b->data, b->size)
		       ? -1
		       : 0;
}

void chrome_metadata_free(struct chrome_metadata *k)
{
	buffer_free(&k->events);
	buffer_free(&k->members);
	buffer_free(&k->other);
	buffer_free(&k->text);
	id_cache_free(&k->last);
	intern_free(&k->named);
}
