/*
 * stack_nodes.h - number the distinct call stacks
 *
 * A stack is the stack below it and a location on top. Zero-initialised is empty.
 */
#ifndef TR_TRFILTER_CALLS_STACK_NODES_H
#define TR_TRFILTER_CALLS_STACK_NODES_H

#include <stddef.h>
#include <stdint.h>

enum { STACK_NODES_BOTTOM = 1, STACK_NODES_LIMIT = 1 << 16 };

struct stack_node {
	uint32_t below, location;
	uint32_t number; /* 0: free */
};

struct stack_nodes {
	struct stack_node *slots;
	uint32_t mask, count;
	/* number of calls on STACK_FRAMES or more others (stack_limit.h); counted by the caller
	 * */
	uint64_t deep;
};

/* Returns the number of the stack; STACK_NODES_BOTTOM is the empty one. 0: there are too many,
 * or below is 0. */
uint32_t stack_nodes_push(struct stack_nodes *s, uint32_t below, uint32_t location);
void stack_nodes_free(struct stack_nodes *s);

#endif
