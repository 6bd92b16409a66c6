/*
 * ctf.c - CTF
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trencode/attributes.h"
#include "cmd/trencode/clip.h"
#include "cmd/trencode/convert.h"
#include "cmd/trencode/tree_output.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/text/tracecmd.h"
#include "common/calls/calls.h"
#include "common/formats/ctf.h"
#include "common/util/buffer.h"
#include "common/util/intern.h"
#include "common/util/text.h"
#include "common/util/version.h"
#include "common/value/json.h"

/*
 * Write the Common Trace Format: metadata in TSDL (version 1.8) or JSON (2), and files of packets.
 *
 * Functions that return int return 0, or -1: with *e filled where they take it, else out of memory.
 */

enum ctf_stream_class { CTF_OF_THREAD = 0, CTF_OF_CPU = 1, CTF_STREAM_CLASSES };

/* Of version 2: the begin of a fragment, and of a field class that is a structure. */
#define CTF_FRAGMENT  "\x1e{\"type\":\""
#define CTF_STRUCTURE "{\"type\":\"structure\",\"member-classes\":["

/* --- classes --- */

enum ctf_form { CTF_INTEGER, CTF_REAL, CTF_STRING };

/* How one field of a class is written. */
struct ctf_field {
	const struct field *field;
	uint8_t form, size; /* bytes of an INTEGER or REAL */
};

/* One class of events: a type of the stream, in files of one kind. */
struct ctf_out_class {
	uint32_t id;		  /* in the metadata */
	bool named;		  /* events have the name of a location */
	bool depth, call, values; /* events have a depth, a call number, values */
	bool message;		  /* of trace_printk(), see convert.h */
	struct ctf_field *fields;
	size_t nfields;
};

/* --- files of packets --- */

enum { CTF_PENDING_MOST = 4 << 20, CTF_PACKET = 64 * 1024 };

/* One file of packets, in which times never go back. */
struct ctf_out_file {
	uint32_t member;
	uint32_t next; /* next file of the same thread or CPU: index + 1; 0: none */
	uint8_t stream;
	int32_t cpu;
	struct buffer packet;	      /* the open packet with its header; empty: none is open */
	uint64_t first, last;	      /* times of the packet's begin and of its last event */
	uint64_t discarded, sequence; /* of the open packet, or of the next one */
};

/* The state of the encoder. */
struct ctf_encoder {
	bool json; /* version 2 */
	struct {
		struct buffer text;	 /* declarations */
		struct buffer arguments; /* of each location that has some: a variable of env */
		uint8_t *locations;	 /* by number: 1 if in arguments */
		size_t nlocations, narguments;
		struct intern keys; /* type, kind of file, named: index in list */
		struct ctf_out_class *list;
		size_t count, capacity;
		uint32_t ids[CTF_STREAM_CLASSES]; /* the next id of each kind of file */
	} classes;				  /* that are declared so far */
	struct {
		struct tree_output tree;
		uint8_t uuid[16];
		struct ctf_out_file *list;
		size_t count, capacity;
		uint32_t *first; /* first file by key: index + 1; 0: none */
		size_t nfirst;
		size_t pending; /* bytes of all open packets */
	} files;		/* of packets */
	struct attributes attributes;
	struct location_names locations, texts; /* each with a final NUL */
	struct buffer bytes, compound;
	struct thread_ids ids;
	struct {
		bool known;
		int32_t tid, pid; /* in the trace; -1: unknown */
	} * lanes;		  /* by number */
	size_t nlanes;
	/* call numbers in the trace, of calls of other sources than numbered */
	struct open_calls calls;
	const struct source *numbered; /* the first source with numbered calls */
	uint32_t last_call;	       /* last number given from the highest down */
	struct restored_calls restored;
	struct calls *paired;
	const struct clock *clock;
	struct text_ref source;
	uint32_t metadata;
	uint64_t stacks; /* stacks of events that are not in the trace */
	bool started, open;
};

/* Append a text in quotes, for both languages. Control characters become '?', as readers of TSDL
 * disagree on their escapes. */
static int ctf_quoted(struct buffer *b, const char *p, size_t n)
{
	struct buffer clean = {0};
	struct buffer escaped = {0};
	int r = convert_name_no_nul(&escaped, p, n) ||
		utf8_append(&clean, (const char *)escaped.data, escaped.size) || buffer_u8(b, '"');

	for (size_t i = 0; !r && i < clean.size; i++) {
		uint8_t c = clean.data[i];

		if (c == '"' || c == '\\')
			r = buffer_u8(b, '\\');
		r = r || buffer_u8(b, c < 0x20 || c == 0x7f ? '?' : c);
	}
	buffer_free(&clean);
	buffer_free(&escaped);
	return r || buffer_u8(b, '"') ? -1 : 0;
}

/* --- fields --- */

static struct ctf_field ctf_form_of(const struct field *f)
{
	struct ctf_field cf = {.field = f, .form = CTF_STRING};
	bool scalar = f->count <= 1 && f->where <= WHERE_TAIL;

	if (!scalar || !f->size || f->size > 8 || f->size & (f->size - 1))
		return cf;
	switch (f->kind) {
	case FIELD_UINT:
	case FIELD_INT:
	case FIELD_HEX:
	case FIELD_CHAR:
		cf.form = CTF_INTEGER;
		cf.size = (uint8_t)f->size;
		break;
	case FIELD_FLOAT:
		if (f->size >= 4) {
			cf.form = CTF_REAL;
			cf.size = 8;
		}
		break;
	}
	return cf;
}

/* Append the name of a field, which no other field of the event has: for TSDL a valid identifier,
 * whose leading '_' readers drop; for JSON the name itself. */
static int put_identifier(struct buffer *b, struct unique_names *used, const char *name, size_t n,
			  bool json)
{
	struct buffer id = {0};
	int r = json ? convert_name_no_nul(&id, name, n) : buffer_u8(&id, '_');

	for (size_t i = 0; !r && !json && i < n; i++)
		r = buffer_u8(&id, isalnum((unsigned char)name[i]) ? (uint8_t)name[i] : '_');
	r = r || unique_name(used, &id, "_") == INTERN_NONE ||
	    (json ? json_append_string(b, (const char *)id.data, id.size)
		  : buffer_append(b, id.data, id.size));
	buffer_free(&id);
	return r ? -1 : 0;
}

/* Declare a field in b, whose name is new among those used. */
static int encode_ctf_declare_field(struct buffer *b, bool json, struct unique_names *used,
				    const char *type, const char *name, size_t n)
{
	if (json)
		return buffer_puts(b, b->size && b->data[b->size - 1] != '[' ? "," : "") ||
				       buffer_puts(b, "\n{\"name\":") ||
				       put_identifier(b, used, name, n, true) ||
				       buffer_printf(b, ",\"field-class\":\"%s\"}", type)
			       ? -1
			       : 0;
	return buffer_puts(b, "\t\t") || buffer_puts(b, type) || buffer_u8(b, ' ') ||
			       put_identifier(b, used, name, n, false) || buffer_puts(b, ";\n")
		       ? -1
		       : 0;
}

/* Get the role of the events by which trdecode reads them back; NULL: none is needed. */
static const char *ctf_role_of(const struct ctf_out_class *cl, const struct type *t)
{
	if (t->kind == KIND_ENTER)
		return "enter";
	if (t->kind == KIND_LEAVE)
		return "leave";
	if (t->kind == KIND_GAP)
		return "gap";
	return cl->named ? "instant" : NULL;
}

/* Declare the URI of a class: the role, what the calls of the type have, and the group. */
static int declare_uri(struct ctf_encoder *s, const struct ctf_out_class *cl, const struct type *t)
{
	struct buffer *b = &s->classes.text;
	const char *role = ctf_role_of(cl, t);
	struct buffer uri = {0};
	int r;

	if (!role && !t->group.size)
		return 0;
	r = buffer_printf(&uri, "urn:trutils:%s%s%s%s%s", role ? role : "event",
			  cl->call ? ":numbered" : "", t->flags & TYPE_INNER ? ":inner" : "",
			  t->flags & TYPE_KERNEL ? ":kernel" : "",
			  t->flags & TYPE_PER_CPU ? ":per-cpu" : "") ||
	    (t->group.size &&
	     (buffer_u8(&uri, '#') || buffer_append(&uri, t->group.text, t->group.size))) ||
	    buffer_puts(b, s->json ? ",\"attributes\":{\"babeltrace.org,2020\":{\"emf-uri\":"
				   : "\tmodel.emf.uri = ") ||
	    ctf_quoted(b, (const char *)uri.data, uri.size) ||
	    buffer_puts(b, s->json ? "}}" : ";\n");
	buffer_free(&uri);
	return r ? -1 : 0;
}

/* Declare the fields that trdecode knows by their names. Another field of the event that has such a
 * name is renamed, even if the class does not have the known field. */
static int declare_known_fields(struct ctf_encoder *s, struct unique_names *used,
				const struct ctf_out_class *cl, const struct type *t)
{
	const struct {
		const char *type, *name;
		bool present;
	} known[] = {{"string", "name", cl->named},
		     {"u32", "depth", cl->depth},
		     {"u32", "call", cl->call},
		     {"string", "args", cl->values}};
	struct buffer unused = {0};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof known / sizeof *known; i++)
		if (known[i].present || ctf_role_of(cl, t))
			r = encode_ctf_declare_field(known[i].present ? &s->classes.text : &unused,
						     s->json, used, known[i].type, known[i].name,
						     strlen(known[i].name));
	buffer_free(&unused);
	return r;
}

/* Declare the fields of the type itself. */
static int declare_type_fields(struct ctf_encoder *s, struct unique_names *used,
			       struct ctf_out_class *cl, const struct type *t)
{
	static const char *const of_gap[][2] = {{"string", "reason"}, {"u64", "count"},
						{"string", "unit"},   {"string", "message"},
						{"string", "file"},   {"u64", "offset"}};
	struct buffer *b = &s->classes.text;
	char type[32];

	for (uint32_t i = 0; i < t->nfields && t->kind != KIND_GAP; i++) {
		const struct field *f = &t->fields[i];
		struct ctf_field cf = ctf_form_of(f);

		/* the number of a stack has no meaning outside of the stream */
		if (!field_is_attribute(f) || field_is_stack(f))
			continue;
		cl->fields[cl->nfields++] = cf;
		if (cf.form == CTF_STRING)
			snprintf(type, sizeof type, "string");
		else if (cf.form == CTF_REAL)
			snprintf(type, sizeof type, "f64");
		else
			snprintf(type, sizeof type, "%c%u",
				 f->kind == FIELD_HEX	? 'x'
				 : f->kind == FIELD_INT ? 's'
							: 'u',
				 8u * cf.size);
		if (encode_ctf_declare_field(b, s->json, used, type, f->name.text, f->name.size))
			return -1;
	}
	if (cl->message && encode_ctf_declare_field(b, s->json, used, "string", "message", 7))
		return -1;
	for (size_t i = 0; i < 6 && t->kind == KIND_GAP; i++)
		if (encode_ctf_declare_field(b, s->json, used, of_gap[i][0], of_gap[i][1],
					     strlen(of_gap[i][1])))
			return -1;
	return 0;
}
static int declare_class(struct ctf_encoder *s, struct ctf_out_class *cl, struct unique_names *used,
			 const struct event *ev, enum ctf_stream_class stream)
{
	const struct type *t = ev->type;
	struct buffer *b = &s->classes.text;

	if (buffer_printf(b,
			  s->json ? CTF_FRAGMENT "event-record-class\",\"id\":%u,"
						 "\"data-stream-class-id\":%d,\"name\":"
				  : "event {\n\tid = %u;\n\tstream_id = %d;\n\tname = ",
			  cl->id, stream) ||
	    ctf_quoted(b, t->name.text, t->name.size) || buffer_puts(b, s->json ? "" : ";\n") ||
	    declare_uri(s, cl, t) ||
	    buffer_puts(b, s->json ? ",\n\"payload-field-class\":" CTF_STRUCTURE
				   : "\tfields := struct {\n"))
		return -1;
	if (declare_known_fields(s, used, cl, t) || declare_type_fields(s, used, cl, t))
		return -1;
	return buffer_puts(b, s->json ? "]}}\n" : "\t};\n};\n\n");
}

/* Get the class of an event, which is declared when it is new. NULL: out of memory. */
static const struct ctf_out_class *ctf_out_class_of(struct ctf_encoder *s, const struct event *ev,
						    enum ctf_stream_class stream)
{
	bool call = ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE;
	bool named = call || ev->location;
	uint32_t key[2] = {ev->type->number, (uint32_t)stream << 1 | named}, number;
	struct ctf_out_class *cl;
	struct unique_names used = {0};
	int r;

	number = intern(&s->classes.keys, key, sizeof key);
	if (number == INTERN_NONE)
		return NULL;
	if (number < s->classes.count)
		return &s->classes.list[number];
	if (ARRAY_GROW(s->classes.list, s->classes.capacity, s->classes.count))
		return NULL;
	cl = &s->classes.list[s->classes.count];
	*cl = (struct ctf_out_class){.id = s->classes.ids[stream]++,
				     .named = named,
				     .depth = call && ev->type->flags & TYPE_DEPTH,
				     .call = call && ev->type->flags & TYPE_CALL_NUMBER,
				     .values = ev->type->flags & TYPE_VALUES,
				     .message = kernel_messages_has(ev->type)};
	cl->fields = calloc(ev->type->nfields + 1, sizeof(*cl->fields));
	if (!cl->fields)
		return NULL;
	s->classes.count++;
	r = declare_class(s, cl, &used, ev, stream);
	unique_names_free(&used);
	return r ? NULL : cl;
}

/* Record the names of a location's arguments in the metadata, before its first event is written.
 * location 0: none. */
static int ctf_record_arguments(struct ctf_encoder *s, uint32_t location)
{
	struct dictionary *d = s->attributes.dictionary;
	const struct location *l = dictionary_location(d, location);
	const struct definition *names = l ? l->arguments : NULL;
	struct buffer json = {0};
	struct text_ref name;
	int r;

	if (ARRAY_REACH(s->classes.locations, s->classes.nlocations, location))
		return -1;
	if (s->classes.locations[location] || !names || !names->count)
		return 0;
	s->classes.locations[location] = 1;
	name = dictionary_location_name(d, location);
	r = buffer_u8(&json, '[') || json_append_string(&json, name.text, name.size);
	for (uint32_t i = 0; !r && i < names->count; i++)
		r = buffer_u8(&json, ',') || json_append_string(&json, names->members[i].name.text,
								names->members[i].name.size);
	r = r || buffer_u8(&json, ']') ||
	    buffer_printf(&s->classes.arguments,
			  s->json ? ",\n\"" CTF_ARGUMENTS "%zu\":" : "\t" CTF_ARGUMENTS "%zu = ",
			  s->classes.narguments++) ||
	    ctf_quoted(&s->classes.arguments, (const char *)json.data, json.size) ||
	    buffer_puts(&s->classes.arguments, s->json ? "" : ";\n");
	buffer_free(&json);
	return r ? -1 : 0;
}

/*
 * Write the metadata: TSDL of version 1.8, or JSON of version 2.
 *
 * Packets are the same in both versions.
 */

#define SECOND 1000000000ll

/* Get the time from 1970 to the clock's 0; rest: ns, below a second. Returns whether the clock is
 * that of 1970. */
static bool offset_of(const struct clock *clock, int64_t *seconds, int64_t *rest)
{
	int64_t ns = clock && clock->flags & CLOCK_HAS_WALL ? clock->wall : 0;

	*seconds = ns / SECOND - (ns % SECOND < 0);
	*rest = ns % SECOND + (ns % SECOND < 0 ? SECOND : 0);
	return clock && clock->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL);
}

/* --- version 1.8 --- */

static int put_integers(struct buffer *b)
{
	for (unsigned size = 8; size <= 64; size *= 2)
		if (buffer_printf(
			    b,
			    "typealias integer { size = %u; align = 8; signed = false; } := u%u;\n"
			    "typealias integer { size = %u; align = 8; signed = true; } := s%u;\n"
			    "typealias integer { size = %u; align = 8; signed = false; base = 16; }"
			    " := x%u;\n",
			    size, size, size, size, size, size))
			return -1;
	return buffer_puts(
		b,
		"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := f64;\n\n");
}

static int put_uuid(struct buffer *b, const uint8_t uuid[16])
{
	for (int i = 0; i < 16; i++)
		if (buffer_printf(b, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
				  uuid[i]))
			return -1;
	return 0;
}

static int put_clock(const struct ctf_encoder *s, struct buffer *b)
{
	const struct clock *clock = s->clock;
	int64_t seconds, rest;
	bool wall = offset_of(clock, &seconds, &rest);

	if (buffer_puts(b, "clock {\n\tname = \"trace\";\n\tdescription = ") ||
	    ctf_quoted(b, clock ? clock->name.text : "", clock ? clock->name.size : 0))
		return -1;
	return buffer_printf(b,
			     ";\n\tfreq = 1000000000;\n\toffset_s = %" PRId64
			     ";\n\toffset = %" PRId64 ";\n\tabsolute = %s;\n};\n\n"
			     "typealias integer { size = 64; align = 8; signed = false;"
			     " map = clock.trace.value; } := stamp;\n\n",
			     seconds, rest, wall ? "true" : "false");
}

static int put_stream(struct buffer *b, enum ctf_stream_class stream)
{
	return buffer_printf(
		b,
		"stream {\n\tid = %d;\n\tpacket.context := struct {\n"
		"\t\tstamp timestamp_begin;\n\t\tstamp timestamp_end;\n"
		"\t\tu64 content_size;\n\t\tu64 packet_size;\n"
		"\t\tu64 events_discarded;\n\t\tu64 packet_seq_num;\n%s\t};\n"
		"\tevent.header := struct { u32 id; stamp timestamp; };\n"
		"\tevent.context := struct { s32 _pid; s32 _tid; string _procname; };\n"
		"};\n\n",
		stream, stream == CTF_OF_CPU ? "\t\tu32 cpu_id;\n" : "");
}

static int put_tsdl(const struct ctf_encoder *s, struct buffer *to)
{
	if (buffer_puts(to, "/* CTF 1.8 */\n\n") || put_integers(to) ||
	    buffer_puts(to, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"") ||
	    put_uuid(to, s->files.uuid) ||
	    buffer_puts(
		    to,
		    "\";\n\tbyte_order = le;\n\tpacket.header := struct { u32 magic; u8 uuid[16]; "
		    "u32 stream_id; };\n};\n\nenv {\n\ttracer_name = \"trencode\";\n"
		    "\ttracer_version = \"" TRUTILS_VERSION "\";\n\tsource = ") ||
	    ctf_quoted(to, s->source.text, s->source.size) || buffer_puts(to, ";\n") ||
	    buffer_append(to, s->classes.arguments.data, s->classes.arguments.size) ||
	    buffer_puts(to, "};\n\n") || put_clock(s, to))
		return -1;
	return 0;
}

/* --- version 2 --- */

/* Append the member of a structure that is not the first one; role: NULL: none. */
static int ctf_put_member(struct buffer *b, const char *name, unsigned bits, const char *role)
{
	return buffer_printf(b,
			     "%s\n{\"name\":\"%s\",\"field-class\":{\"type\":"
			     "\"fixed-length-unsigned-integer\",\"length\":%u,\"alignment\":8,"
			     "\"byte-order\":\"little-endian\"%s%s%s}}",
			     b->data[b->size - 1] == '[' ? "" : ",", name, bits,
			     role ? ",\"roles\":[\"" : "", role ? role : "", role ? "\"]" : "");
}

static int put_aliases(struct buffer *b)
{
	for (unsigned size = 8; size <= 64; size *= 2)
		for (const char *kind = "usx"; *kind; kind++)
			if (buffer_printf(
				    b,
				    CTF_FRAGMENT
				    "field-class-alias\",\"name\":\"%c%u\",\"field-class\":"
				    "{\"type\":\"fixed-length-%ssigned-integer\",\"length\":%u,"
				    "\"alignment\":8,\"byte-order\":\"little-endian\"%s}}\n",
				    *kind, size, *kind == 's' ? "" : "un", size,
				    *kind == 'x' ? ",\"preferred-display-base\":16" : ""))
				return -1;
	return buffer_puts(b, CTF_FRAGMENT
			   "field-class-alias\",\"name\":\"f64\",\"field-class\":"
			   "{\"type\":\"fixed-length-floating-point-number\",\"length\":64,"
			   "\"alignment\":8,\"byte-order\":\"little-endian\"}}\n" CTF_FRAGMENT
			   "field-class-alias\",\"name\":\"string\",\"field-class\":"
			   "{\"type\":\"null-terminated-string\"}}\n");
}

static int put_trace(const struct ctf_encoder *s, struct buffer *b)
{
	if (buffer_puts(b, CTF_FRAGMENT "preamble\",\"version\":2,\"uuid\":["))
		return -1;
	for (int i = 0; i < 16; i++)
		if (buffer_printf(b, "%s%u", i ? "," : "", s->files.uuid[i]))
			return -1;
	if (buffer_puts(b, "]}\n") || put_aliases(b) ||
	    buffer_puts(b,
			CTF_FRAGMENT "trace-class\",\"environment\":{\"tracer_name\":\"trencode\","
				     "\"tracer_version\":\"" TRUTILS_VERSION "\",\"source\":") ||
	    ctf_quoted(b, s->source.text, s->source.size) ||
	    buffer_append(b, s->classes.arguments.data, s->classes.arguments.size))
		return -1;
	return buffer_puts(b, "},\n\"packet-header-field-class\":" CTF_STRUCTURE) ||
			       ctf_put_member(b, "magic", 32, "packet-magic-number") ||
			       buffer_puts(b, ",\n{\"name\":\"uuid\",\"field-class\":{\"type\":"
					      "\"static-length-blob\",\"length\":16,\"roles\":"
					      "[\"metadata-stream-uuid\"]}}") ||
			       ctf_put_member(b, "stream_id", 32, "data-stream-class-id") ||
			       buffer_puts(b, "]}}\n")
		       ? -1
		       : 0;
}

static int put_clock_class(const struct ctf_encoder *s, struct buffer *b)
{
	const struct clock *clock = s->clock;
	int64_t seconds, rest;
	bool wall = offset_of(clock, &seconds, &rest);

	return buffer_puts(b, CTF_FRAGMENT "clock-class\",\"id\":\"trace\",\"name\":\"trace\","
					   "\"frequency\":1000000000,\"description\":") ||
			       ctf_quoted(b, clock ? clock->name.text : "",
					  clock ? clock->name.size : 0) ||
			       buffer_printf(b,
					     "%s,\"offset-from-origin\":{\"seconds\":%" PRId64
					     ",\"cycles\":%" PRId64 "}}\n",
					     wall ? ",\"origin\":\"unix-epoch\"" : "", seconds,
					     rest)
		       ? -1
		       : 0;
}

static int put_stream_class(struct buffer *b, enum ctf_stream_class stream)
{
	return buffer_printf(b,
			     CTF_FRAGMENT "data-stream-class\",\"id\":%d,"
					  "\"default-clock-class-id\":\"trace\",\n"
					  "\"packet-context-field-class\":" CTF_STRUCTURE,
			     stream) ||
			       ctf_put_member(b, "timestamp_begin", 64,
					      "default-clock-timestamp") ||
			       ctf_put_member(b, "timestamp_end", 64,
					      "packet-end-default-clock-timestamp") ||
			       ctf_put_member(b, "content_size", 64, "packet-content-length") ||
			       ctf_put_member(b, "packet_size", 64, "packet-total-length") ||
			       ctf_put_member(b, "events_discarded", 64, CTF2_DISCARDED) ||
			       ctf_put_member(b, "packet_seq_num", 64, "packet-sequence-number") ||
			       (stream == CTF_OF_CPU && ctf_put_member(b, "cpu_id", 32, NULL)) ||
			       buffer_puts(
				       b,
				       "]},\n\"event-record-header-field-class\":" CTF_STRUCTURE) ||
			       ctf_put_member(b, "id", 32, "event-record-class-id") ||
			       ctf_put_member(b, "timestamp", 64, "default-clock-timestamp") ||
			       buffer_puts(
				       b, "]},\n\"event-record-common-context-field-"
					  "class\":" CTF_STRUCTURE
					  "{\"name\":\"pid\",\"field-class\":\"s32\"},"
					  "{\"name\":\"tid\",\"field-class\":\"s32\"},"
					  "{\"name\":\"procname\",\"field-class\":\"string\"}]}}\n")
		       ? -1
		       : 0;
}

/* Append the whole metadata, classes included. */
static int ctf_put_metadata(const struct ctf_encoder *s, struct buffer *to)
{
	if (s->json ? put_trace(s, to) || put_clock_class(s, to) : put_tsdl(s, to))
		return -1;
	for (enum ctf_stream_class i = 0; i < CTF_STREAM_CLASSES; i++)
		if (s->classes.ids[i] && (s->json ? put_stream_class(to, i) : put_stream(to, i)))
			return -1;
	return buffer_append(to, s->classes.text.data, s->classes.text.size);
}

/* --- write files of packets --- */

/*
 * packet.header: u32 magic, uuid, u32 stream_id; packet.context: u64 timestamp_begin,
 * timestamp_end, content_size, packet_size (in bits), events_discarded, packet_seq_num; then, in
 * files of a CPU only, u32 cpu_id.
 */
enum {
	MAGIC = 0xc1fc1fc1u,
	AT_STREAM = 20,
	AT_CONTEXT = 24,
	HEADER_SIZE = AT_CONTEXT + 48,
};

static struct ctf_out_file *new_file(struct ctf_encoder *s, uint32_t key,
				     enum ctf_stream_class stream, const struct lane *lane,
				     struct error *e)
{
	struct ctf_out_file *file;
	unsigned same = 1;
	char name[64];
	int n;

	if (ARRAY_GROW(s->files.list, s->files.capacity, s->files.count)) {
		error_no_memory(e);
		return NULL;
	}
	file = &s->files.list[s->files.count];
	*file = (struct ctf_out_file){.stream = (uint8_t)stream, .next = s->files.first[key]};
	n = snprintf(name, sizeof name, "thread_%zu", s->files.count);
	if (stream == CTF_OF_CPU) {
		file->cpu = lane->cpu;
		for (size_t i = 0; i < s->files.count; i++)
			same += s->files.list[i].stream == CTF_OF_CPU &&
				s->files.list[i].cpu == lane->cpu;
		n = snprintf(name, sizeof name, "cpu_%" PRId32, lane->cpu);
		/* the CPU of another source, or times after a step back */
		if (same > 1)
			n = snprintf(name, sizeof name, "cpu_%" PRId32 "_%u", lane->cpu, same);
	}
	if (tree_output_member(&s->files.tree, name, (size_t)n, &file->member, e))
		return NULL;
	s->files.first[key] = (uint32_t)++s->files.count;
	return file;
}

/* Find or add a file of a thread or CPU for an event of this time. NULL: e is filled. */
static struct ctf_out_file *ctf_file_of(struct ctf_encoder *s, uint32_t key,
					enum ctf_stream_class stream, const struct lane *lane,
					uint64_t time, struct error *e)
{
	if (ARRAY_REACH(s->files.first, s->files.nfirst, key)) {
		error_no_memory(e);
		return NULL;
	}
	/* where a recorder's clock steps back, the following events get another file */
	for (uint32_t i = s->files.first[key]; i; i = s->files.list[i - 1].next)
		if (s->files.list[i - 1].last <= time)
			return &s->files.list[i - 1];
	return new_file(s, key, stream, lane, e);
}

static int ctf_begin_packet(struct ctf_encoder *s, struct ctf_out_file *file, uint64_t time)
{
	struct buffer *b = &file->packet;

	file->first = file->last = time;
	b->spills = true;
	if (buffer_u32(b, MAGIC) || buffer_append(b, s->files.uuid, sizeof s->files.uuid) ||
	    buffer_u32(b, file->stream) || buffer_zero(b, HEADER_SIZE - AT_CONTEXT))
		return -1;
	return file->stream == CTF_OF_CPU ? buffer_u32(b, (uint32_t)file->cpu) : 0;
}

static int end_packet(struct ctf_encoder *s, struct ctf_out_file *file, struct error *e)
{
	struct buffer *b = &file->packet;
	uint8_t *context = b->data + AT_CONTEXT;
	size_t piece;
	int r = 0;

	if (!b->size)
		return 0;
	put_u64(context, file->first);
	put_u64(context + 8, file->last);
	put_u64(context + 16, b->size * 8ull);
	put_u64(context + 24, b->size * 8ull);
	put_u64(context + 32, file->discarded);
	put_u64(context + 40, file->sequence++);
	for (size_t at = 0; at < b->size && !r; at += piece) {
		piece = b->file && b->size - at > BUFFER_PIECE ? BUFFER_PIECE : b->size - at;
		r = tree_output_put(&s->files.tree, file->member, b->data + at, piece, e);
		buffer_rest(b);
	}
	s->files.pending -= b->size;
	if (b->capacity > 2 * CTF_PACKET)
		buffer_free(b);
	b->size = 0;
	return r;
}

/* End the open packet at a gap, and begin the next one there: the counters of the next packet
 * include what was lost. Readers compute a loss from the counters of two packets, so a file that
 * begins with a gap gets an empty packet before it. */
static int ctf_file_lost(struct ctf_encoder *s, struct ctf_out_file *file, uint64_t time,
			 uint64_t events, uint64_t packets, struct error *e)
{
	size_t had = file->packet.size;

	if (!had && !file->sequence && ctf_begin_packet(s, file, time))
		return error_no_memory(e);
	s->files.pending += file->packet.size - had;
	file->last = time;
	if (end_packet(s, file, e))
		return -1;
	/* readers subtract the counters */
	if (__builtin_add_overflow(file->discarded, events, &file->discarded))
		file->discarded = UINT64_MAX;
	if (__builtin_add_overflow(file->sequence, packets, &file->sequence))
		file->sequence = UINT64_MAX;
	if (ctf_begin_packet(s, file, time))
		return error_no_memory(e);
	s->files.pending += file->packet.size;
	return 0;
}

/* Begin an event: write its header to the packet. The caller appends the rest. */
static int ctf_event_begin(struct ctf_encoder *s, struct ctf_out_file *file, uint32_t id,
			   uint64_t time, struct error *e)
{
	struct buffer *b = &file->packet;
	size_t had = b->size;

	if ((!had && ctf_begin_packet(s, file, time)) || buffer_u32(b, id) || buffer_u64(b, time))
		return error_no_memory(e);
	file->last = time;
	s->files.pending += b->size - had;
	return 0;
}

/* Write all open packets. */
static int ctf_files_flush(struct ctf_encoder *s, struct error *e)
{
	for (size_t i = 0; i < s->files.count; i++) {
		if (end_packet(s, &s->files.list[i], e))
			return -1;
		buffer_free(&s->files.list[i].packet);
	}
	return 0;
}

/* End an event; grown: bytes that the caller appended. */
static int ctf_event_end(struct ctf_encoder *s, struct ctf_out_file *file, size_t grown,
			 struct error *e)
{
	s->files.pending += grown;
	if (file->packet.size >= CTF_PACKET && end_packet(s, file, e))
		return -1;
	return s->files.pending > CTF_PENDING_MOST ? ctf_files_flush(s, e) : 0;
}

/*
 * The encoder of the Common Trace Format, which babeltrace and Trace Compass read.
 *
 * Each event of the stream becomes one event of the trace: enters and leaves are not paired. The
 * calls that are open where reading begins are written as enters.
 */

/* Append a text as UTF-8, with NULs escaped, as a NUL ends a string. */
static int encode_ctf_put_text(struct buffer *b, const char *p, size_t n)
{
	struct buffer plain = {0};
	int result;

	if (!n || (!memchr(p, 0, n) && !memmem(p, n, "\\x", 2)))
		return utf8_append(b, p, n);
	result = convert_name_no_nul(&plain, p, n) ||
				 utf8_append(b, (const char *)plain.data, plain.size)
			 ? -1
			 : 0;
	buffer_free(&plain);
	return result;
}

static int ctf_put_string(struct buffer *b, const char *p, size_t n)
{
	return encode_ctf_put_text(b, p, n) || buffer_u8(b, 0) ? -1 : 0;
}

/* Append a text that may be large, in pieces. No piece ends inside of "\x00". */
static int ctf_put_buffer(struct buffer *b, const struct buffer *text)
{
	size_t piece;

	for (size_t at = 0; at < text->size; at += piece) {
		const char *p = (const char *)text->data + at;

		piece = buffer_piece(p, text->size - at);
		for (int back = 1; back <= 3 && piece < text->size - at; back++)
			if (p[piece - (size_t)back] == '\\') {
				piece -= (size_t)back;
				break;
			}
		if (encode_ctf_put_text(b, p, piece))
			return -1;
		buffer_rest(text);
	}
	return buffer_u8(b, 0);
}

static int put_cached(struct buffer *b, struct location_names *names, uint32_t number)
{
	uint32_t size;
	const char *text = location_names_get(names, number, &size);

	return text ? buffer_append(b, text, size) : -1;
}

/* --- an event --- */

static int ctf_put_field(struct ctf_encoder *s, struct buffer *b, const struct event *ev,
			 const struct ctf_field *cf)
{
	struct attribute_source source = {
		.plain = {s->attributes.dictionary, &s->bytes, false, false},
		.compound = &s->compound};
	struct attribute item;
	struct field_value v;
	uint64_t bits = 0;

	if (cf->form == CTF_STRING) {
		if (attribute_field(&source, ev, cf->field, &item))
			return -1;
		if (item.kind < ATTRIBUTE_TEXT) {
			s->compound.size = 0;
			if (item.kind != ATTRIBUTE_NULL &&
			    attribute_json(&item, s->attributes.quote_numbers, NULL, &s->compound))
				return -1;
			return ctf_put_string(b, (const char *)s->compound.data, s->compound.size);
		}
		return ctf_put_string(b, item.text, item.number);
	}
	field_get(ev, cf->field, 0, &v);
	if (v.form == FORM_REAL)
		memcpy(&bits, &v.real, sizeof bits);
	else if (v.form == FORM_INT || v.form == FORM_UINT)
		bits = v.u;
	bits = htole64(bits);
	return buffer_append(b, &bits, cf->size);
}

static int put_args(struct ctf_encoder *s, struct buffer *b, const struct event *ev)
{
	if (!ev->tail_size)
		return buffer_u8(b, 0);
	buffer_clear(&s->compound);
	buffer_clear(&s->bytes);
	if (attributes_append_values(&s->attributes, ev, &s->bytes) ||
	    attributes_object(&s->attributes, &s->bytes, &s->compound))
		return -1;
	return ctf_put_buffer(b, &s->compound);
}

/* Append the fields of a gap. For readers of CTF, ctf_count_gap also puts a loss into the counters
 * of packets. */
static int ctf_put_gap(struct buffer *b, const struct event *ev)
{
	struct gap_row g = {.count = UINT64_MAX, .offset = UINT64_MAX};

	gap_get(ev, &g);
	return ctf_put_string(b, gap_reason_name(g.reason), strlen(gap_reason_name(g.reason))) ||
			       buffer_u64(b, g.count) ||
			       ctf_put_string(b, gap_unit_name(g.unit),
					      strlen(gap_unit_name(g.unit))) ||
			       ctf_put_string(b, g.message, g.message_size) ||
			       ctf_put_string(b, g.file, g.file_size) || buffer_u64(b, g.offset)
		       ? -1
		       : 0;
}

/* Count the lost events or packets that a gap records, if their number is known. */
static int ctf_count_gap(struct ctf_encoder *s, struct ctf_out_file *file, const struct event *ev,
			 struct error *e)
{
	struct gap_row g;

	if (!gap_get(ev, &g) || g.reason != GAP_LOST || g.count == UINT64_MAX ||
	    g.unit == GAP_BYTES)
		return 0;
	return ctf_file_lost(s, file, ev->time, g.unit == GAP_EVENTS ? g.count : 0,
			     g.unit == GAP_PACKETS ? g.count : 0, e);
}

/* Set the ids of a lane. Threads of several sources that have the same number get different
 * ones. */
static int name_lane(struct ctf_encoder *s, const struct lane *lane)
{
	int32_t tid = -1, pid = -1;

	if (ARRAY_REACH(s->lanes, s->nlanes, lane->number))
		return -1;
	if (s->lanes[lane->number].known)
		return 0;
	if (lane->flags & LANE_HAS_TID && (tid = thread_ids_thread(&s->ids, lane, false)) < 0)
		return -1;
	if (lane->flags & LANE_HAS_PID) {
		pid = lane->pid;
		if (lane->flags & (LANE_HAS_TID | LANE_PROCESS_TID) && lane->pid > 0 &&
		    (pid = thread_ids_process(&s->ids, lane)) < 0)
			return -1;
	}
	s->lanes[lane->number].tid = tid;
	s->lanes[lane->number].pid = pid;
	s->lanes[lane->number].known = true;
	return 0;
}

static int ctf_put_message(struct ctf_encoder *s, struct buffer *b, const struct event *ev)
{
	const char *text = "";
	size_t size = 0;

	if (s->attributes.messages && kernel_message(s->attributes.messages, ev, &text, &size))
		return -1;
	return ctf_put_string(b, text, size);
}

/* Append the number of a call. Calls of other sources than the first are numbered from the highest
 * number down, so that they do not meet the first source's numbers; so are leaves without enter. */
static int ctf_put_call(struct ctf_encoder *s, struct buffer *b, const struct event *ev)
{
	const struct source *source = ev->lane->source;
	uint64_t number;
	uint32_t call;

	if (!field_call(ev, &call))
		return buffer_u32(b, --s->last_call);
	if (!s->numbered)
		s->numbered = source;
	if (s->numbered == source)
		return buffer_u32(b, call);
	if (ev->type->kind == KIND_LEAVE) {
		if (!open_calls_take(&s->calls, source->number, call, &number))
			number = --s->last_call;
		return buffer_u32(b, (uint32_t)number);
	}
	number = --s->last_call;
	if (open_calls_count(&s->calls) < CALLS_NUMBERED_LIMIT &&
	    open_calls_put(&s->calls, source->number, call, number))
		return -1;
	return buffer_u32(b, (uint32_t)number);
}

static int ctf_put_event(struct ctf_encoder *s, struct buffer *b, const struct ctf_out_class *cl,
			 const struct event *ev)
{
	const struct lane *lane = ev->lane;

	if (name_lane(s, lane) || buffer_u32(b, (uint32_t)s->lanes[lane->number].pid) ||
	    buffer_u32(b, (uint32_t)s->lanes[lane->number].tid) ||
	    put_cached(b, &s->texts, lane->comm.number) ||
	    (cl->named && put_cached(b, &s->locations, ev->location)) ||
	    (cl->depth && buffer_u32(b, ev->depth)) || (cl->call && ctf_put_call(s, b, ev)) ||
	    (cl->values && (ctf_record_arguments(s, ev->location) || put_args(s, b, ev))))
		return -1;
	for (size_t i = 0; i < cl->nfields; i++)
		if (ctf_put_field(s, b, ev, &cl->fields[i]))
			return -1;
	if (cl->message && ctf_put_message(s, b, ev))
		return -1;
	return ev->type->kind == KIND_GAP ? ctf_put_gap(b, ev) : 0;
}

static int encode_ctf_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct ctf_encoder *s = en->state;
	bool cpu = ev->lane->flags & LANE_HAS_CPU;
	enum ctf_stream_class stream = cpu ? CTF_OF_CPU : CTF_OF_THREAD;
	uint32_t key = cpu ? ev->lane->cpu_thread : ev->lane->thread;
	const struct ctf_out_class *cl = ctf_out_class_of(s, ev, stream);
	uint32_t stack = event_stack(en->dictionary, ev);
	struct ctf_out_file *file;
	size_t before;

	if (!cl)
		return error_no_memory(e);
	if (!s->started) {
		s->started = true;
		s->clock = ev->lane->clock;
		if (ev->lane->source)
			s->source = ev->lane->source->format;
	}
	file = ctf_file_of(s, key, stream, ev->lane, ev->time, e);
	if (!file || (ev->type->kind == KIND_GAP && ctf_count_gap(s, file, ev, e)) ||
	    ctf_event_begin(s, file, cl->id, ev->time, e))
		return -1;
	/* the innermost function of a sample is its name */
	s->stacks += stack && (!ev->stack || dictionary_stack_parent(en->dictionary, stack));
	before = file->packet.size;
	if (ctf_put_event(s, &file->packet, cl, ev))
		return error_no_memory(e);
	return ctf_event_end(s, file, file->packet.size - before, e);
}

/* --- calls of calls_restore --- */

/* With on_forget, calls that are open before too are not restored. */
static void ctf_forget(void *ctx, struct stack *stack, const struct frame *f, void *data)
{
	(void)ctx;
	(void)stack;
	(void)f;
	(void)data;
}

static int ctf_restore(void *ctx, const struct event *enter, const struct call *call)
{
	struct ctf_encoder *s = ctx;

	return restored_calls_add(&s->restored, s->paired, enter, call);
}

/* Write the enters of the open calls. */
static int ctf_restored(void *ctx, bool last)
{
	struct encoding *en = ctx;
	struct ctf_encoder *s = en->state;
	size_t n = restored_calls_sort(&s->restored);

	(void)last;
	for (size_t i = 0; i < n; i++)
		if (encode_ctf_event(en, &s->restored.list[i].enter, en->calls->restored.error))
			return -1;
	return 0;
}

/* --- the encoder --- */

static int encode_ctf_begin(struct encoding *en, struct error *e)
{
	struct ctf_encoder *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	if (en->options->file_version > 2)
		return error_set(e, NULL, NO_OFFSET, "--file-version of ctf is 1.8 or 2");
	s->json = en->options->file_version == 2;
	s->paired = en->calls;
	en->calls->on_forget = ctf_forget;
	en->calls->on_restore = ctf_restore;
	en->calls->restored.done = ctf_restored;
	en->calls->on_restore_ctx = s;
	en->calls->restored.ctx = en;
	attributes_init(&s->attributes, en->dictionary);
	s->attributes.mark_strings = true;
	s->bytes.spills = s->compound.spills = true;
	s->attributes.members = true;
	s->attributes.quote_numbers = en->options->flags & ENCODE_QUOTE_NUMBERS;
	s->ids.zero = true;
	location_names_init(&s->locations, en->dictionary, ctf_put_string);
	location_names_init_strings(&s->texts, en->dictionary, ctf_put_string);
	if (tree_output_open(&s->files.tree, en->options->output, "ctf", e))
		return -1;
	s->open = true;
	/* the first member is moved to its path last: without the metadata there is no trace */
	return tree_output_member(&s->files.tree, "metadata", 8, &s->metadata, e);
}

/* Make the UUID from the stream's id, so that the same input gives the same UUID. */
static int ctf_head(struct encoding *en, const struct head *h, struct error *e)
{
	struct ctf_encoder *s = en->state;
	/* parts are traces of their own: their packets count from 0 */
	const struct clip *clip = en->options->clip;
	uint64_t id = h->stream_id + hash_u64(clip ? clip->part.number : 0);

	(void)e;
	if (get_u64(s->files.uuid))
		return 0;
	put_u64(s->files.uuid, hash_u64(id) | 1);
	put_u64(s->files.uuid + 8, hash_u64(id + 1));
	/* version 8: vendor-specific */
	s->files.uuid[6] = (uint8_t)((s->files.uuid[6] & 0x0f) | 0x80);
	s->files.uuid[8] = (uint8_t)((s->files.uuid[8] & 0x3f) | 0x80);
	return 0;
}

static int encode_ctf_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct ctf_encoder *s = en->state;

	return attributes_meta(&s->attributes, m) ? error_no_memory(e) : 0;
}

static uint64_t ctf_size(const struct encoding *en)
{
	const struct ctf_encoder *s = en->state;

	return s->files.tree.total + s->files.pending;
}

static int encode_ctf_end(struct encoding *en, struct error *e)
{
	struct ctf_encoder *s = en->state;

	if (ctf_files_flush(s, e))
		return -1;
	s->bytes.size = 0;
	if (ctf_put_metadata(s, &s->bytes))
		return error_no_memory(e);
	if (tree_output_put(&s->files.tree, s->metadata, s->bytes.data, s->bytes.size, e))
		return -1;
	if (!(en->options->flags & ENCODE_QUIET)) {
		location_names_report(&s->locations);
		remark_count(
			s->stacks,
			"{stack was|stacks were} left out: an event has no stack, a sample only "
			"its innermost function");
		remark_count(s->ids.renamed, THREAD_IDS_RENAMED);
	}
	return tree_output_finish(&s->files.tree, e);
}

static void ctf_free(struct encoding *en)
{
	struct ctf_encoder *s = en->state;

	if (!s)
		return;
	for (size_t i = 0; i < s->files.count; i++)
		buffer_free(&s->files.list[i].packet);
	free(s->files.list);
	free(s->files.first);
	if (s->open)
		tree_output_close(&s->files.tree);
	for (size_t i = 0; i < s->classes.count; i++)
		free(s->classes.list[i].fields);
	free(s->classes.list);
	intern_free(&s->classes.keys);
	buffer_free(&s->classes.text);
	buffer_free(&s->classes.arguments);
	free(s->classes.locations);
	attributes_free(&s->attributes);
	location_names_free(&s->locations);
	location_names_free(&s->texts);
	buffer_free(&s->bytes);
	buffer_free(&s->compound);
	thread_ids_free(&s->ids);
	open_calls_free(&s->calls);
	free(s->restored.list);
	free(s->lanes);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_ctf = {
	.name = "ctf",
	.purpose = "Common Trace Format 1.8 or 2, for babeltrace, Trace Compass",
	.output = ENCODER_TREE,
	.report = true,
	.counts_calls = true,
	.begin = encode_ctf_begin,
	.head = ctf_head,
	.event = encode_ctf_event,
	.meta = encode_ctf_meta,
	.end = encode_ctf_end,
	.size = ctf_size,
	.free = ctf_free,
};
