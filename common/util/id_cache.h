/*
 * id_cache.h - maps keys to numbers
 *
 * For callers that declare an entry when they first meet it, and need its id again later. A
 * zero-initialised cache is empty.
 */
#ifndef TR_UTIL_ID_CACHE_H
#define TR_UTIL_ID_CACHE_H

#include "common/util/intern.h"

struct id_cache {
	struct intern keys;
	uint32_t *numbers;
	size_t capacity;
};

/* Find the number of a key of n bytes: 0 the first time, and the caller sets it. The pointer is
 * valid until the next call. NULL: out of memory. */
uint32_t *id_cache_number(struct id_cache *k, const void *key, size_t n);
void id_cache_free(struct id_cache *k);

#endif
