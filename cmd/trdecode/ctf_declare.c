/*
 * ctf_declare.c - what the stream is told of a kind of event: its type, fields and names
 */
#include <stdio.h>
#include <stdlib.h>

#include "ctf.h"

enum { LABELS_MOST = 1024 };

/* A name for each number that has one; of long ranges their ends. */
static uint32_t declare_labels(struct writer *w, const struct ctf_part *p)
{
	struct member_entry *members = calloc(LABELS_MOST, sizeof *members);
	uint32_t n = 0, id;

	if (!members)
		return 0;
	for (const struct ctf_label *l = p->type->labels; l; l = l->next) {
		uint64_t span = (uint64_t)l->last - (uint64_t)l->first;
		uint32_t name = writer_text(w, l->name);

		for (uint64_t i = 0; n < LABELS_MOST && i <= (span < 256 ? span : 1); i++) {
			uint64_t at = span < 256 ? i : i * span;

			members[n++] = (struct member_entry){name, (uint64_t)l->first + at,
							     (uint64_t)l->first + at};
		}
	}
	id = writer_definition(w, &(struct definition_entry){.kind = DEFINITION_ENUM,
							     .nmembers = n,
							     .members = members});
	free(members);
	return id;
}

static uint32_t declare_members(struct writer *w, const struct ctf_part *const *first, int n)
{
	struct member_entry *members = NULL;
	size_t count = 0;
	uint32_t id;

	for (int i = 0; i < n; i++)
		for (const struct ctf_part *p = first[i]; p; p = p->next)
			count++;
	members = calloc(count + 1, sizeof *members);
	if (!members)
		return 0;
	count = 0;
	for (int i = 0; i < n; i++)
		for (const struct ctf_part *p = first[i]; p; p = p->next)
			members[count++].name = writer_text(w, ctf_bare_name(p->name));
	id = writer_definition(w, &(struct definition_entry){.kind = DEFINITION_STRUCT,
							     .nmembers = (uint32_t)count,
							     .members = members});
	free(members);
	return id;
}

/* Rows of the class may name this definition. */
static int use(struct ctf_class *c, uint32_t definition)
{
	uint32_t *d;

	if (!definition)
		return 0;
	d = array_grow(c->definitions, &c->definitions_capacity, c->ndefinitions, sizeof *d);
	if (!d)
		return -1;
	c->definitions = d;
	d[c->ndefinitions++] = definition;
	return 0;
}

/* Definitions that the values of a part name, those of its members too. -1: memory. */
static int declare_values(struct ctf_class *c, struct ctf_part *p)
{
	struct writer *w = c->stream->trace->ctf->w;
	const struct ctf_part *children = p->children;

	if (p->kind == CTF_ENUM && p->type->labels && !p->definition) {
		p->definition = declare_labels(w, p);
		if (!p->definition)
			return -1;
	}
	if (p->kind == CTF_STRUCT && !p->definition) {
		p->definition = declare_members(w, &children, 1);
		if (!p->definition)
			return -1;
	}
	if (use(c, p->definition) || use(c, p->option))
		return -1;
	for (struct ctf_part *m = p->children; m; m = m->next) {
		if (p->kind == CTF_VARIANT && !m->option) {
			struct member_entry name = {.name = writer_text(w, ctf_bare_name(m->name))};

			m->option = writer_definition(
				w, &(struct definition_entry){.name = writer_text(w, "variant"),
							      .kind = DEFINITION_STRUCT,
							      .nmembers = 1,
							      .members = &name});
			if (!m->option)
				return -1;
		}
		if (declare_values(c, m))
			return -1;
	}
	return 0;
}

static enum field_kind kind_of(const struct ctf_part *p)
{
	if (p->kind == CTF_FLOAT)
		return FIELD_FLOAT;
	if (p->kind == CTF_ENUM)
		return FIELD_ENUM;
	if (p->kind == CTF_STRING || p->kind == CTF_SEQUENCE)
		return FIELD_STRING;
	if (p->kind == CTF_ARRAY && p->children->type->text)
		return FIELD_CHAR;
	if (p->kind == CTF_ARRAY)
		p = p->children;
	if (p->type->base == 16)
		return FIELD_HEX;
	return p->is_signed ? FIELD_INT : FIELD_UINT;
}

static uint32_t declare_field(struct ctf_class *c, struct ctf_part *p, struct field_entry *f,
			      uint32_t *at, uint32_t *string)
{
	struct writer *w = c->stream->trace->ctf->w;
	const struct ctf_part *number = p->kind == CTF_ARRAY ? p->children : p;

	f->name = writer_text(w, ctf_bare_name(p->name));
	f->kind = (uint8_t)kind_of(p);
	if (f->kind == FIELD_STRING) {
		f->where = WHERE_STRING;
		f->offset = (*string)++;
		return 0;
	}
	f->where = WHERE_FIXED;
	f->offset = *at;
	f->size = p->kind == CTF_ARRAY ? number->size / 8 : ctf_bytes(number->size);
	f->count = p->kind == CTF_ARRAY ? (uint32_t)p->type->count : 0;
	*at += f->size * (f->count ? f->count : 1);
	if (number->type->base == 8)
		f->type_name = writer_text(w, "octal");
	if (p->kind == CTF_ENUM && p->type->labels) {
		if (!p->definition)
			p->definition = declare_labels(w, p);
		f->definition = p->definition;
	}
	if ((int32_t)f->offset == c->call.at && c->call_kind == CALL_ADDRESS)
		f->role = ROLE_ADDRESS;
	return 0;
}

/* "cpu 2 - 3": whether the packet tells a CPU, then how many fields each scope has, "-" where it
 * is not declared. */
static void describe(const struct ctf_class *c, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "%s", c->stream->cpu_alone ? "cpu" : "-");

	for (int i = 0; i < CTF_DATA_SCOPES; i++) {
		const struct ctf_part *s = c->layout.scope[ctf_data_scopes[i]];
		unsigned n = 0;

		for (const struct ctf_part *p = s ? s->children : NULL; p; p = p->next)
			n++;
		if (s)
			at += (size_t)snprintf(text + at, size - at, " %u", n);
		else
			at += (size_t)snprintf(text + at, size - at, " -");
	}
}

int ctf_class_declare(struct ctf_class *c)
{
	struct ctf_trace *t = c->stream->trace;
	struct writer *w = t->ctf->w;
	struct field_entry fields[CTF_FIELDS] = {0};
	const struct ctf_part *first[CTF_DATA_SCOPES] = {0};
	struct type_entry type = {.source = t->source,
				  .name = writer_text(w, c->declared->name),
				  .kind = (uint8_t)c->kind,
				  .native = (uint32_t)c->declared->id,
				  .fields = fields};
	uint32_t at = 0, string = 0;
	char text[64];

	describe(c, text, sizeof text);
	type.declaration = writer_text(w, text);
	for (int i = 0; i < CTF_DATA_SCOPES; i++) {
		struct ctf_part *s = c->layout.scope[ctf_data_scopes[i]];

		first[i] = s ? s->children : NULL;
		for (struct ctf_part *p = s ? s->children : NULL; p; p = p->next)
			if (c->plain)
				declare_field(c, p, &fields[type.nfields++], &at, &string);
			else if (declare_values(c, p))
				return -1;
	}
	if (c->plain) {
		c->fixed_size = (uint32_t)align_up(at, 4);
		type.flags = (c->nstrings ? TYPE_TAIL : 0) | (c->per_cpu ? TYPE_PER_CPU : 0) |
			     (c->inner ? TYPE_INNER : 0) | (c->of_kernel ? TYPE_KERNEL : 0) |
			     (c->depth.at >= 0 ? TYPE_DEPTH : 0);
		type.fixed_size = c->fixed_size;
	} else {
		struct place_entry place = {.name = type.name};

		type.flags = TYPE_TAIL | TYPE_VALUES;
		place.arguments = declare_members(w, first, CTF_DATA_SCOPES);
		c->fixed_size = 0;
		c->place = writer_place(w, &place);
		if (!place.arguments || !c->place)
			return -1;
	}
	c->type = writer_type(w, &type);
	return c->type ? 0 : -1;
}
