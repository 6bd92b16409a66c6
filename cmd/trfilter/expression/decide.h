/*
 * decide.h - conditions on whole calls, some of which are decided only when the call has ended
 *
 * Conditions that the enter decides are evaluated there once and noted in the data of the call.
 * Later evaluations use the marks, because the enter's row may be freed by then.
 */
#ifndef TR_TRFILTER_EXPRESSION_DECIDE_H
#define TR_TRFILTER_EXPRESSION_DECIDE_H

#include "cmd/trfilter/rows/filter.h"
#include "cmd/trfilter/calls/call_data.h"

enum decide_when {
	DECIDE_ENTER, /* the event is the enter */
	/* the event has a lane only; the call's dur is the time it has been open */
	DECIDE_OPEN,
	DECIDE_LEAVE, /* the event is the leave, and all of the call is known */
	/* as DECIDE_LEAVE, for the decision about the leave's own row (term.by_both) */
	DECIDE_LEAVE_ROW,
	DECIDE_NEVER, /* the event has a lane only: the call has no leave */
};

/* Number the marks of the condition, for each term by itself, as terms are evaluated one by one.
 * Returns -1 if there are too many. */
int decide_prepare(struct filter *f, struct error *e);

/* Evaluate the conditions in under() and over(). Sets the bit of each that is true for an enter,
 * a leave without one or, for over(), another event. */
void decide_around(struct evaluation *ev, struct node *tree, const struct event *e, uint64_t *under,
		   uint64_t *over);

/* Note all that an enter decides, because its leave is decided later by other terms. */
void decide_mark(struct evaluation *ev, struct node *n, const struct event *enter,
		 struct call_data *f);

/* Evaluate a condition on a call. Only DECIDE_ENTER changes f. ev->call must be set. */
enum answer decide(struct evaluation *ev, struct node *n, enum decide_when when,
		   const struct event *e, struct call_data *f);

#endif
