/*
 * stack_table.h - recorded stacks, each stored once and named by a small number
 *
 * A stack is a frame, and the stack of its caller. Numbers are dense from 1 in the order of first
 * use; 0 is no stack. The number of a caller's stack is below that of the stack. A table takes
 * about 40 bytes for each stack.
 */
#ifndef TR_UTIL_STACK_TABLE_H
#define TR_UTIL_STACK_TABLE_H

#include <stdbool.h>
#include <string.h>

#include "common/util/intern.h"

enum { STACK_FRAMES_MOST = 65535 }; /* a stream has no stack with more frames */

struct stack_table {
	struct intern keys; /* struct stack_key; number 0 is unused */
};

/* A stack: the location of its innermost frame, the stack of that frame's caller (0 none), and the
 * number of frames. */
struct stack_key {
	uint32_t parent, location, frames;
};

/* 0, or -1 when out of memory. */
static inline int stack_table_init(struct stack_table *t)
{
	*t = (struct stack_table){0};
	return intern(&t->keys, "", 0) == INTERN_NONE ? -1 : 0;
}

static inline void stack_table_free(struct stack_table *t)
{
	intern_free(&t->keys);
}

/* Get a stack by its number, which is not 0. */
static inline struct stack_key stack_table_at(const struct stack_table *t, uint32_t number)
{
	struct stack_key k;

	memcpy(&k, intern_data(&t->keys, number), sizeof k);
	return k;
}

/* Test whether a frame can be added to a stack. */
static inline bool stack_table_fits(const struct stack_table *t, uint32_t parent)
{
	return !parent || stack_table_at(t, parent).frames < STACK_FRAMES_MOST;
}

/* Get the number of the stack of a frame that parent calls, stored now or earlier. The frame fits.
 * 0 when out of memory. */
static inline uint32_t stack_table_add(struct stack_table *t, uint32_t parent, uint32_t location)
{
	struct stack_key k = {parent, location, 1};
	uint32_t number;

	if (parent)
		k.frames += stack_table_at(t, parent).frames;
	number = intern(&t->keys, &k, sizeof k);
	return number == INTERN_NONE ? 0 : number;
}

/* Count the stacks; their numbers are 1 to this count. */
static inline uint32_t stack_table_count(const struct stack_table *t)
{
	return t->keys.count - 1;
}

#endif
