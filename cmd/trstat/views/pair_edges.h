/*
 * pair_edges.h - what a part of a trace does not decide of --pair
 *
 * For each value of "on": whether the first event is an A or a B, the first B without an A before
 * it, and the A that waits for its B at the end of the part. Parts are composed in the order of the
 * stream (part.h).
 */
#ifndef TR_TRSTAT_VIEWS_PAIR_EDGES_H
#define TR_TRSTAT_VIEWS_PAIR_EDGES_H

#include "common/pairs/pair.h"
#include "cmd/trstat/groups/groups.h"

/*
 * One value of "on". It has an aggregate, of the fields of the first B for the columns; the cells
 * of the groups' keys that the first B has, with KEY_PENDING for what depends on the A; the
 * cells of the waiting A for the keys with key.begins; and the first B's cells for these, where
 * its A lacks them.
 */
struct pair_edge {
	uint32_t first; /* enum pair_first */
	bool waiting;	/* an A has no B yet */
	uint64_t b, a;	/* times of the first B and of the waiting A */
};

struct pair_edges {
	struct groups map; /* by the cells of "on"; texts are those of the statistics' groups */
	struct columns_wanted wanted; /* the columns' parts, then a struct pair_edge and cells */
	uint32_t edge;		      /* offset of the struct pair_edge in an aggregate */
	size_t on, b_cells, a_cells;  /* number of cells of each kind */
};

/* Make edges without any. NULL when out of memory; the caller frees them with pair_edges_free. */
struct pair_edges *pair_edges_new(const struct columns_wanted *w, size_t on, size_t b_cells,
				  size_t a_cells);
void pair_edges_free(struct pair_edges *e);

/* Let the pair note in e the first event of each value of "on". */
void pair_edges_note(struct pair_edges *e, struct pair *p);
/* Move the As that wait to the pair's edges, at the end of a part. Returns -1 when out of memory.
 */
int pair_edges_end_part(struct pair *p);

/* Returns the aggregate of a value of "on", made if new; NULL when out of memory. */
static inline struct aggregate *pair_edges_find(struct pair_edges *e, const struct key_cell *on)
{
	return groups_find(&e->map, on);
}

static inline struct pair_edge *pair_edge(const struct pair_edges *e, const struct aggregate *a)
{
	return aggregate_part(a, e->edge);
}

static inline struct key_cell *pair_edge_b(const struct pair_edges *e, const struct aggregate *a)
{
	return (struct key_cell *)(pair_edge(e, a) + 1);
}

static inline struct key_cell *pair_edge_a(const struct pair_edges *e, const struct aggregate *a)
{
	return pair_edge_b(e, a) + e->b_cells;
}

/* e->a_cells of the first B */
static inline struct key_cell *pair_edge_other(const struct pair_edges *e,
					       const struct aggregate *a)
{
	return pair_edge_a(e, a) + e->a_cells;
}

#endif
