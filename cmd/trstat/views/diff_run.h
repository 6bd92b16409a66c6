/*
 * diff_run.h - --diff: the table of the differences of two inputs, each a stream or a summary
 */
#ifndef TR_TRSTAT_VIEWS_DIFF_RUN_H
#define TR_TRSTAT_VIEWS_DIFF_RUN_H

#include "common/cli/stage.h"
#include "cmd/trstat/views/diff.h"

/* Refuse options that conflict with --diff, and a wrong number of operands. -1 with e filled. */
int diff_check(const struct settings *s, const struct diff_options *o, int operands,
	       struct error *e);

/* Run --diff; paths: A and B; stage is empty. Returns the exit status. */
int diff_run(const struct settings *s, const struct diff_options *o, char **paths,
	     const struct common_options *options);

#endif
