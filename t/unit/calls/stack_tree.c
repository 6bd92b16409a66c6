/* The tree of stacks: order of its lines, limits, roots that are attached later. */
#include "common/calls/stack_tree.h"
#include "common/util/output.h"
#include "common/util/stack_limit.h"
#include "common/util/text.h"

#include <stdlib.h>
#include <unistd.h>

#include "t/unit/tap.h"

static struct intern names;
static struct stack_tree tree;

static uint32_t name(const char *s)
{
	return intern_string(&names, s);
}

/* The stack "a;b;c" from node from on. */
static uint32_t stack(uint32_t from, const char *path)
{
	char copy[256], *save, *word;

	snprintf(copy, sizeof(copy), "%s", path);
	for (word = strtok_r(copy, ";", &save); word; word = strtok_r(NULL, ";", &save))
		from = stack_tree_child(&tree, from, name(word));
	return from;
}

static void spend(const char *path, uint64_t self)
{
	stack_tree_add(&tree, stack(STACK_ROOT, path), self);
}

/* All that is written, in memory of its own. */
static char *written(void)
{
	static char result[1 << 20];
	char path[] = "/tmp/stack_tree-XXXXXX";
	static struct text text;
	struct output output;
	struct error e;
	int fd = mkstemp(path);
	ssize_t n;

	if (fd < 0 || output_open(&output, path, OUTPUT_TEXT, &e))
		return NULL;
	text_init(&text, &output);
	ok(!stack_tree_write(&tree, &names, &text), "write");
	text_flush(&text, &e);
	output_close(&output, 0, &e);
	close(fd);
	fd = -1;
	FILE *f = fopen(path, "r");
	n = f ? (ssize_t)fread(result, 1, sizeof(result) - 1, f) : 0;
	result[n] = '\0';
	if (f)
		fclose(f);
	unlink(path);
	return result;
}

static void begin(void)
{
	stack_tree_free(&tree);
	ok(!stack_tree_init(&tree), "init");
}

static void test_order(void)
{
	begin();
	is_str(written(), "", "nothing");
	spend("a", 1);
	spend("a;x", 2);
	spend("a b", 3);
	spend("a:b", 4);
	spend("a;x;y", 5);
	spend("a=", 6);
	spend("b;never;leaf", 7);
	spend("a;x", 20);
	is_str(written(), "a 1\na b 3\na:b 4\na;x 22\na;x;y 5\na= 6\nb;never;leaf 7\n",
	       "sorted by the stack, bytewise, stacks of nothing left out");
}

static void test_limits(void)
{
	begin();
	spend("f", UINT64_MAX - 1);
	spend("f", 1);
	spend("f", 5);
	is_str(written(), "f 18446744073709551615\n", "a sum does not wrap");
}

static void test_attach(void)
{
	uint32_t loose, inner;

	begin();
	spend("main;f", 1);
	spend("main;f;g", 2);
	loose = stack_tree_detached(&tree);
	stack_tree_add(&tree, loose, 10);
	stack_tree_add(&tree, stack(loose, "g"), 20);
	stack_tree_add(&tree, stack(loose, "g;h"), 30);
	stack_tree_add(&tree, stack(loose, "k"), 40);
	is_str(written(), "main;f 1\nmain;f;g 2\n", "what is loose is in no stack");
	inner = stack_tree_detached(&tree);
	ok(!stack_tree_attach(&tree, loose, inner, name("f")), "attach to what is loose");
	ok(!stack_tree_attach(&tree, inner, STACK_ROOT, name("main")), "attach, joining");
	is_str(written(), "main;f 11\nmain;f;g 22\nmain;f;g;h 30\nmain;f;k 40\n", "joined");
	spend("main;f;g;h", 1);
	spend("main;f;k", 1);
	is_str(written(), "main;f 11\nmain;f;g 22\nmain;f;g;h 31\nmain;f;k 41\n",
	       "found after they moved");
}

static void test_many(void)
{
	char text[64];
	uint32_t deep = STACK_ROOT;
	size_t live;
	char *p;

	begin();
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "f%05d;g", i);
		spend(text, 1);
	}
	p = written();
	ok(!strncmp(p, "f00000;g 1\nf00001;g 1\n", 22), "first of many");
	is_u64(strlen(p), 20000 * 11, "all of many");
	live = tree.live;
	for (int i = 0; i < 100000; i++) {
		uint32_t loose = stack_tree_detached(&tree);

		stack_tree_add(&tree, stack(loose, "x"), 1);
		if (stack_tree_attach(&tree, loose, STACK_ROOT, name("t")))
			break;
	}
	is_u64(tree.live, live + 2, "nodes that were joined are used again");
	ok(tree.children.mask < 1 << 18, "and so is their room where they are looked up");
	begin();
	for (int i = 0; i < 100000; i++)
		deep = stack_tree_child(&tree, deep, name("r"));
	stack_tree_add(&tree, deep, 7);
	is_u64(strlen(written()), 199999 + 3, "very deep");
}

/* Numbers that are remembered lead to what became of them. */
static void test_keep(void)
{
	uint32_t there, loose, below, other, order[8];

	begin();
	tree.keep = true;
	there = stack(STACK_ROOT, "a;b");
	loose = stack_tree_detached(&tree);
	below = stack(loose, "b;c");
	other = stack_tree_detached(&tree);
	ok(!tree.joined, "nothing is joined yet");
	ok(!stack_tree_attach(&tree, loose, STACK_ROOT, name("a")), "join");
	ok(tree.joined, "now something is");
	is_u64(stack_tree_resolve(&tree, loose), stack(STACK_ROOT, "a"), "the node itself");
	is_u64(stack_tree_resolve(&tree, tree.nodes[below].parent), there, "what hung on it");
	is_u64(stack_tree_resolve(&tree, below), below, "what hangs on that only moved");
	ok(!stack_tree_attach(&tree, other, there, name("c")), "join again");
	is_u64(stack_tree_resolve(&tree, other), below, "with what had moved");
	is_u64(stack_tree_detached(&tree), below + 2, "numbers are not used again");
	tree.live--; /* that one hangs nowhere */
	stack(STACK_ROOT, "a;a");
	stack(STACK_ROOT, "A");
	is_u64(stack_tree_order(&tree, &names, order), 6, "nodes in their order");
	ok(order[0] == STACK_ROOT && order[1] == stack(STACK_ROOT, "A") &&
		   order[2] == stack(STACK_ROOT, "a") && order[3] == stack(STACK_ROOT, "a;a") &&
		   order[4] == there && order[5] == below,
	   "callers first, siblings by name");
}

/* A stack of n frames "f". */
static uint32_t stack_of(uint32_t n)
{
	uint32_t node = STACK_ROOT;

	while (n--)
		node = stack_tree_child(&tree, node, name("f"));
	return node;
}

static void test_limit(void)
{
	uint32_t last, deeper;

	begin();
	last = stack_of(STACK_FRAMES);
	stack_tree_call(&tree, last, 1, 100);
	is_u64(stack_tree_deep(&tree), 0, "no stack is too deep");
	ok(!stack_tree_fold(&tree, name(STACK_DEEPER)), "nothing to fold");
	is_u64(tree.live, STACK_FRAMES, "no frame is added");
	stack_tree_call(&tree, stack(last, "a"), 2, 30);
	stack_tree_call(&tree, stack(last, "a;b;c"), 4, 4);
	stack_tree_call(&tree, stack(last, "d"), 8, 8);
	/* functions may be called so */
	stack_tree_call(&tree, stack(last, STACK_DEEPER), 16, 16);
	stack_tree_call(&tree, stack(last, STACK_DEEPER ";e"), 32, 32);
	is_u64(stack_tree_deep(&tree), 6, "stacks that are");
	ok(!stack_tree_fold(&tree, name(STACK_DEEPER)), "fold");
	deeper = stack(last, STACK_DEEPER);
	is_u64(tree.nodes[deeper].self, 2 + 4 + 8 + 16 + 32, "their own time");
	is_u64(tree.nodes[deeper].calls, 5, "their calls");
	is_u64(tree.nodes[deeper].total, 30 + 8 + 16, "the time of the outermost");
	is_u64(tree.nodes[last].self, 1, "less deep ones are unchanged");
	is_u64(tree.nodes[stack(last, "a;b;c")].self, 0, "nothing is counted twice");
}

int main(void)
{
	test_limit();
	test_keep();
	test_order();
	test_limits();
	test_attach();
	test_many();
	stack_tree_free(&tree);
	intern_free(&names);
	return done();
}
