/*
 * stack_tree.h - the time spent in each distinct stack of calls
 *
 * A node is a stack: its name, called by its parent. Names are numbers of a struct intern. A node
 * takes 64 bytes, whatever the number of events.
 */
#ifndef TR_CALLS_STACK_TREE_H
#define TR_CALLS_STACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/intern.h"
#include "common/util/u128.h"

struct text;

struct stack_node {
	uint32_t parent, name;
	uint32_t first, next;  /* child, sibling; 0 none */
	uint32_t recent;       /* child found last (stack_tree_child), which may have moved since */
	uint64_t calls, total; /* finished calls; their time with their callees, saturates */
	int128 self;	       /* exact; negative weights make it negative */
};

enum {
	STACK_ROOT = 0,
	STACK_LOOSE = UINT32_MAX, /* parent of a node that is in no list of children */
};

struct stack_tree {
	struct stack_node *nodes; /* nodes[STACK_ROOT] is not a frame */
	size_t count, capacity;
	size_t live;
	uint32_t free;		 /* list of free nodes, linked by next */
	struct key_map children; /* nodes by stack_tree_key */
	bool keep;   /* numbers of nodes are never reused: for callers that store them */
	bool sums;   /* nodes are sums of calls by caller: a node's total is not that of its callees
		      */
	bool joined; /* and some of them are aliases of others: stack_tree_resolve */
};

/* Functions that return int return 0, or -1 when out of memory. */
int stack_tree_init(struct stack_tree *t);
void stack_tree_free(struct stack_tree *t);

/* Get the stack of parent calling name; 0 when out of memory. */
uint32_t stack_tree_child_slow(struct stack_tree *t, uint32_t parent, uint32_t name);

/* Without the child found last 'trdecode | trsym | trencode -t folded' of t/bench/uftrace.sh takes
 * 1.05 times the instructions. */
static inline uint32_t stack_tree_child(struct stack_tree *t, uint32_t parent, uint32_t name)
{
	uint32_t recent = t->nodes[parent].recent;

	if (t->nodes[recent].name == name && t->nodes[recent].parent == parent)
		return recent;
	return stack_tree_child_slow(t, parent, name);
}

/* Add a frame whose name and caller are not yet known; 0 when out of memory. */
uint32_t stack_tree_detached(struct stack_tree *t);

/* Attach a detached node, with its descendants, to parent under that name. If parent has a child of
 * that name, node is joined with the child. The numbers of node and its descendants become invalid;
 * with keep they resolve to the nodes that they were joined with. */
int stack_tree_attach(struct stack_tree *t, uint32_t node, uint32_t parent, uint32_t name);

/* Resolve a number of a node that may have been joined, with keep. */
uint32_t stack_tree_resolve(struct stack_tree *t, uint32_t node);

static inline void stack_tree_add(struct stack_tree *t, uint32_t node, int128 self)
{
	t->nodes[node].self += self;
}

/* Remove the nodes without calls, self and total that have no others below. A caller's number must
 * be below those of its callees, and no node may have been joined. */
void stack_tree_prune(struct stack_tree *t);

/*
 * List every node below the root, callers before their callees and those of one caller sorted
 * bytewise by their names: order[0..], of t->live + 1 numbers, the root first. Returns their
 * number; 0 when out of memory.
 */
size_t stack_tree_order(const struct stack_tree *t, const struct intern *names, uint32_t *order);

/* Add one finished call. */
static inline void stack_tree_call(struct stack_tree *t, uint32_t node, uint64_t self,
				   uint64_t total)
{
	stack_tree_add(t, node, self);
	t->nodes[node].calls++;
	add_saturated(&t->nodes[node].total, total);
}

/* Count the stacks below the root of more than STACK_FRAMES frames. */
uint64_t stack_tree_deep(const struct stack_tree *t);

/*
 * Set became[node], of t->count numbers, for each deeper node: the stack of STACK_FRAMES frames and
 * the frame `deeper`, which is created if it is new; 0 for all other nodes.
 */
int stack_tree_limit(struct stack_tree *t, uint32_t deeper, uint32_t *became);

/* Move the sums of all deeper nodes to those that stack_tree_limit finds. */
int stack_tree_fold(struct stack_tree *t, uint32_t deeper);

/* Write a line "root;...;leaf SELF" for each stack whose self value is not 0, sorted bytewise
 * by the stack. SELF is clipped to 64 bits, with a sign or without. Names must contain neither ';'
 * nor newlines. */
int stack_tree_write(const struct stack_tree *t, const struct intern *names, struct text *out);

#endif
