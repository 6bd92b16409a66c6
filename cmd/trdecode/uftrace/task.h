/*
 * task.h - sessions, tasks and dlopens: task.txt, or the binary `task` of old versions
 *
 * A session is one executed image: a process from an exec (or its start) on. A task (thread) refers
 * to one session after the other; a forked child that does not exec remains in its parent's
 * session.
 */
#ifndef TR_TRDECODE_UFTRACE_TASK_H
#define TR_TRDECODE_UFTRACE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"
#include "common/formats/uftrace.h"

enum uftrace_task_kind {
	UFTRACE_TASK_SESS,
	UFTRACE_TASK_TASK,
	UFTRACE_TASK_FORK,
	UFTRACE_TASK_DLOP,
};

/* One line, in file order. */
struct uftrace_task_event {
	enum uftrace_task_kind kind;
	int32_t pid;			/* SESS, TASK: process. FORK: the parent. DLOP: 0 */
	int32_t tid;			/* SESS: as pid. TASK, DLOP: thread. FORK: the child */
	uint64_t time;			/* ns */
	uint64_t base;			/* DLOP */
	char sid[UFTRACE_SID_SIZE + 1]; /* SESS, DLOP */
	const char *name;		/* SESS: exename; DLOP: library as given to dlopen */
};

struct uftrace_dlopen {
	uint64_t time;
	uint64_t base;
	int32_t tid;
	const char *path;
};

struct uftrace_sess {
	size_t id; /* index in uftrace_tasks.sess: order of the file */
	uint64_t time;
	int32_t pid;
	char sid[UFTRACE_SID_SIZE + 1];
	const char *exename;
	const char *comm; /* basename of exename, cut at 15 bytes as the kernel cuts it */
	/* of the sessions with this sid the one whose address space they share, with its dlopens */
	const struct uftrace_sess *same;
	const struct uftrace_dlopen *dlopens; /* by time; of equal times in file order */
	size_t nr_dlopens;
};

struct uftrace_task_ref {
	uint64_t start; /* valid from here to the next reference's start */
	const struct uftrace_sess *sess;
};

struct uftrace_task {
	int32_t tid, pid, ppid; /* ppid: 0 unless created by FORK */
	uint64_t time;
	const char *comm;	       /* of its last session; "" if unknown */
	struct uftrace_task_ref *refs; /* by start */
	size_t nr_refs;
};

struct uftrace_tasks;

struct uftrace_tasks *uftrace_tasks_new(void);
void uftrace_tasks_free(struct uftrace_tasks *t); /* t may be NULL */

/*
 * Parse the text of task.txt (binary: the old `task` file, swap: in foreign byte order). Call one
 * of these once per struct. Returns 0; 1 when there was damage: e describes the first, all other
 * lines are parsed; -1 when out of memory. file is its name in messages. Before these calls all
 * lists are empty.
 */
int uftrace_tasks_parse_text(struct uftrace_tasks *t, const char *text, size_t size,
			     const char *file, struct error *e);
int uftrace_tasks_parse_binary(struct uftrace_tasks *t, const void *data, size_t size, bool swap,
			       const char *file, struct error *e);

size_t uftrace_tasks_nr_sess(const struct uftrace_tasks *t);
const struct uftrace_sess *uftrace_tasks_sess(const struct uftrace_tasks *t, size_t id);

const struct uftrace_task *uftrace_tasks_find(const struct uftrace_tasks *t, int32_t tid);

/*
 * Return the session of a task at a time, or NULL: that of its own references, else its parent's,
 * and so on. *until (may be NULL): the result is the same for all times in [time, *until), so that
 * a caller need not ask for each record. task may be NULL (no session at any time).
 */
const struct uftrace_sess *uftrace_session_at(const struct uftrace_tasks *t,
					      const struct uftrace_task *task, uint64_t time,
					      uint64_t *until);

#endif
