/*
 * partial.h - trstat --partial and --merge: summaries in place of tables, and tables of summaries
 */
#ifndef TR_TRSTAT_SUMMARY_PARTIAL_H
#define TR_TRSTAT_SUMMARY_PARTIAL_H

#include "common/cli/stage.h"
#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/query.h"
#include "cmd/trstat/summary/summary.h"

/* Options, among them that many conditions of --fail-if, that do not go with --partial or --merge.
 * -1 with e. */
int partial_check(const struct settings *s, size_t conditions, struct error *e);

/* The inputs' summary onto the output. */
void partial_run(struct stage *stage, const struct query *q, struct statistics *s, int argc,
		 char **argv);

/* Write what s and ps hold. */
int partial_write(struct stage *stage, const struct query *q, struct statistics *s,
		  const struct parts *ps, int argc, char **argv);

/* Sort the parts by stream and place in it, and find what is there twice (-1 with e). */
int parts_sort(struct parts *ps, struct error *e);

/* All may be NULL. */
struct merging {
	struct parts *out;	   /* for another summary; else into the statistics alone */
	struct alarms *alarms;	   /* that the groups of the summaries must tell */
	const struct block *first; /* was already read */
	bool histograms;	   /* wanted, too, if the first summary has them */
};

/*
 * Summaries, being the inputs, joined. q is made from settings, as far as they say, and from what
 * the summaries say themselves. -1: it failed, and stage knows.
 */
int merge_run(struct stage *stage, struct settings *settings, struct query *q, struct statistics *s,
	      const struct merging *how);

#endif
