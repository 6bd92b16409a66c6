/*
 * call_stacks_private.h - what call_stacks.c and call_stacks_recorded.c share
 */
#ifndef TR_CALLS_CALL_STACKS_PRIVATE_H
#define TR_CALLS_CALL_STACKS_PRIVATE_H

#include "common/calls/call_stacks.h"

/* Get the number of calls open in a stack, with unseen ones. */
static inline uint32_t call_stacks_open(const struct stack *s)
{
	return (uint32_t)s->count + s->unseen;
}

static inline uint32_t call_stacks_unseen(const struct stack *s)
{
	return s->unseen + (s->count && !s->frames[0].begun);
}

/* call_stacks_recorded.c */
void call_stacks_forget_recorded(struct call_stacks *cs);
void call_stacks_free_recorded(struct call_stacks *cs);

/* Set the thread's number of unseen calls. */
int call_stacks_set_unseen(struct call_stacks *cs, struct call_stacks_thread *th, uint32_t unseen);
/* Add a call in the kernel on top of `level` others; the lowest is on top of caller. */
int call_stacks_enter_kernel(struct call_stacks *cs, struct call_stacks_thread *th, size_t level,
			     uint32_t caller, uint32_t location);

#endif
