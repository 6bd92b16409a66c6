/*
 * partial.h - trstat --partial and --merge: write summaries instead of tables, make tables of
 * summaries
 */
#ifndef TR_TRSTAT_SUMMARY_PARTIAL_H
#define TR_TRSTAT_SUMMARY_PARTIAL_H

#include "common/cli/stage.h"
#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/query.h"
#include "cmd/trstat/summary/summary.h"

/* Refuse options, and conditions of --fail-if (their number), that conflict with --partial or
 * --merge. -1 with e filled. */
int partial_check(const struct settings *s, size_t conditions, struct error *e);

/* Write the summary of the inputs. */
void partial_run(struct stage *stage, const struct query *q, struct statistics *s, int argc,
		 char **argv);

/* Write the summary of s and ps. */
int partial_write(struct stage *stage, const struct query *q, struct statistics *s,
		  const struct parts *ps, int argc, char **argv);

/* Sort the parts by stream and position. Returns -1 with e filled if a segment occurs twice. */
int parts_sort(struct parts *ps, struct error *e);

/* Options of merge_run. All may be NULL. */
struct merging {
	/* parts of another summary to be written; NULL: the statistics take the parts */
	struct parts *out;
	struct alarms *alarms;	   /* conditions whose keys the summaries' groups must have */
	const struct block *first; /* a block that was read already */
	bool histograms;	   /* require histograms if the first summary has them */
};

/*
 * Join the summaries in the inputs. q is made from settings and, where they are silent, from the
 * summaries. Returns -1; the error is in stage.
 */
int merge_run(struct stage *stage, struct settings *settings, struct query *q, struct statistics *s,
	      const struct merging *how);

#endif
