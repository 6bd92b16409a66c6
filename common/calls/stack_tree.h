/*
 * stack_tree.h - how much was spent in each distinct stack of calls
 *
 * A node is a stack: its name, called by its parent. Names are numbers of a struct intern. A node
 * takes about 60 bytes, whatever the number of events.
 */
#ifndef TR_CALLS_STACK_TREE_H
#define TR_CALLS_STACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/intern.h"
#include "common/calls/stack_limit.h"
#include "common/util/text.h"

struct stack_node {
	uint32_t parent, name;
	uint32_t first, next; /* child, sibling; 0 none */
	uint32_t recent;      /* the child that was asked for last, or what was once */
	uint32_t spare;
	uint64_t self;	       /* stays at its maximum rather than wrap */
	uint64_t calls, total; /* how many calls ended, and how long they took with their callees */
};

enum {
	STACK_ROOT = 0,
	STACK_LOOSE = UINT32_MAX, /* parent of a node that is in no list of children */
};

struct stack_tree {
	struct stack_node *nodes; /* nodes[STACK_ROOT] is no frame */
	size_t count, capacity;
	size_t live;
	uint32_t free;	 /* list of nodes to be used again, by next */
	uint32_t *slots; /* hash of (parent, name): node, 0 free */
	uint32_t mask, used;
	bool keep;   /* numbers of nodes are never used again: for who remembers them */
	bool joined; /* and some of them stand for others: stack_tree_resolve */
};

/* 0, or -1 when out of memory; so do all others that return int. */
int stack_tree_init(struct stack_tree *t);
void stack_tree_free(struct stack_tree *t);

/* The stack of parent calling name; 0 when out of memory. */
uint32_t stack_tree_child_slow(struct stack_tree *t, uint32_t parent, uint32_t name);

static inline uint32_t stack_tree_child(struct stack_tree *t, uint32_t parent, uint32_t name)
{
	uint32_t recent = t->nodes[parent].recent;

	if (t->nodes[recent].name == name && t->nodes[recent].parent == parent)
		return recent;
	return stack_tree_child_slow(t, parent, name);
}

/* A frame of which neither name nor caller are known as yet; 0 when out of memory. */
uint32_t stack_tree_detached(struct stack_tree *t);

/* Now they are known: node and what hangs on it become parent's child of that name, joined with the
 * one that is there. Node's number, and those below it, are no longer to be used; with keep they
 * lead to what they became. */
int stack_tree_attach(struct stack_tree *t, uint32_t node, uint32_t parent, uint32_t name);

/* What hangs on node hangs on to, which is joined with it and takes its numbers. */
int stack_tree_join(struct stack_tree *t, uint32_t node, uint32_t to);

/* With keep: what became of a node's number. */
uint32_t stack_tree_resolve(struct stack_tree *t, uint32_t node);

static inline void stack_tree_add(struct stack_tree *t, uint32_t node, uint64_t self)
{
	uint64_t *sum = &t->nodes[node].self;

	if (__builtin_add_overflow(*sum, self, sum))
		*sum = UINT64_MAX;
}

/*
 * Every node that hangs on the root, callers before their callees and those of one caller sorted
 * bytewise by their names: order[0..], of t->live + 1 numbers, the root first. How many; 0 when
 * out of memory.
 */
size_t stack_tree_order(const struct stack_tree *t, const struct intern *names, uint32_t *order);

/* One call ended. */
static inline void stack_tree_call(struct stack_tree *t, uint32_t node, uint64_t self,
				   uint64_t total)
{
	stack_tree_add(t, node, self);
	t->nodes[node].calls++;
	t->nodes[node].total += total;
}

/* How many stacks that hang on the root have more than STACK_FRAMES frames. */
uint64_t stack_tree_deep(const struct stack_tree *t);

/*
 * became[node], of t->count numbers: the stack of STACK_FRAMES frames and the frame `deeper`, which
 * is made if it is new, for each deeper node; 0 for the others. -1: out of memory.
 */
int stack_tree_limit(struct stack_tree *t, uint32_t deeper, uint32_t *became);

/* Move the sums of all deeper nodes to those that stack_tree_limit finds. */
int stack_tree_fold(struct stack_tree *t, uint32_t deeper);

/* "root;...;leaf SELF" a line for each stack with a self greater than 0, sorted bytewise by the
 * stack. Names are to hold neither ';' nor newlines. */
int stack_tree_write(const struct stack_tree *t, const struct intern *names, struct text *out);

#endif
