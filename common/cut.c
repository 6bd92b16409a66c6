#include "cut.h"

#include <stdlib.h>

#include "calls_private.h"
#include "value.h"

/* Of a thread that is first seen here, calls in the kernel may be open as long as that many rows of
 * its other calls have not come (calls.c, pass_kernel). */
enum { KERNEL_ROWS = 2 };

static int no_memory(struct calls *c)
{
	c->out_of_memory = true;
	return -1;
}

void cut_free(struct cut *u)
{
	if (!u)
		return;
	free(u->ops);
	buffer_free(&u->bytes);
	free(u);
}

static struct cut_op *add(struct calls *c, struct cut *u, enum cut_kind kind)
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

static struct cut *new_cut(struct calls *c, enum cut_kind first)
{
	struct cut *u = calloc(1, sizeof(*u));

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

/* What callees took since the last operation goes to that. */
static void settle(struct stack *s)
{
	struct cut_op *last = &s->cut->ops[s->cut->count - 1];

	last->charge += s->frames[0].child;
	last->inner_charge += s->cut->inner_charge;
	s->frames[0].child = 0;
	s->cut->inner_charge = 0;
}

/* The next operation on what is not known. */
static struct cut_op *next(struct calls *c, struct stack *s, enum cut_kind kind)
{
	settle(s);
	return add(c, s->cut, kind);
}

/* Nothing of what was before is open any more: from here on all is known. */
static void end_cut(struct stack *s)
{
	settle(s);
	s->cut = NULL;
	s->count = 0;
	calls_set_limits(s);
}

static void set_bound(struct stack *s, uint32_t depth)
{
	if (depth >= s->cut->bound)
		return;
	s->cut->bound = depth;
	s->frames[0].depth = depth - 1;
}

void cut_forget(struct calls *c, struct stack *s)
{
	next(c, s, CUT_FORGET);
	end_cut(s);
}

static uint32_t definition_number(void *ctx, uint32_t id)
{
	const struct definition *d = dictionary_definition_id(ctx, id);

	return d ? d->number : 0;
}

/* Its values name definitions by the ids of the segment, which the list outlives. */
static int put_tail(struct calls *c, struct cut *u, const struct event *e)
{
	size_t before = u->bytes.size;

	if (!(e->type->flags & TYPE_VALUES))
		return buffer_append(&u->bytes, e->tail, e->tail_size);
	if (!values_copy(&u->bytes, e->tail, e->tail_size, definition_number, c->dictionary))
		return 0;
	u->bytes.size = before;
	return buffer_append(&u->bytes, e->tail, e->tail_size);
}

static int put_row(struct calls *c, struct cut *u, struct cut_op *op, const struct event *e)
{
	op->time = e->time;
	op->type = e->type;
	op->lane = e->lane;
	op->place = e->place;
	op->depth = e->depth;
	op->data = u->bytes.size;
	if (buffer_append(&u->bytes, e->fixed, e->type->fixed_size) || put_tail(c, u, e))
		return no_memory(c);
	op->tail_size = (uint32_t)(u->bytes.size - op->data - e->type->fixed_size);
	return 0;
}

static enum calls_result keep(struct calls *c, struct stack *s, const struct event *e)
{
	struct cut_op *op = next(c, s, CUT_ROW);

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

void cut_event(const struct cut *u, const struct cut_op *op, struct event *e)
{
	const uint8_t *data = u->bytes.data + op->data;

	*e = (struct event){.time = op->time,
			    .type = op->type,
			    .lane = op->lane,
			    .place = op->place,
			    .depth = op->depth,
			    .fixed = data,
			    .tail = op->type->flags & TYPE_TAIL ? data + op->type->fixed_size
								: NULL,
			    .tail_size = op->tail_size};
}

/* Was the lowest call that was seen scheduled out at the bottom? It may not be there at all.
 * (Frames of others are pushed in line, which leaves the flag as it was.) */
static bool on_doubt(const struct stack *s)
{
	return s->cut && s->count > 1 && s->frames[1].inner && s->frames[1].doubtful;
}

/* --- what is open goes into the list --- */

static int push_op(struct calls *c, struct stack *s, struct cut *u, bool kernel,
		   const struct frame *f, uint8_t flags)
{
	struct cut_op *op = add(c, u, kernel ? CUT_PUSH_KERNEL : CUT_PUSH);

	if (!op)
		return -1;
	op->flags = (uint8_t)(flags | (f->inner ? CUT_INNER : 0) |
			      (kernel && f->outside ? CUT_OUTSIDE : 0) |
			      ((kernel || f->inner) && f->doubtful ? CUT_DOUBTFUL : 0) |
			      (f->begun ? 0 : CUT_UNSEEN));
	op->place = f->place;
	op->depth = f->depth;
	op->time = f->start;
	op->charge = f->child;
	return c->on_push ? c->on_push(c->on_push_ctx, s, kernel, op) : 0;
}

static int push_kernel_ops(struct calls *c, struct stack *s, struct cut *u)
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
	op = add(c, u, CUT_KERNEL);
	if (!op)
		return -1;
	op->time = s->kernel_since;
	op->depth = s->passed;
	k->count = 0;
	return 0;
}

static int push_ops(struct calls *c, struct stack *s, struct cut *u)
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

/* From here on rows are only kept. */
static int begin_raw(struct calls *c, struct stack *s)
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

static enum calls_result keep_all(struct calls *c, struct stack *s, const struct event *e)
{
	return begin_raw(c, s) ? CALLS_NONE : keep(c, s, e);
}

int cut_close(struct calls *c, struct stack *s)
{
	struct cut *u = s->kept;
	struct cut_op *op;

	if (!u) {
		u = s->kept = new_cut(c, CUT_SET);
		if (!u)
			return -1;
		u->ops[0].place = s->started;
		u->ops[0].depth = s->implicit;
		u->ops[0].time = s->implicit_start;
	}
	if (s->cut)
		settle(s);
	if (push_ops(c, s, u))
		return -1;
	op = add(c, u, CUT_LAST);
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
		op->place = n->place;
		op->depth = (uint32_t)(key - 1);
		if (c->on_push && c->on_push(c->on_push_ctx, NULL, false, op))
			return -1;
	}
	return 0;
}

/* --- rows --- */

/* An enter reaches down to what is not known: nothing that was seen is open. */
static int touch(struct calls *c, struct stack *s, const struct event *e)
{
	bool by_depth = e->type->flags & TYPE_DEPTH;
	const struct cut *u = s->cut;
	const struct cut_op *last = &u->ops[u->count - 1];
	struct cut_op *op;

	if (by_depth ? e->depth >= u->bound
		     : last->kind == CUT_TOUCH && !(last->type->flags & TYPE_DEPTH))
		return 0;
	op = next(c, s, CUT_TOUCH);
	if (!op)
		return -1;
	op->type = e->type;
	op->time = e->time;
	op->lane = e->lane;
	op->depth = e->depth;
	if (by_depth && !e->depth)
		end_cut(s);
	else if (by_depth)
		set_bound(s, e->depth);
	return 0;
}

static void drop_known(struct calls *c, struct stack *s)
{
	while (s->count > 1) {
		pop(s);
		c->dropped++;
	}
	end_exec(s);
}

static void end_relative(struct stack *s)
{
	if (s->cut && s->cut->relative && s->count == 1) {
		s->cut->relative = false;
		calls_set_limits(s);
	}
}

static void begin_relative(struct stack *s)
{
	if (!s->cut || s->count != 2)
		return;
	s->cut->relative = true;
	calls_set_limits(s);
}

static enum calls_result enter(struct calls *c, struct stack *s, const struct event *e)
{
	bool by_depth = e->type->flags & TYPE_DEPTH;
	enum calls_result got;

	if (s->exec && !inside_exec(s, e))
		return calls_enter(c, s, e); /* of which nothing below is left */
	if (by_depth && s->count > 1) {
		if (s->cut->relative)
			return keep_all(c, s, e);
		if (s->frames[1].depth >= e->depth)
			drop_known(c, s);
	}
	/* an exec may be open below, which such an enter ends, and all of this with it; or what is
	   here below it may not be there at all */
	if (on_doubt(s) || (s->count > 1 && !by_depth && !s->cut->relative))
		return keep_all(c, s, e);
	if (s->count > 1)
		return calls_enter(c, s, e);
	if (touch(c, s, e))
		return CALLS_NONE;
	got = calls_enter(c, s, e);
	if (!by_depth && got == CALLS_ENTER)
		begin_relative(s);
	return got;
}

/* A call that was seen whole. */
static enum calls_result left(struct stack *s, struct call *done, bool doubtful)
{
	if (!s->cut)
		return CALLS_LEAVE;
	end_relative(s);
	done->level--;
	done->open = (uint8_t)(OPEN_LEVEL | (s->count == 1 ? OPEN_CALLER : 0) |
			       (done->recursive ? 0 : OPEN_RECURSIVE));
	if (doubtful) {
		done->open |= OPEN_IF_CALL | OPEN_NO_EXEC;
		s->frames[0].child -= done->total;
		s->cut->inner_charge += done->total;
	}
	return CALLS_LEAVE;
}

static enum calls_result leave(struct calls *c, struct stack *s, const struct event *e,
			       struct call *done)
{
	bool by_depth = e->type->flags & TYPE_DEPTH;
	enum calls_result got;

	if (!by_depth) {
		while (s->count > 1 && top(s)->inner)
			pop(s);
		end_relative(s);
		if (s->count == 1)
			return keep(c, s, e);
	} else {
		if (s->cut->relative)
			return keep_all(c, s, e);
		if (s->count == 1 || s->frames[1].depth > e->depth) {
			drop_known(c, s);
			if (e->depth >= s->cut->bound) {
				c->unmatched++;
				return CALLS_NONE;
			}
			got = keep(c, s, e);
			if (!e->depth)
				end_cut(s);
			else
				set_bound(s, e->depth);
			return got;
		}
	}
	got = calls_leave(c, s, e, done);
	return got == CALLS_LEAVE ? left(s, done, false) : got;
}

/* A row was kept: what may be open behind it. */
static void move_bound(struct stack *s, const struct event *e)
{
	struct cut *u = s->cut;

	if (e->type->kind == KIND_ENTER && e->type->flags & TYPE_DEPTH)
		u->bound = e->depth + 1;
	else if (e->type->kind == KIND_ENTER)
		u->bound += u->bound < UINT32_MAX;
	else if (e->type->flags & TYPE_DEPTH && e->depth < u->bound)
		u->bound = e->depth;
	s->frames[0].depth = u->bound ? u->bound - 1 : 0;
}

static enum calls_result inner(struct calls *c, struct stack *s, const struct event *e,
			       struct call *done)
{
	enum calls_result got;
	bool doubtful;

	if (e->type->kind == KIND_ENTER && s->count == 1 && c->no_doubt) {
		move_bound(s, e);
		return keep(c, s, e);
	}
	if (e->type->kind == KIND_ENTER && s->count == 2 && on_doubt(s))
		return keep_all(c, s, e);
	if (e->type->kind == KIND_ENTER) {
		got = calls_enter(c, s, e);
		if (got == CALLS_ENTER && s->count == 2) {
			top(s)->doubtful = true;
			begin_relative(s);
		}
		return got;
	}
	if (s->count == 1)
		return keep(c, s, e);
	doubtful = top(s)->inner && top(s)->doubtful;
	got = calls_leave(c, s, e, done);
	return got == CALLS_LEAVE ? left(s, done, doubtful) : got;
}

/* Calls in the kernel may be open from before. CALLS_SLOW: not any more; the row is to be taken. */
static enum calls_result unknown_kernel(struct calls *c, struct stack *s, const struct event *e)
{
	struct cut *u = s->cut;
	bool is_enter = e->type->kind == KIND_ENTER;
	enum calls_result got = CALLS_SLOW;

	if (e->type->flags & TYPE_KERNEL && is_enter && !e->depth) {
		if (!next(c, s, CUT_CLEAR))
			return CALLS_NONE;
		u->kernel = 0;
	} else {
		got = keep(c, s, e);
		if (e->type->flags & TYPE_KERNEL) {
			u->kernel = KERNEL_ROWS;
		} else {
			u->kernel -= !(e->type->flags & TYPE_INNER);
			move_bound(s, e);
		}
	}
	if (!u->kernel && !u->bound)
		end_cut(s);
	calls_set_limits(s);
	return got;
}

enum calls_result cut_feed(struct calls *c, struct stack *s, const struct event *e,
			   struct call *done)
{
	uint16_t flags = e->type->flags;
	struct cut *u = s->cut;
	bool in_kernel;

	if (e->type->kind != KIND_ENTER && e->type->kind != KIND_LEAVE) {
		bool down = u->raw || (u->kernel && flags & (TYPE_KERNEL | TYPE_INNER));

		return down && c->look_down ? keep(c, s, e) : CALLS_NONE;
	}
	if (u->raw)
		return keep(c, s, e);
	if (u->kernel) {
		enum calls_result got = unknown_kernel(c, s, e);

		if (got != CALLS_SLOW || c->out_of_memory)
			return got;
		if (!s->cut)
			return calls_kernel(c, s, e, done);
	}
	if (flags & TYPE_KERNEL && on_doubt(s))
		return keep_all(c, s, e);
	if (flags & TYPE_KERNEL) {
		bool bottom = s->count == 1 && !(s->kernel && s->kernel->count);

		if (bottom && c->no_doubt && e->type->kind == KIND_ENTER) {
			u->kernel = KERNEL_ROWS;
			calls_set_limits(s);
			return keep(c, s, e);
		}
		/* a leave without its enter: outside any call it is not even that */
		if (bottom && e->type->kind == KIND_LEAVE)
			return keep(c, s, e);
		return calls_kernel(c, s, e, done);
	}
	in_kernel = s->kernel && s->kernel->count;
	if (in_kernel && flags & TYPE_INNER) {
		if (e->type->kind == KIND_ENTER || top(s->kernel)->inner)
			return calls_kernel_inner(c, s, e, done);
	}
	if (in_kernel) {
		/* whether that call counts was to be told by what is below it now */
		if (s->kernel->frames[0].doubtful)
			return keep_all(c, s, e);
		if (!(flags & TYPE_INNER))
			calls_pass_kernel(c, s, e->time);
	}
	if (flags & TYPE_INNER)
		return inner(c, s, e, done);
	return e->type->kind == KIND_ENTER ? enter(c, s, e) : leave(c, s, e, done);
}

/* --- operations of another part --- */

static int repeat(struct calls *c, struct stack *s, const struct cut_op *op)
{
	struct cut_op *copy = next(c, s, op->kind);

	if (!copy)
		return -1;
	*copy = *op;
	/* these come again, by cut_charge */
	if (op->kind != CUT_PUSH && op->kind != CUT_PUSH_KERNEL)
		copy->charge = 0;
	copy->inner_charge = 0;
	return 0;
}

static int apply_touch(struct calls *c, struct stack *s, const struct cut_op *op)
{
	struct event e = {.time = op->time, .type = op->type, .lane = op->lane, .depth = op->depth};
	bool by_depth = op->type->flags & TYPE_DEPTH;

	if (s->exec && !inside_exec(s, &e))
		calls_forget_image(c, s);
	if (s->cut) {
		if (s->count > 1 &&
		    (by_depth ? s->cut->relative : !s->cut->relative || on_doubt(s)))
			return begin_raw(c, s) ? -1 : repeat(c, s, op);
		if (by_depth && s->count > 1) {
			if (s->frames[1].depth < op->depth) {
				drop_from(c, s, op->depth);
				return 0;
			}
		}
		if (by_depth)
			drop_known(c, s);
		return s->count == 1 ? touch(c, s, &e) : 0;
	}
	if (by_depth && (s->started || c->dictionary->filtered)) {
		drop_from(c, s, op->depth);
	} else if (by_depth) {
		s->implicit = op->depth;
		s->implicit_start = op->time;
	}
	s->started = true;
	return 0;
}

static int apply_push(struct calls *c, struct stack *s, const struct cut_op *op)
{
	struct frame f = {.start = op->time,
			  .child = op->charge,
			  .place = op->place,
			  .depth = op->depth,
			  .inner = op->flags & CUT_INNER,
			  .begun = !(op->flags & CUT_UNSEEN)};
	bool bottom = s->cut && s->count == 1;

	if (op->flags & CUT_DOUBTFUL && s->count == 2 && on_doubt(s))
		return begin_raw(c, s) ? -1 : repeat(c, s, op);
	if (op->flags & CUT_DOUBTFUL) {
		if ((s->exec && s->exec == s->count) || (!s->count && !s->implicit))
			return 0;
		f.doubtful = bottom;
	}
	if (op->flags & CUT_RELATIVE)
		f.depth = s->count ? s->frames[s->count - 1].depth + 1 : s->implicit;
	if (!calls_push(c, s, &f))
		return -1;
	if (bottom && op->flags & CUT_RELATIVE)
		begin_relative(s);
	if (f.begun && calls_enters_exec(c, f.place) && !s->exec)
		calls_set_exec(s, s->count);
	return 0;
}

static int apply_push_kernel(struct calls *c, struct stack *s, const struct cut_op *op)
{
	struct frame f = {.start = op->time,
			  .child = op->charge,
			  .place = op->place,
			  .depth = op->depth,
			  .inner = op->flags & CUT_INNER,
			  .outside = op->flags & CUT_OUTSIDE,
			  .begun = !(op->flags & CUT_UNSEEN)};

	if (on_doubt(s))
		return begin_raw(c, s) ? -1 : repeat(c, s, op);
	if (!s->kernel) {
		s->kernel = calls_empty_stack(c);
		if (!s->kernel)
			return -1;
		s->kernel->started = true;
	}
	if (op->flags & CUT_DOUBTFUL) {
		f.outside = !c->dictionary->filtered && !s->count && !s->implicit;
		f.doubtful = !c->dictionary->filtered && s->cut && s->count == 1;
	}
	if (!calls_push(c, s->kernel, &f))
		return -1;
	if (f.begun && calls_enters_exec(c, f.place) && !s->kernel->exec)
		calls_set_exec(s->kernel, s->kernel->count);
	return 0;
}

int cut_apply(struct calls *c, struct stack *s, const struct cut_op *op)
{
	int bad = 0;

	if (s->cut && s->cut->raw && op->kind != CUT_LAST && op->kind != CUT_BEGIN)
		return repeat(c, s, op);
	switch (op->kind) {
	case CUT_SET:
		s->started = op->place;
		s->implicit = op->depth;
		s->implicit_start = op->time;
		break;
	case CUT_TOUCH: bad = apply_touch(c, s, op); break;
	case CUT_FORGET:
		calls_forget_image(c, s);
		s->started = true;
		break;
	case CUT_CLEAR:
		if (s->kernel)
			drop_from(c, s->kernel, 0);
		if (s->cut && s->cut->kernel) {
			s->cut->kernel = 0;
			bad = next(c, s, CUT_CLEAR) ? 0 : -1;
			if (!s->cut->bound)
				end_cut(s);
		}
		break;
	case CUT_PUSH: bad = apply_push(c, s, op); break;
	case CUT_PUSH_KERNEL: bad = apply_push_kernel(c, s, op); break;
	case CUT_KERNEL:
		s->kernel_since = op->time;
		s->passed = op->depth;
		break;
	case CUT_PUSH_NUMBERED:
		return calls_number_open(
			c, op->lane->source->number, op->depth,
			&(struct numbered_call){op->time, op->lane, op->type, op->place, 0, 0});
	case CUT_LAST:
		s->last = op->time;
		s->lane = op->lane;
		s->type = op->type ? op->type : s->type;
		break;
	}
	calls_set_limits(s);
	return bad;
}

void cut_charge(struct calls *c, struct stack *s, const struct cut_op *op)
{
	bool pushed = op->kind == CUT_PUSH || op->kind == CUT_PUSH_KERNEL;

	if (op->charge && !pushed)
		calls_charge(c, s, op->charge);
	if (!op->inner_charge)
		return;
	if (s->cut && s->count == 1)
		s->cut->inner_charge += op->inner_charge;
	else if (!(s->exec && s->exec == s->count))
		calls_charge(c, s, op->inner_charge);
}
