/*
 * open_calls.c - open calls, by their numbers
 */
#include "common/calls/open_calls.h"

#include <stdlib.h>

#include "common/util/bytes.h"

enum { FIRST_SLOTS = 64 };

static struct open_call *open_calls_slot_of(const struct open_calls *o, uint64_t key)
{
	size_t at = (size_t)hash_u64(key) & o->mask;

	while (o->slots[at].key && o->slots[at].key != key)
		at = (at + 1) & o->mask;
	return &o->slots[at];
}

static int open_calls_grow(struct open_calls *o)
{
	struct open_call *old = o->slots;
	size_t size = old ? (o->mask + 1) * 2 : FIRST_SLOTS, before = old ? o->mask + 1 : 0;
	struct open_call *slots = calloc(size, sizeof *slots);

	if (!slots)
		return -1;
	o->slots = slots;
	o->mask = size - 1;
	for (size_t i = 0; i < before; i++)
		if (old[i].key)
			*open_calls_slot_of(o, old[i].key) = old[i];
	free(old);
	return 0;
}

int open_calls_spill(struct open_calls *o)
{
	struct open_call *slot;

	if ((!o->slots || o->count * 2 > o->mask) && open_calls_grow(o))
		return -1;
	slot = open_calls_slot_of(o, o->recent.key);
	if (!slot->key)
		o->count++;
	*slot = o->recent;
	o->recent.key = 0;
	return 0;
}

/* Empty a slot, and move back into it the entries that it had displaced. */
static void clear(struct open_calls *o, struct open_call *slot)
{
	size_t hole = (size_t)(slot - o->slots), at = hole;

	for (;;) {
		size_t home;

		at = (at + 1) & o->mask;
		if (!o->slots[at].key)
			break;
		home = (size_t)hash_u64(o->slots[at].key) & o->mask;
		if (((at - home) & o->mask) >= ((at - hole) & o->mask)) {
			o->slots[hole] = o->slots[at];
			hole = at;
		}
	}
	o->slots[hole].key = 0;
	o->count--;
}

static bool open_calls_take_last(struct open_calls *o, uint64_t *value)
{
	if (!o->has_last)
		return false;
	*value = o->last_value;
	o->has_last = false;
	return true;
}

bool open_calls_take_far(struct open_calls *o, uint64_t key, uint64_t *value)
{
	struct open_call *slot;

	if (!key)
		return open_calls_take_last(o, value);
	slot = open_calls_slot_of(o, key);
	if (!slot->key)
		return false;
	*value = slot->value;
	clear(o, slot);
	return true;
}

bool open_calls_has(const struct open_calls *o, uint32_t source, uint32_t number)
{
	uint64_t key = open_calls_key(source, number);

	if (!key)
		return o->has_last;
	return o->recent.key == key || (o->count && open_calls_slot_of(o, key)->key);
}

bool open_calls_take_next(struct open_calls *o, uint64_t *key, uint64_t *value)
{
	if (o->recent.key) {
		*key = o->recent.key;
		*value = o->recent.value;
		o->recent.key = 0;
		return true;
	}
	if (!o->count) {
		o->at = 0;
		*key = 0;
		return open_calls_take_last(o, value);
	}
	while (!o->slots[o->at].key)
		o->at++;
	*key = o->slots[o->at].key;
	*value = o->slots[o->at].value;
	o->slots[o->at].key = 0;
	o->count--;
	return true;
}

void open_calls_free(struct open_calls *o)
{
	free(o->slots);
	*o = (struct open_calls){0};
}
