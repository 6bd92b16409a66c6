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

/* Test whether an entry is emitted for the first time, and mark it. */
static bool first(struct declare *d, enum entry_kind kind, uint32_t number)
{
	struct buffer *b = &d->emitted[kind];

	if (number >= b->size && buffer_zero(b, number + 1 - b->size)) {
		d->out_of_memory = true;
		return false;
	}
	if (b->data[number])
		return false;
	b->data[number] = 1;
	return true;
}

static void entry(struct declare *d, enum entry_kind kind, uint32_t id, const void *data, size_t n)
{
	if (entry_append(&d->out, kind, id, data, n))
		d->out_of_memory = true;
}

static uint32_t text(struct declare *d, struct text_ref t)
{
	if (!t.size)
		return 0;
	if (first(d, ENTRY_STRING, t.number))
		entry(d, ENTRY_STRING, t.number + 1, t.text, t.size);
	return t.number + 1;
}

static uint32_t clock_id(struct declare *d, const struct clock *c)
{
	uint8_t p[16];

	if (!c->number || !first(d, ENTRY_CLOCK, c->number))
		return c->number;
	put_u32(p, text(d, c->name));
	put_u32(p + 4, c->flags);
	put_u64(p + 8, (uint64_t)c->wall);
	entry(d, ENTRY_CLOCK, c->number, p, sizeof p);
	return c->number;
}

/* Get a source's id; declare the source again if the id got another meaning in between. */
static uint32_t source_id(struct declare *d, const struct source *s)
{
	uint8_t p[16], *now;
	size_t at;

	if (!s || !s->number || s->id >= SOURCE_IDS)
		return 0;
	at = (size_t)s->id * 4;
	if (at + 4 > d->sources.size && buffer_zero(&d->sources, at + 4 - d->sources.size)) {
		d->out_of_memory = true;
		return 0;
	}
	now = d->sources.data + at;
	if (get_u32(now) == s->number)
		return s->id;
	put_u32(now, s->number);
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

	if (!l || !l->number || !first(d, ENTRY_LANE, l->number))
		return l ? l->number : 0;
	put_u32(p, source_id(d, l->source));
	put_u32(p + 4, clock_id(d, l->clock));
	put_u32(p + 8, text(d, l->buffer));
	put_u32(p + 12, text(d, l->comm));
	put_u32(p + 16, l->flags);
	put_u32(p + 20, (uint32_t)l->cpu);
	put_u32(p + 24, (uint32_t)l->tid);
	put_u32(p + 28, (uint32_t)l->pid);
	put_u32(p + 32, (uint32_t)l->ppid);
	entry(d, ENTRY_LANE, l->number, p, sizeof p);
	return l->number;
}

uint32_t declare_definition(struct declare *d, const struct definition *def)
{
	uint8_t head[DEFINITION_HEAD], p[MEMBER_SIZE];
	struct buffer b = {0};
	int bad;

	if (!def || !def->number || !first(d, ENTRY_DEFINITION, def->number))
		return def ? def->number : 0;
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
		entry(d, ENTRY_DEFINITION, def->number, b.data, b.size);
	buffer_free(&b);
	return def->number;
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
	int bad;

	if (!t || !t->number || !first(d, ENTRY_TYPE, t->number))
		return t ? t->number : 0;
	e = (struct type_entry){.kind = t->kind,
				.word_size = t->word_size,
				.flags = t->flags,
				.fixed_size = t->fixed_size,
				.native = t->native,
				.nfields = t->nfields};
	e.source = source_id(d, t->source);
	e.name = text(d, t->name);
	e.group = text(d, t->group);
	entry_put_type(p, &e);
	bad = buffer_append(&b, p, sizeof p);
	for (uint32_t i = 0; i < t->nfields && !bad; i++)
		bad = field(d, &b, &t->fields[i]);
	d->out_of_memory |= bad;
	/* declaring its fields may have declared another source with that id */
	put_u32(b.data, source_id(d, t->source));
	if (!bad)
		entry(d, ENTRY_TYPE, t->number, b.data, b.size);
	buffer_free(&b);
	return t->number;
}

static uint32_t space_id(struct declare *d, const struct space *s)
{
	uint8_t p[16];

	if (!s || !s->number || !first(d, ENTRY_SPACE, s->number))
		return s ? s->number : 0;
	put_u32(p + 4, text(d, s->name));
	put_u32(p, source_id(d, s->source));
	put_u32(p + 8, (uint32_t)s->pid);
	put_u32(p + 12, s->flags);
	entry(d, ENTRY_SPACE, s->number, p, sizeof p);
	return s->number;
}

static void symbol(struct declare *d, const struct location *pl)
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
		entry(d, ENTRY_SYMBOL, pl->number, b.data, b.size);
	buffer_free(&b);
}

uint32_t declare_location(struct declare *d, uint32_t number)
{
	const struct location *pl = dictionary_location(d->dictionary, number);
	uint8_t p[24];

	if (!pl || !first(d, ENTRY_LOCATION, number))
		return number;
	put_u32(p, space_id(d, pl->space));
	put_u32(p + 4, pl->epoch);
	put_u64(p + 8, pl->address);
	put_u32(p + 16, text(d, pl->name));
	put_u32(p + 20, declare_definition(d, pl->arguments));
	entry(d, ENTRY_LOCATION, number, p, sizeof p);
	if (pl->symbol)
		symbol(d, pl);
	return number;
}
