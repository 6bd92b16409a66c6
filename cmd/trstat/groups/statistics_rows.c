/*
 * statistics_rows.c - count single rows: calls and other events
 */
#include "common/calls/partial_stack.h"
#include "cmd/trstat/groups/statistics_private.h"

/* Returns the cells that the call's enter had for the keys. */
static const struct key_cell *take_entered(struct statistics *s, const struct call *call,
					   const struct event *e)
{
	const struct type *type = e ? e->type : call->type;
	const struct stack *stack;
	uint32_t number;
	size_t thread;
	bool kernel;

	if (type && type->flags & TYPE_CALL_NUMBER) {
		number = call->number;
		return !e || field_call(e, &number)
			       ? pending_keys_take_numbered(&s->entered, call->lane->source->number,
							    number)
			       : NULL;
	}
	thread = e ? calls_thread(e) : s->calls.finishing;
	stack = s->calls.stacks[thread];
	kernel = e ? calls_stack(&s->calls, e) != stack
		   : call->type && call->type->flags & TYPE_KERNEL;
	return pending_keys_take(&s->entered, statistics_entered(thread, kernel),
				 kernel ? stack->kernel : stack, call->start);
}

static int put_entered(struct statistics *s, const struct event *e)
{
	const struct stack *stack = calls_stack(&s->calls, e);
	uint32_t thread = calls_thread(e), number;
	size_t fields = s->keys->fields;

	if (e->type->flags & TYPE_CALL_NUMBER && s->arguments)
		statistics_argument_cells(s, e, s->cells + fields);
	else if (!fields)
		return 0;
	else
		memset(s->cells + fields, 0, 2 * s->arguments * sizeof(*s->cells));
	if (keys_field_cells(s->keys, s->dictionary, &s->groups, e, s->cells))
		return -1;
	if (e->type->flags & TYPE_CALL_NUMBER)
		return field_call(e, &number)
			       ? pending_keys_put_numbered(&s->entered, e->lane->source->number,
							   number, s->cells)
			       : 0;
	return pending_keys_put(&s->entered,
				statistics_entered(thread, stack != s->calls.stacks[thread]), stack,
				s->cells);
}

/* Keep what the leave needs of the enter. By value, so that the event of the fast path can stay
 * in registers. */
static __attribute__((noinline)) int take_enter(struct statistics *s, struct event e)
{
	if ((s->entered.fields && put_entered(s, &e)) ||
	    (s->stacks && call_stacks_enter(s->stacks, &e))) {
		s->out_of_memory = true;
		return -1;
	}
	return 0;
}

/* Returns the group of a finished call; e is its leave or NULL. */
static __attribute__((noinline)) struct aggregate *group_of_call(struct statistics *s,
								 const struct call *call,
								 const struct type *type,
								 const struct event *e)
{
	struct event_ref subject = {.lane = call->lane,
				    .type = type,
				    .event = e,
				    .location = call->location,
				    .caller = call->caller,
				    .level = call->level,
				    .time = call->end,
				    .timed = true,
				    .total = call->total,
				    .self = call->self,
				    .open = call->open};

	if (call->open)
		subject.below = s->calls.stacks[calls_thread(e)];
	if (s->entered.fields)
		s->taken = subject.entered = take_entered(s, call, e);
	if (s->stacks && (e ? call_stacks_leave(s->stacks, e, call, &subject.stack)
			    : call_stacks_finish(s->stacks, call, &subject.stack))) {
		s->out_of_memory = true;
		return NULL;
	}
	return statistics_group(s, &subject);
}

static __attribute__((noinline)) int doubt(struct statistics *s, const struct call *call,
					   const struct event *e, struct aggregate *a)
{
	const struct stack *below = s->calls.stacks[calls_thread(e)];

	if (!bracket_doubt(s->bracket, below->number, cut_position(below->kept), call->location, a,
			   call->total))
		return 0;
	s->out_of_memory = true;
	return -1;
}

static inline __attribute__((always_inline)) int add_call(struct statistics *s,
							  const struct call *call,
							  const struct type *type,
							  const struct event *e)
{
	struct aggregate *a = NULL;

	s->taken = NULL;
	if (s->name_only && !s->arguments && call->location < s->by_location_size &&
	    !(call->open & OPEN_IF_CALL))
		a = s->by_location[call->location];
	if (__builtin_expect(!a, 0)) {
		struct event copy = e ? *e : (struct event){0};

		a = group_of_call(s, call, type, e ? &copy : NULL);
	}
	if (!a || aggregate_call(a, &s->columns->wanted, call->total, call->self,
				 call->recursive && !s->stacks, call->end)) {
		s->out_of_memory = true;
		return -1;
	}
	if (__builtin_expect(call->open & OPEN_RECURSIVE, 0) && !s->stacks && doubt(s, call, e, a))
		return -1;
	if (__builtin_expect(s->columns->wanted.field_count, 0)) {
		const struct statistics_times times = {true, call->total, call->self,
						       call->location};
		struct event copy = e ? *e : (struct event){0};

		if (s->taken && s->arguments &&
		    statistics_add_arguments(s, a, e ? &copy : NULL, s->taken + s->keys->fields)) {
			s->out_of_memory = true;
			return -1;
		}
		return statistics_add_fields(s, a, e ? &copy : NULL, call->lane, false, &times);
	}
	return 0;
}

/* Count a row that is no finished call: an instant, and with the key `type` every row. waits:
 * its arguments are ignored. */
static __attribute__((noinline)) int add_row(struct statistics *s, struct event ev, bool counts,
					     bool waits)
{
	const struct event *e = &ev;
	const struct stack *stack = calls_stack(&s->calls, e);
	size_t open = stack ? stack->count : 0;
	struct event_ref subject = {.lane = e->lane,
				    .type = e->type,
				    .event = e,
				    .location = e->location,
				    .time = e->time};
	struct aggregate *a;

	if (!counts && !statistics_has_fields(s, e, waits))
		return 0;
	/* an enter has pushed its own frame, unless scheduled-out types are ignored here */
	if (e->type->kind == KIND_ENTER && open && !(e->type->flags & TYPE_CALL_NUMBER))
		open -= !(e->type->flags & TYPE_INNER) || stack->frames[open - 1].inner;
	subject.level = (uint32_t)open + (stack ? stack->implicit : 0);
	subject.caller = open ? stack->frames[open - 1].location : 0;
	if (stack && stack->cut) {
		/* frames[0] represents the unknown frames */
		subject.open = OPEN_LEVEL | (open == 1 ? OPEN_CALLER : 0);
		subject.level--;
		subject.below = stack;
	}
	if (s->stacks) {
		size_t thread = calls_thread(e);
		const struct stack *all = thread < s->calls.size ? s->calls.stacks[thread] : NULL;

		if (call_stacks_here(s->stacks, e, &subject.stack))
			return -1;
		subject.open |= all && all->cut && call_stacks_is_open(s->stacks, subject.stack)
					? OPEN_STACK
					: 0;
		subject.below = all;
	}
	a = statistics_group(s, &subject);
	if (!a)
		return -1;
	if (counts)
		aggregate_instant(a, &s->columns->wanted, e->time);
	return s->columns->wanted.field_count
		       ? statistics_add_fields(s, a, e, counts ? e->lane : NULL, waits,
					       &(struct statistics_times){0})
		       : 0;
}

/* Count one event of any kind. */
static inline __attribute__((always_inline)) int take_event(struct statistics *s, struct event *e,
							    bool by_type, bool fields, bool waiting)
{
	enum calls_result got;
	struct call call;
	int bad = 0;

	if (__builtin_expect(e->type->kind == KIND_GAP, 0))
		return 0; /* END counts lost events */
	got = calls_feed(&s->calls, e, &call);
	if (__builtin_expect(waiting && got == CALLS_ENTER, 0) && take_enter(s, *e))
		return -1;
	if (got == CALLS_LEAVE)
		bad = add_call(s, &call, e->type, e);
	else if (got == CALLS_KEPT)
		bad = 0;
	else if (e->type->kind == KIND_INSTANT || e->type->kind == KIND_COUNTER)
		bad = add_row(s, *e, true, false);
	else if ((by_type || fields) && e->type->kind != KIND_DROP)
		bad = add_row(s, *e, by_type,
			      s->arguments && got == CALLS_ENTER &&
				      e->type->flags & TYPE_CALL_NUMBER);
	return bad || s->calls.out_of_memory ? -1 : 0;
}

int statistics_take(struct statistics *s, struct event *e)
{
	return take_event(s, e, s->keys->by_type, s->columns->wanted.field_count,
			  s->entered.fields || s->stacks);
}

int statistics_take_rows(struct statistics *s, struct events *it)
{
	bool fields = s->columns->wanted.field_count, by_type = s->keys->by_type;
	bool waiting = s->entered.fields || s->stacks;
	struct event e;

	while (event_next(it, &e))
		if (take_event(s, &e, by_type, fields, waiting))
			return -1;
	return 0;
}

int statistics_take_row(struct statistics *s, const struct events *all, const uint8_t *row)
{
	struct events it = *all;
	struct event e = {.row = row};

	it.row = row;
	event_next(&it, &e);
	return take_event(s, &e, s->keys->by_type, false, false);
}

int statistics_take_unfinished(struct statistics *s, const struct call *call,
			       const struct type *type)
{
	return add_call(s, call, type, NULL);
}

int statistics_take_pair(struct statistics *s, const struct event *e)
{
	struct event_ref subject = {.lane = e->lane,
				    .type = e->type,
				    .event = e,
				    .location = e->location,
				    .time = e->time,
				    .timed = true};
	struct aggregate *a;
	uint64_t time;
	int got;

	if (e->type->kind >= KIND_GAP)
		return 0;
	got = pair_feed(s->pair, s->keys, e, &time, &subject.entered);
	if (got <= 0)
		return got;
	subject.total = subject.self = time;
	a = statistics_group(s, &subject);
	if (!a || aggregate_call(a, &s->columns->wanted, time, time, false, e->time))
		return -1;
	return s->columns->wanted.field_count
		       ? statistics_add_fields(
				 s, a, e, e->lane, false,
				 &(struct statistics_times){true, time, time, e->location})
		       : 0;
}
