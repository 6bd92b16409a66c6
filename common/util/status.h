/*
 * status.h - exit statuses, which are also the statuses of a stream's END
 */
#ifndef TR_UTIL_STATUS_H
#define TR_UTIL_STATUS_H

/* Text for END_LOST_MORE in messages. */
#define LOST_MORE "packets or an unknown number of events"

enum {
	STATUS_OK = 0,
	STATUS_DAMAGED = 1,   /* the input was damaged; everything readable was delivered */
	STATUS_FAILED = 2,    /* usage, cannot open, not a trace, I/O error */
	STATUS_CONDITION = 3, /* a condition of --fail-if is true */
};

/*
 * Combine the exit statuses of two parts of the work: FAILED before DAMAGED before CONDITION before
 * OK. Damage is before CONDITION, as a condition on a part of the events proves nothing.
 */
int status_worse(int a, int b);

#endif
