/*
 * calls.c - calls of any source on stacks of their threads, as common/calls pairs them
 *
 * A leave without a call is left out. If the target needs every leave, a call whose leave was not
 * recorded ends at the next event of its thread. Both are counted.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/convert/convert.h"
#include "common/value/argument.h"
#include "common/stream/field.h"
#include "cmd/trencode/tick_scale.h"
#include "common/calls/calls.h"

static int convert_take(void *ctx, const struct event *ev, struct error *e);
static void convert_forget(void *ctx, struct stack *s, const struct frame *f, void *data);
static int convert_restore(void *ctx, const struct event *enter, const struct call *call);
static int convert_restored(void *ctx, bool last);
static void convert_lose(void *ctx, struct stack *s, const struct frame *f, void *data,
			 enum calls_lost why);

void convert_calls_init(struct conversion *a)
{
	a->calls->numbers_on_stacks = a->target->nests;
	a->calls->data_size = sizeof(struct convert_frame);
	a->calls->on_lost = convert_lose;
	a->calls->on_forget = convert_forget;
	a->calls->on_restore = convert_restore;
	a->calls->restored.done = convert_restored;
	a->calls->on_lost_ctx = a->calls->on_restore_ctx = a->calls->restored.ctx = a;
	overlap_init(&a->overlap, a->dictionary, convert_take, a);
	a->overlap.before = a->calls;
}

/* --- rows for the target --- */

static int convert_give(struct conversion *a, const struct convert_row *r, struct error *e)
{
	switch (r->what) {
	case CONVERT_ENTER:
	case CONVERT_LEAVE: return a->target->call(a, r, e);
	case CONVERT_EVENT: return a->target->instant(a, r, e);
	case CONVERT_GAP: break;
	}
	return a->target->gap(a, r, e);
}

static int convert_emit(struct conversion *a, struct convert_row *r, const struct event *ev,
			struct error *e)
{
	const struct clock *clock = ev->lane->clock;
	bool ticks = clock && clock->flags & CLOCK_TICKS;

	r->ev = ev;
	r->time = ev->time;
	if (!r->mark) {
		a->unmarked = UINT32_MAX;
		r->mark = &a->unmarked;
	}
	a->counts.with_time += r->what != CONVERT_GAP && !ticks;
	a->counts.with_buffer += ev->lane->buffer.size && r->what != CONVERT_GAP &&
				 ev->lane->source &&
				 !strcmp(ev->lane->source->format.text, "trace-cmd");
	a->counts.with_wall += clock && clock->flags & CLOCK_HAS_WALL && clock->wall;
	if (a->options->tick && ticks &&
	    (__builtin_mul_overflow(ev->time, a->options->tick, &r->time) ||
	     __builtin_mul_overflow(r->start, a->options->tick, &r->start)))
		return tick_overflow(ev->lane, ev->time, a->options->tick, e);
	return convert_give(a, r, e);
}

static bool is_longjmp(const char *name)
{
	return !strcmp(name, "longjmp") || !strcmp(name, "siglongjmp") ||
	       !strcmp(name, "__longjmp_chk");
}

/* Test whether the target's reader empties the stack itself, by the call on top. */
static bool forgets(struct conversion *a, const struct convert_thread *t, uint32_t location)
{
	if (!a->target->replays || a->ev->type->flags & TYPE_CALL_NUMBER)
		return false;
	return t->lost || calls_enters_exec(a->calls, location) ||
	       is_longjmp(dictionary_location_name(a->dictionary, location).text);
}

/* --- calls of the target --- */

static int target_enter(struct conversion *a, struct convert_thread *t, uint32_t *mark)
{
	struct convert_row r = {.what = CONVERT_ENTER,
				.thread = t,
				.start = a->ev->time,
				.location = a->ev->location,
				.depth = t->below + t->count,
				.mark = mark};

	t->count++;
	return convert_emit(a, &r, a->ev, a->error);
}

static int target_leave(struct conversion *a, struct convert_thread *t, struct convert_frame *f,
			struct convert_row *r)
{
	r->what = CONVERT_LEAVE;
	r->thread = t;
	r->depth = t->below + --t->count;
	r->mark = &f->mark;
	f->open = false;
	return convert_emit(a, r, a->ev, a->error);
}

/* End a call whose leave was not recorded, which is on top in the target. */
static int target_cut(struct conversion *a, struct convert_thread *t, struct convert_frame *f,
		      const struct frame *call, bool kernel)
{
	/* a call in the kernel may outlast the call around it: each has its own clock */
	bool outlasts = kernel && !(a->ev->type->flags & TYPE_KERNEL);

	if (a->lost == FIRST_LOST)
		a->lost = forgets(a, t, call->location) ? FORGOTTEN : CLOSED;
	if (a->lost == CLOSED) {
		a->counts.outlasting += outlasts;
		a->counts.cut += !outlasts;
		if (a->target->closes || outlasts)
			return target_leave(a, t, f,
					    &(struct convert_row){.start = f->start,
								  .location = call->location,
								  .cut = true});
	}
	f->open = false;
	t->count--;
	return 0;
}

/* End the calls in the kernel, as the row is of the thread's other calls. */
static int cut_kernel(struct conversion *a, struct convert_thread *t, const struct stack *kernel)
{
	for (size_t i = kernel ? kernel->count : 0; i--;) {
		struct convert_frame *f = calls_data(a->calls, kernel, i);

		if (f->open && target_cut(a, t, f, &kernel->frames[i], true))
			return -1;
	}
	return 0;
}

static void convert_lose(void *ctx, struct stack *s, const struct frame *f, void *data,
			 enum calls_lost why)
{
	struct conversion *a = ctx;
	struct convert_thread *t = a->threads[s->number];
	const struct stack *base = a->calls->stacks[s->number];
	struct convert_frame *open = data;

	if (!open->open || a->failed)
		return;
	if (why == LOST_NUMBER) {
		a->counts.cut++;
		return;
	}
	a->failed =
		(s == base && cut_kernel(a, t, s->kernel)) || target_cut(a, t, open, f, s != base);
}

/* --- calls of the source --- */

/* Emit a row of a call with a number, for a target that has such calls. */
static int convert_numbered(struct conversion *a, struct convert_thread *t, enum convert_what what,
			    uint32_t location, struct convert_frame *f)
{
	struct convert_row r = {.what = what,
				.thread = t,
				.location = location,
				.start = a->ev->time,
				.mark = &f->mark};

	f->open = f->numbered = what == CONVERT_ENTER;
	return convert_emit(a, &r, a->ev, a->error);
}

static int convert_enter(struct conversion *a, struct convert_thread *t, struct convert_frame *f)
{
	const struct stack *base = a->calls->stacks[calls_thread(a->ev)];
	uint32_t below;

	f->open = true;
	f->start = a->ev->time;
	f->kernel = calls_stack(a->calls, a->ev) != base;
	if (!f->kernel && cut_kernel(a, t, base->kernel))
		return -1;
	below = base->unseen + (base->count && !base->frames[0].begun);
	if (!t->count && (!t->begun || t->below > below))
		t->below = below;
	t->begun = true;
	return target_enter(a, t, &f->mark);
}

static int convert_leave(struct conversion *a, struct convert_thread *t, const struct call *done)
{
	struct convert_frame *f = done->data;
	struct convert_row r = {.start = f ? f->start : done->start, .location = done->location};
	bool kernel = f ? f->kernel : a->ev->type->flags & TYPE_KERNEL;

	if (!kernel && cut_kernel(a, t, a->calls->stacks[calls_thread(a->ev)]->kernel))
		return -1;
	if (f)
		return f->open ? target_leave(a, t, f, &r) : 0;
	/* the target's readers know what is open */
	if (t->count || (t->begun && t->below <= done->level)) {
		a->counts.unmatched++;
		return 0;
	}
	r.what = CONVERT_LEAVE;
	r.thread = t;
	r.depth = t->below = done->level;
	r.unseen = true;
	t->begun = true;
	return convert_emit(a, &r, a->ev, a->error);
}

/* Emit the enter or leave of a call that need not nest, unchanged. */
static int convert_unchanged(struct conversion *a, struct convert_thread *t, const struct event *ev,
			     struct error *e)
{
	struct convert_row r = {
		.what = ev->type->kind == KIND_ENTER ? CONVERT_ENTER : CONVERT_LEAVE,
		.thread = t,
		.start = ev->time,
		.location = ev->location,
		.depth = ev->type->flags & TYPE_INNER ? t->below + t->count : ev->depth};

	return convert_emit(a, &r, ev, e);
}

static int convert_call(struct conversion *a, struct convert_thread *t, const struct event *ev,
			struct error *e)
{
	bool numbered = ev->type->flags & TYPE_CALL_NUMBER;
	uint64_t unmatched = a->calls->counts.unmatched;
	enum calls_result got;
	struct call done;

	got = calls_next(a->calls, ev, &done);
	if (a->failed)
		return -1;
	if (a->calls->out_of_memory)
		return error_no_memory(e);
	if (ev->type->kind == KIND_DROP)
		return 0;
	if (a->target->keeps_kernel && ev->type->flags & (TYPE_KERNEL | TYPE_INNER)) {
		a->calls->counts.unmatched = unmatched;
		return convert_unchanged(a, t, ev, e);
	}
	if (got == CALLS_NONE)
		return 0;
	if (numbered && !a->target->nests)
		return convert_numbered(a, t, got == CALLS_ENTER ? CONVERT_ENTER : CONVERT_LEAVE,
					done.location, done.data);
	t->lost = t->lost && numbered && got == CALLS_ENTER;
	return got == CALLS_ENTER ? convert_enter(a, t, done.data) : convert_leave(a, t, &done);
}

/* --- calls of calls_restore --- */

/* End a call that is open in the target, but maybe not in the trace: a part of it is missing. */
static void convert_forget(void *ctx, struct stack *s, const struct frame *f, void *data)
{
	static const struct type type = {
		.kind = KIND_LEAVE, .name = {"", 0, 0}, .group = {"", 0, 0}, .word_size = 8};
	struct conversion *a = ctx;
	const struct stack *base = a->calls->stacks[s->number];
	struct event ev = {.type = &type, .lane = base->lane, .time = base->last};
	struct convert_frame *open = data;

	if (!open->open || a->failed)
		return;
	if (open->numbered) {
		a->counts.cut++;
		return;
	}
	a->ev = &ev;
	a->error = a->calls->restored.error;
	a->lost = CLOSED;
	a->failed = target_cut(a, a->threads[s->number], open, f, false);
}

static int convert_restore(void *ctx, const struct event *enter, const struct call *call)
{
	struct conversion *a = ctx;

	if (!a->failed && restored_calls_add(&a->restored, a->calls, enter, call))
		a->failed = error_no_memory(a->calls->restored.error);
	return a->failed ? -1 : 0;
}

/* Test whether a call in the kernel has ended in the target, by a later row of the thread's other
 * calls (cut_kernel). */
static bool was_cut(const struct conversion *a, const struct restored_call *r)
{
	const struct stack *base = a->calls->stacks[r->stack->number];

	return r->stack != base && (base->passed || r->enter.time < base->kernel_since);
}

/* Begin an open call. */
static int convert_begin_call(struct conversion *a, const struct restored_call *r, struct error *e)
{
	const struct event *ev = &r->enter;
	struct convert_thread *t = convert_thread(a, ev->lane, ev->type->flags & TYPE_PER_CPU);
	struct convert_frame *f;

	if (!t)
		return error_no_memory(e);
	if (a->target->keeps_kernel && ev->type->flags & (TYPE_KERNEL | TYPE_INNER))
		return convert_unchanged(a, t, ev, e);
	if (r->stack && (r->stack->frames[0].outside || was_cut(a, r)))
		return 0;
	a->ev = ev;
	f = r->stack ? calls_data(a->calls, r->stack, r->index)
		     : calls_numbered_data(a->calls, r->index);
	return r->stack ? convert_enter(a, t, f)
			: convert_numbered(a, t, CONVERT_ENTER, ev->location, f);
}

/* --- all rows --- */

static int convert_take(void *ctx, const struct event *ev, struct error *e)
{
	struct conversion *a = ctx;
	uint8_t kind = ev->type->kind;
	bool call = kind == KIND_ENTER || kind == KIND_LEAVE || kind == KIND_DROP;
	bool no_thread = kind == KIND_GAP && !(ev->lane->flags & LANE_HAS_TID);
	struct convert_row r = {.what = kind == KIND_GAP ? CONVERT_GAP : CONVERT_EVENT};
	struct convert_thread *t;
	struct values frames;
	struct call done;
	uint64_t count;

	t = no_thread ? NULL : convert_thread(a, ev->lane, call && ev->type->flags & TYPE_PER_CPU);
	if (!t && !no_thread)
		return error_no_memory(e);
	r.thread = t;
	a->rows++;
	a->counts.backtraces += argument_backtrace(ev, &frames, &count);
	a->ev = ev;
	a->error = e;
	a->lost = FIRST_LOST;
	if (call)
		return convert_call(a, t, ev, e);
	/* open calls last until this row */
	calls_next(a->calls, ev, &done);
	if (convert_emit(a, &r, ev, e))
		return -1;
	if (t)
		t->lost |= kind == KIND_GAP;
	return 0;
}

static int convert_start(struct conversion *a, const struct lane *lane, struct error *e)
{
	a->begun = true;
	return a->target->begin ? a->target->begin(a, lane, e) : 0;
}

/* Begin the trace at its first event, and check the clock of each. */
static int check_clock(struct conversion *a, const struct event *ev, struct error *e)
{
	const struct source *source = ev->lane->source;
	bool ticks = ev->lane->clock && ev->lane->clock->flags & CLOCK_TICKS;

	if (!a->begun && convert_start(a, ev->lane, e))
		return -1;
	if (ticks && a->options->tick)
		return 0;
	if (ticks && a->target->needs_time)
		return error_set(e, source ? source->name.text : NULL, NO_OFFSET,
				 "the clock of the trace counts ticks%s; " TICK_HINT,
				 source && !strcmp(source->format.text, "apitrace")
					 ? ", one for each call and return"
					 : "");
	clocks_note(&a->clocks, ev->lane);
	return clocks_check(&a->clocks, TICK_HINT, e);
}

int convert_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct conversion *a = en->state;

	if (check_clock(a, ev, e))
		return -1;
	a->counts.with_cpu += ev->lane->flags & LANE_HAS_CPU && ev->type->kind != KIND_GAP;
	return a->target->nests ? overlap_take(&a->overlap, ev, e) : convert_take(a, ev, e);
}

/* Begin the open calls, at the times of their enters. No row waits: a HEAD precedes them. */
static int convert_restored(void *ctx, bool last)
{
	struct conversion *a = ctx;
	size_t n = restored_calls_sort(&a->restored);

	(void)last;
	a->error = a->calls->restored.error;
	for (size_t i = 0; i < n && !a->failed; i++)
		if (check_clock(a, &a->restored.list[i].enter, a->error) ||
		    convert_begin_call(a, &a->restored.list[i], a->error))
			return -1;
	return a->failed ? -1 : 0;
}

int convert_flush(struct conversion *a, struct error *e)
{
	if (!a->begun && convert_start(a, NULL, e))
		return -1;
	return overlap_end(&a->overlap, e);
}
