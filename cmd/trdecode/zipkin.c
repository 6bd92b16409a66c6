/*
 * zipkin.c - the decoder of the spans of Zipkin, in JSON
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
 * Times are us since 1970. The API v2 of Zipkin writes the first, or an array of such arrays; older
 * versions of Zipkin the second.
 *
 * Sources: zipkin2-api.yaml and zipkin-api.yaml of zipkin-api, V1SpanConverter.java of zipkin.
 */
#include <stdlib.h>

#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/services.h"

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

struct zipkin {
	struct services spans;
	struct id_cache resources; /* by the text of the endpoint */
	struct json_reader reader; /* of an endpoint */
	struct zipkin_notes notes;
};

static struct zipkin *zipkin_of(struct services *s)
{
	return s->input->state;
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
	struct zipkin *z = zipkin_of(s);
	uint32_t *known = id_cache_number(&z->resources, endpoint.at, span_size(endpoint));
	struct json_reader *r = &z->reader;
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
		    services_put_resource(
			    s, resource, service ? services_span("service.name") : span_of(&s->key),
			    span_of(&s->json)))
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
			       !(s->span.resource = zipkin_resource(s, span_of(&s->text)))
		       ? -1
		       : 0;
}

/* Read an annotation, or a binary annotation, after its '{'. to: not NULL: a binary one. */
static int zipkin_note(struct services *s, struct json_reader *r, void *to)
{
	struct zipkin_notes *n = &zipkin_of(s)->notes;
	struct zipkin_note note = {.binary = to != NULL, .shown = !to};
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool at = json_is(r, "timestamp") && !to, value = json_is(r, "value");
		bool key = json_is(r, "key") && to, endpoint = json_is(r, "endpoint");
		bool text = key || (value && !to);

		token = json_next(r);
		if ((at && (note.has_time = services_time(r, token, SPAN_US, &note.time))))
			continue;
		if (text && token == JSON_STRING) {
			*(key ? &note.key : &note.value) = zipkin_append(n, services_json_text(r));
		} else if ((value && to) || (endpoint && token == JSON_OBJECT)) {
			s->json.size = 0;
			if (json_copy(r, token, &s->json, SIZE_MAX))
				return -1;
			*(value ? &note.value : &note.endpoint) =
				zipkin_append(n, span_of(&s->json));
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
		services_mean(&s->span, span_of(&s->key), span_of(&s->json));
		if (services_put(s, &s->span.values, span_of(&s->key), span_of(&s->json)))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Put what the span talked to, after its first token. */
static int zipkin_remote(struct services *s, struct json_reader *r, enum json_token token)
{
	if (token != JSON_OBJECT)
		return services_skip_wrong(s, r, token, "remoteEndpoint");
	s->json.size = 0;
	return json_copy(r, token, &s->json, SIZE_MAX) ||
			       services_put(s, &s->span.own, services_span("remoteEndpoint"),
					    span_of(&s->json))
		       ? -1
		       : 0;
}

static void zipkin_set_kind(struct service_span *p, struct text_span text)
{
	services_text(p->texts.kind, sizeof p->texts.kind, text);
	for (size_t i = 0; i < sizeof p->texts.kind; i++)
		p->texts.kind[i] |= p->texts.kind[i] >= 'A' && p->texts.kind[i] <= 'Z' ? 32 : 0;
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
	struct zipkin_notes *n = &zipkin_of(s)->notes;

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
	struct zipkin_notes *n = &zipkin_of(s)->notes;
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
	struct zipkin_notes *n = &zipkin_of(s)->notes;

	s->values.size = 0;
	for (size_t i = 0; i < n->count; i++) {
		const struct zipkin_note *note = &n->notes[i];
		struct text_span key = zipkin_text_of(n, note->key);
		struct text_span value = zipkin_text_of(n, note->value);

		if (note->side != side || !note->shown)
			continue;
		if (!note->binary) {
			if (services_event(s, note->has_time ? note->time : 0, value, &s->values))
				return -1;
			continue;
		}
		value = note->value.size ? value : services_span("null");
		services_mean(&s->span, key, value);
		if (services_put(s, &s->span.values, key, value))
			return -1;
	}
	return 0;
}

/* Put a side as a span with the ids and the name of the record. */
static int zipkin_put_side(struct services *s, const struct zipkin_record *z, unsigned side,
			   const struct service_span *record, uint64_t offset)
{
	struct zipkin_notes *n = &zipkin_of(s)->notes;
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
	struct zipkin_notes *n = &zipkin_of(s)->notes;
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
	struct zipkin_notes *n = &zipkin_of(s)->notes;
	uint64_t offset = json_offset(r);
	enum json_token token;
	char key[32];
	int other;

	services_begin(s);
	n->count = n->text.size = 0;
	n->old = n->failed = false;
	while ((token = json_next(r)) == JSON_KEY) {
		bool binary;

		services_copy_key(r, key, sizeof key);
		token = json_next(r);
		other = services_member(s, key, r, token);
		if (other < 0)
			return -1;
		if (!other)
			continue;
		if (!strcmp(key, "kind") && token == JSON_STRING) {
			zipkin_set_kind(&s->span, services_json_text(r));
			continue;
		}
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
		    : !strcmp(key, "kind")	     ? services_skip_wrong(s, r, token, key)
						     : services_skip(r, token))
			return -1;
	}
	if (token != JSON_OBJECT_END)
		return -1;
	if (n->old)
		return zipkin_split(s, offset);
	return zipkin_put_notes(s, 0) ? -1 : services_end_duration(s, offset);
}

static int zipkin_document(struct services *s, struct json_reader *r, enum json_token token)
{
	if (token == JSON_OBJECT)
		return zipkin_span(s, r);
	if (token == JSON_ARRAY)
		return services_each_span(s, r, token);
	return services_skip(r, token) ? -1 : 1;
}

static enum bid zipkin_probe(const struct input *in)
{
	bool forced;
	struct text_span s = services_head(in, "zipkin", &forced);

	if (!span_size(s) || (*s.at != '{' && *s.at != '['))
		return BID_NONE;
	if (span_find(s, "\"traceId\"") && span_find(s, "\"id\"") &&
	    (span_find(s, "\"localEndpoint\"") || span_find(s, "\"timestamp\"")))
		return BID_MAGIC;
	return forced ? BID_CHANCE : BID_NONE;
}

static const struct service_format zipkin_format = {
	.document = zipkin_document,
	.span = zipkin_span,
	.members = {"traceId", "id", "parentId", "name", "timestamp", "duration"},
};

static int zipkin_open(struct input *in, struct error *e)
{
	struct zipkin *z = calloc(1, sizeof *z);

	in->state = z;
	if (!z)
		return error_no_memory(e);
	services_open(&z->spans, in, &zipkin_format);
	return 0;
}

static void zipkin_close(struct input *in)
{
	struct zipkin *z = in->state;

	if (!z)
		return;
	id_cache_free(&z->resources);
	json_close(&z->reader);
	free(z->notes.notes);
	buffer_free(&z->notes.text);
	buffer_free(&z->notes.own);
	services_close(&z->spans);
}

const struct decoder decoder_zipkin = {
	.name = "zipkin",
	.in_order = true,
	.probe = zipkin_probe,
	.open = zipkin_open,
	.info = services_info,
	.begin = services_declare,
	.run = services_run,
	.close = zipkin_close,
};
