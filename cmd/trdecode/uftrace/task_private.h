/*
 * task_private.h - what the parsers of task.txt and of the binary file share with task.c, which
 * builds sessions and tasks from the parsed lines
 */
#ifndef TR_TRDECODE_UFTRACE_TASK_PRIVATE_H
#define TR_TRDECODE_UFTRACE_TASK_PRIVATE_H

#include "cmd/trdecode/uftrace/task.h"

struct uftrace_tasks {
	struct uftrace_task_event *events;
	size_t nr_events, events_room;
	struct uftrace_sess *sess;
	size_t nr_sess;
	const struct uftrace_sess **by_pid; /* by pid, time, id */
	const struct uftrace_sess **by_sid; /* by sid, pid, time, id */
	struct uftrace_dlopen *dlopens;
	struct uftrace_task *tasks;
	size_t nr_tasks;
	int32_t *tids;	 /* all tids, ascending */
	size_t *task_of; /* by index of tids: 1 + index in tasks, 0 until the task is known */
	size_t nr_tids;
	struct uftrace_task_ref *refs;
	char *names; /* all strings of the file, each with its NUL */
	size_t names_used;
	size_t damaged;

	const char *file; /* name for messages, while parsing */
	struct error *e;
};

/* Begin: a file of that size is parsed. Returns 0, or -1. */
int uftrace_tasks_begin(struct uftrace_tasks *t, size_t size, const char *file, struct error *e);
/* Build the sessions and tasks at the end. Returns 0, 1 if the file is damaged, or -1. */
int uftrace_tasks_build(struct uftrace_tasks *t);

/* Append an event; NULL when out of memory. */
struct uftrace_task_event *uftrace_tasks_new_event(struct uftrace_tasks *t);
/* Copy a name. There is room for every string of the file. */
const char *uftrace_tasks_keep_name(struct uftrace_tasks *t, const char *name, size_t length);
void uftrace_tasks_damage(struct uftrace_tasks *t, uint64_t offset, const char *what);
int uftrace_tasks_no_memory(struct uftrace_tasks *t);

#endif
