/*
 * partial_stack_private.h - what the files of cut.h share: the list (cut_list.c), rows (cut.c),
 * operations of another part (cut_apply.c)
 */
#ifndef TR_CALLS_PARTIAL_STACK_PRIVATE_H
#define TR_CALLS_PARTIAL_STACK_PRIVATE_H

#include "common/calls/calls_private.h"
#include "common/calls/partial_stack.h"

/* Of a thread that is first seen here, calls in the kernel may be open as long as that many rows of
 * its other calls have not come (calls.c, pass_kernel). */
enum { KERNEL_ROWS = 2 };

/* Was the lowest call that was seen scheduled out at the bottom? It may not be there at all.
 * (Frames of others are pushed in line, which leaves the flag as it was.) */
static inline bool cut_on_doubt(const struct stack *s)
{
	return s->cut && s->count > 1 && s->frames[1].inner && s->frames[1].doubtful;
}

/* The next operation on what is not known, behind what callees took so far. NULL: out of memory. */
struct cut_op *cut_next(struct calls *c, struct stack *s, enum cut_kind kind);
/* Nothing of what was before is open any more: from here on all is known. */
void cut_end(struct stack *s);
/* What was open before and still is lies at lower depths than this. */
void cut_set_bound(struct stack *s, uint32_t depth);
/* The row goes into the list as it is. */
enum calls_result cut_keep(struct calls *c, struct stack *s, const struct event *e);
/* From here on rows are only kept; what is open goes into the list. -1: out of memory. */
int cut_begin_raw(struct calls *c, struct stack *s);
/* That, and the row is the first of them. */
enum calls_result cut_keep_all(struct calls *c, struct stack *s, const struct event *e);
/* An enter reaches down to what is not known: nothing that was seen is open. -1: out of memory. */
int cut_touch(struct calls *c, struct stack *s, const struct event *e);
/* No call that was seen is open any more. */
void cut_drop_known(struct calls *c, struct stack *s);
/* The depth of the first call that was seen is not known. */
void cut_begin_relative(struct stack *s);

#endif
