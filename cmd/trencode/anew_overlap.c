#include "anew_overlap.h"

#include <stdlib.h>

#include "common/buffer.h"
#include "common/error.h"
#include "common/field.h"

enum { ROWS_MOST = 4096, BYTES_MOST = 1 << 20, OPEN_MOST = 1 << 20 };

/* of a row that waits */
enum { READY, WAITING, LEFT_OUT };

/* of a call, in inside */
enum { CALL_OPEN = 1, CALL_LEFT_OUT };

static struct overlap_row *row_at(struct overlap *o, uint64_t number)
{
	return &o->rows[(o->first + (size_t)(number - o->number)) & (o->capacity - 1)];
}

/* Rows from the first on that need not wait. force: the first one need not. */
static int flush(struct overlap *o, bool force, struct error *e)
{
	while (o->count) {
		struct overlap_row *r = &o->rows[o->first];

		if (r->state == WAITING && !force)
			break;
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

static int grow(struct overlap *o)
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

/* The row behind all others, or on at once where none waits. */
static int put(struct overlap *o, const struct event *ev, uint8_t state, struct error *e)
{
	size_t fixed = align_up(ev->type->fixed_size, 8), size = fixed + ev->tail_size;
	struct overlap_row *r;

	if (!o->count && state == READY) {
		o->number++;
		return o->next(o->ctx, ev, e);
	}
	while (o->count && (o->count >= ROWS_MOST || o->bytes + size > BYTES_MOST))
		if (flush(o, true, e))
			return -1;
	if (o->count == o->capacity && grow(o))
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
	return flush(o, false, e);
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

static int enter(struct overlap *o, struct overlap_thread *t, const struct event *ev, uint32_t call,
		 struct error *e)
{
	struct overlap_open *open;
	bool inside = t->count > 0;

	if (open_calls_count(&o->inside) >= OPEN_MOST)
		return put(o, ev, READY, e);
	open = array_grow(t->open, &t->capacity, t->count, sizeof *open);
	if (!open || open_calls_put(&o->inside, ev->lane->source->number, call, CALL_OPEN))
		return error_no_memory(e);
	t->open = open;
	open[t->count++] = (struct overlap_open){o->number + o->count, call};
	return put(o, ev, inside ? WAITING : READY, e);
}

/* The call that was entered last is still open while one below it is left. */
static int leave_out(struct overlap *o, const struct overlap_open *c, uint32_t source)
{
	if (c->row >= o->number) {
		row_at(o, c->row)->state = LEFT_OUT;
		o->left_out++;
	}
	return open_calls_put(&o->inside, source, c->call, CALL_LEFT_OUT);
}

static int leave(struct overlap *o, struct overlap_thread *t, const struct event *ev, uint32_t call,
		 struct error *e)
{
	uint32_t source = ev->lane->source->number;
	uint64_t state;

	if (!open_calls_take(&o->inside, source, call, &state))
		return put(o, ev, READY, e);
	if (state == CALL_LEFT_OUT)
		return 0;
	while (t->count) {
		const struct overlap_open *c = &t->open[--t->count];

		if (c->call == call) {
			if (c->row >= o->number)
				row_at(o, c->row)->state = READY;
			break;
		}
		if (leave_out(o, c, source))
			return error_no_memory(e);
	}
	return put(o, ev, READY, e);
}

int overlap_take(struct overlap *o, const struct event *ev, struct error *e)
{
	struct overlap_thread *t;
	uint32_t call;

	if (!(ev->type->flags & TYPE_CALL_NUMBER) || !field_call(ev, &call) ||
	    (ev->type->kind != KIND_ENTER && ev->type->kind != KIND_LEAVE))
		return put(o, ev, READY, e);
	t = thread_of(o, ev);
	if (!t)
		return error_no_memory(e);
	return ev->type->kind == KIND_ENTER ? enter(o, t, ev, call, e) : leave(o, t, ev, call, e);
}

int overlap_end(struct overlap *o, struct error *e)
{
	while (o->count)
		if (flush(o, true, e))
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
