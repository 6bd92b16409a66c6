/*
 * call_stacks_private.h - what call_stacks.c and call_stacks_cut.c share
 */
#ifndef TR_CALLS_CALL_STACKS_PRIVATE_H
#define TR_CALLS_CALL_STACKS_PRIVATE_H

#include "common/calls/call_stacks.h"

/* Count the frames of the stack without frames[0] of a partial stack, which represents the
 * unknown ones. */
static inline uint32_t call_stacks_frames(const struct stack *s)
{
	return (uint32_t)s->count + s->implicit - (s->cut != NULL);
}

/* A thread of which something is to be changed; its stack's cut may have ended. NULL: memory. */
struct call_stacks_thread *call_stacks_follow(struct call_stacks *cs, size_t number);
/* Seen for the first time: low frames are open. */
int call_stacks_start(struct call_stacks *cs, struct call_stacks_thread *th, uint32_t low);
/* The frames from level on that were never entered here are over; the innermost was called so. */
int call_stacks_lower(struct call_stacks *cs, struct call_stacks_thread *th, uint32_t level,
		      uint32_t name);
/* A call begins at this level. */
int call_stacks_begin(struct call_stacks *cs, struct call_stacks_thread *th, uint32_t level);
/* In the kernel, on top of `level` others there; the lowest of them on top of caller. */
int call_stacks_enter_kernel(struct call_stacks *cs, struct call_stacks_thread *th, size_t level,
			     uint32_t caller, uint32_t location);

#endif
