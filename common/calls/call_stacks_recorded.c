/*
 * call_stacks_recorded.c - the nodes of recorded stacks, in the tree that the calls are in
 */
#include <stdlib.h>

#include "common/calls/call_stacks_private.h"

enum { CACHE = 1 << 15 };

static struct recorded_node *cached(struct recorded_stacks *r, uint32_t root, uint32_t stack)
{
	uint64_t hash = hash_u64((uint64_t)root << 32 | stack);

	return &r->cache[hash & (CACHE - 1)];
}

/* Get the root's nodes, with room for the stack. NULL: they are in the cache, or *bad, out of
 * memory. */
static struct recorded_root *root_of(struct recorded_stacks *r, uint32_t root, uint32_t stack,
				     bool *bad)
{
	struct recorded_root *at = r->roots;

	while (at < r->roots + RECORDED_ROOTS && at->size && at->root != root)
		at++;
	if (at == r->roots + RECORDED_ROOTS) {
		if (!r->cache)
			r->cache = calloc(CACHE, sizeof(*r->cache));
		*bad = !r->cache;
		return NULL;
	}
	*bad = ARRAY_REACH(at->node, at->size, stack);
	if (*bad)
		return NULL;
	at->root = root;
	return at;
}

void call_stacks_forget_recorded(struct call_stacks *cs)
{
	struct recorded_stacks *r = &cs->recorded;

	if (r->cache)
		memset(r->cache, 0, CACHE * sizeof(*r->cache));
	for (struct recorded_root *at = r->roots; at < r->roots + RECORDED_ROOTS; at++)
		if (at->node)
			memset(at->node, 0, at->size * sizeof(*at->node));
}

void call_stacks_free_recorded(struct call_stacks *cs)
{
	for (int i = 0; i < RECORDED_ROOTS; i++)
		free(cs->recorded.roots[i].node);
	free(cs->recorded.cache);
	buffer_free(&cs->recorded.frames);
}

/* Get the node of a frame, whose caller has the node parent. */
static uint32_t frame_node(struct call_stacks *cs, uint32_t parent, uint32_t stack)
{
	uint32_t location = dictionary_stack_location(cs->calls->dictionary, stack);
	uint32_t name = cs->unknown;

	if (location && call_stacks_name(cs, location, &name))
		return STACK_ROOT;
	return stack_tree_child(&cs->tree, parent, name);
}

/* Get the node of a stack if it is known, else 0. at NULL: it may be in the cache. */
static uint32_t known_node(struct recorded_stacks *r, const struct recorded_root *at, uint32_t root,
			   uint32_t stack)
{
	const struct recorded_node *c;

	if (at)
		return at->node[stack];
	c = cached(r, root, stack);
	return c->root == root && c->stack == stack ? c->node : 0;
}

int call_stacks_recorded(struct call_stacks *cs, uint32_t root, uint32_t stack, uint32_t *node)
{
	const struct dictionary *d = cs->calls->dictionary;
	struct recorded_stacks *r = &cs->recorded;
	struct recorded_root *at;
	uint32_t found = 0;
	bool bad;

	if (r->symbol_changes != d->symbol_changes)
		call_stacks_forget_recorded(cs);
	r->symbol_changes = d->symbol_changes;
	at = root_of(r, root, stack, &bad);
	if (bad)
		return -1;
	for (r->frames.size = 0; stack; stack = dictionary_stack_parent(d, stack)) {
		found = known_node(r, at, root, stack);
		if (found)
			break;
		if (buffer_u32(&r->frames, stack))
			return -1;
	}
	*node = found ? found : root;
	for (size_t i = r->frames.size; i; i -= 4) {
		stack = get_u32(r->frames.data + i - 4);
		*node = frame_node(cs, *node, stack);
		if (!*node)
			return -1;
		if (at)
			at->node[stack] = *node;
		else
			*cached(r, root, stack) = (struct recorded_node){root, stack, *node};
	}
	return 0;
}

void call_stacks_fetch_recorded(const struct call_stacks *cs, const struct block *b)
{
	const struct recorded_root *at = cs->recorded.roots;

	for (uint32_t i = 1; at->size && i <= b->stacks.count; i++)
		if (b->stacks.numbers[i] < at->size)
			__builtin_prefetch(&at->node[b->stacks.numbers[i]]);
	for (uint32_t i = 1; at->size && i <= b->stacks.count; i++)
		if (b->stacks.numbers[i] < at->size)
			__builtin_prefetch(&cs->tree.nodes[at->node[b->stacks.numbers[i]]].self, 1);
}

int call_stacks_named(struct call_stacks *cs, uint32_t caller, struct text_ref name, uint32_t *node)
{
	struct buffer *b = &cs->scratch;
	uint32_t number;

	*node = caller;
	if (!name.size)
		return 0;
	b->size = 0;
	if (cs->key(b, NULL, name))
		return -1;
	for (size_t i = 0; i < b->size; i++)
		if (b->data[i] == ' ')
			b->data[i] = '_';
	number = intern(&cs->names, b->data, b->size);
	*node = number == INTERN_NONE ? 0 : stack_tree_child(&cs->tree, caller, number);
	return *node ? 0 : -1;
}
