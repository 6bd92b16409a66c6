#include "common/stream/declare.h"

#include "common/stream/entry.h"

enum { SOURCE_IDS = 1 << 20 };

void declare_init(struct declare *d, const struct dictionary *dictionary)
{
	*d = (struct declare){.dictionary = dictionary};
}

void declare_free(struct declare *d)
{
	buffer_free(&d->out);
	buffer_free(&d->sources);
	for (int k = 0; k < ENTRY_KINDS; k++)
		buffer_free(&d->emitted[k]);
}

/* Get the id of an entry, and whether it must be emitted. */
static uint32_t id_of(struct declare *d, enum entry_kind kind, uint32_t number, bool *fresh)
{
	struct buffer *b = &d->emitted[kind];

	*fresh = false;
	if (d->id)
		return d->id(d->ctx, kind, number, fresh);
	if (number >= b->size && buffer_zero(b, number + 1 - b->size)) {
		d->out_of_memory = true;
		return 0;
	}
	*fresh = !b->data[number];
	b->data[number] = 1;
	return kind == ENTRY_STRING ? number + 1 : number;
}

static void entry(struct declare *d, enum entry_kind kind, uint32_t id, const void *data, size_t n)
{
	if (entry_append(&d->out, kind, id, data, n))
		d->out_of_memory = true;
}

static uint32_t text(struct declare *d, struct text_ref t)
{
	uint32_t id;
	bool fresh;

	if (!t.size)
		return 0;
	id = id_of(d, ENTRY_STRING, t.number, &fresh);
	if (fresh)
		entry(d, ENTRY_STRING, id, t.text, t.size);
	return id;
}

static uint32_t clock_id(struct declare *d, const struct clock *c)
{
	uint8_t p[16];
	uint32_t id;
	bool fresh;

	if (!c->number)
		return 0;
	id = id_of(d, ENTRY_CLOCK, c->number, &fresh);
	if (!fresh)
		return id;
	put_u32(p, text(d, c->name));
	put_u32(p + 4, c->flags);
	put_u64(p + 8, (uint64_t)c->wall);
	entry(d, ENTRY_CLOCK, id, p, sizeof p);
	return id;
}

/* Test whether a source's id has that meaning now, and give it. */
static bool has_source(struct declare *d, const struct source *s)
{
	size_t at = (size_t)s->id * 4;

	if (at + 4 > d->sources.size && buffer_zero(&d->sources, at + 4 - d->sources.size)) {
		d->out_of_memory = true;
		return true;
	}
	if (get_u32(d->sources.data + at) == s->number)
		return true;
	put_u32(d->sources.data + at, s->number);
	return false;
}

/* Get a source's id; declare the source again if the id got another meaning in between. */
static uint32_t source_id(struct declare *d, const struct source *s)
{
	uint8_t p[16];
	bool fresh;

	if (!s || !s->number || (!d->id && s->id >= SOURCE_IDS))
		return 0;
	if (d->id)
		d->id(d->ctx, ENTRY_SOURCE, s->number, &fresh);
	else
		fresh = !has_source(d, s);
	if (!fresh)
		return s->id;
	put_u32(p, text(d, s->format));
	put_u32(p + 4, text(d, s->name));
	put_u32(p + 8, s->word_size);
	put_u32(p + 12, s->big_endian);
	entry(d, ENTRY_SOURCE, s->id, p, sizeof p);
	return s->id;
}

uint32_t declare_lane(struct declare *d, const struct lane *l)
{
	uint8_t p[40] = {0};
	uint32_t id;
	bool fresh;

	if (!l || !l->number)
		return 0;
	id = id_of(d, ENTRY_LANE, l->number, &fresh);
	if (!fresh)
		return id;
	put_u32(p, source_id(d, l->source));
	put_u32(p + 4, clock_id(d, l->clock));
	put_u32(p + 8, text(d, l->buffer));
	put_u32(p + 12, text(d, l->comm));
	put_u32(p + 16, l->flags | (d->lane_flags ? d->lane_flags(d->ctx, l) : 0));
	put_u32(p + 20, (uint32_t)l->cpu);
	put_u32(p + 24, (uint32_t)l->tid);
	put_u32(p + 28, (uint32_t)l->pid);
	put_u32(p + 32, (uint32_t)l->ppid);
	entry(d, ENTRY_LANE, id, p, sizeof p);
	return id;
}

uint32_t declare_definition(struct declare *d, const struct definition *def)
{
	uint8_t head[DEFINITION_HEAD], p[MEMBER_SIZE];
	struct buffer b = {0};
	uint32_t id;
	bool fresh;
	int bad;

	if (!def || !def->number)
		return 0;
	id = id_of(d, ENTRY_DEFINITION, def->number, &fresh);
	if (!fresh)
		return id;
	entry_put_definition(head, &(struct definition_entry){.name = text(d, def->name),
							      .kind = def->kind,
							      .flags = def->flags,
							      .native = def->native,
							      .nmembers = def->count});
	bad = buffer_append(&b, head, sizeof head);
	for (uint32_t i = 0; i < def->count && !bad; i++) {
		const struct member *m = &def->members[i];

		entry_put_member(p, &(struct member_entry){text(d, m->name), m->low, m->high});
		bad = buffer_append(&b, p, sizeof p);
	}
	d->out_of_memory |= bad;
	if (!bad)
		entry(d, ENTRY_DEFINITION, id, b.data, b.size);
	buffer_free(&b);
	return id;
}

static int field(struct declare *d, struct buffer *b, const struct field *f)
{
	struct field_entry e = {.kind = f->kind,
				.role = f->role,
				.where = f->where,
				.offset = f->offset,
				.size = f->size,
				.count = f->count};
	uint8_t q[FIELD_SIZE] = {0};

	e.name = text(d, f->name);
	e.type_name = text(d, f->type_name);
	e.definition = declare_definition(d, f->definition);
	entry_put_field(q, &e);
	return buffer_append(b, q, sizeof q);
}

uint32_t declare_type(struct declare *d, const struct type *t)
{
	struct type_entry e;
	struct buffer b = {0};
	uint8_t p[TYPE_HEAD] = {0};
	uint32_t id;
	bool fresh;
	int bad;

	if (!t || !t->number)
		return 0;
	id = id_of(d, ENTRY_TYPE, t->number, &fresh);
	if (!fresh)
		return id;
	e = (struct type_entry){.kind = t->kind,
				.word_size = t->word_size,
				.flags = t->flags,
				.fixed_size = t->fixed_size,
				.native = t->native,
				.nfields = t->nfields};
	e.source = source_id(d, t->source);
	e.name = text(d, t->name);
	e.group = text(d, t->group);
	e.declaration = d->whole ? text(d, t->declaration) : 0;
	entry_put_type(p, &e);
	bad = buffer_append(&b, p, sizeof p);
	for (uint32_t i = 0; i < t->nfields && !bad; i++)
		bad = field(d, &b, &t->fields[i]);
	d->out_of_memory |= bad;
	if (!bad) {
		/* declaring its fields may have declared another source with that id */
		put_u32(b.data, source_id(d, t->source));
		entry(d, ENTRY_TYPE, id, b.data, b.size);
	}
	buffer_free(&b);
	return id;
}

static void map(struct declare *d, uint32_t space, const struct map *m)
{
	uint8_t p[56] = {0};

	put_u32(p, space);
	put_u32(p + 4, m->flags);
	put_u64(p + 8, m->start);
	put_u64(p + 16, m->end);
	put_u64(p + 24, m->offset);
	put_u64(p + 32, m->time);
	put_u32(p + 40, m->epoch);
	put_u32(p + 44, text(d, m->path));
	put_u32(p + 48, text(d, m->build_id));
	put_u32(p + 52, text(d, m->table));
	/* the id has no meaning */
	entry(d, ENTRY_MAP, 1, p, sizeof p);
}

static uint32_t space_id(struct declare *d, const struct space *s)
{
	uint8_t p[16];
	uint32_t id;
	bool fresh;

	if (!s || !s->number)
		return 0;
	id = id_of(d, ENTRY_SPACE, s->number, &fresh);
	if (!fresh)
		return id;
	put_u32(p + 4, text(d, s->name));
	put_u32(p, source_id(d, s->source));
	put_u32(p + 8, (uint32_t)s->pid);
	put_u32(p + 12, s->flags);
	entry(d, ENTRY_SPACE, id, p, sizeof p);
	for (size_t i = 0; d->whole && i < s->nmaps; i++)
		map(d, id, &s->maps[i]);
	return id;
}

static void symbol(struct declare *d, uint32_t id, const struct location *pl)
{
	const struct location_symbol *s = pl->symbol;
	uint8_t p[40] = {0};
	struct buffer b = {0};

	put_u64(p, s->start);
	put_u64(p + 8, s->size);
	put_u32(p + 16, s->line);
	put_u32(p + 20, s->flags);
	put_u32(p + 24, s->name.size);
	put_u32(p + 28, s->module.size);
	put_u32(p + 32, s->file.size);
	if (buffer_append(&b, p, sizeof p) || buffer_append(&b, s->name.text, s->name.size) ||
	    buffer_append(&b, s->module.text, s->module.size) ||
	    buffer_append(&b, s->file.text, s->file.size))
		d->out_of_memory = true;
	else
		entry(d, ENTRY_SYMBOL, id, b.data, b.size);
	buffer_free(&b);
}

uint32_t declare_location(struct declare *d, uint32_t number)
{
	const struct location *pl = dictionary_location(d->dictionary, number);
	uint8_t p[24];
	uint32_t id;
	bool fresh;

	if (!pl)
		return number;
	id = id_of(d, ENTRY_LOCATION, number, &fresh);
	if (!fresh)
		return id;
	put_u32(p, space_id(d, pl->space));
	put_u32(p + 4, pl->epoch);
	put_u64(p + 8, pl->address);
	put_u32(p + 16, text(d, pl->name));
	put_u32(p + 20, declare_definition(d, pl->arguments));
	entry(d, ENTRY_LOCATION, id, p, sizeof p);
	if (pl->symbol)
		symbol(d, id, pl);
	return id;
}
