/*
 * id_cache.h - numbers that were given to things, by what tells these apart
 *
 * For those who declare something when it is first met, and need its id again each time after.
 * Zero-initialised is empty.
 */
#ifndef TR_UTIL_ID_CACHE_H
#define TR_UTIL_ID_CACHE_H

#include "common/util/intern.h"

struct id_cache {
	struct intern keys;
	uint32_t *numbers;
	size_t capacity;
};

/* Where the number of the thing with this key of n bytes stands: 0 the first time, and the caller
 * sets it. Until the next call. NULL: out of memory. */
uint32_t *id_cache_number(struct id_cache *k, const void *key, size_t n);
void id_cache_free(struct id_cache *k);

#endif
