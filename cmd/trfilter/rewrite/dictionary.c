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

enum disguise { PLAIN, AS_NAME, AS_PATH };

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

static struct text_ref text_at(struct rewrite *r, const struct raw_entry *o, size_t at)
{
	return text_of(r, get_u32(o->data + at));
}

/* Rewrite the string id at that offset of the old entry, in the new one. */
static int rewrite_string(struct rewrite *r, const struct raw_entry *o, size_t at,
			  enum disguise how)
{
	struct buffer text = {0};
	uint32_t id = 0;
	int bad = disguise_text(r, text_at(r, o, at), how, &text) ||
		  send_text(r, text.data, text.size, &id);

	buffer_free(&text);
	put_u32(r->entry.data + at, id);
	return bad;
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
	enum disguise how = PLAIN;
	struct definition_entry d;

	entry_get_definition(o->data, &d);
	/* an entry that the dictionary ignores too */
	if (d.nmembers > (o->size - DEFINITION_HEAD) / MEMBER_SIZE)
		return 1;
	r->entry.size = DEFINITION_HEAD + MEMBER_SIZE * (size_t)d.nmembers;
	/* the struct of a function's arguments has the function's name */
	if (rewrite_string(r, o, 0, d.kind == DEFINITION_STRUCT ? AS_NAME : PLAIN))
		return -1;
	for (uint32_t i = 0; i < d.nmembers; i++) {
		size_t at = DEFINITION_HEAD + MEMBER_SIZE * (size_t)i;
		struct text_ref t = text_at(r, o, at);
		bool key = d.kind == DEFINITION_FRAME && how == PLAIN;

		if (rewrite_string(r, o, at, how))
			return -1;
		how = PLAIN;
		if (key && !strcmp(t.text, "function"))
			how = AS_NAME;
		else if (key && (!strcmp(t.text, "module") || !strcmp(t.text, "file")))
			how = AS_PATH;
	}
	return 0;
}

/* Read the type of an entry; ids of definitions are put in place of pointers. */
static void read_type(struct rewrite *r, const struct raw_entry *o, struct type *t,
		      struct field *fields)
{
	*t = (struct type){.kind = o->data[16],
			   .word_size = o->data[17],
			   .flags = get_u16(o->data + 18),
			   .fixed_size = get_u32(o->data + 20),
			   .nfields = get_u32(o->data + 28),
			   .declaration = text_at(r, o, 12),
			   .fields = fields};
	for (uint32_t i = 0; i < t->nfields; i++) {
		struct field_entry f;

		entry_get_field(o->data + TYPE_HEAD + FIELD_SIZE * (size_t)i, &f);
		fields[i] = (struct field){.name = text_of(r, f.name),
					   .kind = f.kind,
					   .role = f.role,
					   .where = f.where,
					   .offset = f.offset,
					   .size = f.size,
					   .count = f.count};
	}
}

/* Write the fields of a layout, from those of the old entry. */
static int put_fields(struct rewrite *r, const struct raw_entry *o, const struct layout *l)
{
	for (uint32_t i = 0; i < l->type.nfields; i++) {
		const uint8_t *from = o->data + TYPE_HEAD + FIELD_SIZE * (size_t)l->from[i];
		uint8_t *to = r->entry.data + TYPE_HEAD + FIELD_SIZE * (size_t)i;
		struct field_entry f;
		struct text_ref name, type_name;

		memcpy(to, from, FIELD_SIZE);
		entry_get_field(from, &f);
		name = text_of(r, f.name);
		type_name = text_of(r, f.type_name);
		f.where = l->fields[i].where;
		f.offset = l->fields[i].offset;
		if (send_text(r, name.text, name.size, &f.name) ||
		    send_text(r, type_name.text, type_name.size, &f.type_name))
			return -1;
		entry_put_field(to, &f);
	}
	return 0;
}

static int type(struct rewrite *r, const struct raw_entry *o)
{
	uint32_t n = get_u32(o->data + 28);
	struct field *fields;
	struct layout l;
	struct type t;
	int bad;

	/* an entry that the dictionary ignores too */
	if (n > (o->size - TYPE_HEAD) / FIELD_SIZE || n > FIELDS_MOST || o->data[16] >= KIND_COUNT)
		return 1;
	fields = calloc(n + 1, sizeof *fields);
	if (!fields)
		return stage_no_memory(r->stage);
	read_type(r, o, &t, fields);
	if (layout_make(&l, &t, &r->projection, &r->scrub)) {
		free(fields);
		return stage_no_memory(r->stage);
	}
	r->entry.size = TYPE_HEAD + FIELD_SIZE * (size_t)l.type.nfields;
	put_u32(r->entry.data + 20, l.type.fixed_size);
	put_u32(r->entry.data + 28, l.type.nfields);
	put_u32(r->entry.data + 12, 0);
	bad = rewrite_string(r, o, 4, PLAIN) || rewrite_string(r, o, 8, PLAIN) ||
	      put_fields(r, o, &l) || (l.type.declaration.size && rewrite_string(r, o, 12, PLAIN));
	layout_free(&l);
	free(fields);
	return bad ? -1 : 0;
}

static int map(struct rewrite *r, const struct raw_entry *o)
{
	r->entry.size = 56;
	put_u32(r->entry.data + 48, 0);
	put_u32(r->entry.data + 52, 0);
	if (rewrite_string(r, o, 44, AS_PATH))
		return -1;
	/* a build id identifies the file, and symbol tables are left out */
	if (!(r->scrub.what & SCRUB_PATHS) && rewrite_string(r, o, 48, PLAIN))
		return -1;
	if (!(r->scrub.what & (SCRUB_NAMES | SCRUB_PATHS)) && rewrite_string(r, o, 52, PLAIN))
		return -1;
	return 0;
}

static int symbol(struct rewrite *r, const struct raw_entry *o)
{
	static const enum disguise how[] = {AS_NAME, AS_PATH, AS_PATH};
	const char *text = (const char *)o->data + 40;
	uint64_t left = o->size - 40;

	r->entry.size = 40;
	for (unsigned i = 0; i < 3; i++) {
		uint32_t n = get_u32(o->data + 24 + 4 * i);
		size_t before = r->entry.size;

		if (n > left)
			return 1;
		if (disguise_text(r, (struct text_ref){text, n, 0}, how[i], &r->entry))
			return -1;
		put_u32(r->entry.data + 24 + 4 * i, (uint32_t)(r->entry.size - before));
		text += n;
		left -= n;
	}
	return 0;
}

/* Rewrite r->entry, which is a copy of the old one. Returns 1 if nothing is to be sent. */
static int rewrite_entry(struct rewrite *r, const struct raw_entry *o)
{
	unsigned hide = r->scrub.what & (SCRUB_NAMES | SCRUB_PATHS);

	switch ((enum entry_kind)o->kind) {
	case ENTRY_STRING: return learn_string(r, o) ? -1 : 1;
	case ENTRY_CLOCK: r->entry.size = 16; return rewrite_string(r, o, 0, PLAIN);
	case ENTRY_SOURCE:
		r->entry.size = 16;
		if (rewrite_string(r, o, 0, PLAIN))
			return -1;
		return rewrite_string(r, o, 4,
				      hide & SCRUB_PATHS ? AS_PATH
				      : hide		 ? AS_NAME
							 : PLAIN);
	case ENTRY_LANE:
		r->entry.size = 40;
		return rewrite_string(r, o, 8, PLAIN) || rewrite_string(r, o, 12, AS_NAME) ? -1 : 0;
	case ENTRY_TYPE: return type(r, o);
	case ENTRY_DEFINITION: return definition(r, o);
	case ENTRY_SPACE:
		r->entry.size = 16;
		return rewrite_string(r, o, 4, hide & SCRUB_PATHS ? AS_PATH : AS_NAME);
	case ENTRY_MAP: return map(r, o);
	case ENTRY_LOCATION: r->entry.size = 24; return rewrite_string(r, o, 16, AS_NAME);
	case ENTRY_SYMBOL: return symbol(r, o);
	case ENTRY_THREAD: r->entry.size = THREAD_SIZE; return 0;
	case ENTRY_KINDS: break;
	}
	return 1; /* of a later version: its names are unknown */
}

static int one(struct rewrite *r, const struct raw_entry *o)
{
	static const uint8_t least[ENTRY_KINDS] = {[ENTRY_CLOCK] = 16,
						   [ENTRY_SOURCE] = 16,
						   [ENTRY_LANE] = 40,
						   [ENTRY_TYPE] = TYPE_HEAD,
						   [ENTRY_DEFINITION] = DEFINITION_HEAD,
						   [ENTRY_SPACE] = 16,
						   [ENTRY_MAP] = 56,
						   [ENTRY_LOCATION] = 24,
						   [ENTRY_SYMBOL] = 40,
						   [ENTRY_THREAD] = THREAD_SIZE};
	int made;

	if (!o->kind || o->kind >= ENTRY_KINDS || o->size < least[o->kind])
		return 0;
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
	while (entry_next(b->payload, b->length, &at, &o) > 0)
		if (one(r, &o))
			return -1;
	return send(r);
}
