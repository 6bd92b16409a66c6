/*
 * stack_profile.h - calls, samples or pairs, summed by their stacks, for folded, callgrind and
 * pprof
 *
 * All threads are in one tree (common/calls/call_stacks.h); longjmp, exec and lost events are as in
 * common/calls.
 *
 * A function that returns int returns 0, or -1 when out of memory.
 */
#ifndef TR_TRENCODE_PROFILE_STACK_PROFILE_H
#define TR_TRENCODE_PROFILE_STACK_PROFILE_H

#include "common/calls/calls.h"
#include "common/calls/call_stacks.h"
#include "cmd/trencode/profile/pair_profile.h"
#include "cmd/trencode/profile/sample_profile.h"

/* One profile. */
struct stack_profile {
	struct calls *calls;
	struct call_stacks stacks;
	uint32_t *planned; /* by location of a block: number in stacks.names + 1, 0:
			      profile_slow_row */
	size_t nplanned;
	bool drop;	  /* calls without a return are left out */
	bool ticking;	  /* ticks may have a length (tick_scale.h) */
	bool seen, ticks; /* a block was read; the clock of its first lane counts ticks */
	struct sample_profile samples;
	struct pair_profile *pairs; /* of --pair; NULL: none */
	struct other_events others;
	uint64_t values, gaps;
	uint64_t cut; /* calls that ended without a leave */
};

int stack_profile_init(struct stack_profile *s, struct encoding *en, call_stacks_key *key);
void stack_profile_free(struct stack_profile *s);
int stack_profile_block(struct stack_profile *s, const struct block *b);
/* End all open calls, at the end of the trace, and check --weight. Returns 0, or -1 with *e filled.
 */
int stack_profile_finish(struct stack_profile *s, struct error *e);
/* The check of struct encoder, for encoders whose state begins with a struct stack_profile. */
int stack_profile_check(struct encoding *en, bool partial, struct error *e);
/* Report on standard error what the format cannot represent, and the calls without a leave; quiet:
 * only if the output is empty. format: "folded stacks hold"; most: its largest number. */
void stack_profile_report(const struct encoding *en, const struct stack_profile *s,
			  const char *format, uint64_t most);

#endif
