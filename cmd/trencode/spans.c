/*
 * spans.c - calls as spans with a begin and an end, for timelines
 */
#include "cmd/trencode/spans.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/convert.h"
#include "common/calls/calls.h"

static int spans_reach_thread(struct spans *s, uint32_t number, struct error *e)
{
	return ARRAY_REACH(s->threads, s->nthreads, number) ? error_no_memory(e) : 0;
}

/* --- begin and end --- */

/* Begin a call; keep: the buffer for its bytes. */
static int spans_begin(struct spans *s, const struct event *enter, struct span *span,
		       struct span_frame *f, struct buffer *keep)
{
	f->start = span->start = enter->time;
	f->lane = span->lane = enter->lane;
	f->type = span->type = enter->type;
	f->location = span->location = enter->location;
	f->kept = keep->size;
	f->kept_size = 0;
	f->token = 0;
	span->begun = true;
	span->restored = s->restoring;
	if (!s->sink->begin)
		return 0;
	keep->spills = true;
	if (s->sink->begin(s->ctx, enter, span, keep, &f->token, s->error))
		return -1;
	f->kept_size = keep->size - f->kept;
	return 0;
}

/* Pass a call that was begun to the sink's end or drop. */
static int spans_end(struct spans *s, struct span *span, const struct event *leave)
{
	if (span->dropped)
		return s->sink->drop ? s->sink->drop(s->ctx, span, s->error) : 0;
	return s->sink->end ? s->sink->end(s->ctx, span, leave, s->error) : 0;
}

/*
 * Calls that the source has numbered: they may overlap, and each is a span by
 * itself.
 */

static void numbered_link(struct spans *s, struct span_thread *th, size_t index)
{
	struct span_numbered *n = &s->numbered[index];

	n->before = th->numbered;
	n->after = 0;
	if (n->before)
		s->numbered[n->before - 1].after = (uint32_t)index + 1;
	n->level = n->before ? s->numbered[n->before - 1].level + 1 : 0;
	th->numbered = (uint32_t)index + 1;
}

static void numbered_unlink(struct spans *s, struct span_thread *th, size_t index)
{
	struct span_numbered *n = &s->numbered[index];

	if (n->before)
		s->numbered[n->before - 1].after = n->after;
	if (n->after)
		s->numbered[n->after - 1].before = n->before;
	else
		th->numbered = n->before;
	n->after = (uint32_t)s->numbered_free;
	s->numbered_free = index + 1;
}

/* Get the serial of the call on top of the thread's stack, 0 if none. */
static uint64_t numbered_top(const struct spans *s, uint32_t thread)
{
	const struct stack *stack = s->calls->stacks[thread];

	return stack->count ? spans_frame(s, stack, stack->count - 1)->serial : 0;
}

static int spans_numbered_begin(struct spans *s, const struct event *enter, struct span_frame *f)
{
	uint32_t thread = calls_thread(enter);
	const struct stack *stack = s->calls->stacks[thread];
	struct span_numbered *n;
	struct span span = {.thread = thread};
	size_t index;

	if (s->numbered_free) {
		index = s->numbered_free - 1;
		s->numbered_free = s->numbered[index].after;
	} else {
		if (ARRAY_GROW(s->numbered, s->numbered_capacity, s->nnumbered))
			return error_no_memory(s->error);
		index = s->nnumbered++;
		s->numbered[index] = (struct span_numbered){0};
	}
	n = &s->numbered[index];
	f->number = (uint32_t)index + 1;
	f->beside = (uint32_t)(stack->count - (stack->count && !stack->frames[0].begun));
	f->serial = s->threads[thread].serial = ++s->serial;
	n->inside = numbered_top(s, thread);
	n->kept.size = 0;
	n->thread = thread;
	numbered_link(s, &s->threads[thread], index);
	span.level = n->level;
	span.crossing = n->before != 0;
	return spans_begin(s, enter, &span, f, &n->kept);
}

static int spans_numbered_end(struct spans *s, const struct span_frame *f, struct span *span,
			      const struct event *leave)
{
	size_t index = f->number - 1;
	struct span_numbered *n = &s->numbered[index];

	span->lane = f->lane;
	span->type = f->type;
	span->thread = n->thread;
	span->level = n->level;
	span->beside = f->beside;
	span->start = f->start;
	span->self = span->end - span->start;
	span->begun = true;
	span->around = s->threads[n->thread].serial > f->serial;
	span->crossing = n->after || n->inside != numbered_top(s, n->thread);
	span->kept = &n->kept;
	span->kept_size = n->kept.size;
	span->token = f->token;
	numbered_unlink(s, &s->threads[n->thread], index);
	if (spans_end(s, span, leave))
		return -1;
	buffer_clear(&n->kept);
	return 0;
}

/* --- calls on a stack --- */

/* Begin a call on a stack. */
static int spans_push(struct spans *s, const struct stack *stack, const struct event *enter,
		      struct span_frame *f)
{
	bool kernel = stack != s->calls->stacks[stack->number];
	struct span span = {.thread = stack->number,
			    .level = (uint32_t)stack->count - 1 + stack->unseen,
			    .kernel = kernel};
	struct buffer *kept = spans_kept(s, stack->number, kernel);
	uint32_t last = s->threads[stack->number].numbered;

	if (stack->count == 1 && kept->size)
		buffer_clear(kept);
	f->kernel = kernel;
	f->serial = s->threads[stack->number].serial = ++s->serial;
	f->beside = last ? s->numbered[last - 1].level + 1 : 0;
	return spans_begin(s, enter, &span, f, kept);
}

/* End a call on a stack, which was begun. */
static int spans_pop(struct spans *s, const struct span_frame *f, struct span *span,
		     const struct event *leave)
{
	struct buffer *kept = spans_kept(s, span->thread, f->kernel);
	const struct stack *stack = s->calls->stacks[span->thread];

	span->stack = f->kernel ? stack->kernel : stack;
	span->lane = f->lane;
	span->type = f->type;
	span->start = f->start;
	span->token = f->token;
	span->entered = f->location;
	span->begun = true;
	span->crossing = f->crossing;
	span->kernel = f->kernel;
	span->beside = f->beside;
	span->kept = kept;
	span->kept_at = f->kept;
	span->kept_size = f->kept_size;
	if (spans_end(s, span, leave))
		return -1;
	kept->size = f->kept;
	if (__builtin_expect(kept->file && !kept->size, 0))
		buffer_clear(kept);
	return 0;
}

/* End a call, at its leave or at the end of the trace. */
static int spans_done(struct spans *s, const struct call *done, uint32_t thread,
		      const struct event *leave)
{
	const struct span_frame *f = done->data;
	struct span span = {.lane = done->lane,
			    .type = leave ? leave->type : done->type,
			    .thread = thread,
			    .location = done->location,
			    .caller = done->caller,
			    .level = done->level,
			    .start = done->start,
			    .end = done->end,
			    .self = done->self,
			    .has_self = true,
			    .recursive = done->recursive,
			    .unfinished = !leave};

	if (f)
		return f->number ? spans_numbered_end(s, f, &span, leave)
				 : spans_pop(s, f, &span, leave);
	return s->sink->end ? s->sink->end(s->ctx, &span, leave, s->error) : 0;
}

/* Describe a call that has no leave. */
static struct span spans_unfinished(const struct spans *s, const struct stack *stack,
				    const struct frame *frame)
{
	const struct stack *base = s->calls->stacks[stack->number];
	struct span span = {.thread = stack->number,
			    .location = frame->location,
			    .level = (uint32_t)stack->count + stack->unseen,
			    .end = base->last < frame->start ? frame->start : base->last,
			    .unfinished = true};

	if (stack != base)
		span.level += (uint32_t)base->count + base->unseen;
	return span;
}

/* End a call that has no leave. */
static void spans_lose(void *ctx, struct stack *stack, const struct frame *frame, void *data,
		       enum calls_lost why)
{
	struct spans *s = ctx;
	struct span span = spans_unfinished(s, stack, frame);

	span.exec = why == LOST_EXEC;
	s->lost++;
	if (s->failed)
		return;
	s->failed = why == LOST_NUMBER ? spans_numbered_end(s, data, &span, NULL)
				       : spans_pop(s, data, &span, NULL);
}

static void spans_forget(void *ctx, struct stack *stack, const struct frame *frame, void *data)
{
	struct spans *s = ctx;
	const struct span_frame *f = data;
	struct span span = spans_unfinished(s, stack, frame);

	span.dropped = true;
	s->error = s->calls->restored.error;
	if (!s->failed)
		s->failed = f->number ? spans_numbered_end(s, f, &span, NULL)
				      : spans_pop(s, f, &span, NULL);
}

/* --- calls of calls_restore --- */

/* Begin an open call. */
static int spans_restore(void *ctx, const struct event *enter, const struct call *call)
{
	struct spans *s = ctx;

	s->restoring = true;
	s->error = s->calls->restored.error;
	s->failed = s->failed || (s->sink->restore && s->sink->restore(s->ctx, enter, s->error)) ||
		    spans_reach_thread(s, calls_thread(enter), s->error) ||
		    (!call->on			   ? spans_numbered_begin(s, enter, call->data)
		     : call->on->frames[0].outside ? 0
						   : spans_push(s, call->on, enter, call->data));
	s->restoring = false;
	return s->failed ? -1 : 0;
}

static int spans_restored(void *ctx, bool last)
{
	struct spans *s = ctx;

	(void)last;
	s->failed = s->failed ||
		    (s->sink->restore && s->sink->restore(s->ctx, NULL, s->calls->restored.error));
	return s->failed ? -1 : 0;
}

/* --- the run --- */

void spans_init(struct spans *s, struct encoding *en, const struct span_sink *sink, void *ctx)
{
	*s = (struct spans){.sink = sink, .ctx = ctx};
	s->calls = en->calls;
	s->calls->data_size = sizeof(struct span_frame);
	s->calls->on_lost = spans_lose;
	s->calls->on_forget = spans_forget;
	s->calls->on_restore = spans_restore;
	s->calls->restored.done = spans_restored;
	s->calls->on_lost_ctx = s->calls->on_restore_ctx = s->calls->restored.ctx = s;
}

void spans_free(struct spans *s)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		buffer_free(&s->threads[i].kept);
		buffer_free(&s->threads[i].kernel_kept);
	}
	free(s->threads);
	for (size_t i = 0; i < s->nnumbered; i++)
		buffer_free(&s->numbered[i].kept);
	free(s->numbered);
}

/* --- events --- */

/* Mark the open calls in the kernel, if this row is of the thread's other calls. */
static void spans_cross_kernel(struct spans *s, const struct event *ev)
{
	const struct stack *kernel = s->calls->stacks[calls_thread(ev)]->kernel;

	if (__builtin_expect(!kernel || !kernel->count, 1) ||
	    ev->type->flags & (TYPE_CALL_NUMBER | TYPE_KERNEL | TYPE_INNER))
		return;
	for (size_t i = 0; i < kernel->count; i++)
		spans_frame(s, kernel, i)->crossing = true;
}

/* Take an event that is not for the engine's fast path. */
static int spans_slow(struct spans *s, const struct event *ev, uint32_t thread)
{
	uint8_t kind = ev->type->kind;
	struct call call;
	enum calls_result got = calls_next(s->calls, ev, &call);

	if (s->failed)
		return -1;
	if (s->calls->out_of_memory)
		return error_no_memory(s->error);
	if (kind != KIND_ENTER && kind != KIND_LEAVE)
		return kind != KIND_DROP && s->sink->other ? s->sink->other(s->ctx, ev, s->error)
							   : 0;
	spans_cross_kernel(s, ev);
	if (got == CALLS_LEAVE)
		return spans_done(s, &call, thread, ev);
	if (got == CALLS_NONE)
		return 0;
	return call.on ? spans_push(s, call.on, ev, call.data)
		       : spans_numbered_begin(s, ev, call.data);
}

int spans_event(struct spans *s, const struct event *ev, struct error *e)
{
	uint32_t thread = calls_thread(ev);
	struct call call;

	if (spans_reach_thread(s, thread, e))
		return -1;
	s->error = e;
	switch (calls_quick_event(s->calls, ev, &call)) {
	case CALLS_ENTER: return spans_push(s, call.on, ev, call.data);
	case CALLS_LEAVE:
		return spans_pop(s, call.data,
				 &(struct span){.thread = thread,
						.location = call.location,
						.caller = call.caller,
						.level = call.level,
						.end = call.end,
						.self = call.self,
						.has_self = true,
						.recursive = call.recursive},
				 ev);
	default: return spans_slow(s, ev, thread);
	}
}

/* --- the end --- */

int spans_finish(struct spans *s, struct error *e)
{
	struct call done;

	s->error = e;
	while (calls_finish(s->calls, &done))
		if (s->failed || spans_reach_thread(s, (uint32_t)s->calls->end.thread, e) ||
		    spans_done(s, &done, (uint32_t)s->calls->end.thread, NULL))
			return -1;
	return s->failed ? -1 : 0;
}

void spans_report(const struct spans *s, bool drop)
{
	convert_report_calls(&s->calls->counts, s->lost, drop, s->keeps_open);
}
