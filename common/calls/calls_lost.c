/*
 * calls_lost.c - calls that end without a leave: longjmp, exec, lost events, rows of KIND_DROP
 */
#include "common/calls/calls_private.h"

void calls_lose_from(struct calls *c, struct stack *s, uint32_t depth, enum calls_lost why)
{
	while (s->count && s->frames[s->count - 1].depth + 1 > depth) {
		lose(c, s, why);
		c->counts.lost++;
	}
	if (!s->count && s->unseen > depth)
		calls_set_unseen(s, depth);
}

void calls_forget_image(struct calls *c, struct stack *s)
{
	while ((c->on_lost || s->nnumbered) && s->count)
		lose(c, s, LOST_EXEC);
	s->count = 0;
	s->unseen = 0;
	calls_set_exec(s, 0);
	memset(s->buckets, 0, (s->mask + 1) * sizeof(*s->buckets));
}

void calls_drop(struct calls *c, struct stack *s, const struct event *e)
{
	bool kernel = e->type->flags & TYPE_KERNEL;
	struct stack *of;

	if (kernel && !s->kernel)
		s->kernel = calls_kernel_stack(c, s);
	of = kernel ? s->kernel : s;
	if (!of)
		return;
	if (!(e->type->flags & TYPE_INNER))
		lose_from(c, of, e->depth, LOST_DEPTH);
	while (of->count && top(of)->inner && e->type->flags & TYPE_INNER) {
		lose(c, of, LOST_INNER);
		c->counts.lost++;
	}
	end_exec(of);
	calls_set_limits(s);
}
