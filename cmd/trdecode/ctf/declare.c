/*
 * declare.c - declares an event class in the stream: its type, fields and names
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/ctf/ctf.h"

/* Report which members the stream leaves out of a definition. */
static void report_members(const struct ctf *ctf, uint32_t n, const char *what, const char *name)
{
	if (n > WRITER_MEMBERS)
		warn(ctf->input->name, NO_OFFSET,
		     "'%.100s' has %" PRIu32 " %s: those after the first %d are left out", name, n,
		     what, WRITER_MEMBERS);
}

/* Declare the labels of an enum. */
static uint32_t declare_labels(const struct ctf *ctf, const struct ctf_part *p)
{
	struct writer *w = ctf->w;
	struct definition_entry d = {.kind = p->type->flags ? DEFINITION_BITMASK : DEFINITION_ENUM,
				     .flags = p->is_signed || p->type->flags ? 0
									     : DEFINITION_UNSIGNED};
	struct member_entry *members;
	uint32_t id;

	for (const struct ctf_label *l = p->type->labels; l; l = l->next)
		d.nmembers++;
	members = calloc(d.nmembers + 1, sizeof *members);
	if (!members)
		return 0;
	d.nmembers = 0;
	for (const struct ctf_label *l = p->type->labels; l; l = l->next)
		members[d.nmembers++] = (struct member_entry){
			writer_text(w, l->name), (uint64_t)l->first, (uint64_t)l->last};
	d.members = members;
	report_members(ctf, d.nmembers, "labels", p->name);
	id = writer_definition(w, &d);
	free(members);
	return id;
}

/* Declare the names of members. context: the first members are of a packet's context; leave out
 * those that events do not repeat. */
static uint32_t declare_members(const struct ctf *ctf, const char *name,
				const struct ctf_part *const *first, int n, bool context)
{
	struct writer *w = ctf->w;
	struct member_entry *members = NULL;
	size_t count = 0;
	uint32_t id;

	for (int i = 0; i < n; i++)
		for (const struct ctf_part *p = first[i]; p; p = p->next)
			count += !(context && !i && ctf_is_own(p));
	members = calloc(count + 1, sizeof *members);
	if (!members)
		return 0;
	report_members(ctf, (uint32_t)count, "fields", name);
	count = 0;
	for (int i = 0; i < n; i++)
		for (const struct ctf_part *p = first[i]; p; p = p->next)
			if (!(context && !i && ctf_is_own(p)))
				members[count++].name = writer_text(w, ctf_bare_name(p->name));
	id = writer_definition(w, &(struct definition_entry){.kind = DEFINITION_STRUCT,
							     .nmembers = (uint32_t)count,
							     .members = members});
	free(members);
	return id;
}

/* Declare the definitions that the values of a part and of its members name, for all segments, as
 * the types are. */
static int declare_values(struct ctf_class *c, struct ctf_part *p)
{
	const struct ctf *ctf = c->stream->trace->ctf;
	struct writer *w = ctf->w;
	const struct ctf_part *children = p->children;

	if (p->kind == CTF_ENUM && !p->definition) {
		p->definition = declare_labels(ctf, p);
		if (!p->definition || writer_announce(w, ENTRY_DEFINITION, p->definition))
			return -1;
	}
	if (p->kind == CTF_STRUCT && !p->definition) {
		p->definition = declare_members(ctf, p->name, &children, 1, false);
		if (!p->definition || writer_announce(w, ENTRY_DEFINITION, p->definition))
			return -1;
	}
	for (struct ctf_part *m = p->children; m; m = m->next) {
		if (p->kind == CTF_VARIANT && !m->option) {
			struct member_entry name = {.name = writer_text(w, ctf_bare_name(m->name))};

			m->option = writer_definition(
				w, &(struct definition_entry){.name = writer_text(w, "variant"),
							      .kind = DEFINITION_STRUCT,
							      .nmembers = 1,
							      .members = &name});
			if (!m->option || writer_announce(w, ENTRY_DEFINITION, m->option))
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
		return p->type->flags ? FIELD_BITMASK : FIELD_ENUM;
	if (p->kind == CTF_STRING || p->kind == CTF_SEQUENCE || p->type->unit)
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
		if (c->call.kind == CALL_TEXT)
			f->role = f->offset == c->string	   ? ROLE_ROW
				  : f->offset == c->call.arguments ? ROLE_ARGUMENTS
								   : ROLE_NONE;
		if (c->stream->trace->own && ctf_is_thread(p))
			f->role = ROLE_ROW;
		return 0;
	}
	f->where = WHERE_FIXED;
	f->offset = *at;
	f->size = p->kind == CTF_ARRAY ? number->size / 8 : ctf_bytes(number->size);
	f->count = p->kind == CTF_ARRAY ? (uint32_t)p->count : 0;
	*at += f->size * (f->count ? f->count : 1);
	if (number->type->base == 8)
		f->type_name = writer_text(w, "octal");
	if (p->kind == CTF_ENUM) {
		if (!p->definition)
			p->definition = declare_labels(c->stream->trace->ctf, p);
		f->definition = p->definition;
	}
	if ((int32_t)f->offset == c->call.depth.at || (c->stream->trace->own && ctf_is_thread(p)))
		f->role = ROLE_ROW;
	if (c->numbered && (int32_t)f->offset == c->call.number.at)
		f->role = ROLE_CALL;
	if ((int32_t)f->offset == c->call.location.at && c->call.kind == CALL_ADDRESS)
		f->role = ROLE_ADDRESS;
	return 0;
}

/* Describe the class, as in "cpu 2 - 3": "cpu" if the packet records only a CPU, else how many
 * fields of its context events repeat; then how many fields each scope has, "-" if not declared. */
static void describe_class(const struct ctf_class *c, char *text, size_t size)
{
	const struct ctf_stream *stream = c->stream;
	size_t at =
		(size_t)(stream->carried ? snprintf(text, size, "%" PRIu32, stream->carried)
					 : snprintf(text, size, stream->cpu_alone ? "cpu" : "-"));

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

static uint32_t plain_flags(const struct ctf_class *c)
{
	return (c->nstrings ? TYPE_TAIL : 0) | (c->has_arguments ? TYPE_VALUES : 0) |
	       (c->per_cpu ? TYPE_PER_CPU : 0) | (c->inner ? TYPE_INNER : 0) |
	       (c->of_kernel ? TYPE_KERNEL : 0) |
	       (c->numbered		? TYPE_CALL_NUMBER
		: c->call.depth.at >= 0 ? TYPE_DEPTH
					: 0);
}

/* Declare the location of a class whose data are values: a function whose arguments are the parts
 * from first[1] on, and in first[0] the fields of the packet's context, if events repeat these. */
static int declare_location(struct ctf_class *c, uint32_t name, const struct ctf_part **first)
{
	struct ctf *ctf = c->stream->trace->ctf;
	struct location_entry location = {.name = name};
	struct ctf_part *carried =
		c->stream->carried ? c->layout.scope[SCOPE_PACKET_CONTEXT]->children : NULL;

	first[0] = carried;
	for (struct ctf_part *p = carried; p; p = p->next)
		if (declare_values(c, p))
			return -1;
	if (c->call.kind == CALL_NAMED)
		location.name = writer_text(ctf->w, ctf_calls_name(c));
	location.arguments =
		declare_members(ctf, c->declared->name, first, 1 + CTF_DATA_SCOPES, true);
	c->fixed_size = c->has_stack ? 4 : 0;
	c->location = writer_location(ctf->w, &location);
	return location.arguments && c->location ? 0 : -1;
}

int ctf_class_declare(struct ctf_class *c)
{
	struct ctf_trace *t = c->stream->trace;
	struct writer *w = t->ctf->w;
	struct field_entry fields[CTF_FIELDS] = {0};
	const struct ctf_part *first[1 + CTF_DATA_SCOPES] = {0};
	const char *group = ctf_calls_group(c);
	struct type_entry type = {.source = t->source,
				  .name = writer_text(w, c->declared->name),
				  .group = group ? writer_text(w, group) : 0,
				  .kind = (uint8_t)c->kind,
				  .native = (uint32_t)c->declared->id,
				  .fields = fields};
	uint32_t at = 0, string = 0;
	char text[64];

	describe_class(c, text, sizeof text);
	type.declaration = writer_text(w, text);
	for (int i = 0; i < CTF_DATA_SCOPES; i++) {
		struct ctf_part *s = c->layout.scope[ctf_data_scopes[i]];

		first[1 + i] = s ? s->children : NULL;
		for (struct ctf_part *p = s ? s->children : NULL; p; p = p->next)
			if (c->has_arguments && p->kind == CTF_STRING)
				continue;
			else if (c->plain)
				declare_field(c, p, &fields[type.nfields++], &at, &string);
			else if (declare_values(c, p))
				return -1;
	}
	if (c->plain) {
		c->fixed_size = (uint32_t)align_up(at, 4);
		type.flags = plain_flags(c);
		type.fixed_size = c->fixed_size;
	} else {
		type.flags = TYPE_TAIL | TYPE_VALUES;
		if (c->has_stack) {
			type.nfields = 1;
			fields[0] = (struct field_entry){.name = writer_text(w, "stack"),
							 .kind = FIELD_UINT,
							 .role = ROLE_STACK,
							 .where = WHERE_FIXED,
							 .size = 4};
		}
		if (declare_location(c, type.name, first))
			return -1;
		type.fixed_size = c->fixed_size;
	}
	c->type = writer_type(w, &type);
	return c->type ? 0 : -1;
}
