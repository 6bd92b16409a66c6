#include "common/util/id_cache.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"

uint32_t *id_cache_number(struct id_cache *k, const void *key, size_t n)
{
	uint32_t at = intern(&k->keys, key, n), *numbers;

	if (at == INTERN_NONE)
		return NULL;
	numbers = array_reach(k->numbers, &k->capacity, at, sizeof *numbers);
	if (!numbers)
		return NULL;
	k->numbers = numbers;
	return &numbers[at];
}

void id_cache_free(struct id_cache *k)
{
	intern_free(&k->keys);
	free(k->numbers);
}
