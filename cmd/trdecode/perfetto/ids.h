/*
 * ids.h - maps 64-bit ids of a trace to numbers
 *
 * Ids are any u64. Where they are dense, an array has their numbers; other ids are in a hash table,
 * so a hostile id costs no memory. Number 0 means none. A zero-initialised map is empty.
 */
#ifndef TR_TRDECODE_PERFETTO_IDS_H
#define TR_TRDECODE_PERFETTO_IDS_H

#include <stdbool.h>

#include "common/util/intern.h"

struct perfetto_ids {
	uint32_t *dense;
	size_t size;
	bool used; /* ids are in the array */
	struct id_cache far;
};

uint32_t perfetto_ids_far(const struct perfetto_ids *m, uint64_t id);
/* Set the number of an id. entries: number of those that share the ids, so far, in this map or
 * others; an array has at most twice as many, and some hundred. -1: out of memory. */
int perfetto_ids_set(struct perfetto_ids *m, uint64_t id, uint32_t number, uint64_t entries);
void perfetto_ids_clear(struct perfetto_ids *m);
void perfetto_ids_free(struct perfetto_ids *m);

static inline uint32_t perfetto_ids_get(const struct perfetto_ids *m, uint64_t id)
{
	return id < m->size && m->dense[id] ? m->dense[id] : perfetto_ids_far(m, id);
}

#endif
