#include "cmd/trdecode/perfetto/ids.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"

enum { SPARE = 256 }; /* ids beyond twice the number of entries that the array has room for */

uint32_t perfetto_ids_far(const struct perfetto_ids *m, uint64_t id)
{
	uint32_t at = m->far.keys.count ? intern_find(&m->far.keys, &id, sizeof id) : INTERN_NONE;

	return at == INTERN_NONE ? 0 : m->far.numbers[at];
}

int perfetto_ids_set(struct perfetto_ids *m, uint64_t id, uint32_t number, uint64_t entries)
{
	uint32_t *numbers;

	if (id >= m->size && id <= 2 * entries + SPARE) {
		if (ARRAY_REACH(m->dense, m->size, (size_t)id))
			return -1;
	}
	if (id < m->size) {
		m->used = true;
		m->dense[id] = number;
		return 0;
	}
	numbers = id_cache_number(&m->far, &id, sizeof id);
	if (!numbers)
		return -1;
	*numbers = number;
	return 0;
}

void perfetto_ids_clear(struct perfetto_ids *m)
{
	if (m->used)
		memset(m->dense, 0, m->size * sizeof *m->dense);
	m->used = false;
	if (m->far.keys.count)
		id_cache_free(&m->far);
}

void perfetto_ids_free(struct perfetto_ids *m)
{
	free(m->dense);
	id_cache_free(&m->far);
	*m = (struct perfetto_ids){0};
}
