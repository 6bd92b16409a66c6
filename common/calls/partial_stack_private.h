/*
 * partial_stack_private.h - shared by the list (partial_stack_list.c), the rows (partial_stack.c)
 * and the operations of another part (partial_stack_apply.c)
 */
#ifndef TR_CALLS_PARTIAL_STACK_PRIVATE_H
#define TR_CALLS_PARTIAL_STACK_PRIVATE_H

#include "common/calls/calls_private.h"
#include "common/calls/partial_stack.h"

/* In a new thread, older calls in the kernel may be open until that many rows of its other calls
 * were read (calls.c, pass_kernel). */
enum { KERNEL_ROWS = 2 };

/* Test whether the lowest known call was scheduled out at the bottom, so that it may not count.
 * (Frames of other threads are pushed in line, which leaves the flag unchanged.) */
static inline bool cut_on_doubt(const struct stack *s)
{
	return s->cut && s->count > 1 && s->frames[1].inner && s->frames[1].doubtful;
}

/* Append an operation on the unknown frames, after the time that callees took so far. NULL: out
 * of memory. */
struct cut_op *cut_next(struct calls *c, struct stack *s, enum cut_kind kind);
/* Forget the older calls: none is open any more, and all frames are known from here on. */
void cut_end(struct stack *s);
/* Record that older calls that are still open have lower depths than this. */
void cut_set_bound(struct stack *s, uint32_t depth);
/* Add the row to the list unchanged. */
enum calls_result cut_keep(struct calls *c, struct stack *s, const struct event *e);
/* Keep all further rows unchanged, and add the open calls to the list. */
int cut_begin_raw(struct calls *c, struct stack *s);
/* Do the same, with this row as the first of them. */
enum calls_result cut_keep_all(struct calls *c, struct stack *s, const struct event *e);
/* Apply an enter that reaches down to the unknown frames: no known call is open. */
int cut_touch(struct calls *c, struct stack *s, const struct event *e);
/* Record that no known call is open any more. */
void cut_drop_known(struct calls *c, struct stack *s);
/* Record that the depth of the first known call is unknown. */
void cut_begin_relative(struct stack *s);

#endif
