/*
 * calls_balanced.c - frames that only calls.balances has
 */
#include "common/calls/calls_private.h"

enum calls_result calls_ignored_enter(struct calls *c, const struct stack *s, const struct event *e)
{
	struct frame f = {.start = e->time, .location = e->location, .inner = true, .begun = true};
	struct stack *base = c->stacks[s->number];

	if (!base->ignored_inner)
		base->ignored_inner = calls_kernel_stack(c, base);
	if (!base->ignored_inner || base->ignored_inner->count >= CALLS_STACK_LIMIT ||
	    !calls_push(c, base->ignored_inner, &f))
		return CALLS_NONE;
	calls_set_limits(base);
	c->stack = base->ignored_inner;
	c->data = calls_data(c, c->stack, c->stack->count - 1);
	c->ignored = true;
	return CALLS_ENTER;
}

enum calls_result calls_ignored_leave(struct calls *c, const struct stack *s, const struct event *e,
				      struct call *done)
{
	struct stack *i = c->stacks[s->number]->ignored_inner;
	struct frame f;

	if (!i || !i->count)
		return CALLS_NONE;
	f = *top(i);
	pop(i);
	calls_set_limits(c->stacks[s->number]);
	calls_end(c, i, &f, e->time, done);
	c->stack = i;
	c->data = calls_data(c, i, i->count);
	c->ignored = true;
	return CALLS_LEAVE;
}

void calls_push_unseen(struct calls *c, struct stack *s)
{
	struct frame f = {.start = s->unseen_since};

	for (; f.depth < s->unseen && calls_push(c, s, &f); f.depth++)
		;
	calls_set_unseen(s, 0);
}
