/*
 * part_replay.c - the lists of a part fed to statistics that know what was before
 */
#include <errno.h>
#include <stdlib.h>

#include "part.h"

struct replay {
	struct statistics *s;
	const struct part *p;
	struct stack *stack;
	struct key_cell *cells;
	struct aggregate **held; /* by number: what the thread's held rows became */
	size_t held_capacity;
	size_t next_held, next_doubt;
};

/* What is known by now of rows at the bottom of what was seen there: enum calls_open. */
static uint32_t open_here(const struct stack *s)
{
	return s->cut ? OPEN_LEVEL | (s->count == 1 ? OPEN_CALLER : 0) : 0;
}

/* Rows that count only if a call lies below: true if they do, else *open says what is not known. */
static bool counts(const struct stack *s, uint32_t *open)
{
	if (!(*open & OPEN_IF_CALL) || (s->cut && s->count == 1))
		return true;
	if ((!s->count && !s->implicit) || (*open & OPEN_NO_EXEC && s->exec && s->exec == s->count))
		return false;
	*open = 0;
	return true;
}

static int replay_held(struct replay *r, const struct part_held *h, struct aggregate **into)
{
	struct statistics *s = r->s;
	struct stack *stack = r->stack;
	uint32_t open = h->open, here = open_here(stack);
	uint32_t caller = stack->count ? stack->frames[stack->count - 1].place : 0;
	uint32_t level = (uint32_t)stack->count + stack->implicit - (stack->cut != NULL);
	bool held;

	*into = NULL;
	if (!counts(stack, &open)) {
		/* as calls.c counts those of which it knows at once */
		if (!(open & (OPEN_NO_EXEC | OPEN_INNER)))
			s->calls.outside += h->aggregate->calls;
		return 0;
	}
	memcpy(r->cells, h->cells, s->keys->count * sizeof(*r->cells));
	if (keys_close_cells(s->keys, s->dictionary, &s->groups, here, caller, level, r->cells))
		return -1;
	held = open;
	for (size_t i = 0; i < s->keys->count; i++)
		held |= r->cells[i].kind == KEY_OPEN_CALLER || r->cells[i].kind == KEY_OPEN_LEVEL;
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
	if (d->place ? stack_has(stack, d->place) : calls_has_unknown(stack)) {
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
	return bracket_doubt(r->s->bracket, stack->number, cut_position(stack->cut), d->place, a,
			     d->total);
}

static int replay_entered(struct replay *r, const struct cut_op *op, size_t before)
{
	struct statistics *s = r->s;
	const struct key_cell *cells =
		r->p->entered + (size_t)(op->entered - 1) * s->entered.fields;
	bool kernel = op->kind == CUT_PUSH_KERNEL;
	struct stack *stack;

	if (!op->entered)
		return 0;
	if (op->kind == CUT_PUSH_NUMBERED)
		return entered_put_numbered(&s->entered, op->lane->source->number, op->depth,
					    cells);
	stack = kernel ? r->stack->kernel : r->stack;
	if (stack->count <= before)
		return 0; /* it was no call */
	return entered_put(&s->entered, statistics_entered(r->stack->number, kernel), stack, cells);
}

/* A raw cut keeps the operation itself: with it goes what was entered. */
static int keep_entered(struct replay *r, const struct cut_op *op)
{
	struct statistics *s = r->s;
	struct cut *u = r->stack->cut;
	struct cut_op *copy = &u->ops[u->count - 1];

	copy->entered = 0;
	return op->entered
		       ? part_keep_entered(
				 s, r->p->entered + (size_t)(op->entered - 1) * s->entered.fields,
				 copy)
		       : 0;
}

static int replay_op(struct replay *r, const struct cut *list, const struct cut_op *op)
{
	struct statistics *s = r->s;
	struct stack *stack = r->stack;
	bool push = op->kind == CUT_PUSH || op->kind == CUT_PUSH_KERNEL, raw;
	bool kernel = op->kind == CUT_PUSH_KERNEL;
	size_t before = 0;
	struct event e;

	if (op->kind == CUT_ROW) {
		cut_event(list, op, &e);
		return statistics_event(s, &e);
	}
	if (push)
		before = !kernel ? stack->count : stack->kernel ? stack->kernel->count : 0;
	raw = stack->cut && stack->cut->raw;
	if (cut_apply(&s->calls, stack, op))
		return -1;
	if (push && raw)
		return keep_entered(r, op);
	return push ? replay_entered(r, op, before) : 0;
}

static int replay_position(struct replay *r, const struct part_thread *t, size_t position)
{
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

		if (replay_op(r, t->list, op))
			return -1;
		cut_charge(&r->s->calls, r->stack, op);
		if (replay_position(r, t, i))
			return -1;
	}
	return r->s->calls.out_of_memory ? -1 : 0;
}

static int replay_numbered(struct replay *r)
{
	const struct cut *list = r->p->numbered;

	for (size_t i = 0; list && i < list->count; i++) {
		const struct cut_op *op = &list->ops[i];

		if (op->kind == CUT_BEGIN)
			continue;
		/* the calls' end is looked for there */
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

	s->dictionary->filtered = p->filtered;
	r.cells = calloc(s->keys->count + 1, sizeof(*r.cells));
	bad = !r.cells || replay_numbered(&r);
	for (size_t i = 0; !bad && i < p->nthreads; i++)
		bad = replay_thread(&r, &p->threads[i]);
	free(r.cells);
	free(r.held);
	return bad ? -1 : 0;
}
