#include "common/calls/stack_graft.h"

#include <stdlib.h>
#include <string.h>

void stack_graft_begin(struct stack_graft *g, uint32_t from, uint32_t onto)
{
	g->from = from;
	g->onto = onto;
	if (++g->turn)
		return;
	/* the turn counter wrapped */
	if (g->size)
		memset(g->nodes, 0, g->size * sizeof(*g->nodes));
	g->turn = 1;
}

static bool is_known(const struct stack_graft *g, uint32_t node)
{
	return node < g->size && g->nodes[node].turn == g->turn;
}

int stack_graft(struct stack_graft *g, struct stack_tree *t, uint32_t node, uint32_t *became)
{
	uint32_t at = node, to;

	*became = node;
	if (g->from == g->onto)
		return 0;
	/* up to the first known node */
	for (g->path.size = 0; at != g->from && !is_known(g, at); at = t->nodes[at].parent) {
		if (at == STACK_ROOT || at >= t->count)
			return 0;
		if (buffer_u32(&g->path, at))
			return -1;
	}
	to = at == g->from ? g->onto : g->nodes[at].became;
	/* and down again */
	while (g->path.size) {
		struct stack_graft_node *nodes;

		g->path.size -= 4;
		at = get_u32(g->path.data + g->path.size);
		to = stack_tree_child(t, to, t->nodes[at].name);
		nodes = array_reach(g->nodes, &g->size, at, sizeof(*nodes));
		if (!to || !nodes)
			return -1;
		g->nodes = nodes;
		nodes[at] = (struct stack_graft_node){to, g->turn};
	}
	*became = to;
	return 0;
}

void stack_graft_free(struct stack_graft *g)
{
	free(g->nodes);
	buffer_free(&g->path);
	*g = (struct stack_graft){0};
}
