/*
 * dictionary.c - rewrite the entries of a dictionary: new ids of strings, types by their layouts
 */
#include <stdlib.h>

#include "cmd/trfilter/rewrite/rewrite.h"

enum {
	DICT_SENT = 128 * 1024, /* entries collected for one block, bytes */
	FIELDS_MOST = 65536,	/* as many as fit in a block */
};

static int send(struct rewrite *r)
{
	struct block b = {.kind = BLOCK_DICT,
			  .payload = r->out.data,
			  .length = (uint32_t)r->out.size,
			  .available = (uint32_t)r->out.size,
			  .redeclares = true};

	if (!r->out.size)
		return 0;
	if (stage_forward_plain(r->stage, &b, NULL, NULL))
		return -1;
	r->out.size = 0;
	return 0;
}

/* Send an entry. All functions here return 0, or -1 after stage_fail. */
static int send_entry(struct rewrite *r, enum entry_kind kind, uint32_t id, const void *data,
		      size_t n)
{
	if (r->out.size + n > DICT_SENT && send(r))
		return -1;
	return entry_append(&r->out, kind, id, data, n) ? stage_no_memory(r->stage) : 0;
}

/* Find the id of a text in the new stream; a text that the segment lacks is sent. */
static int send_text(struct rewrite *r, const void *text, size_t n, uint32_t *id)
{
	uint32_t number;
	size_t at;

	*id = 0;
	if (!n)
		return 0;
	number = intern(&r->sent, text, n);
	if (number == INTERN_NONE)
		return stage_no_memory(r->stage);
	at = 4 * (size_t)number;
	if (at >= r->segments.size && buffer_zero(&r->segments, at + 4 - r->segments.size))
		return stage_no_memory(r->stage);
	*id = number + 1;
	if (get_u32(r->segments.data + at) == r->segment)
		return 0;
	put_u32(r->segments.data + at, r->segment);
	return send_entry(r, ENTRY_STRING, *id, text, n);
}

enum disguise { PLAIN, AS_NAME, AS_PATH, LEFT_OUT };

/* Returns the replacement of a text in *out. */
static int disguise_text(struct rewrite *r, struct text_ref t, enum disguise how,
			 struct buffer *out)
{
	const struct scrub *s = &r->scrub;
	char pseudonym[PSEUDONYM];
	int bad = 0;

	if (how == AS_NAME && s->what & SCRUB_NAMES) {
		scrub_pseudonym(s, t.text, t.size, pseudonym);
		bad = buffer_append(out, pseudonym, t.size ? PSEUDONYM : 0);
	} else if (how == AS_PATH && s->what & SCRUB_PATHS) {
		bad = scrub_path(s, t.text, t.size, out);
	} else {
		bad = buffer_append(out, t.text, t.size);
	}
	return bad ? stage_no_memory(r->stage) : 0;
}

/* Returns the text that had that id in the old stream. */
static struct text_ref text_of(struct rewrite *r, uint32_t id)
{
	uint32_t n = idmap_get(&r->ids, id);

	if (!n)
		return (struct text_ref){.text = ""};
	return (struct text_ref){intern_data(&r->texts, n - 1), intern_size(&r->texts, n - 1), n};
}

static enum disguise disguise_of(const struct rewrite *r, enum entry_use use)
{
	unsigned what = r->scrub.what;

	switch (use) {
	case USE_NAME: return AS_NAME;
	case USE_PATH: return AS_PATH;
	case USE_TITLE: return what & SCRUB_PATHS ? AS_PATH : AS_NAME;
	case USE_BUILD_ID: return what & SCRUB_PATHS ? LEFT_OUT : PLAIN;
	/* symbol tables are left out */
	case USE_META: return what & (SCRUB_NAMES | SCRUB_PATHS) ? LEFT_OUT : PLAIN;
	default: return PLAIN;
	}
}

/* Replace the id of a text by that of the text in the new stream. */
static int rewrite_string(struct rewrite *r, uint32_t *id, enum disguise how)
{
	struct text_ref t = text_of(r, *id);
	struct buffer text = {0};
	int bad;

	*id = 0;
	if (how == LEFT_OUT)
		return 0;
	bad = disguise_text(r, t, how, &text) || send_text(r, text.data, text.size, id);
	buffer_free(&text);
	return bad;
}

/* Rewrite the texts of r->entry by their use. */
static int rewrite_texts(struct rewrite *r, const struct entry_layout *l)
{
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++) {
		uint32_t id = get_u32(r->entry.data + f->at);

		if (f->refers != ENTRY_STRING)
			continue;
		if (rewrite_string(r, &id, disguise_of(r, f->use)))
			return -1;
		put_u32(r->entry.data + f->at, id);
	}
	return 0;
}

static int learn_string(struct rewrite *r, const struct raw_entry *o)
{
	uint32_t number = intern(&r->texts, o->data, o->size);

	if (number == INTERN_NONE || idmap_set(&r->ids, o->id, number + 1))
		return stage_no_memory(r->stage);
	return 0;
}

static int definition(struct rewrite *r, const struct raw_entry *o)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_DEFINITION];
	uint32_t n = entry_parts(l, o->data, o->size);
	enum disguise how = PLAIN;
	struct definition_entry d;
	struct member_entry m;

	/* an entry that the dictionary ignores too */
	if (n == UINT32_MAX)
		return 1;
	r->entry.size = entry_part(l, n);
	entry_get(l, o->data, &d);
	/* the struct of a function's arguments has the function's name */
	if (rewrite_string(r, &d.name, d.kind == DEFINITION_STRUCT ? AS_NAME : PLAIN))
		return -1;
	entry_put(l, r->entry.data, &d);
	for (uint32_t i = 0; i < n; i++) {
		bool key = d.kind == DEFINITION_FRAME && how == PLAIN;
		struct text_ref t;

		entry_get(l->part, o->data + entry_part(l, i), &m);
		t = text_of(r, m.name);
		if (rewrite_string(r, &m.name, how))
			return -1;
		entry_put(l->part, r->entry.data + entry_part(l, i), &m);
		how = PLAIN;
		if (key && !strcmp(t.text, "function"))
			how = AS_NAME;
		else if (key && (!strcmp(t.text, "module") || !strcmp(t.text, "file")))
			how = AS_PATH;
	}
	return 0;
}

/* Get the fields of a type; definitions are left out. */
static void read_fields(struct rewrite *r, const struct raw_entry *o, uint32_t n,
			struct field *fields)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];

	for (uint32_t i = 0; i < n; i++) {
		struct field_entry f;

		entry_get(l->part, o->data + entry_part(l, i), &f);
		fields[i] = (struct field){.name = text_of(r, f.name),
					   .kind = f.kind,
					   .role = f.role,
					   .where = f.where,
					   .offset = f.offset,
					   .size = f.size,
					   .count = f.count};
	}
}

/* Write a type with the fields of a layout, from those of the old entry. */
static int put_type(struct rewrite *r, const struct raw_entry *o, struct type_entry *e,
		    const struct layout *made)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];

	r->entry.size = entry_part(l, made->type.nfields);
	e->fixed_size = made->type.fixed_size;
	e->nfields = made->type.nfields;
	if (rewrite_string(r, &e->name, PLAIN) || rewrite_string(r, &e->group, PLAIN))
		return -1;
	for (uint32_t i = 0; i < e->nfields; i++) {
		struct field_entry f;

		entry_get(l->part, o->data + entry_part(l, made->from[i]), &f);
		f.where = made->fields[i].where;
		f.offset = made->fields[i].offset;
		if (rewrite_string(r, &f.name, PLAIN) || rewrite_string(r, &f.type_name, PLAIN))
			return -1;
		entry_put(l->part, r->entry.data + entry_part(l, i), &f);
	}
	if (rewrite_string(r, &e->declaration, made->type.declaration.size ? PLAIN : LEFT_OUT))
		return -1;
	entry_put(l, r->entry.data, e);
	return 0;
}

static int type(struct rewrite *r, const struct raw_entry *o)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];
	uint32_t n = entry_parts(l, o->data, o->size);
	struct type_entry e;
	struct field *fields;
	struct layout made;
	struct type t;
	int bad;

	entry_get(l, o->data, &e);
	/* an entry that the dictionary ignores too */
	if (n > FIELDS_MOST || e.kind >= KIND_COUNT)
		return 1;
	fields = calloc(n + 1, sizeof *fields);
	if (!fields)
		return stage_no_memory(r->stage);
	read_fields(r, o, n, fields);
	t = (struct type){.kind = e.kind,
			  .word_size = e.word_size,
			  .flags = e.flags,
			  .fixed_size = e.fixed_size,
			  .nfields = n,
			  .declaration = text_of(r, e.declaration),
			  .fields = fields};
	if (layout_make(&made, &t, &r->projection, &r->scrub)) {
		free(fields);
		return stage_no_memory(r->stage);
	}
	bad = put_type(r, o, &e, &made);
	layout_free(&made);
	free(fields);
	return bad;
}

static int symbol(struct rewrite *r, const struct raw_entry *o)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_SYMBOL];
	const char *text = (const char *)o->data + l->size;
	struct symbol_entry e;
	uint32_t *sizes[] = {&e.name_size, &e.module_size, &e.file_size};
	uint64_t left = o->size - l->size;

	r->entry.size = l->size;
	entry_get(l, o->data, &e);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t n = *sizes[i];
		size_t before = r->entry.size;

		if (n > left)
			return 1;
		if (disguise_text(r, (struct text_ref){text, n, 0}, i ? AS_PATH : AS_NAME,
				  &r->entry))
			return -1;
		*sizes[i] = (uint32_t)(r->entry.size - before);
		text += n;
		left -= n;
	}
	entry_put(l, r->entry.data, &e);
	return 0;
}

/* Rewrite r->entry, which is a copy of the old one. Returns 1 if nothing is to be sent. */
static int rewrite_entry(struct rewrite *r, const struct raw_entry *o)
{
	const struct entry_layout *l = &entry_layouts[o->kind];

	switch ((enum entry_kind)o->kind) {
	case ENTRY_STRING: return learn_string(r, o) ? -1 : 1;
	case ENTRY_TYPE: return type(r, o);
	case ENTRY_DEFINITION: return definition(r, o);
	case ENTRY_SYMBOL: return symbol(r, o);
	default: r->entry.size = l->size; return rewrite_texts(r, l);
	}
}

static int one(struct rewrite *r, const struct raw_entry *o)
{
	int made;

	if (!entry_complete(o))
		return 0; /* damaged, or of a later version: its names are unknown */
	r->entry.size = 0;
	if (buffer_append(&r->entry, o->data, o->size))
		return stage_no_memory(r->stage);
	made = rewrite_entry(r, o);
	if (made)
		return made < 0 ? -1 : 0;
	return send_entry(r, (enum entry_kind)o->kind, o->id, r->entry.data, r->entry.size);
}

int rewrite_dict(struct rewrite *r, struct stage *s, const struct block *b)
{
	struct raw_entry o;
	size_t at = 0;

	r->stage = s;
	r->segment = s->out.segment + !s->out.in_segment;
	if (r->ids_segment != r->dictionary->segment)
		idmap_clear(&r->ids);
	r->ids_segment = r->dictionary->segment;
	while (entry_next(b->payload, b->length, &at, &o) > 0)
		if (one(r, &o))
			return -1;
	return send(r);
}
