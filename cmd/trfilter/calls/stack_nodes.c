#include "cmd/trfilter/calls/stack_nodes.h"

#include <stdlib.h>

void stack_nodes_free(struct stack_nodes *s)
{
	free(s->slots);
	*s = (struct stack_nodes){0};
}

static struct stack_node *slot_of(struct stack_node *slots, uint32_t mask, uint32_t below,
				  uint32_t location)
{
	uint64_t hash = ((uint64_t)below << 32 | location) * 0x9e3779b97f4a7c15;
	uint32_t at = (uint32_t)(hash >> 32) & mask;

	while (slots[at].number && (slots[at].below != below || slots[at].location != location))
		at = (at + 1) & mask;
	return &slots[at];
}

/* Grow the table. Returns -1 when out of memory. */
static int stack_nodes_grow(struct stack_nodes *s)
{
	uint32_t size = s->slots ? 2 * (s->mask + 1) : 256;
	struct stack_node *slots = calloc(size, sizeof *slots);

	if (!slots)
		return -1;
	for (uint32_t i = 0; s->slots && i <= s->mask; i++) {
		const struct stack_node *n = &s->slots[i];

		if (n->number)
			*slot_of(slots, size - 1, n->below, n->location) = *n;
	}
	free(s->slots);
	s->slots = slots;
	s->mask = size - 1;
	return 0;
}

uint32_t stack_nodes_push(struct stack_nodes *s, uint32_t below, uint32_t location)
{
	struct stack_node *n;

	if (!below || ((!s->slots || s->count >= s->mask / 2) && stack_nodes_grow(s)))
		return 0;
	n = slot_of(s->slots, s->mask, below, location);
	if (!n->number && s->count < STACK_NODES_LIMIT)
		*n = (struct stack_node){below, location, ++s->count + STACK_NODES_BOTTOM};
	return n->number;
}
