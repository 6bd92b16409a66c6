/*
 * writer_declare.c - stores declarations, and sends each one when a segment first uses it
 */
#include <stdlib.h>

#include "common/stream/writer_private.h"

enum {
	ENTRY_LIMIT = 512 * 1024, /* longer entries are truncated */
	SYMBOL_TEXT = 64 * 1024,
};

/* The offsets of the ids of other entries in an entry, and the stride at which they repeat. */
struct reference {
	uint16_t offset, kind;
};

struct layout {
	uint16_t size, stride; /* bytes of the head and of the part that repeats after it */
	struct reference head[6], repeated[4];
};

static const struct layout layouts[ENTRY_KINDS] = {
	[ENTRY_CLOCK] = {16, 0, {{0, ENTRY_STRING}}, {{0}}},
	[ENTRY_SOURCE] = {16, 0, {{0, ENTRY_STRING}, {4, ENTRY_STRING}}, {{0}}},
	[ENTRY_LANE] =
		{40,
		 0,
		 {{0, ENTRY_SOURCE}, {4, ENTRY_CLOCK}, {8, ENTRY_STRING}, {12, ENTRY_STRING}},
		 {{0}}},
	[ENTRY_TYPE] =
		{TYPE_HEAD,
		 FIELD_SIZE,
		 {{0, ENTRY_SOURCE}, {4, ENTRY_STRING}, {8, ENTRY_STRING}, {12, ENTRY_STRING}},
		 {{0, ENTRY_STRING}, {4, ENTRY_STRING}, {24, ENTRY_DEFINITION}}},
	[ENTRY_DEFINITION] = {DEFINITION_HEAD,
			      MEMBER_SIZE,
			      {{0, ENTRY_STRING}},
			      {{0, ENTRY_STRING}}},
	[ENTRY_SPACE] = {16, 0, {{0, ENTRY_SOURCE}, {4, ENTRY_STRING}}, {{0}}},
	[ENTRY_MAP] =
		{56,
		 0,
		 {{0, ENTRY_SPACE}, {44, ENTRY_STRING}, {48, ENTRY_STRING}, {52, ENTRY_STRING}},
		 {{0}}},
	[ENTRY_LOCATION] = {24,
			    0,
			    {{0, ENTRY_SPACE}, {16, ENTRY_STRING}, {20, ENTRY_DEFINITION}},
			    {{0}}},
};

int writer_append_entry(struct writer *w, enum entry_kind kind, uint32_t id, const void *data,
			uint32_t size)
{
	if (w->dict.size + size > DICT_LIMIT && writer_send_dict(w))
		return -1;
	return entry_append(&w->dict, kind, id, data, size) ? writer_no_memory(w) : 0;
}

static int declare_references(struct writer *w, size_t entry, const struct reference *r, int n)
{
	for (int i = 0; i < n && r[i].kind; i++)
		if (writer_declare(w, r[i].kind, get_u32(w->arena.data + entry + r[i].offset)))
			return -1;
	return 0;
}

/* Set the flags of a lane that are for the present segment. */
static void set_lane_flags(struct writer *w, uint32_t id)
{
	uint8_t *p = w->arena.data + w->entries[ENTRY_LANE].entry[id].offset;
	struct lane_entry e;

	entry_get_lane(p, &e);
	entry_set_lane_flags(p, &e, w->snapshots.lane_flags(w->snapshots.ctx, &e));
}

int writer_declare_again(struct writer *w, enum entry_kind kind, uint32_t id)
{
	return id < w->entries[kind].count ? writer_declare(w, kind, id) : 0;
}

/* Send an entry after the entries that it names, unless this segment has it. */
int writer_declare(struct writer *w, enum entry_kind kind, uint32_t id)
{
	const struct layout *l = &layouts[kind];
	struct stored_entry *e;
	size_t at, end;

	if (!id)
		return 0;
	e = &w->entries[kind].entry[id];
	if (e->segment == w->segment)
		return 0;
	e->segment = w->segment;
	at = e->offset;
	end = at + e->size;
	if (declare_references(w, at, l->head, 6))
		return -1;
	for (size_t more = at + l->size; l->stride && more < end; more += l->stride)
		if (declare_references(w, more, l->repeated, 4))
			return -1;
	if (kind == ENTRY_LANE && w->snapshots.ctx)
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

/* Store a declaration; it is sent when it is first used. */
static uint32_t store(struct writer *w, enum entry_kind kind, const void *data, size_t size)
{
	struct stored_entries *s = &w->entries[kind];
	struct stored_entry *entry = array_grow(s->entry, &s->capacity, s->count, sizeof *entry);

	if (entry)
		s->entry = entry;
	if (!entry || s->count >= UINT32_MAX || size > ENTRY_LIMIT ||
	    buffer_append(&w->arena, data, size)) {
		writer_no_memory(w);
		return 0;
	}
	entry[s->count] =
		(struct stored_entry){.offset = w->arena.size - size, .size = (uint32_t)size};
	return (uint32_t)s->count++;
}

uint32_t writer_string(struct writer *w, const void *data, size_t n)
{
	uint32_t id;

	if (!n)
		return 0;
	if (n > ENTRY_LIMIT)
		n = ENTRY_LIMIT;
	id = intern(&w->strings, data, n);
	if (id == INTERN_NONE) {
		writer_no_memory(w);
		return 0;
	}
	if (id == w->entries[ENTRY_STRING].count)
		return store(w, ENTRY_STRING, data, n);
	return id;
}

uint32_t writer_text(struct writer *w, const char *s)
{
	return s ? writer_string(w, s, strlen(s)) : 0;
}

uint32_t writer_clock(struct writer *w, const struct clock_entry *e)
{
	uint8_t p[16];

	put_u32(p, e->name);
	put_u32(p + 4, e->flags);
	put_u64(p + 8, (uint64_t)e->wall);
	return store(w, ENTRY_CLOCK, p, sizeof p);
}

uint32_t writer_source(struct writer *w, const struct source_entry *e)
{
	uint8_t p[16];

	put_u32(p, e->format);
	put_u32(p + 4, e->name);
	put_u32(p + 8, e->word_size);
	put_u32(p + 12, e->big_endian);
	return store(w, ENTRY_SOURCE, p, sizeof p);
}

uint32_t writer_lane(struct writer *w, const struct lane_entry *e)
{
	uint8_t p[40] = {0};

	put_u32(p, e->source);
	put_u32(p + 4, e->clock);
	put_u32(p + 8, e->buffer);
	put_u32(p + 12, e->comm);
	put_u32(p + 16, e->flags);
	put_u32(p + 20, (uint32_t)e->cpu);
	put_u32(p + 24, (uint32_t)e->tid);
	put_u32(p + 28, (uint32_t)e->pid);
	put_u32(p + 32, (uint32_t)e->ppid);
	return store(w, ENTRY_LANE, p, sizeof p);
}

uint32_t writer_definition(struct writer *w, const struct definition_entry *e)
{
	uint8_t head[DEFINITION_HEAD], p[MEMBER_SIZE];
	struct definition_entry d = *e;
	struct buffer b = {0};
	uint32_t id = 0;
	int bad;

	_Static_assert(DEFINITION_HEAD + WRITER_MEMBERS * MEMBER_SIZE <= ENTRY_LIMIT, "too large");
	if (d.nmembers > WRITER_MEMBERS)
		d.nmembers = WRITER_MEMBERS;
	entry_put_definition(head, &d);
	bad = buffer_append(&b, head, sizeof head);
	for (uint32_t i = 0; i < d.nmembers && !bad; i++) {
		entry_put_member(p, &e->members[i]);
		bad = buffer_append(&b, p, sizeof p);
	}
	if (bad)
		writer_no_memory(w);
	else
		id = store(w, ENTRY_DEFINITION, b.data, b.size);
	buffer_free(&b);
	return id;
}

uint32_t writer_type(struct writer *w, const struct type_entry *e)
{
	struct type_entry head = *e;
	struct buffer b = {0};
	uint8_t p[TYPE_HEAD] = {0}, q[FIELD_SIZE] = {0};
	uint32_t id = 0;
	int bad;

	if (head.nfields > (ENTRY_LIMIT - TYPE_HEAD) / FIELD_SIZE)
		head.nfields = (ENTRY_LIMIT - TYPE_HEAD) / FIELD_SIZE;
	entry_put_type(p, &head);
	bad = buffer_append(&b, p, sizeof p);
	for (uint32_t i = 0; i < head.nfields && !bad; i++) {
		entry_put_field(q, &e->fields[i]);
		bad = buffer_append(&b, q, sizeof q);
	}
	if (bad)
		writer_no_memory(w);
	else
		id = store(w, ENTRY_TYPE, b.data, b.size);
	buffer_free(&b);
	return id;
}

uint32_t writer_space(struct writer *w, const struct space_entry *e)
{
	uint8_t p[16];

	put_u32(p, e->source);
	put_u32(p + 4, e->name);
	put_u32(p + 8, (uint32_t)e->pid);
	put_u32(p + 12, e->flags);
	return store(w, ENTRY_SPACE, p, sizeof p);
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
	struct stored_entry *space;
	uint8_t p[56] = {0};
	uint32_t id;

	put_u32(p, e->space);
	put_u32(p + 4, e->flags);
	put_u64(p + 8, e->start);
	put_u64(p + 16, e->end);
	put_u64(p + 24, e->offset);
	put_u64(p + 32, e->time);
	put_u32(p + 40, e->epoch);
	put_u32(p + 44, e->path);
	put_u32(p + 48, e->build_id);
	put_u32(p + 52, e->table);
	id = store(w, ENTRY_MAP, p, sizeof p);
	if (!id || !e->space)
		return -1;
	space = &w->entries[ENTRY_SPACE].entry[e->space];
	/* in their order, after the space */
	if (space->child)
		w->entries[ENTRY_MAP].entry[space->next].next = id;
	else
		space->child = id;
	space->next = id;
	return space->segment == w->segment ? writer_declare(w, ENTRY_MAP, id) : 0;
}

uint32_t writer_location(struct writer *w, const struct location_entry *e)
{
	uint8_t p[24] = {0};

	put_u32(p, e->space);
	put_u32(p + 4, e->epoch);
	put_u64(p + 8, e->address);
	put_u32(p + 16, e->name);
	put_u32(p + 20, e->arguments);
	return store(w, ENTRY_LOCATION, p, sizeof p);
}

static uint32_t at_most(uint32_t n, uint32_t limit)
{
	return n < limit ? n : limit;
}

int writer_symbol_payload(struct buffer *b, const struct symbol_entry *e)
{
	uint32_t name = at_most(e->name_size, SYMBOL_TEXT),
		 file = at_most(e->file_size, SYMBOL_TEXT),
		 module = at_most(e->module_size, SYMBOL_TEXT);
	uint8_t p[40] = {0};

	put_u64(p, e->start);
	put_u64(p + 8, e->size);
	put_u32(p + 16, e->line);
	put_u32(p + 20, e->flags);
	put_u32(p + 24, name);
	put_u32(p + 28, module);
	put_u32(p + 32, file);
	b->size = 0;
	return buffer_append(b, p, sizeof p) || buffer_append(b, e->name, name) ||
	       buffer_append(b, e->module, module) || buffer_append(b, e->file, file);
}

int writer_symbol(struct writer *w, uint32_t location, const struct symbol_entry *e)
{
	struct stored_entry *p;
	uint32_t id;

	if (!location)
		return w->out_of_memory ? writer_no_memory(w) : 0;
	if (writer_symbol_payload(&w->scratch, e))
		return writer_no_memory(w);
	id = store(w, ENTRY_SYMBOL, w->scratch.data, w->scratch.size);
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
	uint8_t p[THREAD_SIZE];

	if (!e->lane)
		return writer_no_memory(w);
	if (writer_declare(w, ENTRY_LANE, e->lane))
		return -1;
	entry_put_thread(p, e);
	/* the id has no meaning */
	return writer_append_entry(w, ENTRY_THREAD, 1, p, sizeof p);
}

int writer_use_definition(struct writer *w, uint32_t id)
{
	/* the row may begin another segment, which must also have the definition */
	if (buffer_u32(&w->used, id))
		return writer_no_memory(w);
	return writer_declare(w, ENTRY_DEFINITION, id);
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
	entry_get_lane(declared(w, ENTRY_LANE, lane), e);
}

void writer_type_of(const struct writer *w, uint32_t type, enum type_kind *kind, uint32_t *name,
		    uint32_t *group)
{
	const uint8_t *p = declared(w, ENTRY_TYPE, type);

	*name = get_u32(p + 4);
	*group = get_u32(p + 8);
	*kind = p[16];
}

enum type_kind writer_type_kind(const struct writer *w, uint32_t type)
{
	return (enum type_kind)declared(w, ENTRY_TYPE, type)[16];
}

uint16_t writer_type_flags(const struct writer *w, uint32_t type)
{
	return get_u16(declared(w, ENTRY_TYPE, type) + 18);
}

bool writer_type_field(const struct writer *w, uint32_t type, enum field_role role,
		       uint32_t *offset, uint32_t *size)
{
	const uint8_t *p = declared(w, ENTRY_TYPE, type);
	uint32_t fixed_size = get_u32(p + 20), nfields = get_u32(p + 28);

	p += 40;
	for (uint32_t i = 0; i < nfields; i++, p += FIELD_SIZE) {
		*offset = get_u32(p + 12);
		*size = get_u32(p + 16);
		if (p[9] == role && p[10] == WHERE_FIXED)
			return *size <= fixed_size && *offset <= fixed_size - *size;
	}
	return false;
}

const char *writer_string_of(const struct writer *w, uint32_t string, size_t *n)
{
	*n = string ? w->entries[ENTRY_STRING].entry[string].size : 0;
	return string ? (const char *)declared(w, ENTRY_STRING, string) : "";
}
