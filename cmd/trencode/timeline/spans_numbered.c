/*
 * spans_numbered.c - calls that the source has numbered: they may overlap, and each is a span by
 * itself
 */
#include <stdlib.h>

#include "cmd/trencode/timeline/spans.h"

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

/* Returns the serial of the call on top of the thread's stack, 0 if none. */
static uint64_t numbered_top(const struct spans *s, uint32_t thread)
{
	const struct stack *stack = s->calls->stacks[thread];

	return stack->count ? spans_frame(s, stack, stack->count - 1)->serial : 0;
}

int spans_numbered_begin(struct spans *s, const struct event *enter, struct span_frame *f)
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
		n = s->numbered;
		index = s->nnumbered++;
		n[index] = (struct span_numbered){0};
	}
	n = &s->numbered[index];
	f->number = (uint32_t)index + 1;
	f->beside = (uint32_t)(stack->count - (stack->count && !stack->frames[0].begun));
	n->inside = numbered_top(s, thread);
	n->kept.size = 0;
	n->thread = thread;
	numbered_link(s, &s->threads[thread], index);
	span.level = n->level;
	span.crossing = n->before != 0;
	return spans_begin(s, enter, &span, f, &n->kept);
}

int spans_numbered_end(struct spans *s, const struct span_frame *f, struct span *span,
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

void spans_numbered_free(struct spans *s)
{
	for (size_t i = 0; i < s->nnumbered; i++)
		buffer_free(&s->numbered[i].kept);
	free(s->numbered);
}
