/*
 * report.h - text in the place of a stream
 */
#ifndef TRFILTER_REPORT_H
#define TRFILTER_REPORT_H

#include "common/cli/stage.h"
#include "common/util/text.h"

/* Have print write onto the output, which stage_print_to opened. 0, or -1 after stage_fail. */
int report(struct stage *s, void (*print)(struct text *t, void *ctx), void *ctx);

#endif
