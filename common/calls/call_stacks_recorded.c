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

void call_stacks_forget_recorded(struct call_stacks *cs)
{
	if (cs->recorded.cache)
		memset(cs->recorded.cache, 0, CACHE * sizeof(*cs->recorded.cache));
}

void call_stacks_free_recorded(struct call_stacks *cs)
{
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

int call_stacks_recorded(struct call_stacks *cs, uint32_t root, uint32_t stack, uint32_t *node)
{
	const struct dictionary *d = cs->calls->dictionary;
	struct recorded_stacks *r = &cs->recorded;
	struct recorded_node *c;

	if (!r->cache)
		r->cache = calloc(CACHE, sizeof(*r->cache));
	if (!r->cache)
		return -1;
	if (r->symbol_changes != d->symbol_changes)
		call_stacks_forget_recorded(cs);
	r->symbol_changes = d->symbol_changes;
	*node = root;
	r->frames.size = 0;
	for (; stack; stack = dictionary_stack_parent(d, stack)) {
		c = cached(r, root, stack);
		if (c->node && c->root == root && c->stack == stack) {
			*node = c->node;
			break;
		}
		if (buffer_u32(&r->frames, stack))
			return -1;
	}
	for (size_t i = r->frames.size; i; i -= 4) {
		stack = get_u32(r->frames.data + i - 4);
		*node = frame_node(cs, *node, stack);
		if (!*node)
			return -1;
		*cached(r, root, stack) = (struct recorded_node){root, stack, *node};
	}
	return 0;
}
