/*
 * stack_profile.h - calls summed up by their stacks: what folded, callgrind and pprof are made of
 *
 * All threads go into one tree (common/call_stacks); longjmp, exec and lost events are as in
 * common/calls.
 */
#ifndef TR_TRENCODE_PROFILE_STACK_PROFILE_H
#define TR_TRENCODE_PROFILE_STACK_PROFILE_H

#include "common/calls/call_stacks.h"
#include "cmd/trencode/encoder.h"

struct stack_profile {
	struct calls calls;
	struct call_stacks stacks;
	uint32_t *planned; /* by place of a block: number in stacks.names + 1, 0: the slow way */
	size_t nplanned;
	bool drop;    /* calls without a return are left out */
	bool ticking; /* clocks of ticks may have a length (tick.h) */
	uint64_t instants, values, gaps;
	uint64_t cut; /* calls over without a return */
};

/* 0, or -1 when out of memory; so do all others. */
int stack_profile_init(struct stack_profile *s, struct dictionary *d, call_stacks_key *key,
		       const struct encode_options *options);
void stack_profile_free(struct stack_profile *s);
int stack_profile_block(struct stack_profile *s, const struct block *b);
/* The end of the trace: what is open ends. */
int stack_profile_finish(struct stack_profile *s);
/* Say on standard error what the format has no room for, and what was not closed. */
void stack_profile_report(const struct stack_profile *s, const char *format);

#endif
