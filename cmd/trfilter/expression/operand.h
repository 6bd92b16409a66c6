/*
 * operand.h - the value of a condition's field for an event
 */
#ifndef TR_TRFILTER_EXPRESSION_OPERAND_H
#define TR_TRFILTER_EXPRESSION_OPERAND_H

#include "common/stream/event.h"
#include "cmd/trfilter/expression/condition.h"

/* What is known of an event's call, or of the calls around an event (call_data.h). */
struct call_info {
	bool is_call;
	bool ended; /* dur and, with has_self, self are known */
	bool has_self;
	bool has_caller;
	uint64_t dur, self;
	uint32_t children;
	uint32_t caller;      /* location */
	uint32_t node;	      /* node of its stack (stack_nodes.h); 0: none */
	uint64_t under, over; /* bits by node.mark */
	/* Returns the names of the stack as a text; NULL where stacks are not followed. */
	void (*stack)(void *ctx, const struct event *e, struct scalar *out);
	void *stack_ctx;
};

struct evaluation {
	struct dictionary *dictionary;
	bool quiet;		      /* no messages about missing values */
	bool warned_trsym;	      /* the message about trsym was printed */
	const struct call_info *call; /* NULL: calls are not followed */
	const struct event *event;    /* that a leaf is evaluated for */
};

/* Read the value of a field; *out is SCALAR_NONE before. Texts point into the event, the dictionary
 * or the operand, and are valid as long as these are. */
void operand_value(struct evaluation *ev, struct operand *o, const struct event *e,
		   struct scalar *out);

/* Returns true if the row has the field's argument, whatever its elements are; also true for
 * fields that are not arguments. */
bool operand_given(const struct evaluation *ev, struct operand *o, const struct event *e);

#endif
