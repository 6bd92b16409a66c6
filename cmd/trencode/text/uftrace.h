/*
 * uftrace.h - as uftrace replay prints
 */
#ifndef TR_TRENCODE_TEXT_UFTRACE_H
#define TR_TRENCODE_TEXT_UFTRACE_H

#include "common/stream/dictionary.h"

/*
 * The state that `uftrace replay` has of each task while it prints.
 *
 * The line of a call depends on more than its depth: on the indent after a fork, lost records or a
 * longjmp, on the depth limit, and on the assumed start of frames whose enter is missing. The state
 * here is that of uftrace, so that numbers and indents are equal: each task has a stack that
 * follows its enters and leaves (scheduling is a call too). The recorded depth is used only at the
 * first record of a task and after a loss.
 */

enum {
	FRAME_EXEC = 1,	   /* an exec: the stack is empty after it */
	FRAME_LONGJMP = 2, /* returns to the frame of the last setjmp */
	FRAME_HIDDEN = 4,  /* beyond the depth limit */
};

/* One frame of the stack of a task. */
struct replay_frame {
	uint64_t time;	   /* time of the enter, ns; after the leave the duration */
	uint32_t location; /* 0: the enter is missing */
	int32_t allowance; /* levels that could still be shown at the enter */
	uint8_t flags;
	bool open; /* time is that of the enter */
};

enum { FRAME_CHUNK = 64 };

struct replay;

/* A thread of a recording. */
struct replay_task {
	struct replay *replay;
	const struct lane *lane;
	int count, calls;  /* number of frames; of these, functions outside of the kernel */
	int indent;	   /* display depth */
	int fork_indent;   /* indent of the child of the last fork, 0: none */
	int32_t allowance; /* levels that can still be shown */
	/*
	 * The number of frames with that of an exec, and the indent inside the exec. They are
	 * restored if the exec has failed. 0: no exec was entered.
	 */
	int exec_count, exec_indent;
	bool indent_known, begun, fork_taken, after_loss;
	bool in_kernel;		   /* the last call was in the kernel */
	uint64_t time, last_time;  /* of this printed row, of the printed row before, ns */
	uint64_t callsite;	   /* address that makes the next call, 0: unknown */
	const struct space *space; /* address space of the last function */
	uint64_t unseen_time;	   /* assumed enter of frames without one, ns */
	struct replay_frame **chunks;
	size_t nchunks;
	char tid[16]; /* "[%6d]" */
	uint8_t tid_size;
};

/* The tasks of a recording. */
struct replay {
	int max_stack;			 /* largest number of frames */
	int32_t depth;			 /* levels of nested calls shown */
	int setjmp_indent, setjmp_count; /* of the last setjmp of all tasks, as in uftrace */
	bool setjmp_shown;
	uint64_t first; /* time of the first row that counts, ns; 0: none */
	uint64_t last;	/* time of the last row printed, ns */
	bool out_of_memory;
	struct idmap tids; /* from tid to index of the task + 1 */
	struct replay_task **tasks;
	size_t ntasks, capacity;
};

/* The effect of a row on a stack. */
enum row_kind { ROW_ENTER, ROW_LEAVE, ROW_SCHED_OUT, ROW_SCHED_IN, ROW_EVENT, ROW_LOSS };

struct replay_row {
	enum row_kind kind;
	uint64_t time;
	uint32_t location, depth;
	bool kernel; /* a call in the kernel; depth counts from the task's calls outside of it */
};

/* Functions that change the stack. */
enum fixup { FIXUP_NONE, FIXUP_EXEC, FIXUP_SETJMP, FIXUP_LONGJMP, FIXUP_FORK };

/* Return frame i from the bottom, or NULL outside of the stack. */
struct replay_frame *replay_frame_slow(struct replay_task *t, int i);
static inline struct replay_frame *replay_frame(struct replay_task *t, int i)
{
	if (__builtin_expect(i >= 0 && i < t->replay->max_stack &&
				     (size_t)i / FRAME_CHUNK < t->nchunks &&
				     t->chunks[i / FRAME_CHUNK],
			     1))
		return &t->chunks[i / FRAME_CHUNK][i % FRAME_CHUNK];
	return replay_frame_slow(t, i);
}

#endif
