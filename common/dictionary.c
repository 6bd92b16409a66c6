#include "dictionary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "buffer.h"
#include "entry.h"

/* Memory that lives as long as the dictionary: fields, members. */
struct allocation {
	struct allocation *next;
	max_align_t data[];
};

static void *keep(struct dictionary *d, size_t n)
{
	struct allocation *a = calloc(1, sizeof *a + n);

	if (!a)
		return NULL;
	a->next = d->allocations;
	d->allocations = a;
	return a->data;
}

/* Numbers start at 1, so each pool and key table has a nothing at 0. */
int dictionary_init(struct dictionary *d)
{
	struct pool *pools[] = {&d->clocks,	 &d->sources, &d->lanes,  &d->types,
				&d->definitions, &d->spaces,  &d->places, &d->symbols};
	static const size_t elements[] = {sizeof(struct clock),	     sizeof(struct source),
					  sizeof(struct lane),	     sizeof(struct type),
					  sizeof(struct definition), sizeof(struct space),
					  sizeof(struct place),	     sizeof(struct place_symbol)};
	struct text_ref empty;
	struct source *source;
	struct lane *lane;
	struct clock *clock;
	struct type *type;
	struct place *place;

	*d = (struct dictionary){0};
	if (intern(&d->strings, "", 0) == INTERN_NONE)
		return -1;
	for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
		pools[i]->element = elements[i];
		if (!pool_add(pools[i]))
			goto fail;
	}
	for (int k = 1; k < ENTRY_KINDS; k++)
		if (intern(&d->keys[k], "", 0) == INTERN_NONE)
			goto fail;
	if (intern(&d->threads, "", 0) == INTERN_NONE)
		goto fail;
	d->scratch = calloc(1, sizeof *d->scratch);
	if (!d->scratch)
		goto fail;
	empty = dictionary_string(d, 0);
	clock = pool_at(&d->clocks, 0);
	clock->name = empty;
	source = pool_at(&d->sources, 0);
	source->format = source->name = empty;
	lane = pool_at(&d->lanes, 0);
	*lane = (struct lane){.source = source, .clock = clock, .buffer = empty, .comm = empty};
	type = pool_at(&d->types, 0);
	type->name = type->group = type->declaration = empty;
	place = pool_at(&d->places, 0);
	place->name = empty;
	return 0;
fail:
	dictionary_free(d);
	return -1;
}

void dictionary_free(struct dictionary *d)
{
	struct allocation *a, *next;

	for (uint32_t i = 1; i < d->spaces.count; i++)
		free(((struct space *)pool_at(&d->spaces, i))->maps);
	pool_free(&d->clocks);
	pool_free(&d->sources);
	pool_free(&d->lanes);
	pool_free(&d->types);
	pool_free(&d->definitions);
	pool_free(&d->spaces);
	pool_free(&d->places);
	pool_free(&d->symbols);
	for (int k = 0; k < ENTRY_KINDS; k++) {
		intern_free(&d->keys[k]);
		idmap_free(&d->ids[k]);
	}
	intern_free(&d->strings);
	intern_free(&d->threads);
	for (a = d->allocations; a; a = next) {
		next = a->next;
		free(a);
	}
	if (d->scratch)
		buffer_free(d->scratch);
	free(d->scratch);
	*d = (struct dictionary){0};
}

void dictionary_segment(struct dictionary *d, bool new_stream)
{
	for (int k = 0; k < ENTRY_KINDS; k++)
		idmap_clear(&d->ids[k]);
	if (new_stream)
		d->stream++;
}

int dictionary_name_by_number(struct dictionary *d)
{
	idmap_clear(&d->ids[ENTRY_DEFINITION]);
	for (uint32_t i = 1; i < d->definitions.count; i++)
		if (idmap_set(&d->ids[ENTRY_DEFINITION], i, i))
			return -1;
	return 0;
}

struct text_ref dictionary_text(struct dictionary *d, const void *data, size_t n)
{
	uint32_t number = intern(&d->strings, data, n);

	return dictionary_string(d, number == INTERN_NONE ? 0 : number);
}

/* One entry being read: its payload and the segment's ids in it. */
struct entry {
	struct dictionary *d;
	const uint8_t *data;
	size_t size;
	uint32_t id;
	const char *wrong; /* what is wrong with it */
};

static struct text_ref string_of(struct entry *en, uint32_t id)
{
	uint32_t number = idmap_get(&en->d->ids[ENTRY_STRING], id);

	if (id && !number)
		en->wrong = "a string that is not declared";
	return dictionary_string(en->d, number ? number - 1 : 0);
}

static uint32_t number_of(struct entry *en, uint32_t id, enum entry_kind kind)
{
	uint32_t number = idmap_get(&en->d->ids[kind], id);

	if (id && !number)
		en->wrong = "an entry that is not declared";
	return number;
}

static struct text_ref string_at(struct entry *en, size_t offset)
{
	return string_of(en, get_u32(en->data + offset));
}

static uint32_t number_at(struct entry *en, size_t offset, enum entry_kind kind)
{
	return number_of(en, get_u32(en->data + offset), kind);
}

/*
 * The number of an entry by its content, given as bytes in which segment ids were replaced by
 * numbers. *fresh says that it is new and its pool element still to be filled.
 */
static void *by_content(struct entry *en, enum entry_kind kind, struct pool *pool, const void *key,
			size_t n, bool *fresh)
{
	struct dictionary *d = en->d;
	uint32_t number, before = idmap_get(&d->ids[kind], en->id);

	*fresh = false;
	if (!en->id) {
		en->wrong = "an entry without an id";
		return NULL;
	}
	number = intern(&d->keys[kind], key, n);
	if (number == INTERN_NONE)
		return NULL;
	if (number == pool->count) {
		if (!pool_add(pool))
			return NULL;
		*fresh = true;
	}
	if (before && before != number)
		d->redeclared = true;
	if (idmap_set(&d->ids[kind], en->id, number))
		return NULL;
	return pool_at(pool, number);
}

static int read_string(struct entry *en)
{
	struct dictionary *d = en->d;
	uint32_t before = idmap_get(&d->ids[ENTRY_STRING], en->id), number;

	if (!en->id) {
		en->wrong = "a string without an id";
		return -1;
	}
	number = intern(&d->strings, en->data, en->size);
	if (number == INTERN_NONE)
		return -1;
	if (before && before != number + 1)
		d->redeclared = true;
	return idmap_set(&d->ids[ENTRY_STRING], en->id, number + 1);
}

static int read_clock(struct entry *en)
{
	struct clock c = {.name = string_at(en, 0),
			  .flags = get_u32(en->data + 4),
			  .wall = (int64_t)get_u64(en->data + 8)},
		     *p;
	struct {
		int64_t wall;
		uint32_t name, flags;
	} key = {c.wall, c.name.number, c.flags};
	bool fresh;

	p = by_content(en, ENTRY_CLOCK, &en->d->clocks, &key, sizeof key, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		c.number = en->d->clocks.count - 1;
		*p = c;
	}
	return 0;
}

static int read_source(struct entry *en)
{
	struct source s = {.format = string_at(en, 0),
			   .name = string_at(en, 4),
			   .word_size = get_u32(en->data + 8),
			   .big_endian = get_u32(en->data + 12),
			   .stream = en->d->stream,
			   .id = en->id},
		      *p;
	/* Sources of one stream are told apart by their id too: two inputs may have one name. */
	uint32_t key[] = {s.stream,	 en->id,      s.format.number,
			  s.name.number, s.word_size, s.big_endian};
	bool fresh;

	p = by_content(en, ENTRY_SOURCE, &en->d->sources, key, sizeof key, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		s.number = en->d->sources.count - 1;
		*p = s;
	}
	return 0;
}

/* A number for what shares one stack of calls. */
static uint32_t thread_number(struct dictionary *d, const struct lane *l, bool per_cpu)
{
	bool has_tid = l->flags & LANE_HAS_TID && !per_cpu;
	/* tid 0 is the idle task: one for every CPU */
	bool use_cpu = l->flags & LANE_HAS_CPU && (!has_tid || l->tid == 0);
	/* else the pid is no part of it: it may be known late, and other after a fork */
	bool use_pid = has_tid && l->flags & LANE_PROCESS_TID;
	uint32_t key[7] = {l->source->number,
			   has_tid,
			   has_tid ? (uint32_t)l->tid : 0,
			   use_cpu,
			   use_cpu ? (uint32_t)l->cpu : 0,
			   use_pid,
			   use_pid ? (uint32_t)l->pid : 0};
	uint32_t n = intern(&d->threads, key, sizeof key);

	return n == INTERN_NONE ? 0 : n;
}

static int read_lane(struct entry *en)
{
	struct dictionary *d = en->d;
	uint32_t source = number_at(en, 0, ENTRY_SOURCE), clock = number_at(en, 4, ENTRY_CLOCK);
	struct lane l = {.source = pool_at(&d->sources, source),
			 .clock = pool_at(&d->clocks, clock),
			 .buffer = string_at(en, 8),
			 .comm = string_at(en, 12),
			 .flags = get_u32(en->data + 16),
			 .cpu = (int32_t)get_u32(en->data + 20),
			 .tid = (int32_t)get_u32(en->data + 24),
			 .pid = (int32_t)get_u32(en->data + 28),
			 .ppid = (int32_t)get_u32(en->data + 32)},
		    *p;
	uint32_t key[] = {source,	   clock,	    l.buffer.number,
			  l.comm.number,   l.flags,	    (uint32_t)l.cpu,
			  (uint32_t)l.tid, (uint32_t)l.pid, (uint32_t)l.ppid};
	bool fresh;

	p = by_content(en, ENTRY_LANE, &d->lanes, key, sizeof key, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		l.number = d->lanes.count - 1;
		l.thread = thread_number(d, &l, false);
		l.cpu_thread = thread_number(d, &l, true);
		*p = l;
	}
	return 0;
}

/* Enums of a few members are searched one by one. */
enum { HASHED_LEAST = 9 };

/* Where that value is, or would be. */
static uint32_t value_slot(const struct definition *d, uint64_t value)
{
	uint32_t at = (uint32_t)hash_u64(value) & d->mask;

	while (d->by_value[at] && d->members[d->by_value[at] - 1].value != value)
		at = (at + 1) & d->mask;
	return at;
}

static int hash_values(struct dictionary *d, struct definition *def)
{
	uint32_t size = 32, *slots;

	if (def->kind != DEFINITION_ENUM || def->count < HASHED_LEAST)
		return 0;
	while (size / 2 < def->count)
		size *= 2;
	slots = keep(d, size * sizeof *slots);
	if (!slots)
		return -1;
	def->by_value = slots;
	def->mask = size - 1;
	for (uint32_t i = 0; i < def->count; i++) {
		uint32_t at = value_slot(def, def->members[i].value);

		if (!slots[at])
			slots[at] = i + 1;
	}
	return 0;
}

const struct member *definition_member(const struct definition *d, uint64_t value)
{
	uint32_t index;

	if (d->by_value) {
		index = d->by_value[value_slot(d, value)];
		return index ? &d->members[index - 1] : NULL;
	}
	for (uint32_t i = 0; i < d->count; i++)
		if (d->members[i].value == value)
			return &d->members[i];
	return NULL;
}

static int read_definition(struct entry *en)
{
	struct dictionary *d = en->d;
	struct definition def = {.name = string_at(en, 0),
				 .kind = get_u32(en->data + 4),
				 .count = get_u32(en->data + 8),
				 .native = get_u32(en->data + 12)},
			  *p;
	struct member *members;
	bool fresh;

	if (def.count > (en->size - 16) / 16) {
		en->wrong = "more members than bytes";
		return -1;
	}
	d->scratch->size = 0;
	if (buffer_u32(d->scratch, def.name.number) || buffer_u32(d->scratch, def.kind) ||
	    buffer_u32(d->scratch, def.native))
		return -1;
	for (uint32_t i = 0; i < def.count; i++)
		if (buffer_u32(d->scratch, string_at(en, 16 + 16 * i).number) ||
		    buffer_append(d->scratch, en->data + 16 + 16 * i + 8, 8))
			return -1;
	p = by_content(en, ENTRY_DEFINITION, &d->definitions, d->scratch->data, d->scratch->size,
		       &fresh);
	if (!p)
		return -1;
	if (fresh) {
		*p = (struct definition){.name = def.name, .kind = def.kind, .native = def.native};
		members = keep(d, def.count * sizeof *members);
		if (!members)
			return -1;
		for (uint32_t i = 0; i < def.count; i++)
			members[i] = (struct member){string_at(en, 16 + 16 * i),
						     get_u64(en->data + 16 + 16 * i + 8)};
		def.members = members;
		def.number = d->definitions.count - 1;
		if (hash_values(d, &def))
			return -1;
		*p = def;
	}
	return 0;
}

static bool field_sane(const struct field *f, const struct type *t)
{
	uint64_t count = f->count ? f->count : 1;

	if (f->size > 65536 || f->count > 1 << 20 || f->offset > 1 << 24)
		return false;
	if (f->where == WHERE_FIXED)
		return f->offset + f->size * count <= t->fixed_size;
	/* a place that a later version knows of is nothing to complain about, nor to look at */
	return t->flags & TYPE_TAIL || f->where > WHERE_REST;
}

static void field_at(struct entry *en, uint32_t i, struct field *f)
{
	size_t at = TYPE_HEAD + FIELD_SIZE * (size_t)i;
	struct field_entry e;

	entry_get_field(en->data + at, &e);
	*f = (struct field){.name = string_of(en, e.name),
			    .type_name = string_of(en, e.type_name),
			    .kind = e.kind,
			    .role = e.role,
			    .where = e.where,
			    .offset = e.offset,
			    .size = e.size,
			    .count = e.count};
	f->definition = dictionary_definition(en->d, number_of(en, e.definition, ENTRY_DEFINITION));
}

static int type_key(struct entry *en, const struct type *t, uint32_t source)
{
	struct buffer *b = en->d->scratch;
	uint32_t head[] = {source,    t->name.number, t->group.number, t->declaration.number,
			   t->kind,   t->flags,	      t->word_size,    t->fixed_size,
			   t->native, t->nfields};

	b->size = 0;
	if (buffer_append(b, head, sizeof head))
		return -1;
	for (uint32_t i = 0; i < t->nfields; i++) {
		struct field f;

		field_at(en, i, &f);
		uint32_t key[] = {f.name.number,
				  f.type_name.number,
				  f.kind | f.role << 8 | f.where << 16,
				  f.offset,
				  f.size,
				  f.count,
				  f.definition ? f.definition->number : 0};
		if (!field_sane(&f, t)) {
			en->wrong = "a field outside its row";
			return -1;
		}
		if (buffer_append(b, key, sizeof key))
			return -1;
	}
	return 0;
}

static int read_type(struct entry *en)
{
	struct dictionary *d = en->d;
	uint32_t source = number_at(en, 0, ENTRY_SOURCE);
	struct type t = {.name = string_at(en, 4),
			 .group = string_at(en, 8),
			 .declaration = string_at(en, 12),
			 .kind = en->data[16],
			 .word_size = en->data[17],
			 .flags = get_u16(en->data + 18),
			 .fixed_size = get_u32(en->data + 20),
			 .native = get_u32(en->data + 24),
			 .nfields = get_u32(en->data + 28),
			 .source = source ? pool_at(&d->sources, source) : NULL},
		    *p;
	struct field *fields;
	bool fresh;

	if (t.kind >= KIND_COUNT || t.fixed_size % 4 || t.fixed_size > 65536) {
		en->wrong = "a type of an impossible kind or size";
		return -1;
	}
	if (t.nfields > (en->size - TYPE_HEAD) / FIELD_SIZE) {
		en->wrong = "more fields than bytes";
		return -1;
	}
	if (type_key(en, &t, source))
		return -1;
	p = by_content(en, ENTRY_TYPE, &d->types, d->scratch->data, d->scratch->size, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		*p = t;
		p->nfields = 0;
		fields = keep(d, t.nfields * sizeof *fields);
		if (!fields)
			return -1;
		for (uint32_t i = 0; i < t.nfields; i++)
			field_at(en, i, &fields[i]);
		t.fields = fields;
		t.number = d->types.count - 1;
		*p = t;
	}
	return 0;
}

static int read_space(struct entry *en)
{
	struct dictionary *d = en->d;
	uint32_t source = number_at(en, 0, ENTRY_SOURCE);
	struct space s = {.source = pool_at(&d->sources, source),
			  .name = string_at(en, 4),
			  .pid = (int32_t)get_u32(en->data + 8),
			  .flags = get_u32(en->data + 12)},
		     *p;
	uint32_t key[] = {source, s.name.number, (uint32_t)s.pid, s.flags};
	bool fresh;

	p = by_content(en, ENTRY_SPACE, &d->spaces, key, sizeof key, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		s.number = d->spaces.count - 1;
		*p = s;
	}
	return 0;
}

static int read_map(struct entry *en)
{
	struct dictionary *d = en->d;
	uint32_t space = number_at(en, 0, ENTRY_SPACE);
	struct map m = {.flags = get_u32(en->data + 4),
			.start = get_u64(en->data + 8),
			.end = get_u64(en->data + 16),
			.offset = get_u64(en->data + 24),
			.time = get_u64(en->data + 32),
			.epoch = get_u32(en->data + 40),
			.path = string_at(en, 44),
			.build_id = string_at(en, 48),
			.table = string_at(en, 52)},
		   *maps;
	uint64_t key[] = {
		space,	 m.flags,	m.start,	   m.end,	  m.offset, m.time,
		m.epoch, m.path.number, m.build_id.number, m.table.number};
	struct space *s;
	uint32_t known = d->keys[ENTRY_MAP].count;

	if (!space) {
		en->wrong = "a mapping without an address space";
		return -1;
	}
	switch (intern(&d->keys[ENTRY_MAP], key, sizeof key)) {
	case INTERN_NONE: return -1;
	default:
		if (d->keys[ENTRY_MAP].count == known)
			return 0; /* said again in a later segment */
	}
	s = pool_at(&d->spaces, space);
	maps = array_grow(s->maps, &s->maps_capacity, s->nmaps, sizeof *maps);
	if (!maps)
		return -1;
	s->maps = maps;
	maps[s->nmaps++] = m;
	return 0;
}

static int read_place(struct entry *en)
{
	struct dictionary *d = en->d;
	uint32_t space = number_at(en, 0, ENTRY_SPACE);
	struct place pl = {.epoch = get_u32(en->data + 4),
			   .address = get_u64(en->data + 8),
			   .name = string_at(en, 16),
			   .space = space ? pool_at(&d->spaces, space) : NULL},
		     *p;
	uint32_t arguments = number_at(en, 20, ENTRY_DEFINITION);
	uint32_t key[] = {
		space,		pl.epoch, (uint32_t)pl.address, (uint32_t)(pl.address >> 32),
		pl.name.number, arguments};
	bool fresh;

	p = by_content(en, ENTRY_PLACE, &d->places, key, sizeof key, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		pl.number = d->places.count - 1;
		pl.arguments = dictionary_definition(d, arguments);
		*p = pl;
	}
	return 0;
}

static bool same_symbol(const struct place_symbol *a, const struct place_symbol *b)
{
	return a->name.number == b->name.number && a->module.number == b->module.number &&
	       a->file.number == b->file.number && a->start == b->start && a->size == b->size &&
	       a->line == b->line && a->flags == b->flags;
}

/* Symbols bring their texts with them: who adds them has no ids of the segment to give away. */
static int read_symbol(struct entry *en)
{
	struct dictionary *d = en->d;
	uint32_t place = idmap_get(&d->ids[ENTRY_PLACE], en->id), name = get_u32(en->data + 24),
		 module = get_u32(en->data + 28), file = get_u32(en->data + 32);
	struct place_symbol s = {.start = get_u64(en->data),
				 .size = get_u64(en->data + 8),
				 .line = get_u32(en->data + 16),
				 .flags = get_u32(en->data + 20)},
			    *kept;
	const char *text = (const char *)en->data + 40;
	struct place *p;

	if (!place) {
		en->wrong = "a symbol of a place that is not declared";
		return -1;
	}
	if ((uint64_t)name + module + file > en->size - 40) {
		en->wrong = "longer texts than bytes";
		return -1;
	}
	s.name = dictionary_text(d, text, name);
	s.module = dictionary_text(d, text + name, module);
	s.file = dictionary_text(d, text + name + module, file);
	p = pool_at(&d->places, place);
	if (p->symbol && same_symbol(p->symbol, &s))
		return 0;
	if (p->symbol) {
		d->symbol_changes++;
		d->redeclared = true;
	}
	kept = pool_add(&d->symbols);
	if (!kept)
		return -1;
	*kept = s;
	p->symbol = kept;
	return 0;
}

static const struct {
	uint32_t least; /* bytes of payload */
	int (*read)(struct entry *);
} readers[ENTRY_KINDS] = {
	[ENTRY_STRING] = {0, read_string},     [ENTRY_CLOCK] = {16, read_clock},
	[ENTRY_SOURCE] = {16, read_source},    [ENTRY_LANE] = {40, read_lane},
	[ENTRY_TYPE] = {TYPE_HEAD, read_type}, [ENTRY_DEFINITION] = {16, read_definition},
	[ENTRY_SPACE] = {16, read_space},      [ENTRY_MAP] = {56, read_map},
	[ENTRY_PLACE] = {24, read_place},      [ENTRY_SYMBOL] = {40, read_symbol},
};

/* What is wrong with one entry, NULL if nothing. */
static const char *read_entry(struct entry *en, uint32_t kind)
{
	if (!kind || kind >= ENTRY_KINDS)
		return NULL; /* of a later version */
	if (en->size < readers[kind].least)
		return "too few bytes";
	if (readers[kind].read(en) || en->wrong)
		return en->wrong ? en->wrong : "what cannot be kept";
	return NULL;
}

int dictionary_read(struct dictionary *d, const uint8_t *payload, size_t n, size_t *where,
		    struct error *e)
{
	struct raw_entry raw;
	size_t at = 0;
	int result = 0, got;

	d->redeclared = false;
	do {
		size_t begin = at;
		const char *wrong = NULL;

		got = entry_next(payload, n, &at, &raw);
		if (got > 0) {
			struct entry en = {d, raw.data, raw.size, raw.id, NULL};

			wrong = read_entry(&en, raw.kind);
		} else if (got < 0) {
			wrong = "more bytes than its block";
		}
		if (wrong && !result) {
			*where = begin;
			result = error_set(e, NULL, NO_OFFSET, "a dictionary entry with %s", wrong);
		}
	} while (got > 0);
	return result;
}

struct text_ref dictionary_place_name(struct dictionary *d, uint32_t place)
{
	const struct place *p = dictionary_place(d, place);
	char text[32];
	int n;

	if (p && p->symbol && p->symbol->name.size)
		return p->symbol->name;
	if (p && p->name.size)
		return p->name;
	n = snprintf(text, sizeof text, "<%" PRIx64 ">", p ? p->address : 0);
	return dictionary_text(d, text, (size_t)n);
}
