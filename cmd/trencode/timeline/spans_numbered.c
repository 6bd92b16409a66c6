/*
 * spans_numbered.c - calls that the source has numbered: they may overlap, and each is a span by
 * itself
 */
#include <stdlib.h>

#include "common/stream/field.h"
#include "cmd/trencode/timeline/spans.h"

/* As in common/calls: enters without leaves must not take all memory. */
enum { OPEN_LIMIT = 1 << 20 };

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
	n->open = false;
	n->after = (uint32_t)s->numbered_free;
	s->numbered_free = index + 1;
}

/* Returns the serial of the call on top of the stack of calls without a number, 0 if none. */
static uint64_t numbered_top(const struct span_thread *th)
{
	return th->user.count ? th->user.frames[th->user.count - 1].serial : 0;
}

static int numbered_end(struct spans *s, size_t index, const struct event *leave, uint64_t time,
			struct error *e)
{
	struct span_numbered *n = &s->numbered[index];
	uint64_t last = time < n->frame.start ? n->frame.start : time;
	struct span span = {
		.lane = n->frame.lane,
		.type = n->frame.type,
		.thread = n->thread,
		.location = leave && leave->location ? leave->location : n->frame.location,
		.level = n->level,
		.beside = n->frame.beside,
		.start = n->frame.start,
		.end = last,
		.self = last - n->frame.start,
		.has_self = true,
		.begun = true,
		.unfinished = !leave,
		.crossing = n->after || n->inside != numbered_top(&s->threads[n->thread]),
		.kept = &n->kept,
		.kept_size = n->kept.size,
		.token = n->frame.token};

	numbered_unlink(s, &s->threads[n->thread], index);
	if (s->sink->end && s->sink->end(s->ctx, &span, leave, e))
		return -1;
	buffer_clear(&s->numbered[index].kept);
	return 0;
}

static int numbered_begin(struct spans *s, const struct event *ev, uint32_t call, struct error *e)
{
	uint32_t thread = calls_thread(ev);
	struct span_numbered *n;
	size_t index;

	if (open_calls_count(&s->open) >= OPEN_LIMIT) {
		s->cut++;
		return 0;
	}
	if (s->numbered_free) {
		index = s->numbered_free - 1;
		s->numbered_free = s->numbered[index].after;
	} else {
		n = array_grow(s->numbered, &s->numbered_capacity, s->nnumbered, sizeof(*n));
		if (!n)
			return error_no_memory(e);
		s->numbered = n;
		index = s->nnumbered++;
		n[index] = (struct span_numbered){0};
	}
	n = &s->numbered[index];
	n->frame = (struct span_frame){
		.start = ev->time, .lane = ev->lane, .type = ev->type, .location = ev->location};
	n->frame.beside = (uint32_t)s->threads[thread].user.count;
	n->inside = numbered_top(&s->threads[thread]);
	n->kept.size = 0;
	n->kept.spills = true;
	n->thread = thread;
	n->open = true;
	numbered_link(s, &s->threads[thread], index);
	if (open_calls_put(&s->open, ev->lane->source->number, call, index))
		return error_no_memory(e);
	if (!s->sink->begin)
		return 0;
	return s->sink->begin(s->ctx, ev,
			      &(struct span){.lane = ev->lane,
					     .type = ev->type,
					     .thread = thread,
					     .location = ev->location,
					     .level = n->level,
					     .start = ev->time,
					     .begun = true,
					     .crossing = n->before != 0},
			      &n->kept, &n->frame.token, e);
}

int spans_numbered_event(struct spans *s, const struct event *ev, struct error *e)
{
	uint64_t index;
	uint32_t call;

	if (!field_call(ev, &call))
		return 0;
	if (ev->type->kind == KIND_ENTER) {
		/* the leave of an open call with this number was not recorded */
		if (open_calls_take(&s->open, ev->lane->source->number, call, &index)) {
			s->cut++;
			if (numbered_end(s, index, NULL, ev->time, e))
				return -1;
		}
		return numbered_begin(s, ev, call, e);
	}
	if (!open_calls_take(&s->open, ev->lane->source->number, call, &index)) {
		s->unmatched++;
		return 0;
	}
	return numbered_end(s, index, ev, ev->time, e);
}

int spans_numbered_finish(struct spans *s, struct error *e)
{
	for (size_t i = 0; i < s->nthreads; i++)
		while (s->threads[i].numbered) {
			s->unfinished++;
			if (numbered_end(s, s->threads[i].numbered - 1, NULL, s->threads[i].last,
					 e))
				return -1;
		}
	return 0;
}

void spans_numbered_free(struct spans *s)
{
	for (size_t i = 0; i < s->nnumbered; i++)
		buffer_free(&s->numbered[i].kept);
	free(s->numbered);
	open_calls_free(&s->open);
}
