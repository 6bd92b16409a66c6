/*
 * otlp.c - the decoder of OpenTelemetry's spans (OTLP), as JSON and as Protocol Buffers
 *
 *     {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},
 *       "scopeSpans":[{"scope":{"name":"http"},"spans":[
 *         {"traceId":"4bf9...","spanId":"00f0...","name":"GET /cart","kind":2,
 *          "startTimeUnixNano":"1000","endTimeUnixNano":"3000","status":{"code":2}}]}]}]}
 *
 * A file has such an object in each line, or one. Protocol Buffers are one message, or messages
 * each after its size, 4 bytes, big-endian, as the file exporter of the collector writes them.
 *
 * Source: opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto of
 * opentelemetry-proto; the README of the collector's fileexporter.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "cmd/trdecode/input.h"
#include "cmd/trdecode/services.h"
#include "common/protobuf/protobuf.h"

enum {
	OTLP_DEPTH = 64, /* of values in values */
};

struct otlp {
	struct services spans;
	struct json_reader reader; /* of a message that is JSON now */
	struct buffer message, converted;
	bool damaged;	      /* sizes of fields are not relied on */
	const uint8_t *fault; /* first one of the message that is read; NULL: none */
};

static const char *const otlp_kinds[] = {"",	   "internal", "server",
					 "client", "producer", "consumer"};
static const char *const otlp_statuses[] = {"", "ok", "error"};

/* Set a text of the span to that of a code; an unknown one has none. */
static void otlp_set_code(char text[8], const char *const *texts, size_t ntexts, uint64_t code)
{
	services_text(text, 8, services_span(code < ntexts ? texts[code] : ""));
}

static void otlp_set_status(struct service_span *p, uint64_t code)
{
	otlp_set_code(p->texts.status, otlp_statuses, sizeof otlp_statuses / sizeof *otlp_statuses,
		      code);
}

/* Put a value that is no attribute, and not empty. */
static int otlp_put_number(struct services *s, const char *name, uint64_t n)
{
	struct buffer *b = &s->text;

	b->size = 0;
	return n && (buffer_decimal(b, n) ||
		     services_put(s, &s->span.own, services_span(name), span_of(b)))
		       ? -1
		       : 0;
}

static int otlp_put_text(struct services *s, const char *name, struct text_span text)
{
	struct buffer *b = &s->text;

	b->size = 0;
	return span_size(text) && (json_append_string(b, text.at, span_size(text)) ||
				   services_put(s, &s->span.own, services_span(name), span_of(b)))
		       ? -1
		       : 0;
}

/* --- JSON --- */

/* The functions below read what follows a token. They return -1 for BAD, or without memory; the
 * fault is in r->error. */

/* Test for one of two names of a key: protobuf's JSON allows both. */
static bool otlp_key(const struct json_reader *r, const char *camel, const char *snake)
{
	return json_is(r, camel) || json_is(r, snake);
}

static int otlp_any(struct services *s, struct json_reader *r, struct buffer *to);

/* Append a KeyValue, after its '{', as a member of an object. */
static int otlp_pair(struct services *s, struct json_reader *r, struct buffer *to)
{
	struct buffer value = {0};
	enum json_token token;
	bool any = false;
	int failed = 0;

	while (!failed && (token = json_next(r)) == JSON_KEY) {
		bool key = json_is(r, "key") && !any, is_value = json_is(r, "value");

		token = json_next(r);
		if (key && token == JSON_STRING) {
			failed = json_append_string(to, (char *)r->text.data, r->text.size);
			any = true;
		} else if (is_value && token == JSON_OBJECT) {
			value.size = 0;
			failed = otlp_any(s, r, &value);
		} else {
			failed = is_value ? services_skip_wrong(s, r, token, "value")
					  : services_skip(r, token);
		}
	}
	failed = failed || token != JSON_OBJECT_END || (!any && buffer_puts(to, "\"\"")) ||
		 buffer_u8(to, ':') ||
		 (value.size ? buffer_append(to, value.data, value.size) : buffer_puts(to, "null"));
	buffer_free(&value);
	return failed ? -1 : 0;
}

/* Append an array of KeyValues as an object, or one of AnyValues as an array. */
static int otlp_elements(struct services *s, struct json_reader *r, enum json_token token,
			 struct buffer *to, bool pairs)
{
	bool any = false;

	if (token != JSON_ARRAY)
		return services_skip_wrong(s, r, token, pairs ? "attributes" : "values") ||
				       buffer_puts(to, pairs ? "{}" : "[]")
			       ? -1
			       : 0;
	if (buffer_u8(to, pairs ? '{' : '['))
		return -1;
	while ((token = json_next(r)) != JSON_ARRAY_END) {
		if (token != JSON_OBJECT) {
			if (services_skip_wrong(s, r, token, "an element of values"))
				return -1;
			continue;
		}
		if ((any && buffer_u8(to, ',')) ||
		    (pairs ? otlp_pair(s, r, to) : otlp_any(s, r, to)))
			return -1;
		any = true;
	}
	return buffer_u8(to, pairs ? '}' : ']');
}

/* Append {"values":[...]}. */
static int otlp_list(struct services *s, struct json_reader *r, enum json_token token,
		     struct buffer *to, bool pairs)
{
	size_t at = to->size;

	if (token != JSON_OBJECT)
		return services_skip_wrong(s, r, token, "an array or list") ||
				       buffer_puts(to, pairs ? "{}" : "[]")
			       ? -1
			       : 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool values = json_is(r, "values");

		to->size = values ? at : to->size;
		token = json_next(r);
		if (values ? otlp_elements(s, r, token, to, pairs) : services_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	return to->size == at ? buffer_puts(to, pairs ? "{}" : "[]") : 0;
}

/* Append the value of one member of an AnyValue. */
static int otlp_member(struct services *s, struct json_reader *r, struct buffer *to)
{
	bool array = otlp_key(r, "arrayValue", "array_value");
	bool list = otlp_key(r, "kvlistValue", "kvlist_value");
	bool number =
		otlp_key(r, "intValue", "int_value") || otlp_key(r, "doubleValue", "double_value");
	enum json_token token = json_next(r);

	if (array || list)
		return otlp_list(s, r, token, to, list);
	/* 64 bits are strings in protobuf's JSON, and others may be */
	if (number && token == JSON_STRING && json_is_number((char *)r->text.data))
		return buffer_append(to, r->text.data, r->text.size);
	return json_copy(r, token, to, SIZE_MAX);
}

/* Append an AnyValue, after its '{', as JSON. */
static int otlp_any(struct services *s, struct json_reader *r, struct buffer *to)
{
	size_t at = to->size;
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		to->size = at;
		if (otlp_member(s, r, to))
			return -1;
	}
	if (to->size == at && buffer_puts(to, "null"))
		return -1;
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read an attribute, after its '{'. to: the values that it is put to; NULL: of the resource. */
static int otlp_attribute(struct services *s, struct json_reader *r, void *to)
{
	enum json_token token;

	s->key.size = s->json.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool key = json_is(r, "key"), value = json_is(r, "value");

		token = json_next(r);
		s->json.size = value ? 0 : s->json.size;
		if (key && token == JSON_STRING	    ? services_keep(&s->key, r)
		    : value && token == JSON_OBJECT ? otlp_any(s, r, &s->json)
		    : key || value ? services_skip_wrong(s, r, token, key ? "key" : "value")
				   : services_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END || (!s->json.size && buffer_puts(&s->json, "null")))
		return -1;
	return to ? services_put(s, to, span_of(&s->key), span_of(&s->json))
		  : services_put_resource(s, s->around.resource, span_of(&s->key),
					  span_of(&s->json));
}

/* Read a number or a string of digits. */
static uint64_t otlp_number(struct json_reader *r, enum json_token token)
{
	uint64_t n = 0;

	services_time(r, token, 0, &n);
	return n;
}

static int otlp_event(struct services *s, struct json_reader *r, void *to)
{
	enum json_token token;
	uint64_t time = 0;

	(void)to;
	s->values.size = s->text.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool at = otlp_key(r, "timeUnixNano", "time_unix_nano"), name = json_is(r, "name");
		bool attributes = json_is(r, "attributes");

		token = json_next(r);
		if (at && (token == JSON_STRING || token == JSON_NUMBER)) {
			time = otlp_number(r, token);
			continue;
		}
		if (name && token == JSON_STRING ? services_keep(&s->text, r)
		    : attributes
			    ? services_each(s, r, token, "attributes", otlp_attribute, &s->values)
		    : at || name ? services_skip_wrong(s, r, token, at ? "timeUnixNano" : "name")
				 : services_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	return services_event(s, time, span_of(&s->text), &s->values);
}

/* Read a link, after its '{'. */
static int otlp_link(struct services *s, struct json_reader *r, void *to)
{
	struct span_texts t = {0};
	enum json_token token;

	(void)to;
	s->json.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool trace = otlp_key(r, "traceId", "trace_id");
		bool id = otlp_key(r, "spanId", "span_id"), attributes = json_is(r, "attributes");

		token = json_next(r);
		s->json.size = attributes ? 0 : s->json.size;
		if (trace && token == JSON_STRING)
			services_id(t.trace, sizeof t.trace, services_json_text(r));
		else if (id && token == JSON_STRING)
			services_id(t.id, sizeof t.id, services_json_text(r));
		else if (attributes    ? otlp_elements(s, r, token, &s->json, true)
			 : trace || id ? services_skip_wrong(s, r, token, "an id of a link")
				       : services_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? services_put_link(s, &t, span_of(&s->json)) : -1;
}

static int otlp_status(struct services *s, struct json_reader *r, enum json_token token)
{
	if (token != JSON_OBJECT)
		return services_skip_wrong(s, r, token, "status");
	while ((token = json_next(r)) == JSON_KEY) {
		bool code = json_is(r, "code"), message = json_is(r, "message");

		token = json_next(r);
		if (code && token == JSON_STRING && json_is(r, "STATUS_CODE_ERROR"))
			otlp_set_status(&s->span, 2);
		else if (code && token == JSON_STRING && json_is(r, "STATUS_CODE_OK"))
			otlp_set_status(&s->span, 1);
		else if (code && (token == JSON_NUMBER || token == JSON_STRING))
			otlp_set_status(&s->span, otlp_number(r, token));
		else if (message && token == JSON_STRING) {
			if (otlp_put_text(s, "status_message", services_json_text(r)))
				return -1;
		} else if (services_skip(r, token)) {
			return -1;
		}
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read the kind of a span: a number, or a name as SPAN_KIND_SERVER. */
static uint64_t otlp_kind_of(struct json_reader *r, enum json_token token)
{
	struct text_span name = services_json_text(r);

	if (token == JSON_STRING && span_skip(&name, "SPAN_KIND_"))
		for (unsigned i = 1; i < sizeof otlp_kinds / sizeof *otlp_kinds; i++)
			if (span_size(name) == strlen(otlp_kinds[i]) &&
			    !strncasecmp(name.at, otlp_kinds[i], span_size(name)))
				return i;
	return otlp_number(r, token);
}

/* Read a member of a span that is a code, a time or a count. Returns 1 if it is another one. */
static int otlp_scalar(struct services *s, const char *key, struct json_reader *r,
		       enum json_token token)
{
	static const char *const counts[] = {"droppedAttributesCount", "droppedEventsCount",
					     "droppedLinksCount", "flags"};
	static const char *const names[] = {"dropped_attributes", "dropped_events", "dropped_links",
					    "flags"};
	struct service_span *p = &s->span;
	struct text_span text = services_json_text(r);

	if (token != JSON_STRING && token != JSON_NUMBER)
		return 1;
	if (!strcmp(key, "traceState"))
		return otlp_put_text(s, "tracestate", text);
	if (!strcmp(key, "kind"))
		otlp_set_code(p->texts.kind, otlp_kinds, sizeof otlp_kinds / sizeof *otlp_kinds,
			      otlp_kind_of(r, token));
	else if (!strcmp(key, "startTimeUnixNano") || !strcmp(key, "endTimeUnixNano")) {
		bool start = *key == 's';
		uint64_t *time = start ? &p->start : &p->end;
		bool right = services_time(r, token, 0, time);

		/* 0: it is not known */
		*(start ? &p->has_start : &p->has_end) = right && *time;
		p->wrong_end |= !start && !right && r->text.size;
	} else {
		for (unsigned i = 0; i < 4; i++)
			if (!strcmp(key, counts[i]))
				return otlp_put_number(s, names[i], otlp_number(r, token));
		return 1;
	}
	return 0;
}

/* Spell a key as protobuf's JSON does: trace_id is traceId, too. */
static void otlp_camel(const struct json_reader *r, char *key, size_t size)
{
	const char *p = (const char *)r->text.data, *end = p + r->text.size;
	size_t n = 0;

	for (; p < end && n + 1 < size; p++) {
		bool up = *p == '_' && p + 1 < end && p[1] >= 'a' && p[1] <= 'z';

		p += up;
		key[n++] = (char)(up ? *p - 'a' + 'A' : *p);
	}
	key[n] = '\0';
}

/* Test for a member of a span that otlp_scalar reads, whatever else its value is. */
static bool otlp_is_scalar(const char *key)
{
	return !strcmp(key, "kind") || !strcmp(key, "startTimeUnixNano") ||
	       !strcmp(key, "endTimeUnixNano");
}

static int otlp_span(struct services *s, struct json_reader *r)
{
	uint64_t offset = json_offset(r);
	enum json_token token;
	char key[32];
	int other;

	services_begin(s);
	while ((token = json_next(r)) == JSON_KEY) {
		otlp_camel(r, key, sizeof key);
		if (services_is_outside(s, key))
			return -1;
		token = json_next(r);
		other = services_member(s, key, r, token);
		if (other > 0)
			other = otlp_scalar(s, key, r, token);
		if (other < 0)
			return -1;
		if (!other)
			continue;
		if (!strcmp(key, "attributes")
			    ? services_each(s, r, token, key, otlp_attribute, &s->span.values)
		    : !strcmp(key, "events") ? services_each(s, r, token, key, otlp_event, NULL)
		    : !strcmp(key, "links")  ? services_each(s, r, token, key, otlp_link, NULL)
		    : !strcmp(key, "status") ? otlp_status(s, r, token)
		    : otlp_is_scalar(key)    ? services_skip_wrong(s, r, token, key)
					     : services_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? services_end(s, offset) : -1;
}

/* Read a scope, after its first token: its name is the group of types. */
static int otlp_scope(struct services *s, struct json_reader *r, enum json_token token)
{
	if (token != JSON_OBJECT)
		return services_skip_wrong(s, r, token, "scope");
	while ((token = json_next(r)) == JSON_KEY) {
		bool name = json_is(r, "name");

		token = json_next(r);
		if (name && token == JSON_STRING)
			s->scopes[s->around.scope - 1] =
				writer_string(s->w, r->text.data, r->text.size);
		else if (services_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read the attributes of a resource, after its first token. */
static int otlp_resource(struct services *s, struct json_reader *r, enum json_token token)
{
	if (token != JSON_OBJECT)
		return services_skip_wrong(s, r, token, "resource");
	while ((token = json_next(r)) == JSON_KEY) {
		bool attributes = json_is(r, "attributes");

		token = json_next(r);
		if (attributes ? services_each(s, r, token, "attributes", otlp_attribute, NULL)
			       : services_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Add a scope, which may be named after its spans. Returns its number; 0: out of memory. */
static uint32_t otlp_add_scope(struct services *s)
{
	if (ARRAY_GROW(s->scopes, s->scopes_capacity, s->nscopes))
		return 0;
	s->scopes[s->nscopes++] = 0;
	return (uint32_t)s->nscopes;
}

/* As services_each, for objects around spans: one in place of the array is damage, and its element.
 */
static int otlp_each_around(struct services *s, struct json_reader *r, enum json_token token,
			    const char *key,
			    int (*f)(struct services *s, struct json_reader *r, void *to), void *to)
{
	if (token != JSON_OBJECT)
		return services_each(s, r, token, key, f, to);
	input_damage(s->input, s->input->name, json_offset(r),
		     "%s is an object, not an array: it is read as its element", key);
	return f(s, r, to);
}

/* Read a document, or an object in it that is around spans, after its '{'. *to: it is. */
static int otlp_around(struct services *s, struct json_reader *r, void *to)
{
	bool *found = to, has_resource = false, has_scope = false;
	struct spans_around own;
	enum json_token token;
	char key[32];

	while ((token = json_next(r)) == JSON_KEY) {
		bool resources, resource, scopes, scope, spans, trace;

		otlp_camel(r, key, sizeof key);
		/* the API of Tempo has "batches", and in version 2 a "trace" around all, Jaeger's
		 * a "result" */
		resources = !strcmp(key, "resourceSpans") || !strcmp(key, "batches");
		trace = !strcmp(key, "trace") || !strcmp(key, "result");
		resource = !strcmp(key, "resource");
		scopes = !strcmp(key, "scopeSpans") || !strcmp(key, "instrumentationLibrarySpans");
		scope = !strcmp(key, "scope") || !strcmp(key, "instrumentationLibrary");
		spans = !strcmp(key, "spans");
		*found |= resources || scopes || spans;
		/* in either order */
		if ((resource || scopes) && !has_resource &&
		    !(s->around.resource = services_resource(s)))
			return -1;
		has_resource |= resource || scopes;
		if ((scope || spans) && !has_scope && !(s->around.scope = otlp_add_scope(s)))
			return -1;
		has_scope |= scope || spans;
		own = s->around;
		token = json_next(r);
		if (resources || scopes ? otlp_each_around(s, r, token, key, otlp_around, to)
		    : spans		? services_each_span(s, r, token)
		    : scope		? otlp_scope(s, r, token)
		    : resource		? otlp_resource(s, r, token)
		    : trace && token == JSON_OBJECT ? otlp_around(s, r, to)
						    : services_skip(r, token))
			return -1;
		s->around = own;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	/* spans that are found after a fault are of none that has ended */
	if (has_resource)
		s->around.resource = 0;
	if (has_scope)
		s->around.scope = 0;
	return 0;
}

static int otlp_document(struct services *s, struct json_reader *r, enum json_token token)
{
	bool found = false;
	int failed;

	if (token != JSON_OBJECT && token != JSON_ARRAY)
		return json_skip(r, token) ? 1 : -1;
	/* what is found after a fault in a document is of its resource */
	if (!s->nested)
		s->around = (struct spans_around){0};
	failed = token == JSON_ARRAY
			 ? services_each(s, r, token, "resourceSpans", otlp_around, &found)
			 : otlp_around(s, r, &found);
	return failed ? -1 : !found;
}

/* --- Protocol Buffers: messages become the JSON that protobuf specifies for them --- */

enum otlp_kind {
	OTLP_END,
	OTLP_TEXT,
	OTLP_ID,
	OTLP_BYTES,
	OTLP_UINT,
	OTLP_INT,
	OTLP_BOOL,
	OTLP_DOUBLE,
	OTLP_MESSAGE_OF,
	OTLP_LIST_OF
};

enum otlp_message {
	OTLP_TRACES,
	OTLP_RESOURCE_SPANS,
	OTLP_RESOURCE,
	OTLP_SCOPE_SPANS,
	OTLP_SCOPE,
	OTLP_SPAN,
	OTLP_EVENT,
	OTLP_LINK,
	OTLP_STATUS,
	OTLP_PAIR,
	OTLP_VALUE,
	OTLP_ARRAY,
	OTLP_PAIRS,
	OTLP_MESSAGES
};

/* The fields of each message. */
static const struct otlp_field {
	uint16_t number;
	uint8_t kind, message;
	const char *name;
} otlp_fields[OTLP_MESSAGES][16] = {
	[OTLP_TRACES] = {{1, OTLP_LIST_OF, OTLP_RESOURCE_SPANS, "resourceSpans"}},
	[OTLP_RESOURCE_SPANS] = {{1, OTLP_MESSAGE_OF, OTLP_RESOURCE, "resource"},
				 {2, OTLP_LIST_OF, OTLP_SCOPE_SPANS, "scopeSpans"},
				 {1000, OTLP_LIST_OF, OTLP_SCOPE_SPANS, "scopeSpans"}},
	[OTLP_RESOURCE] = {{1, OTLP_LIST_OF, OTLP_PAIR, "attributes"}},
	[OTLP_SCOPE_SPANS] = {{1, OTLP_MESSAGE_OF, OTLP_SCOPE, "scope"},
			      {2, OTLP_LIST_OF, OTLP_SPAN, "spans"}},
	[OTLP_SCOPE] = {{1, OTLP_TEXT, 0, "name"}, {2, OTLP_TEXT, 0, "version"}},
	[OTLP_SPAN] = {{1, OTLP_ID, 0, "traceId"},
		       {2, OTLP_ID, 0, "spanId"},
		       {3, OTLP_TEXT, 0, "traceState"},
		       {4, OTLP_ID, 0, "parentSpanId"},
		       {5, OTLP_TEXT, 0, "name"},
		       {6, OTLP_UINT, 0, "kind"},
		       {7, OTLP_UINT, 0, "startTimeUnixNano"},
		       {8, OTLP_UINT, 0, "endTimeUnixNano"},
		       {9, OTLP_LIST_OF, OTLP_PAIR, "attributes"},
		       {10, OTLP_UINT, 0, "droppedAttributesCount"},
		       {11, OTLP_LIST_OF, OTLP_EVENT, "events"},
		       {12, OTLP_UINT, 0, "droppedEventsCount"},
		       {13, OTLP_LIST_OF, OTLP_LINK, "links"},
		       {14, OTLP_UINT, 0, "droppedLinksCount"},
		       {15, OTLP_MESSAGE_OF, OTLP_STATUS, "status"},
		       {16, OTLP_UINT, 0, "flags"}},
	[OTLP_EVENT] = {{1, OTLP_UINT, 0, "timeUnixNano"},
			{2, OTLP_TEXT, 0, "name"},
			{3, OTLP_LIST_OF, OTLP_PAIR, "attributes"}},
	[OTLP_LINK] = {{1, OTLP_ID, 0, "traceId"},
		       {2, OTLP_ID, 0, "spanId"},
		       {4, OTLP_LIST_OF, OTLP_PAIR, "attributes"}},
	[OTLP_STATUS] = {{2, OTLP_TEXT, 0, "message"}, {3, OTLP_UINT, 0, "code"}},
	[OTLP_PAIR] = {{1, OTLP_TEXT, 0, "key"}, {2, OTLP_MESSAGE_OF, OTLP_VALUE, "value"}},
	[OTLP_VALUE] = {{1, OTLP_TEXT, 0, "stringValue"},
			{2, OTLP_BOOL, 0, "boolValue"},
			{3, OTLP_INT, 0, "intValue"},
			{4, OTLP_DOUBLE, 0, "doubleValue"},
			{5, OTLP_MESSAGE_OF, OTLP_ARRAY, "arrayValue"},
			{6, OTLP_MESSAGE_OF, OTLP_PAIRS, "kvlistValue"},
			{7, OTLP_BYTES, 0, "bytesValue"}},
	[OTLP_ARRAY] = {{1, OTLP_LIST_OF, OTLP_VALUE, "values"}},
	[OTLP_PAIRS] = {{1, OTLP_LIST_OF, OTLP_PAIR, "values"}},
};

/* Append bytes as base64. */
static int otlp_base64(struct buffer *to, struct protobuf_view v)
{
	const char *digits = services_base64;

	for (; v.at < v.end; v.at += 3) {
		size_t left = protobuf_size(v) < 3 ? protobuf_size(v) : 3;
		uint32_t n = (uint32_t)v.at[0] << 16 | (left > 1 ? (uint32_t)v.at[1] << 8 : 0) |
			     (left > 2 ? v.at[2] : 0);
		char text[4] = {digits[n >> 18], digits[n >> 12 & 63],
				left > 1 ? digits[n >> 6 & 63] : '=',
				left > 2 ? digits[n & 63] : '='};

		if (buffer_append(to, text, 4))
			return -1;
		if (left < 3)
			break;
	}
	return 0;
}

/* Test whether a field has the wire type that its kind has. */
static bool otlp_fits(const struct protobuf_field *f, const struct otlp_field *of)
{
	bool bytes = of->kind == OTLP_TEXT || of->kind == OTLP_ID || of->kind == OTLP_BYTES ||
		     of->kind >= OTLP_MESSAGE_OF;

	return f->number == of->number && (f->wire == PROTOBUF_LENGTH) == bytes;
}

/* Test whether a message consists of fields, and the messages in it down to the spans. */
static bool otlp_is_sound(struct protobuf_view v, enum otlp_message message)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&v, &f)) > 0)
		for (const struct otlp_field *of = otlp_fields[message];
		     message < OTLP_SPAN && of->kind != OTLP_END; of++)
			if (of->kind == OTLP_LIST_OF && otlp_fits(&f, of) &&
			    !otlp_is_sound(f.bytes, of->message))
				return false;
	return !got;
}

/* Get the bytes of a field of bytes that begins in v, up to the end of v. */
static bool otlp_bytes(struct protobuf_view v, uint32_t number, struct protobuf_view *bytes)
{
	uint64_t key, size;

	if (!protobuf_varint(&v, &key) || key != (number << 3 | PROTOBUF_LENGTH) ||
	    !protobuf_varint(&v, &size))
		return false;
	*bytes = v;
	if (size < protobuf_size(v))
		bytes->end = v.at + size;
	return true;
}

/* Test for the beginning of a span: 12 SIZE 0a 10 (16 bytes) 12 08 (8 bytes), its ids. */
static bool otlp_is_span(struct protobuf_view v)
{
	return otlp_bytes(v, 2, &v) && protobuf_size(v) >= 28 && v.at[0] == 0x0a && v.at[1] == 16 &&
	       v.at[18] == 0x12 && v.at[19] == 8;
}

/* Test for that of ScopeSpans with a span: 12 SIZE, perhaps a scope. */
static bool otlp_is_scope_spans(struct protobuf_view v)
{
	struct protobuf_view scope;

	if (!otlp_bytes(v, 2, &v))
		return false;
	if (otlp_bytes(v, 1, &scope))
		v.at = scope.end;
	return otlp_is_span(v);
}

/* Test for that of ResourceSpans with a span: 0a SIZE, perhaps a resource. */
static bool otlp_is_resource_spans(struct protobuf_view v)
{
	struct protobuf_view resource;

	if (!otlp_bytes(v, 1, &v))
		return false;
	if (otlp_bytes(v, 1, &resource))
		v.at = resource.end;
	return otlp_is_scope_spans(v);
}

/*
 * Take the next field as protobuf_next. In a damaged input a field ends where the next element
 * begins, which is_element finds, and what is no field is one with the number 0. 2: it is cut by
 * the end of the message.
 */
static int otlp_next(struct otlp *o, struct protobuf_view *v, struct protobuf_field *f,
		     bool (*is_element)(struct protobuf_view v))
{
	struct protobuf_view begin = *v;
	int got = protobuf_next(v, f);

	if (got < 0 && !o->fault)
		o->fault = begin.at;
	if (!got || !o->damaged)
		return got;
	if (got < 0) {
		*f = (struct protobuf_field){.number = *begin.at >> 3, .wire = PROTOBUF_LENGTH};
		got = otlp_bytes(begin, f->number, &f->bytes) ? 2 : 1;
		f->number = got == 2 ? f->number : 0;
		v->at = v->end;
	}
	while (is_element && ++begin.at < v->at) {
		if (!is_element(begin))
			continue;
		if (!o->fault)
			o->fault = begin.at;
		v->at = begin.at;
		if (f->wire == PROTOBUF_LENGTH && f->bytes.end > begin.at)
			f->bytes.end = f->bytes.at < begin.at ? begin.at : f->bytes.at;
		return 1;
	}
	return got;
}

static int otlp_put_message(struct otlp *o, struct protobuf_view v, enum otlp_message message,
			    unsigned depth, struct buffer *to);

/* Append the value of a field as JSON. 1: the message is damaged. */
static int otlp_put_field(struct otlp *o, const struct protobuf_field *f,
			  const struct otlp_field *of, unsigned depth, struct buffer *to)
{
	const char *bytes = (const char *)f->bytes.at;
	double real;

	switch (of->kind) {
	case OTLP_TEXT: return json_append_string(to, bytes, protobuf_size(f->bytes));
	case OTLP_ID:
		if (buffer_u8(to, '"'))
			return -1;
		for (const uint8_t *p = f->bytes.at; p < f->bytes.end; p++)
			if (buffer_printf(to, "%02x", *p))
				return -1;
		return buffer_u8(to, '"');
	case OTLP_BYTES:
		return buffer_u8(to, '"') || otlp_base64(to, f->bytes) || buffer_u8(to, '"') ? -1
											     : 0;
	case OTLP_UINT: return buffer_decimal(to, f->value);
	case OTLP_INT: return buffer_signed(to, (int64_t)f->value);
	case OTLP_BOOL: return buffer_puts(to, f->value ? "true" : "false");
	case OTLP_DOUBLE:
		memcpy(&real, &f->value, sizeof real);
		/* as protobuf's JSON spells them */
		if (!isfinite(real))
			return buffer_puts(to, isnan(real) ? "\"NaN\""
					       : real < 0  ? "\"-Infinity\""
							   : "\"Infinity\"");
		return json_append_real(to, real);
	default: return otlp_put_message(o, f->bytes, of->message, depth + 1, to);
	}
}

/* Append the fields of a message that are `of` to an object. 1: damaged. */
static int otlp_put_fields(struct otlp *o, struct protobuf_view v, const struct otlp_field *of,
			   bool (*is_element)(struct protobuf_view v), unsigned depth,
			   struct buffer *to)
{
	bool list = of->kind == OTLP_LIST_OF, begun = false;
	struct protobuf_field f;
	int status = 0, worst = 0, got;

	while (status >= 0 && (got = otlp_next(o, &v, &f, is_element)) > 0) {
		/* of what is cut, the elements before the end are read */
		bool bad = got > 1 && !(is_element && list && of->message != OTLP_SPAN);

		if (!otlp_fits(&f, of))
			continue;
		if (bad || (o->damaged && of->message == OTLP_SPAN &&
			    !otlp_is_sound(f.bytes, OTLP_SPAN))) {
			if (!o->fault)
				o->fault = f.bytes.at;
			worst = 1;
			continue;
		}
		if (list && begun)
			status = buffer_u8(to, ',');
		else
			status = (to->data[to->size - 1] != '{' && buffer_u8(to, ',')) ||
						 buffer_printf(to, "\"%s\":", of->name) ||
						 (list && buffer_u8(to, '['))
					 ? -1
					 : 0;
		begun = true;
		if (!status)
			status = otlp_put_field(o, &f, of, depth, to);
		worst = status > worst ? status : worst;
	}
	if (status < 0 || (list && begun && buffer_u8(to, ']')))
		return -1;
	return got < 0 ? 1 : worst;
}

/* Append a message as JSON. 1: it is damaged, and appended as far as it could be read. */
static int otlp_put_message(struct otlp *o, struct protobuf_view v, enum otlp_message message,
			    unsigned depth, struct buffer *to)
{
	const struct otlp_field *of = otlp_fields[message];
	int status = 0, worst = 0;

	if (depth > OTLP_DEPTH)
		return buffer_puts(to, "{}") ? -1 : 1;
	if (buffer_u8(to, '{'))
		return -1;
	for (unsigned i = 0; i < 16 && of[i].kind != OTLP_END && status >= 0; i++) {
		status = otlp_put_fields(o, v, &of[i],
					 message == OTLP_RESOURCE_SPANS ? otlp_is_scope_spans
					 : message == OTLP_SCOPE_SPANS	? otlp_is_span
									: NULL,
					 depth, to);
		worst = status > worst ? status : worst;
	}
	return status < 0 || buffer_u8(to, '}') ? -1 : worst;
}
/* Read the ResourceSpans of a message. */
static int otlp_take_message(struct otlp *o, struct protobuf_view v, struct error *e)
{
	struct services *s = &o->spans;
	struct input *in = s->input;
	const uint8_t *begin = v.at;
	struct protobuf_field f;
	bool found = false, reported = false;
	int got, status;

	for (; (got = otlp_next(o, &v, &f, otlp_is_resource_spans)) > 0; begin = v.at) {
		if (f.number != 1 || f.wire != PROTOBUF_LENGTH)
			continue;
		if (got > 1)
			input_short(in, in->name, (uint64_t)(begin - o->message.data),
				    "the input ends within a message of spans");
		reported |= got > 1;
		o->converted.size = 0;
		o->fault = NULL;
		status = otlp_put_message(o, f.bytes, OTLP_RESOURCE_SPANS, 0, &o->converted);
		if (status < 0)
			return error_no_memory(e);
		if (status && got == 1)
			input_damage(
				in, in->name,
				(uint64_t)((o->fault ? o->fault : f.bytes.at) - o->message.data),
				"a message of spans is damaged: what can "
				"be read of it is read");
		reported |= status > 0;
		json_open_text(&o->reader, (char *)o->converted.data, o->converted.size);
		e->what[0] = '\0';
		json_next(&o->reader);
		if (!otlp_around(s, &o->reader, &found))
			continue;
		if (e->what[0] || !o->reader.error.what[0])
			return e->what[0] ? -1 : error_no_memory(e);
		input_damage(in, in->name, (uint64_t)(f.bytes.at - o->message.data), "%s",
			     o->reader.error.what);
	}
	if (o->damaged && !reported)
		input_damage(in, in->name,
			     (uint64_t)((o->fault ? o->fault : begin) - o->message.data),
			     "no field of a message of spans: it is left out");
	return 0;
}

/* Test for messages that each follow their size. */
static bool otlp_is_delimited(const uint8_t *p, size_t n)
{
	return n > 4 && *p != 0x0a && p[4] == 0x0a;
}

/* Take the next of such messages. Returns 1, 0 at the end, or -1 if there is none. */
static int otlp_next_message(struct protobuf_view *v, struct protobuf_view *message)
{
	uint64_t size;

	if (v->at == v->end)
		return 0;
	if (!protobuf_fixed(v, 4, &size))
		return -1;
	size = get_uint(v->at - 4, 4, true);
	if (size > protobuf_size(*v))
		return -1;
	*message = (struct protobuf_view){v->at, v->at + size};
	v->at += size;
	return 1;
}

static int otlp_read_binary(struct services *s, struct error *e)
{
	struct otlp *o = (struct otlp *)s;
	struct protobuf_view all, v, message;
	int got = 0;

	if (input_read_all(s->input, &o->message, e))
		return -1;
	all = v = (struct protobuf_view){o->message.data, o->message.data + o->message.size};
	if (!otlp_is_delimited(v.at, protobuf_size(v))) {
		o->damaged = !otlp_is_sound(v, OTLP_TRACES);
		return otlp_take_message(o, v, e);
	}
	while (!o->damaged && (got = otlp_next_message(&v, &message)) > 0)
		o->damaged = !otlp_is_sound(message, OTLP_TRACES);
	o->damaged |= got < 0;
	/* what is damaged are sizes, too: ResourceSpans are found without those of the messages */
	if (o->damaged)
		return otlp_take_message(o, all, e);
	while (otlp_next_message(&all, &message) > 0)
		if (otlp_take_message(o, message, e))
			return -1;
	return 0;
}

/* --- the decoder --- */

/* Find the ids of a span: fields 1 of 16 bytes and 2 of 8 bytes. */
static bool otlp_has_ids(const uint8_t *p, const uint8_t *end)
{
	for (; end - p >= 20 && (p = memchr(p, 0x0a, (size_t)(end - p - 19))); p++)
		if (p[1] == 16 && p[18] == 0x12 && p[19] == 8)
			return true;
	return false;
}

static enum bid otlp_probe(const struct input *in)
{
	bool forced;
	struct text_span s = services_head(in, "otlp", &forced);

	if (!s.at)
		return BID_NONE;
	if (span_size(s) && (*s.at == '{' || *s.at == '['))
		return span_find(s, "\"resourceSpans\"") || span_find(s, "\"resource_spans\"") ||
				       span_find(s, "\"scopeSpans\"") ||
				       span_find(s, "\"instrumentationLibrarySpans\"")
			       ? BID_MAGIC
		       : forced ? BID_CHANCE
				: BID_NONE;
	if ((*in->head == 0x0a || otlp_is_delimited(in->head, in->head_size)) &&
	    otlp_has_ids(in->head, in->head + in->head_size))
		return BID_MAGIC;
	return forced ? BID_CHANCE : BID_NONE;
}

#define OTLP_SPAN_MEMBERS                                                                          \
	{                                                                                          \
		"traceId", "spanId", "parentSpanId", "name"                                        \
	}

static const struct service_format otlp_json = {
	.document = otlp_document,
	.span = otlp_span,
	.document_keys = {"resourceSpans", "batches"},
	.around_keys = {"scopeSpans", "instrumentationLibrarySpans", "spans", "resource", "scope",
			"instrumentationLibrary"},
	.members = OTLP_SPAN_MEMBERS,
};
static const struct service_format otlp_binary = {
	.read = otlp_read_binary, .span = otlp_span, .members = OTLP_SPAN_MEMBERS};

static int otlp_open(struct input *in, struct error *e)
{
	struct otlp *o = calloc(1, sizeof *o);
	bool forced;
	struct text_span s = services_head(in, "otlp", &forced);
	bool binary = span_size(s) && *s.at != '{' && *s.at != '[';

	in->state = o;
	if (!o)
		return error_no_memory(e);
	services_open(&o->spans, in, binary ? &otlp_binary : &otlp_json);
	return 0;
}

static void otlp_close(struct input *in)
{
	struct otlp *o = in->state;

	if (!o)
		return;
	buffer_free(&o->message);
	buffer_free(&o->converted);
	json_close(&o->reader);
	services_close(&o->spans);
}

const struct decoder decoder_otlp = {
	.name = "otlp",
	.in_order = true,
	.probe = otlp_probe,
	.open = otlp_open,
	.info = services_info,
	.begin = services_declare,
	.run = services_run,
	.close = otlp_close,
};
