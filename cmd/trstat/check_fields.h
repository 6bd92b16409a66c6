/*
 * check_fields.h - refuses fields that no event of the streams read has
 */
#ifndef TR_TRSTAT_CHECK_FIELDS_H
#define TR_TRSTAT_CHECK_FIELDS_H

#include "cmd/trstat/fail_if.h"
#include "common/cli/stage.h"

/* Check the fields of keys, columns, pairs and conditions, at the end of the input. The fault is
 * an error of the stage; with a damaged input, which may lack declarations, a warning; with a part
 * of a stream nothing. Returns 0,
 * or -1 after stage_fail. */
int check_fields(struct stage *stage, const struct query *q, const struct alarms *alarms);

#endif
