/*
 * call_stacks_adopt.c - the stacks of adopted calls (adopt.h)
 */
#include "common/calls/call_stacks_private.h"

/* Get the node of the stack below the kernel's calls, when the lowest of them was entered. */
static int kernel_caller(struct call_stacks *cs, struct call_stacks_thread *th,
			 const struct stack *s, uint32_t *node)
{
	*node = call_stacks_caller(th, s->kernel_base);
	for (uint32_t i = 0; i < s->ngone; i++) {
		uint32_t name;

		if (call_stacks_name(cs, s->gone[i], &name))
			return -1;
		*node = stack_tree_child(&cs->tree, *node, name);
		if (!*node)
			return -1;
	}
	return 0;
}

static int adopt_kernel(struct call_stacks *cs, struct call_stacks_thread *th,
			const struct stack *s)
{
	const struct stack *k = s->kernel;
	uint32_t caller;

	if (!k || !k->count || k->frames[0].outside)
		return 0;
	if (kernel_caller(cs, th, s, &caller))
		return -1;
	for (size_t i = 0; i < k->count; i++)
		if (call_stacks_enter_kernel(cs, th, i, caller, k->frames[i].location))
			return -1;
	return 0;
}

static int adopt_thread(struct call_stacks *cs, const struct stack *s)
{
	struct call_stacks_thread *th = call_stacks_thread(cs, s->number);
	size_t first = s->count && !s->frames[0].begun;
	uint32_t unseen = call_stacks_unseen(s), name;

	if (!th)
		return -1;
	if (call_stacks_set_unseen(cs, th, unseen))
		return -1;
	/* else its next row shows how many are unseen */
	th->started = call_stacks_open(s);
	for (size_t i = first; i < s->count; i++)
		if (call_stacks_name(cs, s->frames[i].location, &name) ||
		    call_stacks_push(cs, th, (uint32_t)i + s->unseen, name))
			return -1;
	return adopt_kernel(cs, th, s);
}

int call_stacks_adopt(struct call_stacks *cs)
{
	const struct calls *c = cs->calls;

	for (size_t i = 0; i < c->size; i++) {
		const struct stack *s = c->stacks[i];

		if (s && calls_of_stream(c, s->lane) && adopt_thread(cs, s))
			return -1;
	}
	return 0;
}
