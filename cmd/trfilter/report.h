/*
 * report.h - print text instead of a stream
 */
#ifndef TR_TRFILTER_REPORT_H
#define TR_TRFILTER_REPORT_H

#include "common/cli/stage.h"
#include "common/util/text.h"

/* Let print write to the output, which stage_print_to opened. Returns 0, or -1 after stage_fail. */
int report(struct stage *s, void (*print)(struct text *t, void *ctx), void *ctx);

#endif
