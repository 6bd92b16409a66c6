/*
 * convert_tasks.c - write task.txt: the threads and their processes
 *
 * uftrace names processes only, by the programs of their sessions. So a thread with another name
 * than its process is written as a process of its own; a thread without a name is not.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/uftrace/convert.h"

/* One process of the recording. */
struct process {
	const struct convert_thread *named; /* thread that gives the process its name; NULL: none */
	bool written;			    /* its session is */
};

int uftrace_task_add(struct uftrace_tasks *s, const struct convert_thread *t)
{
	const struct convert_thread **list;

	if (ARRAY_GROW(s->list, s->capacity, s->count))
		return -1;
	list = s->list;
	list[s->count++] = t;
	return 0;
}

static bool has_name(const struct convert_thread *t)
{
	return t->per_cpu || t->comm.size;
}

static bool same_name(const struct convert_thread *a, const struct convert_thread *b)
{
	return a->per_cpu == b->per_cpu && a->comm.size == b->comm.size &&
	       !memcmp(a->comm.text, b->comm.text, a->comm.size);
}

static int put_name(struct buffer *b, const struct convert_thread *named, int32_t pid)
{
	if (!named)
		return buffer_printf(b, "process-%" PRId32, pid);
	if (named->per_cpu)
		return buffer_printf(b, "interrupts");
	return convert_name_escaped(b, named->comm.text, named->comm.size, "/\"");
}

static int put_session(struct buffer *b, const struct convert_thread *named, int32_t pid)
{
	return buffer_printf(b,
			     "SESS timestamp=0.000000000 pid=%" PRId32 " sid=" UFTRACE_CONVERTED_SID
			     " exename=\"",
			     pid) ||
			       put_name(b, named, pid) || buffer_printf(b, "\"\n")
		       ? -1
		       : 0;
}

/* List the processes by the number of their pid. A process has the name of its main thread, or of
 * its first thread with a name. NULL: out of memory. */
static struct process *processes_of(const struct uftrace_tasks *s, struct intern *pids)
{
	struct process *all = calloc(s->count + 1, sizeof *all);

	for (size_t i = 0; all && i < s->count; i++) {
		const struct convert_thread *t = s->list[i];
		uint32_t number = intern(pids, &t->pid, sizeof t->pid);

		if (number == INTERN_NONE) {
			free(all);
			return NULL;
		}
		if (has_name(t) && (!all[number].named || t->tid == t->pid))
			all[number].named = t;
	}
	return all;
}

static int put_tasks(struct uftrace_tasks *s, struct intern *pids, struct process *all,
		     struct buffer *b)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct convert_thread *t = s->list[i];
		struct process *p = &all[intern(pids, &t->pid, sizeof t->pid)];
		bool own = has_name(t) && !same_name(p->named, t);
		int32_t pid = own ? t->tid : t->pid;

		s->own += own;
		if ((own || !p->written) && put_session(b, own ? t : p->named, pid))
			return -1;
		p->written |= !own;
		if (buffer_printf(b, "TASK timestamp=0.000000000 tid=%" PRId32 " pid=%" PRId32 "\n",
				  t->tid, pid))
			return -1;
	}
	return 0;
}

int uftrace_tasks_end(struct uftrace_tasks *s, struct target_dictionary *d, struct error *e)
{
	struct intern pids = {0};
	struct process *all = processes_of(s, &pids);
	struct buffer b = {0};
	int result;

	if (!all || put_tasks(s, &pids, all, &b))
		result = error_no_memory(e);
	else
		result = target_meta(d, "task.txt", b.data, b.size, 0, e);
	intern_free(&pids);
	free(all);
	buffer_free(&b);
	return result;
}

int uftrace_tasks_list(const struct uftrace_tasks *s, struct buffer *b)
{
	for (size_t i = 0; i < s->count; i++)
		if (buffer_printf(b, "%s%" PRId32, i ? "," : "", s->list[i]->tid))
			return -1;
	return 0;
}

void uftrace_tasks_free(struct uftrace_tasks *s)
{
	free(s->list);
}
