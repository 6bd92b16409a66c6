/*
 * lttng_state.c - what follows from the merged events: the thread that runs on each CPU, its name,
 * which call an exit closes, and the names of system calls and interrupts
 */
#include "lttng.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MOST = 1 << 18, NAMES_MOST = 4096 };

static const uint8_t *string_arg(const struct lttng_event *ev, int number, size_t *n)
{
	const uint8_t *p = ev->tail, *end = p + ev->tail_size, *nul;

	for (; number >= 0 && p < end && (nul = memchr(p, 0, (size_t)(end - p))); p = nul + 1)
		if (!number--) {
			*n = (size_t)(nul - p);
			return p;
		}
	*n = 0;
	return (const uint8_t *)"";
}

static int64_t arg(const struct lttng_event *ev, int i)
{
	return lttng_number(ev, ev->marker->arg[i], ev->marker->arg_size[i]);
}

/* --- CPUs and threads --- */

struct lttng_cpu *lttng_state_cpu(struct lttng *l, int32_t cpu)
{
	return l->cpus[cpu];
}

static size_t thread_slot(const struct lttng *l, int32_t tid)
{
	size_t at = hash_u64((uint32_t)tid) & (l->threads_size - 1);

	while (l->threads[at] && l->threads[at]->tid != tid)
		at = (at + 1) & (l->threads_size - 1);
	return at;
}

static int grow_threads(struct lttng *l)
{
	size_t size = l->threads_size, had = size;
	struct lttng_thread **old = l->threads;

	size = size ? 2 * size : 256;
	l->threads = calloc(size, sizeof *l->threads);
	if (!l->threads) {
		l->threads = old;
		return -1;
	}
	l->threads_size = size;
	for (size_t i = 0; i < had; i++)
		if (old[i])
			l->threads[thread_slot(l, old[i]->tid)] = old[i];
	free(old);
	return 0;
}

/* The thread of that tid; on this CPU for tid 0. NULL when memory is out. */
static struct lttng_thread *thread_of(struct lttng *l, struct lttng_cpu *c, int64_t tid)
{
	struct lttng_thread *t;
	size_t at;

	if (tid == c->thread->tid)
		return c->thread;
	if (tid == 0)
		return &c->idle;
	if (tid < 0 || tid > INT32_MAX)
		return &c->unknown;
	if (2 * l->nthreads >= l->threads_size && grow_threads(l))
		return NULL;
	at = thread_slot(l, (int32_t)tid);
	t = l->threads[at];
	if (t)
		return t;
	if (l->nthreads == THREADS_MOST)
		return &c->unknown; /* no machine has so many: the trace is damaged */
	t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	*t = (struct lttng_thread){.tid = (int32_t)tid, .pid = -1, .ppid = -1};
	l->threads[at] = t;
	l->nthreads++;
	return t;
}

struct lttng_thread *lttng_state_thread(struct lttng *l, struct lttng_cpu *c, int64_t tid)
{
	return thread_of(l, c, tid);
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
	int64_t tid = arg(ev, 0), pid = arg(ev, 2), ppid = arg(ev, 1);
	struct lttng_thread *t = thread_of(l, c, tid);
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
	name = string_arg(ev, ev->marker->string_arg, &n);
	return set_comm(l, t, name, n);
}

static int take_fork(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *parent = thread_of(l, c, arg(ev, 0)),
			    *child = thread_of(l, c, arg(ev, 1));
	int64_t pid = arg(ev, 2);

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
	const uint8_t *path = string_arg(ev, ev->marker->string_arg, &n), *slash;

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
	struct lttng_thread *t = thread_of(l, c, arg(ev, 0));

	if (t && t->frames)
		t->frames->count = 0;
	return t ? 0 : -1;
}

/* --- names --- */

static int set_name(struct lttng *l, enum lttng_names which, const char *prefix, int64_t id,
		    const uint8_t *name, size_t n)
{
	struct lttng_names_table *t = &l->names[which];
	const uint8_t *plus = memchr(name, '+', n);

	if (plus)
		n = (size_t)(plus - name);
	if (id < 0 || id >= NAMES_MOST || !n)
		return 0;
	if (!t->name) {
		t->name = calloc(NAMES_MOST, sizeof *t->name);
		t->place = calloc(NAMES_MOST, sizeof *t->place);
		if (!t->name || !t->place)
			return -1;
	}
	if (t->name[id])
		return 0;
	if (which == NAMES_IRQ)
		return asprintf(&t->name[id], "%s%d %.*s", prefix, (int)id, (int)n, name) < 0 ? -1
											      : 0;
	return asprintf(&t->name[id], "%s%.*s", prefix, (int)n, name) < 0 ? -1 : 0;
}

int lttng_state_ahead(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	const struct lttng_marker *m = ev->marker;
	const uint8_t *name;
	size_t n;

	switch (m->action) {
	case ACTION_SYSCALL_NAME:
		name = string_arg(ev, m->string_arg, &n);
		return set_name(l, NAMES_SYSCALL, "", arg(ev, 0), name, n);
	case ACTION_SOFTIRQ_NAME:
		name = string_arg(ev, m->string_arg, &n);
		return set_name(l, NAMES_SOFTIRQ, "softirq ", arg(ev, 0), name, n);
	case ACTION_TRAP_NAME:
		name = string_arg(ev, m->string_arg, &n);
		return set_name(l, NAMES_TRAP, "trap ", arg(ev, 0), name, n);
	case ACTION_IRQ_NAME:
		name = string_arg(ev, m->string_arg, &n);
		return set_name(l, NAMES_IRQ, "irq ", arg(ev, 0), name, n);
	case ACTION_PROCESS: return take_process(l, c, ev);
	default: return 0;
	}
}

/* The place of an entry, by the id it has. */
static uint32_t place_of(struct lttng *l, const struct lttng_event *ev)
{
	static const char *const kinds[] = {"syscall ", "softirq ", "trap ", "irq "};
	const struct lttng_marker *m = ev->marker;
	struct lttng_names_table *t;
	char name[64];
	uint64_t id;

	if (m->id_field < 0)
		return m->place;
	id = get_uint(ev->fixed + m->id_field, m->id_size, false);
	if (id >= NAMES_MOST)
		return m->place;
	t = &l->names[m->names];
	if (!t->place) {
		t->place = calloc(NAMES_MOST, sizeof *t->place);
		t->name = calloc(NAMES_MOST, sizeof *t->name);
		if (!t->place || !t->name)
			return m->place;
	}
	if (!t->place[id]) {
		const char *text = t->name[id];

		if (!text) {
			snprintf(name, sizeof name, "%s%u", kinds[m->names], (unsigned)id);
			text = name;
		}
		t->place[id] =
			writer_place(l->w, &(struct place_entry){.name = writer_text(l->w, text)});
	}
	return t->place[id];
}

/* --- calls --- */

bool lttng_state_call(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev,
		      uint32_t *place, uint32_t *depth)
{
	const struct lttng_marker *m = ev->marker;
	struct lttng_frames *frames = &c->frames;
	uint32_t at;

	if (!m->per_cpu) {
		if (__builtin_expect(!c->thread->frames, 0)) {
			c->thread->frames = calloc(1, sizeof *frames);
			if (!c->thread->frames) {
				*place = m->place;
				*depth = 0;
				return true;
			}
		}
		frames = c->thread->frames;
	}
	if (m->kind == KIND_ENTER) {
		/* a thread begins a system call in user mode: what was open has lost its end */
		if (m->names == NAMES_SYSCALL)
			frames->count = 0;
		if (frames->count == LTTNG_FRAMES)
			frames->count--;
		*depth = frames->count;
		*place = place_of(l, ev);
		frames->frame[frames->count].pair = m->pair;
		frames->frame[frames->count++].place = *place;
		return true;
	}
	for (at = frames->count; at && frames->frame[at - 1].pair != m->pair; at--)
		;
	if (at) {
		*depth = frames->count = at - 1;
		*place = frames->frame[at - 1].place;
		return true;
	}
	*place = m->place;
	*depth = frames->count;
	return frames->count > 0;
}

/* --- events --- */

int lttng_state_before(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *t;

	if (ev->marker->action != ACTION_SCHEDULE)
		return 0;
	t = thread_of(l, c, arg(ev, 0));
	if (!t)
		return -1;
	c->thread = t;
	return 0;
}

int lttng_state_after(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev)
{
	struct lttng_thread *t;

	switch (ev->marker->action) {
	case ACTION_SCHEDULE:
		t = thread_of(l, c, arg(ev, 1));
		if (!t)
			return -1;
		c->thread = t;
		return 0;
	case ACTION_PROCESS: return take_process(l, c, ev);
	case ACTION_FORK: return take_fork(l, c, ev);
	case ACTION_EXEC: return take_exec(l, c, ev);
	case ACTION_EXIT: return take_free(l, c, ev);
	default: return 0;
	}
}

/* --- lanes --- */

static int grow_lanes(struct lttng *l)
{
	size_t size = l->lanes_size ? 2 * l->lanes_size : 256, had = l->lanes_size;
	struct lttng_lane *old = l->lanes, *lanes = calloc(size, sizeof *lanes);

	if (!lanes)
		return -1;
	for (size_t i = 0; i < had; i++) {
		size_t at = hash_bytes(&old[i].key, sizeof old[i].key, 0) & (size - 1);

		if (!old[i].lane)
			continue;
		while (lanes[at].lane)
			at = (at + 1) & (size - 1);
		lanes[at] = old[i];
	}
	free(old);
	l->lanes = lanes;
	l->lanes_size = size;
	return 0;
}

uint32_t lttng_state_lane(struct lttng *l, struct lttng_file *f, struct lttng_cpu *c)
{
	const struct lttng_thread *t = c->thread;
	struct lttng_known_lane *known = lttng_known_lane(f, t);
	struct lttng_lane_key key = {f->buffer, t->comm, c->cpu, t->tid, t->pid, t->ppid};
	struct lane_entry e = {.source = l->source,
			       .clock = l->clock_id,
			       .buffer = f->buffer,
			       .comm = t->comm,
			       .flags = LANE_HAS_CPU,
			       .cpu = c->cpu};
	size_t at;

	if (known->thread == t && known->version == t->version)
		return known->lane;
	if (2 * l->nlanes >= l->lanes_size && grow_lanes(l))
		return 0;
	at = hash_bytes(&key, sizeof key, 0) & (l->lanes_size - 1);
	while (l->lanes[at].lane && memcmp(&l->lanes[at].key, &key, sizeof key))
		at = (at + 1) & (l->lanes_size - 1);
	if (!l->lanes[at].lane) {
		if (t->tid >= 0) {
			e.flags |= LANE_HAS_TID;
			e.tid = t->tid;
		}
		if (t->pid >= 0) {
			e.flags |= LANE_HAS_PID;
			e.pid = t->pid;
			e.ppid = t->ppid >= 0 ? t->ppid : 0;
		}
		l->lanes[at].key = key;
		l->lanes[at].lane = writer_lane(l->w, &e);
		l->nlanes++;
	}
	*known = (struct lttng_known_lane){t, t->version, l->lanes[at].lane};
	return known->lane;
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
	lttng_told_free(l);
	for (size_t i = 0; i < l->threads_size; i++)
		if (l->threads[i]) {
			free(l->threads[i]->frames);
			free(l->threads[i]);
		}
	free(l->threads);
	for (int k = 0; k < NAMES_COUNT; k++) {
		for (size_t i = 0; l->names[k].name && i < NAMES_MOST; i++)
			free(l->names[k].name[i]);
		free(l->names[k].name);
		free(l->names[k].place);
	}
	free(l->lanes);
}
