#include "common/util/pool.h"

#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/util/buffer.h"

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
