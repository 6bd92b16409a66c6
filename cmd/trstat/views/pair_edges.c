#include "cmd/trstat/views/pair_edges.h"

#include <stdlib.h>

#include "common/util/bytes.h"

struct pair_edges *pair_edges_new(const struct columns_wanted *w, size_t on, size_t b_cells,
				  size_t a_cells)
{
	struct pair_edges *e = calloc(1, sizeof(*e));
	size_t size = sizeof(struct pair_edge) + (b_cells + 2 * a_cells) * sizeof(struct key_cell);

	if (!e)
		return NULL;
	e->wanted = *w;
	e->edge = w->size;
	e->wanted.size += (uint32_t)align_up(size, 16);
	e->on = on;
	e->b_cells = b_cells;
	e->a_cells = a_cells;
	groups_init(&e->map, on, &e->wanted);
	return e;
}

void pair_edges_free(struct pair_edges *e)
{
	if (!e)
		return;
	groups_free(&e->map);
	free(e);
}
