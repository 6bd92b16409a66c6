/*
 * report.h - the end of trstat: the table, notes on stderr, and the conditions of --fail-if
 */
#ifndef TR_TRSTAT_REPORT_H
#define TR_TRSTAT_REPORT_H

#include "common/cli/stage.h"
#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/query.h"
#include "cmd/trstat/groups/statistics.h"

/* Write the view or the table, of an interval or (NULL) of everything. Returns -1; the error is
 * in stage. */
int report_table(struct stage *stage, struct query *q, const struct statistics *st,
		 const struct interval *interval);

/* Print on stderr what the table does not show. */
void report_counts(const struct stage *stage, const struct statistics *st,
		   const struct settings *s);

/* Warn of a block that lacks some of the calls that it should open. */
void report_missed_calls(struct stage *stage, const struct block *b);

/* Set STATUS_CONDITION if a condition is true, in an interval or (NULL) in everything; in
 * everything STATUS_FAILED if one is neither true nor false. */
void report_alarms(struct stage *stage, const struct query *q, const struct statistics *st,
		   struct alarms *alarms, const struct interval *interval);
/* The same for conditions that no interval has decided, after the last interval. */
void report_alarms_end(struct stage *stage, const struct query *q, const struct statistics *st,
		       struct alarms *alarms);

#endif
