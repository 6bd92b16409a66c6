/*
 * pack.h - groups of a summary (summary.h) to bytes and back: cells and aggregates
 */
#ifndef TR_TRSTAT_SUMMARY_PACK_H
#define TR_TRSTAT_SUMMARY_PACK_H

#include "common/util/packed.h"
#include "cmd/trstat/groups/groups.h"

/*
 * The stacks of a summary: each is a frame on top of one before it, by its number. The first two
 * are no frames: the bottom of what is known, and what is open below what is not.
 */
enum { PACKED_ROOT, PACKED_OPEN, PACKED_FRAMES };

struct packed_stacks {
	uint32_t *number; /* writing: by node of the tree, 0 not among them */
	/* reading: by number, the node, and whether it is open or on top of that */
	struct packed_stack {
		uint32_t node;
		bool open;
	} * stack;
	size_t count;
};

void packed_stacks_free(struct packed_stacks *ps);

/* -1: out of memory. stacks: of cells that may be stacks; NULL: none is. */
int pack_cells(struct buffer *b, const struct groups *g, const struct key_cell *cells, size_t n,
	       const struct packed_stacks *stacks);
int pack_aggregate(struct buffer *b, const struct aggregate *a, const struct columns_wanted *w);

/* Fill n cells; texts go to g. open: KEY_OPEN_* may stand there too. -1: out of memory; what is
 * impossible sets in->bad. */
int unpack_cells(struct packed *in, struct groups *g, struct key_cell *cells, size_t n, bool open,
		 const struct packed_stacks *stacks);
/* Into an aggregate as aggregate_init leaves it, with the parts that it was packed with. -1: memory
 * is out, else as above. */
int unpack_aggregate(struct packed *in, struct aggregate *a, const struct columns_wanted *w);

#endif
