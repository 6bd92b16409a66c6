/*
 * known_stacks.h - the stacks of call chains that were met before
 *
 * A stack is found by one digest of all its addresses, from the outermost frame on, and so are the
 * stacks of its callers, whose digests are the sums on the way. A chain is looked up from its
 * innermost frame outwards, up to the first stack that is known: mostly at once, as most frames of
 * a new chain are those of an earlier one. A sample of N frames costs N multiplications and one or
 * two accesses to memory, where a look-up of each frame costs N such accesses. With these look-ups
 * instead, 'trdecode | trstat' of t/bench/perf.sh takes 2.7 times the instructions. Without the
 * digest of the whole chain, which sample_rows.c computes ahead, it takes 1.05 times the
 * instructions and 1.3 times the CPU.
 *
 * A digest is a sum of products of the addresses with secret numbers of 64 bits, one for each place
 * in a chain, modulo 2^128. Two chains have the same sum with a probability of at most 2^-64,
 * whatever a file holds. The sum is reduced to 64 bits by another such sum, with numbers of 128
 * bits, which collides as rarely.
 */
#ifndef TR_TRDECODE_PERF_KNOWN_STACKS_H
#define TR_TRDECODE_PERF_KNOWN_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/u128.h"

enum { KNOWN_FRAMES = 256 }; /* of a digest */

struct known_stack {
	uint64_t digest;
	uint32_t stack; /* 0: the slot is free */
};

/* The secret numbers, and a hash table of at most 16 MiB, which is emptied when it is full. */
struct known_stacks {
	struct {
		uint64_t address[KNOWN_FRAMES], context[KNOWN_FRAMES], parent;
		uint128 low, high;
	} key;
	struct known_stack *slots;
	size_t count;
	unsigned shift; /* 64 less the binary logarithm of the number of slots */
};

/* The sums of the frames of a chain. */
struct known_sum {
	uint128 sum;
	size_t frames;
};

struct known_stacks *known_stacks_new(void); /* NULL: out of memory */
void known_stacks_free(struct known_stacks *k);
void known_stacks_put(struct known_stacks *k, uint64_t digest, uint32_t stack);

/* Begin the sums of frames that the innermost frame of the stack parent calls; 0: of none. */
static inline struct known_sum known_stacks_begin(const struct known_stacks *k, uint32_t parent)
{
	return (struct known_sum){(uint128)parent * k->key.parent, 0};
}

/* Note a number on which the stacks of the next frames depend; frames are added before another is
 * noted. */
static inline void known_stacks_context(const struct known_stacks *k, struct known_sum *s,
					uint32_t context)
{
	s->sum += ((uint128)context + 1) * k->key.context[s->frames];
}

/* Add a frame, of at most KNOWN_FRAMES. */
static inline void known_stacks_add(const struct known_stacks *k, struct known_sum *s,
				    uint64_t address)
{
	uint64_t key = k->key.address[s->frames++];

	/* the address + 1: a frame at 0 is a frame */
	s->sum += (uint128)address * key + key;
}

static inline uint64_t known_stacks_digest(const struct known_stacks *k, uint128 sum)
{
	return (uint64_t)(((uint64_t)sum * k->key.low + (uint64_t)(sum >> 64) * k->key.high) >> 64);
}

static inline const struct known_stack *known_stacks_slot(const struct known_stacks *k,
							  uint64_t digest)
{
	return &k->slots[digest >> k->shift];
}

/* Find a stack; 0: it is not known. */
static inline uint32_t known_stacks_find(const struct known_stacks *k, uint64_t digest)
{
	size_t mask = ((size_t)1 << (64 - k->shift)) - 1;

	for (size_t at = digest >> k->shift; k->slots[at].stack; at = (at + 1) & mask)
		if (k->slots[at].digest == digest)
			return k->slots[at].stack;
	return 0;
}

#endif
