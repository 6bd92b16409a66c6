/*
 * classes.c - declare classes of events
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/convert/convert.h"
#include "common/formats/ctf.h"
#include "common/util/utf8.h"
#include "common/value/json.h"
#include "cmd/trencode/ctf/ctf.h"
#include "cmd/trencode/convert/kernel_messages.h"

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

int ctf_quoted(struct buffer *b, const char *p, size_t n)
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

/* Append the name of a field, which no other field of the event has: for TSDL a valid identifier,
 * whose leading '_' readers drop; for JSON the name itself. */
static int put_identifier(struct buffer *b, struct intern *used, const char *name, size_t n,
			  bool json)
{
	struct buffer id = {0};
	char number[16];
	uint32_t had = used->count;
	int r = json ? convert_name_no_nul(&id, name, n) : buffer_u8(&id, '_');

	for (size_t i = 0; !r && !json && i < n; i++)
		r = buffer_u8(&id, isalnum((unsigned char)name[i]) ? (uint8_t)name[i] : '_');
	r = r || intern(used, id.data, id.size) == INTERN_NONE;
	for (unsigned i = 2; !r && used->count == had; i++) {
		size_t size = id.size;

		snprintf(number, sizeof number, "_%u", i);
		r = put_text(&id, number) || intern(used, id.data, id.size) == INTERN_NONE;
		if (used->count == had)
			id.size = size;
	}
	r = r || (json ? json_append_string(b, (const char *)id.data, id.size)
		       : buffer_append(b, id.data, id.size));
	buffer_free(&id);
	return r ? -1 : 0;
}

/* The declaration of a class that is being written. */
struct declaration {
	struct buffer *text;
	struct intern *used; /* names of fields */
	bool json;
};

static int declare_field(const struct declaration *d, const char *type, const char *name, size_t n)
{
	struct buffer *b = d->text;

	if (d->json)
		return put_text(b, b->size && b->data[b->size - 1] != '[' ? "," : "") ||
				       put_text(b, "\n{\"name\":") ||
				       put_identifier(b, d->used, name, n, true) ||
				       buffer_printf(b, ",\"field-class\":\"%s\"}", type)
			       ? -1
			       : 0;
	return put_text(b, "\t\t") || put_text(b, type) || buffer_u8(b, ' ') ||
			       put_identifier(b, d->used, name, n, false) || put_text(b, ";\n")
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
static int declare_uri(const struct declaration *d, const struct ctf_class *cl,
		       const struct type *t)
{
	struct buffer *b = d->text;
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
	    put_text(b, d->json ? ",\"attributes\":{\"babeltrace.org,2020\":{\"emf-uri\":"
				: "\tmodel.emf.uri = ") ||
	    ctf_quoted(b, (const char *)uri.data, uri.size) || put_text(b, d->json ? "}}" : ";\n");
	buffer_free(&uri);
	return r ? -1 : 0;
}

/* Declare the fields that trdecode knows by their names. Another field of the event that has such a
 * name is renamed, even if the class does not have the known field. */
static int declare_known_fields(const struct declaration *d, const struct ctf_class *cl,
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
	struct declaration absent = {&unused, d->used, d->json};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof known / sizeof *known; i++)
		if (known[i].present || role_of(cl, t))
			r = declare_field(known[i].present ? d : &absent, known[i].type,
					  known[i].name, strlen(known[i].name));
	buffer_free(&unused);
	return r;
}

/* Declare the fields of the type itself. */
static int declare_type_fields(const struct declaration *d, struct ctf_class *cl,
			       const struct type *t)
{
	char type[32];

	for (uint32_t i = 0; i < t->nfields && t->kind != KIND_GAP; i++) {
		const struct field *f = &t->fields[i];
		struct ctf_field cf = form_of(f);

		/* the number of a stack has no meaning outside of the stream */
		if (!attribute_wanted(f) || field_is_stack(f))
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
		if (declare_field(d, type, f->name.text, f->name.size))
			return -1;
	}
	if (cl->message && declare_field(d, "string", "message", 7))
		return -1;
	if (t->kind == KIND_GAP &&
	    (declare_field(d, "string", "reason", 6) || declare_field(d, "u64", "count", 5) ||
	     declare_field(d, "string", "unit", 4) || declare_field(d, "string", "message", 7) ||
	     declare_field(d, "string", "file", 4) || declare_field(d, "u64", "offset", 6)))
		return -1;
	return 0;
}

static int declare_class(struct ctf_classes *c, struct ctf_class *cl, struct intern *used,
			 const struct event *ev, enum ctf_stream_class stream)
{
	const struct type *t = ev->type;
	struct declaration d = {&c->text, used, c->json};
	struct buffer *b = &c->text;

	if (buffer_printf(b,
			  c->json ? CTF_FRAGMENT "event-record-class\",\"id\":%u,"
						 "\"data-stream-class-id\":%d,\"name\":"
				  : "event {\n\tid = %u;\n\tstream_id = %d;\n\tname = ",
			  cl->id, stream) ||
	    ctf_quoted(b, t->name.text, t->name.size) || put_text(b, c->json ? "" : ";\n") ||
	    declare_uri(&d, cl, t) ||
	    put_text(b, c->json ? ",\n\"payload-field-class\":" CTF_STRUCTURE
				: "\tfields := struct {\n"))
		return -1;
	if (declare_known_fields(&d, cl, t) || declare_type_fields(&d, cl, t))
		return -1;
	return put_text(b, c->json ? "]}}\n" : "\t};\n};\n\n");
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
	if (ARRAY_GROW(c->classes, c->capacity, c->count))
		return NULL;
	classes = c->classes;
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
	uint8_t *known;
	const struct location *l = dictionary_location(d, location);
	const struct definition *names = l ? l->arguments : NULL;
	struct buffer json = {0};
	struct text_ref name;
	int r;

	if (ARRAY_REACH(c->locations, c->nlocations, location))
		return -1;
	known = c->locations;
	if (known[location] || !names || !names->count)
		return 0;
	known[location] = 1;
	name = dictionary_location_name(d, location);
	r = buffer_u8(&json, '[') || json_append_string(&json, name.text, name.size);
	for (uint32_t i = 0; !r && i < names->count; i++)
		r = buffer_u8(&json, ',') || json_append_string(&json, names->members[i].name.text,
								names->members[i].name.size);
	r = r || buffer_u8(&json, ']') ||
	    buffer_printf(&c->arguments,
			  c->json ? ",\n\"" CTF_ARGUMENTS "%zu\":" : "\t" CTF_ARGUMENTS "%zu = ",
			  c->narguments++) ||
	    ctf_quoted(&c->arguments, (const char *)json.data, json.size) ||
	    put_text(&c->arguments, c->json ? "" : ";\n");
	buffer_free(&json);
	return r ? -1 : 0;
}
