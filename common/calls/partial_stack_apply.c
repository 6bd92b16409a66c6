/*
 * partial_stack_apply.c - applies the operations of another part's list to a stack
 */
#include "common/calls/partial_stack_private.h"

static int repeat(struct calls *c, struct stack *s, const struct cut_op *op)
{
	struct cut_op *copy = cut_next(c, s, op->kind);

	if (!copy)
		return -1;
	*copy = *op;
	/* cut_charge adds these again */
	if (op->kind != CUT_PUSH && op->kind != CUT_PUSH_KERNEL)
		copy->charge = 0;
	copy->inner_charge = 0;
	return 0;
}

static int apply_touch(struct calls *c, struct stack *s, const struct cut_op *op)
{
	struct event e = {.time = op->time, .type = op->type, .lane = op->lane, .depth = op->depth};
	bool by_depth = op->type->flags & TYPE_DEPTH;

	if (s->exec && !inside_exec(s, &e)) {
		if (s->cut && by_depth && op->depth)
			return cut_begin_raw(c, s) ? -1 : repeat(c, s, op);
		calls_forget_image(c, s);
	}
	if (s->cut) {
		if (s->count > 1 &&
		    (by_depth ? s->cut->relative : !s->cut->relative || cut_on_doubt(s)))
			return cut_begin_raw(c, s) ? -1 : repeat(c, s, op);
		if (by_depth && s->count > 1) {
			if (s->frames[1].depth < op->depth) {
				drop_from(c, s, op->depth, LOST_DEPTH);
				return 0;
			}
		}
		if (by_depth)
			cut_drop_known(c, s);
		return s->count == 1 ? cut_touch(c, s, &e) : 0;
	}
	if (by_depth && (s->started || s->left_out)) {
		drop_from(c, s, op->depth, LOST_DEPTH);
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
			  .location = op->location,
			  .depth = op->depth,
			  .inner = op->flags & CUT_INNER,
			  .begun = !(op->flags & CUT_UNSEEN)};
	bool bottom = s->cut && s->count == 1;

	if (op->flags & CUT_DOUBTFUL && s->count == 2 && cut_on_doubt(s))
		return cut_begin_raw(c, s) ? -1 : repeat(c, s, op);
	if (op->flags & CUT_DOUBTFUL) {
		if ((s->exec && s->exec == s->count) || (!s->count && !s->implicit && !s->left_out))
			return 0;
		f.doubtful = bottom;
	}
	if (op->flags & CUT_RELATIVE)
		f.depth = s->count ? s->frames[s->count - 1].depth + 1 : s->implicit;
	if (!calls_push(c, s, &f))
		return -1;
	if (bottom && op->flags & CUT_RELATIVE)
		cut_begin_relative(s);
	if (f.begun && calls_enters_exec(c, f.location) && !s->exec)
		calls_set_exec(s, s->count);
	return 0;
}

static int apply_push_kernel(struct calls *c, struct stack *s, const struct cut_op *op)
{
	struct frame f = {.start = op->time,
			  .child = op->charge,
			  .location = op->location,
			  .depth = op->depth,
			  .inner = op->flags & CUT_INNER,
			  .outside = op->flags & CUT_OUTSIDE,
			  .begun = !(op->flags & CUT_UNSEEN)};

	if (cut_on_doubt(s))
		return cut_begin_raw(c, s) ? -1 : repeat(c, s, op);
	if (!s->kernel) {
		s->kernel = calls_empty_stack(c);
		if (!s->kernel)
			return -1;
		s->kernel->started = true;
	}
	s->kernel->type = op->type ? op->type : s->kernel->type;
	if (op->flags & CUT_DOUBTFUL) {
		f.outside = !s->left_out && !s->count && !s->implicit;
		f.doubtful = !s->left_out && s->cut && s->count == 1;
	}
	if (!calls_push(c, s->kernel, &f))
		return -1;
	if (f.begun && calls_enters_exec(c, f.location) && !s->kernel->exec)
		calls_set_exec(s->kernel, s->kernel->count);
	return 0;
}

static int apply_numbered(struct calls *c, const struct cut_op *op)
{
	struct numbered_call *n = calls_number_new(c, op->lane->source->number, op->depth);

	if (!n)
		return -1;
	n->start = op->time;
	n->lane = op->lane;
	n->type = op->type;
	n->location = op->location;
	n->thread = op->lane->thread;
	return 0;
}

int cut_apply(struct calls *c, struct stack *s, const struct cut_op *op)
{
	int bad = 0;

	s->left_out |= op->flags & CUT_LEFT_OUT;
	if (s->cut && s->cut->raw && op->kind != CUT_LAST && op->kind != CUT_BEGIN)
		return repeat(c, s, op);
	switch (op->kind) {
	case CUT_SET:
		s->started = op->location;
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
			drop_from(c, s->kernel, 0, LOST_DEPTH);
		if (s->cut && s->cut->kernel) {
			s->cut->kernel = 0;
			bad = cut_next(c, s, CUT_CLEAR) ? 0 : -1;
			if (!s->cut->bound)
				cut_end(s);
		}
		break;
	case CUT_PUSH: bad = apply_push(c, s, op); break;
	case CUT_PUSH_KERNEL: bad = apply_push_kernel(c, s, op); break;
	case CUT_KERNEL:
		s->kernel_since = op->time;
		s->passed = op->depth;
		break;
	case CUT_PUSH_NUMBERED: return apply_numbered(c, op);
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
