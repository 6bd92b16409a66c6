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
 * Times are us since 1970. The API and the UI of Jaeger write the former; the API v2 of Zipkin the
 * latter, or an array of such arrays.
 *
 * Sources: model/json of jaeger; zipkin2-api.yaml of zipkin-api.
 */
#include <stdlib.h>

#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/services.h"
#include "common/cli/program.h"

enum { JAEGER_US = 1000 /* ns */ };

struct jaeger {
	struct services spans;
	struct buffer json, key, values, text, links;
	struct id_cache processes; /* by the number of the trace and the id */
	uint32_t traces;
	struct error *e;
};

static struct jaeger *jaeger_of(struct services *s)
{
	return s->input->state;
}

static struct text_span jaeger_text(const char *text)
{
	return (struct text_span){text, text + strlen(text)};
}

/* Set the content of a buffer to the text of the present token. */
static int jaeger_keep(struct buffer *b, const struct json_reader *r)
{
	b->size = 0;
	return buffer_append(b, r->text.data, r->text.size);
}

/* Call f for each object of an array, after its first token. Other values are skipped. */
static int jaeger_each(struct services *s, struct json_reader *r, enum json_token token,
		       int (*f)(struct services *s, struct json_reader *r, void *to), void *to)
{
	if (token != JSON_ARRAY)
		return json_skip(r, token) ? 0 : -1;
	while ((token = json_next(r)) != JSON_ARRAY_END)
		if (token != JSON_OBJECT ? !json_skip(r, token) : f(s, r, to))
			return -1;
	return 0;
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

/* Skip the value of a token that was looked at. */
static int jaeger_skip(struct json_reader *r, enum json_token token)
{
	return json_skip(r, token) ? 0 : -1;
}

/* Take the meaning of a tag: the kind of the span, and its status. json: the tag's value. */
static void jaeger_mean(struct service_span *p, struct text_span key, struct text_span json)
{
	if (span_is(key, "span.kind") && span_size(json) > 2)
		services_text(p->texts.kind, sizeof p->texts.kind,
			      (struct text_span){json.at + 1, json.end - 1});
	else if (span_is(key, "error") && !span_is(json, "false") && !span_is(json, "\"false\""))
		services_text(p->texts.status, sizeof p->texts.status, jaeger_text("error"));
	else if (span_is(key, "otel.status_code") && span_is(json, "\"OK\""))
		services_text(p->texts.status, sizeof p->texts.status, jaeger_text("ok"));
}

/* --- Jaeger --- */

/* Read a tag, after its '{': its key to key, its value to json. */
static int jaeger_read_tag(struct jaeger *j, struct json_reader *r)
{
	enum json_token token;

	j->key.size = j->json.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool key = json_is(r, "key"), value = json_is(r, "value");

		token = json_next(r);
		if (key && token == JSON_STRING ? jaeger_keep(&j->key, r)
		    : value ? (j->json.size = 0, json_copy(r, token, &j->json, SIZE_MAX))
			    : jaeger_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	return j->json.size ? 0 : buffer_puts(&j->json, "null");
}

/* to: the values; NULL: of the span. */
static int jaeger_tag(struct services *s, struct json_reader *r, void *to)
{
	struct jaeger *j = jaeger_of(s);

	if (jaeger_read_tag(j, r))
		return -1;
	if (!to)
		jaeger_mean(&s->span, services_span_of(&j->key), services_span_of(&j->json));
	return services_put(s, to ? to : &s->span.values, services_span_of(&j->key),
			    services_span_of(&j->json));
}

static int jaeger_process_tag(struct services *s, struct json_reader *r, void *to)
{
	struct jaeger *j = jaeger_of(s);
	const uint32_t *resource = to;

	if (jaeger_read_tag(j, r))
		return -1;
	return services_put_resource(s, *resource, services_span_of(&j->key),
				     services_span_of(&j->json));
}

/* Put a text as an attribute of a resource. */
static int jaeger_put_resource(struct services *s, uint32_t resource, const char *name,
			       struct text_span text)
{
	struct buffer *b = &jaeger_of(s)->json;

	b->size = 0;
	return json_append_string(b, text.at, span_size(text)) ||
			       services_put_resource(s, resource, jaeger_text(name),
						     services_span_of(b))
		       ? -1
		       : 0;
}

/* Read a process, after its first token. */
static int jaeger_process(struct services *s, struct json_reader *r, enum json_token token,
			  uint32_t resource)
{
	if (token != JSON_OBJECT)
		return jaeger_skip(r, token);
	while ((token = json_next(r)) == JSON_KEY) {
		bool service = json_is(r, "serviceName"), tags = json_is(r, "tags");

		token = json_next(r);
		if (service && token == JSON_STRING
			    ? jaeger_put_resource(s, resource, "service.name",
						  services_json_text(r))
		    : tags ? jaeger_each(s, r, token, jaeger_process_tag, &resource)
			   : jaeger_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Get the resource of the id of a process in the present trace. 0: out of memory. */
static uint32_t jaeger_resource(struct services *s, const struct json_reader *r)
{
	struct jaeger *j = jaeger_of(s);
	uint32_t *resource;

	j->text.size = 0;
	if (buffer_u32(&j->text, j->traces) || buffer_append(&j->text, r->text.data, r->text.size))
		return 0;
	resource = id_cache_number(&j->processes, j->text.data, j->text.size);
	if (resource && !*resource)
		*resource = services_resource(s);
	return resource ? *resource : 0;
}

/* Read a log, after its '{'. Its name is the field event. */
static int jaeger_log(struct services *s, struct json_reader *r, void *to)
{
	struct jaeger *j = jaeger_of(s);
	enum json_token token;
	uint64_t time = s->span.start;

	(void)to;
	j->values.size = j->text.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool fields = json_is(r, "fields"), at = json_is(r, "timestamp");

		token = json_next(r);
		if (at && jaeger_time(r, token, &time))
			continue;
		if (!fields || token != JSON_ARRAY) {
			if (jaeger_skip(r, token))
				return -1;
			continue;
		}
		while ((token = json_next(r)) != JSON_ARRAY_END) {
			struct text_span json;

			if (token != JSON_OBJECT) {
				if (jaeger_skip(r, token))
					return -1;
				continue;
			}
			if (jaeger_read_tag(j, r))
				return -1;
			json = services_span_of(&j->json);
			if (span_is(services_span_of(&j->key), "event") && *json.at == '"') {
				j->text.size = 0;
				if (buffer_append(&j->text, json.at + 1, span_size(json) - 2))
					return -1;
			} else if (services_put(s, &j->values, services_span_of(&j->key), json)) {
				return -1;
			}
		}
	}
	return token == JSON_OBJECT_END
		       ? services_event(s, time, services_span_of(&j->text), &j->values)
		       : -1;
}

/* Read a reference, after its '{': the first of CHILD_OF is the parent, others are links. */
static int jaeger_reference(struct services *s, struct json_reader *r, void *to)
{
	struct jaeger *j = jaeger_of(s);
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
		else if (jaeger_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	if (child && !p->texts.parent[0]) {
		memcpy(p->texts.parent, t.id, sizeof t.id);
		return 0;
	}
	return services_put_link(s, &t, (struct text_span){NULL, NULL}, &j->links);
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
	struct jaeger *j = jaeger_of(s);
	struct service_span *p = &s->span;

	if (services_put_links(s, &j->links))
		return -1;
	p->end += p->start;
	p->wrong_end |= p->has_end && p->end >= TIME_LIMIT;
	p->has_end &= p->end < TIME_LIMIT;
	if (!p->resource && !(p->resource = services_resource(s)))
		return -1;
	return services_end(s, offset, j->e);
}

/* Copy a key, which may be longer than all that are known. */
static void jaeger_key(const struct json_reader *r, char *key, size_t size)
{
	size_t n = r->text.size < size - 1 ? r->text.size : size - 1;

	memcpy(key, r->text.data, n);
	key[n] = '\0';
}

static int jaeger_span(struct services *s, struct json_reader *r, void *to)
{
	uint64_t offset = json_offset(r);
	enum json_token token;
	char key[32];
	int other;

	(void)to;
	services_begin(s);
	jaeger_of(s)->links.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		jaeger_key(r, key, sizeof key);
		if (services_is_outside(s, key, "data", "processes") ||
		    services_is_outside(s, key, "spans", "processes"))
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
		if (!strcmp(key, "tags")	 ? jaeger_each(s, r, token, jaeger_tag, NULL)
		    : !strcmp(key, "logs")	 ? jaeger_each(s, r, token, jaeger_log, NULL)
		    : !strcmp(key, "references") ? jaeger_each(s, r, token, jaeger_reference, NULL)
						 : jaeger_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? jaeger_end(s, offset) : -1;
}

/* Read the processes of a trace, after the first token. */
static int jaeger_read_processes(struct services *s, struct json_reader *r, enum json_token token)
{
	uint32_t resource;

	if (token != JSON_OBJECT)
		return jaeger_skip(r, token);
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

	while ((token = json_next(r)) == JSON_KEY) {
		bool data = json_is(r, "data"), spans = json_is(r, "spans");
		bool processes = json_is(r, "processes");

		*found |= data || spans;
		token = json_next(r);
		if (data && token == JSON_OBJECT   ? jaeger_trace(s, r, to)
		    : data			   ? jaeger_each(s, r, token, jaeger_trace, to)
		    : spans && token == JSON_ARRAY ? services_each_span(s, r, jaeger_span, NULL)
		    : processes			   ? jaeger_read_processes(s, r, token)
						   : jaeger_skip(r, token))
			return -1;
	}
	jaeger_of(s)->traces++;
	return token == JSON_OBJECT_END ? 0 : -1;
}

static int jaeger_document(struct services *s, struct json_reader *r, enum json_token token,
			   struct error *e)
{
	bool found = false;
	int failed;

	jaeger_of(s)->e = e;
	failed = token == JSON_OBJECT  ? jaeger_trace(s, r, &found)
		 : token == JSON_ARRAY ? jaeger_each(s, r, token, jaeger_trace, &found)
				       : jaeger_skip(r, token);
	return failed ? failed : !found;
}

/* --- Zipkin --- */

/* Read the endpoint that made a span, after its first token. */
static int zipkin_endpoint(struct services *s, struct json_reader *r, enum json_token token)
{
	uint32_t resource = services_resource(s);

	if (!resource || token != JSON_OBJECT)
		return resource ? jaeger_skip(r, token) : -1;
	s->span.resource = resource;
	while ((token = json_next(r)) == JSON_KEY) {
		struct jaeger *j = jaeger_of(s);
		bool service = json_is(r, "serviceName");

		if (jaeger_keep(&j->key, r))
			return -1;
		token = json_next(r);
		j->json.size = 0;
		if (json_copy(r, token, &j->json, SIZE_MAX) ||
		    services_put_resource(s, resource,
					  service ? jaeger_text("service.name")
						  : services_span_of(&j->key),
					  services_span_of(&j->json)))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

static int zipkin_annotation(struct services *s, struct json_reader *r, void *to)
{
	struct jaeger *j = jaeger_of(s);
	uint64_t time = s->span.start;
	enum json_token token;

	(void)to;
	j->text.size = j->values.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool at = json_is(r, "timestamp"), value = json_is(r, "value");

		token = json_next(r);
		if (at && jaeger_time(r, token, &time))
			continue;
		if (value && token == JSON_STRING ? jaeger_keep(&j->text, r)
						  : jaeger_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END
		       ? services_event(s, time, services_span_of(&j->text), &j->values)
		       : -1;
}

/* Put the members of an object as values, after its first token. */
static int zipkin_tags(struct services *s, struct json_reader *r, enum json_token token)
{
	struct jaeger *j = jaeger_of(s);

	if (token != JSON_OBJECT)
		return jaeger_skip(r, token);
	while ((token = json_next(r)) == JSON_KEY) {
		if (jaeger_keep(&j->key, r))
			return -1;
		j->json.size = 0;
		if (json_copy(r, json_next(r), &j->json, SIZE_MAX))
			return -1;
		jaeger_mean(&s->span, services_span_of(&j->key), services_span_of(&j->json));
		if (services_put(s, &s->span.values, services_span_of(&j->key),
				 services_span_of(&j->json)))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
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

static int zipkin_span(struct services *s, struct json_reader *r, void *to)
{
	uint64_t offset = json_offset(r);
	struct jaeger *j = jaeger_of(s);
	enum json_token token;
	char key[32];
	int other;

	(void)to;
	services_begin(s);
	j->links.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool shared;

		jaeger_key(r, key, sizeof key);
		token = json_next(r);
		if (token == JSON_BAD)
			return -1;
		other = zipkin_scalar(s, key, r, token);
		if (other < 0)
			return -1;
		if (!other)
			continue;
		shared = (!strcmp(key, "shared") || !strcmp(key, "debug")) && token == JSON_TRUE;
		if (shared || !strcmp(key, "remoteEndpoint")) {
			j->json.size = 0;
			if (json_copy(r, token, &j->json, SIZE_MAX) ||
			    services_put(s, &s->span.values, jaeger_text(key),
					 services_span_of(&j->json)))
				return -1;
		} else if (!strcmp(key, "tags")		   ? zipkin_tags(s, r, token)
			   : !strcmp(key, "localEndpoint") ? zipkin_endpoint(s, r, token)
			   : !strcmp(key, "annotations")
				   ? jaeger_each(s, r, token, zipkin_annotation, NULL)
				   : jaeger_skip(r, token)) {
			return -1;
		}
	}
	return token == JSON_OBJECT_END ? jaeger_end(s, offset) : -1;
}

static int zipkin_document(struct services *s, struct json_reader *r, enum json_token token,
			   struct error *e)
{
	jaeger_of(s)->e = e;
	if (token == JSON_OBJECT)
		return zipkin_span(s, r, NULL);
	if (token == JSON_ARRAY)
		return services_each_span(s, r, zipkin_span, NULL);
	return jaeger_skip(r, token) ? -1 : 1;
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

static int jaeger_open(struct input *in, struct error *e)
{
	struct jaeger *j = calloc(1, sizeof *j);

	in->state = j;
	if (!j)
		return error_no_memory(e);
	services_open(&j->spans, in);
	return 0;
}

static int jaeger_read(struct jaeger *j, struct error *e)
{
	struct services *s = &j->spans;
	struct input *in = s->input;

	if (services_read_json(
		    s, in->decoder == &decoder_zipkin ? zipkin_document : jaeger_document, e))
		return -1;
	if (!in->decoding->quiet)
		warn_count(in->name, s->counts.other,
			   "{line|lines} without spans {is|are} left out");
	return 0;
}

static int jaeger_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct jaeger *j = in->state;

	if (jaeger_read(j, e))
		return -1;
	services_facts(&j->spans, facts);
	return 0;
}

static int jaeger_begin(struct input *in, struct error *e)
{
	struct jaeger *j = in->state;

	return jaeger_read(j, e) ? -1 : services_declare(&j->spans, e);
}

static int jaeger_run(struct input *in, uint64_t until, struct error *e)
{
	return services_run(in, &((struct jaeger *)in->state)->spans, until, e);
}

static void jaeger_close(struct input *in)
{
	struct jaeger *j = in->state;

	if (!j)
		return;
	services_close(&j->spans);
	buffer_free(&j->json);
	buffer_free(&j->key);
	buffer_free(&j->values);
	buffer_free(&j->text);
	buffer_free(&j->links);
	id_cache_free(&j->processes);
	free(j);
	in->state = NULL;
}

const struct decoder decoder_jaeger = {
	.name = "jaeger",
	.in_order = true,
	.probe = jaeger_probe,
	.open = jaeger_open,
	.info = jaeger_info,
	.begin = jaeger_begin,
	.run = jaeger_run,
	.close = jaeger_close,
};

const struct decoder decoder_zipkin = {
	.name = "zipkin",
	.in_order = true,
	.probe = zipkin_probe,
	.open = jaeger_open,
	.info = jaeger_info,
	.begin = jaeger_begin,
	.run = jaeger_run,
	.close = jaeger_close,
};
