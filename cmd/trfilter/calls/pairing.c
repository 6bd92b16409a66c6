#include "cmd/trfilter/calls/pairing_private.h"

#include <stdlib.h>

#include "common/util/buffer.h"
#include "common/stream/field.h"

void pairing_free(struct pairing *p)
{
	for (size_t i = 0; i < p->size; i++)
		free(p->stacks[i].frames);
	free(p->stacks);
	open_calls_free(&p->numbered);
	*p = (struct pairing){.lost = p->lost, .ctx = p->ctx};
}

static void pairing_lose(struct pairing *p, uint32_t note)
{
	if (p->lost)
		p->lost(p->ctx, note);
}

/* Pop the top of a stack, which ended without a leave. */
static void pairing_pop(struct pairing *p, struct pairing_stack *s)
{
	const struct pairing_frame *f = &s->frames[--s->count];

	p->ended |= pairing_ended(f->note, f->inner);
	pairing_lose(p, f->note);
}

struct pairing_stack *pairing_new_stack(struct pairing *p, uint32_t number)
{
	struct pairing_stack *stacks;
	size_t size = p->size ? p->size : 64;

	while (size <= number)
		size *= 2;
	stacks = realloc(p->stacks, size * sizeof *stacks);
	if (!stacks) {
		p->out_of_memory = true;
		return NULL;
	}
	memset(stacks + p->size, 0, (size - p->size) * sizeof *stacks);
	p->stacks = stacks;
	p->size = size;
	return &stacks[number];
}

static inline struct pairing_stack *stack_of(struct pairing *p, const struct event *e)
{
	uint32_t thread = e->type->flags & TYPE_PER_CPU ? e->lane->cpu_thread : e->lane->thread;

	/* calls in the kernel have their own depths */
	thread = 2 * thread + !!(e->type->flags & TYPE_KERNEL);
	return pairing_stack(p, thread);
}

static struct pairing_frame *top(struct pairing_stack *s)
{
	return s->count ? &s->frames[s->count - 1] : NULL;
}

/* Returns the depth of the next enter, where depths are not recorded. */
static uint32_t next_depth(struct pairing_stack *s)
{
	return s->count ? top(s)->depth + 1 : 0;
}

void pairing_push(struct pairing *p, struct pairing_stack *s, const struct pairing_frame *f)
{
	struct pairing_frame *frames;

	if (s->count < s->capacity && s->count < PAIRING_LIMIT) {
		s->frames[s->count++] = *f;
		return;
	}
	if (s->count == PAIRING_LIMIT) {
		s->count /= 2;
		for (size_t i = 0; i < s->count; i++)
			pairing_lose(p, s->frames[i].note);
		memmove(s->frames, s->frames + s->count, s->count * sizeof *s->frames);
	}
	frames = array_grow(s->frames, &s->capacity, s->count, sizeof *frames);
	if (!frames) {
		p->out_of_memory = true;
		return;
	}
	s->frames = frames;
	frames[s->count++] = *f;
}

void pairing_enter(struct pairing *p, const struct event *e, uint32_t note)
{
	struct pairing_frame f = {.inner = !!(e->type->flags & TYPE_INNER), .note = note};
	struct pairing_stack *s;
	uint32_t call;

	if (e->type->flags & TYPE_CALL_NUMBER) {
		if (!field_call(e, &call) || open_calls_count(&p->numbered) >= PAIRING_LIMIT)
			pairing_lose(p, note);
		else if (open_calls_put(&p->numbered, e->lane->source->number, call, note))
			p->out_of_memory = true;
		return;
	}
	s = stack_of(p, e);
	if (!s)
		return;
	f.depth = next_depth(s);
	if (!f.inner && e->type->flags & TYPE_DEPTH) {
		/* calls as deep as the enter ended without a leave */
		f.depth = e->depth;
		while (s->count && top(s)->depth >= f.depth)
			pairing_pop(p, s);
	}
	pairing_push(p, s, &f);
}

bool pairing_leave(struct pairing *p, const struct event *e, uint32_t *note)
{
	bool inner = e->type->flags & TYPE_INNER, depth = e->type->flags & TYPE_DEPTH && !inner;
	struct pairing_stack *s;
	uint64_t value;
	uint32_t call;

	if (e->type->flags & TYPE_CALL_NUMBER) {
		if (!field_call(e, &call) ||
		    !open_calls_take(&p->numbered, e->lane->source->number, call, &value))
			return false;
		*note = (uint32_t)value;
		return true;
	}
	s = stack_of(p, e);
	if (!s)
		return false;
	/* a leave also ends all calls above its own */
	while (s->count && !inner &&
	       (top(s)->inner ? !depth || top(s)->depth >= e->depth
			      : depth && top(s)->depth > e->depth))
		pairing_pop(p, s);
	if (!s->count || top(s)->inner != inner || (depth && top(s)->depth != e->depth))
		return false;
	*note = top(s)->note;
	s->count--;
	return true;
}

void pairing_drop(struct pairing *p, const struct event *e)
{
	struct pairing_stack *s = stack_of(p, e);
	bool inner = e->type->flags & TYPE_INNER;

	while (s && s->count && (inner ? top(s)->inner : top(s)->depth >= e->depth))
		pairing_pop(p, s);
}
