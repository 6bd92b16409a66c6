/*
 * operand.h - the value of an operand for an event
 */
#ifndef TRFILTER_OPERAND_H
#define TRFILTER_OPERAND_H

#include "event.h"
#include "expression.h"

struct evaluation {
	struct dictionary *dictionary;
	bool quiet;	 /* say nothing of what is missing */
	bool said_trsym; /* that trsym belongs before */
};

/* Texts point into the event, the dictionary or the operand, and are valid as long as these. */
void operand_value(struct evaluation *ev, struct operand *o, const struct event *e,
		   struct scalar *out);

#endif
