/*
 * restore.c - opens the calls of a snapshot (SNAPSHOT in trstream(5)), in the place of those that
 * are open
 *
 *     open before    main > f > g
 *     snapshot       main > f > h       main and f go on (with on_forget), g is forgotten, and h
 *                                       restored
 */

#include <stdlib.h>

#include "common/calls/calls_private.h"
#include "common/stream/field.h"
#include "common/stream/snapshot.h"
#include "common/util/error.h"

/* Forget the frames from a number on, the innermost first, and before them the calls in the kernel.
 */
static void forget_frames(struct calls *c, struct stack *s, size_t from)
{
	bool outside = s->count && s->frames[0].outside;

	if (s->kernel && s->count > from)
		forget_frames(c, s->kernel, 0);
	while (s->count > from) {
		struct frame f = *top(s);

		pop(s);
		if (s->nnumbered)
			calls_nested_forget(c, s, &f);
		else
			f.numbered = 0; /* is not set */
		if (c->on_forget && (c->balances || (f.begun && !outside)))
			c->on_forget(c->on_lost_ctx, s, &f, calls_data(c, s, s->count));
	}
}

/* Forget the calls of a stack, whose beginning the lanes show from now on, except those that may go
 * on. */
static void reset(struct calls *c, struct stack *s, bool goes_on)
{
	if (!goes_on && s->kernel)
		forget_frames(c, s->kernel, 0);
	if (!goes_on)
		forget_frames(c, s, 0);
	if (s->ignored_inner)
		forget_frames(c, s->ignored_inner, 0);
	s->beyond = 0;
	s->restored = 0;
	if (s->kernel) {
		s->kernel->restored = 0;
		calls_set_exec(s->kernel, 0);
	}
	s->unseen = 0;
	s->exec = 0;
	s->kernel_base = s->ngone = 0;
	s->started = s->passed = false;
	s->asks_lane = true;
	calls_set_limits(s);
}

/* Forget a numbered call. */
static void forget_numbered(struct calls *c, size_t index)
{
	const struct numbered_call *n = &c->numbered.calls[index];
	struct frame f = {.start = n->start,
			  .location = n->location,
			  .numbered = (uint32_t)index + 1,
			  .begun = true};

	if (c->on_forget)
		c->on_forget(c->on_lost_ctx, c->stacks[n->thread], &f,
			     calls_numbered_data(c, index));
	calls_number_free(c, index);
}

/* Forget the numbered calls that a snapshot has not. */
static void forget_before(struct calls *c)
{
	uint64_t index;

	while (open_calls_take_any(&c->restored.before, &index))
		forget_numbered(c, index);
	open_calls_free(&c->restored.before);
}

/* Test whether a lane, which may be NULL, is of the sources; NULL: of the present stream. */
static bool is_of(const struct calls *c, const uint8_t *sources, const struct lane *l)
{
	return sources ? l && sources[l->source->number] : calls_of_stream(c, l);
}

/* Move the numbered calls of the sources to another table; NULL: forget them. */
static int move_numbered(struct calls *c, const uint8_t *sources, struct open_calls *to)
{
	struct open_calls kept = {0};
	uint64_t key, index;
	int bad = 0;

	if (!open_calls_count(&c->open))
		return 0;
	while (!bad && open_calls_take_next(&c->open, &key, &index)) {
		bool moves = is_of(c, sources, c->numbered.calls[index].lane);

		if (moves && !to)
			forget_numbered(c, index);
		else
			bad = open_calls_put(moves ? to : &kept, (uint32_t)((key - 1) >> 32),
					     (uint32_t)(key - 1), index);
	}
	open_calls_free(&c->open);
	c->open = kept;
	return bad;
}

/* Test whether calls of a stack may be in the block too. */
static bool goes_on(const struct calls *c, const struct stack *s)
{
	return c->on_forget && calls_of_stream(c, s->lane) && s->restores == c->restored.blocks;
}

/* Forget the calls of the stacks of the sources that do not go on. */
static void forget_stacks(struct calls *c, const uint8_t *sources)
{
	for (size_t i = 0; i < c->size; i++) {
		struct stack *s = c->stacks[i];

		if (s && !s->lane) /* no row yet */
			s->asks_lane = true;
		else if (s && is_of(c, sources, s->lane) && (sources || !goes_on(c, s)))
			reset(c, s, false);
	}
}

/* Forget the calls of the stream, except those that may go on: numbered calls, and stacks that have
 * a record in the snapshot. */
static int forget_stream(struct calls *c, const struct snapshot *snapshot)
{
	struct snapshot_walk w;

	snapshot_walk(&w, snapshot);
	while (snapshot_next_thread(&w)) {
		struct stack *s = calls_stack_at(c, snapshot_stack(w.lane, w.thread.flags));

		if (!s)
			return -1;
		s->restores = c->restored.blocks;
	}
	forget_stacks(c, NULL);
	forget_before(c);
	return c->numbers_on_stacks
		       ? 0
		       : move_numbered(c, NULL, c->on_forget ? &c->restored.before : NULL);
}

int calls_forget_sources(struct calls *c, const uint8_t *sources)
{
	c->restored.blocks++;
	forget_stacks(c, sources);
	return c->numbers_on_stacks ? 0 : move_numbered(c, sources, NULL);
}

void calls_forget_all(struct calls *c)
{
	uint64_t index;

	for (size_t i = 0; i < c->size; i++)
		if (c->stacks[i])
			reset(c, c->stacks[i], false);
	while (open_calls_take_any(&c->open, &index))
		forget_numbered(c, index);
	forget_before(c);
}

/* Push a frame, unless the next one of the stack is the same call, which goes on. Returns 1 for a
 * call that goes on. */
static int push(struct calls *c, struct stack *s, const struct frame *f)
{
	size_t i = s->restored++;
	struct frame *old = i < s->count ? &s->frames[i] : NULL;

	c->stack = s;
	if (old && old->begun == f->begun && old->location == f->location &&
	    old->depth == f->depth && old->inner == f->inner && !old->numbered &&
	    (!f->begun || old->start == f->start)) {
		old->start = f->start;
		old->child = f->child;
		old->outside = f->outside;
		c->data = calls_data(c, s, i);
		return 1;
	}
	forget_frames(c, s, i);
	if (!calls_push(c, s, f))
		return -1;
	c->data = calls_data(c, s, i);
	c->ignored = s->frames[0].outside;
	return 0;
}

/* Push the calls that were open before the first row. */
static int push_unseen(struct calls *c, struct stack *s, const struct snapshot_thread *t)
{
	bool charged = t->unseen && (t->flags & SNAPSHOT_CHARGED || t->child);

	s->unseen = c->balances ? 0 : t->unseen - charged;
	s->unseen_since = t->since;
	for (uint32_t i = s->unseen; i < t->unseen; i++) {
		struct frame f = {
			.start = t->since, .child = i + 1 == t->unseen ? t->child : 0, .depth = i};

		if (push(c, s, &f) < 0)
			return -1;
	}
	return 0;
}

/* Set the data of a stack from its thread record, except its frames. */
static int take_thread(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	const struct snapshot_thread *t = &w->thread;

	s->restores = c->restored.blocks;
	reset(c, s, goes_on(c, s));
	s->lane = w->lane;
	s->type = w->type;
	s->by_depth = w->type && w->type->flags & TYPE_DEPTH;
	s->passed = t->flags & SNAPSHOT_PASSED;
	s->kernel_since = t->kernel_since;
	s->kernel_base = t->base;
	s->asks_lane = !(t->flags & SNAPSHOT_UNSTARTED);
	s->started = s->asks_lane && (t->unseen || dictionary_started(c->dictionary, s->number));
	if (push_unseen(c, s, t))
		return -1;
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

static int push_call(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	const struct event *e = &w->enter;
	struct frame f = {.start = e->time,
			  .child = w->frame.child,
			  .lane = e->lane,
			  .type = e->type,
			  .location = e->location,
			  .depth = w->frame.depth,
			  .inner = e->type->flags & TYPE_INNER,
			  .outside = w->frame.flags & SNAPSHOT_OUTSIDE && !s->restored,
			  .begun = true};
	int got = push(c, s, &f);

	if (got >= 0 && calls_enters_exec(c, e->location) && !s->exec)
		s->exec = s->restored;
	return got;
}

/* Push a call of the kernel's stack. */
static int push_kernel(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	forget_frames(c, s, s->restored);
	if (!s->kernel)
		s->kernel = calls_kernel_stack(c, s);
	if (!s->kernel)
		return -1;
	s->kernel->type = w->kernel_type;
	return push_call(c, s->kernel, w);
}

/* Push a call with a number, unless the next frame of the stack is the same call. */
static int push_nested(struct calls *c, struct stack *s, const struct event *e, uint32_t call)
{
	const struct frame *f = &s->frames[s->restored++];

	if (s->restored <= s->count && f->numbered && f->start == e->time) {
		const struct numbered_call *n = &c->numbered.calls[f->numbered - 1];

		if (!n->replaced && n->number == call && n->lane->source == e->lane->source)
			return 1;
	}
	forget_frames(c, s, s->restored - 1);
	return calls_nested_enter(c, s, e, call);
}

/* Enter a call with a number, unless it goes on. */
static int push_numbered(struct calls *c, struct stack *s, const struct event *e)
{
	uint32_t call, source = e->lane->source->number;
	uint64_t index;

	if (!field_call(e, &call) || open_calls_count(&c->open) >= CALLS_NUMBERED_LIMIT)
		return 1;
	if (c->numbers_on_stacks)
		return push_nested(c, s, e, call);
	if (open_calls_take(&c->restored.before, source, call, &index)) {
		const struct numbered_call *n = &c->numbered.calls[index];

		if (n->start == e->time && n->location == e->location && n->thread == s->number)
			return open_calls_put(&c->open, source, call, index) ? -1 : 1;
		forget_numbered(c, index);
	}
	return calls_number_enter(c, e, call);
}

static int take_frame(struct calls *c, struct stack *s, const struct snapshot_walk *w)
{
	bool kernel = w->frame.flags & SNAPSHOT_IN_KERNEL;
	struct call call;
	int got;

	if (w->frame.flags & SNAPSHOT_LEFT_OUT) {
		/* the call was below the lowest one in the kernel */
		s->kernel_base -= !kernel && s->restored + s->unseen < s->kernel_base;
		return 0;
	}
	c->restored.frame = w->frames - 1;
	if (w->enter.type->flags & TYPE_CALL_NUMBER) {
		c->stack = NULL;
		c->ignored = false;
		got = push_numbered(c, s, &w->enter);
	} else {
		got = kernel ? push_kernel(c, s, w) : push_call(c, s, w);
		s->started |= s->asks_lane && !kernel && !(w->enter.type->flags & TYPE_INNER);
		calls_set_limits(s);
	}
	if (got)
		return got < 0 ? -1 : 0;
	if (!c->on_restore)
		return 0;
	calls_describe_entered(c, &w->enter, &call);
	return c->on_restore(c->on_restore_ctx, &w->enter, &call);
}

static int take_threads(struct calls *c, const struct snapshot *snapshot)
{
	struct snapshot_walk w;

	snapshot_walk(&w, snapshot);
	while (snapshot_next_thread(&w)) {
		struct stack *s = calls_stack_at(c, snapshot_stack(w.lane, w.thread.flags));

		if (!s || (!(w.thread.flags & SNAPSHOT_CONTINUED) && take_thread(c, s, &w)))
			return -1;
		s->restores = c->restored.blocks;
		while (snapshot_next_frame(&w))
			if (take_frame(c, s, &w))
				return -1;
		forget_frames(c, s, s->restored);
		if (s->kernel)
			forget_frames(c, s->kernel, s->kernel->restored);
		/* not before: calls that were forgotten have ended at its last event */
		s->last = w.thread.last;
		calls_set_limits(s);
	}
	return 0;
}

int calls_restore(struct calls *c, const struct block *b, struct error *e)
{
	const struct snapshot *s = b->kind == BLOCK_SNAPSHOT ? b->snapshot : NULL;
	bool last;

	if (!s)
		return 0;
	e->what[0] = '\0';
	c->restored.error = e;
	c->restored.blocks++;
	c->restored.first = s->head.first;
	last = !(s->head.flags & SNAPSHOT_MORE);
	if ((!s->continues && forget_stream(c, s)) || take_threads(c, s))
		return e->what[0] ? -1 : error_no_memory(e);
	if (last)
		forget_before(c);
	if (c->restored.done && c->restored.done(c->restored.ctx, last))
		return e->what[0] ? -1 : error_no_memory(e);
	return 0;
}

const struct clock *calls_restore_clock(const struct block *b)
{
	struct snapshot_walk w;

	if (!b->snapshot)
		return NULL;
	snapshot_walk(&w, b->snapshot);
	return snapshot_next_thread(&w) ? w.lane->clock : NULL;
}

void calls_restore_since(const struct block *b, uint64_t since)
{
	if (b->snapshot)
		b->snapshot->since = since;
}

const char *calls_restore_misses(const struct block *b)
{
	uint32_t flags = b->snapshot ? b->snapshot->head.flags : 0;

	/* RESTART: after a loss, which the program that lost rows reported */
	if (!(flags & SNAPSHOT_APPROXIMATE) || flags & SNAPSHOT_RESTART)
		return NULL;
	return "an incomplete snapshot: times of calls, callers and depths may be wrong";
}
