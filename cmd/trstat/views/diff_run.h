/*
 * diff_run.h - --diff: two inputs, each a stream or a summary, into the table of their differences
 */
#ifndef TR_TRSTAT_VIEWS_DIFF_RUN_H
#define TR_TRSTAT_VIEWS_DIFF_RUN_H

#include "common/cli/stage.h"
#include "cmd/trstat/views/diff.h"

/* Options that do not go with --diff, and the number of operands. -1 with e. */
int diff_check(const struct settings *s, const struct diff_options *o, size_t conditions,
	       int operands, struct error *e);

/* paths: A and B. stage is empty. The exit status. */
int diff_run(const struct settings *s, const struct diff_options *o, char **paths,
	     const struct common_options *options);

#endif
