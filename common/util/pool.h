/*
 * pool.h - an array that grows without moving its elements
 *
 * Zero-initialised except for element. New elements are zero bytes.
 */
#ifndef TR_UTIL_POOL_H
#define TR_UTIL_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { POOL_SHIFT = 8, POOL_CHUNK = 1 << POOL_SHIFT };

struct pool {
	size_t element; /* bytes of one element */
	uint32_t count;
	size_t capacity;
	char **chunks;
};

/* Add an element, number count; NULL when out of memory. */
void *pool_add(struct pool *p);
void pool_free(struct pool *p);

static inline void *pool_at(const struct pool *p, uint32_t number)
{
	return p->chunks[number >> POOL_SHIFT] + (number & (POOL_CHUNK - 1)) * p->element;
}

#endif
