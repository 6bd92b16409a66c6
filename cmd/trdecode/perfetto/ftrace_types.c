/*
 * ftrace_types.c - the types of the events of ftrace: by the table of numbers, by descriptions in
 * the trace, and those of generic events, which name their fields
 */
#include <stdlib.h>

#include "cmd/trdecode/perfetto/ftrace.h"
#include "cmd/trdecode/perfetto/ftrace_table.h"

/* DescriptorProto, FieldDescriptorProto */
enum {
	MESSAGE_NAME = 1,
	MESSAGE_FIELD = 2,
	FIELD_NAME = 1,
	FIELD_NUMBER = 3,
	FIELD_TYPE = 5,
};

/* GenericFtraceEvent */
enum {
	GENERIC_NAME = 1,
	GENERIC_FIELD = 2,
	GENERIC_FIELD_NAME = 1,
	GENERIC_TEXT = 3,
	GENERIC_INT = 4,
	GENERIC_UINT = 5,
};

/* Add a type. Returns its index + 1; 0: out of memory. */
static uint32_t add_type(struct perfetto *p, uint32_t number)
{
	struct perfetto_ftrace *f = &p->ftrace;
	struct perfetto_event_type *t;

	if (ARRAY_GROW(f->type, f->types_capacity, f->ntypes))
		return 0;
	t = f->type;
	t[f->ntypes++] = (struct perfetto_event_type){.number = number};
	return (uint32_t)f->ntypes;
}

static int add_field(struct perfetto_event_type *t, uint32_t number, uint32_t name, char kind)
{
	struct perfetto_event_field *fields;

	if (t->nfields == PERFETTO_EVENT_FIELDS || !name)
		return name ? 0 : -1;
	fields = realloc(t->fields, (t->nfields + 1) * sizeof *fields);
	if (!fields)
		return -1;
	t->fields = fields;
	fields[t->nfields++] =
		(struct perfetto_event_field){.number = number,
					      .name = name,
					      .kind = (uint8_t)kind,
					      .at = kind == 's' ? t->texts : t->fixed_size};
	t->texts += kind == 's';
	t->fixed_size += kind == 's' ? 0 : kind == 'a' ? 8 * LIST_MOST : 8;
	return 0;
}

/* --- the table --- */

/* Find the row of an event in the tables; NULL: it is unknown. */
static const char *find_row(uint32_t number)
{
	const char *const *row = number < 210	? perfetto_ftrace_3
				 : number < 400 ? perfetto_ftrace_210
						: perfetto_ftrace_400;

	while (*row && strtoul(*row, NULL, 10) != number)
		row++;
	return *row;
}

/* Make a type from a row of the table. */
static int read_row(struct perfetto *p, struct perfetto_event_type *t, const char *row)
{
	const char *at = strchr(row, ' ') + 1, *end = strchrnul(at, ' ');
	const char *group = memchr(at, ':', (size_t)(end - at));
	uint32_t number = 0;

	if (group) {
		t->group = writer_string(p->w, at, (size_t)(group - at));
		if (!t->group)
			return -1;
		at = group + 1;
	}
	t->name = writer_string(p->w, at, (size_t)(end - at));
	while (*end) {
		const char *colon, *equal;

		at = end + 1;
		end = strchrnul(at, ' ');
		colon = end - 2;
		equal = memchr(at, '=', (size_t)(end - at));
		number = equal ? (uint32_t)strtoul(at, NULL, 10) : number + 1;
		at = equal ? equal + 1 : at;
		if (add_field(t, number, writer_string(p->w, at, (size_t)(colon - at)), colon[1]))
			return -1;
	}
	return t->name ? 0 : -1;
}

struct perfetto_event_type *perfetto_event_type(struct perfetto *p, uint32_t number)
{
	uint32_t *at = id_cache_number(&p->ftrace.numbers, &number, sizeof number);
	struct perfetto_event_type *t;
	const char *row;

	if (!at || *at)
		return at ? &p->ftrace.type[*at - 1] : NULL;
	*at = add_type(p, number);
	if (!*at)
		return NULL;
	t = &p->ftrace.type[*at - 1];
	row = find_row(number);
	if (row)
		return read_row(p, t, row) ? NULL : t;
	p->scratch.text.size = 0;
	if (buffer_printf(&p->scratch.text, "ftrace field %u", (unsigned)number))
		return NULL;
	t->name = writer_string(p->w, p->scratch.text.data, p->scratch.text.size);
	return t->name ? t : NULL;
}

/* --- descriptions --- */

/* Return the kind of a field of a message; 0: it is not read. */
static char kind_of(uint64_t type)
{
	static const char kinds[] = {0, 'd', 'f', 'i', 'u', 'i', 'u', 'u', 'u', 's',
				     0, 0,   0,	  'u', 'i', 'u', 'u', 'z', 'z'};

	return type < sizeof kinds ? kinds[type] : 0;
}

static int describe_field(struct perfetto *p, struct perfetto_event_type *t,
			  struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t number = 0, name = 0;
	char kind = 0;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case FIELD_NAME: name = perfetto_text(p, f.bytes); break;
		case FIELD_NUMBER: number = (uint32_t)f.value; break;
		case FIELD_TYPE: kind = kind_of(f.value); break;
		}
	return kind && name ? add_field(t, number, name, kind) : 0;
}

int perfetto_event_descriptor(struct perfetto *p, struct protobuf_view message)
{
	struct protobuf_view described = {NULL, NULL};
	struct perfetto_event_type *t;
	uint32_t number = 0, group = 0, *at;
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case DESCRIPTOR_FIELD: number = (uint32_t)f.value; break;
		case DESCRIPTOR_MESSAGE: described = f.bytes; break;
		case DESCRIPTOR_GROUP: group = perfetto_text(p, f.bytes); break;
		}
	at = id_cache_number(&p->ftrace.numbers, &number, sizeof number);
	if (!at || *at)
		return at ? 0 : -1;
	*at = add_type(p, number);
	if (!*at)
		return -1;
	t = &p->ftrace.type[*at - 1];
	t->group = group;
	while (protobuf_next(&described, &f) > 0) {
		if (f.number == MESSAGE_NAME)
			t->name = perfetto_text(p, f.bytes);
		else if (f.number == MESSAGE_FIELD && describe_field(p, t, f.bytes))
			return -1;
	}
	t->name = t->name ? t->name : p->texts.nothing;
	return 0;
}

/* --- generic events --- */

/* Get the name and the kind of a field of a generic event. */
static uint32_t generic_field(struct perfetto *p, struct protobuf_view message, char *kind)
{
	struct protobuf_field f;
	uint32_t name = p->texts.nothing;

	*kind = 'u';
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case GENERIC_FIELD_NAME: name = perfetto_text(p, f.bytes); break;
		case GENERIC_TEXT: *kind = 's'; break;
		case GENERIC_INT: *kind = 'i'; break;
		}
	return name ? name : p->texts.nothing;
}

uint32_t perfetto_generic_type(struct perfetto *p, struct protobuf_view message)
{
	struct buffer *key = &p->ftrace.key;
	uint32_t *at, name = p->texts.nothing;
	struct perfetto_event_type *t;
	struct protobuf_field f;
	uint64_t n = 0;

	key->size = 0;
	if (buffer_u32(key, 0))
		return 0;
	while (protobuf_next(&message, &f) > 0) {
		char kind;

		if (f.number == GENERIC_NAME)
			name = perfetto_text(p, f.bytes);
		if (f.number != GENERIC_FIELD || n++ >= PERFETTO_EVENT_FIELDS)
			continue;
		if (buffer_u32(key, generic_field(p, f.bytes, &kind)) ||
		    buffer_u32(key, (uint32_t)kind))
			return 0;
	}
	put_u32(key->data, name);
	at = id_cache_number(&p->ftrace.generic, key->data, key->size);
	if (!at || *at)
		return at ? *at : 0;
	*at = add_type(p, 0);
	if (!*at)
		return 0;
	t = &p->ftrace.type[*at - 1];
	t->name = name ? name : p->texts.nothing;
	for (size_t i = 4; i < key->size; i += 8)
		if (add_field(t, 0, get_u32(key->data + i), (char)get_u32(key->data + i + 4)))
			return 0;
	return *at;
}

/* --- declaring --- */

uint32_t perfetto_event_declare(struct perfetto *p, struct perfetto_event_type *t)
{
	struct field_entry fields[PERFETTO_EVENT_FIELDS] = {{0}};
	struct type_entry e = {.source = p->source,
			       .name = t->name,
			       .group = t->group ? t->group : writer_text(p->w, "ftrace"),
			       .kind = KIND_INSTANT,
			       .flags = t->texts ? TYPE_TAIL : 0,
			       .fixed_size = t->fixed_size,
			       .native = t->number,
			       .nfields = t->nfields,
			       .fields = fields};

	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct perfetto_event_field *f = &t->fields[i];

		fields[i].name = f->name;
		fields[i].offset = f->at;
		fields[i].size = 8;
		switch (f->kind) {
		case 's':
			fields[i].kind = FIELD_STRING;
			fields[i].where = WHERE_STRING;
			fields[i].size = 1;
			break;
		case 'a': fields[i].count = LIST_MOST; break;
		case 'i':
		case 'z': fields[i].kind = FIELD_INT; break;
		case 'f':
		case 'd': fields[i].kind = FIELD_FLOAT; break;
		}
	}
	t->type = writer_type(p->w, &e);
	if (t->type && row_filter_announce(p->input->decoding->row_filter, t->type, 0))
		return 0;
	return t->type;
}

void perfetto_ftrace_free(struct perfetto *p)
{
	struct perfetto_ftrace *f = &p->ftrace;

	for (size_t i = 0; i < f->ntypes; i++)
		free(f->type[i].fields);
	free(f->type);
	free(f->cpu);
	id_cache_free(&f->numbers);
	id_cache_free(&f->generic);
	buffer_free(&f->fixed);
	buffer_free(&f->tail);
	buffer_free(&f->key);
}
