/*
 * stack_tree_limit.c - stacks of at most STACK_FRAMES frames
 */
#include <stdlib.h>
#include <string.h>

#include "common/calls/stack_tree.h"

/* Get the node after this one, callers before their callees; STACK_ROOT after the last. */
static uint32_t next_node(const struct stack_tree *t, uint32_t node, uint32_t *depth)
{
	const struct stack_node *nodes = t->nodes;

	if (nodes[node].first) {
		++*depth;
		return nodes[node].first;
	}
	while (node != STACK_ROOT && !nodes[node].next) {
		node = nodes[node].parent;
		--*depth;
	}
	return node == STACK_ROOT ? STACK_ROOT : nodes[node].next;
}

uint64_t stack_tree_deep(const struct stack_tree *t)
{
	uint32_t depth = 0;
	uint64_t n = 0;

	for (uint32_t node = next_node(t, STACK_ROOT, &depth); node != STACK_ROOT;
	     node = next_node(t, node, &depth))
		n += depth > STACK_FRAMES;
	return n;
}

int stack_tree_limit(struct stack_tree *t, uint32_t deeper, uint32_t *became)
{
	uint32_t depth = 0, into = 0;

	memset(became, 0, t->count * sizeof(*became));
	for (uint32_t node = next_node(t, STACK_ROOT, &depth); node != STACK_ROOT;
	     node = next_node(t, node, &depth)) {
		if (depth <= STACK_FRAMES)
			continue;
		/* a new node becomes the first child: this walk does not visit it */
		if (depth == STACK_FRAMES + 1) {
			into = stack_tree_child(t, t->nodes[node].parent, deeper);
			if (!into)
				return -1;
		}
		became[node] = into;
	}
	return 0;
}

int stack_tree_fold(struct stack_tree *t, uint32_t deeper)
{
	size_t count = t->count;
	uint32_t *became = malloc(count * sizeof(*became));
	int r = became ? stack_tree_limit(t, deeper, became) : -1;

	for (size_t i = 1; !r && i < count; i++) {
		struct stack_node *from = &t->nodes[i], *into = &t->nodes[became[i]];

		if (!became[i] || from == into)
			continue;
		stack_tree_add(t, became[i], from->self);
		into->calls += from->calls;
		if (from->parent == into->parent)
			add_saturated(&into->total, from->total);
		from->self = 0;
		from->calls = from->total = 0;
	}
	free(became);
	return r;
}
