#include "cmd/trencode/convert/overlap.h"

#include <stdlib.h>

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/stream/field.h"
#include "cmd/trencode/encoder.h"

enum { ROWS_MOST = 4096, BYTES_MOST = 1 << 20, OPEN_MOST = 1 << 20 };

/* states of a row in the ring */
enum { READY, WAITING, LEFT_OUT };

/* states of a call in inside */
enum { CALL_OPEN = 1, CALL_LEFT_OUT };

static struct overlap_row *overlap_row_at(struct overlap *o, uint64_t number)
{
	return &o->rows[(o->first + (size_t)(number - o->number)) & (o->capacity - 1)];
}

/* Decide a call that waited too long to know whether it nests. In a thread with calls of a stack it
 * must nest, so it is left out there. */
static int overlap_too_long(struct overlap *o, struct overlap_row *r)
{
	uint32_t call = 0;

	if (!o->threads[r->ev.lane->thread].stacked || !field_call(&r->ev, &call))
		return 0;
	r->state = LEFT_OUT;
	o->left_out++;
	return open_calls_put(&o->inside, r->ev.lane->source->number, call, CALL_LEFT_OUT);
}

/* Pass the first rows that need not wait to next. force: the first row, even if it waits. */
static int overlap_flush(struct overlap *o, bool force, struct error *e)
{
	while (o->count) {
		struct overlap_row *r = &o->rows[o->first];

		if (r->state == WAITING && !force)
			break;
		if (r->state == WAITING && overlap_too_long(o, r))
			return error_no_memory(e);
		force = false;
		if (r->state != LEFT_OUT && o->next(o->ctx, &r->ev, e))
			return -1;
		o->bytes -= r->size;
		free(r->data);
		r->data = NULL;
		o->first = (o->first + 1) & (o->capacity - 1);
		o->count--;
		o->number++;
	}
	return 0;
}

static int overlap_grow(struct overlap *o)
{
	size_t capacity = o->capacity ? 2 * o->capacity : 64;
	struct overlap_row *rows = calloc(capacity, sizeof *rows);

	if (!rows)
		return -1;
	for (size_t i = 0; i < o->count; i++)
		rows[i] = o->rows[(o->first + i) & (o->capacity - 1)];
	free(o->rows);
	o->rows = rows;
	o->capacity = capacity;
	o->first = 0;
	return 0;
}

/* Append a row to the waiting rows, or pass it to next at once if none waits. */
static int overlap_put(struct overlap *o, const struct event *ev, uint8_t state, struct error *e)
{
	size_t fixed = align_up(ev->type->fixed_size, 8), size = fixed + ev->tail_size;
	struct overlap_row *r;

	if (!o->count && state == READY) {
		o->number++;
		return o->next(o->ctx, ev, e);
	}
	while (o->count && (o->count >= ROWS_MOST || o->bytes + size > BYTES_MOST))
		if (overlap_flush(o, true, e))
			return -1;
	if (o->count == o->capacity && overlap_grow(o))
		return error_no_memory(e);
	r = &o->rows[(o->first + o->count) & (o->capacity - 1)];
	*r = (struct overlap_row){.ev = *ev, .size = size, .state = state};
	r->data = malloc(size + 1);
	if (!r->data)
		return error_no_memory(e);
	if (ev->type->fixed_size)
		memcpy(r->data, ev->fixed, ev->type->fixed_size);
	if (ev->tail_size)
		memcpy(r->data + fixed, ev->tail, ev->tail_size);
	r->ev.fixed = r->data;
	r->ev.tail = ev->tail ? r->data + fixed : NULL;
	o->bytes += size;
	o->count++;
	return overlap_flush(o, false, e);
}

static struct overlap_thread *thread_of(struct overlap *o, const struct event *ev)
{
	struct overlap_thread *t =
		array_reach(o->threads, &o->threads_size, ev->lane->thread, sizeof *t);

	if (!t)
		return NULL;
	o->threads = t;
	return &t[ev->lane->thread];
}

static int overlap_enter(struct overlap *o, struct overlap_thread *t, const struct event *ev,
			 uint32_t call, struct error *e)
{
	struct overlap_open *open;
	/* in a trace of numbered calls alone the outermost call nests */
	bool waits = t->count || !encoder_all_numbered(ev->type);

	o->numbered = true;
	if (open_calls_count(&o->inside) >= OPEN_MOST)
		return overlap_put(o, ev, READY, e);
	open = array_grow(t->open, &t->capacity, t->count, sizeof *open);
	if (!open || open_calls_put(&o->inside, ev->lane->source->number, call, CALL_OPEN))
		return error_no_memory(e);
	t->open = open;
	open[t->count++] = (struct overlap_open){.row = o->number + o->count, .call = call};
	return overlap_put(o, ev, waits ? WAITING : READY, e);
}

/* Leave out a call that is open while a call below it is left. */
static int overlap_leave_out(struct overlap *o, const struct overlap_open *c, uint32_t source)
{
	uint64_t state;

	if (c->row >= o->number) {
		overlap_row_at(o, c->row)->state = LEFT_OUT;
		o->left_out++;
	}
	/* the call may have ended after it had waited too long */
	return open_calls_take(&o->inside, source, c->call, &state)
		       ? open_calls_put(&o->inside, source, c->call, CALL_LEFT_OUT)
		       : 0;
}

static bool is_call(const struct overlap_open *c, uint32_t call)
{
	return c->what == OVERLAP_NUMBERED && c->call == call;
}

/* Leave out a numbered call in which a call of the stack began that is open, if it still waits. */
static bool leave_out_below(struct overlap *o, struct overlap_thread *t, uint32_t call)
{
	size_t at = t->count, least = at > ROWS_MOST ? at - ROWS_MOST : 0;
	bool stack = false;

	while (at > least && !is_call(&t->open[at - 1], call))
		stack |= t->open[--at].what == OVERLAP_STACK;
	if (at == least || !stack || t->open[at - 1].row < o->number)
		return false;
	overlap_row_at(o, t->open[at - 1].row)->state = LEFT_OUT;
	o->left_out++;
	t->open[at - 1].what = OVERLAP_OVER;
	return true;
}

static const struct overlap_open *overlap_pop(struct overlap_thread *t)
{
	const struct overlap_open *c = &t->open[--t->count];

	if (c->what == OVERLAP_STACK)
		t->top = c->below;
	return c;
}

static int overlap_leave(struct overlap *o, struct overlap_thread *t, const struct event *ev,
			 uint32_t call, struct error *e)
{
	uint32_t source = ev->lane->source->number;
	uint64_t state;

	if (!open_calls_take(&o->inside, source, call, &state))
		return overlap_put(o, ev, READY, e);
	if (state == CALL_LEFT_OUT)
		return 0;
	if (leave_out_below(o, t, call))
		return overlap_flush(o, false, e);
	while (t->count) {
		const struct overlap_open *c = overlap_pop(t);

		if (c->what != OVERLAP_NUMBERED)
			continue;
		if (c->call == call) {
			if (c->row >= o->number)
				overlap_row_at(o, c->row)->state = READY;
			break;
		}
		if (overlap_leave_out(o, c, source))
			return error_no_memory(e);
	}
	return overlap_put(o, ev, READY, e);
}

/* --- calls of the stack --- */

/* End the call on top of the stack: open calls that began in it overlap with it. */
static int pop_stack(struct overlap *o, struct overlap_thread *t, uint32_t source)
{
	while (t->count) {
		const struct overlap_open *c = overlap_pop(t);

		if (c->what == OVERLAP_STACK)
			break;
		if (c->what == OVERLAP_NUMBERED && overlap_leave_out(o, c, source))
			return -1;
	}
	return 0;
}

static int overlap_stack_call(struct overlap *o, const struct event *ev, struct error *e)
{
	struct overlap_thread *t = thread_of(o, ev);
	uint32_t depth = ev->type->flags & TYPE_DEPTH ? ev->depth : UINT32_MAX;
	uint32_t source = ev->lane->source->number;
	bool enter = ev->type->kind == KIND_ENTER;
	struct overlap_open *open;

	if (!t)
		return error_no_memory(e);
	t->stacked = true;
	/* calls whose leaves were not recorded */
	while (depth != UINT32_MAX && t->top &&
	       (enter ? t->open[t->top - 1].depth >= depth : t->open[t->top - 1].depth > depth))
		if (pop_stack(o, t, source))
			return error_no_memory(e);
	if (!enter) {
		bool here = !t->top || depth == UINT32_MAX || t->open[t->top - 1].depth == depth;

		return here && pop_stack(o, t, source) ? error_no_memory(e)
						       : overlap_put(o, ev, READY, e);
	}
	open = array_grow(t->open, &t->capacity, t->count, sizeof *open);
	if (!open)
		return error_no_memory(e);
	t->open = open;
	open[t->count] =
		(struct overlap_open){.what = OVERLAP_STACK, .depth = depth, .below = t->top};
	t->top = ++t->count;
	return overlap_put(o, ev, READY, e);
}

int overlap_take(struct overlap *o, const struct event *ev, struct error *e)
{
	struct overlap_thread *t;
	uint32_t call;

	if (ev->type->kind != KIND_ENTER && ev->type->kind != KIND_LEAVE)
		return overlap_put(o, ev, READY, e);
	if (!(ev->type->flags & TYPE_CALL_NUMBER) || !field_call(ev, &call))
		return o->numbered && !(ev->type->flags & (TYPE_INNER | TYPE_KERNEL | TYPE_PER_CPU))
			       ? overlap_stack_call(o, ev, e)
			       : overlap_put(o, ev, READY, e);
	t = thread_of(o, ev);
	if (!t)
		return error_no_memory(e);
	return ev->type->kind == KIND_ENTER ? overlap_enter(o, t, ev, call, e)
					    : overlap_leave(o, t, ev, call, e);
}

int overlap_end(struct overlap *o, struct error *e)
{
	while (o->count)
		if (overlap_flush(o, true, e))
			return -1;
	return 0;
}

void overlap_free(struct overlap *o)
{
	while (o->count) {
		free(o->rows[o->first].data);
		o->first = (o->first + 1) & (o->capacity - 1);
		o->count--;
	}
	free(o->rows);
	for (size_t i = 0; i < o->threads_size; i++)
		free(o->threads[i].open);
	free(o->threads);
	open_calls_free(&o->inside);
	*o = (struct overlap){0};
}
