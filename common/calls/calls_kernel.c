/*
 * calls_kernel.c - calls inside the kernel, on top of the other calls of their thread
 */
#include "common/calls/calls_private.h"

/* Charge the time of the kernel's call since kernel_since to its caller. */
static void charge_kernel(struct calls *c, struct stack *s, uint64_t time)
{
	if (s->kernel->frames[0].outside || time <= s->kernel_since)
		return;
	calls_charge(c, s, time - s->kernel_since);
	s->kernel_since = time;
}

void calls_pass_kernel(struct calls *c, struct stack *s, uint64_t time)
{
	if (s->passed) {
		lose_from(c, s->kernel, 0, LOST_KERNEL);
		end_exec(s->kernel);
		calls_set_limits(s);
		return;
	}
	s->passed = true;
	charge_kernel(c, s, time);
}

static uint32_t open_calls(const struct stack *s)
{
	return (uint32_t)s->count + s->unseen;
}

/* Set caller and level of a finished call in the kernel. */
static void set_kernel_caller(const struct stack *s, struct call *done)
{
	if (!s->kernel->count)
		done->caller = s->count ? s->frames[s->count - 1].location : 0;
	done->level += open_calls(s);
}

void calls_charge_lost(struct calls *c, struct stack *s, uint64_t total)
{
	struct stack *base = c->stacks[s->number];

	if (s == base || s->count)
		calls_charge(c, s, total);
	else
		charge_kernel(c, base, base->last);
}

/* Discard the calls with TYPE_INNER on top at that depth or deeper. */
static void lose_inner(struct calls *c, struct stack *k, uint32_t depth)
{
	while (k->count && top(k)->inner && top(k)->depth >= depth)
		lose(c, k, LOST_INNER);
}

struct stack *calls_kernel_stack(struct calls *c, const struct stack *s)
{
	struct stack *k = calls_empty_stack(c);

	if (!k)
		return NULL;
	/* calls entered before the trace are left out */
	k->started = true;
	k->number = s->number;
	return k;
}

/* Get the result for a call in the kernel, which does not count outside any call. */
static enum calls_result kernel_result(struct calls *c, enum calls_result got, bool outside)
{
	c->ignored |= outside;
	return outside && !c->balances ? CALLS_NONE : got;
}

enum calls_result calls_kernel(struct calls *c, struct stack *s, const struct event *e,
			       struct call *done)
{
	struct stack *k = s->kernel;
	enum calls_result got;
	bool outside = calls_outside(c, s, e->time);

	if (!k)
		k = s->kernel = calls_kernel_stack(c, s);
	if (!k)
		return CALLS_NONE;
	s->passed = false;
	if (e->type->kind == KIND_ENTER) {
		got = calls_enter(c, k, e);
		if (got == CALLS_ENTER && k->count == 1) {
			s->kernel_since = e->time;
			k->frames[0].outside = outside;
		}
		outside = k->count && k->frames[0].outside;
	} else {
		uint64_t unmatched = c->counts.unmatched;
		uint32_t depth = e->type->flags & TYPE_DEPTH ? e->depth
				 : k->count		     ? top(k)->depth
							     : 0;

		lose_inner(c, k, depth);
		outside = k->count ? k->frames[0].outside : outside;
		if (k->count && k->frames[0].depth == depth && open_calls(s))
			charge_kernel(c, s, e->time);
		/* a call with INNER has the depth of the call below it, which ends */
		lose_from(c, k, depth + 1, LOST_DEPTH);
		lose_inner(c, k, depth);
		got = calls_leave(c, k, e, done);
		if (got == CALLS_LEAVE)
			set_kernel_caller(s, done);
		if (outside) {
			c->counts.unmatched = unmatched;
			c->counts.ignored_kernel += got == CALLS_LEAVE;
		}
	}
	calls_set_limits(s);
	return kernel_result(c, got, outside);
}

enum calls_result calls_kernel_inner(struct calls *c, struct stack *s, const struct event *e,
				     struct call *done)
{
	struct stack *k = s->kernel;
	enum calls_result got;

	if (e->type->kind == KIND_ENTER) {
		got = calls_enter(c, k, e);
		/* later calls of the kernel are inside */
		if (got == CALLS_ENTER && c->stack == k)
			top(k)->depth--;
		return kernel_result(c, got, k->frames[0].outside);
	}
	if (!top(k)->inner)
		return calls_leave(c, s, e, done);
	got = calls_leave(c, k, e, done);
	if (got == CALLS_LEAVE)
		set_kernel_caller(s, done);
	return kernel_result(c, got, k->frames[0].outside);
}

bool calls_kernel_finish(struct calls *c, struct stack *s, struct call *done)
{
	struct stack *k = s->kernel;
	struct frame f;

	if (!k || !k->count)
		return false;
	if (k->frames[0].outside) {
		c->counts.ignored_kernel += k->count;
		k->count = 0;
		return false;
	}
	if (k->count == 1 && open_calls(s))
		charge_kernel(c, s, s->last);
	f = *top(k);
	pop(k);
	calls_end(c, k, &f, s->last, done);
	c->data = calls_data(c, k, k->count);
	set_kernel_caller(s, done);
	calls_end_open(c, k, &f, done);
	return true;
}
