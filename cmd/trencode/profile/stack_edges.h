/*
 * stack_edges.h - a tree of stacks as a graph: functions, and edges from callers to callees
 *
 * The cost of an edge is the total time of its calls. Calls that are a recursion of the callee,
 * direct or through others, cost nothing, so the edges to a function add up to its time on the
 * stack. Its weight has a call that contains another call of the same edge once, so it is what
 * passes the edge.
 */
#ifndef TR_TRENCODE_PROFILE_STACK_EDGES_H
#define TR_TRENCODE_PROFILE_STACK_EDGES_H

#include "common/calls/stack_tree.h"

/* One function. */
struct stack_function {
	uint64_t self, calls;
};

/* The calls from one function to another. The caller of outermost calls is the number of names. */
struct stack_edge {
	uint32_t caller, callee;
	uint64_t calls, cost, weight;
	bool open; /* private */
};

/* One graph. */
struct stack_edges {
	struct stack_function *functions; /* by name */
	struct stack_edge *edges;	  /* sorted by caller, then callee */
	size_t count, capacity;
	struct intern keys;
};

/* Make the graph of a tree. Returns 0, or -1 when out of memory. */
int stack_edges_make(struct stack_edges *s, const struct stack_tree *t, const struct intern *names);
void stack_edges_free(struct stack_edges *s);

#endif
