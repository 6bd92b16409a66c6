/*
 * stack_table.h - recorded stacks, each stored once and named by a small number
 *
 * A stack is a frame, and the stack of its caller. Numbers are dense from 1 in the order of first
 * use; 0 is no stack. The number of a caller's stack is below that of the stack. A table takes
 * about 28 bytes for each stack.
 *
 * It is a hash table of its own, as an intern of the same keys takes 2 times as long: a recording
 * has a new stack for each few samples, and each is looked up when it is declared and when it is
 * read.
 */
#ifndef TR_UTIL_STACK_TABLE_H
#define TR_UTIL_STACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STACK_FRAMES_MOST = 65535 }; /* a stream has no stack with more frames */

/* A stack: the location of its innermost frame, the stack of that frame's caller (0 none), the
 * number of frames, and the stack of its outermost STACK_FRAMES + 1 frames (stack_limit.h), which
 * is itself if it has no more. */
struct stack_key {
	uint32_t parent, location, frames, limited;
};

/* Zero-initialised is empty. */
struct stack_table {
	struct stack_key *stacks; /* by number - 1 */
	uint32_t *slots;	  /* number, 0 free */
	size_t capacity;
	uint32_t count;
	unsigned shift;	 /* 64 less the binary logarithm of the number of slots */
	uint64_t factor; /* of the hash, secret: a trace cannot choose keys that collide */
};

/* Get the number of the stack of a frame that parent calls, stored now or earlier. The frame fits.
 * 0 when out of memory. */
uint32_t stack_table_add(struct stack_table *t, uint32_t parent, uint32_t location);
void stack_table_free(struct stack_table *t);

static inline uint64_t stack_table_hash(const struct stack_table *t, uint32_t parent,
					uint32_t location)
{
	return ((uint64_t)parent << 32 | location) * t->factor;
}

/* Get a stack by its number, which is not 0. */
static inline struct stack_key stack_table_at(const struct stack_table *t, uint32_t number)
{
	return t->stacks[number - 1];
}

/* Fetch a stack before it is needed: tables of 100 000 stacks are not in the CPU's caches. A
 * function that only fetches is always in line: gcc takes a call of it as one without effect, and
 * removes the call. */
static inline __attribute__((always_inline)) void stack_table_fetch(const struct stack_table *t,
								    uint32_t number)
{
	__builtin_prefetch(&t->stacks[number - 1]);
}

/* Fetch what stack_table_add needs for a stack. */
static inline __attribute__((always_inline)) void
stack_table_fetch_slot(const struct stack_table *t, uint32_t parent, uint32_t location)
{
	if (t->slots)
		__builtin_prefetch(&t->slots[stack_table_hash(t, parent, location) >> t->shift]);
}

/* Test whether a frame can be added to a stack. */
static inline bool stack_table_fits(const struct stack_table *t, uint32_t parent)
{
	return !parent || stack_table_at(t, parent).frames < STACK_FRAMES_MOST;
}

/* Count the stacks; their numbers are 1 to this count. */
static inline uint32_t stack_table_count(const struct stack_table *t)
{
	return t->count;
}

#endif
