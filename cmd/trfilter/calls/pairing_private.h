/*
 * pairing_private.h - shared by pairing.c (single events) and pairing_block.c (blocks)
 */
#ifndef TR_TRFILTER_CALLS_PAIRING_PRIVATE_H
#define TR_TRFILTER_CALLS_PAIRING_PRIVATE_H

#include "cmd/trfilter/calls/pairing.h"

/* Bounds the memory for enters without leaves: beyond it the outermost calls are forgotten. */
enum { PAIRING_LIMIT = 1 << 20 };

struct pairing_frame {
	uint32_t depth;
	uint32_t inner : 1, note : 31;
};

struct pairing_stack {
	struct pairing_frame *frames;
	size_t count, capacity;
	uint64_t seen; /* number of the block in which pairing_block.c used the stack */
};

struct pairing_stack *pairing_new_stack(struct pairing *p, uint32_t number);
void pairing_push(struct pairing *p, struct pairing_stack *s, const struct pairing_frame *f);

/* Returns a stack by its number. NULL: out of memory. */
static inline struct pairing_stack *pairing_stack(struct pairing *p, uint32_t number)
{
	return number < p->size ? &p->stacks[number] : pairing_new_stack(p, number);
}

#endif
