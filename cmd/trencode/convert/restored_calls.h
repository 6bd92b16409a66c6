/*
 * restored_calls.h - the open calls of a snapshot, in the order of their enters
 *
 * calls_adopt passes them thread by thread. Encoders write their enters by time.
 */
#ifndef TR_TRENCODE_CONVERT_RESTORED_CALLS_H
#define TR_TRENCODE_CONVERT_RESTORED_CALLS_H

#include "common/calls/adopt.h"

struct restored_calls {
	struct restored_call {
		struct event enter;	   /* valid as long as the snapshot */
		const struct stack *stack; /* NULL: a numbered call on none */
		size_t index;		   /* in the stack, or of the numbered call */
		size_t order;		   /* of calls of one time */
	} * list;
	size_t count, capacity;
};

/* Add a call; for calls.on_restore. -1: out of memory. */
int restored_calls_add(struct restored_calls *r, const struct calls *c, const struct event *enter,
		       const struct call *call);
/* Adopt a snapshot; on_restore adds its calls. Sort them by time. -1: out of memory, or on_restore
 * failed. */
int restored_calls_adopt(struct restored_calls *r, struct calls *c, const struct snapshot *s);

#endif
