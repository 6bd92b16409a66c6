/*
 * pack.h - encode and decode the groups of a summary (summary.h): cells and aggregates
 */
#ifndef TR_TRSTAT_SUMMARY_PACK_H
#define TR_TRSTAT_SUMMARY_PACK_H

#include "common/util/packed.h"
#include "cmd/trstat/groups/groups.h"

/* The stacks of a summary. Number 0 is the root, which is not a stack. */
struct packed_stacks {
	uint32_t *number; /* for writing: by node of the tree; 0: not written */
	uint32_t *node;	  /* for reading: by number */
	size_t count, capacity;
};

void packed_stacks_free(struct packed_stacks *ps);

/* Append cells. stacks: needed if cells may be stacks, else NULL. Returns -1 when out of memory. */
int pack_cells(struct buffer *b, const struct groups *g, const struct key_cell *cells, size_t n,
	       const struct packed_stacks *stacks);
int pack_aggregate(struct buffer *b, const struct aggregate *a, const struct columns_wanted *w);

/* Read n cells; texts go to g. pending: 0, or KEY_PENDING is allowed, for one field less than this.
 * Returns -1 when out of memory; impossible values set in->bad. */
int unpack_cells(struct packed *in, struct groups *g, struct key_cell *cells, size_t n,
		 const struct packed_stacks *stacks, size_t pending);
/* Read an aggregate, with the parts that it was packed with; a is fresh from aggregate_init.
 * Returns -1 when out of memory; impossible values set in->bad. */
int unpack_aggregate(struct packed *in, struct aggregate *a, const struct columns_wanted *w);

#endif
