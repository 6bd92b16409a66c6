/*
 * monitor.h - -i: a table for each interval of time, while the trace comes in
 *
 * Intervals of trace time begin at multiples of their width; an event that comes late, its time
 * being in an interval that was printed, counts in the present one. A call belongs to the interval
 * in which it is left. Intervals without events are left out. Intervals of the wall clock are
 * printed when they are over, with or without events, also while the input is silent.
 */
#ifndef TR_TRSTAT_MONITOR_H
#define TR_TRSTAT_MONITOR_H

#include "common/stream/reader.h"
#include "cmd/trstat/fail_if.h"

struct monitor {
	const char *words; /* as the user gave the width */
	bool wall;
	uint64_t width; /* 0: the trace's clock is not known yet */
	struct interval now;
	bool begun;
	struct statistics *statistics;
	struct alarms *alarms;
	struct reader *in;
	/* Print what the statistics have, after statistics_show; true: it cannot be gone on. */
	bool (*print)(void *ctx, const struct interval *interval);
	void *ctx;
	uint64_t next; /* wall: CLOCK_MONOTONIC, when the interval is over */
	bool out_of_memory, stop;
};

/* -1 with e if words are no width. */
int monitor_check(const char *words, struct error *e);

/* Before the first event; in->before_block is taken with --wall. */
int monitor_begin(struct monitor *m, struct error *e);

/* The rows of a block. -1: m->out_of_memory, m->stop, or e says what is wrong. */
int monitor_block(struct monitor *m, const struct block *b, struct error *e);

/* The last interval, after the calls that are still open were closed. */
void monitor_finish(struct monitor *m);

#endif
