#include "cmd/trencode/profile/stack_edges.h"

#include <stdlib.h>

#include "common/util/buffer.h"

/* One node of the path from the root to the present node. */
struct step {
	uint32_t node;
	uint32_t above; /* index + 1 of the step of the same name above, 0 none */
	uint32_t child; /* to be visited next */
	uint32_t edge;	/* to this step */
	bool first;	/* the edge is not in the path above */
};

/* One walk through the tree. */
struct walk {
	struct stack_edges *edges;
	const struct stack_tree *tree;
	const struct intern *names;
	struct step *steps;
	size_t count, capacity;
	uint32_t *last; /* by name: index of the innermost step + 1 */
};

/* Get the number of an edge; INTERN_NONE: out of memory. */
static uint32_t edges_find(struct stack_edges *s, uint32_t caller, uint32_t callee)
{
	uint32_t key[2] = {caller, callee}, number = intern(&s->keys, key, sizeof key);
	struct stack_edge *edges;

	if (number == s->count) {
		if (ARRAY_GROW(s->edges, s->capacity, s->count))
			return INTERN_NONE;
		edges = s->edges;
		edges[s->count++] = (struct stack_edge){.caller = caller, .callee = callee};
	}
	return number;
}

static int edges_enter(struct walk *w, uint32_t node)
{
	struct step *steps;
	const struct stack_node *n = &w->tree->nodes[node];
	struct stack_edges *s = w->edges;
	uint32_t above = w->last[n->name], caller, number;
	struct stack_edge *edge;

	if (ARRAY_GROW(w->steps, w->capacity, w->count))
		return -1;
	steps = w->steps;
	caller = w->count ? w->tree->nodes[steps[w->count - 1].node].name : w->names->count;
	number = edges_find(s, caller, n->name);
	if (number == INTERN_NONE)
		return -1;
	edge = &s->edges[number];
	steps[w->count++] = (struct step){node, above, n->first, number, !edge->open};
	w->last[n->name] = (uint32_t)w->count;
	add_saturated(&s->functions[n->name].self, saturated_u64(n->self));
	s->functions[n->name].calls += n->calls;
	edge->calls += n->calls;
	add_saturated(&edge->cost, above ? 0 : n->total);
	add_saturated(&edge->weight, edge->open ? 0 : n->total);
	edge->open = true;
	return 0;
}

static void edges_leave(struct walk *w)
{
	const struct step *top = &w->steps[--w->count];

	w->last[w->tree->nodes[top->node].name] = top->above;
	if (top->first)
		w->edges->edges[top->edge].open = false;
}

static int edges_walk_tree(struct walk *w)
{
	uint32_t root = w->tree->nodes[STACK_ROOT].first;

	for (; root; root = w->tree->nodes[root].next) {
		if (edges_enter(w, root))
			return -1;
		while (w->count) {
			struct step *top = &w->steps[w->count - 1];
			uint32_t child = top->child;

			if (child) {
				top->child = w->tree->nodes[child].next;
				if (edges_enter(w, child))
					return -1;
			} else {
				edges_leave(w);
			}
		}
	}
	return 0;
}

static int edges_by_names(const void *a, const void *b)
{
	const struct stack_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

int stack_edges_make(struct stack_edges *s, const struct stack_tree *t, const struct intern *names)
{
	struct walk w = {.edges = s, .tree = t, .names = names};
	int r = -1;

	*s = (struct stack_edges){0};
	s->functions = calloc(names->count + (size_t)1, sizeof(*s->functions));
	w.last = calloc(names->count + (size_t)1, sizeof(*w.last));
	if (s->functions && w.last)
		r = edges_walk_tree(&w);
	if (!r && s->count)
		qsort(s->edges, s->count, sizeof(*s->edges), edges_by_names);
	free(w.steps);
	free(w.last);
	return r;
}

void stack_edges_free(struct stack_edges *s)
{
	free(s->functions);
	free(s->edges);
	intern_free(&s->keys);
}
