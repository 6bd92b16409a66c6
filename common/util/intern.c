/*
 * intern.c - tables of numbers: of bytes, of ids, of objects, of stacks
 */
#include "common/util/intern.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/stack_limit.h"

enum { CHUNK = 16 * 1024 };

struct intern_chunk {
	struct intern_chunk *next;
	size_t used, size;
	char data[];
};

static char *intern_keep(struct intern *in, const void *data, size_t n)
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

static uint64_t intern_fold(uint64_t a, uint64_t b)
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
		h = intern_fold(h ^ get_u64(p), in->factor);
	for (size_t i = 0; i < n; i++)
		last |= (uint64_t)p[i] << 8 * i;
	return (uint32_t)hash_u64(intern_fold(h ^ last, in->factor));
}

/* Choose a secret odd factor for the hash of a table at that address. */
static uint64_t intern_factor(const void *table)
{
	uint64_t factor;

	if (getrandom(&factor, sizeof factor, GRND_NONBLOCK) < 0)
		factor = (uint64_t)(uintptr_t)table * 0x9e3779b97f4a7c15u;
	return factor | 1ull << 63 | 1;
}

static int intern_grow(struct intern *in)
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
	if ((!in->slots || in->count > in->mask / 4 * 3) && intern_grow(in))
		return INTERN_NONE;
	key = hash(in, data, n);
	found = lookup(in, data, n, key, &slot);
	if (found != INTERN_NONE)
		return found;
	if (ARRAY_GROW(in->keys, in->capacity, in->count))
		return INTERN_NONE;
	keys = in->keys;
	kept = intern_keep(in, data, n);
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

/* --- idmap --- */

enum { DIRECT_LEAST = 64 };

static struct idmap_slot *idmap_slot_of(const struct idmap *m, uint32_t id)
{
	uint32_t at = (uint32_t)hash_u64(id) & m->mask;

	while (m->slots[at].number && m->slots[at].id != id)
		at = (at + 1) & m->mask;
	return &m->slots[at];
}

uint32_t idmap_far(const struct idmap *m, uint32_t id)
{
	return m->slots ? idmap_slot_of(m, id)->number : 0;
}

static void put_direct(struct idmap *m, uint32_t id, uint32_t number)
{
	if (!m->direct[id])
		m->direct_used++;
	m->direct[id] = number;
	if (id >= m->direct_end)
		m->direct_end = (size_t)id + 1;
}

/* Enlarge the array. Ids that it covers from then on are removed from the table. */
static int grow_direct(struct idmap *m, size_t size)
{
	uint32_t *direct = realloc(m->direct, size * sizeof *direct);
	struct idmap old = *m;

	if (!direct)
		return -1;
	memset(direct + m->direct_size, 0, (size - m->direct_size) * sizeof *direct);
	m->direct = direct;
	m->direct_size = size;
	if (!old.used)
		return 0;
	m->slots = NULL;
	m->mask = m->used = 0;
	for (uint32_t i = 0; i <= old.mask; i++)
		if (old.slots[i].number && idmap_set(m, old.slots[i].id, old.slots[i].number))
			return -1; /* the old table is lost, and so is the run */
	free(old.slots);
	return 0;
}

static int grow_table(struct idmap *m)
{
	struct idmap old = *m;
	uint32_t size = old.slots ? (old.mask + 1) * 2 : 64;

	if (!size)
		return -1;
	m->slots = calloc(size, sizeof *m->slots);
	if (!m->slots) {
		m->slots = old.slots;
		return -1;
	}
	m->mask = size - 1;
	for (uint32_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].number)
			*idmap_slot_of(m, old.slots[i].id) = old.slots[i];
	free(old.slots);
	return 0;
}

int idmap_set(struct idmap *m, uint32_t id, uint32_t number)
{
	struct idmap_slot *s;

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
	if ((!m->slots || m->used >= m->mask / 4 * 3) && grow_table(m))
		return -1;
	s = idmap_slot_of(m, id);
	if (!s->number)
		m->used++;
	*s = (struct idmap_slot){id, number};
	return 0;
}

void idmap_clear(struct idmap *m)
{
	if (m->direct)
		memset(m->direct, 0, m->direct_end * sizeof *m->direct);
	m->direct_end = 0;
	m->direct_used = 0;
	free(m->slots);
	m->slots = NULL;
	m->mask = m->used = 0;
}

void idmap_free(struct idmap *m)
{
	free(m->direct);
	free(m->slots);
	*m = (struct idmap){0};
}

/* --- pool --- */

void *pool_add(struct pool *p)
{
	size_t chunk = p->count >> POOL_SHIFT;

	if (p->count == UINT32_MAX)
		return NULL;
	if (!(p->count & (POOL_CHUNK - 1))) {
		char **chunks;

		if (ARRAY_GROW(p->chunks, p->capacity, chunk))
			return NULL;
		chunks = p->chunks;
		chunks[chunk] = calloc(POOL_CHUNK, p->element);
		if (!chunks[chunk])
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

static uint32_t *stack_table_slot_of(const struct stack_table *t, uint32_t parent,
				     uint32_t location)
{
	size_t mask = ((size_t)1 << (64 - t->shift)) - 1;
	size_t at = stack_table_hash(t, parent, location) >> t->shift;
	uint32_t number;

	for (; (number = t->slots[at]); at = (at + 1) & mask)
		if (t->stacks[number - 1].location == location &&
		    t->stacks[number - 1].parent == parent)
			break;
	return &t->slots[at];
}

/* Double the number of slots, or make the first ones. Returns 0, or -1 when out of memory. */
static int stack_table_grow(struct stack_table *t)
{
	struct stack_table next = *t;

	next.shift = t->slots ? t->shift - 1 : 64 - 10;
	if (!t->slots)
		next.factor = intern_factor(t);
	next.slots = huge_zeroed(((size_t)1 << (64 - next.shift)) * sizeof *next.slots);
	if (!next.slots)
		return -1;
	for (uint32_t i = 0; i < t->count; i++)
		*stack_table_slot_of(&next, t->stacks[i].parent, t->stacks[i].location) = i + 1;
	free(t->slots);
	*t = next;
	return 0;
}

uint32_t stack_table_add(struct stack_table *t, uint32_t parent, uint32_t location)
{
	struct stack_key *stacks, *key;
	uint32_t *slot;

	if ((!t->slots || t->count >= (size_t)1 << (63 - t->shift)) && stack_table_grow(t))
		return 0;
	slot = stack_table_slot_of(t, parent, location);
	if (*slot)
		return *slot;
	if (t->count == UINT32_MAX)
		return 0;
	if (ARRAY_GROW(t->stacks, t->capacity, t->count))
		return 0;
	stacks = t->stacks;
	key = &stacks[t->count++];
	*key = (struct stack_key){parent, location, 1, t->count};
	if (parent)
		key->frames += stacks[parent - 1].frames;
	if (key->frames > STACK_FRAMES + 1)
		key->limited = stacks[parent - 1].limited;
	return *slot = t->count;
}

void stack_table_free(struct stack_table *t)
{
	free(t->stacks);
	free(t->slots);
	*t = (struct stack_table){0};
}
