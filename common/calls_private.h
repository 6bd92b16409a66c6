/*
 * calls_private.h - what calls.c (pairing) and cut.c (stacks whose beginning was not seen) share
 */
#ifndef TR_CALLS_PRIVATE_H
#define TR_CALLS_PRIVATE_H

#include "calls.h"
#include "cut.h"

/* A numbered call that is open. */
struct numbered_call {
	uint64_t start;
	const struct lane *lane;
	const struct type *type;
	uint32_t place, number;
	uint32_t next; /* free: index + 1 of the next free one */
};

static inline struct frame *top(struct stack *s)
{
	return s->count ? &s->frames[s->count - 1] : NULL;
}

static inline void pop(struct stack *s)
{
	struct frame *f = &s->frames[--s->count];

	if (f->begun)
		s->buckets[f->place & s->mask] = f->below;
}

/* The frame on top ends without a leave. */
static inline void lose(struct calls *c, struct stack *s)
{
	struct frame f = *top(s);

	pop(s);
	if (c->on_lost && f.begun)
		c->on_lost(c->on_lost_ctx, s, &f);
}

/* Frames at this depth or deeper end without a leave: longjmp, or lost events. */
static inline void drop_from(struct calls *c, struct stack *s, uint32_t depth)
{
	while (s->count && s->frames[s->count - 1].depth >= depth) {
		lose(c, s);
		c->dropped++;
	}
	if (!s->count && s->implicit > depth)
		s->implicit = depth;
}

/* Is it from inside the exec? A recorder's own calls, or a wrapper that calls the real one. */
static inline bool inside_exec(const struct stack *s, const struct event *e)
{
	return e->type->flags & TYPE_DEPTH && e->depth > s->frames[s->exec - 1].depth;
}

/* What may be done in line. */
void calls_set_limits(struct stack *s);
void calls_set_exec(struct stack *s, size_t exec);

/* An exec that is no longer on the stack has failed. */
static inline void end_exec(struct stack *s)
{
	if (__builtin_expect(s->exec > s->count, 0))
		calls_set_exec(s, 0);
}

/* Is a function of this name an exec*? */
bool calls_enters_exec(struct calls *c, uint32_t place);
/* false: memory is out. */
bool calls_push(struct calls *c, struct stack *s, const struct frame *f);
/* NULL: memory is out. */
struct stack *calls_empty_stack(struct calls *c);

/* The parts of calls_feed, for who has seen that they have all that they look at. */
enum calls_result calls_enter(struct calls *c, struct stack *s, const struct event *e);
enum calls_result calls_leave(struct calls *c, struct stack *s, const struct event *e,
			      struct call *done);
enum calls_result calls_kernel(struct calls *c, struct stack *s, const struct event *e,
			       struct call *done);
enum calls_result calls_kernel_inner(struct calls *c, struct stack *s, const struct event *e,
				     struct call *done);
void calls_pass_kernel(struct calls *c, struct stack *s, uint64_t time);
/* What a callee took is no longer its caller's own. */
void calls_charge(struct calls *c, struct stack *s, uint64_t total);
/* An exec succeeded. */
void calls_forget_image(struct calls *c, struct stack *s);
/* A numbered call is open. -1: memory is out. */
int calls_number_open(struct calls *c, uint32_t source, uint32_t call,
		      const struct numbered_call *n);

#endif
