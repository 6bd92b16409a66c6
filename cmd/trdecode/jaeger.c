/*
 * jaeger.c - the decoders of the spans of Jaeger and of Zipkin, in JSON
 *
 *     {"data":[{"traceID":"4bf9","spans":[{"traceID":"4bf9","spanID":"00f0","operationName":"GET",
 *       "references":[{"refType":"CHILD_OF","traceID":"4bf9","spanID":"53ce"}],
 *       "startTime":1000,"duration":20,"tags":[{"key":"http.method","type":"string","value":"GET"}],
 *       "logs":[{"timestamp":1005,"fields":[...]}],"processID":"p1"}],
 *      "processes":{"p1":{"serviceName":"shop","tags":[]}}}]}
 *
 *     [{"traceId":"4bf9","id":"00f0","parentId":"53ce","name":"get","kind":"SERVER",
 *       "timestamp":1000,"duration":20,"localEndpoint":{"serviceName":"shop"},
 *       "annotations":[{"timestamp":1005,"value":"retry"}],"tags":{"http.method":"GET"}}]
 *
 *     [{"traceId":"4bf9","id":"00f0","parentId":"53ce","name":"get",
 *       "annotations":[{"timestamp":1000,"value":"sr","endpoint":{"serviceName":"shop"}},
 *                      {"timestamp":1020,"value":"ss","endpoint":{"serviceName":"shop"}}],
 *       "binaryAnnotations":[{"key":"http.method","value":"GET","endpoint":{"serviceName":"shop"}}]}]
 *
 * Times are us since 1970. The API and the UI of Jaeger write the first; the API v2 of Zipkin the
 * second, or an array of such arrays; older versions of Zipkin the third.
 *
 * Sources: model/json of jaeger; zipkin2-api.yaml and zipkin-api.yaml of zipkin-api,
 * V1SpanConverter.java of zipkin.
 */
#include <stdlib.h>

#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/services.h"

enum { JAEGER_US = 1000 /* ns */ };

/* An annotation of a span of Zipkin, or a binary annotation, which version 1 has for tags. */
struct zipkin_note {
	struct zipkin_text {
		uint32_t at, size; /* in the text of the notes */
	} key, value, endpoint;	   /* value: of a binary one, JSON; endpoint: JSON, empty: none */
	uint64_t time;
	bool has_time, binary;
	bool shown; /* it is an event, or an attribute */
	uint8_t side;
};

/* Those of a span. */
struct zipkin_notes {
	struct zipkin_note *notes;
	size_t count, capacity;
	struct buffer text, own;
	bool old;    /* of version 1 */
	bool failed; /* out of memory */
};

struct jaeger {
	struct services spans;
	/* by the number of the trace and the id of a process; of Zipkin by the text of the endpoint
	 */
	struct id_cache resources;
	uint32_t traces;
	struct json_reader reader; /* of an endpoint */
	struct zipkin_notes notes;
};

static struct jaeger *jaeger_of(struct services *s)
{
	return s->input->state;
}

/* Read a time in us. */
static bool jaeger_time(struct json_reader *r, enum json_token token, uint64_t *ns)
{
	json_spell_whole(r, token);
	return (token == JSON_NUMBER || token == JSON_STRING) &&
	       services_time(services_json_text(r), JAEGER_US, ns);
}

/* Read a duration in us. Returns 0; 1: the token is no number. */
static int jaeger_duration(struct service_span *p, struct json_reader *r, enum json_token token)
{
	p->has_end = jaeger_time(r, token, &p->end);
	if (token != JSON_NUMBER && token != JSON_STRING)
		return 1;
	p->backward = !p->has_end && r->text.size && *r->text.data == '-';
	p->wrong_end = !p->has_end && !p->backward;
	return 0;
}

/* Take the meaning of a tag: the kind of the span, and its status. json: the tag's value. */
static void jaeger_mean(struct service_span *p, struct text_span key, struct text_span json)
{
	if (span_is(key, "span.kind") && span_size(json) > 2)
		services_text(p->texts.kind, sizeof p->texts.kind,
			      (struct text_span){json.at + 1, json.end - 1});
	else if (span_is(key, "error") && !span_is(json, "false") && !span_is(json, "\"false\""))
		services_text(p->texts.status, sizeof p->texts.status, services_span("error"));
	else if (span_is(key, "otel.status_code") && span_is(json, "\"OK\""))
		services_text(p->texts.status, sizeof p->texts.status, services_span("ok"));
}

/* --- Jaeger --- */

/* Read a tag, after its '{': its key to s->key, its value to s->json. */
static int jaeger_read_tag(struct services *s, struct json_reader *r)
{
	enum json_token token;

	s->key.size = s->json.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool key = json_is(r, "key"), value = json_is(r, "value");

		token = json_next(r);
		s->json.size = value ? 0 : s->json.size;
		if (key && token == JSON_STRING ? services_keep(&s->key, r)
		    : value			? json_copy(r, token, &s->json, SIZE_MAX)
		    : key			? services_skip_wrong(s, r, token, "key")
						: services_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	return s->json.size ? 0 : buffer_puts(&s->json, "null");
}

static int jaeger_tag(struct services *s, struct json_reader *r, void *to)
{
	(void)to;
	if (jaeger_read_tag(s, r))
		return -1;
	jaeger_mean(&s->span, services_span_of(&s->key), services_span_of(&s->json));
	return services_put(s, &s->span.values, services_span_of(&s->key),
			    services_span_of(&s->json));
}

static int jaeger_process_tag(struct services *s, struct json_reader *r, void *to)
{
	const uint32_t *resource = to;

	if (jaeger_read_tag(s, r))
		return -1;
	return services_put_resource(s, *resource, services_span_of(&s->key),
				     services_span_of(&s->json));
}

/* Put a text as an attribute of a resource. */
static int jaeger_put_resource(struct services *s, uint32_t resource, const char *name,
			       struct text_span text)
{
	struct buffer *b = &s->json;

	b->size = 0;
	return json_append_string(b, text.at, span_size(text)) ||
			       services_put_resource(s, resource, services_span(name),
						     services_span_of(b))
		       ? -1
		       : 0;
}

/* Read a process, after its first token. */
static int jaeger_process(struct services *s, struct json_reader *r, enum json_token token,
			  uint32_t resource)
{
	if (token != JSON_OBJECT)
		return services_skip_wrong(s, r, token, "process");
	while ((token = json_next(r)) == JSON_KEY) {
		bool service = json_is(r, "serviceName"), tags = json_is(r, "tags");

		token = json_next(r);
		if (service && token == JSON_STRING
			    ? jaeger_put_resource(s, resource, "service.name",
						  services_json_text(r))
		    : tags    ? services_each(s, r, token, "tags", jaeger_process_tag, &resource)
		    : service ? services_skip_wrong(s, r, token, "serviceName")
			      : services_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Get the resource of the id of a process in the present trace. 0: out of memory. */
static uint32_t jaeger_resource(struct services *s, const struct json_reader *r)
{
	struct jaeger *j = jaeger_of(s);
	uint32_t *resource;

	s->text.size = 0;
	if (buffer_u32(&s->text, j->traces) || buffer_append(&s->text, r->text.data, r->text.size))
		return 0;
	resource = id_cache_number(&j->resources, s->text.data, s->text.size);
	if (resource && !*resource)
		*resource = services_resource(s);
	return resource ? *resource : 0;
}

/* Read a field of a log, after its '{'. */
static int jaeger_log_field(struct services *s, struct json_reader *r, void *to)
{
	struct text_span json;

	(void)to;
	if (jaeger_read_tag(s, r))
		return -1;
	json = services_span_of(&s->json);
	if (!span_is(services_span_of(&s->key), "event") || *json.at != '"')
		return services_put(s, &s->values, services_span_of(&s->key), json);
	s->text.size = 0;
	return buffer_append(&s->text, json.at + 1, span_size(json) - 2);
}

/* Read a log, after its '{'. Its name is the field event. */
static int jaeger_log(struct services *s, struct json_reader *r, void *to)
{
	uint64_t time = s->span.start;
	enum json_token token;

	(void)to;
	s->values.size = s->text.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool fields = json_is(r, "fields"), at = json_is(r, "timestamp");

		token = json_next(r);
		if (at && jaeger_time(r, token, &time))
			continue;
		if (fields ? services_each(s, r, token, "fields", jaeger_log_field, NULL)
		    : at   ? services_skip_wrong(s, r, token, "timestamp")
			   : services_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END
		       ? services_event(s, time, services_span_of(&s->text), &s->values)
		       : -1;
}

/* Read a reference, after its '{': the first of CHILD_OF is the parent, others are links. */
static int jaeger_reference(struct services *s, struct json_reader *r, void *to)
{
	struct service_span *p = &s->span;
	struct span_texts t = {0};
	enum json_token token;
	bool child = false;

	(void)to;
	while ((token = json_next(r)) == JSON_KEY) {
		bool type = json_is(r, "refType"), trace = json_is(r, "traceID");
		bool id = json_is(r, "spanID");

		token = json_next(r);
		if (type && token == JSON_STRING)
			child = json_is(r, "CHILD_OF");
		else if (trace && token == JSON_STRING)
			services_text(t.trace, sizeof t.trace, services_json_text(r));
		else if (id && token == JSON_STRING)
			services_text(t.id, sizeof t.id, services_json_text(r));
		else if (type || trace || id ? services_skip_wrong(s, r, token, "a reference")
					     : services_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	if (child && !p->texts.parent[0]) {
		memcpy(p->texts.parent, t.id, sizeof t.id);
		return 0;
	}
	return services_put_link(s, &t, (struct text_span){NULL, NULL});
}

/* A member of a span that is a text or a number. Returns 1 if it is another one. */
static int jaeger_scalar(struct services *s, const char *key, struct json_reader *r,
			 enum json_token token)
{
	struct service_span *p = &s->span;
	struct text_span text = services_json_text(r);

	if (!strcmp(key, "startTime"))
		return !(p->has_start = jaeger_time(r, token, &p->start));
	if (!strcmp(key, "duration"))
		return jaeger_duration(p, r, token);
	if (token != JSON_STRING)
		return 1;
	if (!strcmp(key, "traceID"))
		services_text(p->texts.trace, sizeof p->texts.trace, text);
	else if (!strcmp(key, "spanID"))
		services_text(p->texts.id, sizeof p->texts.id, text);
	else if (!strcmp(key, "parentSpanID"))
		services_text(p->texts.parent, sizeof p->texts.parent, text);
	else if (!strcmp(key, "operationName"))
		p->name = writer_string(s->w, text.at, span_size(text));
	else if (!strcmp(key, "processID"))
		return (p->resource = jaeger_resource(s, r)) ? 0 : -1;
	else
		return 1;
	return 0;
}

/* Set the end of a span whose duration was read, and end it. */
static int jaeger_end(struct services *s, uint64_t offset)
{
	struct service_span *p = &s->span;

	p->end += p->start;
	p->wrong_end |= p->has_end && p->end >= TIME_LIMIT;
	p->has_end &= p->end < TIME_LIMIT;
	return services_end(s, offset);
}

/* Copy a key, which may be longer than all that are known. */
static void jaeger_key(const struct json_reader *r, char *key, size_t size)
{
	size_t n = r->text.size < size - 1 ? r->text.size : size - 1;

	memcpy(key, r->text.data, n);
	key[n] = '\0';
}

/* Test for a member of a span that is a text or a number. */
static bool jaeger_is_scalar(const char *key)
{
	return !strcmp(key, "traceID") || !strcmp(key, "spanID") || !strcmp(key, "parentSpanID") ||
	       !strcmp(key, "operationName") || !strcmp(key, "processID") ||
	       !strcmp(key, "startTime") || !strcmp(key, "duration");
}

static int jaeger_span(struct services *s, struct json_reader *r)
{
	uint64_t offset = json_offset(r);
	enum json_token token;
	char key[32];
	int other;

	services_begin(s);
	while ((token = json_next(r)) == JSON_KEY) {
		jaeger_key(r, key, sizeof key);
		if (services_is_outside(s, key))
			return -1;
		token = json_next(r);
		if (token == JSON_BAD)
			return -1;
		other = jaeger_scalar(s, key, r, token);
		if (other < 0)
			return -1;
		if (!other)
			continue;
		if (!strcmp(key, "process") && !s->span.resource) {
			s->span.resource = services_resource(s);
			if (!s->span.resource || jaeger_process(s, r, token, s->span.resource))
				return -1;
			continue;
		}
		if (!strcmp(key, "tags")   ? services_each(s, r, token, key, jaeger_tag, NULL)
		    : !strcmp(key, "logs") ? services_each(s, r, token, key, jaeger_log, NULL)
		    : !strcmp(key, "references")
			    ? services_each(s, r, token, key, jaeger_reference, NULL)
		    : jaeger_is_scalar(key) ? services_skip_wrong(s, r, token, key)
					    : services_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? jaeger_end(s, offset) : -1;
}

/* Read the processes of a trace, after the first token. */
static int jaeger_read_processes(struct services *s, struct json_reader *r, enum json_token token)
{
	uint32_t resource;

	if (token != JSON_OBJECT)
		return services_skip_wrong(s, r, token, "processes");
	while ((token = json_next(r)) == JSON_KEY) {
		resource = jaeger_resource(s, r);
		if (!resource || jaeger_process(s, r, json_next(r), resource))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read a trace, or the object around all of them, after its '{'. */
static int jaeger_trace(struct services *s, struct json_reader *r, void *to)
{
	bool *found = to;
	enum json_token token;

	/* ids of processes are those of a trace */
	jaeger_of(s)->traces++;
	while ((token = json_next(r)) == JSON_KEY) {
		bool data = json_is(r, "data"), spans = json_is(r, "spans");
		bool processes = json_is(r, "processes");

		*found |= data || spans;
		token = json_next(r);
		if (data && token == JSON_OBJECT ? jaeger_trace(s, r, to)
		    : data	? services_each(s, r, token, "data", jaeger_trace, to)
		    : spans	? services_each_span(s, r, token)
		    : processes ? jaeger_read_processes(s, r, token)
				: services_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

static int jaeger_document(struct services *s, struct json_reader *r, enum json_token token)
{
	bool found = false;
	int failed = token == JSON_OBJECT ? jaeger_trace(s, r, &found)
		     : token == JSON_ARRAY
			     ? services_each(s, r, token, "data", jaeger_trace, &found)
			     : services_skip(r, token);

	return failed ? failed : !found;
}

/* --- Zipkin --- */

/* Append a text to those of the notes. */
static struct zipkin_text zipkin_append(struct zipkin_notes *n, struct text_span text)
{
	struct zipkin_text t = {(uint32_t)n->text.size, (uint32_t)span_size(text)};

	n->failed |= buffer_append(&n->text, text.at, span_size(text)) != 0;
	return t;
}

static struct text_span zipkin_text_of(const struct zipkin_notes *n, struct zipkin_text t)
{
	const char *p = (const char *)n->text.data;

	return t.size ? (struct text_span){p + t.at, p + t.at + t.size}
		      : (struct text_span){NULL, NULL};
}

/* Get the resource of an endpoint, a JSON text. 0: out of memory. */
static uint32_t zipkin_resource(struct services *s, struct text_span endpoint)
{
	struct jaeger *j = jaeger_of(s);
	uint32_t *known = id_cache_number(&j->resources, endpoint.at, span_size(endpoint));
	struct json_reader *r = &j->reader;
	enum json_token token;
	uint32_t resource;

	if (!known || *known)
		return known ? *known : 0;
	resource = *known = services_resource(s);
	json_open_text(r, endpoint.at, span_size(endpoint));
	if (!resource || json_next(r) != JSON_OBJECT)
		return resource;
	while ((token = json_next(r)) == JSON_KEY) {
		bool service = json_is(r, "serviceName");

		if (services_keep(&s->key, r))
			return 0;
		s->json.size = 0;
		if (json_copy(r, json_next(r), &s->json, SIZE_MAX) ||
		    services_put_resource(s, resource,
					  service ? services_span("service.name")
						  : services_span_of(&s->key),
					  services_span_of(&s->json)))
			return 0;
	}
	return resource;
}

/* Read the endpoint that made a span, after its first token. */
static int zipkin_endpoint(struct services *s, struct json_reader *r, enum json_token token)
{
	if (token != JSON_OBJECT)
		return services_skip_wrong(s, r, token, "localEndpoint");
	s->text.size = 0;
	return json_copy(r, token, &s->text, SIZE_MAX) ||
			       !(s->span.resource = zipkin_resource(s, services_span_of(&s->text)))
		       ? -1
		       : 0;
}

/* Read an annotation, or a binary annotation, after its '{'. to: not NULL: a binary one. */
static int zipkin_note(struct services *s, struct json_reader *r, void *to)
{
	struct zipkin_notes *n = &jaeger_of(s)->notes;
	struct zipkin_note note = {.binary = to != NULL, .shown = !to};
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool at = json_is(r, "timestamp") && !to, value = json_is(r, "value");
		bool key = json_is(r, "key") && to, endpoint = json_is(r, "endpoint");
		bool text = key || (value && !to);

		token = json_next(r);
		if ((at && (note.has_time = jaeger_time(r, token, &note.time))))
			continue;
		if (text && token == JSON_STRING) {
			*(key ? &note.key : &note.value) = zipkin_append(n, services_json_text(r));
		} else if ((value && to) || (endpoint && token == JSON_OBJECT)) {
			s->json.size = 0;
			if (json_copy(r, token, &s->json, SIZE_MAX))
				return -1;
			*(value ? &note.value : &note.endpoint) =
				zipkin_append(n, services_span_of(&s->json));
		} else if (at || text || endpoint ? services_skip_wrong(s, r, token, "annotation")
						  : services_skip(r, token)) {
			return -1;
		}
	}
	if (token != JSON_OBJECT_END || n->failed || ARRAY_GROW(n->notes, n->capacity, n->count))
		return -1;
	n->old |= to || note.endpoint.size;
	n->notes[n->count++] = note;
	return 0;
}

/* Put the members of an object as values, after its first token. */
static int zipkin_tags(struct services *s, struct json_reader *r, enum json_token token)
{
	if (token != JSON_OBJECT)
		return services_skip_wrong(s, r, token, "tags");
	while ((token = json_next(r)) == JSON_KEY) {
		if (services_keep(&s->key, r))
			return -1;
		s->json.size = 0;
		if (json_copy(r, json_next(r), &s->json, SIZE_MAX))
			return -1;
		jaeger_mean(&s->span, services_span_of(&s->key), services_span_of(&s->json));
		if (services_put(s, &s->span.values, services_span_of(&s->key),
				 services_span_of(&s->json)))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Test for a member of a span that is a text or a number. */
static bool zipkin_is_scalar(const char *key)
{
	return !strcmp(key, "traceId") || !strcmp(key, "id") || !strcmp(key, "parentId") ||
	       !strcmp(key, "name") || !strcmp(key, "kind") || !strcmp(key, "timestamp") ||
	       !strcmp(key, "duration");
}

/* Put what the span talked to, after its first token. */
static int zipkin_remote(struct services *s, struct json_reader *r, enum json_token token)
{
	if (token != JSON_OBJECT)
		return services_skip_wrong(s, r, token, "remoteEndpoint");
	s->json.size = 0;
	return json_copy(r, token, &s->json, SIZE_MAX) ||
			       services_put(s, &s->span.own, services_span("remoteEndpoint"),
					    services_span_of(&s->json))
		       ? -1
		       : 0;
}

/* As jaeger_scalar. */
static int zipkin_scalar(struct services *s, const char *key, struct json_reader *r,
			 enum json_token token)
{
	struct service_span *p = &s->span;
	struct text_span text = services_json_text(r);

	if (!strcmp(key, "timestamp"))
		return !(p->has_start = jaeger_time(r, token, &p->start));
	if (!strcmp(key, "duration"))
		return jaeger_duration(p, r, token);
	if (token != JSON_STRING)
		return 1;
	if (!strcmp(key, "traceId"))
		services_text(p->texts.trace, sizeof p->texts.trace, text);
	else if (!strcmp(key, "id"))
		services_text(p->texts.id, sizeof p->texts.id, text);
	else if (!strcmp(key, "parentId"))
		services_text(p->texts.parent, sizeof p->texts.parent, text);
	else if (!strcmp(key, "name"))
		p->name = writer_string(s->w, text.at, span_size(text));
	else if (!strcmp(key, "kind")) {
		services_text(p->texts.kind, sizeof p->texts.kind, text);
		for (size_t i = 0; i < sizeof p->texts.kind; i++)
			p->texts.kind[i] |=
				p->texts.kind[i] >= 'A' && p->texts.kind[i] <= 'Z' ? 32 : 0;
	} else
		return 1;
	return 0;
}

/*
 * Version 1 has no local endpoint and no kind: each annotation has the endpoint that made it, and
 * one record may be of a client and of a server. As Zipkin's V1SpanConverter, which splits records
 * by the service: a client is from cs to cr, a server from sr to ss, a producer from ms to ws, a
 * consumer from wr to mr, unless the record has times of its own, which are those of the client if
 * there is one.
 */

enum { ZIPKIN_SIDES_MOST = 8 };

enum zipkin_core {
	ZIPKIN_CS,
	ZIPKIN_CR,
	ZIPKIN_SR,
	ZIPKIN_SS,
	ZIPKIN_MS,
	ZIPKIN_WS,
	ZIPKIN_MR,
	ZIPKIN_WR,
	ZIPKIN_CORES,
};

/* A record that is split: a side is a span. */
struct zipkin_record {
	struct zipkin_side {
		uint32_t resource;
		const char *kind;
		uint64_t start, end;
		bool has_start, has_end, shared;
		const struct zipkin_note *remote;
	} sides[ZIPKIN_SIDES_MOST];
	unsigned nsides;
	struct zipkin_note *core[ZIPKIN_CORES],
		made[2]; /* made: cs and sr that the record implies */
	bool has_duration;
	uint64_t start, duration; /* of the record; 0 not known */
};

/* Get the side of a resource; those of one service are one side. Without an endpoint: the first. */
static unsigned zipkin_side_of(const struct services *s, struct zipkin_record *z, uint32_t resource)
{
	for (unsigned i = 0; resource && i < z->nsides; i++) {
		if (!z->sides[i].resource)
			z->sides[i].resource = resource;
		if (s->resources[z->sides[i].resource - 1]->service ==
		    s->resources[resource - 1]->service)
			return i;
	}
	if (!resource || z->nsides == ZIPKIN_SIDES_MOST)
		return 0;
	z->sides[z->nsides].resource = resource;
	return z->nsides++;
}

/* Note a core annotation, of which the last of a kind is used; the others are events. */
static void zipkin_note_core(struct zipkin_record *z, struct zipkin_note *note,
			     struct text_span text)
{
	static const char names[ZIPKIN_CORES][3] = {"cs", "cr", "sr", "ss", "ms", "ws", "mr", "wr"};
	static const char *const kinds[ZIPKIN_CORES] = {"client",   "client", "server",	  "server",
							"producer", NULL,     "consumer", NULL};

	for (unsigned c = 0; c < ZIPKIN_CORES; c++) {
		if (!span_is(text, names[c]))
			continue;
		if (z->core[c])
			z->core[c]->shown = true;
		z->core[c] = note;
		note->shown = false;
		if (kinds[c])
			z->sides[note->side].kind = kinds[c];
	}
}

/* Order annotations by time, before binary annotations; else as they are in the record. */
static int zipkin_compare(const void *a, const void *b)
{
	const struct zipkin_note *x = a, *y = b;

	if (x->binary != y->binary)
		return x->binary - y->binary;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->value.at < y->value.at ? -1 : x->value.at > y->value.at;
}

/* Give each annotation its side, or each binary annotation, and find the core annotations. */
static int zipkin_find_sides(struct services *s, struct zipkin_record *z, bool binary)
{
	struct zipkin_notes *n = &jaeger_of(s)->notes;

	for (size_t i = 0; i < n->count; i++) {
		struct zipkin_note *note = &n->notes[i];
		struct text_span text = zipkin_text_of(n, binary ? note->key : note->value);
		bool address = binary &&
			       (span_is(text, "ca") || span_is(text, "sa") || span_is(text, "ma"));
		uint32_t resource = 0;

		if (note->binary != binary)
			continue;
		/* an empty "lc" marks a span that is no call of another service */
		if (binary)
			note->shown = !address && !(span_is(text, "lc") && note->value.size <= 2);
		if (note->endpoint.size && !address &&
		    !(resource = zipkin_resource(s, zipkin_text_of(n, note->endpoint))))
			return -1;
		note->side = (uint8_t)zipkin_side_of(s, z, resource);
		if (resource && !binary && note->has_time)
			zipkin_note_core(z, note, text);
	}
	return 0;
}

/* Set the times of a side to those of annotations. end: NULL: it is not known. */
static void zipkin_set_times(struct zipkin_side *side, const struct zipkin_note *begin,
			     const struct zipkin_note *end)
{
	side->has_start = true;
	side->start = begin->time;
	side->has_end = end != NULL;
	side->end = end ? end->time : 0;
}

/* Set the times of the side of an annotation: those of the record, or up to another annotation. */
static void zipkin_time_side(struct zipkin_record *z, const struct zipkin_note *begin,
			     const struct zipkin_note *end)
{
	struct zipkin_side *side = &z->sides[begin->side];

	zipkin_set_times(side, begin, end);
	if (!z->start || !z->duration)
		return;
	side->start = z->start;
	side->end = z->start + z->duration;
	side->has_end = true;
}

/* Get another side than that of the first annotation, for the second one of a record of both. */
static struct zipkin_side *zipkin_other_side(struct zipkin_record *z, const struct zipkin_note *of,
					     const struct zipkin_note *other, const char *kind)
{
	struct zipkin_side *side = &z->sides[other->side];

	if (of->side == other->side && z->nsides < ZIPKIN_SIDES_MOST) {
		side = &z->sides[z->nsides++];
		side->resource = z->sides[of->side].resource;
	}
	side->kind = kind;
	side->shared = true;
	return side;
}

/* Make a start that the record implies: it ends as an annotation says. */
static void zipkin_imply(struct zipkin_record *z, enum zipkin_core begin, enum zipkin_core end)
{
	struct zipkin_note *made = &z->made[begin == ZIPKIN_SR];

	if (z->core[begin] || !z->core[end] || !z->start || !z->duration ||
	    z->start + z->duration != z->core[end]->time)
		return;
	*made = *z->core[end];
	made->time = z->start;
	z->core[begin] = made;
}

/* Of a record without both ends of a call: what is there. */
static void zipkin_set_incomplete(struct zipkin_record *z)
{
	for (unsigned c = ZIPKIN_CS; c <= ZIPKIN_SR; c += 2) {
		const struct zipkin_note *begin = z->core[c];
		struct zipkin_note *end = z->core[c + 1];

		if (begin) {
			z->sides[begin->side].start = begin->time;
			z->sides[begin->side].has_start = true;
		}
		if (end)
			end->shown = true;
	}
	if (!z->start)
		return;
	z->sides[0].start = z->start;
	z->sides[0].end = z->start + z->duration;
	z->sides[0].has_start = true;
	z->sides[0].has_end = z->has_duration;
}

/* Set the times of client and server. */
static void zipkin_time_calls(struct zipkin_record *z)
{
	struct zipkin_note *cs, *cr = z->core[ZIPKIN_CR], *sr, *ss = z->core[ZIPKIN_SS];

	zipkin_imply(z, ZIPKIN_CS, ZIPKIN_CR);
	zipkin_imply(z, ZIPKIN_SR, ZIPKIN_SS);
	cs = z->core[ZIPKIN_CS];
	sr = z->core[ZIPKIN_SR];
	if (cs && sr) {
		zipkin_time_side(z, cs, cr);
		z->sides[cs->side].kind = "client";
		zipkin_set_times(zipkin_other_side(z, cs, sr, "server"), sr, ss);
	} else if (cs && cr) {
		zipkin_time_side(z, cs, cr);
	} else if (sr && ss) {
		zipkin_time_side(z, sr, ss);
	} else {
		zipkin_set_incomplete(z);
	}
	/* the client has the times of the record */
	if (!cs && sr && (!z->start || (ss && !z->duration)))
		z->sides[sr->side].shared = true;
}

/* Set the times of producer and consumer. */
static void zipkin_time_messages(struct zipkin_record *z)
{
	struct zipkin_note *ms = z->core[ZIPKIN_MS], *ws = z->core[ZIPKIN_WS];
	struct zipkin_note *mr = z->core[ZIPKIN_MR], *wr = z->core[ZIPKIN_WR];

	if (ms && mr) {
		zipkin_set_times(&z->sides[ms->side], ms, ws);
		z->sides[ms->side].kind = "producer";
		zipkin_set_times(zipkin_other_side(z, ms, mr, "consumer"), wr ? wr : mr,
				 wr ? mr : NULL);
	} else if (ms) {
		zipkin_time_side(z, ms, ws);
	} else if (mr) {
		zipkin_time_side(z, wr ? wr : mr, wr ? mr : NULL);
	} else {
		if (ws)
			ws->shown = true;
		if (wr)
			wr->shown = true;
	}
}

/* Give the sides the addresses of what they talked to: the binary annotations ca, sa and ma. */
static void zipkin_set_remotes(struct services *s, struct zipkin_record *z)
{
	struct zipkin_notes *n = &jaeger_of(s)->notes;
	const struct zipkin_note *ca = NULL, *sa = NULL, *ma = NULL;
	struct zipkin_note *const *core = z->core;
	const struct zipkin_note *client = core[ZIPKIN_CS] ? core[ZIPKIN_CS] : core[ZIPKIN_CR];
	const struct zipkin_note *server = core[ZIPKIN_SR] ? core[ZIPKIN_SR] : core[ZIPKIN_SS];

	for (size_t i = 0; i < n->count; i++) {
		const struct zipkin_note *note = &n->notes[i];
		struct text_span key = zipkin_text_of(n, note->key);

		if (!note->binary || note->shown || !note->endpoint.size)
			continue;
		*(span_is(key, "ca") ? &ca : span_is(key, "sa") ? &sa : &ma) = note;
	}
	if (!client && !server && (ca || sa)) {
		z->sides[0].remote = sa ? sa : ca;
		if (!sa)
			z->sides[0].kind = "server";
		return;
	}
	if (ca && server)
		z->sides[server->side].remote = ca;
	if (sa && client)
		z->sides[client->side].remote = sa;
	if (ma && core[ZIPKIN_MS])
		z->sides[core[ZIPKIN_MS]->side].remote = ma;
	if (ma && core[ZIPKIN_MR])
		z->sides[core[ZIPKIN_MR]->side].remote = ma;
}

/* Add the annotations and binary annotations of a side to the span. */
static int zipkin_put_notes(struct services *s, unsigned side)
{
	struct zipkin_notes *n = &jaeger_of(s)->notes;

	s->values.size = 0;
	for (size_t i = 0; i < n->count; i++) {
		const struct zipkin_note *note = &n->notes[i];
		struct text_span key = zipkin_text_of(n, note->key);
		struct text_span value = zipkin_text_of(n, note->value);

		if (note->side != side || !note->shown)
			continue;
		if (!note->binary) {
			if (services_event(s, note->has_time ? note->time : s->span.start, value,
					   &s->values))
				return -1;
			continue;
		}
		value = note->value.size ? value : services_span("null");
		jaeger_mean(&s->span, key, value);
		if (services_put(s, &s->span.values, key, value))
			return -1;
	}
	return 0;
}

/* Put a side as a span with the ids and the name of the record. */
static int zipkin_put_side(struct services *s, const struct zipkin_record *z, unsigned side,
			   const struct service_span *record, uint64_t offset)
{
	struct zipkin_notes *n = &jaeger_of(s)->notes;
	const struct zipkin_side *of = &z->sides[side];
	struct service_span *p = &s->span;

	services_begin(s);
	p->texts = record->texts;
	p->name = record->name;
	p->resource = of->resource;
	p->start = of->start;
	p->end = of->end;
	p->has_start = of->has_start;
	p->has_end = of->has_end && of->end < TIME_LIMIT;
	p->wrong_end = of->has_end && !p->has_end;
	if (of->kind)
		services_text(p->texts.kind, sizeof p->texts.kind, services_span(of->kind));
	if (buffer_append(&p->own, n->own.data, n->own.size) ||
	    (of->shared &&
	     services_put(s, &p->own, services_span("shared"), services_span("true"))) ||
	    (of->remote && services_put(s, &p->own, services_span("remoteEndpoint"),
					zipkin_text_of(n, of->remote->endpoint))) ||
	    zipkin_put_notes(s, side))
		return -1;
	return services_end(s, offset);
}

/* End a record of version 1. */
static int zipkin_split(struct services *s, uint64_t offset)
{
	struct zipkin_notes *n = &jaeger_of(s)->notes;
	struct service_span record = s->span;
	struct zipkin_record z = {.nsides = 1,
				  .sides = {{.resource = record.resource}},
				  .start = record.has_start ? record.start : 0,
				  .has_duration = record.has_end,
				  .duration = record.has_end ? record.end : 0};
	unsigned timed = 0;
	int got = 0;

	if (n->count)
		qsort(n->notes, n->count, sizeof *n->notes, zipkin_compare);
	n->own.size = 0;
	if (buffer_append(&n->own, record.values.data, record.values.size) ||
	    buffer_append(&n->own, record.own.data, record.own.size) ||
	    zipkin_find_sides(s, &z, false))
		return -1;
	zipkin_time_calls(&z);
	zipkin_time_messages(&z);
	if (zipkin_find_sides(s, &z, true))
		return -1;
	zipkin_set_remotes(s, &z);
	/* what has no time belongs to the record, too */
	while (timed + 1 < z.nsides && !z.sides[timed].has_start)
		timed++;
	timed = z.sides[timed].has_start ? timed : 0;
	for (size_t i = 0; i < n->count; i++)
		if (!z.sides[n->notes[i].side].has_start)
			n->notes[i].side = (uint8_t)timed;
	for (unsigned i = 0; i < z.nsides && !got; i++)
		if (i == timed || z.sides[i].has_start)
			got = zipkin_put_side(s, &z, i, &record, offset);
	return got;
}

static int zipkin_span(struct services *s, struct json_reader *r)
{
	struct zipkin_notes *n = &jaeger_of(s)->notes;
	uint64_t offset = json_offset(r);
	enum json_token token;
	char key[32];
	int other;

	services_begin(s);
	n->count = n->text.size = 0;
	n->old = n->failed = false;
	while ((token = json_next(r)) == JSON_KEY) {
		bool binary;

		jaeger_key(r, key, sizeof key);
		token = json_next(r);
		if (token == JSON_BAD)
			return -1;
		other = zipkin_scalar(s, key, r, token);
		if (other < 0)
			return -1;
		if (!other)
			continue;
		binary = !strcmp(key, "binaryAnnotations");
		n->old |= binary && token == JSON_ARRAY;
		if (!strcmp(key, "tags")	    ? zipkin_tags(s, r, token)
		    : !strcmp(key, "localEndpoint") ? zipkin_endpoint(s, r, token)
		    : binary || !strcmp(key, "annotations")
			    ? services_each(s, r, token, key, zipkin_note, binary ? n : NULL)
		    : (!strcmp(key, "shared") || !strcmp(key, "debug")) && token == JSON_TRUE
			    ? services_put(s, &s->span.own, services_span(key),
					   services_span("true"))
		    : !strcmp(key, "remoteEndpoint") ? zipkin_remote(s, r, token)
		    : zipkin_is_scalar(key)	     ? services_skip_wrong(s, r, token, key)
						     : services_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	if (n->old)
		return zipkin_split(s, offset);
	return zipkin_put_notes(s, 0) ? -1 : jaeger_end(s, offset);
}

static int zipkin_document(struct services *s, struct json_reader *r, enum json_token token)
{
	if (token == JSON_OBJECT)
		return zipkin_span(s, r);
	if (token == JSON_ARRAY)
		return services_each_span(s, r, token);
	return services_skip(r, token) ? -1 : 1;
}

/* --- the decoders --- */

/* Get the head of an input that may be JSON of a format. */
static struct text_span jaeger_head(const struct input *in, const char *format, bool *forced)
{
	const char *p = (const char *)in->head;

	*forced = in->format && !strcmp(in->format, format);
	if (in->tree || !in->head_size || (in->format && !*forced))
		return (struct text_span){NULL, NULL};
	return span_trim_space((struct text_span){p, p + in->head_size});
}

static enum bid jaeger_probe(const struct input *in)
{
	bool forced;
	struct text_span s = jaeger_head(in, "jaeger", &forced);

	if (!span_size(s) || (*s.at != '{' && *s.at != '['))
		return BID_NONE;
	if (span_find(s, "\"traceID\"") &&
	    (span_find(s, "\"spans\"") || span_find(s, "\"spanID\"")))
		return BID_MAGIC;
	return forced ? BID_CHANCE : BID_NONE;
}

static enum bid zipkin_probe(const struct input *in)
{
	bool forced;
	struct text_span s = jaeger_head(in, "zipkin", &forced);

	if (!span_size(s) || (*s.at != '{' && *s.at != '['))
		return BID_NONE;
	if (span_find(s, "\"traceId\"") && span_find(s, "\"id\"") &&
	    (span_find(s, "\"localEndpoint\"") || span_find(s, "\"timestamp\"")))
		return BID_MAGIC;
	return forced ? BID_CHANCE : BID_NONE;
}

static const struct service_format jaeger_format = {
	.document = jaeger_document,
	.span = jaeger_span,
	.document_keys = {"data"},
	.around_keys = {"spans", "processes"},
};
static const struct service_format zipkin_format = {.document = zipkin_document,
						    .span = zipkin_span};

static int jaeger_open(struct input *in, struct error *e)
{
	struct jaeger *j = calloc(1, sizeof *j);

	in->state = j;
	if (!j)
		return error_no_memory(e);
	services_open(&j->spans, in,
		      in->decoder == &decoder_zipkin ? &zipkin_format : &jaeger_format);
	return 0;
}

static void jaeger_close(struct input *in)
{
	struct jaeger *j = in->state;

	if (!j)
		return;
	id_cache_free(&j->resources);
	json_close(&j->reader);
	free(j->notes.notes);
	buffer_free(&j->notes.text);
	buffer_free(&j->notes.own);
	services_close(&j->spans);
}

const struct decoder decoder_jaeger = {
	.name = "jaeger",
	.in_order = true,
	.probe = jaeger_probe,
	.open = jaeger_open,
	.info = services_info,
	.begin = services_declare,
	.run = services_run,
	.close = jaeger_close,
};

const struct decoder decoder_zipkin = {
	.name = "zipkin",
	.in_order = true,
	.probe = zipkin_probe,
	.open = jaeger_open,
	.info = services_info,
	.begin = services_declare,
	.run = services_run,
	.close = jaeger_close,
};
