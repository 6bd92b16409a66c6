/*
 * partial_stack.h - stacks of calls whose beginning was not seen
 *
 * A part of a trace (a segment of a stream that is not its first) begins in the middle of things.
 * Calls that were both entered and left in it are known at once. What it does to the calls that
 * were open before it is kept as a list of operations, for whoever has the state before it: leaves
 * of calls that were not entered here, how far enters reached down (an enter of a recorded depth
 * ends all calls at that depth and below it), the time that callees took from what lies on top.
 * The list is no longer than the stack is deep, for between two of its operations nothing but calls
 * that are finished came.
 *
 *     calls.partial = true;                    stacks begin with a cut
 *     calls_feed ...                           CALLS_KEPT: the row went into the list
 *     cut_close                                what is open goes into the list too
 *
 *     cut_apply(&other, stack, op) for every operation: as if the rows had been fed there
 *
 * The other may itself have a cut, so lists can be joined in any grouping. Where a stack becomes so
 * odd that the rules do not hold (calls with and without a recorded depth upon each other, at its
 * very bottom), its rows are kept as they came from there on.
 *
 * frames[0] of a stack with a cut stands for all that is not known: it takes what callees at the
 * bottom took.
 */
#ifndef TR_CALLS_PARTIAL_STACK_H
#define TR_CALLS_PARTIAL_STACK_H

#include "common/util/buffer.h"
#include "common/calls/calls.h"

enum cut_kind {
	CUT_BEGIN,  /* the first of a list, which does nothing */
	CUT_SET,    /* the first of a list whose stack's beginning was seen: place: started,
		       depth and time: frames that are implicit, since when */
	CUT_ROW,    /* an event */
	CUT_TOUCH,  /* an enter of that type, depth and time came; the call is none of the list's */
	CUT_FORGET, /* an exec: nothing is open any more */
	CUT_CLEAR,  /* no call in the kernel is open any more */
	CUT_PUSH,   /* a call entered at time is open */
	CUT_PUSH_KERNEL, /* type: of its enter */
	CUT_KERNEL, /* of these: time: charged up to then, depth: a row came while they were open */
	CUT_PUSH_NUMBERED, /* depth: its number */
	CUT_LAST, /* the stack's last event: its time and lane, and a type of its calls or none */
	CUT_KINDS
};

enum cut_flags {
	CUT_INNER = 1, /* PUSH: the frame is so */
	CUT_OUTSIDE = 2,
	CUT_DOUBTFUL = 4,  /* it is there only if something is below it */
	CUT_RELATIVE = 8,  /* its depth is one more than that of what is below it */
	CUT_UNSEEN = 16,   /* its enter was never seen */
	CUT_LEFT_OUT = 32, /* any: rows of the stack are left out by then */
};

struct cut_op {
	uint8_t kind, flags;
	uint32_t location, depth;
	uint64_t time;
	const struct type *type;
	const struct lane *lane;
	/* ROW: the fixed part, and behind it the tail, in bytes of struct partial_stack; values
	   there name definitions by their numbers (dictionary_name_by_number) */
	size_t data;
	uint32_t tail_size;
	uint32_t entered; /* PUSH: for who pushes it (calls.on_push), 0 nothing */
	/* what callees took since from what is on top (PUSH: from the frame); inner: of a type with
	   TYPE_INNER, only if no exec is on top */
	uint64_t charge, inner_charge;
};

struct partial_stack {
	struct cut_op *ops;
	size_t count, capacity;
	struct buffer bytes;
	uint64_t inner_charge; /* since the last operation; the other is in frames[0].child */
	uint32_t bound;	       /* what was open before and still is lies at lower depths */
	uint8_t kernel;	       /* rows to come till no call in the kernel can be open from before */
	bool raw;	       /* rows are only kept */
	bool relative;	       /* the depth of frames[1] is not known */
};

/* Nothing can be done in line: the next row may be one for the list. */
static inline bool cut_is_slow(const struct partial_stack *u)
{
	return u->raw || u->kernel || u->relative;
}

/* The last operation of the list: what is found out now about calls is true after it. NULL: 0, as
 * where a damaged summary has open calls of a stack whose beginning is known. */
static inline size_t cut_position(const struct partial_stack *u)
{
	return u ? u->count - 1 : 0;
}

/* Give a new stack its cut. -1: out of memory (calls.out_of_memory). */
int cut_begin(struct calls *c, struct stack *s);
void cut_free(struct partial_stack *u);

/* calls_feed, for a stack with a cut. */
enum calls_result cut_feed(struct calls *c, struct stack *s, const struct event *e,
			   struct call *done);
enum calls_result cut_keep_numbered(struct calls *c, const struct event *e);
/* An exec succeeded in a stack with a cut: what was before is of no account any more. */
void cut_forget(struct calls *c, struct stack *s);

/* The end of the part: all that is open goes into the list (stack.kept), which is complete then,
 * and the stack is of no use any more. Of numbered calls: calls.rows. -1: out of memory. */
int cut_close(struct calls *c, struct stack *s);
int cut_close_numbered(struct calls *c);

/* Do to the stack what the operation says; not for CUT_ROW, whose event is to be fed. Its charges
 * are left to cut_charge. -1: out of memory. */
int cut_apply(struct calls *c, struct stack *s, const struct cut_op *op);
/* The event of a CUT_ROW; *u is the list that it is from. */
void cut_event(const struct partial_stack *u, const struct cut_op *op, struct event *e);
void cut_charge(struct calls *c, struct stack *s, const struct cut_op *op);

#endif
