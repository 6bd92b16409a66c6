#include "cmd/trencode/text/uftrace/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"

enum fixup fixup_of(const char *name)
{
	static const struct {
		const char *name;
		enum fixup fixup;
	} table[] = {{"execl", FIXUP_EXEC},	    {"execlp", FIXUP_EXEC},
		     {"execle", FIXUP_EXEC},	    {"execv", FIXUP_EXEC},
		     {"execve", FIXUP_EXEC},	    {"execvp", FIXUP_EXEC},
		     {"execvpe", FIXUP_EXEC},	    {"setjmp", FIXUP_SETJMP},
		     {"_setjmp", FIXUP_SETJMP},	    {"sigsetjmp", FIXUP_SETJMP},
		     {"__sigsetjmp", FIXUP_SETJMP}, {"longjmp", FIXUP_LONGJMP},
		     {"siglongjmp", FIXUP_LONGJMP}, {"__longjmp_chk", FIXUP_LONGJMP},
		     {"fork", FIXUP_FORK},	    {"vfork", FIXUP_FORK},
		     {"daemon", FIXUP_FORK},	    {"posix.fork", FIXUP_FORK}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, name))
			return table[i].fixup;
	return FIXUP_NONE;
}

void replay_init(struct replay *r, int max_stack, int32_t depth)
{
	*r = (struct replay){.max_stack = max_stack, .depth = depth};
}

void replay_free(struct replay *r)
{
	for (size_t i = 0; i < r->ntasks; i++) {
		for (size_t k = 0; k < r->tasks[i]->nchunks; k++)
			free(r->tasks[i]->chunks[k]);
		free(r->tasks[i]->chunks);
		free(r->tasks[i]);
	}
	free(r->tasks);
	idmap_free(&r->tids);
}

struct replay_task *replay_task_new(struct replay *r, const struct lane *lane)
{
	struct replay_task *t = calloc(1, sizeof *t);

	if (!t || ARRAY_GROW(r->tasks, r->capacity, r->ntasks) ||
	    idmap_set(&r->tids, (uint32_t)lane->tid, (uint32_t)r->ntasks + 1)) {
		free(t);
		r->out_of_memory = true;
		return NULL;
	}
	r->tasks[r->ntasks++] = t;
	t->replay = r;
	t->lane = lane;
	t->allowance = r->depth;
	t->indent_known = true;
	if (lane->flags & LANE_HAS_TID)
		t->tid_size = (uint8_t)snprintf(t->tid, sizeof t->tid, "[%6d]", lane->tid);
	else
		t->tid_size = (uint8_t)snprintf(t->tid, sizeof t->tid, "%8s", "");
	return t;
}

struct replay_frame *replay_frame_slow(struct replay_task *t, int i)
{
	size_t chunk = (size_t)i / FRAME_CHUNK;

	if (i < 0 || i >= t->replay->max_stack)
		return NULL;
	if (chunk >= t->nchunks) {
		void *p = realloc(t->chunks, (chunk + 1) * sizeof *t->chunks);

		if (!p)
			goto no_memory;
		t->chunks = p;
		while (t->nchunks <= chunk)
			t->chunks[t->nchunks++] = NULL;
	}
	if (!t->chunks[chunk]) {
		struct replay_frame *frames = malloc(FRAME_CHUNK * sizeof *frames);

		if (!frames)
			goto no_memory;
		for (int k = 0; k < FRAME_CHUNK; k++)
			frames[k] = (struct replay_frame){.time = t->unseen_time,
							  .allowance = t->replay->depth,
							  .open = t->unseen_time};
		t->chunks[chunk] = frames;
	}
	return &t->chunks[chunk][i % FRAME_CHUNK];
no_memory:
	t->replay->out_of_memory = true;
	return NULL;
}

/* Set the time of the enter of n frames from first on. Frames that have no memory yet get none. */
static void replay_restart_frames(struct replay_task *t, int first, int n, uint64_t time, bool open)
{
	for (int i = first; i < first + n && i < t->replay->max_stack; i++) {
		struct replay_frame *f;

		if ((size_t)i / FRAME_CHUNK >= t->nchunks || !t->chunks[i / FRAME_CHUNK]) {
			t->unseen_time = time;
			i = (i / FRAME_CHUNK + 1) * FRAME_CHUNK - 1;
			continue;
		}
		f = replay_frame(t, i);
		f->time = time;
		f->open |= open;
	}
}

void replay_restart(struct replay_task *t, int unseen, uint64_t since, uint64_t last)
{
	t->begun = t->indent_known = t->fork_taken = true;
	t->after_loss = t->in_kernel = false;
	t->count = unseen;
	t->calls = t->indent = t->exec_count = 0;
	t->allowance = t->replay->depth;
	t->time = last;
	replay_restart_frames(t, 0, unseen, since, true);
}

static bool row_enters(const struct replay_row *row)
{
	return row->kind == ROW_ENTER || row->kind == ROW_SCHED_OUT;
}

static bool row_leaves(const struct replay_row *row)
{
	return row->kind == ROW_LEAVE || row->kind == ROW_SCHED_IN;
}

/* Return the number of frames before the row. Scheduling is at depth 0, whatever is open. */
static int frames_before(const struct replay_row *row)
{
	return row->kind == ROW_ENTER || row->kind == ROW_LEAVE
		       ? (int)row->depth + (row->kind == ROW_LEAVE)
		       : row->kind == ROW_SCHED_IN;
}

static void replay_begin_task(struct replay_task *t, const struct replay_row *row)
{
	t->begun = true;
	t->count = frames_before(row) + (row->kernel ? t->calls : 0);
	if (!t->fork_taken && t->lane->ppid > 0) {
		uint32_t parent = idmap_get(&t->replay->tids, (uint32_t)t->lane->ppid);

		if (parent && t->replay->tasks[parent - 1]->fork_indent) {
			t->indent = t->replay->tasks[parent - 1]->fork_indent;
			t->indent_known = true;
		}
	}
	t->fork_taken = true;
	replay_restart_frames(t, 0, t->count, row->time, true);
	t->allowance = t->replay->depth;
}

static void replay_after_loss(struct replay_task *t, const struct replay_row *row)
{
	t->count = frames_before(row) + (row->kernel ? t->calls : 0);
	t->after_loss = false;
	/* known is only that these frames were open right before the row */
	replay_restart_frames(t, t->calls, frames_before(row) - (row_leaves(row) ? 1 : 0) + 1,
			      row->time - 1, false);
}

static void replay_account(struct replay_task *t, const struct replay_row *row)
{
	struct replay_frame *f;

	if (row->kind == ROW_EVENT)
		return;
	if (!t->begun)
		replay_begin_task(t, row);
	if (t->after_loss) {
		if (row->kind == ROW_LOSS)
			return;
		replay_after_loss(t, row);
	}
	/* for uftrace a call outside of the kernel ends all calls in it */
	if (t->in_kernel && !row->kernel && (row->kind == ROW_ENTER || row->kind == ROW_LEAVE)) {
		t->count = t->calls;
		t->allowance = t->replay->depth - t->count;
	}
	if (row_enters(row)) {
		f = replay_frame(t, t->count + t->exec_count);
		if (f) {
			f->location = row->location;
			f->time = row->time;
			f->open = true;
		}
	} else if (row_leaves(row)) {
		f = replay_frame(t, t->count + t->exec_count - 1);
		if (f) {
			f->time = f->open ? row->time - f->time : 0;
			f->open = false;
		}
	} else {
		t->after_loss = true;
		t->indent_known = false;
		t->exec_count = 0;
	}
}

void replay_after_exec(struct replay_task *t, const struct replay_row *row)
{
	if (!t->exec_count || row->kernel || row->kind > ROW_LEAVE)
		return;
	if (row->kind == ROW_LEAVE || row->depth >= (uint32_t)t->exec_count) {
		t->count = t->calls = t->exec_count;
		t->indent = t->exec_indent;
	}
	t->exec_count = 0;
}

void replay_consume(struct replay_task *t, const struct replay_row *row)
{
	bool call = row->kind == ROW_ENTER || row->kind == ROW_LEAVE;
	struct replay *r = t->replay;

	if (row->kind != ROW_LOSS && ((call && !row->kernel) || t->count) &&
	    (!r->first || r->first > row->time))
		r->first = row->time;
	replay_account(t, row);
	if (row->kind != ROW_EVENT)
		t->in_kernel = row->kernel;
	call = call && !row->kernel;
	if (row_enters(row)) {
		t->count++;
		t->calls += call;
	} else if (row_leaves(row)) {
		t->count -= t->count > 0;
		t->calls -= call && t->calls > 0;
	}
}

bool replay_enter(struct replay_task *t, enum fixup fixup)
{
	struct replay_frame *f = replay_frame(t, t->count - 1);

	if (!f)
		return false;
	f->allowance = t->allowance;
	f->flags = 0;
	switch (fixup) {
	case FIXUP_EXEC: f->flags |= FRAME_EXEC; break;
	case FIXUP_LONGJMP: f->flags |= FRAME_LONGJMP; break;
	case FIXUP_SETJMP:
		t->replay->setjmp_indent = t->indent + 1;
		t->replay->setjmp_count = t->count;
		t->replay->setjmp_shown = t->allowance > 0;
		break;
	case FIXUP_FORK: t->fork_indent = t->indent + 1; break;
	case FIXUP_NONE: break;
	}
	if (t->allowance <= 0) {
		f->flags |= FRAME_HIDDEN;
		if (f->flags & FRAME_LONGJMP)
			replay_entered(t, f);
		return false;
	}
	t->allowance--;
	if (!t->indent_known) {
		t->indent = t->count - 1;
		t->indent_known = true;
	}
	return true;
}

void replay_entered(struct replay_task *t, struct replay_frame *f)
{
	struct replay_frame *setjmp;

	if (f->flags & FRAME_EXEC) {
		t->exec_count = t->count;
		t->exec_indent = t->indent + 1;
		t->indent = 0;
		t->count = t->calls = 0;
	} else if (f->flags & FRAME_LONGJMP) {
		t->count = t->calls = t->replay->setjmp_count;
		setjmp = replay_frame(t, t->count - 1);
		if (t->replay->setjmp_shown)
			t->indent = t->replay->setjmp_indent;
		else if (setjmp)
			setjmp->flags |= FRAME_HIDDEN;
	} else {
		t->indent++;
	}
	f->flags &= (uint8_t) ~(FRAME_EXEC | FRAME_LONGJMP);
}

int replay_leaving(struct replay_task *t)
{
	if (!t->indent_known) {
		t->indent = t->count + 1;
		t->indent_known = true;
	}
	if (t->indent > 0)
		t->indent--;
	return t->indent;
}

void replay_left(struct replay_task *t)
{
	struct replay_frame *f = replay_frame(t, t->count);

	if (!f)
		return;
	f->flags = 0;
	t->allowance = f->allowance;
}
