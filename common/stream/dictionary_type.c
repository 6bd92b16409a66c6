#include "common/stream/dictionary_private.h"
#include "common/stream/field.h"

static bool field_sane(const struct field_entry *f, const struct type_entry *t)
{
	uint64_t count = f->count ? f->count : 1;

	if (f->size > 65536 || f->count > 1 << 20 || f->offset > 1 << 24)
		return false;
	if (f->where == WHERE_FIXED)
		return f->offset + f->size * count <= t->fixed_size;
	/* a `where` of a later version is neither an error nor readable */
	return t->flags & TYPE_TAIL || f->where > WHERE_STRING;
}

const char *dictionary_type_fault(const uint8_t *p, uint32_t parts)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];
	struct type_entry t;
	struct field_entry f;

	entry_get(l, p, &t);
	if (t.kind >= KIND_COUNT || t.fixed_size % 4 || t.fixed_size > 65536)
		return "a type of an impossible kind or size";
	if (t.kind == KIND_GAP && (t.fixed_size < GAP_FIXED || !(t.flags & TYPE_TAIL)))
		return "a type of gaps without their numbers or their text";
	if (t.flags & TYPE_VALUES && !(t.flags & TYPE_TAIL))
		return "a type with values and no tail for them";
	for (uint32_t i = 0; i < parts; i++) {
		entry_get(l->part, p + entry_part(l, i), &f);
		if (!field_sane(&f, &t))
			return "a field outside its row";
	}
	return NULL;
}

void dictionary_type_finish(struct type *t)
{
	t->weight = t->weight ? t->weight : 1;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		t->has_stacks |= field_is_stack(f);
		if (f->role == ROLE_PERIOD && f->where == WHERE_FIXED && f->size == 8 &&
		    t->kind == KIND_SAMPLE)
			t->period = f;
	}
}

struct type *dictionary_add_type(struct dictionary *d, const struct type *like)
{
	uint32_t number = d->types.count;
	struct type *t;

	/* no content of an entry is that short */
	if (intern(&d->keys[ENTRY_TYPE], &number, sizeof number) == INTERN_NONE)
		return NULL;
	t = pool_add(&d->types);
	if (!t)
		return NULL;
	*t = *like;
	t->number = number;
	return t;
}

const char *type_kind_name(unsigned kind)
{
	static const char *const kinds[KIND_COUNT] = {
		[KIND_INSTANT] = "instant", [KIND_ENTER] = "enter", [KIND_LEAVE] = "leave",
		[KIND_COUNTER] = "counter", [KIND_GAP] = "gap",	    [KIND_DROP] = "drop",
		[KIND_SAMPLE] = "sample",
	};

	return kind < KIND_COUNT ? kinds[kind] : "";
}
