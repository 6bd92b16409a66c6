/*
 * decide.h - a condition on a whole call, which may be decided only when the call has ended
 *
 * What can be asked at the enter is asked there once, and noted in the frame; what is asked again
 * later finds it there, for the enter's row may be gone.
 */
#ifndef TRFILTER_DECIDE_H
#define TRFILTER_DECIDE_H

#include "cmd/trfilter/rows/filter.h"
#include "cmd/trfilter/calls/frames.h"

enum decide_when {
	DECIDE_ENTER,	  /* the event is the enter */
	DECIDE_OPEN,	  /* it has a lane alone; the call's dur is how long it has been open */
	DECIDE_LEAVE,	  /* it is the leave, and all facts are known */
	DECIDE_LEAVE_ROW, /* the same, the leave's row being what is decided (part.by_both) */
	DECIDE_NEVER,	  /* it has a lane alone: the leave never came */
};

/* Number what is to be noted of the condition: of each part by itself, for they are asked one by
 * one. -1: too much. */
int decide_prepare(struct filter *f, struct error *e);

/* The conditions below under() and over(): a bit of its number for each that holds for an enter,
 * for a leave without one or, of over(), for another event. */
void decide_around(struct evaluation *ev, struct node *tree, const struct event *e, uint64_t *under,
		   uint64_t *over);

/* Note all that can be asked of an enter, for its leave is decided by other parts of it. */
void decide_note(struct evaluation *ev, struct node *n, const struct event *enter,
		 struct open_frame *f);

/* Only with DECIDE_ENTER f is changed. ev->call is to be set. */
enum answer decide(struct evaluation *ev, struct node *n, enum decide_when when,
		   const struct event *e, struct open_frame *f);

/* The shortest time after which a call may be decided while it is open. UINT64_MAX: none. */
uint64_t decide_soonest(const struct node *tree);

static inline enum answer answer_not(enum answer a)
{
	return a == ANSWER_LATER ? a : a == ANSWER_NO ? ANSWER_YES : ANSWER_NO;
}

#endif
