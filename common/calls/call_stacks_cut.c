/*
 * call_stacks_cut.c - call stacks of a part of a trace, and of the parts before it
 */
#include <stdlib.h>

#include "common/calls/call_stacks_private.h"

int call_stacks_cuts(struct call_stacks *cs)
{
	if (!cs->open)
		cs->open = stack_tree_detached(&cs->tree);
	return cs->open ? 0 : -1;
}

void call_stacks_forget(struct call_stacks *cs)
{
	for (size_t i = 0; i < cs->nthreads; i++) {
		free(cs->threads[i].node);
		free(cs->threads[i].kernel);
	}
	free(cs->threads);
	cs->threads = NULL;
	cs->nthreads = 0;
}

int call_stacks_set(struct call_stacks *cs, size_t number, uint32_t unseen)
{
	struct call_stacks_thread *th = call_stacks_follow(cs, number);

	return th ? call_stacks_start(cs, th, unseen) : -1;
}

int call_stacks_reach(struct call_stacks *cs, size_t number)
{
	const struct stack *s = cs->calls->stacks[number];
	struct call_stacks_thread *th = call_stacks_follow(cs, number);

	if (!th)
		return -1;
	return s->kept ? 0 : call_stacks_begin(cs, th, call_stacks_frames(s));
}

int call_stacks_pushed(struct call_stacks *cs, size_t number)
{
	const struct stack *s = cs->calls->stacks[number];
	struct call_stacks_thread *th = call_stacks_follow(cs, number);
	uint32_t level = call_stacks_frames(s) - 1, name;

	if (!th || call_stacks_start(cs, th, level) ||
	    call_stacks_name(cs, s->frames[s->count - 1].location, &name))
		return -1;
	/* a frame without an enter exists already */
	return level < th->low ? 0 : call_stacks_push(cs, th, level, name);
}

int call_stacks_pushed_kernel(struct call_stacks *cs, size_t number, uint32_t caller, size_t at)
{
	const struct stack *k = cs->calls->stacks[number]->kernel;
	struct call_stacks_thread *th = call_stacks_follow(cs, number);

	if (!th)
		return -1;
	if (k->count == 1)
		th->kernel_at = at;
	return call_stacks_enter_kernel(cs, th, k->count - 1, caller,
					k->frames[k->count - 1].location);
}

bool call_stacks_kernel_caller(struct call_stacks *cs, size_t number, uint32_t *caller, size_t *at)
{
	const struct stack *k = cs->calls->stacks[number]->kernel;
	const struct call_stacks_thread *th = &cs->threads[number];
	uint32_t node;

	/* calls in the kernel outside of all calls were never passed here */
	if (number >= cs->nthreads || !k || !k->count || k->frames[0].outside ||
	    !th->kernel_capacity || th->kernel[0] == STACK_ROOT)
		return false;
	node = stack_tree_resolve(&cs->tree, th->kernel[0]);
	*caller = cs->tree.nodes[node].parent;
	*at = th->kernel_at;
	return *caller < cs->tree.count;
}

bool call_stacks_is_open(const struct call_stacks *cs, uint32_t node)
{
	while (node != STACK_ROOT && node != cs->open && node < cs->tree.count)
		node = cs->tree.nodes[node].parent;
	return node != STACK_ROOT && node == cs->open;
}
