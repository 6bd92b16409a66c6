#include "common/util/intern.h"

#include <stdlib.h>
#include <sys/random.h>

#include "common/util/buffer.h"

enum { CHUNK = 16 * 1024 };

struct intern_chunk {
	struct intern_chunk *next;
	size_t used, size;
	char data[];
};

static char *keep(struct intern *in, const void *data, size_t n)
{
	struct intern_chunk *c = in->chunks;
	size_t need = n + 1;
	char *p;

	if (!c || c->size - c->used < need) {
		size_t size = need > CHUNK ? need : CHUNK;

		c = malloc(sizeof *c + size);
		if (!c)
			return NULL;
		c->used = 0;
		c->size = size;
		c->next = in->chunks;
		in->chunks = c;
	}
	p = c->data + c->used;
	if (n)
		memcpy(p, data, n);
	p[n] = '\0';
	c->used += need;
	return p;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * Hash a text. An attacker may have written the texts of a trace. The factor differs in every run,
 * so that no one can prepare texts that all collide. Numbers do not depend on it.
 */
static uint32_t hash(const struct intern *in, const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t h = in->factor ^ n, last = 0;

	for (; n >= 8; n -= 8, p += 8)
		h = fold(h ^ get_u64(p), in->factor);
	for (size_t i = 0; i < n; i++)
		last |= (uint64_t)p[i] << 8 * i;
	return (uint32_t)hash_u64(fold(h ^ last, in->factor));
}

uint64_t intern_factor(const void *table)
{
	uint64_t factor;

	if (getrandom(&factor, sizeof factor, GRND_NONBLOCK) < 0)
		factor = (uint64_t)(uintptr_t)table * 0x9e3779b97f4a7c15u;
	return factor | 1ull << 63 | 1;
}

static int grow(struct intern *in)
{
	uint32_t size = in->slots ? (in->mask + 1) * 2 : 64, mask = size - 1;
	uint32_t *slots;

	if (!size)
		return -1;
	if (!in->slots)
		in->factor = intern_factor(in);
	slots = calloc(size, sizeof *slots);
	if (!slots)
		return -1;
	for (uint32_t i = 0; i < in->count; i++) {
		uint32_t at = in->keys[i].hash & mask;

		while (slots[at])
			at = (at + 1) & mask;
		slots[at] = i + 1;
	}
	free(in->slots);
	in->slots = slots;
	in->mask = mask;
	return 0;
}

static uint32_t lookup(const struct intern *in, const void *data, size_t n, uint32_t wanted,
		       uint32_t *free_slot)
{
	uint32_t at = wanted & in->mask, found;

	for (; (found = in->slots[at]); at = (at + 1) & in->mask) {
		const struct intern_key *k = &in->keys[found - 1];

		if (k->hash == wanted && k->size == n && (!n || !memcmp(k->data, data, n)))
			return found - 1;
	}
	*free_slot = at;
	return INTERN_NONE;
}

uint32_t intern(struct intern *in, const void *data, size_t n)
{
	uint32_t key, slot, found;
	struct intern_key *keys;
	char *kept;

	if (n > UINT32_MAX - 1 || in->count >= INTERN_NONE - 1)
		return INTERN_NONE;
	if ((!in->slots || in->count > in->mask / 4 * 3) && grow(in))
		return INTERN_NONE;
	key = hash(in, data, n);
	found = lookup(in, data, n, key, &slot);
	if (found != INTERN_NONE)
		return found;
	if (ARRAY_GROW(in->keys, in->capacity, in->count))
		return INTERN_NONE;
	keys = in->keys;
	kept = keep(in, data, n);
	if (!kept)
		return INTERN_NONE;
	keys[in->count] = (struct intern_key){kept, (uint32_t)n, key};
	in->slots[slot] = ++in->count;
	return in->count - 1;
}

uint32_t intern_string(struct intern *in, const char *s)
{
	return intern(in, s, strlen(s));
}

uint32_t intern_find(const struct intern *in, const void *data, size_t n)
{
	uint32_t slot;

	return in->slots ? lookup(in, data, n, hash(in, data, n), &slot) : INTERN_NONE;
}

void intern_free(struct intern *in)
{
	struct intern_chunk *c = in->chunks, *next;

	for (; c; c = next) {
		next = c->next;
		free(c);
	}
	free(in->keys);
	free(in->slots);
	*in = (struct intern){0};
}

uint32_t *id_cache_number(struct id_cache *k, const void *key, size_t n)
{
	uint32_t at = intern(&k->keys, key, n), *numbers;

	if (at == INTERN_NONE)
		return NULL;
	if (ARRAY_REACH(k->numbers, k->capacity, at))
		return NULL;
	numbers = k->numbers;
	return &numbers[at];
}

void id_cache_free(struct id_cache *k)
{
	intern_free(&k->keys);
	free(k->numbers);
	*k = (struct id_cache){0};
}
