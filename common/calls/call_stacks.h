/*
 * call_stacks.h - the stack that every call stood on, as a node of one tree for all threads
 *
 *     got = calls_feed(calls, e, &call);
 *     if (got == CALLS_ENTER)
 *             call_stacks_enter(cs, e);
 *     else if (got == CALLS_LEAVE)
 *             call_stacks_leave(cs, e, &call, &node);
 *
 * and at the end call_stacks_finish for each call of calls_finish, then call_stacks_end. A node is
 * its function called by its parent. Functions are told apart by their keys: with
 * call_stacks_clean_name these are their names, in which ';' has become ':' and control characters
 * stand as \x0a, so that stacks can be written "a;b;c".
 *
 * A frame that was open when its thread was first seen gets its name when it is left: until then
 * the stacks above it hang in the air. So with tree.keep the number of a node may come to stand for
 * another one (stack_tree_resolve).
 *
 * Of a stack with a cut (cut.h) the nodes are below `open`, which stands for the frames that are
 * not known. Whoever feeds its list of operations to calls that know them says so here too
 * (call_stacks_set, call_stacks_reach, call_stacks_pushed), and grafts what hangs on `open` onto
 * call_stacks_top (stack_graft.h).
 */
#ifndef TR_CALLS_CALL_STACKS_H
#define TR_CALLS_CALL_STACKS_H

#include "common/util/buffer.h"
#include "common/calls/calls.h"
#include "common/calls/stack_tree.h"

/* Append the bytes that tell functions apart; p may be NULL. -1: out of memory. */
typedef int call_stacks_key(struct buffer *to, const struct location *p, struct text_ref name);
call_stacks_key call_stacks_clean_name;

/* A thread's stack, frame by frame as in calls.h, as nodes of the tree. */
struct call_stacks_thread {
	uint32_t *node; /* by level, from low up */
	size_t capacity;
	uint32_t low;  /* the frames below this level are open, but were never entered here */
	uint32_t base; /* the innermost of those, not yet known by name; the root if low is 0 */
	bool started;
	/* of its calls in the kernel, on top of whatever it was in when they began */
	uint32_t *kernel;
	size_t kernel_capacity;
	size_t kernel_at; /* where its stack's list (cut.h) stood when they began */
};

struct call_stacks {
	const struct calls *calls; /* the caller's */
	call_stacks_key *key;
	struct stack_tree tree;
	struct intern names; /* keys */
	uint32_t unknown;    /* the name of a frame that is never known */
	uint32_t open;	/* below which stacks of parts are; 0: call_stacks_cuts was not called */
	uint32_t *name; /* by place: number in names + 1; 0 not asked */
	size_t nnames;
	uint64_t deep; /* stacks of more than STACK_FRAMES frames, by call_stacks_fold */
	bool unnamed;  /* some place has an address and was never looked up by trsym */
	uint32_t symbol_changes;
	struct call_stacks_thread *threads; /* by number in calls */
	size_t nthreads;
	struct buffer scratch;
};

/* 0, or -1 when out of memory; so do all others that return int. */
int call_stacks_init(struct call_stacks *cs, const struct calls *calls, call_stacks_key *key);
void call_stacks_free(struct call_stacks *cs);

/* calls_feed has just pushed the frame of this enter. */
int call_stacks_enter(struct call_stacks *cs, const struct event *e);
/* It has just taken the frame of this leave: *node is the call's, STACK_ROOT if not known. */
int call_stacks_leave(struct call_stacks *cs, const struct event *e, const struct call *call,
		      uint32_t *node);
/* calls_feed, or calls_finish, has just taken this frame off its stack s, without a leave. */
uint32_t call_stacks_lost(const struct call_stacks *cs, const struct stack *s);
/* The node of the call that the event, which is none, happened in; STACK_ROOT outside of calls.
 * Those in the kernel outside of any other call, which are none, are its stack all the same. */
int call_stacks_here(struct call_stacks *cs, const struct event *e, uint32_t *node);

/* A call that the end of the trace closed. */
int call_stacks_finish(struct call_stacks *cs, const struct call *call, uint32_t *node);
/* Frames that are still in the air are named "<0>". */
int call_stacks_end(struct call_stacks *cs);

/* stack_tree_fold, after call_stacks_end; cs->deep is set. */
int call_stacks_fold(struct call_stacks *cs);
/* stack_tree_limit. */
int call_stacks_limit(struct call_stacks *cs, uint32_t *became);

/* Before calls that may have a cut are fed. */
int call_stacks_cuts(struct call_stacks *cs);
/* All calls were forgotten; the stacks stay. */
void call_stacks_forget(struct call_stacks *cs);
/* The thread, by its number in calls, is new: that many of its frames are open, but were never
 * entered here. */
int call_stacks_set(struct call_stacks *cs, size_t thread, uint32_t unseen);
/* The thread's stack was made what an enter finds, who is entered being of no account. */
int call_stacks_reach(struct call_stacks *cs, size_t thread);
/* A frame was put on the stack. */
int call_stacks_pushed(struct call_stacks *cs, size_t thread);
/* Or on that of the calls in the kernel. The lowest of these stands where they began, which is not
 * always what lies below them now. */
int call_stacks_pushed_kernel(struct call_stacks *cs, size_t thread, uint32_t caller, size_t at);
/* What call_stacks_pushed_kernel wants of a thread that has some; false: it is not known. */
bool call_stacks_kernel_caller(struct call_stacks *cs, size_t thread, uint32_t *caller, size_t *at);
/* Is the node `open` or below it? */
bool call_stacks_is_open(const struct call_stacks *cs, uint32_t node);
/* The node of the thread's stack as it stands, without calls in the kernel. */
uint32_t call_stacks_top(const struct call_stacks *cs, size_t thread);

/* For who takes blocks by calls_try (calls.h): a thread by its number in calls, NULL when memory is
 * out. What it returned before is no longer valid. */
struct call_stacks_thread *call_stacks_thread(struct call_stacks *cs, size_t number);
/* The name of a place's function. */
int call_stacks_name(struct call_stacks *cs, uint32_t location, uint32_t *name);
/* Room for a level; what was never set is the root. */
int call_stacks_grow(uint32_t **nodes, size_t *capacity, size_t level);

/* The node that is called from at this level. */
static inline uint32_t call_stacks_caller(const struct call_stacks_thread *th, uint32_t level)
{
	return level > th->low ? th->node[level - 1] : th->base;
}

/* A call began at this level, which is not below th->low. */
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

/* "a;b;c" into the buffer, in place of what is there, with a NUL behind it; of the root
 * nothing. A stack in the air begins with "<0>". */
int call_stacks_path(const struct call_stacks *cs, uint32_t node, struct buffer *out);

#endif
