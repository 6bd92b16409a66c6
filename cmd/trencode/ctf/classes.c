/*
 * classes.c - declare classes of events, and write the metadata
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/convert/convert.h"
#include "common/formats/ctf.h"
#include "common/util/utf8.h"
#include "common/value/json.h"
#include "common/util/version.h"
#include "cmd/trencode/ctf/ctf.h"
#include "cmd/trencode/convert/kernel_messages.h"

#define SECOND 1000000000ll

void ctf_classes_free(struct ctf_classes *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->classes[i].fields);
	free(c->classes);
	intern_free(&c->keys);
	buffer_free(&c->text);
	buffer_free(&c->arguments);
	free(c->locations);
}

static int put_text(struct buffer *b, const char *s)
{
	return buffer_append(b, s, strlen(s));
}

/* Append a text in quotes. Control characters become '?', as readers disagree on their escapes. */
static int put_quoted(struct buffer *b, const char *p, size_t n)
{
	struct buffer clean = {0};
	struct buffer escaped = {0};
	int r = convert_name_no_nul(&escaped, p, n) ||
		(escaped.size && utf8_append(&clean, (const char *)escaped.data, escaped.size)) ||
		buffer_u8(b, '"');

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

static struct ctf_field form_of(const struct field *f)
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

/* Append a valid TSDL identifier that no other field of the event has; readers drop the leading
 * '_'. */
static int put_identifier(struct buffer *b, struct intern *used, const char *name, size_t n)
{
	struct buffer id = {0};
	char number[16];
	uint32_t had = used->count;
	int r = buffer_u8(&id, '_');

	for (size_t i = 0; !r && i < n; i++)
		r = buffer_u8(&id, isalnum((unsigned char)name[i]) ? (uint8_t)name[i] : '_');
	r = r || intern(used, id.data, id.size) == INTERN_NONE;
	for (unsigned i = 2; !r && used->count == had; i++) {
		size_t size = id.size;

		snprintf(number, sizeof number, "_%u", i);
		r = put_text(&id, number) || intern(used, id.data, id.size) == INTERN_NONE;
		if (used->count == had)
			id.size = size;
	}
	r = r || buffer_append(b, id.data, id.size);
	buffer_free(&id);
	return r ? -1 : 0;
}

static int declare_field(struct buffer *b, struct intern *used, const char *type, const char *name,
			 size_t n)
{
	return put_text(b, "\t\t") || put_text(b, type) || buffer_u8(b, ' ') ||
			       put_identifier(b, used, name, n) || put_text(b, ";\n")
		       ? -1
		       : 0;
}

/* Return the role of the events by which trdecode reads them back; NULL: none is needed. */
static const char *role_of(const struct ctf_class *cl, const struct type *t)
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
static int declare_uri(struct buffer *b, const struct ctf_class *cl, const struct type *t)
{
	const char *role = role_of(cl, t);
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
	    put_text(b, "\tmodel.emf.uri = ") || put_quoted(b, (const char *)uri.data, uri.size) ||
	    put_text(b, ";\n");
	buffer_free(&uri);
	return r ? -1 : 0;
}

/* Declare the fields that trdecode knows by their names. Another field of the event that has such a
 * name is renamed, even if the class does not have the known field. */
static int declare_known_fields(struct buffer *b, struct intern *used, const struct ctf_class *cl,
				const struct type *t)
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
		if (known[i].present || role_of(cl, t))
			r = declare_field(known[i].present ? b : &unused, used, known[i].type,
					  known[i].name, strlen(known[i].name));
	buffer_free(&unused);
	return r;
}

static int declare_class(struct ctf_classes *c, struct ctf_class *cl, struct intern *used,
			 const struct event *ev, enum ctf_stream_class stream)
{
	const struct type *t = ev->type;
	struct buffer *b = &c->text;
	char type[32];

	if (buffer_printf(b, "event {\n\tid = %u;\n\tstream_id = %d;\n\tname = ", cl->id, stream) ||
	    put_quoted(b, t->name.text, t->name.size) || put_text(b, ";\n") ||
	    declare_uri(b, cl, t) || put_text(b, "\tfields := struct {\n"))
		return -1;
	if (declare_known_fields(b, used, cl, t))
		return -1;
	for (uint32_t i = 0; i < t->nfields && t->kind != KIND_GAP; i++) {
		const struct field *f = &t->fields[i];
		struct ctf_field cf = form_of(f);

		if (!attribute_wanted(f))
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
		if (declare_field(b, used, type, f->name.text, f->name.size))
			return -1;
	}
	if (cl->message && declare_field(b, used, "string", "message", 7))
		return -1;
	if (t->kind == KIND_GAP && (declare_field(b, used, "string", "reason", 6) ||
				    declare_field(b, used, "u64", "count", 5) ||
				    declare_field(b, used, "string", "unit", 4) ||
				    declare_field(b, used, "string", "message", 7) ||
				    declare_field(b, used, "string", "file", 4) ||
				    declare_field(b, used, "u64", "offset", 6)))
		return -1;
	return put_text(b, "\t};\n};\n\n");
}

const struct ctf_class *ctf_class(struct ctf_classes *c, const struct event *ev,
				  enum ctf_stream_class stream)
{
	bool call = ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE;
	bool named = call || ev->location;
	uint32_t key[2] = {ev->type->number, (uint32_t)stream << 1 | named}, number;
	struct ctf_class *classes, *cl;
	struct intern used = {0};
	int r;

	number = intern(&c->keys, key, sizeof key);
	if (number == INTERN_NONE)
		return NULL;
	if (number < c->count)
		return &c->classes[number];
	classes = array_grow(c->classes, &c->capacity, c->count, sizeof(*classes));
	if (!classes)
		return NULL;
	c->classes = classes;
	cl = &classes[c->count];
	*cl = (struct ctf_class){.id = c->ids[stream]++,
				 .named = named,
				 .depth = call && ev->type->flags & TYPE_DEPTH,
				 .call = call && ev->type->flags & TYPE_CALL_NUMBER,
				 .values = ev->type->flags & TYPE_VALUES,
				 .message = kernel_messages_has(ev->type)};
	cl->fields = calloc(ev->type->nfields + 1, sizeof(*cl->fields));
	if (!cl->fields)
		return NULL;
	c->count++;
	r = declare_class(c, cl, &used, ev, stream);
	intern_free(&used);
	return r ? NULL : cl;
}

int ctf_location(struct ctf_classes *c, struct dictionary *d, uint32_t location)
{
	uint8_t *known = array_reach(c->locations, &c->nlocations, location, sizeof *known);
	const struct location *l = dictionary_location(d, location);
	const struct definition *names = l ? l->arguments : NULL;
	struct buffer json = {0};
	struct text_ref name;
	int r;

	if (!known)
		return -1;
	c->locations = known;
	if (known[location] || !names || !names->count)
		return 0;
	known[location] = 1;
	name = dictionary_location_name(d, location);
	r = buffer_u8(&json, '[') || json_append_string(&json, name.text, name.size);
	for (uint32_t i = 0; !r && i < names->count; i++)
		r = buffer_u8(&json, ',') || json_append_string(&json, names->members[i].name.text,
								names->members[i].name.size);
	r = r || buffer_u8(&json, ']') ||
	    buffer_printf(&c->arguments, "\t" CTF_ARGUMENTS "%zu = ", c->narguments++) ||
	    put_quoted(&c->arguments, (const char *)json.data, json.size) ||
	    put_text(&c->arguments, ";\n");
	buffer_free(&json);
	return r ? -1 : 0;
}

/* --- the metadata --- */

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
	return put_text(
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

static int put_clock(struct buffer *b, const struct clock *clock)
{
	bool wall = clock && clock->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL);
	int64_t offset = clock && clock->flags & CLOCK_HAS_WALL ? clock->wall : 0;
	int64_t seconds = offset / SECOND, rest = offset % SECOND;

	if (rest < 0) {
		seconds--;
		rest += SECOND;
	}
	if (put_text(b, "clock {\n\tname = \"trace\";\n\tdescription = ") ||
	    put_quoted(b, clock ? clock->name.text : "", clock ? clock->name.size : 0))
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

int ctf_metadata(const struct ctf_classes *c, const uint8_t uuid[16], const struct clock *clock,
		 const struct text_ref *source, struct buffer *to)
{
	if (put_text(to, "/* CTF 1.8 */\n\n") || put_integers(to) ||
	    put_text(to, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"") ||
	    put_uuid(to, uuid) ||
	    put_text(to,
		     "\";\n\tbyte_order = le;\n\tpacket.header := struct { u32 magic; u8 uuid[16]; "
		     "u32 stream_id; };\n};\n\nenv {\n\ttracer_name = \"trencode\";\n"
		     "\ttracer_version = \"" TRUTILS_VERSION "\";\n\tsource = ") ||
	    put_quoted(to, source ? source->text : "", source ? source->size : 0) ||
	    put_text(to, ";\n") ||
	    (c->arguments.size && buffer_append(to, c->arguments.data, c->arguments.size)) ||
	    put_text(to, "};\n\n") || put_clock(to, clock))
		return -1;
	for (int i = 0; i < CTF_STREAM_CLASSES; i++)
		if (c->ids[i] && put_stream(to, (enum ctf_stream_class)i))
			return -1;
	return buffer_append(to, c->text.data, c->text.size);
}
