/*
 * stack_profile.h - calls summed up by their stacks: what folded, callgrind and pprof are made of
 *
 * All threads go into one tree. Frames that were open before the trace are found out when they are
 * left; longjmp, exec and lost events are as in common/calls.
 */
#ifndef TR_STACK_PROFILE_H
#define TR_STACK_PROFILE_H

#include "common/buffer.h"
#include "common/calls.h"
#include "stack_tree.h"

/* A thread's stack, frame by frame as in calls.h, as nodes of the tree. */
struct profile_thread {
	uint32_t *node; /* by level, from low up */
	size_t capacity;
	uint32_t low;  /* the frames below this level are open, but were never entered here */
	uint32_t base; /* the innermost of those, not yet known by name; the root if low is 0 */
	bool started;
	/* of its calls in the kernel, on top of whatever it was in when they began */
	uint32_t *kernel;
	size_t kernel_capacity;
};

/* Append the bytes that tell functions apart; p may be NULL. -1: memory is out. */
typedef int profile_key(struct buffer *to, const struct place *p, struct text_ref name);

struct stack_profile {
	struct calls calls;
	struct stack_tree tree;
	struct intern names; /* keys */
	profile_key *key;
	uint32_t unknown; /* the name of a frame that is never known */
	uint32_t *name;	  /* by place: number in names + 1; 0 not asked */
	size_t nnames;
	uint32_t symbol_changes;
	struct profile_thread *threads; /* by number in calls */
	size_t nthreads;
	struct buffer scratch;
	uint32_t *planned; /* by place of a block: number in names + 1, 0: the slow way */
	size_t nplanned;
	bool drop;    /* calls without a return are left out */
	bool unnamed; /* some place has an address and was never looked up by trsym */
	uint64_t instants, values, gaps;
};

/* 0, or -1 when memory is out; so do all others. */
int stack_profile_init(struct stack_profile *s, struct dictionary *d, profile_key *key, bool drop);
void stack_profile_free(struct stack_profile *s);
int stack_profile_block(struct stack_profile *s, const struct block *b);
/* The end of the trace: what is open ends. */
int stack_profile_finish(struct stack_profile *s);
/* Say on standard error what the format has no room for, and what was not closed. */
void stack_profile_report(const struct stack_profile *s, const char *format);

#endif
