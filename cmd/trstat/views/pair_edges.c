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

static enum outcome note_first(struct pair_edges *e, const struct key_cell *on,
			       enum pair_first which, struct aggregate **entry)
{
	struct pair_edge *edge;

	*entry = pair_edges_find(e, on);
	if (!*entry)
		return OUTCOME_FAILED;
	edge = pair_edge(e, *entry);
	if (edge->first != PAIR_NONE)
		return OUTCOME_NO;
	edge->first = which;
	return OUTCOME_YES;
}

void pair_edges_note(struct pair_edges *e, struct pair *p)
{
	p->edges = e;
	p->note_first = note_first;
}

static int keep_waiting(struct pair *p, const struct key_cell *on, const struct key_cell *begun,
			uint64_t time)
{
	struct aggregate *a = pair_edges_find(p->edges, on);
	struct pair_edge *edge;

	if (!a)
		return -1;
	edge = pair_edge(p->edges, a);
	edge->waiting = true;
	edge->a = time;
	memcpy(pair_edge_a(p->edges, a), begun, p->edges->a_cells * sizeof(*begun));
	return 0;
}

int pair_edges_end_part(struct pair *p)
{
	return pair_drain(p, keep_waiting);
}
