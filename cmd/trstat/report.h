/*
 * report.h - what trstat says at the end: the table, what it does not show, and what --fail-if asks
 */
#ifndef TR_TRSTAT_REPORT_H
#define TR_TRSTAT_REPORT_H

#include "common/cli/stage.h"
#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/query.h"
#include "cmd/trstat/groups/statistics.h"

/* The view or the table, of an interval or (NULL) of all, onto the output. -1: stage knows why. */
int report_table(struct stage *stage, const struct query *q, const struct statistics *st,
		 const struct interval *interval);

/* What the table does not show, on stderr. */
void report_counts(const struct stage *stage, const struct statistics *st,
		   const struct settings *s);

/* STATUS_CONDITION if one of the conditions holds, in an interval or (NULL) in all. */
void report_alarms(struct stage *stage, const struct query *q, const struct statistics *st,
		   const struct alarms *alarms, const struct interval *interval);

#endif
