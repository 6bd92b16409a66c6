/*
 * stack_graft.h - stacks below one node of a tree as the same stacks below another one
 *
 *     stack_graft_begin(&g, from, onto);
 *     stack_graft(&g, &tree, node, &became);
 *
 * What was asked for once is known until the next stack_graft_begin, so that all nodes below from
 * together cost no more than there are of them. Zero-initialised is ready to begin.
 */
#ifndef TR_CALLS_STACK_GRAFT_H
#define TR_CALLS_STACK_GRAFT_H

#include "common/util/buffer.h"
#include "common/calls/stack_tree.h"

struct stack_graft {
	uint32_t from, onto;
	struct stack_graft_node {
		uint32_t became, turn; /* became: known if turn is the present one */
	} * nodes;
	size_t size;
	uint32_t turn;
	struct buffer path;
};

void stack_graft_begin(struct stack_graft *g, uint32_t from, uint32_t onto);
/* *became: what node, which is from or below it, is below onto; made if it is new. A node that is
 * not below from stays what it is. -1: out of memory. */
int stack_graft(struct stack_graft *g, struct stack_tree *t, uint32_t node, uint32_t *became);
void stack_graft_free(struct stack_graft *g);

#endif
