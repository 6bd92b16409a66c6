/*
 * services.c - the spans of services as calls: what OTLP, Jaeger and Zipkin share
 *
 *     {"name":"GET /cart","traceId":"4bf9...","spanId":"00f0...","parentSpanId":"53ce...",
 *      "startTimeUnixNano":"1000","endTimeUnixNano":"3000"}
 *
 * is a row "span start" at 1000 and a row "span end" at 3000, both with the number of the call.
 */
#include "cmd/trdecode/services.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/input.h"
#include "common/cli/program.h"
#include "common/formats/perfetto.h"
#include "common/stream/value.h"
#include "common/util/bytes.h"

enum {
	SPANS_FLOWS_MOST = 64, /* of one span */
	SPAN_ID = 16,	       /* digits */
};

/* What a record of the sorter becomes. */
enum span_row { SPAN_START, SPAN_EVENT, SPAN_END, SPAN_RESOURCE };

struct span_record {
	struct span_texts texts;
	uint64_t key, parent; /* of the span and of its parent; 0: it has none */
	uint32_t what;	      /* enum span_row */
	uint32_t call, name, scope, resource;
	uint32_t first_link, links; /* flows that end in it: their number is index + 1 */
};

/* The fixed part of an ENTER: the call, and struct span_texts. */
enum { SPAN_FIXED = 4 + sizeof(struct span_texts), SPAN_EVENT_FIXED = 48 };

/* --- reading --- */

void services_open(struct services *s, struct input *in, const struct service_format *format)
{
	*s = (struct services){.input = in, .format = format, .w = in->decoding->writer};
	sorter_init(&s->sorter);
	in->clock_name = "wall";
	in->has_wall = true;
	s->texts.parent = writer_text(s->w, "parent");
	s->texts.flows = writer_text(s->w, PERFETTO_FLOWS);
	s->texts.ended_flows = writer_text(s->w, PERFETTO_ENDED_FLOWS);
	s->texts.resource = writer_text(s->w, "resource");
}

void services_close(struct services *s)
{
	if (!s->input->decoding->quiet)
		arguments_report(&s->arguments, s->input->name);
	for (size_t i = 0; i < s->nresources; i++) {
		buffer_free(&s->resources[i]->values);
		free(s->resources[i]);
	}
	buffer_free(&s->span.values);
	buffer_free(&s->span.own);
	buffer_free(&s->span.events);
	buffer_free(&s->span.links);
	sorter_free(&s->sorter);
	arguments_free(&s->arguments);
	nested_json_free(&s->objects);
	json_close(&s->value);
	buffer_free(&s->json);
	buffer_free(&s->key);
	buffer_free(&s->values);
	buffer_free(&s->text);
	buffer_free(&s->links);
	name_uses_free(&s->uses);
	key_map_free(&s->keys);
	id_cache_free(&s->types);
	buffer_free(&s->record);
	buffer_free(&s->details);
	buffer_free(&s->event_values);
	free(s->resources);
	free(s->scopes);
	free(s->processes);
	free(s->known);
	free(s->flows);
	s->input->state = NULL;
	free(s);
}

uint32_t services_resource(struct services *s)
{
	struct span_resource *r;

	if (ARRAY_GROW(s->resources, s->resources_capacity, s->nresources))
		return 0;
	r = calloc(1, sizeof *r);
	if (!r)
		return 0;
	s->resources[s->nresources++] = r;
	return (uint32_t)s->nresources;
}

/* Append the value of a JSON text. */
static int services_put_value(struct services *s, struct text_span json, struct buffer *to)
{
	enum json_token token;
	size_t at = to->size;
	int status;

	if (json.at < json.end && (*json.at == '{' || *json.at == '[')) {
		status = nested_json_put(&s->objects, s->w, json.at, span_size(json), to);
		if (status <= 0)
			return status;
		to->size = at;
		return value_put_bytes(to, VALUE_STRING, json.at, span_size(json));
	}
	json_open_text(&s->value, json.at, span_size(json));
	token = json_next(&s->value);
	return token == JSON_BAD ? value_put_bytes(to, VALUE_STRING, json.at, span_size(json))
				 : json_put_scalar(&s->value, token, to);
}

int services_put(struct services *s, struct buffer *values, struct text_span name,
		 struct text_span json)
{
	uint32_t text = writer_string(s->w, name.at, span_size(name));
	size_t at = values->size;

	if (!text)
		text = writer_text(s->w, "(no name)");
	if (!text || buffer_u32(values, text) || buffer_u32(values, 0) ||
	    services_put_value(s, json, values))
		return -1;
	put_u32(values->data + at + 4, (uint32_t)(values->size - at - 8));
	return 0;
}

/* Get a string of the writer with the text of a JSON string. */
static uint32_t services_json_string(struct services *s, struct text_span json)
{
	json_open_text(&s->value, json.at, span_size(json));
	return json_next(&s->value) == JSON_STRING
		       ? writer_string(s->w, s->value.text.data, s->value.text.size)
		       : 0;
}

int services_put_resource(struct services *s, uint32_t resource, struct text_span name,
			  struct text_span json)
{
	struct span_resource *r = s->resources[resource - 1];
	struct text_span digits = json;
	uint64_t pid;

	/* a number of 64 bits may be a string */
	if (span_skip(&digits, "\""))
		digits.end--;
	if (span_is(name, "service.name"))
		r->service = services_json_string(s, json);
	else if (span_is(name, "host.name") || span_is(name, "hostname"))
		r->host = services_json_string(s, json);
	else if (span_is(name, "process.pid") && span_size(digits) &&
		 span_digits(digits.at, digits.end, &pid) == digits.end && pid <= INT32_MAX)
		r->pid = pid;
	return services_put(s, &r->values, name, json);
}

void services_begin(struct services *s)
{
	struct service_span *p = &s->span;

	memset(&p->texts, 0, sizeof p->texts);
	memset(p->parent_trace, 0, sizeof p->parent_trace);
	p->name = 0;
	p->scope = s->around.scope;
	p->resource = s->around.resource;
	p->start = p->end = 0;
	p->has_start = p->has_end = p->wrong_end = p->backward = false;
	p->values.size = p->own.size = p->events.size = p->links.size = s->links.size = 0;
}

void services_text(char *to, size_t size, struct text_span text)
{
	size_t n = span_size(text) < size ? span_size(text) : size;

	memset(to, 0, size);
	if (n)
		memcpy(to, text.at, n);
}

const char services_base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Convert an id of 8 or 16 bytes in base64. false: it is none. */
static bool services_base64_id(char *to, size_t size, struct text_span text)
{
	size_t n = span_size(text), digits = n == 24 ? 32 : SPAN_ID, got = 0;
	uint32_t bits = 0, nbits = 0;
	char id[32];

	if ((n != 24 && n != 12) || digits > size || text.end[-1] != '=')
		return false;
	while (got < digits) {
		const char *digit = *text.at ? strchr(services_base64, *text.at++) : NULL;

		if (!digit)
			return false;
		bits = bits << 6 | (uint32_t)(digit - services_base64);
		for (nbits += 6; nbits >= 4 && got < digits; nbits -= 4)
			id[got++] = "0123456789abcdef"[bits >> (nbits - 4) & 15];
	}
	services_text(to, size, (struct text_span){id, id + digits});
	return true;
}

void services_id(char *to, size_t size, struct text_span text)
{
	size_t n = span_size(text), digits = n <= SPAN_ID ? SPAN_ID : size;

	if (services_base64_id(to, size, text))
		return;
	services_text(to, size, text);
	for (size_t i = 0; i < n; i++)
		if (!text.at[i] || !strchr("0123456789abcdefABCDEF", text.at[i]))
			return;
	if (!n || n > digits)
		return;
	memmove(to + digits - n, to, n);
	memset(to, '0', digits - n);
	for (size_t i = digits - n; i < digits; i++)
		to[i] |= 32; /* which digits have, too */
}

bool services_time(const struct json_reader *r, enum json_token token, int digits, uint64_t *ns)
{
	const char *text = (const char *)r->text.data;
	int64_t n;

	if ((token != JSON_NUMBER && token != JSON_STRING) || !json_is_number(text) ||
	    !json_decimal(text, digits, &n, NULL) || n < 0 || (uint64_t)n >= TIME_LIMIT)
		return false;
	*ns = (uint64_t)n;
	return true;
}

/* Read a duration. false: the token is no number. */
static bool services_duration(struct service_span *p, struct json_reader *r, enum json_token token)
{
	p->has_end = services_time(r, token, SPAN_US, &p->end);
	if (token != JSON_NUMBER && token != JSON_STRING)
		return false;
	p->backward = !p->has_end && r->text.size && *r->text.data == '-';
	p->wrong_end = !p->has_end && !p->backward;
	return true;
}

int services_member(struct services *s, const char *key, struct json_reader *r,
		    enum json_token token)
{
	struct service_span *p = &s->span;
	struct text_span text = services_json_text(r);
	unsigned m = 0;

	if (token == JSON_BAD)
		return -1;
	while (m < SPAN_MEMBERS && !(s->format->members[m] && !strcmp(key, s->format->members[m])))
		m++;
	if (m == SPAN_MEMBERS)
		return 1;
	if (m == SPAN_BEGIN && (p->has_start = services_time(r, token, SPAN_US, &p->start)))
		return 0;
	if (m == SPAN_DURATION && services_duration(p, r, token))
		return 0;
	if (m >= SPAN_BEGIN || token != JSON_STRING)
		return services_skip_wrong(s, r, token, key);
	if (m == SPAN_TRACE)
		services_id(p->texts.trace, sizeof p->texts.trace, text);
	else if (m == SPAN_OWN_ID)
		services_id(p->texts.id, sizeof p->texts.id, text);
	else if (m == SPAN_PARENT)
		services_id(p->texts.parent, sizeof p->texts.parent, text);
	else
		return span_size(text) && !(p->name = writer_string(s->w, text.at, span_size(text)))
			       ? -1
			       : 0;
	return 0;
}

void services_mean(struct service_span *p, struct text_span key, struct text_span json)
{
	if (span_is(key, "span.kind") && span_size(json) > 2)
		services_text(p->texts.kind, sizeof p->texts.kind,
			      (struct text_span){json.at + 1, json.end - 1});
	else if (span_is(key, "error") && !span_is(json, "false") && !span_is(json, "\"false\""))
		services_text(p->texts.status, sizeof p->texts.status, services_span("error"));
	else if (span_is(key, "otel.status_code") && span_is(json, "\"OK\""))
		services_text(p->texts.status, sizeof p->texts.status, services_span("ok"));
	else if (span_is(key, "otel.status_code") && span_is(json, "\"ERROR\""))
		services_text(p->texts.status, sizeof p->texts.status, services_span("error"));
}

int services_event(struct services *s, uint64_t time, struct text_span name,
		   const struct buffer *values)
{
	struct buffer *b = &s->span.events;
	uint32_t text = span_size(name) ? writer_string(s->w, name.at, span_size(name))
					: writer_text(s->w, "(no name)");

	return text && !buffer_u64(b, time) && !buffer_u32(b, text) &&
			       !buffer_u32(b, (uint32_t)values->size) &&
			       !buffer_append(b, values->data, values->size)
		       ? 0
		       : -1;
}

static const char span_no_id[] = "0000000000000000";

/* Get a key for the ids of a span. Never 0. */
static uint64_t services_key(const char trace[32], const char id[16])
{
	uint8_t text[48] = {0};
	/* 64 bits of a trace may be spelled as 128 */
	size_t left_out = memcmp(trace, span_no_id, SPAN_ID) ? 0 : SPAN_ID;

	memcpy(text, trace + left_out, 32 - left_out);
	memcpy(text + 32, id, 16);
	return hash_bytes(text, sizeof text, 0) | 1;
}

/* Append a text of struct span_texts as a JSON string. */
static int services_append_text(struct buffer *b, const char *text, size_t size)
{
	return json_append_string(b, text, strnlen(text, size));
}

int services_put_link(struct services *s, const struct span_texts *of, struct text_span attributes)
{
	struct buffer *links = &s->links;

	return buffer_puts(links, links->size ? ",{\"trace_id\":" : "[{\"trace_id\":") ||
			       services_append_text(links, of->trace, sizeof of->trace) ||
			       buffer_puts(links, ",\"span_id\":") ||
			       services_append_text(links, of->id, sizeof of->id) ||
			       (span_size(attributes) &&
				(buffer_puts(links, ",\"attributes\":") ||
				 buffer_append(links, attributes.at, span_size(attributes)))) ||
			       buffer_u8(links, '}') ||
			       buffer_u64(&s->span.links, services_key(of->trace, of->id))
		       ? -1
		       : 0;
}

/* Make a parent in another trace a link, and one with the id 0 none. */
static int services_end_parent(struct services *s)
{
	struct service_span *p = &s->span;
	struct span_texts of = {0};

	if (p->parent_trace[0] && services_key(p->parent_trace, p->texts.parent) !=
					  services_key(p->texts.trace, p->texts.parent)) {
		memcpy(of.trace, p->parent_trace, sizeof of.trace);
		memcpy(of.id, p->texts.parent, sizeof of.id);
		if (services_put_link(s, &of, (struct text_span){NULL, NULL}))
			return -1;
	} else if (memcmp(p->texts.parent, span_no_id, SPAN_ID) != 0) {
		return 0;
	}
	memset(p->texts.parent, 0, sizeof p->texts.parent);
	return 0;
}

/* End the list of links, and add the own values to the attributes. */
static int services_end_values(struct services *s)
{
	struct service_span *p = &s->span;

	if (s->links.size && (buffer_u8(&s->links, ']') ||
			      services_put(s, &p->own, services_span("links"), span_of(&s->links))))
		return -1;
	return buffer_append(&p->values, p->own.data, p->own.size);
}

/* Add a record with values to the sorter. */
static int services_sort(struct services *s, struct sorter_key key, const struct span_record *r,
			 const uint8_t *values, size_t size, struct error *e)
{
	s->record.size = 0;
	if (buffer_append(&s->record, r, sizeof *r) || buffer_append(&s->record, values, size))
		return error_no_memory(e);
	return sorter_add(&s->sorter, key, s->record.data, s->record.size, e);
}

/* Begin a list of names with those of values. The second of one name gets another one. */
static int services_name_values(struct services *s, uint8_t *p, size_t size)
{
	name_uses_begin(&s->uses);
	for (size_t i = 0; i < size; i += 8 + get_u32(p + i + 4)) {
		uint32_t name = name_uses_next(&s->uses, s->w, get_u32(p + i));

		if (!name)
			return -1;
		put_u32(p + i, name);
	}
	return 0;
}

/* Name all values of a row of a function, and learn the names. */
static int services_learn(struct services *s, uint32_t function, uint8_t *p, size_t size)
{
	if (services_name_values(s, p, size))
		return -1;
	for (size_t i = 0; i < size; i += 8 + get_u32(p + i + 4))
		if (arguments_learn(&s->arguments, function, get_u32(p + i)))
			return -1;
	return 0;
}

/* Note a span, and the flows of its links. */
static int services_note(struct services *s, struct span_record *r)
{
	uint32_t *number = key_map_number(&s->keys, r->key);
	const struct buffer *links = &s->span.links;

	if (!number || ARRAY_GROW(s->known, s->known_capacity, s->nknown))
		return -1;
	if (!*number) {
		s->known[s->nknown++] = (struct span_known){.name = r->name};
		*number = (uint32_t)s->nknown;
	}
	r->first_link = (uint32_t)s->nflows;
	for (size_t i = 0; i < links->size && r->links < SPANS_FLOWS_MOST; i += 8, r->links++) {
		if (ARRAY_GROW(s->flows, s->flows_capacity, s->nflows))
			return -1;
		s->flows[s->nflows++] = (struct span_flow){.key = get_u64(links->data + i)};
	}
	if ((r->parent && arguments_learn(&s->arguments, r->name, s->texts.parent)) ||
	    (r->links && arguments_learn(&s->arguments, r->name, s->texts.ended_flows)))
		return -1;
	return 0;
}

/* Add the events of the span. */
static int services_end_events(struct services *s, struct span_record r, struct error *e)
{
	const struct buffer *b = &s->span.events;

	r.what = SPAN_EVENT;
	for (size_t i = 0; i < b->size;) {
		uint64_t time = get_u64(b->data + i);
		uint32_t size = get_u32(b->data + i + 12);
		uint8_t *values = b->data + i + 16;

		r.name = get_u32(b->data + i + 8);
		time = time ? time : s->span.start;
		if (services_learn(s, r.name, values, size))
			return error_no_memory(e);
		if (services_sort(s, (struct sorter_key){time, 2ull << 60 | s->counts.events}, &r,
				  values, size, e))
			return -1;
		s->counts.events++;
		i += 16 + size;
	}
	return 0;
}

int services_end(struct services *s, uint64_t offset)
{
	struct service_span *p = &s->span;
	struct error *e = s->e;
	struct span_record r = {.call = ++s->calls,
				.name = p->name ? p->name : writer_text(s->w, "(no name)"),
				.scope = p->scope,
				.resource = p->resource};
	bool none;

	if (s->doubtful && !(p->texts.trace[0] && p->texts.id[0] && p->has_start))
		return 1;
	if (!p->has_start) {
		input_damage(s->input, s->input->name, offset,
			     "a span without the time of its start: it is left out");
		return 0;
	}
	if (!r.resource)
		r.resource = services_resource(s);
	if (!r.resource || services_end_parent(s) || services_end_values(s))
		return error_no_memory(e);
	r.texts = p->texts;
	if (p->backward || (p->has_end && p->end < p->start)) {
		s->counts.backward++;
		p->end = p->start;
		p->has_end = true;
	}
	s->counts.wrong_ends += p->wrong_end;
	r.key = services_key(p->texts.trace, p->texts.id);
	r.parent = p->texts.parent[0] ? services_key(p->texts.trace, p->texts.parent) : 0;
	/* Zipkin and others ignore it, too */
	if (r.parent == r.key)
		r.parent = 0;
	if (!r.name || services_note(s, &r) ||
	    services_learn(s, r.name, p->values.data, p->values.size))
		return error_no_memory(e);
	s->counts.spans++;
	/* at one time calls end, others begin, events occur, and calls without a duration end */
	if (services_sort(s, (struct sorter_key){p->start, 1ull << 60 | r.call}, &r, p->values.data,
			  p->values.size, e) ||
	    services_end_events(s, r, e))
		return -1;
	if (!p->has_end)
		return 0;
	none = p->end == p->start;
	r.what = SPAN_END;
	return services_sort(s, (struct sorter_key){p->end, (none ? 3ull << 60 : 0) | r.call}, &r,
			     NULL, 0, e);
}

int services_end_duration(struct services *s, uint64_t offset)
{
	struct service_span *p = &s->span;

	p->end += p->start;
	p->wrong_end |= p->has_end && p->end >= TIME_LIMIT;
	p->has_end &= p->end < TIME_LIMIT;
	return services_end(s, offset);
}

/* --- documents of JSON --- */

struct text_span services_head(const struct input *in, const char *format, bool *forced)
{
	struct text_span s;

	*forced = in->format && !strcmp(in->format, format);
	if (in->tree || !in->head_size || (in->format && !*forced))
		return (struct text_span){NULL, NULL};
	s = input_head(in);
	span_skip(&s, "\xef\xbb\xbf"); /* of a file that an editor of Windows wrote */
	return span_trim_space(s);
}

void services_copy_key(const struct json_reader *r, char *key, size_t size)
{
	size_t n = r->text.size < size - 1 ? r->text.size : size - 1;

	memcpy(key, r->text.data, n);
	key[n] = '\0';
}

int services_skip_wrong(struct services *s, struct json_reader *r, enum json_token token,
			const char *key)
{
	uint64_t offset = json_offset(r);

	if (services_skip(r, token))
		return -1;
	if (token != JSON_NULL && !s->doubtful)
		input_damage(s->input, s->input->name, offset,
			     "a value of another type than %s has: it is left out", key);
	return 0;
}

int services_each(struct services *s, struct json_reader *r, enum json_token token, const char *key,
		  int (*f)(struct services *s, struct json_reader *r, void *to), void *to)
{
	if (token != JSON_ARRAY)
		return services_skip_wrong(s, r, token, key);
	while ((token = json_next(r)) != JSON_ARRAY_END)
		if (token == JSON_OBJECT ? f(s, r, to) : services_skip_wrong(s, r, token, key))
			return -1;
	return 0;
}

bool services_is_outside(struct services *s, const char *key)
{
	const struct service_format *f = s->format;

	for (size_t i = 0; s->doubtful && f->document_keys[i]; i++)
		if (!strcmp(key, f->document_keys[i]))
			s->outside = SERVICES_DOCUMENT;
	for (size_t i = 0; s->doubtful && f->around_keys[i]; i++)
		if (!strcmp(key, f->around_keys[i]))
			s->outside = SERVICES_AROUND;
	return s->outside != SERVICES_INSIDE;
}

/* Read the object that was found after a fault, as a span. */
static int services_doubt(struct services *s, struct json_reader *r)
{
	int got;

	s->doubtful = true;
	got = s->format->span(s, r);
	s->doubtful = false;
	return got;
}

/* Report the fault in r, in the array at a depth, and go on at the next span. Returns 0, or -1. */
static int services_recover(struct services *s, struct json_reader *r, int depth)
{
	enum json_found found;
	int got;

	s->faulty = true;
	input_damage_error(s->input, &r->error);
	while ((found = json_recover(r, depth)) == JSON_FOUND_OBJECT) {
		got = services_doubt(s, r);
		if (s->outside != SERVICES_INSIDE || (got < 0 && !r->error.what[0]))
			return -1;
		if (!got) {
			json_rejoin(r, depth);
			return 0;
		}
	}
	if (found == JSON_FOUND_NEXT)
		return 0;
	if (!r->error.what[0]) {
		r->cut = true;
		error_set(&r->error, r->name, json_offset(r), "the input ends within a JSON value");
	}
	return -1;
}

int services_each_span(struct services *s, struct json_reader *r, enum json_token token)
{
	int depth = r->depth, bad;

	json_keep_none(r);
	if (token == JSON_OBJECT) {
		input_damage(s->input, s->input->name, json_offset(r),
			     "an object, not an array, of spans: it is read as its element");
		return s->format->span(s, r);
	}
	if (token != JSON_ARRAY)
		return services_skip_wrong(s, r, token, "an array of spans");
	while ((token = json_next(r)) != JSON_ARRAY_END) {
		if (token == JSON_OBJECT) {
			json_keep(r);
			bad = s->format->span(s, r);
		} else if (token == JSON_ARRAY && depth == 1) {
			/* of traces, as the API of Zipkin gives them */
			if (services_each_span(s, r, token))
				return -1;
			bad = 0;
		} else {
			bad = token == JSON_BAD || !json_skip(r, token) ? -1 : 0;
			s->counts.no_spans += !bad;
		}
		if (bad && (!r->error.what[0] || r->failed || (r->cut && r->depth == depth) ||
			    services_recover(s, r, depth)))
			return -1;
		json_keep_none(r);
	}
	return 0;
}

/* After a fault, read the spans up to the next object around spans or document, and begin that.
 * false: there is none, or *s->e, or r->failed. */
static bool services_find_document(struct services *s, struct json_reader *r)
{
	int got;

	while (s->outside == SERVICES_INSIDE) {
		if (json_recover(r, 0) != JSON_FOUND_OBJECT)
			return false;
		got = services_doubt(s, r);
		if (got < 0 && s->outside == SERVICES_INSIDE && !r->error.what[0]) {
			error_no_memory(s->e);
			return false;
		}
		if (!got)
			json_keep_none(r);
	}
	s->nested = s->outside == SERVICES_AROUND;
	s->outside = SERVICES_INSIDE;
	return json_restart(r);
}

/* Begin the next document after one, or after a fault. false: there is none, or as
 * services_find_document. */
static bool services_next_document(struct services *s, struct json_reader *r, bool fault,
				   enum json_token *token)
{
	bool more;

	if (fault || s->nested) {
		*token = JSON_OBJECT;
		return services_find_document(s, r);
	}
	json_keep_none(r);
	more = json_another(r);
	if (more)
		*token = json_next(r);
	return more;
}

static int services_read_json(struct services *s, struct error *e)
{
	struct input *in = s->input;
	enum json_token token;
	struct json_reader r;
	bool any = false;
	int got;

	if (input_open_json(in, &r, e))
		return -1;
	r.lines = true;
	token = json_next(&r);
	do {
		got = s->format->document(s, &r, token);
		any |= got <= 0;
		if (got >= 0) {
			/* what follows a fault in a document of several lines is no line */
			s->counts.other += got && !s->faulty;
			s->faulty &= got > 0;
			continue;
		}
		s->faulty = true;
		if (s->outside != SERVICES_INSIDE)
			continue;
		if (!e->what[0] && !r.error.what[0])
			error_no_memory(e);
		if (e->what[0] || r.failed)
			break;
		input_damage_error(in, &r.error);
	} while (services_next_document(s, &r, got < 0, &token));
	if (!e->what[0] && r.failed)
		*e = r.error;
	if (!e->what[0] && !any)
		error_set(e, in->name, 0, "JSON without the spans of %s: not a trace",
			  in->decoder->name);
	json_close(&r);
	return e->what[0] ? -1 : 0;
}

static int services_read(struct services *s, struct error *e)
{
	s->e = e;
	if (s->format->read ? s->format->read(s, e) : services_read_json(s, e))
		return -1;
	if (!s->input->decoding->quiet)
		warn_count(s->input->name, s->counts.other,
			   "{line|lines} without spans {is|are} left out");
	return 0;
}

/* --- declarations --- */

int services_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct services *s = in->state;

	if (services_read(s, e))
		return -1;
	fact_text(facts, "format", s->input->decoder->name);
	fact_number(facts, "spans", s->counts.spans);
	fact_number(facts, "events", s->counts.events);
	fact_number(facts, "functions", s->arguments.count);
	return 0;
}

static int services_compare_values(const void *a, const void *b)
{
	const uint8_t *x, *y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	/* name, size; equal values have equal bytes */
	return get_u32(x) != get_u32(y)		  ? (get_u32(x) < get_u32(y) ? -1 : 1)
	       : get_u32(x + 4) != get_u32(y + 4) ? (get_u32(x + 4) < get_u32(y + 4) ? -1 : 1)
						  : memcmp(x + 8, y + 8, get_u32(x + 4));
}

/* Get the number of the process of a resource: the attributes of a process have no order.
 * INTERN_NONE: out of memory. */
static uint32_t services_process(struct services *s, struct intern *same,
				 const struct buffer *values)
{
	const uint8_t **list = NULL;
	size_t n = 0, capacity = 0;
	bool failed = false;

	for (size_t i = 0; i < values->size && !failed; i += 8 + get_u32(values->data + i + 4)) {
		failed = ARRAY_GROW(list, capacity, n);
		if (!failed)
			list[n++] = values->data + i;
	}
	if (n)
		qsort(list, n, sizeof *list, services_compare_values);
	s->values.size = 0;
	for (size_t i = 0; i < n && !failed; i++)
		failed = buffer_append(&s->values, list[i], 8 + get_u32(list[i] + 4));
	free(list);
	return failed ? INTERN_NONE : intern(same, s->values.data, s->values.size);
}

/* Find the resources that are the same process, and give each a pid: the recorded one, or the least
 * that is free. */
static int services_number_processes(struct services *s)
{
	struct intern same = {0};
	struct id_cache pids = {0};
	int32_t next = 1;
	int failed = 0;

	s->processes = calloc(s->nresources + 1, sizeof *s->processes);
	for (size_t i = 0; s->processes && i < s->nresources && !failed; i++) {
		struct span_resource *r = s->resources[i];
		uint32_t number = services_process(s, &same, &r->values), *owner;
		int32_t pid = (int32_t)r->pid;

		failed = number == INTERN_NONE;
		r->process = number + 1;
		if (failed || number < s->nprocesses)
			continue;
		s->processes[s->nprocesses++].resource = r;
		owner = id_cache_number(&pids, &pid, sizeof pid);
		failed = !owner;
		if (owner && !*owner && pid) {
			*owner = 1;
			s->processes[number].pid = pid;
		}
	}
	for (size_t i = 0; s->processes && i < s->nprocesses && !failed; i++) {
		while (!s->processes[i].pid && !failed) {
			uint32_t *owner = id_cache_number(&pids, &next, sizeof next);

			failed = !owner;
			if (owner && !*owner)
				s->processes[i].pid = next;
			next++;
		}
	}
	intern_free(&same);
	id_cache_free(&pids);
	return s->processes && !failed ? 0 : -1;
}

/* Write the names of processes, and learn the attributes of each. */
static int services_name_processes(struct services *s)
{
	struct id_cache names = {0};
	int failed = 0;

	for (size_t i = 0; i < s->nprocesses && !failed; i++) {
		const struct span_process *p = &s->processes[i];
		struct span_resource *r = p->resource;
		uint32_t *name = id_cache_number(&names, &p->pid, sizeof p->pid);

		if (name)
			*name = r->service ? r->service : r->host;
		failed = !name ||
			 services_learn(s, s->texts.resource, r->values.data, r->values.size);
	}
	failed = failed || process_names_write(s->w, s->source, &names);
	id_cache_free(&names);
	return failed ? -1 : 0;
}

/* Give each flow to the span that it begins in. */
static int services_place_flows(struct services *s)
{
	for (size_t i = 0; i < s->nflows; i++) {
		uint64_t number = key_map_get(&s->keys, s->flows[i].key);
		struct span_known *k = number ? &s->known[number - 1] : NULL;

		if (!k)
			continue;
		s->flows[i].next = k->flows;
		k->flows = (uint32_t)i + 1;
		if (arguments_learn(&s->arguments, k->name, s->texts.flows))
			return -1;
	}
	return 0;
}

/* Report what was left out, or is not as recorded. */
static void services_report(const struct services *s)
{
	const char *file = s->input->name;

	if (s->input->decoding->quiet)
		return;
	warn_count(file, s->counts.backward,
		   "{span ends|spans end} before {its start: it lasts|their starts: they "
		   "last} 0 ns");
	warn_count(file, s->counts.wrong_ends,
		   "{span has|spans have} an impossible end: {it is an unfinished call|they are "
		   "unfinished calls}");
	warn_count(file, s->counts.no_spans,
		   "{element|elements} among the spans {is no span, and is|are no spans, and are} "
		   "left "
		   "out");
}

int services_declare(struct input *in, struct error *e)
{
	struct services *s = in->state;
	struct sorter_record r;

	if (services_read(s, e) || sorter_finish(&s->sorter, e) || merge_choose_clock(in, e))
		return -1;
	services_report(s);
	s->source = writer_source(s->w, &(struct source_entry){writer_text(s->w, in->decoder->name),
							       writer_text(s->w, in->name), 0, 0});
	s->clock = input_declare_clock(in, in->has_wall);
	if (!s->source || !s->clock || services_number_processes(s) || services_name_processes(s) ||
	    services_place_flows(s))
		return error_no_memory(e);
	in->next = UINT64_MAX;
	return sorter_peek(&s->sorter, &r) ? merge_first(in, r.key.time, e) : 0;
}

/* --- rows --- */

/* Add a field of characters of the fixed part. Attributes keep their names. */
static void services_field(struct services *s, struct field_entry *f, const char *name,
			   uint32_t offset, uint32_t count)
{
	*f = (struct field_entry){.name = arguments_free_name(&s->arguments, s->w, name),
				  .kind = FIELD_CHAR,
				  .offset = offset,
				  .size = 1,
				  .count = count};
}

/* Get the type of a row. Types of events have their names. */
static uint32_t services_type(struct services *s, const struct span_record *r, bool values)
{
	struct {
		uint32_t what, name, group, values;
	} key = {r->what, r->what == SPAN_EVENT || r->what == SPAN_RESOURCE ? r->name : 0,
		 r->scope ? s->scopes[r->scope - 1] : 0, values};
	uint32_t *id = id_cache_number(&s->types, &key, sizeof key);
	struct field_entry f[6] = {{.name = arguments_free_name(&s->arguments, s->w, "call"),
				    .kind = FIELD_UINT,
				    .role = ROLE_CALL,
				    .size = 4}};
	struct type_entry t = {.source = s->source,
			       .name = r->what == SPAN_START ? writer_text(s->w, "span start")
				       : r->what == SPAN_END ? writer_text(s->w, "span end")
							     : r->name,
			       .group = key.group,
			       .flags = values ? TYPE_TAIL | TYPE_VALUES : 0,
			       .fields = f};

	if (!id || *id)
		return id ? *id : 0;
	if (r->what == SPAN_RESOURCE) {
		t.kind = KIND_INSTANT;
	} else if (r->what == SPAN_EVENT) {
		t.kind = KIND_INSTANT;
		t.fixed_size = SPAN_EVENT_FIXED;
		services_field(s, &f[0], "trace_id", 0, 32);
		services_field(s, &f[1], "span_id", 32, 16);
		t.nfields = 2;
	} else {
		t.kind = r->what == SPAN_START ? KIND_ENTER : KIND_LEAVE;
		t.flags |= TYPE_CALL_NUMBER;
		t.fixed_size = r->what == SPAN_START ? SPAN_FIXED : 4;
		services_field(s, &f[1], "trace_id", 4, 32);
		services_field(s, &f[2], "span_id", 36, 16);
		services_field(s, &f[3], "parent_id", 52, 16);
		services_field(s, &f[4], "span_kind", 68, 8);
		services_field(s, &f[5], "status", 76, 8);
		t.nfields = r->what == SPAN_START ? 6 : 1;
	}
	*id = writer_type(s->w, &t);
	return *id && !row_filter_announce(s->input->decoding->row_filter, *id, 0) ? *id : 0;
}

/* Begin a value of the row of a function, with a name that no other value of it has. */
static int services_begin_own(struct services *s, uint32_t function, uint32_t name,
			      struct buffer *values)
{
	uint32_t other = name_uses_next(&s->uses, s->w, name);

	return !other || arguments_learn(&s->arguments, function, other) ||
			       buffer_u32(values, other) || buffer_u32(values, 0)
		       ? -1
		       : 0;
}

/* Append a named list of flows to values: flows whose first is `first`, or those that end in r. */
static int services_put_flows(struct services *s, struct buffer *b, uint32_t name, uint32_t first,
			      const struct span_record *r)
{
	uint32_t count = first ? 0 : r->links;
	size_t at = b->size, n = 0, head;

	if (services_begin_own(s, r->name, name, b))
		return -1;
	head = b->size;
	for (uint32_t i = first; i && n < SPANS_FLOWS_MOST; i = s->flows[i - 1].next, n++)
		if (value_put_uint(b, VALUE_UINT, i))
			return -1;
	for (uint32_t i = r->first_link; i < r->first_link + count; i++) {
		/* a span that the input does not have begins no flow */
		if (!key_map_get(&s->keys, s->flows[i].key))
			continue;
		if (value_put_uint(b, VALUE_UINT, i + 1))
			return -1;
		n++;
	}
	if (!n) {
		b->size = at;
		return 0;
	}
	if (arguments_put_head(b, head, 0, n))
		return -1;
	put_u32(b->data + at + 4, (uint32_t)(b->size - at - 8));
	return 0;
}

/* Add what other spans say of a span to its values: the name of its parent, flows. */
static int services_relate(struct services *s, const struct span_record *r, struct buffer *values)
{
	uint64_t number = r->parent ? key_map_get(&s->keys, r->parent) : 0;
	uint64_t own = key_map_get(&s->keys, r->key);
	size_t at = values->size, n;

	if (services_name_values(s, values->data, values->size))
		return -1;
	if (number) {
		const char *name = writer_string_of(s->w, s->known[number - 1].name, &n);

		if (services_begin_own(s, r->name, s->texts.parent, values) ||
		    value_put_bytes(values, VALUE_STRING, name, n))
			return -1;
		put_u32(values->data + at + 4, (uint32_t)(values->size - at - 8));
	}
	if (own && s->known[own - 1].flows) {
		uint32_t first = s->known[own - 1].flows;

		/* one span of several with its ids, as Zipkin's client and server */
		s->known[own - 1].flows = 0;
		if (services_put_flows(s, values, s->texts.flows, first, r))
			return -1;
	}
	return r->links ? services_put_flows(s, values, s->texts.ended_flows, 0, r) : 0;
}

/* Get the lane of a resource. */
static uint32_t services_lane(struct services *s, struct span_process *p)
{
	if (!p->lane)
		p->lane = writer_lane(s->w,
				      &(struct lane_entry){.source = s->source,
							   .clock = s->clock,
							   .comm = p->resource->service,
							   .flags = LANE_HAS_PID | LANE_PROCESS_TID,
							   .pid = p->pid,
							   .ppid = -1});
	return p->lane;
}

/* Write a row with values, which are named. */
static int services_put_row(struct services *s, const struct span_record *r, uint64_t time,
			    struct span_process *p, const struct buffer *values)
{
	static const uint32_t sizes[] = {[SPAN_START] = SPAN_FIXED,
					 [SPAN_END] = 4,
					 [SPAN_EVENT] = SPAN_EVENT_FIXED,
					 [SPAN_RESOURCE] = 0};
	uint8_t fixed[SPAN_FIXED] = {0};
	struct new_row row = {.time = merge_shifted(time, s->input->shift),
			      .lane = services_lane(s, p),
			      .type = services_type(s, r, values->size > 0),
			      .location = arguments_location_of(&s->arguments, s->w, r->name),
			      .fixed = fixed,
			      .fixed_size = sizes[r->what],
			      .has_tail = values->size > 0};

	if (r->what == SPAN_EVENT) {
		memcpy(fixed, &r->texts, SPAN_EVENT_FIXED);
	} else {
		put_u32(fixed, r->call);
		memcpy(fixed + 4, &r->texts, sizeof r->texts);
	}
	s->details.size = 0;
	if (!row.lane || !row.type || !row.location ||
	    arguments_values(&s->arguments, r->name, values->data, (uint32_t)values->size, false,
			     &s->details) ||
	    (s->objects.definitions && arguments_use_structs(s->w, &s->details)))
		return -1;
	row.tail = s->details.data;
	row.tail_size = (uint32_t)s->details.size;
	return writer_row_data(s->w, row);
}

static int services_write(struct services *s, const struct sorter_record *record)
{
	struct buffer *values = &s->event_values;
	struct span_process *p;
	struct span_record r;

	memcpy(&r, record->data, sizeof r);
	p = &s->processes[s->resources[r.resource - 1]->process - 1];
	if (!p->shown && p->resource->values.size) {
		struct span_record about = {.what = SPAN_RESOURCE, .name = s->texts.resource};

		if (services_put_row(s, &about, record->key.time, p, &p->resource->values))
			return -1;
	}
	p->shown = true;
	values->size = 0;
	if (buffer_append(values, record->data + sizeof r, record->size - sizeof r) ||
	    (r.what == SPAN_START && services_relate(s, &r, values)))
		return -1;
	return services_put_row(s, &r, record->key.time, p, values);
}

int services_run(struct input *in, uint64_t until, struct error *e)
{
	struct services *s = in->state;
	struct sorter_record r;

	for (;;) {
		bool more = sorter_peek(&s->sorter, &r);

		in->next = more ? merge_shifted(r.key.time, in->shift) : UINT64_MAX;
		if (!more || in->next > until)
			return 0;
		if (services_write(s, &r) || sorter_advance(&s->sorter, e))
			return -1;
	}
}
