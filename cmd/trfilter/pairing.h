/*
 * pairing.h - what was decided at an enter, given back at the leave that closes it
 *
 * Not common/calls.h, which pairs for those who measure: it has no frame where no time is to be
 * counted (outside of any call, after an exec), but here every leave must find its enter, or the
 * output is not balanced. One frame is 8 bytes.
 */
#ifndef TRFILTER_PAIRING_H
#define TRFILTER_PAIRING_H

#include "event.h"
#include "open_calls.h"

struct pairing_stack;

struct pairing {
	struct pairing_stack *stacks; /* by number of the thread */
	size_t size;
	struct open_calls numbered; /* of types that pair by number */
	bool out_of_memory;
};

void pairing_free(struct pairing *p);
/* An enter, and what is decided of it. */
void pairing_enter(struct pairing *p, const struct event *e, bool decision);
/* A leave: true, and the decision of its enter, or false where its enter was never seen. */
bool pairing_leave(struct pairing *p, const struct event *e, bool *decision);

#endif
