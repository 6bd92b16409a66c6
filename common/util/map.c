/*
 * map.c - the hash table: numbers of 64 bits by keys of 64 bits
 */
#include "common/util/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/util/intern.h"

enum { FIRST_SLOTS = 16 };

uint64_t secret_factor(const void *table)
{
	uint64_t factor;

	if (getrandom(&factor, sizeof factor, GRND_NONBLOCK) < 0)
		factor = (uint64_t)(uintptr_t)table * 0x9e3779b97f4a7c15u;
	return factor | 1ull << 63 | 1;
}

/* Get the first slots, or twice as many as are in use need. Returns 0, or -1 when out of memory. */
static int key_map_grow(struct key_map *m)
{
	struct key_map next = {.mask = FIRST_SLOTS - 1, .factor = m->factor};
	size_t size = m->slots ? m->mask + 1 : 0;

	if (!next.factor)
		next.factor = secret_factor(m);
	/* keys that were asked for, and got no value, are not counted again */
	for (size_t i = 0; i < size; i++)
		next.count += m->slots[i].value != 0;
	while (next.count > next.mask / 8 * 3)
		next.mask = 2 * next.mask + 1;
	next.slots = huge_zeroed((next.mask + 1) * sizeof *next.slots);
	if (!next.slots)
		return -1;
	for (size_t i = 0; i < size; i++)
		if (m->slots[i].value)
			*key_map_slot(&next, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = next;
	return 0;
}

static struct key_map_slot *key_map_reach(struct key_map *m, uint64_t key)
{
	struct key_map_slot *slot = m->slots ? key_map_slot(m, key) : NULL;

	if (slot && slot->value)
		return slot;
	if (!slot || m->count >= m->mask / 4 * 3) {
		if (key_map_grow(m))
			return NULL;
		slot = key_map_slot(m, key);
	}
	slot->key = key;
	m->count++;
	return slot;
}

uint64_t *key_map_value(struct key_map *m, uint64_t key)
{
	struct key_map_slot *slot = key_map_reach(m, key);

	return slot ? &slot->value : NULL;
}

uint32_t *key_map_number(struct key_map *m, uint64_t key)
{
	struct key_map_slot *slot = key_map_reach(m, key);

	return slot ? &slot->number : NULL;
}

void key_map_remove(struct key_map *m, uint64_t key)
{
	struct key_map_slot *slot = m->slots ? key_map_slot(m, key) : NULL;
	size_t hole, at;

	if (!slot || !slot->value)
		return;
	/* move back those that the key had displaced */
	hole = at = (size_t)(slot - m->slots);
	for (;;) {
		size_t home;

		at = (at + 1) & m->mask;
		if (!m->slots[at].value)
			break;
		home = key_map_home(m, m->slots[at].key);
		if (((at - home) & m->mask) >= ((at - hole) & m->mask)) {
			m->slots[hole] = m->slots[at];
			hole = at;
		}
	}
	m->slots[hole].value = 0;
	m->count--;
}

int key_map_set(struct key_map *m, uint64_t key, uint64_t value)
{
	struct key_map_slot *slot;

	if (!value) {
		key_map_remove(m, key);
		return 0;
	}
	slot = key_map_reach(m, key);
	if (!slot)
		return -1;
	slot->value = value;
	return 0;
}

struct key_map_slot *key_map_next(const struct key_map *m, const struct key_map_slot *after)
{
	for (size_t i = after ? (size_t)(after - m->slots) + 1 : 0; m->slots && i <= m->mask; i++)
		if (m->slots[i].value)
			return &m->slots[i];
	return NULL;
}

void key_map_clear(struct key_map *m)
{
	if (m->count)
		memset(m->slots, 0, (m->mask + 1) * sizeof *m->slots);
	m->count = 0;
}

void key_map_free(struct key_map *m)
{
	free(m->slots);
	*m = (struct key_map){0};
}
