/*
 * stack_edges.h - a tree of stacks as functions and who calls whom
 *
 * The cost of an edge is what its calls took with their callees, of calls only that are no
 * recursion of the callee, direct or by others: so the edges into a function add up to the time
 * that it was on the stack.
 */
#ifndef TR_TRENCODE_PROFILE_STACK_EDGES_H
#define TR_TRENCODE_PROFILE_STACK_EDGES_H

#include "common/calls/stack_tree.h"

struct stack_function {
	uint64_t self, calls;
};

/* The caller of outermost calls is the number of names. */
struct stack_edge {
	uint32_t caller, callee;
	uint64_t calls, cost;
};

struct stack_edges {
	struct stack_function *functions; /* by name */
	struct stack_edge *edges;	  /* sorted by caller, then callee */
	size_t count, capacity;
	struct intern keys;
};

/* 0, or -1 when out of memory. */
int stack_edges_make(struct stack_edges *s, const struct stack_tree *t, const struct intern *names);
void stack_edges_free(struct stack_edges *s);

#endif
