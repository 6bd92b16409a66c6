/*
 * map.h - the hash table: numbers of 64 bits by keys of 64 bits
 *
 * A key is a number, two numbers of 32 bits, or a hash of 64 bits. A value is not 0: 0 is
 * what a key has that is not there. A zero-initialised map is empty.
 *
 * Tables of other keys are built on it: of bytes (intern.h), of ids that are mostly dense
 * (idmap), of open calls (open_calls.h).
 */
#ifndef TR_UTIL_MAP_H
#define TR_UTIL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_map_slot {
	uint64_t key;
	union {
		uint64_t value; /* 0: free */
		uint32_t number;
	};
};

struct key_map {
	struct key_map_slot *slots;
	size_t mask, count; /* a power of two of slots, less one; those in use */
	uint64_t factor;    /* of the hash: secret, unless set while the map is empty */
};

/* Choose a secret odd factor for the hash of a table at that address. */
uint64_t secret_factor(const void *table);

static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * Get the first slot where a key may be.
 *
 * An attacker may have chosen the keys of a trace. The factor differs in every run, so that no one
 * can prepare keys that all collide. No output may depend on the order of the slots.
 */
static inline size_t key_map_home(const struct key_map *m, uint64_t key)
{
	return hash_fold(key ^ m->factor, m->factor) & m->mask;
}

/* Find the slot of a key, or the free one that the key would get; the map has slots. */
static inline struct key_map_slot *key_map_slot(const struct key_map *m, uint64_t key)
{
	size_t at = key_map_home(m, key);

	while (m->slots[at].value && m->slots[at].key != key)
		at = (at + 1) & m->mask;
	return &m->slots[at];
}

/* Fetch the slot of a key before it is needed. A function that only fetches is always in line: gcc
 * takes a call of it as one without effect, and removes the call. */
static inline __attribute__((always_inline)) void key_map_fetch(const struct key_map *m,
								uint64_t key)
{
	if (m->slots)
		__builtin_prefetch(&m->slots[key_map_home(m, key)]);
}

static inline uint64_t key_map_get(const struct key_map *m, uint64_t key)
{
	return m->slots ? key_map_slot(m, key)->value : 0;
}

/* Find or add a key: the value of a new one is 0, and the caller sets it. A key whose value stays 0
 * is not in the map; one that has a value keeps one until key_map_remove. The pointer is valid
 * until the next change of the map. NULL: out of memory. */
uint64_t *key_map_value(struct key_map *m, uint64_t key);
/* The same, for a map whose values are all of 32 bits. */
uint32_t *key_map_number(struct key_map *m, uint64_t key);
/* Set the value of a key; 0 removes it. Returns 0, or -1 when out of memory. */
int key_map_set(struct key_map *m, uint64_t key, uint64_t value);
/* Remove a key, which need not be there. */
void key_map_remove(struct key_map *m, uint64_t key);
/* Get the next key in no order; after: NULL, the first. Returns NULL if there are no more. */
struct key_map_slot *key_map_next(const struct key_map *m, const struct key_map_slot *after);
/* Remove all keys. The slots stay. */
void key_map_clear(struct key_map *m);
void key_map_free(struct key_map *m);

#endif
