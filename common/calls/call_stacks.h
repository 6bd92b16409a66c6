/*
 * call_stacks.h - the stack of every call, as a node of one tree for all threads
 *
 *     got = calls_next(calls, e, &call);
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
 * A frame that was open before its thread's first event (an unseen call) gets its name when it is
 * left. Until call_stacks_end the stacks above it are below a node of their own, a base, which has
 * the thread and the number of unseen calls as its name. So parts of a trace can be counted alone:
 * equal bases are one, and the names are joined at the end. With tree.keep the number of a node may
 * then be an alias of another node (stack_tree_resolve).
 *
 * Functions that return int return 0, or -1 when out of memory.
 */
#ifndef TR_CALLS_CALL_STACKS_H
#define TR_CALLS_CALL_STACKS_H

#include "common/calls/calls.h"
#include "common/calls/stack_tree.h"
#include "common/util/buffer.h"

/* Append the key of a function; p may be NULL. */
typedef int call_stacks_key(struct buffer *to, const struct location *p, struct text_ref name);
call_stacks_key call_stacks_clean_name;

/* The unseen calls of a thread, as a stack below which others are. */
struct stack_base {
	uint32_t thread, unseen; /* number in calls; number of calls, at least 1 */
	uint32_t node;
	/* those from number `to` on have ended: one by a leave, with this name (number in names +
	   1; 0: they have not ended), or several without one, which are called "<0>" */
	uint32_t name, to;
};

/* A thread's stack: the node of each frame of calls.h. */
struct call_stacks_thread {
	uint32_t *node; /* by level, from low up */
	size_t capacity;
	uint32_t low;  /* number of unseen calls */
	uint32_t base; /* their node; the root if low is 0 */
	bool started;
	/* stack of its calls in the kernel, above the calls open when they began */
	uint32_t *kernel;
	size_t kernel_capacity;
};

/* Roots of recorded stacks with 4 bytes for each stack of the dictionary: without them trencode -t
 * folded takes 1.9 times the CPU for samples of 190,000 stacks. */
enum { RECORDED_ROOTS = 4 };

/* The nodes of the recorded stacks below a root. */
struct recorded_root {
	uint32_t root;
	uint32_t *node; /* by stack; 0: not known */
	size_t size;	/* 0: free */
};

struct call_stacks {
	const struct calls *calls; /* the caller's */
	call_stacks_key *key;
	struct stack_tree tree;
	struct intern names; /* keys */
	uint32_t unknown;    /* name of frames whose name stays unknown */
	/* set by the caller before the first event: unseen calls get no names, as the stacks are
	   written before the end */
	bool nameless;
	struct stack_base *bases;
	size_t nbases, bases_capacity;
	struct intern base_keys; /* thread, unseen: number in bases */
	uint32_t *name;		 /* by location: number in names + 1; 0 not yet looked up */
	size_t nnames;
	uint64_t deep; /* stacks of more than STACK_FRAMES frames, set by call_stacks_fold */
	bool unnamed;  /* some location has an address and no symbol of trsym */
	uint32_t symbol_changes;
	struct call_stacks_thread *threads; /* by number in calls */
	size_t nthreads;
	/* The nodes of recorded stacks. Those below the first roots are all known; of others, those
	   that were looked up last. */
	struct {
		struct recorded_root roots[RECORDED_ROOTS];
		struct {
			uint32_t root, stack, node; /* node 0: free */
		} * cache;
		struct buffer frames;
		uint32_t symbol_changes;
	} recorded;
	struct buffer scratch;
};

int call_stacks_init(struct call_stacks *cs, const struct calls *calls, call_stacks_key *key);
void call_stacks_free(struct call_stacks *cs);

/* Add the frame of this enter, which calls_next has just pushed. */
int call_stacks_enter(struct call_stacks *cs, const struct event *e);
/* Remove the frame of this leave, which calls_next has just popped: *node is the call's,
 * STACK_ROOT if not known. */
int call_stacks_leave(struct call_stacks *cs, const struct event *e, const struct call *call,
		      uint32_t *node);
/* Get the node of the frame that calls_next or calls_finish has just discarded from its stack s.
 * */
uint32_t call_stacks_lost(const struct call_stacks *cs, const struct stack *s);
/* Get the node of a call with a number, whose callers are those of a recorded stack; 0: none. */
int call_stacks_alone(struct call_stacks *cs, uint32_t location, uint32_t stack, uint32_t *node);
/* Get the node of the call in which an instant event happened; STACK_ROOT outside of calls.
 * Calls in the kernel outside any other call are not counted as calls, but they are its stack. */
int call_stacks_here(struct call_stacks *cs, const struct event *e, uint32_t *node);

/* Get the node of a recorded stack (dictionary.h) whose outermost frame is called by root; root if
 * there is no stack. Nodes of recorded stacks are never joined. */
int call_stacks_recorded(struct call_stacks *cs, uint32_t root, uint32_t stack, uint32_t *node);

/* Get the node of the name of a thread or type, called by another node. Blanks become _. */
int call_stacks_named(struct call_stacks *cs, uint32_t caller, struct text_ref name,
		      uint32_t *node);

/* Fetch the nodes of the stacks of a block before its rows are read. With this, with the stacks
 * that dictionary_read and the tables of a block fetch, and with the root of the last sample,
 * trencode -t folded takes 0.6 of the time. */
void call_stacks_fetch_recorded(const struct call_stacks *cs, const struct block *b);

/* Get the node of a call that the end of the trace closed. */
int call_stacks_finish(struct call_stacks *cs, const struct call *call, uint32_t *node);
/* Put the stacks of unseen calls where their names belong. All calls of a thread that were open
 * from beginning to end are one frame, "<0>". To be called once, after the last event. */
int call_stacks_end(struct call_stacks *cs);

/* Get the base of a thread with that many unseen calls; a new one is created. NULL when out of
 * memory. The next call makes the pointer invalid. */
struct stack_base *call_stacks_base(struct call_stacks *cs, uint32_t thread, uint32_t unseen);

/* Call stack_tree_fold, after call_stacks_end; sets cs->deep. */
int call_stacks_fold(struct call_stacks *cs);
/* Call stack_tree_limit. */
int call_stacks_limit(struct call_stacks *cs, uint32_t *became);

/* Rebuild the stacks of a stream when calls_restore has opened calls in the caller's engine. */
void call_stacks_follow(struct call_stacks *cs, struct calls *c);
/* Take note of all unseen calls that have ended, before calls_finish or where the trace is left. */
int call_stacks_catch_up(struct call_stacks *cs);
/* Forget all threads; the tree is unchanged. */
void call_stacks_forget(struct call_stacks *cs);

/* Get a thread by its number in calls, for loops over rows; NULL when out of memory. The
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

/* Write "a;b;c" and a NUL into the buffer, replacing its content; the root is "". */
int call_stacks_path(const struct call_stacks *cs, uint32_t node, struct buffer *out);

#endif
