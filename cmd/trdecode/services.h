/*
 * services.h - the spans of services as calls: what OTLP, Jaeger and Zipkin share
 *
 *     span "GET /cart" of the service shop, 20 ms, trace 4bf92f35, its parent "GET /" of web
 *
 * is a call with a number, as spans overlap; its ids are fields, and its attributes are arguments.
 * All spans are read and sorted first. Times are ns since 1970.
 *
 * Functions that return int return 0, or -1 when out of memory; those with e fill *e.
 */
#ifndef TR_TRDECODE_SERVICES_H
#define TR_TRDECODE_SERVICES_H

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/util/buffer.h"
#include "common/util/text_span.h"
#include "common/value/json.h"

/* The texts of a span, each with NULs up to its size: fields of the fixed part of its ENTER. */
struct span_texts {
	char trace[32], id[16], parent[16], kind[8], status[8];
};

/* A span while it is read. */
struct service_span {
	struct span_texts texts;
	uint32_t name;		  /* string of the writer */
	uint32_t scope, resource; /* numbers, index + 1 in scopes and resources; 0 none */
	uint64_t start, end;	  /* ns */
	char parent_trace[32];	  /* of the parent; empty: that of the span */
	bool has_start, has_end;
	bool wrong_end;	      /* it is recorded, and no time */
	bool backward;	      /* it has a duration below 0 */
	struct buffer values; /* attributes: u32 name, u32 size, value */
	struct buffer own;    /* other values of the span, which follow its attributes */
	struct buffer events; /* of each: u64 time, u32 name, u32 size, values */
	struct buffer links;  /* keys of the linked spans */
};

/* What recorded spans: a service. Spans name it before its attributes are known. */
struct span_resource {
	struct buffer values; /* attributes */
	uint32_t service, host;
	uint64_t pid;	  /* as recorded; 0 none */
	uint32_t process; /* number in processes + 1 */
};

struct span_process {
	struct span_resource *resource;
	int32_t pid;
	uint32_t lane;
	bool shown; /* its row is written */
};

enum { SPAN_US = 3 /* digits of services_time */ };

struct services;

/* What a member of a span is that services_member reads. Times are us. */
enum span_member {
	SPAN_TRACE,
	SPAN_OWN_ID,
	SPAN_PARENT,
	SPAN_NAME,
	SPAN_BEGIN,
	SPAN_DURATION,
	SPAN_MEMBERS,
};

/* A format of spans. The functions return 0; -1 with r->error or *s->e; 1 for something else. */
struct service_format {
	/* Read a document, or an object around spans, after its first token. */
	int (*document)(struct services *s, struct json_reader *r, enum json_token token);
	int (*span)(struct services *s, struct json_reader *r); /* after its '{' */
	/* Read an input that is no JSON. NULL: it is */
	int (*read)(struct services *s, struct error *e);
	/* Keys that only a document has, and other objects around spans; each list ends with NULL
	 */
	const char *document_keys[3], *around_keys[8];
	const char *members[SPAN_MEMBERS]; /* keys of a span; NULL: it has another form */
};

/* The state of an input: of each format it is the beginning. */
struct services {
	const struct service_format *format;
	struct error *e; /* of the function of the decoder that reads */
	struct input *input;
	struct writer *w;
	struct service_span span;
	struct sorter sorter;
	struct argument_table arguments;
	struct name_uses uses;
	struct nested_json objects;
	struct json_reader value; /* of services_put */
	/* of the attribute, event or link that is read */
	struct buffer json, key, values, text, links;
	struct spans_around {
		uint32_t resource, scope; /* of the spans that are read */
	} around;
	uint32_t *scopes; /* names, strings of the writer; 0 none */
	size_t nscopes, scopes_capacity;
	struct span_resource **resources;
	size_t nresources, resources_capacity;
	struct span_process *processes;
	size_t nprocesses;
	/* all spans, by a hash of their ids: number + 1 in known */
	struct key_map keys;
	struct span_known {
		uint32_t name, flows; /* index + 1 of the first flow that begins in it */
	} * known;
	size_t nknown, known_capacity;
	struct span_flow {
		uint64_t key; /* of the span that it begins in */
		uint32_t next;
	} * flows;
	size_t nflows, flows_capacity;
	struct buffer record, details, event_values;
	uint32_t source, clock, calls;
	struct id_cache types;
	/* After a fault: an object may be another one than a span. */
	bool doubtful;
	enum {
		SERVICES_INSIDE,
		SERVICES_AROUND,   /* an object around spans begins */
		SERVICES_DOCUMENT, /* a document begins */
	} outside;
	bool faulty; /* there was a fault since the last document */
	bool nested; /* the document is an object around spans that was found after a fault */
	struct {     /* strings of the writer */
		uint32_t parent, flows, ended_flows, resource;
	} texts;
	struct {
		uint64_t spans, events, other, backward, wrong_ends, no_spans;
	} counts;
};

/* Get the head of an input that may be JSON of a format, without the white space around it and a
 * mark of the byte order. at NULL: it is of none. *forced: the user named the format. */
struct text_span services_head(const struct input *in, const char *format, bool *forced);
/* Begin to decode an input; its state is s, of calloc. */
void services_open(struct services *s, struct input *in, const struct service_format *format);
/* Free what s contains, and s. */
void services_close(struct services *s);
/* What struct decoder has for all of these formats. */
int services_info(struct input *in, struct trace_info *facts, struct error *e);
int services_declare(struct input *in, struct error *e);
int services_run(struct input *in, uint64_t until, struct error *e);

/* Add a resource. Returns its number, from 1; 0: out of memory. */
uint32_t services_resource(struct services *s);
/* Add an attribute of a resource, a JSON text. */
int services_put_resource(struct services *s, uint32_t resource, struct text_span name,
			  struct text_span json);
/* Begin a span, of the resource and scope that are around it. */
void services_begin(struct services *s);
/* Append a named value, a JSON text, to attributes. */
int services_put(struct services *s, struct buffer *values, struct text_span name,
		 struct text_span json);
/* Set a text of span_texts, of at most size bytes. */
void services_text(char *to, size_t size, struct text_span text);
/* The same of an id, of 16 or 32 digits: in lower case, with the zeros before it that some programs
 * leave out, also if it is in base64, which protobuf's JSON has for bytes. */
void services_id(char *to, size_t size, struct text_span text);
/* The digits of base64. */
extern const char services_base64[];
/* Add an event to the span. time 0: it is not known, the event is at the start. */
int services_event(struct services *s, uint64_t time, struct text_span name,
		   const struct buffer *values);
/* Add a link from the span to the one of those ids, and append it to s->links, the JSON text of all
 * links. attributes: a JSON object; empty: there are none. */
int services_put_link(struct services *s, const struct span_texts *of, struct text_span attributes);
/* End the span. offset: where it is in the input. 1: after a fault, the object is no span. */
int services_end(struct services *s, uint64_t offset);
/* Set the end of a span whose duration was read, and end it. */
int services_end_duration(struct services *s, uint64_t offset);

/* Read a time of a unit of 10 to the power of digits ns. false: it is none. */
bool services_time(const struct json_reader *r, enum json_token token, int digits, uint64_t *ns);
/* Read a member of a span, after the first token of its value. A duration is the end until
 * services_end_duration. 1: it is not in format->members. */
int services_member(struct services *s, const char *key, struct json_reader *r,
		    enum json_token token);
/* Take the meaning of a tag: the kind of the span, and its status. json: the tag's value. */
void services_mean(struct service_span *p, struct text_span key, struct text_span json);
static inline struct text_span services_json_text(const struct json_reader *r)
{
	return span_of(&r->text);
}
static inline struct text_span services_span(const char *text)
{
	return (struct text_span){text, text + strlen(text)};
}
/* Set the content of a buffer to the text of the present token. */
static inline int services_keep(struct buffer *b, const struct json_reader *r)
{
	b->size = 0;
	return buffer_append(b, r->text.data, r->text.size);
}

/* Copy a key, which may be longer than all that are known. */
void services_copy_key(const struct json_reader *r, char *key, size_t size);
/* Skip the value of a token. */
static inline int services_skip(struct json_reader *r, enum json_token token)
{
	return json_skip(r, token) ? 0 : -1;
}
/* Skip a value of another type than that of its key, which is damage, unless it is null. */
int services_skip_wrong(struct services *s, struct json_reader *r, enum json_token token,
			const char *key);
/* Call f after the '{' of each object of an array, after its first token. Other values are wrong.
 */
int services_each(struct services *s, struct json_reader *r, enum json_token token, const char *key,
		  int (*f)(struct services *s, struct json_reader *r, void *to), void *to);
/* Read the elements of an array of spans, after its first token. After a fault in one, reading goes
 * on at the next one. */
int services_each_span(struct services *s, struct json_reader *r, enum json_token token);
/* Test whether an object, which was found after a fault, has a member that a span does not have. */
bool services_is_outside(struct services *s, const char *key);

#endif
