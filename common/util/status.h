/*
 * status.h - exit statuses, which are also the statuses of a stream's END
 */
#ifndef TR_UTIL_STATUS_H
#define TR_UTIL_STATUS_H

/* What END_LOST_MORE means, in messages. */
#define LOST_MORE "packets or an unknown number of events"

enum {
	STATUS_OK = 0,
	STATUS_DAMAGED = 1,   /* the input was damaged; everything readable was delivered */
	STATUS_FAILED = 2,    /* usage, cannot open, not a trace, I/O error */
	STATUS_CONDITION = 3, /* a condition of --fail-if is true */
};

/*
 * Return the exit status of two parts of the work: FAILED before DAMAGED before CONDITION before
 * OK. A condition on a part of the events does not answer the question, so damage comes first.
 */
int status_worse(int a, int b);

#endif
