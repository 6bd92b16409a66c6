/*
 * run.h - what trstat does with its inputs, to the end; stage has the exit status
 */
#ifndef TR_TRSTAT_RUN_H
#define TR_TRSTAT_RUN_H

#include "common/cli/stage.h"
#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/query.h"

/* Tables, one or one for each interval, and the views that are made of groups. */
void run_events(struct stage *stage, struct query *q, struct alarms *alarms);

/* --slowest, which has no groups. */
void run_slowest(struct stage *stage, struct query *q, struct alarms *alarms);

/* --partial, --merge or both. With --merge q is made here. */
void run_parts(struct stage *stage, struct settings *settings, struct query *q,
	       struct alarms *alarms, int argc, char **argv);

#endif
