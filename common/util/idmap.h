/*
 * idmap.h - maps a segment's ids to this program's numbers
 *
 * Ids are any u32. Dense ids are looked up in an array, others in a hash table, so a hostile id
 * costs no memory. 0 means no number. A zero-initialised map is empty.
 */
#ifndef TR_UTIL_IDMAP_H
#define TR_UTIL_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap_slot {
	uint32_t id, number; /* number 0: free */
};

struct idmap {
	uint32_t *direct;
	size_t direct_size;
	size_t direct_end;    /* ids from here on were not set since idmap_clear */
	uint32_t direct_used; /* number of ids that were set */
	struct idmap_slot *slots;
	uint32_t mask, used;
};

int idmap_set(struct idmap *m, uint32_t id, uint32_t number);
/* Remove all ids, at a cost proportional to those set since the last call. */
void idmap_clear(struct idmap *m);
void idmap_free(struct idmap *m);
uint32_t idmap_far(const struct idmap *m, uint32_t id);

static inline uint32_t idmap_get(const struct idmap *m, uint32_t id)
{
	return id < m->direct_size ? m->direct[id] : idmap_far(m, id);
}

#endif
