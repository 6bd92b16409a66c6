/*
 * calls_private.h - shared by calls*.c (pairing) and calls.c
 */
#ifndef TR_CALLS_CALLS_PRIVATE_H
#define TR_CALLS_CALLS_PRIVATE_H

#include "common/calls/calls.h"

/* A numbered call that the end of the trace closes. */
struct numbered_end {
	uint32_t thread, index;
	uint64_t serial;
};

static inline struct frame *top(struct stack *s)
{
	return s->count ? &s->frames[s->count - 1] : NULL;
}

static inline void pop(struct stack *s)
{
	calls_take(s);
}

/* Forget the number of a frame of a call with a number, which was popped. */
void calls_nested_forget(struct calls *c, struct stack *s, const struct frame *f);

/* Discard the top frame, which has no leave. */
static inline void lose(struct calls *c, struct stack *s, enum calls_lost why)
{
	struct frame f = *top(s);

	pop(s);
	if (__builtin_expect(s->nnumbered != 0, 0))
		calls_nested_forget(c, s, &f);
	if (c->on_lost &&
	    (c->balances || (f.begun && (s == c->stacks[s->number] || !s->frames[0].outside))))
		c->on_lost(c->on_lost_ctx, s, &f, calls_data(c, s, s->count), why);
}

/* Discard the frames at this depth or deeper. A call with a number is as deep as the call below it;
 * UINT32_MAX: less deep than all others. */
void calls_lose_from(struct calls *c, struct stack *s, uint32_t depth, enum calls_lost why);
static inline void lose_from(struct calls *c, struct stack *s, uint32_t depth, enum calls_lost why)
{
	uint32_t open = s->count ? s->frames[s->count - 1].depth + 1 : s->unseen;

	if (__builtin_expect(open > depth, 0))
		calls_lose_from(c, s, depth, why);
}

/* Test whether an event is from inside the exec: a recorder's own calls, or a wrapper that calls
 * the real one. */
static inline bool inside_exec(const struct stack *s, const struct event *e)
{
	return e->type->flags & TYPE_DEPTH && e->depth > s->frames[s->exec - 1].depth;
}

/* Test whether the stream declares that rows of the stack are left out. */
static inline bool calls_left_out(const struct calls *c, struct stack *s)
{
	s->left_out = s->left_out || dictionary_left_out(c->dictionary, s->number);
	return s->left_out;
}

/* Test whether a call that counts only inside another one is in none, not even in one that is
 * left out. */
static inline bool calls_outside(const struct calls *c, struct stack *s, uint64_t time)
{
	if (!calls_left_out(c, s))
		return !s->count && !s->unseen;
	return !s->count && !s->unseen &&
	       dictionary_outside(c->dictionary, s->number, c->moved_from ? c->moved_from : time);
}

/* Test whether the next row with a depth is the stack's first one. */
static inline bool calls_is_first(const struct calls *c, struct stack *s)
{
	if (!s->started && s->asks_lane)
		s->started = dictionary_started(c->dictionary, s->number);
	return !s->started;
}

/* Test whether rows of the type are of the calls on their thread's first stack, but for those with
 * TYPE_INNER. */
static inline bool calls_is_own(const struct type *t)
{
	return (t->kind == KIND_ENTER || t->kind == KIND_LEAVE) &&
	       !(t->flags & (TYPE_INNER | TYPE_KERNEL | TYPE_CALL_NUMBER));
}

/* Clip the begin of a call without an enter to the caller's range. */
static inline uint64_t calls_clipped(const struct calls *c, uint64_t since)
{
	return since < c->since ? c->since : since;
}

/* Set limit and floor, which decide which rows are processed in line. */
void calls_set_limits(struct stack *s);
void calls_set_exec(struct stack *s, size_t exec);

static inline void calls_set_unseen(struct stack *s, uint32_t n)
{
	s->unseen = n;
	calls_set_limits(s);
}

static inline void calls_start(struct stack *s)
{
	if (__builtin_expect(!s->started, 0)) {
		s->started = true;
		calls_set_limits(s);
	}
}

/* Forget the open exec if it is no longer on the stack: it has failed. */
static inline void end_exec(struct stack *s)
{
	if (__builtin_expect(s->exec > s->count, 0))
		calls_set_exec(s, 0);
}

/* false: out of memory. */
bool calls_push(struct calls *c, struct stack *s, const struct frame *f);

/* Add the time of a callee to its caller's child time. */
static inline void calls_charge(struct calls *c, struct stack *s, uint64_t total)
{
	struct frame *caller = top(s);

	if (caller) {
		add_saturated(&caller->child, total);
	} else if (s->unseen) {
		/* the frame below has no enter: from now on it needs a record */
		struct frame f = {.start = s->unseen_since, .child = total, .depth = s->unseen - 1};

		calls_set_unseen(s, s->unseen - 1);

		/* the data of the call that has just ended stay at the stack's count */
		if (c->data_size && s->capacity)
			memcpy(calls_data(c, s, 1), calls_data(c, s, 0), c->data_size);
		calls_push(c, s, &f);
	}
}

/* Fill *done with a call whose frame was popped, and whose location is known as well as it will be.
 */
static inline void calls_end(struct calls *c, struct stack *s, const struct frame *f, uint64_t end,
			     struct call *done)
{
	uint64_t total = end > f->start ? end - f->start : 0;

	calls_charge(c, s, total);
	*done = (struct call){.lane = c->stacks[s->number]->lane,
			      .location = f->location,
			      .caller = s->count ? s->frames[s->count - 1].location : 0,
			      .level = (uint32_t)s->count + s->unseen,
			      .start = f->start,
			      .end = f->start + total,
			      .total = total,
			      .self = f->child < total ? total - f->child : 0,
			      .recursive = f->location ? stack_has(s, f->location)
						       : calls_has_unknown(s),
			      .inner = f->inner};
}

/* Describe a call that calls_end ended at the end of the trace. s: its stack. */
static inline void calls_end_open(struct calls *c, const struct stack *s, const struct frame *f,
				  struct call *done)
{
	done->unfinished = true;
	done->lane = f->lane ? f->lane : done->lane;
	done->type = f->type ? f->type : s->type;
	done->kernel = s != c->stacks[s->number];
	c->counts.unfinished++;
}

#endif
