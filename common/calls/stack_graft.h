/*
 * stack_graft.h - copies stacks below one node of a tree to another node
 *
 *     stack_graft_begin(&g, from, onto);
 *     stack_graft(&g, &tree, node, &became);
 *
 * Results are cached until the next stack_graft_begin, so grafting all nodes below `from` costs no
 * more than their number. A zero-initialised struct is ready for stack_graft_begin.
 */
#ifndef TR_CALLS_STACK_GRAFT_H
#define TR_CALLS_STACK_GRAFT_H

#include "common/util/buffer.h"
#include "common/calls/stack_tree.h"

struct stack_graft {
	uint32_t from, onto;
	struct stack_graft_node {
		uint32_t became, turn; /* became: valid if turn is the current one */
	} * nodes;
	size_t size;
	uint32_t turn;
	struct buffer path;
};

void stack_graft_begin(struct stack_graft *g, uint32_t from, uint32_t onto);
/* Set *became to the copy below onto of node, which is from or below it; the copy is created if
 * it is new. A node that is not below from is unchanged. -1: out of memory. */
int stack_graft(struct stack_graft *g, struct stack_tree *t, uint32_t node, uint32_t *became);
void stack_graft_free(struct stack_graft *g);

#endif
