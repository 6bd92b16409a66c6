/*
 * calls_nested.c - calls with numbers on the stacks of their threads (calls.numbers_on_stacks)
 *
 * The table of open calls finds the frame of a call that is left. A call whose number another call
 * has now stays open, but only the call below it can end it.
 */
#include "common/calls/calls_private.h"

void calls_nested_forget(struct calls *c, struct stack *s, const struct frame *f)
{
	const struct numbered_call *n;
	uint64_t index;

	if (!f->numbered)
		return;
	s->nnumbered--;
	calls_set_limits(s);
	n = &c->numbered.calls[f->numbered - 1];
	if (!n->replaced)
		open_calls_take(&c->open, n->lane->source->number, n->number, &index);
	calls_number_free(c, f->numbered - 1);
}

int calls_nested_enter(struct calls *c, struct stack *s, const struct event *e, uint32_t call)
{
	struct frame f = {.start = e->time, .location = e->location, .begun = true};
	uint32_t source = e->lane->source->number;
	struct numbered_call *n;
	uint64_t index;

	f.depth = s->count ? s->frames[s->count - 1].depth : s->unseen - 1;
	if (open_calls_take(&c->open, source, call, &index))
		c->numbered.calls[index].replaced = true;
	n = calls_number_new(c, source, call);
	if (!n)
		return -1;
	n->lane = e->lane;
	n->thread = s->number;
	n->frame = s->count;
	f.numbered = (uint32_t)(n - c->numbered.calls) + 1;
	if (!calls_push(c, s, &f))
		return -1;
	s->nnumbered++;
	calls_set_limits(s);
	c->data = calls_data(c, s, s->count - 1);
	return 0;
}

enum calls_result calls_nested_leave(struct calls *c, struct stack *s, const struct event *e,
				     uint32_t call, struct call *done)
{
	uint32_t source = e->lane->source->number;
	struct frame f;
	uint64_t index;

	if (!open_calls_take(&c->open, source, call, &index)) {
		c->counts.unmatched++;
		return CALLS_NONE;
	}
	if (c->numbered.calls[index].thread != s->number) {
		c->counts.unmatched++;
		c->out_of_memory |= open_calls_put(&c->open, source, call, index) != 0;
		return CALLS_NONE;
	}
	while (s->count > c->numbered.calls[index].frame + 1) {
		lose(c, s, LOST_DEPTH);
		c->counts.lost++;
	}
	f = *top(s);
	pop(s);
	s->nnumbered--;
	calls_set_limits(s);
	calls_number_free(c, index);
	end_exec(s);
	if (e->location)
		f.location = e->location;
	calls_end(c, s, &f, e->time, done);
	c->data = calls_data(c, s, s->count);
	return CALLS_LEAVE;
}

void calls_nested_clear(struct calls *c, struct stack *s, const struct event *leave)
{
	bool by_depth = leave->type->flags & TYPE_DEPTH;

	/* no call without a number is open, so the leave ends no open call */
	if (!by_depth && s->nnumbered == s->count)
		return;
	while (s->count && (by_depth ? top(s)->numbered && top(s)->depth == leave->depth
				     : top(s)->numbered || top(s)->inner)) {
		lose(c, s, top(s)->inner ? LOST_INNER : LOST_DEPTH);
		c->counts.lost++;
	}
}

static int copy_stack(struct calls *c, struct stack *to, const struct stack *from)
{
	to->last = from->last;
	to->lane = from->lane;
	to->type = from->type;
	to->started = from->started;
	to->unseen = from->unseen;
	to->unseen_since = from->unseen_since;
	for (size_t i = 0; i < from->count; i++) {
		if (!from->frames[i].inner && !calls_push(c, to, &from->frames[i]))
			return -1;
		if (from->exec == i + 1)
			to->exec = to->count;
	}
	calls_set_limits(to);
	return 0;
}

int calls_copy(struct calls *to, const struct calls *from)
{
	for (uint32_t i = 0; i < from->size; i++) {
		struct stack *s = from->stacks[i] ? calls_stack_at(to, i) : NULL;

		if (from->stacks[i] && (!s || copy_stack(to, s, from->stacks[i])))
			return -1;
	}
	return 0;
}
