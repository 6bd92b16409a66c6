/*
 * writer_declare.c - stores declarations, and sends each one when a segment first uses it
 */
#include <stdlib.h>

#include "common/stream/writer_private.h"

enum {
	ENTRY_LIMIT = 512 * 1024, /* longer entries of decoders are truncated */
};

int writer_append_entry(struct writer *w, enum entry_kind kind, uint32_t id, const void *data,
			uint32_t size)
{
	if (w->dict.size + size > DICT_LIMIT && writer_send_dict(w))
		return -1;
	return entry_append(&w->dict, kind, id, data, size) ? writer_no_memory(w) : 0;
}

int writer_append_content(struct writer *w, enum entry_kind kind, uint32_t id, const void *content)
{
	if (w->dict.size + entry_layouts[kind].size > DICT_LIMIT && writer_send_dict(w))
		return -1;
	return entry_append_content(&w->dict, kind, id, content) ? writer_no_memory(w) : 0;
}

static int declare_references(struct writer *w, const struct entry_layout *l, size_t at)
{
	for (size_t i = 0; i < l->nfields; i++) {
		const struct entry_field *f = &l->fields[i];

		if (f->refers && writer_declare(w, f->refers, get_u32(w->arena.data + at + f->at)))
			return -1;
	}
	return 0;
}

/* Set the flags of a lane that are for the present segment. */
static void set_lane_flags(struct writer *w, uint32_t id)
{
	struct lane_entry e;

	writer_lane_of(w, id, &e);
	entry_set_started(w->arena.data + w->entries[ENTRY_LANE].entry[id].offset, &e,
			  w->calls.lane_flags(w->calls.ctx, &e));
}

int writer_declare_again(struct writer *w, enum entry_kind kind, uint32_t id)
{
	size_t count = kind == ENTRY_STACK ? (size_t)stack_table_count(&w->stacks.table) + 1
					   : w->entries[kind].count;

	return id < count ? writer_declare(w, kind, id) : 0;
}

/* Send a stack after those of its callers that the segment lacks. */
static int declare_stack(struct writer *w, uint32_t id)
{
	struct sent_stacks *s = &w->stacks;
	struct buffer *lacking = &s->lacking;

	for (lacking->size = 0; id && s->segment[id] != w->segment;
	     id = stack_table_at(&s->table, id).parent) {
		w->repeated += s->segment[id] ? ENTRY_HEADER + entry_layouts[ENTRY_STACK].size : 0;
		s->segment[id] = w->segment;
		if (buffer_u32(lacking, id))
			return writer_no_memory(w);
	}
	for (size_t at = lacking->size; at;) {
		struct stack_key key;

		at -= 4;
		id = get_u32(lacking->data + at);
		key = stack_table_at(&s->table, id);
		if (writer_declare(w, ENTRY_LOCATION, key.location) ||
		    writer_append_content(w, ENTRY_STACK, id,
					  &(struct stack_entry){key.parent, key.location}))
			return -1;
	}
	return 0;
}

/* Send an entry after the entries that it names, unless this segment has it. */
int writer_declare(struct writer *w, enum entry_kind kind, uint32_t id)
{
	const struct entry_layout *l = &entry_layouts[kind];
	struct stored_entry *e;
	uint32_t parts;
	size_t at;

	if (!id)
		return 0;
	if (kind == ENTRY_STACK)
		return declare_stack(w, id);
	e = &w->entries[kind].entry[id];
	if (e->segment == w->segment)
		return 0;
	w->repeated += e->segment ? ENTRY_HEADER + e->size : 0;
	e->segment = w->segment;
	at = e->offset;
	parts = entry_parts(l, w->arena.data + at, e->size);
	if (declare_references(w, l, at))
		return -1;
	for (uint32_t i = 0; i < parts; i++)
		if (declare_references(w, l->part, at + entry_part(l, i)))
			return -1;
	if (kind == ENTRY_LANE && w->calls.ctx)
		set_lane_flags(w, id);
	if (writer_append_entry(w, kind, id, w->arena.data + at, e->size))
		return -1;
	if (kind == ENTRY_LANE)
		return writer_declare(w, ENTRY_SPACE, e->child);
	for (uint32_t child = e->child; child;) {
		enum entry_kind what = kind == ENTRY_SPACE ? ENTRY_MAP : ENTRY_SYMBOL;

		if (what == ENTRY_MAP) {
			if (writer_declare(w, what, child))
				return -1;
		} else {
			const struct stored_entry *s = &w->entries[what].entry[child];

			if (writer_append_entry(w, what, id, w->arena.data + s->offset, s->size))
				return -1;
		}
		child = w->entries[what].entry[child].next;
	}
	return 0;
}

int writer_announce(struct writer *w, enum entry_kind kind, uint32_t id)
{
	if (!id)
		return 0;
	if (buffer_u32(&w->announced, kind) || buffer_u32(&w->announced, id))
		return writer_no_memory(w);
	return writer_declare(w, kind, id);
}

int writer_declare_all(struct writer *w, const struct buffer *entries)
{
	for (size_t i = 0; i < entries->size; i += 8)
		if (writer_declare(w, get_u32(entries->data + i), get_u32(entries->data + i + 4)))
			return -1;
	return 0;
}

uint32_t writer_store(struct writer *w, enum entry_kind kind, const void *data, size_t size)
{
	struct stored_entries *s = &w->entries[kind];
	struct stored_entry *entry;
	if (ARRAY_GROW(s->entry, s->capacity, s->count) || s->count >= UINT32_MAX ||
	    size > BLOCK_LIMIT - ENTRY_HEADER || buffer_append(&w->arena, data, size)) {
		writer_no_memory(w);
		return 0;
	}
	entry = s->entry;
	entry[s->count] =
		(struct stored_entry){.offset = w->arena.size - size, .size = (uint32_t)size};
	return (uint32_t)s->count++;
}

/* Store the content of an entry. */
static uint32_t store(struct writer *w, enum entry_kind kind, const void *content)
{
	struct buffer *b = &w->scratch;

	b->size = 0;
	if (!entry_encode(b, kind, content))
		return writer_store(w, kind, b->data, b->size);
	writer_no_memory(w);
	return 0;
}

uint32_t writer_string(struct writer *w, const void *data, size_t n)
{
	uint32_t id;

	/* after a failed store the numbers of strings are no ids */
	if (!n || w->out_of_memory)
		return 0;
	if (n > ENTRY_LIMIT)
		n = ENTRY_LIMIT;
	id = intern(&w->strings, data, n);
	if (id == INTERN_NONE) {
		writer_no_memory(w);
		return 0;
	}
	if (id == w->entries[ENTRY_STRING].count)
		return writer_store(w, ENTRY_STRING, data, n);
	return id;
}

uint32_t writer_text(struct writer *w, const char *s)
{
	return s ? writer_string(w, s, strlen(s)) : 0;
}

uint32_t writer_clock(struct writer *w, const struct clock_entry *e)
{
	return store(w, ENTRY_CLOCK, e);
}

uint32_t writer_source(struct writer *w, const struct source_entry *e)
{
	return store(w, ENTRY_SOURCE, e);
}

uint32_t writer_lane(struct writer *w, const struct lane_entry *e)
{
	return store(w, ENTRY_LANE, e);
}

uint32_t writer_space(struct writer *w, const struct space_entry *e)
{
	return store(w, ENTRY_SPACE, e);
}

uint32_t writer_location(struct writer *w, const struct location_entry *e)
{
	return store(w, ENTRY_LOCATION, e);
}

uint32_t writer_definition(struct writer *w, const struct definition_entry *e)
{
	struct definition_entry d = *e;

	if (d.nmembers > WRITER_MEMBERS)
		d.nmembers = WRITER_MEMBERS;
	return store(w, ENTRY_DEFINITION, &d);
}

uint32_t writer_type(struct writer *w, const struct type_entry *e)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];
	uint32_t most = (ENTRY_LIMIT - l->size) / l->part->size;
	struct type_entry t = *e;

	if (t.nfields > most)
		t.nfields = most;
	return store(w, ENTRY_TYPE, &t);
}

uint32_t writer_stack(struct writer *w, uint32_t parent, uint32_t location)
{
	uint32_t id;

	if (!stack_table_fits(&w->stacks.table, parent))
		return parent;
	id = stack_table_add(&w->stacks.table, parent, location);
	if (!id || ARRAY_REACH(w->stacks.segment, w->stacks.size, id)) {
		writer_no_memory(w);
		return 0;
	}
	return id;
}

uint32_t writer_stack_of(struct writer *w, const uint32_t *locations, size_t n)
{
	uint32_t stack = 0;

	if (n > STACK_FRAMES_MOST)
		n = STACK_FRAMES_MOST;
	while (n--) {
		stack = writer_stack(w, stack, locations[n]);
		if (!stack)
			break;
	}
	return stack;
}

int writer_lane_space(struct writer *w, uint32_t lane, uint32_t space)
{
	struct stored_entry *e;

	if (!lane || !space)
		return -1;
	e = &w->entries[ENTRY_LANE].entry[lane];
	e->child = space;
	return e->segment == w->segment ? writer_declare(w, ENTRY_SPACE, space) : 0;
}

int writer_map(struct writer *w, const struct map_entry *e)
{
	return writer_store_map(w, store(w, ENTRY_MAP, e), e->space);
}

int writer_store_map(struct writer *w, uint32_t id, uint32_t of)
{
	struct stored_entry *space;

	if (!id || !of)
		return -1;
	space = &w->entries[ENTRY_SPACE].entry[of];
	/* in their order, after the space */
	if (space->child)
		w->entries[ENTRY_MAP].entry[space->next].next = id;
	else
		space->child = id;
	space->next = id;
	return space->segment == w->segment ? writer_declare(w, ENTRY_MAP, id) : 0;
}

int writer_symbol(struct writer *w, uint32_t location, const struct symbol_entry *e)
{
	struct stored_entry *p;
	uint32_t id;

	if (!location)
		return w->out_of_memory ? writer_no_memory(w) : 0;
	if (entry_symbol(&w->scratch, e))
		return writer_no_memory(w);
	id = writer_store(w, ENTRY_SYMBOL, w->scratch.data, w->scratch.size);
	if (!id)
		return -1;
	p = &w->entries[ENTRY_LOCATION].entry[location];
	p->child = id;
	if (p->segment != w->segment)
		return 0;
	return writer_append_entry(w, ENTRY_SYMBOL, location,
				   w->arena.data + w->entries[ENTRY_SYMBOL].entry[id].offset,
				   w->entries[ENTRY_SYMBOL].entry[id].size);
}

int writer_thread(struct writer *w, const struct thread_entry *e)
{
	if (!e->lane)
		return writer_no_memory(w);
	if (writer_declare(w, ENTRY_LANE, e->lane))
		return -1;
	/* the id has no meaning */
	return writer_append_content(w, ENTRY_THREAD, 1, e);
}

static int use(struct writer *w, enum entry_kind kind, uint32_t id)
{
	/* the row may begin another segment, which must also have the entry */
	if (buffer_u32(&w->used, kind) || buffer_u32(&w->used, id))
		return writer_no_memory(w);
	return writer_declare(w, kind, id);
}

int writer_use_definition(struct writer *w, uint32_t id)
{
	return use(w, ENTRY_DEFINITION, id);
}

int writer_use_stack(struct writer *w, uint32_t id)
{
	return use(w, ENTRY_STACK, id);
}

/* --- look-up of declarations --- */

static const uint8_t *declared(const struct writer *w, enum entry_kind kind, uint32_t id)
{
	return w->arena.data + w->entries[kind].entry[id].offset;
}

bool writer_lane_used(const struct writer *w, uint32_t lane)
{
	return w->entries[ENTRY_LANE].entry[lane].segment == w->segment;
}

void writer_lane_of(const struct writer *w, uint32_t lane, struct lane_entry *e)
{
	entry_get(&entry_layouts[ENTRY_LANE], declared(w, ENTRY_LANE, lane), e);
}

void writer_type_of(const struct writer *w, uint32_t type, struct type_entry *e)
{
	*e = (struct type_entry){0};
	entry_get(&entry_layouts[ENTRY_TYPE], declared(w, ENTRY_TYPE, type), e);
}

bool writer_type_field(const struct writer *w, uint32_t type, enum field_role role,
		       uint32_t *offset, uint32_t *size)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];
	const uint8_t *p = declared(w, ENTRY_TYPE, type);
	struct type_entry t;
	struct field_entry f;

	writer_type_of(w, type, &t);
	for (uint32_t i = 0; i < t.nfields; i++) {
		entry_get(l->part, p + entry_part(l, i), &f);
		*offset = f.offset;
		*size = f.size;
		if (f.role == role && f.where == WHERE_FIXED)
			return f.size <= t.fixed_size && f.offset <= t.fixed_size - f.size;
	}
	return false;
}

const char *writer_string_of(const struct writer *w, uint32_t string, size_t *n)
{
	*n = string ? w->entries[ENTRY_STRING].entry[string].size : 0;
	return string ? (const char *)declared(w, ENTRY_STRING, string) : "";
}
