/*
 * partial.h - trstat --partial and --merge: write summaries instead of tables, make tables of
 * summaries
 */
#ifndef TR_TRSTAT_PARTIAL_H
#define TR_TRSTAT_PARTIAL_H

#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/query.h"
#include "cmd/trstat/summary.h"
#include "common/cli/stage.h"

/* Refuse options, and conditions of --fail-if (their number), that conflict with --partial or
 * --merge. -1 with e filled. */
int partial_check(const struct stat_settings *s, size_t conditions, struct error *e);

/* Write the summary of the inputs. sm has its statistics, not yet made, and settings. */
void partial_run(struct stage *stage, struct query *q, struct summary *sm, int argc, char **argv);

/* Write a summary. */
int partial_write(struct stage *stage, const struct summary *sm, int argc, char **argv);

/* Options of summary_merge_run. All may be NULL. */
struct merging {
	struct stat_settings *settings; /* completed by those of the summaries */
	struct alarms *alarms;		/* conditions whose keys the summaries' groups must have */
	const struct block *first;	/* a block that was read already */
	bool histograms;		/* require histograms if the first summary has them */
	bool again;			/* the result is written as a summary, not as a table */
};

/*
 * Join the summaries in the inputs. q is made from settings and, where they are silent, from the
 * summaries. sm has its statistics, not yet made; with the interval of -i they are for
 * summary_intervals. Returns -1; the error is in stage.
 */
int summary_merge_run(struct stage *stage, struct query *q, struct summary *sm,
		      const struct merging *how);

#endif
