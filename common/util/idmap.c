#include "common/util/idmap.h"

#include <stdlib.h>

#include "common/util/bytes.h"

enum { DIRECT_LEAST = 64 };

static struct idmap_slot *slot_of(const struct idmap *m, uint32_t id)
{
	uint32_t at = (uint32_t)hash_u64(id) & m->mask;

	while (m->slots[at].number && m->slots[at].id != id)
		at = (at + 1) & m->mask;
	return &m->slots[at];
}

uint32_t idmap_far(const struct idmap *m, uint32_t id)
{
	return m->slots ? slot_of(m, id)->number : 0;
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
			*slot_of(m, old.slots[i].id) = old.slots[i];
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
	s = slot_of(m, id);
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
