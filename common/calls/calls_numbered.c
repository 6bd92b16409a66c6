/*
 * calls_numbered.c - calls with numbers, which may overlap within one thread
 */
#include "common/util/buffer.h"
#include "common/calls/calls_private.h"
#include "common/stream/field.h"

int calls_number_open(struct calls *c, uint32_t source, uint32_t call,
		      const struct numbered_call *open)
{
	struct numbered_call *n;
	size_t index;

	if (c->numbered_free) {
		index = c->numbered_free - 1;
		n = &c->numbered[index];
		c->numbered_free = n->next;
	} else {
		n = array_grow(c->numbered, &c->numbered_capacity, c->nnumbered, sizeof(*n));
		if (!n)
			goto fail;
		c->numbered = n;
		index = c->nnumbered++;
		n += index;
	}
	*n = *open;
	n->number = call;
	if (!open_calls_put(&c->open, source, call, index))
		return 0;
fail:
	c->out_of_memory = true;
	return -1;
}

int calls_number_enter(struct calls *c, const struct event *e, uint32_t call)
{
	struct numbered_call n = {e->time, e->lane, e->type, e->location, call, 0};

	return calls_number_open(c, e->lane->source->number, call, &n);
}

static enum calls_result numbered_enter(struct calls *c, const struct event *e, uint32_t call)
{
	if (open_calls_count(&c->open) >= CALLS_NUMBERED_LIMIT) {
		c->dropped++;
		return CALLS_NONE;
	}
	return calls_number_enter(c, e, call) ? CALLS_NONE : CALLS_ENTER;
}

static enum calls_result numbered_leave(struct calls *c, const struct event *e, uint32_t call,
					struct call *done)
{
	struct numbered_call *n;
	uint64_t index, total;

	if (!open_calls_take(&c->open, e->lane->source->number, call, &index)) {
		if (c->partial)
			return cut_keep_numbered(c, e);
		c->unmatched++;
		return CALLS_NONE;
	}
	n = &c->numbered[index];
	total = e->time > n->start ? e->time - n->start : 0;
	*done = (struct call){.lane = n->lane,
			      .location = e->location ? e->location : n->location,
			      .start = n->start,
			      .end = e->time,
			      .total = total,
			      .self = total};
	n->next = (uint32_t)c->numbered_free;
	c->numbered_free = (size_t)index + 1;
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
	return e->type->kind == KIND_LEAVE ? numbered_leave(c, e, call, done) : CALLS_NONE;
}

bool calls_numbered_finish(struct calls *c, struct call *done)
{
	const struct numbered_call *n;
	uint64_t index, end;

	if (!open_calls_take_any(&c->open, &index))
		return false;
	n = &c->numbered[index];
	end = c->stacks[n->lane->thread]->last;
	end = end > n->start ? end : n->start;
	*done = (struct call){.lane = n->lane,
			      .location = n->location,
			      .start = n->start,
			      .end = end,
			      .total = end - n->start,
			      .self = end - n->start,
			      .unfinished = true,
			      .type = n->type,
			      .number = n->number};
	c->unfinished++;
	return true;
}
