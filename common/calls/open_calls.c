/*
 * open_calls.c - open calls, by their numbers
 */
#include "common/calls/open_calls.h"

int open_calls_put_far(struct open_calls *o, uint64_t key, uint64_t value)
{
	return key_map_set(&o->others, key, value + 1);
}

bool open_calls_take_far(struct open_calls *o, uint64_t key, uint64_t *value)
{
	uint64_t found = key_map_get(&o->others, key);

	if (!found)
		return false;
	*value = found - 1;
	key_map_remove(&o->others, key);
	return true;
}

bool open_calls_has(const struct open_calls *o, uint32_t source, uint32_t number)
{
	uint64_t key = open_calls_key(source, number);

	return (key && o->recent.key == key) || key_map_get(&o->others, key);
}

bool open_calls_take_next(struct open_calls *o, uint64_t *key, uint64_t *value)
{
	struct key_map_slot *slot;

	if (o->recent.key) {
		*key = o->recent.key;
		*value = o->recent.value;
		o->recent.key = 0;
		return true;
	}
	if (!o->others.count) {
		o->at = 0;
		return false;
	}
	while (!o->others.slots[o->at].value)
		o->at++;
	slot = &o->others.slots[o->at];
	*key = slot->key;
	*value = slot->value - 1;
	slot->value = 0;
	o->others.count--;
	return true;
}

void open_calls_free(struct open_calls *o)
{
	key_map_free(&o->others);
	*o = (struct open_calls){0};
}
