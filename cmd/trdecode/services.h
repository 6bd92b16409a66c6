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
	uint32_t name, scope; /* strings of the writer */
	uint32_t resource;    /* number, of services_resource */
	uint64_t start, end;  /* ns */
	bool has_start, has_end;
	bool wrong_end;	      /* it is recorded, and no time */
	bool backward;	      /* it has a duration below 0 */
	struct buffer values; /* attributes: u32 name, u32 size, value */
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
	const struct span_resource *resource;
	int32_t pid;
	uint32_t lane;
	bool shown; /* its row is written */
};

struct services {
	struct input *input;
	struct writer *w;
	struct service_span span;
	struct sorter sorter;
	struct argument_table arguments;
	struct nested_json objects;
	struct json_reader value; /* of services_put */
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
		SERVICES_CONTAINER, /* an object that contains spans begins */
		SERVICES_DOCUMENT,  /* a document begins */
	} outside;
	bool faulty; /* there was a fault since the last document */
	struct {     /* strings of the writer */
		uint32_t parent, flows, ended_flows, resource;
	} texts;
	struct {
		uint64_t spans, events, other, backward, orphans, wrong_ends, no_spans;
	} counts;
};

void services_open(struct services *s, struct input *in);
void services_close(struct services *s);

/* Add a resource. Returns its number, from 1; 0: out of memory. */
uint32_t services_resource(struct services *s);
/* Add an attribute of a resource, a JSON text. */
int services_put_resource(struct services *s, uint32_t resource, struct text_span name,
			  struct text_span json);
/* Begin a span. */
void services_begin(struct services *s);
/* Append a named value, a JSON text, to attributes. */
int services_put(struct services *s, struct buffer *values, struct text_span name,
		 struct text_span json);
/* Set a text of span_texts, of at most size bytes. */
void services_text(char *to, size_t size, struct text_span text);
/* Add an event to the span. */
int services_event(struct services *s, uint64_t time, struct text_span name,
		   const struct buffer *values);
/* Add a link from the span to the one of those ids, and append it to the JSON text of all links.
 * attributes: a JSON object; empty: there are none. */
int services_put_link(struct services *s, const struct span_texts *of, struct text_span attributes,
		      struct buffer *links);
/* Put the links as a value. */
int services_put_links(struct services *s, struct buffer *links);
/* End the span. offset: where it is in the input. 1: after a fault, the object is no span. */
int services_end(struct services *s, uint64_t offset, struct error *e);

/* Read digits as a number times unit. false: they are none, or the product is no time. */
bool services_time(struct text_span text, uint64_t unit, uint64_t *ns);
/* Get the content of a buffer as a text. */
static inline struct text_span services_span_of(const struct buffer *b)
{
	const char *text = (const char *)b->data;

	return (struct text_span){text, b->size ? text + b->size : text};
}
static inline struct text_span services_json_text(const struct json_reader *r)
{
	return services_span_of(&r->text);
}

/* After all spans were read: the facts for --info; the declarations, and rows. */
void services_facts(const struct services *s, struct trace_info *facts);
int services_declare(struct services *s, struct error *e);
int services_run(struct input *in, struct services *s, uint64_t until, struct error *e);

/*
 * Read the elements of an array of spans, after its '['. `read` reads one after its '{'. After a
 * fault in one, reading goes on at the next one. Returns 0, or -1 with r->error or the caller's *e.
 */
int services_each_span(struct services *s, struct json_reader *r,
		       int (*read)(struct services *s, struct json_reader *r, void *to), void *to);
/* Test whether an object, which was found after a fault, has a member that only a document has, or
 * an object around spans: it is no span. */
bool services_is_outside(struct services *s, const char *key, const char *document,
			 const char *container);

/*
 * Read documents of JSON that follow each other, as those of lines. `read` reads one after its
 * first token; it returns -1 with r->error filled for a fault, after which reading goes on at the
 * next line, or with *e; 1: it was no document of the format.
 */
int services_read_json(struct services *s,
		       int (*read)(struct services *s, struct json_reader *r, enum json_token token,
				   struct error *e),
		       struct error *e);

#endif
