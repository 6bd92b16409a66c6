/*
 * anew_threads.c - threads of all sources, with numbers that are unique in one trace
 *
 * A thread keeps its number where no thread of another source has it. Otherwise, and where it has
 * none, it gets one that no kernel gives.
 */
#include <stdlib.h>

#include "anew.h"

enum { MADE_UP = 1 << 22 /* PID_MAX_LIMIT of Linux */ };

/* 1: the number is this one's from now on; 0: another one has it; -1. cpu: of thread 0. */
static int take(struct anew *a, int32_t tid, int32_t cpu)
{
	struct idmap *map = &a->ids.taken;
	uint32_t id = (uint32_t)tid;

	if (tid < 0 || (!tid && (a->target->no_zero || (cpu < 0 && !a->target->zero))))
		return 0;
	if (!tid) {
		map = &a->ids.idle;
		id = cpu < 0 || a->target->no_cpus ? 1 : (uint32_t)cpu + 2;
	}
	if (idmap_get(map, id))
		return 0;
	return idmap_set(map, id, 1) ? -1 : 1;
}

/* The number in the trace to be of what the source calls so. */
static int32_t id_of(struct anew *a, const struct lane *lane, bool has_tid, int32_t tid,
		     int32_t cpu, bool per_cpu)
{
	bool use_cpu = !has_tid || !tid || per_cpu;
	bool use_pid = has_tid && !per_cpu && lane->flags & LANE_PROCESS_TID;
	int32_t key[7] = {lane->source ? (int32_t)lane->source->number : 0,
			  has_tid && !per_cpu,
			  has_tid && !per_cpu ? tid : 0,
			  use_cpu ? cpu : 0,
			  per_cpu,
			  use_pid,
			  use_pid ? lane->pid : 0};
	uint32_t number = intern(&a->ids.keys, key, sizeof key);
	int32_t *ids;
	int got = 0;

	if (number == INTERN_NONE)
		return -1;
	if (number < a->ids.capacity && a->ids.ids[number])
		return a->ids.ids[number] - 1;
	ids = array_reach(a->ids.ids, &a->ids.capacity, number, sizeof *ids);
	if (!ids)
		return -1;
	a->ids.ids = ids;
	if (has_tid && !per_cpu && tid < INT32_MAX)
		got = take(a, tid, cpu);
	if (!got) {
		a->renamed++;
		do
			tid = (int32_t)(MADE_UP + ++a->ids.next);
		while (tid < INT32_MAX && !(got = take(a, tid, 0)));
	}
	if (got < 0)
		return -1;
	ids[number] = tid + 1;
	return tid;
}

static struct anew_thread *new_thread(struct anew *a, const struct lane *lane, bool per_cpu)
{
	struct anew_thread *t = calloc(1, sizeof *t), **list;
	bool has_tid = lane->flags & LANE_HAS_TID;
	int32_t cpu = lane->flags & LANE_HAS_CPU && lane->cpu >= 0 ? lane->cpu : -1;

	list = array_grow(a->by_number, &a->by_number_capacity, a->nthreads, sizeof *list);
	if (list)
		a->by_number = list;
	if (!t || !list)
		goto failed;
	t->per_cpu = per_cpu;
	t->tid = id_of(a, lane, has_tid, lane->tid, cpu, per_cpu);
	t->pid = t->tid;
	if (!per_cpu && has_tid && (lane->tid || lane->flags & LANE_PROCESS_TID) &&
	    lane->flags & LANE_HAS_PID && lane->pid)
		t->pid = id_of(a, lane, true, lane->pid, cpu, false);
	if (t->tid < 0 || t->pid < 0)
		goto failed;
	if (!per_cpu)
		t->comm = lane->comm;
	if (!t->comm.text)
		t->comm = (struct text_ref){"", 0, 0};
	t->number = (uint32_t)a->nthreads;
	list[a->nthreads++] = t;
	return t;
failed:
	free(t);
	return NULL;
}

struct anew_thread *anew_thread(struct anew *a, const struct lane *lane, bool per_cpu)
{
	uint32_t number = per_cpu ? lane->cpu_thread : lane->thread;
	struct anew_thread **threads, *t;

	if (number >= a->threads_size) {
		threads = array_reach(a->threads, &a->threads_size, number, sizeof(void *));
		if (!threads)
			return NULL;
		a->threads = threads;
	}
	t = a->threads[number];
	if (!t)
		return a->threads[number] = new_thread(a, lane, per_cpu);
	if (lane->comm.number != t->comm.number && lane->comm.size && !per_cpu) {
		if (t->comm.size)
			a->comms++;
		else
			t->comm = lane->comm;
	}
	return t;
}
