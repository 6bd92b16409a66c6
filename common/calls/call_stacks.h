/*
 * call_stacks.h - the stack of every call, as a node of one tree for all threads
 *
 *     got = calls_feed(calls, e, &call);
 *     if (got == CALLS_ENTER)
 *             call_stacks_enter(cs, e);
 *     else if (got == CALLS_LEAVE)
 *             call_stacks_leave(cs, e, &call, &node);
 *
 * and at the end call_stacks_finish for each call of calls_finish, then call_stacks_end. A node is
 * its function called by its parent. Functions are distinguished by their keys. The keys of
 * call_stacks_clean_name are names in which ';' is replaced by ':' and a control character by an
 * escape such as \x0a, so that stacks can be written "a;b;c".
 *
 * A frame that was open when its thread was first seen gets its name when it is left. Until then
 * the stacks above it are not attached to the root. So with tree.keep the number of a node may
 * become an alias of another node (stack_tree_resolve).
 *
 * The nodes of a partial stack (partial_stack.h) are below `open`, which represents the unknown
 * frames. The caller that applies its list of operations to calls with known frames reports that
 * here too (call_stacks_set, call_stacks_reach, call_stacks_pushed), and grafts the nodes below
 * `open` onto call_stacks_top (stack_graft.h).
 *
 * Functions that return int return 0, or -1 when out of memory.
 */
#ifndef TR_CALLS_CALL_STACKS_H
#define TR_CALLS_CALL_STACKS_H

#include "common/util/buffer.h"
#include "common/calls/calls.h"
#include "common/calls/stack_tree.h"

/* Append the key of a function; p may be NULL. */
typedef int call_stacks_key(struct buffer *to, const struct location *p, struct text_ref name);
call_stacks_key call_stacks_clean_name;

/* A thread's stack: the node of each frame of calls.h. */
struct call_stacks_thread {
	uint32_t *node; /* by level, from low up */
	size_t capacity;
	uint32_t low;  /* the frames below this level are open without an enter */
	uint32_t base; /* the innermost of those, its name not yet known; the root if low is 0 */
	bool started;
	/* stack of its calls in the kernel, above the calls open when they began */
	uint32_t *kernel;
	size_t kernel_capacity;
	size_t kernel_at; /* position in its stack's list (partial_stack.h) when they began */
};

struct call_stacks {
	const struct calls *calls; /* the caller's */
	call_stacks_key *key;
	struct stack_tree tree;
	struct intern names; /* keys */
	uint32_t unknown;    /* name of frames whose name stays unknown */
	uint32_t open;	     /* parent of the nodes of partial stacks; 0 before call_stacks_cuts */
	uint32_t *name;	     /* by location: number in names + 1; 0 not yet looked up */
	size_t nnames;
	uint64_t deep; /* stacks of more than STACK_FRAMES frames, set by call_stacks_fold */
	bool unnamed;  /* some location has an address and no symbol of trsym */
	uint32_t symbol_changes;
	struct call_stacks_thread *threads; /* by number in calls */
	size_t nthreads;
	struct buffer scratch;
};

int call_stacks_init(struct call_stacks *cs, const struct calls *calls, call_stacks_key *key);
void call_stacks_free(struct call_stacks *cs);

/* Add the frame of this enter, which calls_feed has just pushed. */
int call_stacks_enter(struct call_stacks *cs, const struct event *e);
/* Remove the frame of this leave, which calls_feed has just popped: *node is the call's,
 * STACK_ROOT if not known. */
int call_stacks_leave(struct call_stacks *cs, const struct event *e, const struct call *call,
		      uint32_t *node);
/* Get the node of the frame that calls_feed or calls_finish has just discarded from its stack s.
 * */
uint32_t call_stacks_lost(const struct call_stacks *cs, const struct stack *s);
/* Get the node of a call that has no caller, as calls with numbers do. */
int call_stacks_alone(struct call_stacks *cs, uint32_t location, uint32_t *node);
/* Get the node of the call in which an instant event happened; STACK_ROOT outside of calls.
 * Calls in the kernel outside any other call are not counted as calls, but they are its stack. */
int call_stacks_here(struct call_stacks *cs, const struct event *e, uint32_t *node);

/* Get the node of a call that the end of the trace closed. */
int call_stacks_finish(struct call_stacks *cs, const struct call *call, uint32_t *node);
/* Name the frames that are still unattached "<0>". */
int call_stacks_end(struct call_stacks *cs);

/* Call stack_tree_fold, after call_stacks_end; sets cs->deep. */
int call_stacks_fold(struct call_stacks *cs);
/* Call stack_tree_limit. */
int call_stacks_limit(struct call_stacks *cs, uint32_t *became);

/* Prepare for partial stacks, before their events are fed. */
int call_stacks_cuts(struct call_stacks *cs);
/* Forget all threads; the tree is unchanged. */
void call_stacks_forget(struct call_stacks *cs);
/* Begin a thread, by its number in calls, with that many open frames that have no enter. */
int call_stacks_set(struct call_stacks *cs, size_t thread, uint32_t unseen);
/* Remove the frames that an enter of the thread ended; the function entered is not needed. */
int call_stacks_reach(struct call_stacks *cs, size_t thread);
/* Add a frame to the thread's stack. */
int call_stacks_pushed(struct call_stacks *cs, size_t thread);
/* Add a frame to the stack of the thread's calls in the kernel. The lowest of these belongs
 * where they began, which is not always the frame below them now. */
int call_stacks_pushed_kernel(struct call_stacks *cs, size_t thread, uint32_t caller, size_t at);
/* Get the arguments of call_stacks_pushed_kernel for a thread with calls in the kernel; false:
 * unknown. */
bool call_stacks_kernel_caller(struct call_stacks *cs, size_t thread, uint32_t *caller, size_t *at);
/* Test whether the node is `open` or below it. */
bool call_stacks_is_open(const struct call_stacks *cs, uint32_t node);
/* Get the node of the thread's current stack, without calls in the kernel. */
uint32_t call_stacks_top(const struct call_stacks *cs, size_t thread);

/* Get a thread by its number in calls, for callers of calls_try; NULL when out of memory. The
 * next call makes the pointer invalid. */
struct call_stacks_thread *call_stacks_thread(struct call_stacks *cs, size_t number);
/* Get the name of a location's function. */
int call_stacks_name(struct call_stacks *cs, uint32_t location, uint32_t *name);
/* Make room for a level; levels never set are the root. */
int call_stacks_grow(uint32_t **nodes, size_t *capacity, size_t level);

/* Get the node of the caller of a frame at this level. */
static inline uint32_t call_stacks_caller(const struct call_stacks_thread *th, uint32_t level)
{
	return level > th->low ? th->node[level - 1] : th->base;
}

/* Add a call at this level, which is not below th->low. */
static inline __attribute__((always_inline)) int call_stacks_push(struct call_stacks *cs,
								  struct call_stacks_thread *th,
								  uint32_t level, uint32_t name)
{
	uint32_t node = stack_tree_child(&cs->tree, call_stacks_caller(th, level), name);

	if (__builtin_expect(!node, 0))
		return -1;
	if (__builtin_expect(level >= th->capacity, 0) &&
	    call_stacks_grow(&th->node, &th->capacity, level))
		return -1;
	th->node[level] = node;
	return 0;
}

/* Write "a;b;c" and a NUL into the buffer, replacing its content; the root is "". An unattached
 * stack begins with "<0>". */
int call_stacks_path(const struct call_stacks *cs, uint32_t node, struct buffer *out);

#endif
