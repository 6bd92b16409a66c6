#include "cmd/trencode/convert/overlap.h"

#include <stdlib.h>

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/stream/field.h"
#include "cmd/trencode/encoder.h"
#include "common/calls/calls.h"

enum { ROWS_MOST = 4096, BYTES_MOST = 1 << 20, OPEN_MOST = 1 << 20 };

/* states of a row in the ring */
enum { READY, WAITING, LEFT_OUT };

/* The data of an open call. */
struct overlap_call {
	uint64_t row; /* number of its enter's row + 1; 0: it does not wait */
	uint32_t number;
	bool numbered; /* has a number, and was not left */
};

static void overlap_lose(void *ctx, struct stack *s, const struct frame *f, void *data,
			 enum calls_lost why);
static int overlap_restore(void *ctx, const struct event *enter, const struct call *call);
static int overlap_restored(void *ctx, bool last);

void overlap_init(struct overlap *o, struct dictionary *d, overlap_next *next, void *ctx)
{
	*o = (struct overlap){.next = next, .ctx = ctx};
	calls_init(&o->calls, d);
	o->calls.numbers_on_stacks = true;
	o->calls.data_size = sizeof(struct overlap_call);
	o->calls.on_lost = overlap_lose;
	o->calls.on_restore = overlap_restore;
	o->calls.restored.done = overlap_restored;
	o->calls.on_lost_ctx = o->calls.on_restore_ctx = o->calls.restored.ctx = o;
}

static struct overlap_row *overlap_row_at(struct overlap *o, uint64_t number)
{
	return &o->rows[(o->first + (size_t)(number - o->number)) & (o->capacity - 1)];
}

/* Set the state of a call's enter, if it waits. Returns whether it does. */
static bool overlap_decide(struct overlap *o, const struct overlap_call *c, uint8_t state)
{
	if (c->row <= o->number)
		return false;
	overlap_row_at(o, c->row - 1)->state = state;
	o->left_out += state == LEFT_OUT;
	return true;
}

/* Leave out the leave of a call, too. */
static int overlap_leave_out(struct overlap *o, uint32_t source, uint32_t call)
{
	return open_calls_count(&o->leave) < OPEN_MOST ? open_calls_put(&o->leave, source, call, 0)
						       : 0;
}

/* Decide a call that waited too long to know whether it nests. In a thread with calls of a stack it
 * must nest, so it is left out there. */
static int overlap_too_long(struct overlap *o, struct overlap_row *r)
{
	uint32_t call = 0;

	if (!o->calls.stacks[calls_thread(&r->ev)]->started || !field_call(&r->ev, &call))
		return 0;
	r->state = LEFT_OUT;
	o->left_out++;
	return overlap_leave_out(o, r->ev.lane->source->number, call);
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

/* Leave out a call with a number that is open while a call below it is left. */
static void overlap_lose(void *ctx, struct stack *s, const struct frame *f, void *data,
			 enum calls_lost why)
{
	struct overlap *o = ctx;
	const struct overlap_call *c = data;
	uint32_t source;

	(void)f;
	(void)why;
	if (!c->numbered)
		return;
	source = s->lane->source->number;
	overlap_decide(o, c, LEFT_OUT);
	/* another call may have its number now */
	if (!open_calls_has(&o->calls.open, source, c->number) &&
	    overlap_leave_out(o, source, c->number))
		o->calls.out_of_memory = true;
}

/* Leave out a call with a number in which a call of the stack is open, if it still waits. */
static bool leave_out_below(struct overlap *o, const struct event *ev, uint32_t call)
{
	const struct stack *s = calls_stack(&o->calls, ev);
	size_t at = s ? s->count : 0, least = at > ROWS_MOST ? at - ROWS_MOST : 0;
	bool stack = false;

	while (at-- > least) {
		struct overlap_call *c = calls_data(&o->calls, s, at);

		stack |= !s->frames[at].numbered;
		if (!c->numbered || c->number != call)
			continue;
		c->numbered = !stack || !overlap_decide(o, c, LEFT_OUT);
		return !c->numbered;
	}
	return false;
}

static int overlap_numbered(struct overlap *o, const struct event *ev, uint32_t call,
			    struct error *e)
{
	const struct stack *s = calls_stack(&o->calls, ev);
	bool enter = ev->type->kind == KIND_ENTER;
	/* in a trace of numbered calls alone the outermost call nests */
	bool waits = enter && ((s && s->count) || !encoder_all_numbered(ev->type));
	struct overlap_call *c;
	struct call done;
	uint64_t none;

	if (open_calls_take(&o->leave, ev->lane->source->number, call, &none) && !enter)
		return 0;
	if (!enter && leave_out_below(o, ev, call))
		return overlap_flush(o, false, e);
	if (calls_next(&o->calls, ev, &done) == CALLS_NONE)
		return o->calls.out_of_memory ? error_no_memory(e) : overlap_put(o, ev, READY, e);
	c = done.data;
	if (enter)
		*c = (struct overlap_call){o->number + o->count + 1, call, true};
	else
		overlap_decide(o, c, READY);
	return overlap_put(o, ev, waits ? WAITING : READY, e);
}

/* Take a call of the stack. */
static int overlap_stack_call(struct overlap *o, const struct event *ev, struct error *e)
{
	struct call done;

	if (o->numbered && !(ev->type->flags & (TYPE_INNER | TYPE_KERNEL | TYPE_PER_CPU)))
		calls_next(&o->calls, ev, &done);
	return o->calls.out_of_memory ? error_no_memory(e) : overlap_put(o, ev, READY, e);
}

int overlap_take(struct overlap *o, const struct event *ev, struct error *e)
{
	uint8_t kind = ev->type->kind;
	uint32_t call;

	if (kind != KIND_ENTER && kind != KIND_LEAVE && kind != KIND_DROP)
		return overlap_put(o, ev, READY, e);
	if (!(ev->type->flags & TYPE_CALL_NUMBER) || !field_call(ev, &call))
		return overlap_stack_call(o, ev, e);
	if (!o->numbered && o->before && calls_copy(&o->calls, o->before))
		return error_no_memory(e);
	o->numbered = true;
	return overlap_numbered(o, ev, call, e);
}

static int overlap_restore(void *ctx, const struct event *enter, const struct call *call)
{
	struct overlap_call *c = call->data;

	(void)ctx;
	if (enter->type->flags & TYPE_CALL_NUMBER && field_call(enter, &c->number))
		c->numbered = true;
	return 0;
}

static int overlap_restored(void *ctx, bool last)
{
	struct overlap *o = ctx;

	(void)last;
	o->numbered = true;
	return 0;
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
	calls_free(&o->calls);
	open_calls_free(&o->leave);
	*o = (struct overlap){0};
}
