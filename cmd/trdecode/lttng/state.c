/*
 * state.c - tracks by the merged events: the thread that runs on each CPU, its name, and the call
 * that a leave ends
 */
#include "cmd/trdecode/lttng/lttng.h"

#include <stdlib.h>

enum { THREADS_MOST = 1 << 18 };

/* --- CPUs and threads --- */

struct lttng_cpu *lttng_state_cpu(struct lttng *l, int32_t cpu)
{
	return l->cpus[cpu];
}

struct lttng_thread *lttng_state_thread(struct lttng *l, struct lttng_cpu *c, int64_t tid)
{
	struct lttng_thread *t;
	uint32_t number;

	if (tid == c->thread->tid)
		return c->thread;
	if (tid == 0)
		return &c->idle;
	if (tid < 0 || tid > INT32_MAX)
		return &c->unknown;
	number = idmap_get(&l->threads.by_tid, (uint32_t)tid);
	if (number)
		return l->threads.thread[number - 1];
	number = (uint32_t)l->threads.count;
	if (number == THREADS_MOST)
		return &c->unknown; /* no machine has so many threads: the trace is damaged */
	if (ARRAY_GROW(l->threads.thread, l->threads.capacity, number))
		return NULL;
	t = calloc(1, sizeof *t);
	if (!t || idmap_set(&l->threads.by_tid, (uint32_t)tid, number + 1)) {
		free(t);
		return NULL;
	}
	*t = (struct lttng_thread){.tid = (int32_t)tid, .pid = -1, .ppid = -1, .number = number};
	l->threads.thread[l->threads.count++] = t;
	return t;
}

static int set_comm(struct lttng *l, struct lttng_thread *t, const uint8_t *name, size_t n)
{
	uint32_t comm = n ? writer_string(l->w, name, n < 15 ? n : 15) : 0;

	if (n && !comm)
		return -1;
	if (comm != t->comm) {
		t->comm = comm;
		t->version++;
	}
	return 0;
}

static int take_process(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	int64_t tid = lttng_arg(ev, 0), pid = lttng_arg(ev, 2), ppid = lttng_arg(ev, 1);
	struct lttng_thread *t = lttng_state_thread(l, c, tid);
	const uint8_t *name;
	size_t n;

	if (!t)
		return -1;
	if (t == &c->idle || t == &c->unknown)
		return 0;
	if (ev->marker->arg[2] < 0)
		pid = -1;
	if ((pid >= 0 && pid <= INT32_MAX && t->pid != pid) ||
	    (ppid >= 0 && ppid <= INT32_MAX && t->ppid != ppid)) {
		t->pid = pid >= 0 && pid <= INT32_MAX ? (int32_t)pid : -1;
		t->ppid = ppid >= 0 && ppid <= INT32_MAX ? (int32_t)ppid : -1;
		t->version++;
	}
	name = lttng_event_text(ev, ev->marker->string_arg, &n);
	return set_comm(l, t, name, n);
}

static int take_fork(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *parent = lttng_state_thread(l, c, lttng_arg(ev, 0)),
			    *child = lttng_state_thread(l, c, lttng_arg(ev, 1));
	int64_t pid = lttng_arg(ev, 2);

	if (!parent || !child)
		return -1;
	if (child == &c->idle || child == &c->unknown || child == parent)
		return 0;
	child->comm = parent->comm;
	child->pid = pid >= 0 && pid <= INT32_MAX ? (int32_t)pid : -1;
	child->ppid = parent->pid >= 0 ? parent->pid : parent->tid;
	if (child->frames)
		child->frames->count = 0;
	child->version++;
	return 0;
}

static int take_exec(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *t = c->thread;
	size_t n;
	const uint8_t *path = lttng_event_text(ev, ev->marker->string_arg, &n), *slash;

	if (t == &c->idle || t == &c->unknown)
		return 0;
	slash = memrchr(path, '/', n);
	if (slash) {
		n -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	return set_comm(l, t, path, n);
}

static int take_free(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *t = lttng_state_thread(l, c, lttng_arg(ev, 0));

	if (t && t->frames)
		t->frames->count = 0;
	return t ? 0 : -1;
}

/* --- reading ahead --- */

int lttng_state_ahead(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	switch (ev->marker->action) {
	case ACTION_PROCESS: return take_process(l, c, ev);
	case ACTION_MAP: return lttng_maps_take(l, c, ev);
	default: return lttng_names_take(l, ev);
	}
}

/* --- calls --- */

struct lttng_frames *lttng_state_stack(struct lttng_cpu *c)
{
	struct lttng_thread *t = c->thread;

	if (!t->frames)
		t->frames = calloc(1, sizeof *t->frames);
	c->stacks[0] = t->frames;
	return t->frames ? t->frames : &c->frames;
}

bool lttng_state_unwind(const struct lttng_marker *m, struct lttng_frames *frames,
			uint32_t *location, uint32_t *depth)
{
	for (uint32_t at = frames->count; at; at--)
		if (frames->frame[at - 1].pair == m->pair) {
			*depth = frames->count = at - 1;
			*location = frames->frame[at - 1].location;
			return true;
		}
	*location = m->location;
	*depth = frames->count;
	return frames->count > 0;
}

/* --- events --- */

int lttng_state_before(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *t;

	if (ev->marker->action != ACTION_SCHEDULE)
		return 0;
	t = lttng_state_thread(l, c, lttng_arg(ev, 0));
	if (!t)
		return -1;
	lttng_cpu_run(c, t);
	return 0;
}

int lttng_state_after(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *t;

	switch (ev->marker->action) {
	case ACTION_SCHEDULE:
		t = lttng_state_thread(l, c, lttng_arg(ev, 1));
		if (!t)
			return -1;
		lttng_cpu_run(c, t);
		return 0;
	case ACTION_PROCESS: return take_process(l, c, ev);
	case ACTION_FORK: return take_fork(l, c, ev);
	case ACTION_EXEC: return take_exec(l, c, ev);
	case ACTION_EXIT: return take_free(l, c, ev);
	default: return 0;
	}
}

void lttng_state_free(struct lttng *l)
{
	for (size_t i = 0; i < l->ncpus; i++) {
		if (!l->cpus[i])
			continue;
		free(l->cpus[i]->idle.frames);
		free(l->cpus[i]->unknown.frames);
		free(l->cpus[i]);
	}
	free(l->cpus);
	lttng_transcoded_free(l);
	for (size_t i = 0; i < l->threads.count; i++) {
		free(l->threads.thread[i]->frames);
		free(l->threads.thread[i]);
	}
	free(l->threads.thread);
	idmap_free(&l->threads.by_tid);
	lttng_names_free(l);
	id_cache_free(&l->lanes);
}
