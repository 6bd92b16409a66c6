/*
 * part_replay.c - feed the lists of a part to statistics that have taken all earlier parts
 */
#include <errno.h>
#include <stdlib.h>

#include "common/util/buffer.h"
#include "cmd/trstat/summary/part.h"

struct replay {
	struct statistics *s;
	const struct part *p;
	struct stack *stack;
	struct key_cell *cells;
	struct stack_graft graft;
	/* by operation of the thread's list: the stack that the next operation works on, and the
	 * position in the list that receives it */
	struct point {
		uint32_t top;
		size_t at;
	} * points;
	size_t points_capacity;
	size_t position; /* position of the present operation */
	/* by number: the aggregates that replaced the thread's held rows */
	struct aggregate **held;
	size_t held_capacity;
	size_t next_held, next_doubt;
};

/* Returns enum calls_open of rows at the bottom of the list's stack, as known now. */
static uint32_t open_here(const struct stack *s)
{
	return s->cut ? OPEN_LEVEL | OPEN_STACK | (s->count == 1 ? OPEN_CALLER : 0) : 0;
}

/* Returns true if a row that counts only with a call below does count; else *open is what is
 * unknown. */
static bool row_counts(const struct stack *s, uint32_t *open)
{
	if (!(*open & OPEN_IF_CALL) || (s->cut && s->count == 1))
		return true;
	if ((!s->count && !s->implicit && !s->left_out) ||
	    (*open & OPEN_NO_EXEC && s->exec && s->exec == s->count))
		return false;
	*open = 0;
	return true;
}

static int replay_held(struct replay *r, const struct part_held *h, struct aggregate **into)
{
	struct statistics *s = r->s;
	struct stack *stack = r->stack;
	const struct keys_below below = {
		.open = open_here(stack),
		.caller = stack->count ? stack->frames[stack->count - 1].location : 0,
		.level = (uint32_t)stack->count + stack->implicit - (stack->cut != NULL),
		.stacks = s->stacks,
		.graft = &r->graft};
	uint32_t open = h->open;
	bool held;

	*into = NULL;
	/* the row has a field that no column here needs */
	if (!aggregate_is_group(h->aggregate, &s->columns->wanted))
		return 0;
	if (!row_counts(stack, &open)) {
		/* the same condition as in calls.c for calls that are fully known */
		if (!(open & (OPEN_NO_EXEC | OPEN_INNER)))
			s->calls.outside += h->aggregate->calls;
		return 0;
	}
	memcpy(r->cells, h->cells, s->keys->held * sizeof(*r->cells));
	if (keys_close_cells(s->keys, s->dictionary, &s->groups, &below, r->cells))
		return -1;
	held = open;
	for (size_t i = 0; i < s->keys->count; i++)
		held |= key_is_open(r->cells[i].kind);
	if (held && !s->bracket) {
		/* corrupt summary: from its first part on, all open calls are known */
		errno = EINVAL;
		return -1;
	}
	*into = held ? bracket_hold(s->bracket, stack->number, cut_position(stack->kept), open,
				    r->cells)
		     : groups_find(&s->groups, r->cells);
	return *into ? aggregate_merge(*into, h->aggregate, &s->columns->wanted) : -1;
}

static int replay_doubt(struct replay *r, const struct part_doubt *d)
{
	struct aggregate *a = d->held ? r->held[d->held - 1] : d->group;
	struct stack *stack = r->stack;

	if (!a)
		return 0;
	if (d->location ? stack_has(stack, d->location) : calls_has_unknown(stack)) {
		if (a->total < d->total) {
			errno = EOVERFLOW;
			return -1;
		}
		a->total -= d->total;
		a->recursive += d->total;
		return 0;
	}
	if (!stack->cut)
		return 0;
	return bracket_doubt(r->s->bracket, stack->number, cut_position(stack->cut), d->location, a,
			     d->total);
}

static const struct key_cell *pending_keys_of(const struct replay *r, const struct cut_op *op)
{
	return op->entered ? r->p->entered + (size_t)(op->entered - 1) * part_entered_size(r->s)
			   : NULL;
}

static int replay_entered(struct replay *r, const struct cut_op *op, size_t before)
{
	struct statistics *s = r->s;
	const struct key_cell *cells = pending_keys_of(r, op);
	bool kernel = op->kind == CUT_PUSH_KERNEL;
	struct stack *stack;

	if (!cells || !s->entered.fields)
		return 0;
	if (op->kind == CUT_PUSH_NUMBERED)
		return pending_keys_put_numbered(&s->entered, op->lane->source->number, op->depth,
						 cells);
	stack = kernel ? r->stack->kernel : r->stack;
	if (stack->count <= before)
		return 0; /* the frame was no call */
	return pending_keys_put(&s->entered, statistics_entered(r->stack->number, kernel), stack,
				cells);
}

/* Fill in the caller of the kernel's lowest call, from the cells in kept. Returns 1, 0 if it is
 * not known, -1 when out of memory. */
static int close_caller(struct replay *r, const struct key_cell *kept, struct key_cell *cells)
{
	struct call_stacks *cs = r->s->stacks;
	uint64_t position = kept[ENTERED_POSITION].value;
	uint32_t node;

	memcpy(cells, kept, ENTERED_STACK * sizeof(*cells));
	/* refuse a position that no list has */
	if (kept[ENTERED_POSITION].kind == KEY_MISSING || position >= r->position)
		return 0;
	cells[ENTERED_POSITION].value = r->points[position].at;
	if (kept[ENTERED_CALLER].kind != KEY_OPEN_STACK)
		return 1;
	stack_graft_begin(&r->graft, cs->open, r->points[position].top);
	if (stack_graft(&r->graft, &cs->tree, (uint32_t)kept[ENTERED_CALLER].value, &node))
		return -1;
	cells[ENTERED_CALLER] = (struct key_cell){
		.kind = call_stacks_is_open(cs, node) ? KEY_OPEN_STACK : KEY_STACK, .value = node};
	if (node == STACK_ROOT)
		cells[ENTERED_CALLER] = (struct key_cell){0};
	return 1;
}

/* Keep the cells of the enter together with the operation, which a raw partial stack keeps. */
static int keep_entered(struct replay *r, const struct cut_op *op)
{
	struct statistics *s = r->s;
	struct partial_stack *u = r->stack->cut;
	struct cut_op *copy = &u->ops[u->count - 1];
	const struct key_cell *cells = pending_keys_of(r, op);
	struct key_cell caller[ENTERED_STACK];
	int has = 0;

	copy->entered = 0;
	if (cells && s->stacks)
		has = close_caller(r, cells + s->entered.fields, caller);
	if (has < 0)
		return -1;
	return part_keep_entered(s, s->entered.fields ? cells : NULL, has ? caller : NULL, copy);
}

static int replay_kernel(struct replay *r, const struct cut_op *op)
{
	const struct key_cell *cells = pending_keys_of(r, op);
	struct statistics *s = r->s;
	struct stack *stack = r->stack;
	uint32_t caller = call_stacks_top(s->stacks, stack->number);
	size_t at = cut_position(stack->kept);
	struct key_cell closed[ENTERED_STACK];
	int has = 0;

	if (cells)
		has = close_caller(r, cells + s->entered.fields, closed);
	if (has < 0)
		return -1;
	if (has) {
		caller = (uint32_t)closed[ENTERED_CALLER].value;
		at = closed[ENTERED_POSITION].value;
	}
	return call_stacks_pushed_kernel(s->stacks, stack->number, caller, at);
}

/* Apply the operation's effect on the calls to their stacks; before: number of frames before it. */
static int replay_stack(struct replay *r, const struct cut_op *op, size_t before)
{
	const struct stack *stack = r->stack;
	struct call_stacks *cs = r->s->stacks;

	switch (op->kind) {
	case CUT_TOUCH:
	case CUT_FORGET: return call_stacks_reach(cs, stack->number);
	case CUT_PUSH: return stack->count > before ? call_stacks_pushed(cs, stack->number) : 0;
	case CUT_PUSH_KERNEL:
		return stack->kernel && stack->kernel->count > before ? replay_kernel(r, op) : 0;
	}
	return 0;
}

/* Returns how many frames of a thread first seen with open calls were never entered. */
static int replay_set(struct replay *r, const struct partial_stack *list)
{
	const struct cut_op *op = &list->ops[0];
	uint32_t unseen = op->depth;

	if (r->stack->started || r->stack->count || r->stack->implicit) {
		errno = EOVERFLOW;
		return -1;
	}
	for (size_t i = 1;
	     i < list->count && list->ops[i].kind == CUT_PUSH && list->ops[i].flags & CUT_UNSEEN;
	     i++)
		unseen++;
	return r->s->stacks && op->location
		       ? call_stacks_set(r->s->stacks, r->stack->number, unseen)
		       : 0;
}

static int replay_op(struct replay *r, const struct partial_stack *list, const struct cut_op *op)
{
	struct statistics *s = r->s;
	struct stack *stack = r->stack;
	bool push = op->kind == CUT_PUSH || op->kind == CUT_PUSH_KERNEL;
	bool kernel = op->kind == CUT_PUSH_KERNEL;
	size_t before = 0;
	struct event e;

	stack->left_out |= op->flags & CUT_LEFT_OUT;
	if (op->kind == CUT_ROW) {
		cut_event(list, op, &e);
		return statistics_event(s, &e);
	}
	if (push)
		before = !kernel ? stack->count : stack->kernel ? stack->kernel->count : 0;
	if (cut_apply(&s->calls, stack, op))
		return -1;
	/* pushed since then, or since before */
	if (push && stack->cut && stack->cut->raw)
		return keep_entered(r, op);
	if (s->stacks && replay_stack(r, op, before))
		return -1;
	return push ? replay_entered(r, op, before) : 0;
}

static int replay_position(struct replay *r, const struct part_thread *t, size_t position)
{
	if (r->s->stacks && r->next_held < t->nheld && t->held[r->next_held].position == position)
		stack_graft_begin(&r->graft, r->s->stacks->open,
				  call_stacks_top(r->s->stacks, r->stack->number));
	for (; r->next_held < t->nheld && t->held[r->next_held].position == position;
	     r->next_held++)
		if (replay_held(r, &t->held[r->next_held], &r->held[r->next_held]))
			return -1;
	for (; r->next_doubt < t->ndoubts && t->doubts[r->next_doubt].position == position;
	     r->next_doubt++)
		if (replay_doubt(r, &t->doubts[r->next_doubt]))
			return -1;
	return 0;
}

static int keep_point(struct replay *r)
{
	struct point *points =
		array_grow(r->points, &r->points_capacity, r->position, sizeof(*points));
	const struct stack *stack = r->stack;

	if (!points)
		return -1;
	r->points = points;
	points[r->position] = (struct point){call_stacks_top(r->s->stacks, stack->number),
					     cut_position(stack->kept)};
	return 0;
}

static int replay_thread(struct replay *r, const struct part_thread *t)
{
	uint32_t number = part_thread_number(t->lane, t->per_cpu);

	r->stack = calls_stack_at(&r->s->calls, number);
	r->next_held = r->next_doubt = 0;
	if (!r->stack)
		return -1;
	if (t->nheld > r->held_capacity) {
		struct aggregate **held = realloc(r->held, t->nheld * sizeof(struct aggregate *));

		if (!held)
			return -1;
		r->held = held;
		r->held_capacity = t->nheld;
	}
	for (size_t i = 0; i < t->list->count; i++) {
		const struct cut_op *op = &t->list->ops[i];

		r->position = i;
		if ((op->kind == CUT_SET && replay_set(r, t->list)) || replay_op(r, t->list, op))
			return -1;
		cut_charge(&r->s->calls, r->stack, op);
		if ((r->s->stacks && keep_point(r)) || replay_position(r, t, i))
			return -1;
	}
	return r->s->calls.out_of_memory ? -1 : 0;
}

static int replay_numbered(struct replay *r)
{
	const struct partial_stack *list = r->p->numbered;

	for (size_t i = 0; list && i < list->count; i++) {
		const struct cut_op *op = &list->ops[i];

		if (op->kind == CUT_BEGIN)
			continue;
		/* the end of the call is looked up by this stack */
		r->stack = calls_stack_at(&r->s->calls, op->lane->thread);
		if (!r->stack || replay_op(r, list, op) ||
		    (op->kind == CUT_PUSH_NUMBERED && replay_entered(r, op, 0)))
			return -1;
	}
	return 0;
}

int part_replay(const struct part *p, struct statistics *s)
{
	struct replay r = {.s = s, .p = p};
	int bad;

	r.cells = calloc(s->keys->held + 1, sizeof(*r.cells));
	bad = !r.cells || replay_numbered(&r);
	for (size_t i = 0; !bad && i < p->nthreads; i++)
		bad = replay_thread(&r, &p->threads[i]);
	free(r.cells);
	free(r.held);
	free(r.points);
	stack_graft_free(&r.graft);
	return bad ? -1 : 0;
}
