/*
 * emit.h - what was selected, onto the output
 */
#ifndef TRFILTER_EMIT_H
#define TRFILTER_EMIT_H

#include "select.h"
#include "stage.h"
#include "whole.h"

/* Select from an EVENTS block and pass on what is kept. 0, or -1 after stage_fail. */
int emit_block(struct stage *s, struct select *select, struct block *b);
/* The same where whole calls are decided: a block of any kind; NULL: the input has ended. What is
 * decided by now is passed on, or only counted. *matched counts events, at most limit. */
int emit_whole(struct stage *s, struct whole *w, const struct block *b, bool pass, uint64_t limit,
	       uint64_t *matched);
/* Select only, for those who count. */
int emit_nothing(struct stage *s, struct select *select, struct block *b);

#endif
