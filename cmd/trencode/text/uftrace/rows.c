/*
 * rows.c - the rows of uftrace recordings, as `uftrace replay` prints them
 *
 * A call without calls inside is one line, so the line of an enter is pending until the next row
 * of any task; the line of scheduling out likewise. Other rows are printed at once.
 */
#include "cmd/trencode/text/uftrace/uftrace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/formats/uftrace.h"
#include "cmd/trencode/text/details.h"
#include "cmd/trencode/text/events.h"
#include "cmd/trencode/text/values.h"

static struct replay_task *task_of(struct text_uftrace *s, const struct lane *lane)
{
	uint32_t number = lane->thread;
	struct recording *r;

	if (__builtin_expect(number < s->ntasks && s->tasks[number], 1))
		return s->tasks[number];
	if (number >= s->ntasks) {
		if (ARRAY_REACH(s->tasks, s->ntasks, number))
			return NULL;
	}
	if (!s->tasks[number]) {
		r = text_uftrace_recording(s, lane->source);
		s->tasks[number] = r ? replay_task_new(&r->replay, lane) : NULL;
	}
	return s->tasks[number];
}

/* Return the frame that events belong to, in uftrace the frame above the top; NULL: events are not
 * shown. */
static const struct replay_frame *event_frame(struct replay_task *t)
{
	const struct replay_frame *f = replay_frame(t, t->count);

	return f && !(f->flags & FRAME_HIDDEN) ? f : NULL;
}

/* --- the pending line --- */

static void print_sched_pending(struct text_uftrace *s, bool both)
{
	const struct replay_frame *f = event_frame(s->task);

	if (f)
		text_uftrace_sched(s, s->task, s->indent, both ? "schedule" : "sched-out",
				   s->preempted, both && f->time ? f : NULL);
}

void text_uftrace_settle(struct text_uftrace *s)
{
	if (s->pending == PENDING_CALL)
		text_uftrace_open(s);
	else if (s->pending == PENDING_SCHED)
		print_sched_pending(s, false);
	s->pending = PENDING_NONE;
}

/* Test whether a row in the kernel is outside of all calls, also of those that a filter left out.
 */
static bool is_outside(const struct text_uftrace *s, const struct replay_task *t,
		       const struct replay_row *row)
{
	uint32_t thread = t->lane->thread;

	return !dictionary_left_out(s->dictionary, thread) ||
	       dictionary_outside(s->dictionary, thread, row->time);
}

/* Consume a row that is not shown, so that the pending line stays pending. Returns false for a row
 * that is shown. */
static bool consume_hidden(struct text_uftrace *s, struct replay_task *t,
			   const struct replay_row *row)
{
	const struct replay_frame *f;
	const struct location_text *p;

	/* in the kernel, outside any call */
	if (row->kernel && t->calls == 0 && is_outside(s, t, row)) {
		replay_consume(t, row);
		return true;
	}
	switch (row->kind) {
	case ROW_LOSS: return false;
	case ROW_LEAVE:
		f = replay_frame(t, t->count - 1);
		if (!t->count || (f && !(f->flags & FRAME_HIDDEN)))
			return false;
		replay_consume(t, row);
		replay_left(t);
		return true;
	case ROW_ENTER:
		if (t->allowance > 0)
			return false;
		replay_consume(t, row);
		p = text_uftrace_location(s, row->location);
		/* the pending call is never left */
		if (p && p->fixup == FIXUP_LONGJMP && s->pending && s->task == t)
			text_uftrace_settle(s);
		replay_enter(t, p ? (enum fixup)p->fixup : FIXUP_NONE);
		s->hidden++;
		return true;
	default:
		if (t->calls && t->allowance > 0)
			return false;
		replay_consume(t, row);
		return true;
	}
}

static inline int take_result(struct text_uftrace *s, const struct recording *r,
			      const struct event *ev)
{
	const struct location *location;
	struct value_names names;

	buffer_clear(&s->result);
	s->result.spills = true;
	if (!(ev->type->flags & TYPE_VALUES))
		return 0;
	location = dictionary_location(s->dictionary, ev->location);
	names = (struct value_names){&s->result, s->dictionary, r->symbols,
				     location ? location->space : NULL, ev->time};
	return details_append_return(&s->result, ev->tail, ev->tail_size, value_text, &names);
}

/* Test whether the row, of the pending line's task, always ends the wait. */
static bool ends_wait(const struct text_uftrace *s, const struct replay_row *row,
		      const struct event *ev)
{
	if (s->pending == PENDING_SCHED)
		return row->kind == ROW_SCHED_IN || row->kind == ROW_SCHED_OUT;
	if (row->kind == ROW_EVENT) /* from the task's own file, not from the scheduler */
		return ev->type->native < UFTRACE_EV_SCHED_IN;
	/* depths in records have 10 bits: for uftrace greater depths start at 0 again */
	return row->kind <= ROW_LEAVE &&
	       row->depth % UFTRACE_MAX_STACK <= s->row_depth % UFTRACE_MAX_STACK;
}

/* Print the pending line, completed by the row where this is possible. Returns 1 if the row needs
 * no more work, -1 when out of memory. */
static int settle_with(struct text_uftrace *s, const struct recording *r, struct replay_task *t,
		       const struct replay_row *row, const struct event *ev)
{
	const struct replay_frame *f;

	if (!(t == s->task && ends_wait(s, row, ev)) && consume_hidden(s, t, row))
		return 1;
	if (t == s->task && s->pending == PENDING_CALL && row->kind == ROW_LEAVE &&
	    row->depth == s->row_depth) {
		replay_consume(t, row);
		f = replay_frame(t, s->frame);
		if (take_result(s, r, ev))
			return -1;
		if (f)
			text_uftrace_leaf(s, f);
		replay_left(t);
		s->pending = PENDING_NONE;
		return 1;
	}
	if (t == s->task && s->pending == PENDING_SCHED && row->kind == ROW_SCHED_IN) {
		replay_consume(t, row);
		print_sched_pending(s, true);
		s->pending = PENDING_NONE;
		return 1;
	}
	text_uftrace_settle(s);
	return 0;
}

/* --- rows --- */

/* Make the line of an enter or of scheduling out pending, unless no row can complete the line. */
static void wait_for_next(struct text_uftrace *s, enum pending_kind kind, struct replay_task *t,
			  const struct replay_row *row, int indent)
{
	const struct replay_frame *f = replay_frame(t, t->count - 1);

	s->pending = kind;
	s->task = t;
	s->location = row->location;
	s->row_depth = row->depth;
	s->indent = indent;
	s->frame = t->count - 1;
	if (!f || f->flags & (FRAME_EXEC | FRAME_LONGJMP))
		text_uftrace_settle(s);
}

/* Make the comment "from loop+0x20" by the address of the call, which an event before it has. */
static int take_callsite(struct text_uftrace *s, const struct recording *r, struct replay_task *t,
			 const struct location *location)
{
	uint64_t offset;
	const char *name;

	s->comment.size = 0;
	if (!t->callsite)
		return 0;
	name = text_symbols_find(r->symbols, location ? location->space : NULL, t->time,
				 t->callsite, false, &offset);
	t->callsite = 0;
	if (!name)
		return 0;
	return buffer_printf(&s->comment, " /* from %s+%#" PRIx64 " */", name, offset);
}

static int print_enter(struct text_uftrace *s, const struct recording *r, struct replay_task *t,
		       const struct replay_row *row, const struct event *ev)
{
	const struct location_text *p = text_uftrace_location(s, row->location);
	const struct location *location = dictionary_location(s->dictionary, row->location);
	struct value_names names = {&s->arguments, s->dictionary, r->symbols, NULL, row->time};

	if (!p)
		return -1;
	if (location && location->space)
		t->space = names.space = location->space;
	if (take_callsite(s, r, t, location))
		return -1;
	if (!replay_enter(t, (enum fixup)p->fixup)) {
		s->hidden++;
		return 0;
	}
	buffer_clear(&s->arguments);
	s->arguments.spills = true;
	if (ev->type->flags & TYPE_VALUES &&
	    details_append_arguments(&s->arguments, ev->tail, ev->tail_size, value_text, &names))
		return -1;
	wait_for_next(s, PENDING_CALL, t, row, t->indent);
	return 0;
}

static int print_leave(struct text_uftrace *s, const struct recording *r, struct replay_task *t,
		       const struct replay_row *row, const struct event *ev)
{
	const struct replay_frame *f = replay_frame(t, t->count);
	struct replay_frame unmatched;

	/* the enter of the call that was left is missing */
	if (f && f->open) {
		unmatched = *f;
		unmatched.time = 0;
		f = &unmatched;
	}
	if (f && !(f->flags & FRAME_HIDDEN)) {
		const struct location_text *p = text_uftrace_location(s, row->location);
		int indent = replay_leaving(t);

		if (!p || take_result(s, r, ev))
			return -1;
		text_uftrace_leave(s, t, f, indent, p, s->result.size);
	}
	replay_left(t);
	return 0;
}

static bool is_preempted(const struct text_uftrace *s, const struct event *ev)
{
	const struct location *location = dictionary_location(s->dictionary, ev->location);

	return location && !location->space && location->address == UFTRACE_EV_SCHED_BOTH_PREEMPT;
}

static void print_sched_row(struct text_uftrace *s, struct replay_task *t,
			    const struct replay_row *row, const struct event *ev)
{
	const struct replay_frame *f;

	if (t->allowance <= 0)
		return;
	if (row->kind == ROW_SCHED_OUT) {
		s->preempted = is_preempted(s, ev);
		wait_for_next(s, PENDING_SCHED, t, row, t->indent);
		return;
	}
	f = event_frame(t);
	if (f)
		text_uftrace_sched(s, t, t->indent, "sched-in", false, f->time ? f : NULL);
}

static int print_instant(struct text_uftrace *s, const struct recording *r, struct replay_task *t,
			 const struct event *ev)
{
	struct value_names names = {NULL, s->dictionary, r->symbols, t->space, ev->time};

	if (ev->type->native == UFTRACE_EV_CALLSITE) {
		t->callsite = 0;
		field_number(ev, "address", &t->callsite);
		return 0;
	}
	if (t->allowance <= 0 || !event_frame(t))
		return 0;
	text_uftrace_columns(s, t, 0, NULL);
	/* events from outside of the process have no depth */
	text_uftrace_indent(s, ev->type->native == UFTRACE_EV_EXTERN ? 0 : t->indent);
	text_put(s->out, "/* ", 3);
	event_text(s->out, &names, ev);
	if (is_kernel_event(ev) && kernel_event_text(r->kernel, s->out, ev))
		return -1;
	text_put(s->out, " */\n", 4);
	return 0;
}

static enum row_kind replay_row_kind(const struct type *type, const struct event *ev)
{
	struct gap_row g;

	switch (type->kind) {
	case KIND_ENTER: return type->flags & TYPE_INNER ? ROW_SCHED_OUT : ROW_ENTER;
	case KIND_LEAVE: return type->flags & TYPE_INNER ? ROW_SCHED_IN : ROW_LEAVE;
	case KIND_GAP:
		/* events left out on purpose do not cut the stack */
		return gap_get(ev, &g) && g.reason != GAP_UNREAD ? ROW_LOSS : ROW_EVENT;
	}
	return ROW_EVENT;
}

/* Open a call, without a line. */
static int restore_call(struct text_uftrace *s, struct replay_task *t, const struct frame *f)
{
	struct replay_row row = {f->inner ? ROW_SCHED_OUT : ROW_ENTER, f->start, f->location,
				 f->depth, f->type->flags & TYPE_KERNEL};
	const struct location *location = dictionary_location(s->dictionary, f->location);
	const struct location_text *p = text_uftrace_location(s, f->location);

	if (!p)
		return -1;
	if (location && location->space)
		t->space = location->space;
	replay_after_exec(t, &row);
	replay_consume(t, &row);
	if (row.kind == ROW_ENTER && t->calls && replay_enter(t, (enum fixup)p->fixup))
		replay_entered(t, replay_frame(t, t->count - 1));
	return 0;
}

int text_uftrace_restored(struct text_uftrace *s, const struct stack *stack, uint64_t first)
{
	const struct stack *own_and_kernel[] = {stack, stack->kernel};
	struct replay_task *t = task_of(s, stack->lane);
	size_t charged = stack->count && !stack->frames[0].begun;

	if (!t)
		return -1;
	text_uftrace_settle(s);
	replay_restart(t, (int)(stack->unseen + charged), stack->unseen_since, stack->last);
	if (!t->replay->first && first != UINT64_MAX)
		t->replay->first = first;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; own_and_kernel[k] && i < own_and_kernel[k]->count; i++) {
			const struct frame *f = &own_and_kernel[k]->frames[i];

			if (f->begun && restore_call(s, t, f))
				return -1;
		}
	return t->replay->out_of_memory ? -1 : 0;
}

int text_uftrace_row(struct text_uftrace *s, const struct recording *r, const struct event *ev,
		     struct error *e)
{
	struct replay_row row = {replay_row_kind(ev->type, ev), ev->time, ev->location, ev->depth,
				 ev->type->flags & TYPE_KERNEL};
	struct replay_task *t = task_of(s, ev->lane);
	int used;

	if (!t)
		return error_no_memory(e);
	t->lane = ev->lane;
	replay_after_exec(t, &row);
	if (ev->type->kind == KIND_GAP) {
		text_uftrace_settle(s);
		replay_consume(t, &row);
		text_uftrace_gap(s, t, ev);
		return 0;
	}
	if (s->pending) {
		used = settle_with(s, r, t, &row, ev);
		if (used)
			return used < 0 ? error_no_memory(e) : 0;
	}
	replay_consume(t, &row);
	if (!t->calls && (row.kind > ROW_LEAVE || (row.kernel && is_outside(s, t, &row))))
		return 0;
	if (t->replay->last > row.time)
		text_uftrace_inverted(s, t);
	t->replay->last = row.time;
	t->last_time = t->time;
	t->time = row.time;
	used = 0;
	switch (row.kind) {
	case ROW_ENTER: used = print_enter(s, r, t, &row, ev); break;
	case ROW_LEAVE: used = print_leave(s, r, t, &row, ev); break;
	case ROW_SCHED_OUT:
	case ROW_SCHED_IN: print_sched_row(s, t, &row, ev); break;
	case ROW_EVENT:
	case ROW_LOSS: used = print_instant(s, r, t, ev);
	}
	return used || r->replay.out_of_memory ? error_no_memory(e) : 0;
}
