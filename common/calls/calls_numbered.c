/*
 * calls_numbered.c - calls with numbers, which may overlap within one thread
 */
#include <stdlib.h>

#include "common/calls/calls_private.h"
#include "common/util/buffer.h"
#include "common/stream/field.h"

/* Make room for one more call, and for its data. */
static int numbered_grow(struct calls *c)
{
	size_t capacity = c->numbered.capacity;

	if (ARRAY_GROW(c->numbered.calls, capacity, c->numbered.count))
		return -1;
	if (c->data_size && capacity > c->numbered.capacity) {
		uint8_t *data = reallocarray(c->numbered.data, capacity, c->data_size);

		if (!data)
			return -1;
		c->numbered.data = data;
	}
	c->numbered.capacity = capacity;
	return 0;
}

static inline __attribute__((always_inline)) struct numbered_call *
numbered_new(struct calls *c, uint32_t source, uint32_t call)
{
	struct numbered_call *n;
	size_t index;

	if (c->numbered.free) {
		index = c->numbered.free - 1;
		c->numbered.free = c->numbered.calls[index].next;
	} else {
		if (numbered_grow(c))
			goto fail;
		index = c->numbered.count++;
	}
	n = &c->numbered.calls[index];
	n->number = call;
	n->serial = ++c->numbered.serial;
	n->replaced = false;
	c->data = NULL;
	if (c->data_size)
		c->data = calls_clear_data(c, calls_numbered_data(c, index));
	if (!open_calls_put(&c->open, source, call, index))
		return n;
fail:
	c->out_of_memory = true;
	return NULL;
}

struct numbered_call *calls_number_new(struct calls *c, uint32_t source, uint32_t call)
{
	return numbered_new(c, source, call);
}

/* Take a call out of the table. Its slot and its data are valid until the next enter. */
static const struct numbered_call *numbered_close(struct calls *c, size_t index)
{
	struct numbered_call *n = &c->numbered.calls[index];

	calls_number_free(c, index);
	c->data = calls_numbered_data(c, index);
	return n;
}

/* Discard a call whose number another call has now. */
static void numbered_lose(struct calls *c, size_t index)
{
	const struct numbered_call *n = numbered_close(c, index);
	struct frame f = {.start = n->start, .location = n->location, .begun = true};

	c->counts.lost++;
	if (c->on_lost)
		c->on_lost(c->on_lost_ctx, c->pairs_only ? NULL : c->stacks[n->thread], &f, c->data,
			   LOST_NUMBER);
}

static inline __attribute__((always_inline)) int number_enter(struct calls *c,
							      const struct event *e, uint32_t call)
{
	uint32_t source = e->lane->source->number;
	struct numbered_call *n;
	uint64_t index;

	if (c->numbers_on_stacks)
		return calls_nested_enter(c, c->stacks[calls_thread(e)], e, call);
	if (__builtin_expect(open_calls_take(&c->open, source, call, &index), 0))
		numbered_lose(c, index);
	n = numbered_new(c, source, call);
	if (!n)
		return -1;
	n->start = e->time;
	n->lane = e->lane;
	n->type = e->type;
	n->location = e->location;
	n->stack = event_stack(c->dictionary, e);
	n->thread = calls_thread(e);
	return 0;
}

int calls_number_enter(struct calls *c, const struct event *e, uint32_t call)
{
	return number_enter(c, e, call);
}

static enum calls_result numbered_enter(struct calls *c, const struct event *e, uint32_t call)
{
	if (open_calls_count(&c->open) >= CALLS_NUMBERED_LIMIT) {
		c->counts.lost++;
		return CALLS_NONE;
	}
	return number_enter(c, e, call) ? CALLS_NONE : CALLS_ENTER;
}

static enum calls_result numbered_leave(struct calls *c, const struct event *e, uint32_t call,
					struct call *done)
{
	const struct numbered_call *n;
	uint64_t index, total;

	if (!open_calls_take(&c->open, e->lane->source->number, call, &index)) {
		c->counts.unmatched++;
		return CALLS_NONE;
	}
	n = numbered_close(c, index);
	total = e->time > n->start ? e->time - n->start : 0;
	*done = (struct call){.lane = n->lane,
			      .location = e->location ? e->location : n->location,
			      .start = n->start,
			      .end = n->start + total,
			      .total = total,
			      .self = total,
			      .stack = n->stack};
	return CALLS_LEAVE;
}

enum calls_result calls_numbered(struct calls *c, struct stack *s, const struct event *e,
				 struct call *done)
{
	uint32_t call;

	s->last = e->time;
	s->lane = e->lane;
	if (!field_call(e, &call))
		return CALLS_NONE;
	if (e->type->kind == KIND_ENTER)
		return numbered_enter(c, e, call);
	if (e->type->kind == KIND_LEAVE && c->numbers_on_stacks)
		return calls_nested_leave(c, s, e, call, done);
	return e->type->kind == KIND_LEAVE ? numbered_leave(c, e, call, done) : CALLS_NONE;
}

static int by_thread_and_begin(const void *a, const void *b)
{
	const struct numbered_end *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread > y->thread ? 1 : -1;
	return x->serial < y->serial ? 1 : -1;
}

/* List the open calls, the last of which ends first. */
static void list_ends(struct calls *c)
{
	uint64_t index;
	size_t n = 0;

	c->numbered.ends = calloc(open_calls_count(&c->open), sizeof(*c->numbered.ends));
	if (!c->numbered.ends) {
		c->out_of_memory = true;
		return;
	}
	while (open_calls_take_any(&c->open, &index))
		c->numbered.ends[n++] =
			(struct numbered_end){.thread = c->numbered.calls[index].thread,
					      .index = (uint32_t)index,
					      .serial = c->numbered.calls[index].serial};
	qsort(c->numbered.ends, n, sizeof(*c->numbered.ends), by_thread_and_begin);
	c->numbered.nends = n;
}

bool calls_numbered_finish(struct calls *c, struct call *done)
{
	const struct numbered_call *n;
	uint64_t end;

	if (open_calls_count(&c->open) && !c->numbers_on_stacks)
		list_ends(c);
	if (c->numbered.ended == c->numbered.nends)
		return false;
	n = numbered_close(c, c->numbered.ends[c->numbered.ended++].index);
	end = c->stacks[n->thread]->last;
	end = end > n->start ? end : n->start;
	*done = (struct call){.lane = n->lane,
			      .location = n->location,
			      .start = n->start,
			      .end = end,
			      .total = end - n->start,
			      .self = end - n->start,
			      .unfinished = true,
			      .stack = n->stack,
			      .type = n->type,
			      .number = n->number};
	c->counts.unfinished++;
	return true;
}
