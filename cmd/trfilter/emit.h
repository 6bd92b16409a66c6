/*
 * emit.h - what was selected, onto the output
 */
#ifndef TRFILTER_EMIT_H
#define TRFILTER_EMIT_H

#include "select.h"
#include "stage.h"

/* Select from an EVENTS block and pass on what is kept. 0, or -1 after stage_fail. */
int emit_block(struct stage *s, struct select *select, struct block *b);
/* Select only, for those who count. */
int emit_nothing(struct stage *s, struct select *select, struct block *b);

#endif
