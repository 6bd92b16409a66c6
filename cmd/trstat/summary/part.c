#include "cmd/trstat/summary/part.h"

#include <stdlib.h>

#include "common/util/buffer.h"

int part_keep_entered(struct statistics *s, const struct key_cell *cells,
		      const struct key_cell *stack, struct cut_op *op)
{
	size_t fields = s->entered.fields, size = part_entered_size(s);
	struct part *p = s->part;
	struct key_cell *kept;

	if (!cells && !stack)
		return 0;
	if (p->nentered >= UINT32_MAX)
		return -1;
	kept = array_grow(p->entered, &p->pending_keys_capacity, p->nentered, size * sizeof(*kept));
	if (!kept) {
		s->out_of_memory = true;
		return -1;
	}
	p->entered = kept;
	kept += p->nentered * size;
	memset(kept, 0, size * sizeof(*kept));
	if (cells)
		memcpy(kept, cells, fields * sizeof(*cells));
	if (stack)
		memcpy(kept + fields, stack, ENTERED_STACK * sizeof(*stack));
	op->entered = (uint32_t)++p->nentered;
	return 0;
}

/* Find the stack from which the lowest call in the kernel, now being pushed, was entered. */
static bool caller_in_kernel(struct statistics *st, const struct stack *s, struct key_cell *cells)
{
	uint32_t node;
	size_t at;

	if (s->kernel->count != 1 || !call_stacks_kernel_caller(st->stacks, s->number, &node, &at))
		return false;
	cells[ENTERED_CALLER] = (struct key_cell){
		.kind = call_stacks_is_open(st->stacks, node) ? KEY_OPEN_STACK : KEY_STACK,
		.value = node};
	if (node == STACK_ROOT)
		cells[ENTERED_CALLER] = (struct key_cell){0};
	cells[ENTERED_POSITION] = key_unsigned(at);
	return true;
}

static int on_push(void *ctx, struct stack *s, bool kernel, struct cut_op *op)
{
	struct statistics *st = ctx;
	const struct key_cell *cells = NULL;
	struct key_cell caller[ENTERED_STACK];
	bool has_caller = s && kernel && st->stacks && caller_in_kernel(st, s, caller);

	if (st->entered.fields && !s) {
		cells = pending_keys_take_numbered(&st->entered, op->lane->source->number,
						   op->depth);
	} else if (st->entered.fields) {
		struct stack *stack = kernel ? s->kernel : s;

		/* restore the state after the caller's leave */
		stack->count--;
		cells = pending_keys_take(&st->entered, statistics_entered(s->number, kernel),
					  stack, op->time);
		stack->count++;
	}
	return part_keep_entered(st, cells, has_caller ? caller : NULL, op);
}

int part_begin(struct part *p, struct statistics *s, uint64_t stream_id, uint32_t first)
{
	*p = (struct part){.stream_id = stream_id, .first = first, .last = first};
	if (bracket_init(&p->bracket, s->keys->held, &s->columns->wanted))
		return -1;
	s->part = p;
	s->bracket = &p->bracket;
	s->calls.partial = first > 0;
	if (s->stacks && call_stacks_cuts(s->stacks))
		return -1;
	s->calls.look_at_all = s->stacks;
	s->calls.look_down = s->keys->needs & (NEEDS_CALLER | NEEDS_LEVEL | NEEDS_STACK);
	/* other rows matter only where rows count or have fields to be read */
	s->calls.no_doubt = s->keys->by_type || s->entered.fields || s->columns->wanted.field_count;
	s->calls.on_push = on_push;
	s->calls.on_push_ctx = s;
	return 0;
}

static void free_thread(struct part_thread *t)
{
	cut_free(t->list);
	free(t->held);
	free(t->doubts);
}

void part_free(struct part *p)
{
	for (size_t i = 0; i < p->nthreads; i++)
		free_thread(&p->threads[i]);
	free(p->threads);
	cut_free(p->numbered);
	free(p->stages);
	free(p->entered);
	bracket_free(&p->bracket);
	*p = (struct part){0};
}

static int take_stack(struct part *p, struct statistics *s, struct stack *stack)
{
	struct part_thread *t =
		array_grow(p->threads, &p->threads_capacity, p->nthreads, sizeof(*t));

	if (!t)
		return -1;
	p->threads = t;
	t += p->nthreads;
	*t = (struct part_thread){.lane = stack->lane,
				  .per_cpu = stack->lane->thread != stack->number};
	if (cut_close(&s->calls, stack))
		return -1;
	t->list = stack->kept;
	stack->kept = stack->cut = NULL;
	p->nthreads++;
	return 0;
}

/* The position of one of the bracket's aggregates, needed by its doubts. */
struct held_position {
	const struct aggregate *aggregate;
	uint32_t thread, number;
};

static int by_address(const void *a, const void *b)
{
	const struct held_position *p = a, *q = b;

	return (p->aggregate > q->aggregate) - (p->aggregate < q->aggregate);
}

static int take_held(struct part *p, const uint32_t *threads, struct held_position *positions)
{
	const struct groups *g = &p->bracket.held;

	for (size_t i = 0; i < g->count; i++) {
		struct aggregate *a = groups_at(g, i);
		const struct key_cell *cells = groups_cells(g, a);
		uint32_t number = threads[cells[HELD_THREAD].value];
		struct part_thread *t = &p->threads[number];
		struct part_held *h = array_grow(t->held, &t->held_capacity, t->nheld, sizeof(*h));

		if (!h)
			return -1;
		t->held = h;
		h[t->nheld] =
			(struct part_held){cells[HELD_POSITION].value,
					   (uint32_t)cells[HELD_OPEN].value, cells + HELD_CELLS, a};
		/* in the order of their positions, which only grow */
		positions[i] = (struct held_position){a, number, (uint32_t)t->nheld++};
	}
	if (g->count)
		qsort(positions, g->count, sizeof(*positions), by_address);
	return 0;
}

static int by_position(const void *a, const void *b)
{
	const struct part_doubt *p = a, *q = b;

	if (p->position != q->position)
		return p->position < q->position ? -1 : 1;
	return (p->location > q->location) - (p->location < q->location);
}

static int take_doubts(struct part *p, const uint32_t *threads,
		       const struct held_position *positions)
{
	const struct bracket *b = &p->bracket;

	for (size_t i = 0; i <= b->mask; i++) {
		const struct doubt *d = &b->doubts[i];
		const struct held_position key = {d->aggregate, 0, 0}, *held;
		struct part_thread *t;
		struct part_doubt *doubts;

		if (!d->aggregate)
			continue;
		held = b->held.count
			       ? bsearch(&key, positions, b->held.count, sizeof(key), by_address)
			       : NULL;
		t = &p->threads[threads[d->thread]];
		doubts = array_grow(t->doubts, &t->doubts_capacity, t->ndoubts, sizeof(*doubts));
		if (!doubts)
			return -1;
		t->doubts = doubts;
		doubts[t->ndoubts++] = (struct part_doubt){d->position,
							   d->location,
							   held ? held->number + 1 : 0,
							   held ? NULL : d->aggregate,
							   0,
							   d->total};
	}
	for (size_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].ndoubts)
			qsort(p->threads[i].doubts, p->threads[i].ndoubts,
			      sizeof(struct part_doubt), by_position);
	return 0;
}

static int take_all(struct part *p, struct statistics *s)
{
	struct calls *c = &s->calls;
	uint32_t *threads = calloc(c->size + 1, sizeof(*threads));
	struct held_position *positions = calloc(p->bracket.held.count + 1, sizeof(*positions));
	int bad = threads && positions ? 0 : -1;

	for (size_t i = 0; !bad && i < c->size; i++) {
		if (!c->stacks[i] || !c->stacks[i]->lane)
			continue;
		threads[i] = (uint32_t)p->nthreads;
		bad = take_stack(p, s, c->stacks[i]);
	}
	bad = bad || cut_close_numbered(c) || take_held(p, threads, positions) ||
	      take_doubts(p, threads, positions);
	p->numbered = c->rows;
	c->rows = NULL;
	free(threads);
	free(positions);
	return bad ? -1 : 0;
}

int part_end(struct part *p, struct statistics *s)
{
	int bad;

	calls_take_ends(&s->calls);
	bad = part_is_whole(p) ? statistics_finish(s)
	      : s->stacks      ? part_hold_stacks(p, s) || take_all(p, s)
			       : take_all(p, s);
	statistics_forget_calls(s);
	s->part = NULL;
	s->bracket = NULL;
	return bad;
}
