/*
 * partial_stack.h - stacks of calls whose beginning was not seen
 *
 * A part of a trace (a segment of a stream that is not its first) begins while calls are open.
 * Calls that were both entered and left in the part are known at once. The effects of the part on
 * the calls that were open before it are kept as a list of operations, for a caller that has the
 * state before the part: leaves of calls that were not entered here, how far enters reached down
 * (an enter of a recorded depth ends all calls at that depth and deeper), the time that callees
 * took from the frame on top. The list is never longer than the stack is deep, as only finished
 * calls lie between two of its operations.
 *
 *     calls.partial = true;                    stacks begin with a cut
 *     calls_feed ...                           CALLS_KEPT: the row went into the list
 *     cut_close                                what is open goes into the list too
 *
 *     cut_apply(&other, stack, op) for every operation: as if the rows had been fed there
 *
 * The other stack may itself be partial, so lists can be joined in any grouping. A stack to which
 * the rules do not apply (calls with and without a recorded depth mixed at its very bottom) keeps
 * its further rows unchanged.
 *
 * frames[0] of a partial stack represents all unknown frames: it is charged the time of the callees
 * at the bottom.
 */
#ifndef TR_CALLS_PARTIAL_STACK_H
#define TR_CALLS_PARTIAL_STACK_H

#include "common/util/buffer.h"
#include "common/calls/calls.h"

enum cut_kind {
	CUT_BEGIN, /* first of a list, without effect */
	CUT_SET,   /* first of a list whose stack is fully known: location: started, depth and time:
		      implicit frames, since when */
	CUT_ROW,   /* an event */
	CUT_TOUCH, /* an enter of that type, depth and time, whose call is not in the list */
	CUT_FORGET,	 /* an exec: no call is open after it */
	CUT_CLEAR,	 /* no call in the kernel is open after it */
	CUT_PUSH,	 /* a call entered at time is open */
	CUT_PUSH_KERNEL, /* type: of its enter */
	CUT_KERNEL, /* of the calls in the kernel: time: charged up to then, depth: whether a row
		       was read while they were open */
	CUT_PUSH_NUMBERED, /* depth: its number */
	CUT_LAST, /* the stack's last event: its time and lane, and a type of its calls or none */
	CUT_KINDS
};

enum cut_flags {
	CUT_INNER = 1, /* PUSH: a frame of a type with TYPE_INNER */
	CUT_OUTSIDE = 2,
	CUT_DOUBTFUL = 4,  /* it counts only if a frame is below it */
	CUT_RELATIVE = 8,  /* its depth is one more than that of the frame below */
	CUT_UNSEEN = 16,   /* its enter is missing */
	CUT_LEFT_OUT = 32, /* any: rows of the stack are left out up to here */
};

struct cut_op {
	uint8_t kind, flags;
	uint32_t location, depth;
	uint64_t time;
	const struct type *type;
	const struct lane *lane;
	/* ROW: offset of the fixed part and the tail after it in bytes of struct partial_stack;
	   values there name definitions by number (dictionary_name_by_number) */
	size_t data;
	uint32_t tail_size;
	uint32_t entered; /* PUSH: a number of calls.on_push's caller, 0 none */
	/* time of later callees of the top frame (PUSH: of this frame); inner: of a type with
	   TYPE_INNER, only if no exec is on top */
	uint64_t charge, inner_charge;
};

struct partial_stack {
	struct cut_op *ops;
	size_t count, capacity;
	struct buffer bytes;
	uint64_t inner_charge; /* since the last operation; charge is in frames[0].child */
	uint32_t bound;	       /* older calls that are still open have lower depths */
	uint8_t kernel;	       /* rows until no older call in the kernel can be open */
	bool raw;	       /* rows are only kept */
	bool relative;	       /* the depth of frames[1] is not known */
};

/* Test whether every row takes the slow path, as the next one may belong in the list. */
static inline bool cut_is_slow(const struct partial_stack *u)
{
	return u->raw || u->kernel || u->relative;
}

/* Get the position of the last operation: facts about calls found now are true after it. NULL
 * gives 0, as a damaged summary may have open calls of a fully known stack. */
static inline size_t cut_position(const struct partial_stack *u)
{
	return u ? u->count - 1 : 0;
}

/* Make a new stack partial. Sets calls.out_of_memory on error. */
int cut_begin(struct calls *c, struct stack *s);
void cut_free(struct partial_stack *u);

/* Process one event as calls_feed does, for a partial stack. */
enum calls_result cut_feed(struct calls *c, struct stack *s, const struct event *e,
			   struct call *done);
enum calls_result cut_keep_numbered(struct calls *c, const struct event *e);
/* Forget all older calls of a partial stack: an exec succeeded. */
void cut_forget(struct calls *c, struct stack *s);

/* Add all open calls at the end of the part to the list (stack.kept), which is then complete;
 * the stack is of no further use. cut_close_numbered does it for numbered calls (calls.rows). */
int cut_close(struct calls *c, struct stack *s);
int cut_close_numbered(struct calls *c);

/* Apply an operation other than CUT_ROW to the stack; the event of a CUT_ROW is passed to
 * calls_feed. cut_charge applies its charges. */
int cut_apply(struct calls *c, struct stack *s, const struct cut_op *op);
/* Fill *e with the event of a CUT_ROW of the list *u. */
void cut_event(const struct partial_stack *u, const struct cut_op *op, struct event *e);
void cut_charge(struct calls *c, struct stack *s, const struct cut_op *op);

#endif
