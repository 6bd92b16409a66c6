#include "common/stream/stack_table.h"

int stack_table_init(struct stack_table *t)
{
	*t = (struct stack_table){0};
	return intern(&t->keys, "", 0) == INTERN_NONE ? -1 : 0;
}

void stack_table_free(struct stack_table *t)
{
	intern_free(&t->keys);
}

uint32_t stack_table_add(struct stack_table *t, uint32_t parent, uint32_t location)
{
	struct stack_key k = {parent, location, 1};
	uint32_t number;

	if (parent)
		k.frames += stack_table_at(t, parent).frames;
	number = intern(&t->keys, &k, sizeof k);
	return number == INTERN_NONE ? 0 : number;
}
