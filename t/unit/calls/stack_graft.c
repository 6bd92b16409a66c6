#include "common/calls/stack_graft.h"

#include <stdlib.h>

#include "t/unit/tap.h"

static struct intern names;
static struct stack_tree tree;

static uint32_t child(uint32_t of, const char *name)
{
	return stack_tree_child(&tree, of, intern_string(&names, name));
}

static void test_graft(void)
{
	struct stack_graft g = {0};
	uint32_t open = stack_tree_detached(&tree), main = child(STACK_ROOT, "main"), became;
	uint32_t f = child(open, "f"), g1 = child(f, "g"), h = child(f, "h");

	stack_graft_begin(&g, open, main);
	ok(!stack_graft(&g, &tree, g1, &became), "a stack");
	is_u64(became, child(child(main, "f"), "g"), "name by name");
	ok(!stack_graft(&g, &tree, h, &became), "one of which a part is known");
	is_u64(became, child(child(main, "f"), "h"), "beside the first");
	ok(!stack_graft(&g, &tree, open, &became) && became == main, "nothing upon it");
	ok(!stack_graft(&g, &tree, main, &became) && became == main, "what does not hang there");
	stack_graft_begin(&g, open, STACK_ROOT);
	ok(!stack_graft(&g, &tree, g1, &became), "onto another one");
	is_u64(became, child(child(STACK_ROOT, "f"), "g"), "what was known is forgotten");
	ok(!stack_graft(&g, &tree, open, &became) && became == STACK_ROOT, "onto the root");
	stack_graft_begin(&g, open, open);
	ok(!stack_graft(&g, &tree, g1, &became) && became == g1, "onto itself");
	g.turn = UINT32_MAX;
	stack_graft_begin(&g, open, main);
	ok(!stack_graft(&g, &tree, h, &became) && became == child(child(main, "f"), "h"),
	   "turns come round");
	stack_graft_free(&g);
}

static void test_join(void)
{
	uint32_t air = stack_tree_detached(&tree), to = stack_tree_detached(&tree);
	uint32_t a = child(air, "a"), b = child(air, "b"), same = child(to, "a");
	uint32_t below = child(a, "c");

	tree.keep = true;
	ok(!stack_tree_join(&tree, air, to), "join");
	is_u64(stack_tree_resolve(&tree, air), to, "the node is the other one");
	is_u64(stack_tree_resolve(&tree, a), same, "and so is what was there");
	is_u64(stack_tree_resolve(&tree, b), b, "what was not is moved");
	is_u64(tree.nodes[b].parent, to, "to it");
	is_u64(tree.nodes[stack_tree_resolve(&tree, below)].parent, same, "with what hangs on it");
}

/* A long stack, asked for frame by frame, is walked once. */
static void test_long(void)
{
	enum { DEEP = 200000 };
	uint32_t open = stack_tree_detached(&tree), onto = child(STACK_ROOT, "deep"), at = open;
	struct stack_graft g = {0};
	uint32_t became = 0, *all = calloc(DEEP, sizeof(*all));
	int bad = !all;

	for (int i = 0; !bad && i < DEEP; i++)
		all[i] = at = child(at, "r");
	stack_graft_begin(&g, open, onto);
	for (int i = 0; !bad && i < DEEP; i++)
		bad = stack_graft(&g, &tree, all[i], &became);
	for (at = became; at != onto && at != STACK_ROOT; at = tree.nodes[at].parent)
		;
	ok(!bad && at == onto, "a long one");
	free(all);
	stack_graft_free(&g);
}

int main(void)
{
	ok(!stack_tree_init(&tree), "a tree");
	test_graft();
	test_join();
	test_long();
	stack_tree_free(&tree);
	intern_free(&names);
	return done();
}
