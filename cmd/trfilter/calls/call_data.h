/*
 * call_data.h - trfilter's data of each open call, which the call engine keeps (calls.balances)
 */
#ifndef TR_TRFILTER_CALLS_CALL_DATA_H
#define TR_TRFILTER_CALLS_CALL_DATA_H

#include "common/calls/calls.h"
#include "common/expr/evaluate.h"

/* An open call. All is zero where the call was open before its thread's first event. */
struct call_data {
	uint64_t start;
	const struct lane *lane;
	/* block of the row of its enter in the queue (block_queue.h), if undecided */
	uint64_t block;
	uint32_t row;
	enum answer answer : 8;
	bool begun;	 /* its enter was read */
	bool undecided;	 /* the row of its enter is undecided */
	bool in_range;	 /* its enter is in the time range */
	bool row_holds;	 /* the conditions on single rows hold for its enter */
	bool for_callee; /* kept as the caller of a kept call */
	bool numbered;	 /* is not a callee and has none */
	bool ignored;	 /* does not count (calls.ignored) */
	bool per_cpu;	 /* is on the stack of a CPU */
	uint32_t level;	 /* number of calls around it, or since the one that under() selects */
	uint32_t children;
	uint32_t node;	      /* node of its stack (stack_nodes.h) */
	uint64_t under, over; /* conditions true around it; conditions true for it or within it */
	uint64_t marks[];     /* results of conditions at the enter (decide.c) */
};

/* The address of an open call: number of its stack, and of its frame in the stack. */
struct call_address {
	uint32_t stack, number;
};

/* Returns the bytes of the data for so many marks. */
static inline size_t call_data_size(size_t marks)
{
	return sizeof(struct call_data) + (marks / 64 + 1) * sizeof(uint64_t);
}

static inline void call_data_mark(struct call_data *f, unsigned mark, bool yes)
{
	uint64_t *word = &f->marks[mark / 64];

	*word = (*word & ~(1ull << mark % 64)) | (uint64_t)yes << mark % 64;
}

static inline bool call_data_marked(const struct call_data *f, unsigned mark)
{
	return f->marks[mark / 64] >> mark % 64 & 1;
}

enum { CALL_STACKS = 3 }; /* stacks of a thread: its own, the kernel's, ignored calls with INNER */

/* Returns the address of call n of a thread's own stack. */
static inline struct call_address call_address_of(const struct stack *own, size_t n)
{
	return (struct call_address){CALL_STACKS * own->number, (uint32_t)n};
}
/* Returns the address of the call that was entered last. */
struct call_address call_address_last(const struct calls *c, const struct call *call);
/* Returns the stack of a call; NULL: it has a number, or there is none. */
const struct stack *call_address_stack(const struct calls *c, struct call_address at);
/* Returns the data of a call; NULL: the call is not open any more. */
struct call_data *call_data_at(const struct calls *c, struct call_address at);
/* Returns the number of the thread that a call with a lane is of. */
uint32_t call_address_thread(const struct call_data *f, struct call_address at);

#endif
