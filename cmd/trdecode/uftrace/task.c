#include "cmd/trdecode/uftrace/task_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/value/escape.h"
#include "common/formats/uftrace.h"
#include "common/util/bisect.h"

enum { COMM_MOST = 15 }; /* bytes that the kernel keeps of a name */

/* A longer chain of parents without a session is not a process tree. */
#define PARENTS_MAX 1000

struct dlop {
	struct uftrace_dlopen d;
	size_t sess, order;
};

struct ref {
	struct uftrace_task_ref r;
	size_t task, order;
};

struct uftrace_tasks *uftrace_tasks_new(void)
{
	return calloc(1, sizeof(struct uftrace_tasks));
}

void uftrace_tasks_free(struct uftrace_tasks *t)
{
	if (!t)
		return;
	free(t->events);
	free(t->sess);
	free(t->by_pid);
	free(t->by_sid);
	free(t->dlopens);
	free(t->tasks);
	free(t->tids);
	free(t->task_of);
	free(t->refs);
	free(t->names);
	free(t);
}

void uftrace_tasks_damage(struct uftrace_tasks *t, uint64_t offset, const char *what)
{
	if (!t->damaged++)
		error_set(t->e, t->file, offset, "%s", what);
}

int uftrace_tasks_no_memory(struct uftrace_tasks *t)
{
	return error_set(t->e, t->file, NO_OFFSET, "out of memory");
}

struct uftrace_task_event *uftrace_tasks_new_event(struct uftrace_tasks *t)
{
	if (ARRAY_GROW(t->events, t->events_room, t->nr_events))
		return NULL;
	t->events[t->nr_events] = (struct uftrace_task_event){.name = ""};
	return &t->events[t->nr_events++];
}

const char *uftrace_tasks_keep_name(struct uftrace_tasks *t, const char *name, size_t length)
{
	char *copy = t->names + t->names_used;

	memcpy(copy, name, length);
	copy[length] = 0;
	t->names_used += length + 1;
	return copy;
}

int uftrace_tasks_begin(struct uftrace_tasks *t, size_t size, const char *file, struct error *e)
{
	t->file = file;
	t->e = e;
	/* A line with a name is longer than the name and its NUL; so is a message. Sessions also
	 * need their threads' name. */
	t->names = malloc(2 * size + 1);
	return t->names ? 0 : uftrace_tasks_no_memory(t);
}

/* ---- sessions ---- */

static int compare_pids(const void *a, const void *b)
{
	const struct uftrace_sess *x = *(const struct uftrace_sess *const *)a;
	const struct uftrace_sess *y = *(const struct uftrace_sess *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int compare_sids(const void *a, const void *b)
{
	const struct uftrace_sess *x = *(const struct uftrace_sess *const *)a;
	const struct uftrace_sess *y = *(const struct uftrace_sess *const *)b;
	int c = strcmp(x->sid, y->sid);

	return c ? c : compare_pids(a, b);
}

/* Return the name that threads of a session have. */
static const char *comm_of(struct uftrace_tasks *t, const struct uftrace_sess *s)
{
	const char *slash = strrchr(s->exename, '/'), *name = slash ? slash + 1 : s->exename;
	char *copy = t->names + t->names_used;

	if (strcmp(s->sid, UFTRACE_CONVERTED_SID) != 0)
		return uftrace_tasks_keep_name(t, name, strnlen(name, COMM_MOST));
	uftrace_tasks_keep_name(t, name, strlen(name));
	copy[escape_undo(copy, strlen(copy), '\\')] = 0;
	return copy;
}

static int build_sessions(struct uftrace_tasks *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nr_events; i++)
		n += t->events[i].kind == UFTRACE_TASK_SESS;
	t->sess = calloc(n + 1, sizeof(*t->sess));
	t->by_pid = calloc(n + 1, sizeof(*t->by_pid));
	t->by_sid = calloc(n + 1, sizeof(*t->by_sid));
	if (!t->sess || !t->by_pid || !t->by_sid)
		return uftrace_tasks_no_memory(t);
	for (size_t i = 0; i < t->nr_events; i++) {
		const struct uftrace_task_event *ev = &t->events[i];
		struct uftrace_sess *s = &t->sess[t->nr_sess];

		if (ev->kind != UFTRACE_TASK_SESS)
			continue;
		s->id = t->nr_sess;
		s->time = ev->time;
		s->pid = ev->pid;
		s->exename = ev->name;
		memcpy(s->sid, ev->sid, sizeof(s->sid));
		s->comm = comm_of(t, s);
		t->by_pid[t->nr_sess] = t->by_sid[t->nr_sess] = s;
		t->nr_sess++;
	}
	qsort(t->by_pid, n, sizeof(*t->by_pid), compare_pids);
	qsort(t->by_sid, n, sizeof(*t->by_sid), compare_sids);
	for (size_t i = 0; i < n; i++) {
		const struct uftrace_sess *s = t->by_sid[i], *before = i ? t->by_sid[i - 1] : NULL;

		t->sess[s->id].same = before && !strcmp(s->sid, before->sid) ? before->same : s;
	}
	return 0;
}

/* Find the process' last session that began at `time` or before. */
static const struct uftrace_sess *find_session(const struct uftrace_tasks *t, int32_t pid,
					       uint64_t time)
{
	const struct uftrace_sess *const *all = t->by_pid;
	size_t n = BISECT(t->nr_sess, i,
			  all[i]->pid < pid || (all[i]->pid == pid && all[i]->time <= time));

	return n && all[n - 1]->pid == pid ? all[n - 1] : NULL;
}

static const struct uftrace_sess *find_sid(const struct uftrace_tasks *t, const char *sid)
{
	size_t low = BISECT(t->nr_sess, i, strcmp(t->by_sid[i]->sid, sid) < 0);

	return low < t->nr_sess && !strcmp(t->by_sid[low]->sid, sid) ? t->by_sid[low] : NULL;
}

static int compare_dlops(const void *a, const void *b)
{
	const struct dlop *x = a, *y = b;

	if (x->sess != y->sess)
		return x->sess < y->sess ? -1 : 1;
	if (x->d.time != y->d.time)
		return x->d.time < y->d.time ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int build_dlopens(struct uftrace_tasks *t)
{
	struct dlop *dlops;
	size_t n = 0;

	for (size_t i = 0; i < t->nr_events; i++)
		n += t->events[i].kind == UFTRACE_TASK_DLOP;
	dlops = calloc(n + 1, sizeof(*dlops));
	t->dlopens = calloc(n + 1, sizeof(*t->dlopens));
	if (!dlops || !t->dlopens) {
		free(dlops);
		return uftrace_tasks_no_memory(t);
	}
	n = 0;
	for (size_t i = 0; i < t->nr_events; i++) {
		const struct uftrace_task_event *ev = &t->events[i];
		const struct uftrace_sess *s;

		if (ev->kind != UFTRACE_TASK_DLOP)
			continue;
		s = find_sid(t, ev->sid);
		if (!s) {
			uftrace_tasks_damage(t, NO_OFFSET, "a library belongs to no session");
			continue;
		}
		dlops[n] = (struct dlop){
			.d = {.time = ev->time, .base = ev->base, .tid = ev->tid, .path = ev->name},
			.sess = s->id,
			.order = n,
		};
		n++;
	}
	qsort(dlops, n, sizeof(*dlops), compare_dlops);
	for (size_t i = 0; i < n; i++) {
		struct uftrace_sess *s = &t->sess[dlops[i].sess];

		t->dlopens[i] = dlops[i].d;
		if (!s->nr_dlopens++)
			s->dlopens = &t->dlopens[i];
	}
	free(dlops);
	return 0;
}

/* ---- tasks ---- */

static int compare_tids(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int collect_tids(struct uftrace_tasks *t)
{
	size_t n = 0;

	t->tids = malloc((t->nr_events + 1) * sizeof(*t->tids));
	if (!t->tids)
		return uftrace_tasks_no_memory(t);
	for (size_t i = 0; i < t->nr_events; i++) {
		const struct uftrace_task_event *ev = &t->events[i];

		if (ev->kind == UFTRACE_TASK_TASK || ev->kind == UFTRACE_TASK_FORK)
			t->tids[n++] = ev->tid;
	}
	qsort(t->tids, n, sizeof(*t->tids), compare_tids);
	for (size_t i = 0; i < n; i++)
		if (!i || t->tids[i] != t->tids[i - 1])
			t->tids[t->nr_tids++] = t->tids[i];
	t->task_of = calloc(t->nr_tids + 1, sizeof(*t->task_of));
	t->tasks = calloc(t->nr_tids + 1, sizeof(*t->tasks));
	return t->task_of && t->tasks ? 0 : uftrace_tasks_no_memory(t);
}

/* Return the index of the tid in t->tids, or nr_tids. */
static size_t find_tid(const struct uftrace_tasks *t, int32_t tid)
{
	const int32_t *p =
		t->nr_tids ? bsearch(&tid, t->tids, t->nr_tids, sizeof(*t->tids), compare_tids)
			   : NULL;

	return p ? (size_t)(p - t->tids) : t->nr_tids;
}

static struct uftrace_task *find_task(const struct uftrace_tasks *t, int32_t tid)
{
	size_t i = find_tid(t, tid);

	return i < t->nr_tids && t->task_of[i] ? &t->tasks[t->task_of[i] - 1] : NULL;
}

static struct uftrace_task *new_task(struct uftrace_tasks *t, int32_t tid)
{
	struct uftrace_task *task = &t->tasks[t->nr_tasks++];

	*task = (struct uftrace_task){.tid = tid, .comm = ""};
	t->task_of[find_tid(t, tid)] = t->nr_tasks;
	return task;
}

static int compare_refs(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->r.start != y->r.start)
		return x->r.start < y->r.start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/*
 * Collect the references of TASK and FORK lines, in the order of the file; returns their number.
 * last: zeros, one per task.
 */
static size_t collect_refs(struct uftrace_tasks *t, struct ref *refs, size_t *last)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nr_events; i++) {
		const struct uftrace_task_event *ev = &t->events[i];
		const struct uftrace_sess *s;
		struct uftrace_task *task, *leader;

		if (ev->kind != UFTRACE_TASK_TASK && ev->kind != UFTRACE_TASK_FORK)
			continue;
		s = find_session(t, ev->pid, ev->time);
		task = find_task(t, ev->tid);
		if (!task) {
			task = new_task(t, ev->tid);
			task->time = ev->time;
			task->pid = ev->kind == UFTRACE_TASK_FORK ? ev->tid : ev->pid;
			task->ppid = ev->kind == UFTRACE_TASK_FORK ? ev->pid : 0;
			leader = find_task(t, ev->pid);
			if (!s && leader && last[leader - t->tasks]) {
				const struct ref *r = &refs[last[leader - t->tasks] - 1];

				if (r->r.start < ev->time)
					s = r->r.sess;
			}
		}
		if (!s)
			continue;
		refs[n] = (struct ref){
			.r = {.start = ev->time, .sess = s}, .task = task - t->tasks, .order = n};
		last[task - t->tasks] = ++n;
	}
	return n;
}

static int build_tasks(struct uftrace_tasks *t)
{
	size_t n = 0;
	size_t room = t->nr_events + 1;
	struct ref *refs = malloc(room * sizeof(*refs));
	size_t *last = calloc(room, sizeof(*last));
	int r = -1;

	if (!refs || !last) {
		uftrace_tasks_no_memory(t);
		goto out;
	}
	n = collect_refs(t, refs, last);
	qsort(refs, n, sizeof(*refs), compare_refs);
	t->refs = malloc((n + 1) * sizeof(*t->refs));
	if (!t->refs) {
		uftrace_tasks_no_memory(t);
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		struct uftrace_task *task = &t->tasks[refs[i].task];

		t->refs[i] = refs[i].r;
		if (!task->nr_refs++)
			task->refs = &t->refs[i];
	}
	for (size_t i = 0; i < t->nr_tasks; i++) {
		struct uftrace_task *task = &t->tasks[i];

		if (task->nr_refs)
			task->comm = task->refs[task->nr_refs - 1].sess->comm;
	}
	r = 0;
out:
	free(refs);
	free(last);
	return r;
}

int uftrace_tasks_build(struct uftrace_tasks *t)
{
	if (build_sessions(t) < 0 || build_dlopens(t) < 0 || collect_tids(t) < 0 ||
	    build_tasks(t) < 0)
		return -1;
	return t->damaged ? 1 : 0;
}

/* ---- what callers see ---- */

size_t uftrace_tasks_nr_sess(const struct uftrace_tasks *t)
{
	return t->nr_sess;
}

const struct uftrace_sess *uftrace_tasks_sess(const struct uftrace_tasks *t, size_t id)
{
	return &t->sess[id];
}

const struct uftrace_task *uftrace_tasks_find(const struct uftrace_tasks *t, int32_t tid)
{
	return find_task(t, tid);
}

/* Return the last reference that began at `time` or before, or NULL; *until is lowered to the
 * next one. */
static const struct uftrace_task_ref *find_ref(const struct uftrace_task *task, uint64_t time,
					       uint64_t *until)
{
	size_t low = BISECT(task->nr_refs, i, task->refs[i].start <= time);

	if (low < task->nr_refs && task->refs[low].start < *until)
		*until = task->refs[low].start;
	return low ? &task->refs[low - 1] : NULL;
}

const struct uftrace_sess *uftrace_session_at(const struct uftrace_tasks *t,
					      const struct uftrace_task *task, uint64_t time,
					      uint64_t *until)
{
	const struct uftrace_sess *found = NULL;
	uint64_t end = UINT64_MAX;

	for (int i = 0; task && i < PARENTS_MAX; i++) {
		const struct uftrace_task_ref *ref = find_ref(task, time, &end);
		int32_t parent = task->ppid ? task->ppid : task->pid;

		if (ref) {
			found = ref->sess;
			break;
		}
		if (!parent || parent == task->tid)
			break;
		task = find_task(t, parent);
	}
	if (until)
		*until = end;
	return found;
}
