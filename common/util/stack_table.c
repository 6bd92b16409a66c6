#include "common/util/stack_table.h"

#include <stdlib.h>

#include "common/util/buffer.h"
#include "common/util/pool.h"
#include "common/util/intern.h"
#include "common/util/stack_limit.h"

static uint32_t *slot_of(const struct stack_table *t, uint32_t parent, uint32_t location)
{
	size_t mask = ((size_t)1 << (64 - t->shift)) - 1;
	size_t at = stack_table_hash(t, parent, location) >> t->shift;
	uint32_t number;

	for (; (number = t->slots[at]); at = (at + 1) & mask)
		if (t->stacks[number - 1].location == location &&
		    t->stacks[number - 1].parent == parent)
			break;
	return &t->slots[at];
}

/* Double the number of slots, or make the first ones. Returns 0, or -1 when out of memory. */
static int grow(struct stack_table *t)
{
	struct stack_table next = *t;

	next.shift = t->slots ? t->shift - 1 : 64 - 10;
	if (!t->slots)
		next.factor = intern_factor(t);
	next.slots = huge_zeroed(((size_t)1 << (64 - next.shift)) * sizeof *next.slots);
	if (!next.slots)
		return -1;
	for (uint32_t i = 0; i < t->count; i++)
		*slot_of(&next, t->stacks[i].parent, t->stacks[i].location) = i + 1;
	free(t->slots);
	*t = next;
	return 0;
}

uint32_t stack_table_add(struct stack_table *t, uint32_t parent, uint32_t location)
{
	struct stack_key *stacks, *key;
	uint32_t *slot;

	if ((!t->slots || t->count >= (size_t)1 << (63 - t->shift)) && grow(t))
		return 0;
	slot = slot_of(t, parent, location);
	if (*slot)
		return *slot;
	if (t->count == UINT32_MAX)
		return 0;
	if (ARRAY_GROW(t->stacks, t->capacity, t->count))
		return 0;
	stacks = t->stacks;
	key = &stacks[t->count++];
	*key = (struct stack_key){parent, location, 1, t->count};
	if (parent)
		key->frames += stacks[parent - 1].frames;
	if (key->frames > STACK_FRAMES + 1)
		key->limited = stacks[parent - 1].limited;
	return *slot = t->count;
}

void stack_table_free(struct stack_table *t)
{
	free(t->stacks);
	free(t->slots);
	*t = (struct stack_table){0};
}
