#include "common/calls/adopt.h"

#include <stdlib.h>

#include "common/calls/calls_private.h"
#include "common/stream/field.h"

static void empty(struct stack *s)
{
	s->count = s->nnumbered = 0;
	s->implicit = 0;
	s->exec = 0;
	memset(s->buckets, 0, (s->mask + 1) * sizeof(*s->buckets));
}

/* Pass the calls of a stack to on_drop, the innermost first. */
static void pass_dropped(struct calls *c, struct stack *s)
{
	bool outside = s->count && s->frames[0].outside;

	while (s->count) {
		const struct frame *f = &s->frames[--s->count];

		if (f->begun && !outside)
			c->on_drop(c->on_restore_ctx, s, f, calls_data(c, s, s->count));
	}
}

/* Drop all calls of a stack, whose beginning the lanes show from now on. */
static void reset(struct calls *c, struct stack *s)
{
	if (c->on_drop) {
		if (s->kernel)
			pass_dropped(c, s->kernel);
		pass_dropped(c, s);
	}
	if (s->kernel)
		empty(s->kernel);
	empty(s);
	s->kernel_base = s->ngone = 0;
	s->started = s->passed = false;
	s->asks_lane = true;
	calls_set_limits(s);
}

/* Drop the numbered calls of the stream. */
static int drop_numbered(struct calls *c)
{
	struct open_calls kept = {0};
	uint64_t key, index;
	int bad = 0;

	if (!open_calls_count(&c->open))
		return 0;
	while (!bad && open_calls_take_next(&c->open, &key, &index)) {
		struct numbered_call *n = &c->numbered[index];

		if (!calls_of_stream(c, n->lane)) {
			bad = open_calls_put(&kept, (uint32_t)((key - 1) >> 32),
					     (uint32_t)(key - 1), index);
			continue;
		}
		if (c->on_drop) {
			struct frame f = {
				.start = n->start, .location = n->location, .begun = true};

			c->on_drop(c->on_restore_ctx, c->stacks[n->thread], &f,
				   calls_numbered_data(c, index));
		}
		n->next = (uint32_t)c->numbered_free;
		c->numbered_free = (size_t)index + 1;
	}
	open_calls_free(&c->open);
	c->open = kept;
	return bad;
}

static int drop_stream(struct calls *c)
{
	c->adopted = true;
	for (size_t i = 0; i < c->size; i++) {
		struct stack *s = c->stacks[i];

		if (s && calls_of_stream(c, s->lane))
			reset(c, s);
		else if (s && !s->lane) /* no row yet */
			s->asks_lane = true;
	}
	return drop_numbered(c);
}

/* Set what a thread record says of its stack, except its frames. */
static int take_thread(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	const struct snapshot_thread *t = &w->thread;
	struct frame f = {.start = t->since, .child = t->child, .depth = t->unseen - 1};

	reset(c, s);
	s->last = t->last;
	s->lane = w->lane;
	s->type = w->type;
	s->implicit = t->unseen;
	s->implicit_start = t->since;
	s->passed = t->flags & SNAPSHOT_PASSED;
	s->kernel_since = t->kernel_since;
	s->kernel_base = t->base;
	s->asks_lane = !(t->flags & SNAPSHOT_UNSTARTED);
	s->started = s->asks_lane && (t->unseen || dictionary_started(c->dictionary, s->number));
	if (t->unseen && (t->flags & SNAPSHOT_CHARGED || t->child)) {
		s->implicit--;
		if (!calls_push(c, s, &f))
			return -1;
	}
	if (t->gone) {
		uint32_t *gone = realloc(s->gone, t->gone * sizeof(*gone));

		if (!gone)
			return -1;
		s->gone = gone;
	}
	s->ngone = t->gone;
	for (uint32_t i = 0; i < t->gone; i++)
		s->gone[i] = snapshot_gone(w, i);
	return 0;
}

static int push(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	const struct event *e = &w->enter;
	bool outside = w->frame.flags & SNAPSHOT_OUTSIDE;
	struct frame f = {.start = e->time,
			  .child = w->frame.child,
			  .location = e->location,
			  .depth = w->frame.depth,
			  .inner = e->type->flags & TYPE_INNER,
			  .outside = outside && !s->count,
			  .begun = true};

	if (!calls_push(c, s, &f))
		return -1;
	c->data = calls_data(c, s, s->count - 1);
	if (calls_enters_exec(c, e->location) && !s->exec)
		s->exec = s->count;
	return 0;
}

/* Push a call of the kernel's stack. */
static int push_kernel(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	if (!s->kernel)
		s->kernel = calls_kernel_stack(c, s);
	if (!s->kernel)
		return -1;
	s->kernel->type = w->kernel_type;
	return push(c, s->kernel, w);
}

static int take_frame(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	uint32_t call;
	int bad;

	if (w->enter.type->flags & TYPE_CALL_NUMBER) {
		if (!field_call(&w->enter, &call) ||
		    open_calls_count(&c->open) >= CALLS_NUMBERED_LIMIT)
			return 0;
		bad = c->nests ? calls_nested_enter(c, s, &w->enter, call)
			       : calls_number_enter(c, &w->enter, call);
	} else {
		bool kernel = w->frame.flags & SNAPSHOT_IN_KERNEL;

		bad = kernel ? push_kernel(c, s, w) : push(c, s, w);
		s->started |= s->asks_lane && !kernel && !(w->enter.type->flags & TYPE_INNER);
		calls_set_limits(s);
	}
	return bad || (c->on_restore && c->on_restore(c->on_restore_ctx, s, &w->enter)) ? -1 : 0;
}

int calls_adopt(struct calls *c, const struct snapshot *snapshot)
{
	struct snapshot_walk w;

	if (!snapshot->continues && drop_stream(c))
		return -1;
	snapshot_walk(&w, snapshot);
	while (snapshot_next_thread(&w)) {
		struct stack *s = calls_stack_at(c, snapshot_stack(w.lane, w.thread.flags));

		if (!s || (!(w.thread.flags & SNAPSHOT_CONTINUED) && take_thread(c, s, &w)))
			return -1;
		while (snapshot_next_frame(&w))
			if (take_frame(c, s, &w))
				return -1;
	}
	return 0;
}
