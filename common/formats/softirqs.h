/*
 * softirqs.h - the names of the kernel's softirqs, by their numbers
 *
 *     softirq_entry: vec=9 [action=RCU]
 *
 * Source: the enum in include/linux/interrupt.h of Linux.
 */
#ifndef TR_FORMATS_SOFTIRQS_H
#define TR_FORMATS_SOFTIRQS_H

#include <stddef.h>
#include <stdint.h>

enum { SOFTIRQS = 10 };

/* Get the name of a softirq; NULL: the number is not known. */
static inline const char *softirq_name(uint64_t number)
{
	static const char *const names[SOFTIRQS] = {"HI",      "TIMER",	   "NET_TX",  "NET_RX",
						    "BLOCK",   "IRQ_POLL", "TASKLET", "SCHED",
						    "HRTIMER", "RCU"};

	return number < SOFTIRQS ? names[number] : NULL;
}

#endif
