#include "cmd/trencode/timeline/spans.h"

#include <inttypes.h>
#include <stdlib.h>

void spans_init(struct spans *s, struct dictionary *d, const struct span_sink *sink, void *ctx)
{
	*s = (struct spans){.sink = sink, .ctx = ctx};
	calls_init(&s->calls, d);
}

static void span_free_stack(struct span_stack *st)
{
	free(st->frames);
	buffer_free(&st->kept);
}

void spans_free(struct spans *s)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		span_free_stack(&s->threads[i].user);
		span_free_stack(&s->threads[i].kernel);
	}
	free(s->threads);
	spans_numbered_free(s);
	calls_free(&s->calls);
}

struct span_thread *spans_thread(struct spans *s, uint32_t number)
{
	struct span_thread *threads =
		array_reach(s->threads, &s->nthreads, number, sizeof(*threads));

	if (!threads)
		return NULL;
	s->threads = threads;
	return &threads[number];
}

/* --- a stack --- */

static inline uint32_t level_of_top(const struct span_stack *st)
{
	return st->base + (uint32_t)st->count - 1;
}

static void span_fill(struct span *span, struct span_stack *st, const struct span_frame *f)
{
	span->stack = st;
	span->lane = f->lane;
	span->type = f->type;
	span->start = f->start;
	span->token = f->token;
	span->begun = true;
	span->crossing = f->crossing;
	span->beside = f->beside;
	span->kept = &st->kept;
	span->kept_at = f->kept;
	span->kept_size = st->kept.size - f->kept;
}

static inline void span_pop(struct span_stack *st)
{
	st->kept.size = st->frames[--st->count].kept;
	if (__builtin_expect(st->kept.file && !st->kept.size, 0))
		buffer_clear(&st->kept);
}

/* Test whether the call on top is an exec that succeeded. */
static bool ends_in_exec(const struct spans *s, const struct span_stack *st)
{
	uint32_t location = st->frames[st->count - 1].location;

	return location < s->calls.special_size && s->calls.special[location] == LOCATION_EXEC;
}

/* End the calls from level on without a leave. */
static int span_cut_from(struct spans *s, struct span_stack *st, uint32_t thread, uint32_t level,
			 uint64_t time, bool kernel, struct error *e)
{
	bool exec = st->count && level <= st->base && ends_in_exec(s, st);

	while (st->count && level_of_top(st) >= level) {
		const struct span_frame *f = &st->frames[st->count - 1];
		struct span span = {.thread = thread,
				    .location = f->location,
				    .level = level_of_top(st),
				    .end = time < f->start ? f->start : time,
				    .unfinished = true,
				    .exec = exec,
				    .kernel = kernel};

		span_fill(&span, st, f);
		s->cut++;
		if (s->sink->end && s->sink->end(s->ctx, &span, NULL, e))
			return -1;
		span_pop(st);
	}
	return 0;
}

static int span_begin(struct spans *s, struct span_stack *st, const struct event *ev,
		      uint32_t thread, uint32_t level, bool kernel, struct error *e)
{
	struct span_frame *frames =
		array_grow(st->frames, &st->capacity, st->count, sizeof(*frames));
	struct span_frame *f;

	if (!frames)
		return error_no_memory(e);
	st->frames = frames;
	if (!st->count)
		st->base = level;
	f = &frames[st->count++];
	*f = (struct span_frame){.start = ev->time,
				 .kept = st->kept.size,
				 .lane = ev->lane,
				 .type = ev->type,
				 .location = ev->location,
				 .beside = spans_numbered_open(s, thread),
				 .serial = ++s->serial};
	if (!s->sink->begin)
		return 0;
	st->kept.spills = true;
	return s->sink->begin(s->ctx, ev,
			      &(struct span){.lane = ev->lane,
					     .type = ev->type,
					     .thread = thread,
					     .location = ev->location,
					     .level = level,
					     .start = ev->time,
					     .begun = true,
					     .kernel = kernel},
			      &st->kept, &f->token, e);
}

/* End a call. level is that in this stack; done->level also counts the calls below the stack. */
static int span_end(struct spans *s, struct span_stack *st, const struct event *leave,
		    uint32_t thread, uint32_t level, const struct call *done, bool kernel,
		    struct error *e)
{
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
			    .unfinished = !leave,
			    .kernel = kernel};
	bool begun = st->count && level_of_top(st) == level;
	int r;

	if (begun)
		span_fill(&span, st, &st->frames[st->count - 1]);
	r = s->sink->end ? s->sink->end(s->ctx, &span, leave, e) : 0;
	if (begun)
		span_pop(st);
	return r;
}

/* --- events --- */

/* Mark the open calls in the kernel as crossing, when a row of the thread's other calls is read. */
static int span_pass_kernel(struct spans *s, struct span_thread *th, const struct stack *stack,
			    const struct event *ev, struct error *e)
{
	struct span_stack *st = &th->kernel;

	if (span_cut_from(s, st, calls_thread(ev),
			  stack->kernel ? (uint32_t)stack->kernel->count : 0, ev->time, true, e))
		return -1;
	for (size_t i = 0; i < st->count; i++)
		st->frames[i].crossing = true;
	return 0;
}

static int span_call_event(struct spans *s, struct span_thread *th, const struct event *ev,
			   enum calls_result result, const struct call *done, struct error *e)
{
	uint32_t thread = calls_thread(ev);
	const struct stack *base = s->calls.stacks[thread], *stack = calls_stack(&s->calls, ev);
	bool kernel = stack != base;
	struct span_stack *st = kernel ? &th->kernel : &th->user;
	uint32_t open = (uint32_t)stack->count + (kernel ? 0 : stack->implicit);

	if (!kernel && th->kernel.count && span_pass_kernel(s, th, base, ev, e))
		return -1;
	switch (result) {
	case CALLS_ENTER:
		return span_cut_from(s, st, thread, open - 1, ev->time, kernel, e) ||
				       span_begin(s, st, ev, thread, open - 1, kernel, e)
			       ? -1
			       : 0;
	case CALLS_LEAVE:
		return span_cut_from(s, st, thread, open + 1, ev->time, kernel, e) ||
				       span_end(s, st, ev, thread, open, done, kernel, e)
			       ? -1
			       : 0;
	default: return span_cut_from(s, st, thread, open, ev->time, kernel, e);
	}
}

int spans_event(struct spans *s, const struct event *ev, struct error *e)
{
	uint8_t kind = ev->type->kind;
	bool call = kind == KIND_ENTER || kind == KIND_LEAVE;
	struct span_thread *th;
	enum calls_result result;
	struct call done;

	th = spans_thread(s, calls_thread(ev));
	if (!th)
		return error_no_memory(e);
	th->last = ev->time;
	th->lane = ev->lane;
	if (ev->type->flags & TYPE_CALL_NUMBER && call)
		return spans_numbered_event(s, ev, e);
	result = calls_feed(&s->calls, ev, &done);
	if (s->calls.out_of_memory)
		return error_no_memory(e);
	if (call)
		return span_call_event(s, th, ev, result, &done, e);
	return s->sink->other ? s->sink->other(s->ctx, ev, e) : 0;
}

/* --- the end --- */

int spans_finish(struct spans *s, struct error *e)
{
	struct call done;

	while (calls_finish(&s->calls, &done)) {
		uint32_t number = (uint32_t)s->calls.finishing;
		struct span_thread *th = spans_thread(s, number);
		const struct stack *base = s->calls.stacks[number];
		bool kernel = done.type && done.type->flags & TYPE_KERNEL;
		uint32_t level = kernel ? (uint32_t)base->kernel->count : done.level;

		if (!th)
			return error_no_memory(e);
		if (span_end(s, kernel ? &th->kernel : &th->user, NULL, number, level, &done,
			     kernel, e))
			return -1;
	}
	s->unfinished += s->calls.unfinished;
	s->unmatched += s->calls.unmatched;
	/* calls that an exec has ended */
	for (size_t i = 0; i < s->nthreads; i++) {
		struct span_thread *th = &s->threads[i];

		if (span_cut_from(s, &th->kernel, (uint32_t)i, 0, th->last, true, e) ||
		    span_cut_from(s, &th->user, (uint32_t)i, 0, th->last, false, e))
			return -1;
	}
	return spans_numbered_finish(s, e);
}

void spans_report(const struct spans *s, bool drop)
{
	if (s->unfinished)
		warn(NULL, NO_OFFSET,
		     "%" PRIu64 " calls had not returned at the end of the trace: %s",
		     s->unfinished,
		     drop	     ? "dropped"
		     : s->keeps_open ? "written without an end"
				     : "closed at their thread's last event");
	if (s->cut)
		warn(NULL, NO_OFFSET,
		     "%" PRIu64 " calls ended without a return (a longjmp, an exec, lost events): "
		     "%s",
		     s->cut, drop ? "dropped" : "closed at the next event of their thread");
	if (s->unmatched)
		warn(NULL, NO_OFFSET,
		     "%" PRIu64 " returns of calls whose beginning is not there: left out",
		     s->unmatched);
	if (s->calls.outside)
		warn(NULL, NO_OFFSET, "%" PRIu64 " " CALLS_OUTSIDE, s->calls.outside);
	if (s->calls.apart)
		warn(NULL, NO_OFFSET, "%" PRIu64 " " CALLS_APART, s->calls.apart);
}
