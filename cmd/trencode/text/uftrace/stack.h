/*
 * stack.h - what `uftrace replay` knows of each task while it prints
 *
 * A call's line depends on more than its depth: where the display starts after a fork, after lost
 * records or a longjmp, which calls are beyond the depth limit, and how long a frame took that was
 * never seen to begin. This keeps that state the way uftrace does, as its numbers and its
 * indentation are to be had: per task a stack that follows enter and leave (scheduling is a call
 * too), and that takes the recorded depth over only at a task's first record and behind a loss.
 */
#ifndef TR_TRENCODE_TEXT_UFTRACE_STACK_H
#define TR_TRENCODE_TEXT_UFTRACE_STACK_H

#include "common/stream/dictionary.h"

enum {
	FRAME_EXEC = 1,	   /* an exec: the stack starts anew behind it */
	FRAME_LONGJMP = 2, /* goes back to where setjmp was */
	FRAME_HIDDEN = 4,  /* beyond the depth limit */
};

struct replay_frame {
	uint64_t time;	   /* of its begin; its duration once it was left */
	uint32_t location; /* 0: its begin was not seen */
	int32_t allowance; /* levels that were still to be shown when it was entered */
	uint8_t flags;
	bool open; /* time is a begin */
};

enum { FRAME_CHUNK = 64 };

struct replay;

struct replay_task {
	struct replay *replay;
	const struct lane *lane;
	int count, calls;  /* frames; those of them that are functions seen to begin */
	int indent;	   /* display depth */
	int fork_indent;   /* that of a fork's child, 0 none */
	int32_t allowance; /* levels still to be shown */
	/*
	 * An exec was entered: the frames with its own, and the indent inside of it, which are
	 * taken up again if the exec turns out to have failed. 0: none.
	 */
	int exec_count, exec_indent;
	bool indent_known, begun, fork_taken, after_loss;
	bool in_kernel;		   /* the last call was of the kernel */
	uint64_t time, last_time;  /* of the rows printed: this, the one before */
	uint64_t callsite;	   /* of the next call, 0 none */
	const struct space *space; /* of the last function seen */
	uint64_t unseen_time;	   /* begin of frames never touched */
	struct replay_frame **chunks;
	size_t nchunks;
	char tid[16]; /* "[%6d]" */
	uint8_t tid_size;
};

/* A recording. */
struct replay {
	int max_stack;			 /* frames beyond are not followed */
	int32_t depth;			 /* limit of nested calls shown */
	int setjmp_indent, setjmp_count; /* of the last setjmp in any task, as in uftrace */
	bool setjmp_shown;
	uint64_t first; /* time of the first row that counts, 0 none yet */
	uint64_t last;	/* of the last row printed */
	bool out_of_memory;
	struct idmap tids; /* tid to number of the task + 1 */
	struct replay_task **tasks;
	size_t ntasks, capacity;
};

/* What kind of thing a row is to a stack. */
enum row_kind { ROW_ENTER, ROW_LEAVE, ROW_SCHED_OUT, ROW_SCHED_IN, ROW_EVENT, ROW_LOSS };

struct replay_row {
	enum row_kind kind;
	uint64_t time;
	uint32_t location, depth;
	bool kernel; /* a call in the kernel: its depth counts from the task's own calls */
};

/* Functions that do something to the stack. */
enum fixup { FIXUP_NONE, FIXUP_EXEC, FIXUP_SETJMP, FIXUP_LONGJMP, FIXUP_FORK };
enum fixup fixup_of(const char *name);

void replay_init(struct replay *r, int max_stack, int32_t depth);
void replay_free(struct replay *r);
/* NULL: out of memory. */
struct replay_task *replay_task_new(struct replay *r, const struct lane *lane);

/* Frame i from the bottom, NULL outside of the stack. */
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

/* A row comes that may tell what became of an exec. */
void replay_after_exec(struct replay_task *t, const struct replay_row *row);
/* Take a row in: times and the number of frames. */
void replay_consume(struct replay_task *t, const struct replay_row *row);

/* A function was entered (and consumed): is it to be shown? */
bool replay_enter(struct replay_task *t, enum fixup fixup);
/* Its line opened a block: what follows is indented. */
void replay_entered(struct replay_task *t, struct replay_frame *f);
/* The indent of the line that closes a block. */
int replay_leaving(struct replay_task *t);
/* A function was left (and consumed), and all was printed. */
void replay_left(struct replay_task *t);

#endif
