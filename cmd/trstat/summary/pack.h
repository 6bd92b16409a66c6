/*
 * pack.h - encode and decode the groups of a summary (summary.h): cells and aggregates
 */
#ifndef TR_TRSTAT_SUMMARY_PACK_H
#define TR_TRSTAT_SUMMARY_PACK_H

#include "common/util/packed.h"
#include "cmd/trstat/groups/groups.h"

/*
 * The stacks of a summary: each is a frame on top of an earlier one, named by number. The first two
 * are no frames: the bottom of the known frames, and the stack below the unknown frames.
 */
enum { PACKED_ROOT, PACKED_OPEN, PACKED_FRAMES };

struct packed_stacks {
	uint32_t *number; /* for writing: by node of the tree; 0: not written */
	/* for reading: by number, the node, and whether it is on top of unknown frames */
	struct packed_stack {
		uint32_t node;
		bool open;
	} * stack;
	size_t count;
};

void packed_stacks_free(struct packed_stacks *ps);

/* Append cells. stacks: needed if cells may be stacks, else NULL. Returns -1 when out of memory. */
int pack_cells(struct buffer *b, const struct groups *g, const struct key_cell *cells, size_t n,
	       const struct packed_stacks *stacks);
int pack_aggregate(struct buffer *b, const struct aggregate *a, const struct columns_wanted *w);

/* Read n cells; texts go to g. open: KEY_OPEN_* are allowed. Returns -1 when out of memory;
 * impossible values set in->bad. */
int unpack_cells(struct packed *in, struct groups *g, struct key_cell *cells, size_t n, bool open,
		 const struct packed_stacks *stacks);
/* Read an aggregate, with the parts that it was packed with; a is fresh from aggregate_init.
 * Returns -1 when out of memory; impossible values set in->bad. */
int unpack_aggregate(struct packed *in, struct aggregate *a, const struct columns_wanted *w);

#endif
