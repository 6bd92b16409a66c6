/*
 * jaeger.c - the decoder of the spans of Jaeger, in JSON
 *
 *     {"data":[{"traceID":"4bf9","spans":[{"traceID":"4bf9","spanID":"00f0","operationName":"GET",
 *       "references":[{"refType":"CHILD_OF","traceID":"4bf9","spanID":"53ce"}],
 *       "startTime":1000,"duration":20,"tags":[{"key":"http.method","type":"string","value":"GET"}],
 *       "logs":[{"timestamp":1005,"fields":[...]}],"processID":"p1"}],
 *      "processes":{"p1":{"serviceName":"shop","tags":[]}}}]}
 *
 * Times are us since 1970.
 *
 * Source: model/json of jaeger.
 */
#include <stdlib.h>

#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/services.h"

struct jaeger {
	struct services spans;
	struct id_cache resources; /* by the number of the trace and the id of a process */
	uint32_t traces;
};

static struct jaeger *jaeger_of(struct services *s)
{
	return s->input->state;
}

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
	services_mean(&s->span, span_of(&s->key), span_of(&s->json));
	return services_put(s, &s->span.values, span_of(&s->key), span_of(&s->json));
}

static int jaeger_process_tag(struct services *s, struct json_reader *r, void *to)
{
	const uint32_t *resource = to;

	if (jaeger_read_tag(s, r))
		return -1;
	return services_put_resource(s, *resource, span_of(&s->key), span_of(&s->json));
}

/* Put a text as an attribute of a resource. */
static int jaeger_put_resource(struct services *s, uint32_t resource, const char *name,
			       struct text_span text)
{
	struct buffer *b = &s->json;

	b->size = 0;
	return json_append_string(b, text.at, span_size(text)) ||
			       services_put_resource(s, resource, services_span(name), span_of(b))
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
	json = span_of(&s->json);
	if (!span_is(span_of(&s->key), "event") || *json.at != '"')
		return services_put(s, &s->values, span_of(&s->key), json);
	s->text.size = 0;
	return buffer_append(&s->text, json.at + 1, span_size(json) - 2);
}

/* Read a log, after its '{'. Its name is the field event. */
static int jaeger_log(struct services *s, struct json_reader *r, void *to)
{
	enum json_token token;
	uint64_t time = 0;

	(void)to;
	s->values.size = s->text.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool fields = json_is(r, "fields"), at = json_is(r, "timestamp");

		token = json_next(r);
		if (at && services_time(r, token, SPAN_US, &time))
			continue;
		if (fields ? services_each(s, r, token, "fields", jaeger_log_field, NULL)
		    : at   ? services_skip_wrong(s, r, token, "timestamp")
			   : services_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? services_event(s, time, span_of(&s->text), &s->values)
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
			services_id(t.trace, sizeof t.trace, services_json_text(r));
		else if (id && token == JSON_STRING)
			services_id(t.id, sizeof t.id, services_json_text(r));
		else if (type || trace || id ? services_skip_wrong(s, r, token, "a reference")
					     : services_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	if (child && !p->texts.parent[0]) {
		memcpy(p->texts.parent, t.id, sizeof t.id);
		memcpy(p->parent_trace, t.trace, sizeof t.trace);
		return 0;
	}
	return services_put_link(s, &t, (struct text_span){NULL, NULL});
}

/* Read a member of a span, after the first token of its value. A process in it is the span's, else
 * the one that the span names. */
static int jaeger_member(struct services *s, const char *key, struct json_reader *r,
			 enum json_token token)
{
	int other = services_member(s, key, r, token);

	if (other <= 0)
		return other;
	if (!strcmp(key, "processID") && token == JSON_STRING)
		return s->span.resource || (s->span.resource = jaeger_resource(s, r)) ? 0 : -1;
	if (!strcmp(key, "process") && token == JSON_OBJECT) {
		s->span.resource = services_resource(s);
		return s->span.resource ? jaeger_process(s, r, token, s->span.resource) : -1;
	}
	return !strcmp(key, "tags")   ? services_each(s, r, token, key, jaeger_tag, NULL)
	       : !strcmp(key, "logs") ? services_each(s, r, token, key, jaeger_log, NULL)
	       : !strcmp(key, "references")
		       ? services_each(s, r, token, key, jaeger_reference, NULL)
	       : !strcmp(key, "process") || !strcmp(key, "processID")
		       ? services_skip_wrong(s, r, token, key)
		       : services_skip(r, token);
}

static int jaeger_span(struct services *s, struct json_reader *r)
{
	uint64_t offset = json_offset(r);
	enum json_token token;
	char key[32];

	services_begin(s);
	while ((token = json_next(r)) == JSON_KEY) {
		services_copy_key(r, key, sizeof key);
		if (services_is_outside(s, key) || jaeger_member(s, key, r, json_next(r)))
			return -1;
	}
	return token == JSON_OBJECT_END ? services_end_duration(s, offset) : -1;
}

/* After a fault in a process of those at a depth, report it and go on at the next one. Returns 0,
 * or -1 with the fault if the nesting is not known. */
static int jaeger_recover_process(struct services *s, struct json_reader *r, int depth)
{
	struct error fault = r->error;
	enum json_found found;
	int got = 1;

	if (!fault.what[0] || r->failed || r->cut)
		return -1;
	json_keep_none(r);
	while ((found = json_recover(r, depth)) == JSON_FOUND_OBJECT && !r->doubt && got) {
		/* another document, or a span: this one was cut */
		s->doubtful = true;
		got = jaeger_span(s, r);
		s->doubtful = false;
		if (s->outside == SERVICES_INSIDE)
			continue;
		s->faulty = true;
		input_damage_error(s->input, &fault);
		return -1;
	}
	if (found != JSON_FOUND_NEXT) {
		r->error = fault;
		return -1;
	}
	s->faulty = true;
	input_damage_error(s->input, &fault);
	return 0;
}

/* Read the processes of a trace, after the first token. */
static int jaeger_read_processes(struct services *s, struct json_reader *r, enum json_token token)
{
	int depth = r->depth;
	uint32_t resource;

	if (token != JSON_OBJECT)
		return services_skip_wrong(s, r, token, "processes");
	/* if they end in the middle, another document may be in one of them */
	json_keep(r);
	while ((token = json_next(r)) == JSON_KEY) {
		resource = jaeger_resource(s, r);
		if (!resource || (jaeger_process(s, r, json_next(r), resource) &&
				  jaeger_recover_process(s, r, depth)))
			return -1;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	json_keep_none(r);
	return 0;
}

/* Read a trace, the object around all of them, or a span that is in none, after its '{'. */
static int jaeger_trace(struct services *s, struct json_reader *r, void *to)
{
	uint64_t offset = json_offset(r);
	bool *found = to, around = false;
	enum json_token token;
	char key[32];

	services_begin(s);
	/* ids of processes are those of a trace */
	jaeger_of(s)->traces++;
	while ((token = json_next(r)) == JSON_KEY) {
		bool data = json_is(r, "data"), spans = json_is(r, "spans");
		bool processes = json_is(r, "processes");

		services_copy_key(r, key, sizeof key);
		around |= data || spans || processes;
		*found |= data || spans;
		token = json_next(r);
		if (data && token == JSON_OBJECT ? jaeger_trace(s, r, to)
		    : data	? services_each(s, r, token, "data", jaeger_trace, to)
		    : spans	? services_each_span(s, r, token)
		    : processes ? jaeger_read_processes(s, r, token)
		    : around	? services_skip(r, token)
				: jaeger_member(s, key, r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END || around || !s->span.texts.id[0])
		return token == JSON_OBJECT_END ? 0 : -1;
	*found = true;
	return services_end_duration(s, offset);
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

static enum bid jaeger_probe(const struct input *in)
{
	bool forced;
	struct text_span s = services_head(in, "jaeger", &forced);

	if (!span_size(s) || (*s.at != '{' && *s.at != '['))
		return BID_NONE;
	if (span_find(s, "\"traceID\"") &&
	    (span_find(s, "\"spans\"") || span_find(s, "\"spanID\"")))
		return BID_MAGIC;
	return forced ? BID_CHANCE : BID_NONE;
}

static const struct service_format jaeger_format = {
	.document = jaeger_document,
	.span = jaeger_span,
	.document_keys = {"data"},
	.around_keys = {"spans", "processes"},
	.members = {"traceID", "spanID", "parentSpanID", "operationName", "startTime", "duration"},
};

static int jaeger_open(struct input *in, struct error *e)
{
	struct jaeger *j = calloc(1, sizeof *j);

	in->state = j;
	if (!j)
		return error_no_memory(e);
	services_open(&j->spans, in, &jaeger_format);
	return 0;
}

static void jaeger_close(struct input *in)
{
	struct jaeger *j = in->state;

	if (!j)
		return;
	id_cache_free(&j->resources);
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
