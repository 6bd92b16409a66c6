/*
 * intern.h - byte strings, each stored once and named by a small number
 *
 * Numbers are dense from 0 in the order of first use. A stored string never moves and is followed
 * by a NUL. A zero-initialised table is empty.
 */
#ifndef TR_UTIL_INTERN_H
#define TR_UTIL_INTERN_H

#include <stdint.h>
#include <stddef.h>

struct intern_key {
	const char *data;
	uint32_t size;
	uint32_t hash;
};

struct intern {
	struct intern_key *keys;
	uint32_t *slots; /* number + 1, 0 free; a power of two of them */
	uint32_t count, mask;
	uint64_t factor; /* secret factor of the hash */
	size_t capacity;
	struct intern_chunk *chunks;
};

#define INTERN_NONE UINT32_MAX

/* Get the number of these bytes, stored now or earlier; INTERN_NONE when out of memory. */
uint32_t intern(struct intern *in, const void *data, size_t n);
uint32_t intern_string(struct intern *in, const char *s);
/* Find the number of these bytes, or INTERN_NONE if they were never stored. */
uint32_t intern_find(const struct intern *in, const void *data, size_t n);
void intern_free(struct intern *in);
/* Choose a secret odd factor for the hash of a table at that address. */
uint64_t intern_factor(const void *table);

static inline const char *intern_data(const struct intern *in, uint32_t number)
{
	return in->keys[number].data;
}

static inline uint32_t intern_size(const struct intern *in, uint32_t number)
{
	return in->keys[number].size;
}

/* Maps byte strings to numbers, for callers that declare an entry when they first meet it, and
 * need its id again later. A zero-initialised cache is empty. */
struct id_cache {
	struct intern keys;
	uint32_t *numbers;
	size_t capacity;
};

/* Find the number of a key of n bytes: 0 the first time, and the caller sets it. The pointer is
 * valid until the next call. NULL: out of memory. */
uint32_t *id_cache_number(struct id_cache *k, const void *key, size_t n);
/* Free the cache, which is then empty. */
void id_cache_free(struct id_cache *k);

#endif
