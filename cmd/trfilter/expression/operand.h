/*
 * operand.h - the value of an operand for an event
 */
#ifndef TRFILTER_OPERAND_H
#define TRFILTER_OPERAND_H

#include "common/stream/event.h"
#include "cmd/trfilter/expression/expression.h"

/* What is known of an event's call, or of an event's place among calls (frames.h). */
struct call_facts {
	bool is_call;
	bool ended; /* dur and, if has_self, self are known */
	bool has_self;
	bool has_caller;
	uint64_t dur, self;
	uint32_t children;
	uint32_t caller;      /* place */
	uint32_t node;	      /* of its stack (stack_nodes.h); 0 none */
	uint64_t under, over; /* by node.mark */
	/* The names of the stack, NULL where nobody follows it. */
	void (*stack)(void *ctx, const struct event *e, struct scalar *out);
	void *stack_ctx;
};

struct evaluation {
	struct dictionary *dictionary;
	bool quiet;		       /* say nothing of what is missing */
	bool said_trsym;	       /* that trsym belongs before */
	const struct call_facts *call; /* NULL: calls are not followed */
};

/* Texts point into the event, the dictionary or the operand, and are valid as long as these. */
void operand_value(struct evaluation *ev, struct operand *o, const struct event *e,
		   struct scalar *out);

/* Does the row have the argument that is asked for, whatever is inside of it? Of what is no
 * argument: yes. */
bool operand_given(const struct evaluation *ev, struct operand *o, const struct event *e);

#endif
