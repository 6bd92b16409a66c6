/*
 * pairing_private.h - what pairing.c (event by event) and pairing_block.c (blocks of them) share
 */
#ifndef TR_TRFILTER_CALLS_PAIRING_PRIVATE_H
#define TR_TRFILTER_CALLS_PAIRING_PRIVATE_H

#include "cmd/trfilter/calls/pairing.h"

/* Enters without leaves must not take all memory: beyond that the outermost are forgotten. */
enum { PAIRING_LIMIT = 1 << 20 };

struct pairing_frame {
	uint32_t depth;
	uint32_t inner : 1, note : 31;
};

struct pairing_stack {
	struct pairing_frame *frames;
	size_t count, capacity;
	uint64_t seen; /* by pairing_block.c, in which block */
};

struct pairing_stack *pairing_new_stack(struct pairing *p, uint32_t number);
void pairing_push(struct pairing *p, struct pairing_stack *s, const struct pairing_frame *f);

/* NULL: out of memory. */
static inline struct pairing_stack *pairing_stack(struct pairing *p, uint32_t number)
{
	return number < p->size ? &p->stacks[number] : pairing_new_stack(p, number);
}

#endif
