/*
 * restored_calls.h - the calls that calls_restore opens, in the order of their enters
 *
 * calls_restore passes them thread by thread. Encoders write their enters by time.
 */
#ifndef TR_TRENCODE_CONVERT_RESTORED_CALLS_H
#define TR_TRENCODE_CONVERT_RESTORED_CALLS_H

#include "common/calls/calls.h"

struct restored_calls {
	struct restored_call {
		struct event enter;	   /* valid until the next block */
		const struct stack *stack; /* NULL: a numbered call on none */
		size_t index;		   /* in the stack, or of the numbered call */
		size_t order;		   /* of calls of one time */
	} * list;
	size_t count, capacity;
};

/* Add a call; for calls.on_restore. -1: out of memory. */
int restored_calls_add(struct restored_calls *r, const struct calls *c, const struct event *enter,
		       const struct call *call);
/* Sort the calls that on_restore has added by time, and begin again; for calls.restored.done.
 * Returns their number. */
size_t restored_calls_sort(struct restored_calls *r);

#endif
