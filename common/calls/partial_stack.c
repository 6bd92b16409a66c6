/*
 * partial_stack.c - rows of a stack whose beginning was not seen
 */
#include "common/calls/partial_stack_private.h"

/* An enter reaches down to the unknown frames: no known call is open. */
int cut_touch(struct calls *c, struct stack *s, const struct event *e)
{
	bool by_depth = e->type->flags & TYPE_DEPTH;
	const struct partial_stack *u = s->cut;
	const struct cut_op *last = &u->ops[u->count - 1];
	struct cut_op *op;

	if (by_depth ? e->depth >= u->bound
		     : last->kind == CUT_TOUCH && !(last->type->flags & TYPE_DEPTH))
		return 0;
	op = cut_next(c, s, CUT_TOUCH);
	if (!op)
		return -1;
	op->type = e->type;
	op->time = e->time;
	op->lane = e->lane;
	op->depth = e->depth;
	if (by_depth && !e->depth)
		cut_end(s);
	else if (by_depth)
		cut_set_bound(s, e->depth);
	return 0;
}

void cut_drop_known(struct calls *c, struct stack *s)
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

void cut_begin_relative(struct stack *s)
{
	if (!s->cut || s->count != 2)
		return;
	s->cut->relative = true;
	calls_set_limits(s);
}

/* Test whether this enter shows that a known exec succeeded or was itself inside an unknown one,
 * which is possible except at the outermost depth. */
static bool is_after_exec(const struct stack *s, const struct event *e)
{
	return s->exec && e->type->kind == KIND_ENTER && e->type->flags & TYPE_DEPTH && e->depth &&
	       !(e->type->flags & (TYPE_INNER | TYPE_KERNEL)) && !inside_exec(s, e);
}

static enum calls_result enter(struct calls *c, struct stack *s, const struct event *e)
{
	bool by_depth = e->type->flags & TYPE_DEPTH;
	enum calls_result got;

	if (is_after_exec(s, e))
		return cut_keep_all(c, s, e);
	if (s->exec && !inside_exec(s, e))
		return calls_enter(c, s, e); /* no frame below is left */
	if (by_depth && s->count > 1) {
		if (s->cut->relative)
			return cut_keep_all(c, s, e);
		if (s->frames[1].depth >= e->depth)
			cut_drop_known(c, s);
	}
	/* an exec may be open below, which such an enter ends together with this call; or the
	   frame below may not exist */
	if (cut_on_doubt(s) || (s->count > 1 && !by_depth && !s->cut->relative))
		return cut_keep_all(c, s, e);
	if (s->count > 1)
		return calls_enter(c, s, e);
	if (cut_touch(c, s, e))
		return CALLS_NONE;
	got = calls_enter(c, s, e);
	if (!by_depth && got == CALLS_ENTER)
		cut_begin_relative(s);
	return got;
}

/* Finish a call whose enter and leave are in the part. */
static enum calls_result left(struct stack *s, struct call *done, bool doubtful)
{
	if (!s->cut)
		return CALLS_LEAVE;
	end_relative(s);
	done->level--;
	done->open = (uint8_t)(OPEN_LEVEL | OPEN_STACK | (s->count == 1 ? OPEN_CALLER : 0) |
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
			return cut_keep(c, s, e);
	} else {
		if (s->cut->relative)
			return cut_keep_all(c, s, e);
		if (s->count == 1 || s->frames[1].depth > e->depth) {
			cut_drop_known(c, s);
			if (e->depth >= s->cut->bound) {
				c->unmatched++;
				return CALLS_NONE;
			}
			got = cut_keep(c, s, e);
			if (!e->depth)
				cut_end(s);
			else
				cut_set_bound(s, e->depth);
			return got;
		}
	}
	got = calls_leave(c, s, e, done);
	return got == CALLS_LEAVE ? left(s, done, false) : got;
}

/* Update what may be open after a row that was kept. */
static void move_bound(struct stack *s, const struct event *e)
{
	struct partial_stack *u = s->cut;

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
		return cut_keep(c, s, e);
	}
	if (e->type->kind == KIND_ENTER && s->count == 2 && cut_on_doubt(s))
		return cut_keep_all(c, s, e);
	if (e->type->kind == KIND_ENTER) {
		got = calls_enter(c, s, e);
		if (got == CALLS_ENTER && s->count == 2) {
			top(s)->doubtful = true;
			cut_begin_relative(s);
		}
		return got;
	}
	if (s->count == 1)
		return cut_keep(c, s, e);
	doubtful = top(s)->inner && top(s)->doubtful;
	got = calls_leave(c, s, e, done);
	return got == CALLS_LEAVE ? left(s, done, doubtful) : got;
}

/* Handle a row while older calls in the kernel may be open. CALLS_SLOW: none can be open any
 * more, and the caller processes the row. */
static enum calls_result unknown_kernel(struct calls *c, struct stack *s, const struct event *e)
{
	struct partial_stack *u = s->cut;
	bool is_enter = e->type->kind == KIND_ENTER;
	enum calls_result got = CALLS_SLOW;

	if (e->type->flags & TYPE_KERNEL && is_enter && !e->depth) {
		if (!cut_next(c, s, CUT_CLEAR))
			return CALLS_NONE;
		u->kernel = 0;
	} else {
		got = cut_keep(c, s, e);
		if (e->type->flags & TYPE_KERNEL) {
			u->kernel = KERNEL_ROWS;
		} else {
			u->kernel -= !(e->type->flags & TYPE_INNER);
			move_bound(s, e);
		}
	}
	if (!u->kernel && !u->bound)
		cut_end(s);
	calls_set_limits(s);
	return got;
}

/* Test whether the row belongs in the list, or ends known calls. */
static bool reaches_down(const struct stack *s, const struct event *e)
{
	bool by_depth = e->type->flags & TYPE_DEPTH && !(e->type->flags & TYPE_INNER);

	if (s->count == 1 || (s->exec && e->type->kind == KIND_ENTER && !inside_exec(s, e)))
		return true;
	if (!by_depth)
		return e->type->kind == KIND_LEAVE && s->frames[1].inner;
	return e->type->kind == KIND_ENTER ? s->frames[1].depth >= e->depth
					   : s->frames[1].depth > e->depth;
}

/* Take a row of KIND_DROP. */
static enum calls_result cut_drop(struct calls *c, struct stack *s, const struct event *e)
{
	bool kernel = e->type->flags & TYPE_KERNEL, inner = e->type->flags & TYPE_INNER;
	enum calls_result got;

	if (s->cut->raw || s->cut->kernel || inner || cut_on_doubt(s))
		return s->cut->raw || s->cut->kernel ? cut_keep(c, s, e) : cut_keep_all(c, s, e);
	if (kernel || (s->count > 1 && s->frames[1].depth < e->depth)) {
		calls_drop(c, s, e);
		return CALLS_NONE;
	}
	if (s->cut->relative)
		return cut_keep_all(c, s, e);
	cut_drop_known(c, s);
	if (e->depth >= s->cut->bound)
		return CALLS_NONE;
	got = cut_keep(c, s, e);
	if (e->depth)
		cut_set_bound(s, e->depth);
	else
		cut_end(s);
	return got;
}

enum calls_result cut_feed(struct calls *c, struct stack *s, const struct event *e,
			   struct call *done)
{
	uint16_t flags = e->type->flags;
	struct partial_stack *u = s->cut;
	bool in_kernel;

	if (e->type->kind == KIND_DROP)
		return cut_drop(c, s, e);
	if (e->type->kind != KIND_ENTER && e->type->kind != KIND_LEAVE) {
		bool down = u->raw || (u->kernel && flags & (TYPE_KERNEL | TYPE_INNER));

		return down && c->look_down ? cut_keep(c, s, e) : CALLS_NONE;
	}
	if (u->raw)
		return cut_keep(c, s, e);
	if (u->kernel) {
		enum calls_result got = unknown_kernel(c, s, e);

		if (got != CALLS_SLOW || c->out_of_memory)
			return got;
		if (!s->cut)
			return calls_kernel(c, s, e, done);
	}
	if (flags & TYPE_KERNEL && cut_on_doubt(s))
		return cut_keep_all(c, s, e);
	if (flags & TYPE_KERNEL) {
		bool bottom = s->count == 1 && !(s->kernel && s->kernel->count);

		if (bottom && c->no_doubt && e->type->kind == KIND_ENTER) {
			u->kernel = KERNEL_ROWS;
			calls_set_limits(s);
			return cut_keep(c, s, e);
		}
		/* a leave without its enter: outside any call it is not even that */
		if (bottom && e->type->kind == KIND_LEAVE)
			return cut_keep(c, s, e);
		return calls_kernel(c, s, e, done);
	}
	in_kernel = s->kernel && s->kernel->count;
	if (in_kernel && flags & TYPE_INNER) {
		if (e->type->kind == KIND_ENTER || top(s->kernel)->inner)
			return calls_kernel_inner(c, s, e, done);
	}
	if (in_kernel) {
		/* whether that call counts depended on the frame now below it */
		if (s->kernel->frames[0].doubtful || is_after_exec(s, e) ||
		    (c->look_at_all && reaches_down(s, e)))
			return cut_keep_all(c, s, e);
		if (!(flags & TYPE_INNER))
			calls_pass_kernel(c, s, e->time);
	}
	if (flags & TYPE_INNER)
		return inner(c, s, e, done);
	return e->type->kind == KIND_ENTER ? enter(c, s, e) : leave(c, s, e, done);
}
