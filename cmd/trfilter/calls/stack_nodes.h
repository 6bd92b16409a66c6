/*
 * stack_nodes.h - call stacks, each distinct one with a number
 *
 * A stack is the stack below it and a place on top. Zero-initialised is empty.
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
	uint64_t deep; /* calls on STACK_FRAMES others or more (stack_limit.h): the caller counts */
};

/* The number of the stack, STACK_NODES_BOTTOM being the empty one. 0: none, for there are too many,
 * or below is 0. */
uint32_t stack_nodes_push(struct stack_nodes *s, uint32_t below, uint32_t location);
void stack_nodes_free(struct stack_nodes *s);

#endif
