#include "common/stream/dictionary_private.h"

static bool field_sane(const struct field *f, const struct type *t)
{
	uint64_t count = f->count ? f->count : 1;

	if (f->size > 65536 || f->count > 1 << 20 || f->offset > 1 << 24)
		return false;
	if (f->where == WHERE_FIXED)
		return f->offset + f->size * count <= t->fixed_size;
	/* a `where` of a later version is neither an error nor readable */
	return t->flags & TYPE_TAIL || f->where > WHERE_STRING;
}

static void field_at(struct dictionary_entry *en, uint32_t i, struct field *f)
{
	size_t at = TYPE_HEAD + FIELD_SIZE * (size_t)i;
	struct field_entry e;

	entry_get_field(en->data + at, &e);
	*f = (struct field){.name = dictionary_string_of(en, e.name),
			    .type_name = dictionary_string_of(en, e.type_name),
			    .kind = e.kind,
			    .role = e.role,
			    .where = e.where,
			    .offset = e.offset,
			    .size = e.size,
			    .count = e.count};
	f->definition = dictionary_definition(
		en->d, dictionary_number_of(en, e.definition, ENTRY_DEFINITION));
}

static int type_key(struct dictionary_entry *en, const struct type *t, uint32_t source)
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

int dictionary_read_type(struct dictionary_entry *en)
{
	struct dictionary *d = en->d;
	uint32_t source = dictionary_number_at(en, 0, ENTRY_SOURCE);
	struct type t = {.name = dictionary_string_at(en, 4),
			 .group = dictionary_string_at(en, 8),
			 .declaration = dictionary_string_at(en, 12),
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
	if (t.kind == KIND_GAP && (t.fixed_size < GAP_FIXED || !(t.flags & TYPE_TAIL))) {
		en->wrong = "a type of gaps without their numbers or their text";
		return -1;
	}
	if (t.nfields > (en->size - TYPE_HEAD) / FIELD_SIZE) {
		en->wrong = "more fields than bytes";
		return -1;
	}
	if (type_key(en, &t, source))
		return -1;
	p = dictionary_by_content(en, ENTRY_TYPE, &d->types, d->scratch->data, d->scratch->size,
				  &fresh);
	if (!p)
		return -1;
	if (fresh) {
		*p = t;
		p->nfields = 0;
		fields = dictionary_keep(d, t.nfields * sizeof *fields);
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

const char *type_kind_name(unsigned kind)
{
	static const char *const kinds[KIND_COUNT] = {
		[KIND_INSTANT] = "instant", [KIND_ENTER] = "enter", [KIND_LEAVE] = "leave",
		[KIND_COUNTER] = "counter", [KIND_GAP] = "gap",	    [KIND_DROP] = "drop",
	};

	return kind < KIND_COUNT ? kinds[kind] : "";
}
