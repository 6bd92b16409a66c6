/*
 * call_stacks.h - the stack that every call stood on, as a node of one tree for all threads
 *
 *     got = calls_feed(calls, e, &call);
 *     if (got == CALLS_ENTER)
 *             call_stacks_enter(cs, e);
 *     else if (got == CALLS_LEAVE)
 *             call_stacks_leave(cs, e, &call, &node);
 *
 * and at the end call_stacks_finish for each call of calls_finish, then call_stacks_end. A node is
 * its function called by its parent. Functions are told apart by their names, in which ';' has
 * become ':' and newlines are left out, so that stacks can be written "a;b;c".
 *
 * A frame that was open when its thread was first seen gets its name when it is left: until then
 * the stacks above it hang in the air. So with tree.keep the number of a node may come to stand for
 * another one (stack_tree_resolve).
 */
#ifndef TR_CALL_STACKS_H
#define TR_CALL_STACKS_H

#include "buffer.h"
#include "calls.h"
#include "stack_tree.h"

struct call_stacks_thread;

struct call_stacks {
	const struct calls *calls; /* the caller's */
	struct stack_tree tree;
	struct intern names;
	uint32_t unknown; /* the name of a frame that is never known */
	uint32_t *name;	  /* by place: number in names + 1; 0 not asked */
	size_t nnames;
	uint32_t symbol_changes;
	struct call_stacks_thread *threads; /* by number in calls */
	size_t nthreads;
	struct buffer scratch;
};

/* 0, or -1 when memory is out; so do all others that return int. */
int call_stacks_init(struct call_stacks *cs, const struct calls *calls);
void call_stacks_free(struct call_stacks *cs);

/* calls_feed has just pushed the frame of this enter. */
int call_stacks_enter(struct call_stacks *cs, const struct event *e);
/* It has just taken the frame of this leave: *node is the call's, STACK_ROOT if not known. */
int call_stacks_leave(struct call_stacks *cs, const struct event *e, const struct call *call,
		      uint32_t *node);
/* The node of the call that the event, which is none, happened in; STACK_ROOT outside of calls. */
uint32_t call_stacks_here(const struct call_stacks *cs, const struct event *e);

/* A call that the end of the trace closed. */
int call_stacks_finish(struct call_stacks *cs, const struct call *call, uint32_t *node);
/* Frames that are still in the air are named "<0>". */
int call_stacks_end(struct call_stacks *cs);

/* "a;b;c" into the buffer, in place of what is there, with a NUL behind it; of the root
 * nothing. A stack in the air begins with "<0>". */
int call_stacks_path(const struct call_stacks *cs, uint32_t node, struct buffer *out);

#endif
