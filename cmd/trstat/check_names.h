/*
 * check_names.h - refuses fields that no event of the streams read has, and in --fail-if all that
 * the streams lack for a condition (common/expr/declared.h); warns of names elsewhere
 */
#ifndef TR_TRSTAT_CHECK_NAMES_H
#define TR_TRSTAT_CHECK_NAMES_H

#include "cmd/trstat/fail_if.h"
#include "common/cli/stage.h"

/* Check keys, columns, pairs and conditions at the end of the input. The fault is an error of the
 * stage; with a damaged input, which may lack declarations, a warning; with a part of a stream
 * nothing. Returns 0, or -1 after stage_fail. */
int check_names(struct stage *stage, const struct query *q, struct alarms *alarms);
/* The same for one input of several. file: its name for messages, or NULL; alarms may be NULL.
 * Returns 0, or -1 with e filled. */
int check_names_of(struct stage *stage, const char *file, const struct query *q,
		   struct alarms *alarms, struct error *e);

#endif
