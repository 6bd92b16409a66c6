/*
 * pair_list.h - --pair with --slowest N or --unpaired: single pairs, or As without a B, each event
 * with its time, thread and fields
 *
 * Memory depends on N and on the number of As that wait for their B (PAIR_LIMIT).
 */
#ifndef TR_TRSTAT_PAIR_LIST_H
#define TR_TRSTAT_PAIR_LIST_H

#include "cmd/trstat/groups.h"
#include "cmd/trstat/table.h"
#include "common/pairs/pair.h"

enum { PAIR_LIST_CELLS = 6 };

/* An event: its keys time, tid, pid, comm, cpu and name, and its fields as text (slowest.h). */
struct pair_event {
	struct key_cell cell[PAIR_LIST_CELLS];
	char *fields; /* NULL: no event */
	uint8_t kind; /* of the type of the event */
};

struct pair_instance {
	uint64_t time;	 /* from A to B, ns or ticks */
	uint64_t number; /* in the order of the Bs */
	struct pair_event a, b;
};

/* limit > 0: a heap of the slowest pairs, whose first is replaced next; 0: the As without a B, in
 * the order of the stream. */
struct pair_list {
	size_t limit, count, capacity;
	struct pair_instance *instance;
	struct pair_event *waiting; /* by the number of the pending A */
	size_t nwaiting;
	uint64_t pairs; /* number of pairs so far */
	const struct pair *pair;
	struct keys keys;
	struct dictionary *dictionary;
	struct groups *groups; /* the caller's; has the texts of cells */
	struct buffer scratch;
};

/* All functions that return int return -1 when out of memory. */

/* Watch the events of p; limit is set. */
void pair_list_watch(struct pair_list *l, struct pair *p);
/* To be called before the first event. pair_list_free in any case. */
int pair_list_begin(struct pair_list *l, struct dictionary *d, struct groups *g);
void pair_list_free(struct pair_list *l);

/* Write the first rows of the list, as many as the table's limit allows. */
int pair_list_write(struct pair_list *l, const struct table *t, enum table_format format,
		    struct text *out);

/*
 * What a part of a trace does not decide of --pair.
 *
 * For each value of "on": whether the first event is an A or a B, the first B without an A before
 * it, and the A that waits for its B at the end of the part. Parts are composed in the order of the
 * stream.
 */

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

/* Get the aggregate of a value of "on", made if new; NULL when out of memory. */
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
