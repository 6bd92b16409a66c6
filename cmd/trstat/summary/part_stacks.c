/*
 * part_stacks.c - detached stacks at the end of the part that begins a stream
 */
#include <stdlib.h>

#include "cmd/trstat/summary/part.h"
#include "cmd/trstat/groups/statistics_private.h"

enum { KNOWN = UINT32_MAX }; /* owner of a node that is attached to the root */

struct taking {
	struct part *p;
	struct statistics *s;
	uint32_t
		/* by node: the thread whose unknown frames it is on, + 1; 0: not computed */
		*owner;
	size_t nodes;
	uint32_t *owners; /* by group */
	struct key_cell *cells;
};

/* Returns true if the thread's base is a frame open since the beginning of the part. */
static bool is_in_air(const struct call_stacks_thread *th)
{
	return th->started && th->low;
}

static bool find_bases(struct taking *t)
{
	const struct call_stacks *cs = t->s->stacks;
	bool any = false;

	for (size_t i = 0; i < cs->nthreads; i++)
		if (is_in_air(&cs->threads[i])) {
			t->owner[cs->threads[i].base] = (uint32_t)i + 1;
			any = true;
		}
	return any;
}

static uint32_t owner_of(struct taking *t, uint32_t node)
{
	const struct stack_node *nodes = t->s->stacks->tree.nodes;
	uint32_t owner = KNOWN, n;

	for (n = node; n != STACK_ROOT && n < t->nodes && !t->owner[n];)
		n = nodes[n].parent;
	if (n != STACK_ROOT && n < t->nodes)
		owner = t->owner[n];
	for (n = node; n != STACK_ROOT && n < t->nodes && !t->owner[n]; n = nodes[n].parent)
		t->owner[n] = owner;
	return owner;
}

/* Returns the thread, + 1, that decides the group's stacks, or KNOWN. All stacks of a group have
 * the same owner. */
static uint32_t owner_of_group(struct taking *t, const struct aggregate *a)
{
	const struct groups *g = &t->s->groups;
	const struct key_cell *cells = groups_cells(g, a);
	uint32_t owner = KNOWN;

	for (size_t i = 0; i < g->keys && owner == KNOWN; i++)
		if (cells[i].kind == KEY_STACK)
			owner = owner_of(t, stack_tree_resolve(&t->s->stacks->tree,
							       (uint32_t)cells[i].value));
	return owner;
}

static void find_owners(struct taking *t)
{
	for (size_t i = 0; i < t->s->groups.count; i++)
		t->owners[i] = owner_of_group(t, groups_at(&t->s->groups, i));
}

/* Move nodes on detached frames to the node that represents all unknown frames. */
static int join_open(struct taking *t)
{
	struct call_stacks *cs = t->s->stacks;

	for (size_t i = 0; i < cs->nthreads; i++)
		if (is_in_air(&cs->threads[i]) &&
		    stack_tree_join(&cs->tree, cs->threads[i].base, cs->open))
			return -1;
	return 0;
}

/* Build the groups again, without those to be held. */
static int hold_groups(struct taking *t)
{
	struct groups *g = &t->s->groups, old = groups_take(g);
	struct stack_tree *tree = &t->s->stacks->tree;
	int bad = 0;

	for (size_t i = 0; !bad && i < old.count; i++) {
		struct aggregate *from = groups_at(&old, i), *into;
		bool known = t->owners[i] == KNOWN;

		memcpy(t->cells, groups_cells(&old, from), g->keys * sizeof(*t->cells));
		for (size_t k = 0; k < g->keys; k++)
			if (t->cells[k].kind == KEY_STACK)
				t->cells[k] = (struct key_cell){
					.kind = known ? KEY_STACK : KEY_OPEN_STACK,
					.value = stack_tree_resolve(tree,
								    (uint32_t)t->cells[k].value)};
		into = known ? groups_find(g, t->cells)
			     : bracket_hold(&t->p->bracket, t->owners[i] - 1, 0, 0, t->cells);
		bad = into ? aggregate_merge(into, from, g->wanted) : -1;
	}
	groups_clear(&old);
	return bad;
}

int part_hold_stacks(struct part *p, struct statistics *s)
{
	struct taking t = {.p = p, .s = s, .nodes = s->stacks->tree.count};
	int bad;

	t.owner = calloc(t.nodes, sizeof(*t.owner));
	t.owners = calloc(s->groups.count + 1, sizeof(*t.owners));
	t.cells = calloc(s->keys->held + 1, sizeof(*t.cells));
	bad = !t.owner || !t.owners || !t.cells;
	if (!bad && find_bases(&t)) {
		find_owners(&t);
		bad = join_open(&t) || hold_groups(&t);
		statistics_forget_names(s);
	}
	free(t.owner);
	free(t.owners);
	free(t.cells);
	return bad ? -1 : 0;
}
