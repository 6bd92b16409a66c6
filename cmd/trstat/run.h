/*
 * run.h - the runs of trstat, one function for each mode; the exit status is in stage
 */
#ifndef TR_TRSTAT_RUN_H
#define TR_TRSTAT_RUN_H

#include "common/cli/stage.h"
#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/query.h"

/* Run tables, one or one for each interval, and the views that are made of groups. */
void run_events(struct stage *stage, struct query *q, struct alarms *alarms);

/* Run --slowest, which has no groups. */
void run_slowest(struct stage *stage, struct query *q, struct alarms *alarms);

/* Run --partial, --merge or both. With --merge q is made here. */
void run_parts(struct stage *stage, struct settings *settings, struct query *q,
	       struct alarms *alarms, int argc, char **argv);

#endif
