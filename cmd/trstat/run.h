/*
 * run.h - the runs of trstat, one function for each mode; the exit status is in stage
 */
#ifndef TR_TRSTAT_RUN_H
#define TR_TRSTAT_RUN_H

#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/query.h"
#include "cmd/trstat/statistics.h"
#include "common/cli/stage.h"
#include "common/stream/reader.h"

/* Run tables, one or one for each interval, and the views that are made of groups. */
void run_events(struct stage *stage, struct query *q, struct alarms *alarms);

/* Run --slowest, which has no groups. */
void run_slowest(struct stage *stage, struct query *q, struct alarms *alarms);

/* Run --partial, --merge or both. With --merge q is made here. */
void run_parts(struct stage *stage, struct stat_settings *settings, struct query *q,
	       struct alarms *alarms, int argc, char **argv);

/*
 * -i: a table for each interval of time, while the trace is read.
 *
 * Intervals of trace time begin at multiples of their width; a late event, whose interval was
 * printed already, counts in the present one. So where reading begins inside a stream, the first
 * interval is that of the highest time before. A call belongs to the interval that has its leave.
 * Intervals without events are left out. Intervals of the wall clock are printed when they are
 * over, with or without events, also while the input is silent.
 */

struct monitor {
	const char *words; /* as the user gave the width */
	bool wall;
	uint64_t width; /* 0: the trace's clock is not known yet */
	struct interval now;
	bool begun;
	uint64_t latest; /* highest time of rows before those that are read, from calls_restore */
	/* a summary: intervals are not printed, they are CELL_INTERVAL of the groups */
	bool keyed;
	struct statistics *statistics;
	struct alarms *alarms;
	struct reader *in;
	/* Print the statistics, after statistics_show. Returns true if the program must stop. */
	bool (*print)(void *ctx, const struct interval *interval);
	void *ctx;
	uint64_t next; /* wall clock: end of the interval, CLOCK_MONOTONIC */
	bool out_of_memory, stop;
};

/* Returns -1 with e filled if words is not a width or, with wall, one of wall time. */
int monitor_check(const char *words, bool wall, struct error *e);

/* Take the times of a SNAPSHOT, before its calls are open. */
void monitor_restore(struct monitor *m, const struct block *b);

/* Count the rows of a block. Returns -1 with m->out_of_memory or m->stop set, or with e filled. */
int monitor_block(struct monitor *m, const struct block *b, struct error *e);

/* Begin the interval of a SNAPSHOT without a row after it, before its calls are closed. Returns -1
 * with e filled. */
int monitor_end(struct monitor *m, struct error *e);
/* Forget the interval, because other parts of the trace follow. */
void monitor_restart(struct monitor *m);

/* --- the end of trstat: the table, notes on stderr, and the conditions of --fail-if --- */

/* Warn of a block that lacks some of the calls that it should open. */
void report_missed_calls(struct stage *stage, const struct block *b);

#endif
