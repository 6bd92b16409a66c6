#include "common/stream/declare.h"

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

/* Encode the fields of an object, or of a part of one, at an offset of the buffer. */
static void encode(struct buffer *b, size_t at, const struct entry_layout *l, const void *object,
		   declare_id id, void *ctx)
{
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++) {
		const uint8_t *from = (const uint8_t *)object + f->object;
		struct text_ref text = {0};
		const void *entry = NULL;

		if (!f->refers) {
			entry_number(b->data + at + f->at, from, f->width);
			continue;
		}
		if (f->refers == ENTRY_STRING)
			memcpy(&text, from, sizeof text);
		else
			memcpy(&entry, from, sizeof entry);
		put_u32(b->data + at + f->at, id(ctx, f, text, entry));
	}
}

int declare_encode(struct buffer *b, enum entry_kind kind, const void *object, declare_id id,
		   void *ctx)
{
	const struct entry_layout *l = &entry_layouts[kind];
	const uint8_t *parts = NULL;
	size_t at = b->size;
	uint32_t n = 0;

	if (l->part) {
		memcpy(&n, (const uint8_t *)object + l->object_count, sizeof n);
		memcpy(&parts, (const uint8_t *)object + l->object_parts, sizeof parts);
	}
	if (buffer_zero(b, l->size + (n ? (size_t)l->part->size * n : 0)))
		return -1;
	encode(b, at, l, object, id, ctx);
	for (uint32_t i = 0; i < n; i++, parts += l->object_size)
		encode(b, at + entry_part(l, i), l->part, parts, id, ctx);
	return 0;
}

struct symbol_entry declare_symbol(const struct location_symbol *s)
{
	return (struct symbol_entry){.start = s->start,
				     .size = s->size,
				     .line = s->line,
				     .flags = s->flags,
				     .name = s->name.text,
				     .module = s->module.text,
				     .file = s->file.text,
				     .name_size = s->name.size,
				     .module_size = s->module.size,
				     .file_size = s->file.size};
}

static uint32_t declare_object(struct declare *d, enum entry_kind kind, const void *object);

/* Get the id of a text or an object that an entry names, which is emitted first. */
static uint32_t id_in(void *ctx, const struct entry_field *f, struct text_ref text,
		      const void *object)
{
	struct declare *d = ctx;
	uint32_t id;
	bool fresh;

	if (f->refers != ENTRY_STRING)
		return declare_object(d, f->refers, object);
	if (!text.size || (f->use == USE_DECLARATION && !d->whole))
		return 0;
	id = id_of(d, ENTRY_STRING, text.number, &fresh);
	if (fresh)
		entry(d, ENTRY_STRING, id, text.text, text.size);
	return id;
}

/* Get a source's id; *fresh: the id got another meaning in between. */
static uint32_t source_id(struct declare *d, const struct source *s, bool *fresh)
{
	*fresh = false;
	if (!d->id && s->id >= SOURCE_IDS)
		return 0;
	if (d->id)
		d->id(d->ctx, ENTRY_SOURCE, s->number, fresh);
	else
		*fresh = !has_source(d, s);
	return s->id;
}

static void emit_symbol(struct declare *d, uint32_t id, const struct location_symbol *symbol)
{
	struct symbol_entry e = declare_symbol(symbol);
	struct buffer b = {0};

	if (entry_symbol(&b, &e))
		d->out_of_memory = true;
	else
		entry(d, ENTRY_SYMBOL, id, b.data, b.size);
	buffer_free(&b);
}

/* Emit an entry after those that it names. */
static void emit(struct declare *d, enum entry_kind kind, uint32_t id, const void *object)
{
	struct buffer b = {0};

	if (declare_encode(&b, kind, object, id_in, d))
		d->out_of_memory = true;
	else
		entry(d, kind, id, b.data, b.size);
	buffer_free(&b);
}

static uint32_t declare_object(struct declare *d, enum entry_kind kind, const void *object)
{
	uint32_t number = object ? *(const uint32_t *)object : 0, id;
	const struct location *location = object;
	const struct space *space = object;
	struct lane lane;
	bool fresh;

	if (!number)
		return 0;
	id = kind == ENTRY_SOURCE ? source_id(d, object, &fresh) : id_of(d, kind, number, &fresh);
	if (!fresh)
		return id;
	if (kind == ENTRY_LANE && d->lane_flags) {
		lane = *(const struct lane *)object;
		lane.flags |= d->lane_flags(d->ctx, object);
		object = &lane;
	}
	emit(d, kind, id, object);
	for (size_t i = 0; kind == ENTRY_SPACE && d->whole && i < space->nmaps; i++)
		emit(d, ENTRY_MAP, 1, &space->maps[i]); /* the id has no meaning */
	if (kind == ENTRY_LOCATION && location->symbol)
		emit_symbol(d, id, location->symbol);
	return id;
}

uint32_t declare_lane(struct declare *d, const struct lane *l)
{
	return declare_object(d, ENTRY_LANE, l);
}

uint32_t declare_definition(struct declare *d, const struct definition *def)
{
	return declare_object(d, ENTRY_DEFINITION, def);
}

uint32_t declare_type(struct declare *d, const struct type *t)
{
	return declare_object(d, ENTRY_TYPE, t);
}

uint32_t declare_location(struct declare *d, uint32_t number)
{
	const struct location *location = dictionary_location(d->dictionary, number);

	return location ? declare_object(d, ENTRY_LOCATION, location) : number;
}

uint32_t declare_stack(struct declare *d, uint32_t number)
{
	struct buffer callers = {0};
	uint32_t id = 0;
	bool fresh;

	for (; number; number = dictionary_stack_parent(d->dictionary, number))
		if (buffer_u32(&callers, number))
			d->out_of_memory = true;
	for (size_t i = callers.size; i && !d->out_of_memory; i -= 4) {
		struct stack_entry e = {.parent = id};

		number = get_u32(callers.data + i - 4);
		e.location = declare_location(d, dictionary_stack_location(d->dictionary, number));
		id = id_of(d, ENTRY_STACK, number, &fresh);
		if (fresh && entry_append_content(&d->out, ENTRY_STACK, id, &e))
			d->out_of_memory = true;
	}
	buffer_free(&callers);
	return d->out_of_memory ? 0 : id;
}
