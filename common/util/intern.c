/*
 * intern.c - tables of numbers: of bytes, of ids, of objects, of stacks
 */
#include "common/util/intern.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/stack_limit.h"

enum { CHUNK = 16 * 1024 };

struct text_chunk {
	struct text_chunk *next;
	size_t used, size;
	char data[];
};

char *text_keep(struct text_chunk **chunks, const void *data, size_t n)
{
	struct text_chunk *c = *chunks;
	size_t need = n + 1;
	char *p;

	if (!c || c->size - c->used < need) {
		size_t size = need > CHUNK ? need : CHUNK;

		c = malloc(sizeof *c + size);
		if (!c)
			return NULL;
		c->used = 0;
		c->size = size;
		c->next = *chunks;
		*chunks = c;
	}
	p = c->data + c->used;
	if (n)
		memcpy(p, data, n);
	p[n] = '\0';
	c->used += need;
	return p;
}

void text_chunks_free(struct text_chunk *chunks)
{
	for (struct text_chunk *next; chunks; chunks = next) {
		next = chunks->next;
		free(chunks);
	}
}

/*
 * Hash a text. An attacker may have written the texts of a trace. The factor differs in every run,
 * so that no one can prepare texts that all collide. Numbers do not depend on it.
 */
static uint64_t hash(const struct intern *in, const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t h = in->factor ^ n, last = 0;

	for (; n >= 8; n -= 8, p += 8)
		h = hash_fold(h ^ get_u64(p), in->factor);
	for (size_t i = 0; i < n; i++)
		last |= (uint64_t)p[i] << 8 * i;
	return hash_fold(h ^ last, in->factor);
}

/* Find a text by its hash. If there is none, the hash becomes the key of a new one: a text whose
 * hash is that of another has a key after it. */
static uint32_t lookup(const struct intern *in, const void *data, size_t n, uint64_t *key)
{
	uint32_t found;

	for (; (found = (uint32_t)key_map_get(&in->numbers, *key)); ++*key)
		if (intern_size(in, found - 1) == n &&
		    (!n || !memcmp(intern_data(in, found - 1), data, n)))
			return found - 1;
	return INTERN_NONE;
}

uint32_t intern(struct intern *in, const void *data, size_t n)
{
	uint32_t found, *number;
	uint64_t key;
	char *kept;

	if (n > UINT32_MAX - 1 || in->count >= INTERN_NONE - 1)
		return INTERN_NONE;
	if (!in->factor)
		in->factor = secret_factor(in);
	key = hash(in, data, n);
	found = lookup(in, data, n, &key);
	if (found != INTERN_NONE)
		return found;
	if (ARRAY_GROW(in->keys, in->capacity, in->count))
		return INTERN_NONE;
	number = key_map_number(&in->numbers, key);
	kept = number ? text_keep(&in->chunks, data, n) : NULL;
	if (!kept)
		return INTERN_NONE;
	in->keys[in->count].data = kept;
	in->keys[in->count].size = (uint32_t)n;
	*number = ++in->count;
	return in->count - 1;
}

uint32_t intern_string(struct intern *in, const char *s)
{
	return intern(in, s, strlen(s));
}

uint32_t intern_find(const struct intern *in, const void *data, size_t n)
{
	uint64_t key = hash(in, data, n);

	return lookup(in, data, n, &key);
}

void intern_free(struct intern *in)
{
	text_chunks_free(in->chunks);
	free(in->keys);
	key_map_free(&in->numbers);
	*in = (struct intern){0};
}

uint32_t *id_cache_number(struct id_cache *k, const void *key, size_t n)
{
	uint32_t at = intern(&k->keys, key, n);

	return at == INTERN_NONE || ARRAY_REACH(k->numbers, k->capacity, at) ? NULL
									     : &k->numbers[at];
}

void id_cache_free(struct id_cache *k)
{
	intern_free(&k->keys);
	free(k->numbers);
	*k = (struct id_cache){0};
}

/* --- idmap --- */

enum { DIRECT_LEAST = 64 };

uint32_t idmap_far(const struct idmap *m, uint64_t id)
{
	return (uint32_t)key_map_get(&m->far, id);
}

static void put_direct(struct idmap *m, uint64_t id, uint32_t number)
{
	if (!m->direct[id])
		m->direct_used++;
	m->direct[id] = number;
	if (id >= m->direct_end)
		m->direct_end = (size_t)id + 1;
}

/* Enlarge the array. Ids that it covers from then on are found in it. */
static int grow_direct(struct idmap *m, size_t size)
{
	size_t before = m->direct_size;

	if (ARRAY_REACH(m->direct, m->direct_size, size - 1))
		return -1;
	for (struct key_map_slot *s = NULL; (s = key_map_next(&m->far, s));)
		if (s->key >= before && s->key < m->direct_size)
			put_direct(m, s->key, s->number);
	return 0;
}

int idmap_set(struct idmap *m, uint64_t id, uint32_t number)
{
	if (!m->direct && grow_direct(m, DIRECT_LEAST))
		return -1;
	/* double the array only if a quarter of it is in use, so that its size is bounded by the
	 * number of ids */
	while (id >= m->direct_size && id / 2 < m->direct_size &&
	       m->direct_used >= m->direct_size / 4)
		if (grow_direct(m, m->direct_size * 2))
			return -1;
	if (id < m->direct_size) {
		put_direct(m, id, number);
		return 0;
	}
	return key_map_set(&m->far, id, number);
}

void idmap_clear(struct idmap *m)
{
	if (m->direct)
		memset(m->direct, 0, m->direct_end * sizeof *m->direct);
	m->direct_end = 0;
	m->direct_used = 0;
	key_map_free(&m->far);
}

void idmap_free(struct idmap *m)
{
	free(m->direct);
	key_map_free(&m->far);
	*m = (struct idmap){0};
}

/* --- pool --- */

void *pool_add(struct pool *p)
{
	size_t chunk = p->count >> POOL_SHIFT;

	if (p->count == UINT32_MAX)
		return NULL;
	if (!(p->count & (POOL_CHUNK - 1))) {
		if (ARRAY_GROW(p->chunks, p->capacity, chunk))
			return NULL;
		p->chunks[chunk] = calloc(POOL_CHUNK, p->element);
		if (!p->chunks[chunk])
			return NULL;
	}
	return pool_at(p, p->count++);
}

void pool_free(struct pool *p)
{
	size_t chunks = ((size_t)p->count + POOL_CHUNK - 1) >> POOL_SHIFT;

	for (size_t i = 0; i < chunks; i++)
		free(p->chunks[i]);
	free(p->chunks);
	p->chunks = NULL;
	p->count = 0;
	p->capacity = 0;
}

void *huge_zeroed(size_t size)
{
	enum { HUGE_PAGE = 2 << 20 };
	void *table;

	if (size % HUGE_PAGE)
		return calloc(1, size);
	table = aligned_alloc(HUGE_PAGE, size);
	if (!table)
		return NULL;
	madvise(table, size, MADV_HUGEPAGE);
	return memset(table, 0, size);
}

void huge_heap(size_t size)
{
#ifdef M_MMAP_MAX
	enum { PAGE = 4096 };
	char *memory;

	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	memory = malloc(size + PAGE);
	if (memory)
		madvise(memory + PAGE - (uintptr_t)memory % PAGE, size, MADV_HUGEPAGE);
	free(memory);
#endif
}

/* --- stack table --- */

uint32_t stack_table_add(struct stack_table *t, uint32_t parent, uint32_t location)
{
	struct stack_key *key;
	uint32_t *slot = key_map_number(&t->numbers, stack_table_key(parent, location));

	if (!slot || *slot)
		return slot ? *slot : 0;
	if (t->count == UINT32_MAX || ARRAY_GROW(t->stacks, t->capacity, t->count))
		return 0;
	key = &t->stacks[t->count++];
	*key = (struct stack_key){parent, location, 1, t->count};
	if (parent)
		key->frames += t->stacks[parent - 1].frames;
	if (key->frames > STACK_FRAMES + 1)
		key->limited = t->stacks[parent - 1].limited;
	return *slot = t->count;
}

void stack_table_free(struct stack_table *t)
{
	free(t->stacks);
	key_map_free(&t->numbers);
	*t = (struct stack_table){0};
}
