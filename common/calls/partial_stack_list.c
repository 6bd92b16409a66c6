/*
 * partial_stack_list.c - the list of operations of a partial stack, from its first one to the open
 * calls
 */
#include <stdlib.h>

#include "common/calls/partial_stack_private.h"
#include "common/stream/value.h"

static int no_memory(struct calls *c)
{
	c->out_of_memory = true;
	return -1;
}

void cut_free(struct partial_stack *u)
{
	if (!u)
		return;
	free(u->ops);
	buffer_free(&u->bytes);
	free(u);
}

static struct cut_op *add(struct calls *c, struct partial_stack *u, enum cut_kind kind)
{
	struct cut_op *op = array_grow(u->ops, &u->capacity, u->count, sizeof(*op));

	if (!op) {
		no_memory(c);
		return NULL;
	}
	u->ops = op;
	op += u->count++;
	*op = (struct cut_op){.kind = kind};
	return op;
}

static struct partial_stack *new_cut(struct calls *c, enum cut_kind first)
{
	struct partial_stack *u = calloc(1, sizeof(*u));

	if (u && add(c, u, first)) {
		u->bound = UINT32_MAX;
		return u;
	}
	free(u);
	no_memory(c);
	return NULL;
}

int cut_begin(struct calls *c, struct stack *s)
{
	struct frame unknown = {.depth = UINT32_MAX - 1};

	s->kept = s->cut = new_cut(c, CUT_BEGIN);
	if (!s->cut || !calls_push(c, s, &unknown))
		return -1;
	s->cut->kernel = KERNEL_ROWS;
	s->started = true;
	calls_set_limits(s);
	return 0;
}

/* Add the time of callees since the last operation to that operation. */
static void settle(struct stack *s)
{
	struct cut_op *last = &s->cut->ops[s->cut->count - 1];

	last->charge += s->frames[0].child;
	last->inner_charge += s->cut->inner_charge;
	s->frames[0].child = 0;
	s->cut->inner_charge = 0;
}

/* Do the same for the list of a stack. */
static struct cut_op *add_of(struct calls *c, struct stack *s, struct partial_stack *u,
			     enum cut_kind kind)
{
	struct cut_op *op = add(c, u, kind);

	if (op && calls_left_out(c, s))
		op->flags = CUT_LEFT_OUT;
	return op;
}

/* Append an operation on the unknown frames. */
struct cut_op *cut_next(struct calls *c, struct stack *s, enum cut_kind kind)
{
	settle(s);
	return add_of(c, s, s->cut, kind);
}

/* Forget the older calls: none is open any more, and all frames are known from here on. */
void cut_end(struct stack *s)
{
	settle(s);
	s->cut = NULL;
	s->count = 0;
	calls_set_limits(s);
}

void cut_set_bound(struct stack *s, uint32_t depth)
{
	if (depth >= s->cut->bound)
		return;
	s->cut->bound = depth;
	s->frames[0].depth = depth - 1;
}

void cut_forget(struct calls *c, struct stack *s)
{
	cut_next(c, s, CUT_FORGET);
	cut_end(s);
}

static uint32_t definition_number(void *ctx, uint32_t id)
{
	const struct definition *d = dictionary_definition_id(ctx, id);

	return d ? d->number : 0;
}

/* Its values name definitions by the ids of the segment; the list outlives the segment. */
static int put_tail(struct calls *c, struct partial_stack *u, const struct event *e)
{
	size_t before = u->bytes.size;

	if (!(e->type->flags & TYPE_VALUES))
		return buffer_append(&u->bytes, e->tail, e->tail_size);
	if (!values_copy(&u->bytes, e->tail, e->tail_size, definition_number, c->dictionary))
		return 0;
	u->bytes.size = before;
	return buffer_append(&u->bytes, e->tail, e->tail_size);
}

static int put_row(struct calls *c, struct partial_stack *u, struct cut_op *op,
		   const struct event *e)
{
	op->time = e->time;
	op->type = e->type;
	op->lane = e->lane;
	op->location = e->location;
	op->depth = e->depth;
	op->data = u->bytes.size;
	if (buffer_append(&u->bytes, e->fixed, e->type->fixed_size) || put_tail(c, u, e))
		return no_memory(c);
	op->tail_size = (uint32_t)(u->bytes.size - op->data - e->type->fixed_size);
	return 0;
}

enum calls_result cut_keep(struct calls *c, struct stack *s, const struct event *e)
{
	struct cut_op *op = cut_next(c, s, CUT_ROW);

	return op && !put_row(c, s->cut, op, e) ? CALLS_KEPT : CALLS_NONE;
}

enum calls_result cut_keep_numbered(struct calls *c, const struct event *e)
{
	struct cut_op *op;

	if (!c->rows)
		c->rows = new_cut(c, CUT_BEGIN);
	op = c->rows ? add(c, c->rows, CUT_ROW) : NULL;
	return op && !put_row(c, c->rows, op, e) ? CALLS_KEPT : CALLS_NONE;
}

void cut_event(const struct partial_stack *u, const struct cut_op *op, struct event *e)
{
	const uint8_t *data = u->bytes.data + op->data;

	*e = (struct event){.time = op->time,
			    .type = op->type,
			    .lane = op->lane,
			    .location = op->location,
			    .depth = op->depth,
			    .fixed = data,
			    .tail = op->type->flags & TYPE_TAIL ? data + op->type->fixed_size
								: NULL,
			    .tail_size = op->tail_size};
}

/* --- adding the open calls --- */

static int push_op(struct calls *c, struct stack *s, struct partial_stack *u, bool kernel,
		   const struct frame *f, uint8_t flags)
{
	struct cut_op *op = add_of(c, s, u, kernel ? CUT_PUSH_KERNEL : CUT_PUSH);

	if (!op)
		return -1;
	op->flags |= (uint8_t)(flags | (f->inner ? CUT_INNER : 0) |
			       (kernel && f->outside ? CUT_OUTSIDE : 0) |
			       ((kernel || f->inner) && f->doubtful ? CUT_DOUBTFUL : 0) |
			       (f->begun ? 0 : CUT_UNSEEN));
	op->type = kernel ? s->kernel->type : NULL;
	op->location = f->location;
	op->depth = f->depth;
	op->time = f->start;
	op->charge = f->child;
	return c->on_push ? c->on_push(c->on_push_ctx, s, kernel, op) : 0;
}

static int push_kernel_ops(struct calls *c, struct stack *s, struct partial_stack *u)
{
	struct stack *k = s->kernel;
	struct cut_op *op;
	size_t n = k ? k->count : 0;

	for (size_t i = 0; i < n; i++) {
		k->count = i + 1;
		if (push_op(c, s, u, true, &k->frames[i], 0))
			return -1;
	}
	if (!n)
		return 0;
	op = add_of(c, s, u, CUT_KERNEL);
	if (!op)
		return -1;
	op->time = s->kernel_since;
	op->depth = s->passed;
	k->count = 0;
	return 0;
}

static int push_ops(struct calls *c, struct stack *s, struct partial_stack *u)
{
	size_t n = s->count;
	uint8_t flags = s->cut && s->cut->relative ? CUT_RELATIVE : 0;

	for (size_t i = s->cut != NULL; i < n; i++) {
		s->count = i + 1;
		if (push_op(c, s, u, false, &s->frames[i], flags))
			return -1;
	}
	return push_kernel_ops(c, s, u);
}

/* Keep all further rows unchanged. */
int cut_begin_raw(struct calls *c, struct stack *s)
{
	settle(s);
	if (push_ops(c, s, s->cut))
		return -1;
	s->count = 1;
	s->exec = 0;
	memset(s->buckets, 0, (s->mask + 1) * sizeof(*s->buckets));
	s->cut->raw = true;
	s->cut->relative = false;
	calls_set_limits(s);
	return 0;
}

enum calls_result cut_keep_all(struct calls *c, struct stack *s, const struct event *e)
{
	return cut_begin_raw(c, s) ? CALLS_NONE : cut_keep(c, s, e);
}

int cut_close(struct calls *c, struct stack *s)
{
	struct partial_stack *u = s->kept;
	struct cut_op *op;

	if (!u) {
		u = s->kept = new_cut(c, CUT_SET);
		if (!u)
			return -1;
		u->ops[0].location = s->started;
		u->ops[0].depth = s->implicit;
		u->ops[0].time = s->implicit_start;
	}
	if (s->cut)
		settle(s);
	if (push_ops(c, s, u))
		return -1;
	op = add_of(c, s, u, CUT_LAST);
	if (!op)
		return -1;
	op->time = s->last;
	op->lane = s->lane;
	op->type = s->type;
	return 0;
}

int cut_close_numbered(struct calls *c)
{
	uint64_t key, index;

	if (!c->rows && open_calls_count(&c->open))
		c->rows = new_cut(c, CUT_BEGIN);
	while (open_calls_take_next(&c->open, &key, &index)) {
		const struct numbered_call *n = &c->numbered[index];
		struct cut_op *op = c->rows ? add(c, c->rows, CUT_PUSH_NUMBERED) : NULL;

		if (!op)
			return -1;
		op->time = n->start;
		op->lane = n->lane;
		op->type = n->type;
		op->location = n->location;
		op->depth = (uint32_t)(key - 1);
		if (c->on_push && c->on_push(c->on_push_ctx, NULL, false, op))
			return -1;
	}
	return 0;
}
