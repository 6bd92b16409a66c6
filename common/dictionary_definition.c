#include "dictionary_private.h"

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
	slots = dictionary_keep(d, size * sizeof *slots);
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

int dictionary_read_definition(struct dictionary_entry *en)
{
	struct dictionary *d = en->d;
	struct definition def = {.name = dictionary_string_at(en, 0),
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
		if (buffer_u32(d->scratch, dictionary_string_at(en, 16 + 16 * i).number) ||
		    buffer_append(d->scratch, en->data + 16 + 16 * i + 8, 8))
			return -1;
	p = dictionary_by_content(en, ENTRY_DEFINITION, &d->definitions, d->scratch->data,
				  d->scratch->size, &fresh);
	if (!p)
		return -1;
	if (fresh) {
		*p = (struct definition){.name = def.name, .kind = def.kind, .native = def.native};
		members = dictionary_keep(d, def.count * sizeof *members);
		if (!members)
			return -1;
		for (uint32_t i = 0; i < def.count; i++)
			members[i] = (struct member){dictionary_string_at(en, 16 + 16 * i),
						     get_u64(en->data + 16 + 16 * i + 8)};
		def.members = members;
		def.number = d->definitions.count - 1;
		if (hash_values(d, &def))
			return -1;
		*p = def;
	}
	return 0;
}
