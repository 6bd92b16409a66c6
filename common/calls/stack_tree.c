/*
 * stack_tree.c - the time spent in each distinct stack of calls
 */
#include "common/calls/stack_tree.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/stack_limit.h"
#include "common/util/text.h"

/*
 * Stacks of at most STACK_FRAMES frames.
 */

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

/* --- stack tree --- */

enum {
	GONE = STACK_LOOSE - 1, /* with keep: parent of a node that was joined with its first */
};

int stack_tree_init(struct stack_tree *t)
{
	*t = (struct stack_tree){0};
	if (ARRAY_GROW(t->nodes, t->capacity, 0))
		return -1;
	t->nodes[t->count++] = (struct stack_node){.parent = STACK_LOOSE};
	return 0;
}

void stack_tree_free(struct stack_tree *t)
{
	free(t->nodes);
	key_map_free(&t->children);
	*t = (struct stack_tree){0};
}

static uint64_t stack_tree_key(uint32_t parent, uint32_t name)
{
	return (uint64_t)parent << 32 | name;
}

static uint32_t stack_tree_find(const struct stack_tree *t, uint32_t parent, uint32_t name)
{
	return (uint32_t)key_map_get(&t->children, stack_tree_key(parent, name));
}

/* Add a node to its parent's list of children and to the hash table. */
static int link_node(struct stack_tree *t, uint32_t node, uint32_t parent, uint32_t name)
{
	struct stack_node *n = &t->nodes[node];

	if (key_map_set(&t->children, stack_tree_key(parent, name), node))
		return -1;
	n->parent = parent;
	n->name = name;
	n->next = t->nodes[parent].first;
	t->nodes[parent].first = node;
	return 0;
}

uint32_t stack_tree_detached(struct stack_tree *t)
{
	uint32_t node = t->free;

	if (node) {
		t->free = t->nodes[node].next;
	} else {
		if (t->count >= GONE || ARRAY_GROW(t->nodes, t->capacity, t->count))
			return 0;
		node = (uint32_t)t->count++;
	}
	t->nodes[node] = (struct stack_node){.parent = STACK_LOOSE};
	t->live++;
	return node;
}

uint32_t stack_tree_child_slow(struct stack_tree *t, uint32_t parent, uint32_t name)
{
	uint32_t node = stack_tree_find(t, parent, name);

	if (!node) {
		node = stack_tree_detached(t);
		if (node && link_node(t, node, parent, name))
			return 0;
	}
	t->nodes[parent].recent = node;
	return node;
}

static void stack_tree_drop(struct stack_tree *t, uint32_t node, uint32_t to)
{
	t->live--;
	if (t->keep) {
		t->nodes[node] = (struct stack_node){.parent = GONE, .first = to};
		t->joined = true;
		return;
	}
	t->nodes[node] = (struct stack_node){.parent = STACK_LOOSE, .next = t->free};
	t->free = node;
}

uint32_t stack_tree_resolve(struct stack_tree *t, uint32_t node)
{
	uint32_t end = node, next;

	while (t->nodes[end].parent == GONE)
		end = t->nodes[end].first;
	for (; t->nodes[node].parent == GONE; node = next) {
		next = t->nodes[node].first;
		t->nodes[node].first = end;
	}
	return end;
}

/* Move the children of from to to; pairs that must be joined themselves are added to work. */
static int common_stack_tree_join(struct stack_tree *t, uint32_t from, uint32_t to,
				  struct buffer *work)
{
	uint32_t child = t->nodes[from].first, next, same;

	stack_tree_add(t, to, t->nodes[from].self);
	t->nodes[to].calls += t->nodes[from].calls;
	add_saturated(&t->nodes[to].total, t->nodes[from].total);
	for (; child; child = next) {
		next = t->nodes[child].next;
		same = stack_tree_find(t, to, t->nodes[child].name);
		key_map_remove(&t->children, stack_tree_key(from, t->nodes[child].name));
		if (same) {
			if (buffer_u64(work, (uint64_t)child << 32 | same))
				return -1;
		} else if (link_node(t, child, to, t->nodes[child].name)) {
			return -1;
		}
	}
	stack_tree_drop(t, from, to);
	return 0;
}

/* Join node with to, which takes its children. */
static int stack_tree_join(struct stack_tree *t, uint32_t node, uint32_t to)
{
	struct buffer work = {0};
	int r = common_stack_tree_join(t, node, to, &work);

	while (!r && work.size) {
		uint64_t pair;

		work.size -= 8;
		pair = get_u64(work.data + work.size);
		r = common_stack_tree_join(t, (uint32_t)(pair >> 32), (uint32_t)pair, &work);
	}
	buffer_free(&work);
	return r;
}

int stack_tree_attach(struct stack_tree *t, uint32_t node, uint32_t parent, uint32_t name)
{
	uint32_t there = stack_tree_find(t, parent, name);

	return there ? stack_tree_join(t, node, there) : link_node(t, node, parent, name);
}

void stack_tree_prune(struct stack_tree *t)
{
	for (size_t i = 0; i < t->count; i++)
		t->nodes[i].first = 0;
	for (size_t i = t->count; i-- > 1;) {
		struct stack_node *n = &t->nodes[i];

		if (n->parent == STACK_LOOSE)
			continue;
		if (n->first || n->calls || n->self || n->total) {
			n->next = t->nodes[n->parent].first;
			t->nodes[n->parent].first = (uint32_t)i;
		} else {
			key_map_remove(&t->children, stack_tree_key(n->parent, n->name));
			n->parent = STACK_LOOSE;
			t->live--;
		}
	}
}

/* --- order --- */

/* Compare two numbers of a name << 32 | number of a node. */
static int compare_names(const void *a, const void *b, void *ctx)
{
	const struct intern *names = ctx;
	uint32_t x = (uint32_t)(*(const uint64_t *)a >> 32),
		 y = (uint32_t)(*(const uint64_t *)b >> 32);
	uint32_t n = intern_size(names, x), m = intern_size(names, y);
	int c = memcmp(intern_data(names, x), intern_data(names, y), n < m ? n : m);

	return c ? c : (n > m) - (n < m);
}

size_t stack_tree_order(const struct stack_tree *t, const struct intern *names, uint32_t *order)
{
	uint64_t *todo = malloc((t->live + 1) * sizeof(*todo));
	size_t count = 0, n = 0, first;

	if (!todo)
		return 0;
	todo[n++] = STACK_ROOT;
	while (n) {
		uint32_t node = (uint32_t)todo[--n];

		order[count++] = node;
		first = n;
		for (uint32_t c = t->nodes[node].first; c; c = t->nodes[c].next)
			todo[n++] = (uint64_t)t->nodes[c].name << 32 | c;
		qsort_r(todo + first, n - first, sizeof(*todo), compare_names, (void *)names);
		/* the first of them is next */
		for (size_t i = first, k = n; k && i < --k; i++) {
			uint64_t swap = todo[i];

			todo[i] = todo[k];
			todo[k] = swap;
		}
	}
	free(todo);
	return count;
}

/* --- writing --- */

/*
 * A child has two items: the stack that ends with the child ("a 12"), and the stacks that continue
 * ("a;..."). Because ';' sorts after many characters of names, other items can be between these
 * two: "a", "a b", "a;c".
 */
struct item {
	uint32_t node;
	bool below;
};

struct writing {
	const struct stack_tree *tree;
	const struct intern *names;
	struct item *items;
	struct {
		size_t item, end; /* items to be done */
		size_t path;	  /* bytes of the path above */
	} * levels;
	size_t nitems, items_capacity, nlevels, levels_capacity;
	struct buffer path;
};

static int stack_tree_after(const struct intern *names, uint32_t name, const struct item *i,
			    uint32_t common)
{
	if (intern_size(names, name) > common)
		return (uint8_t)intern_data(names, name)[common];
	return i->below ? ';' : -1;
}

static int stack_tree_compare(const void *a, const void *b, void *ctx)
{
	const struct writing *w = ctx;
	const struct item *x = a, *y = b;
	uint32_t p = w->tree->nodes[x->node].name, q = w->tree->nodes[y->node].name;
	uint32_t n = intern_size(w->names, p), m = intern_size(w->names, q), common = n < m ? n : m;
	int c = memcmp(intern_data(w->names, p), intern_data(w->names, q), common);

	return c ? c
		 : stack_tree_after(w->names, p, x, common) -
			       stack_tree_after(w->names, q, y, common);
}

static int add_item(struct writing *w, uint32_t node, bool below)
{
	if (ARRAY_GROW(w->items, w->items_capacity, w->nitems))
		return -1;
	w->items[w->nitems++] = (struct item){node, below};
	return 0;
}

/* Queue the children of a node to be written next. */
static int descend(struct writing *w, uint32_t node, size_t path)
{
	size_t from = w->nitems;

	if (ARRAY_GROW(w->levels, w->levels_capacity, w->nlevels))
		return -1;
	for (uint32_t c = w->tree->nodes[node].first; c; c = w->tree->nodes[c].next)
		if ((w->tree->nodes[c].self && add_item(w, c, false)) ||
		    (w->tree->nodes[c].first && add_item(w, c, true)))
			return -1;
	if (w->nitems > from)
		qsort_r(w->items + from, w->nitems - from, sizeof(*w->items), stack_tree_compare,
			w);
	w->levels[w->nlevels].item = from;
	w->levels[w->nlevels].end = w->nitems;
	w->levels[w->nlevels++].path = path;
	return 0;
}

static int write_item(struct writing *w, const struct item *i, struct text *out)
{
	const struct stack_node *n = &w->tree->nodes[i->node];
	char self[I128_SIZE];
	size_t above = w->path.size;

	if (buffer_append(&w->path, ";", above > 0) ||
	    buffer_append(&w->path, intern_data(w->names, n->name), intern_size(w->names, n->name)))
		return -1;
	if (i->below)
		return descend(w, i->node, above);
	text_masked(out, (const char *)w->path.data, w->path.size);
	text_char(out, ' ');
	text_put(out, self, i128_decimal(self, saturated_64(n->self)));
	text_char(out, '\n');
	w->path.size = above;
	return 0;
}

int stack_tree_write(const struct stack_tree *t, const struct intern *names, struct text *out)
{
	struct writing w = {.tree = t, .names = names};
	int r = descend(&w, STACK_ROOT, 0);

	while (!r && w.nlevels && !text_failed(out)) {
		size_t last = w.nlevels - 1;

		if (w.levels[last].item < w.levels[last].end) {
			struct item i = w.items[w.levels[last].item++];

			r = write_item(&w, &i, out);
		} else {
			w.path.size = w.levels[last].path;
			w.nlevels = last;
			w.nitems = w.nlevels ? w.levels[w.nlevels - 1].end : 0;
		}
	}
	free(w.items);
	free(w.levels);
	buffer_free(&w.path);
	return r;
}
