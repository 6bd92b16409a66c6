#include "cmd/trencode/profile/stack_edges.h"

#include <stdlib.h>

#include "common/util/buffer.h"

/* One node of the path from the root to the present node. */
struct step {
	uint32_t node;
	uint32_t above; /* index + 1 of the step of the same name above, 0 none */
	uint32_t child; /* to be visited next */
};

/* One walk through the tree. */
struct walk {
	const struct stack_tree *tree;
	struct step *steps;
	size_t count, capacity;
	uint32_t *last;	    /* by name: index of the innermost step + 1 */
	uint8_t *recursive; /* by node: a node above it has the same name */
};

static int edges_enter(struct walk *w, uint32_t node)
{
	struct step *steps = array_grow(w->steps, &w->capacity, w->count, sizeof(*steps));
	const struct stack_node *n = &w->tree->nodes[node];
	uint32_t above;

	if (!steps)
		return -1;
	w->steps = steps;
	above = w->last[n->name];
	steps[w->count++] = (struct step){node, above, n->first};
	w->last[n->name] = (uint32_t)w->count;
	w->recursive[node] = above != 0;
	return 0;
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
				w->last[w->tree->nodes[top->node].name] = top->above;
				w->count--;
			}
		}
	}
	return 0;
}

static int edges_add_edge(struct stack_edges *s, uint32_t caller, uint32_t callee, uint64_t calls,
			  uint64_t cost)
{
	uint32_t key[2] = {caller, callee}, number = intern(&s->keys, key, sizeof key);
	struct stack_edge *edges;

	if (number == INTERN_NONE)
		return -1;
	if (number == s->count) {
		edges = array_grow(s->edges, &s->capacity, s->count, sizeof(*edges));
		if (!edges)
			return -1;
		s->edges = edges;
		edges[s->count++] = (struct stack_edge){caller, callee, 0, 0};
	}
	s->edges[number].calls += calls;
	s->edges[number].cost += cost;
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
	struct walk w = {.tree = t};
	int r = -1;

	*s = (struct stack_edges){0};
	s->functions = calloc(names->count + (size_t)1, sizeof(*s->functions));
	w.last = calloc(names->count + (size_t)1, sizeof(*w.last));
	w.recursive = calloc(t->count, sizeof(*w.recursive));
	if (s->functions && w.last && w.recursive)
		r = edges_walk_tree(&w);
	for (size_t i = 1; !r && i < t->count; i++) {
		const struct stack_node *n = &t->nodes[i];

		if (n->parent == STACK_LOOSE)
			continue;
		s->functions[n->name].self += n->self;
		s->functions[n->name].calls += n->calls;
		r = edges_add_edge(
			s, n->parent == STACK_ROOT ? names->count : t->nodes[n->parent].name,
			n->name, n->calls, w.recursive[i] ? 0 : n->total);
	}
	if (!r && s->count)
		qsort(s->edges, s->count, sizeof(*s->edges), edges_by_names);
	free(w.steps);
	free(w.last);
	free(w.recursive);
	return r;
}

void stack_edges_free(struct stack_edges *s)
{
	free(s->functions);
	free(s->edges);
	intern_free(&s->keys);
}
