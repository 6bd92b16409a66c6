/*
 * definitions.c - functions, structs, enums, bitmasks and frames of a .trace: their ids, and their
 * declarations where they are first used
 */
#include <stdlib.h>

#include "cmd/trencode/apitrace/apitrace.h"
#include "common/stream/value.h"

void apitrace_target_begin(struct apitrace_target *t, uint64_t version)
{
	t->version = version;
	if (t->definitions.size)
		memset(t->definitions.at, 0, t->definitions.size * sizeof *t->definitions.at);
	if (t->locations.size)
		memset(t->locations.at, 0, t->locations.size * sizeof *t->locations.at);
}

void apitrace_target_free(struct apitrace_target *t)
{
	pack_close(&t->pack);
	free(t->definitions.at);
	free(t->locations.at);
}

static int written_set_grow(struct apitrace_written_set *set, uint32_t number)
{
	if (ARRAY_REACH(set->at, set->size, number))
		return -1;
	return 0;
}

/* Write an id. Returns 1 if the declaration must follow, 0 if it is written, -1 when out of
 * memory. */
static int put_id(struct pack *p, struct apitrace_written_set *set, uint32_t number, uint64_t id,
		  uint8_t kind)
{
	struct apitrace_written *written;
	uint8_t bytes[10];
	size_t n;

	if (__builtin_expect(number >= set->size, 0) && written_set_grow(set, number))
		return -1;
	written = &set->at[number];
	if (__builtin_expect(written->size, 1)) {
		pack_put(p, written->id, written->size);
		return 0;
	}
	n = (size_t)(uleb_at(bytes, id) - bytes);
	pack_put(p, bytes, n);
	if (written->kind)
		return 0;
	written->kind = kind;
	if (n <= sizeof written->id) {
		written->size = (uint8_t)n;
		memcpy(written->id, bytes, n);
	}
	return 1;
}

static void put_text(struct pack *p, const struct text_ref *t)
{
	pack_uint(p, t->size);
	pack_put(p, t->text, t->size);
}

void apitrace_put_sint(struct pack *p, int64_t n)
{
	pack_byte(p, n < 0 ? APITRACE_SINT : APITRACE_UINT);
	pack_uint(p, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static void put_frame(struct pack *p, const struct definition *d)
{
	static const char *const keys[] = APITRACE_FRAME_NAMES;

	for (uint32_t i = 0; i < d->count; i++) {
		unsigned key = APITRACE_FRAME_MODULE;

		while (key <= APITRACE_FRAME_OFFSET &&
		       strcmp(keys[key], d->members[i].name.text) != 0)
			key++;
		if (key > APITRACE_FRAME_OFFSET)
			break;
		if (key >= APITRACE_FRAME_LINE) {
			pack_byte(p, (uint8_t)key);
			pack_uint(p, d->members[i].low);
		} else if (++i < d->count) {
			pack_byte(p, (uint8_t)key);
			put_text(p, &d->members[i].name);
		}
	}
	pack_byte(p, APITRACE_FRAME_END);
}

static void put_members(struct apitrace_target *t, const struct definition *d)
{
	struct pack *p = &t->pack;

	if (d->kind == DEFINITION_FRAME) {
		put_frame(p, d);
		return;
	}
	if (d->kind == DEFINITION_ENUM && t->version < APITRACE_ENUM_SETS) {
		/* one id is one name and its value */
		if (d->count) {
			put_text(p, &d->members[0].name);
			apitrace_put_sint(p, (int64_t)d->members[0].low);
		}
		return;
	}
	if (d->kind == DEFINITION_STRUCT)
		put_text(p, &d->name);
	pack_uint(p, d->count);
	for (uint32_t i = 0; i < d->count; i++) {
		put_text(p, &d->members[i].name);
		if (d->kind == DEFINITION_ENUM)
			apitrace_put_sint(p, (int64_t)d->members[i].low);
		else if (d->kind == DEFINITION_BITMASK)
			pack_uint(p, d->members[i].low);
	}
}

const struct definition *apitrace_definition(const struct apitrace_target *t, uint32_t id,
					     enum definition_kind kind)
{
	const struct definition *d = dictionary_definition_id(t->dictionary, id);

	return d && d->kind == kind ? d : NULL;
}

int apitrace_put_definition(struct apitrace_target *t, const struct definition *d)
{
	int fresh = put_id(&t->pack, &t->definitions, d->number, d->native, (uint8_t)d->kind);
	if (fresh > 0)
		put_members(t, d);
	return fresh < 0 ? -1 : 0;
}

int apitrace_put_function(struct apitrace_target *t, const struct location *location)
{
	const struct definition *arguments = location->arguments;
	struct pack *p = &t->pack;
	int fresh = put_id(p, &t->locations, location->number, location->address, 1);

	if (fresh <= 0)
		return fresh;
	put_text(p, &location->name);
	pack_uint(p, arguments ? arguments->count : 0);
	for (uint32_t i = 0; arguments && i < arguments->count; i++)
		put_text(p, &arguments->members[i].name);
	return 0;
}
