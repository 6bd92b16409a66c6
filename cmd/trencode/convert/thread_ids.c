#include "cmd/trencode/convert/thread_ids.h"

#include <stdlib.h>

#include "common/util/buffer.h"

enum { MADE_UP = 1 << 22 /* PID_MAX_LIMIT of Linux */ };

/* Assign a number. Returns 1 if it was free, 0 if it is taken, -1 when out of memory. cpu: of
 * thread 0. */
static int thread_ids_take(struct thread_ids *t, int32_t tid, int32_t cpu)
{
	struct idmap *map = &t->taken;
	uint32_t id = (uint32_t)tid;

	if (tid < 0 || (!tid && (t->no_zero || (cpu < 0 && !t->zero))))
		return 0;
	if (!tid) {
		map = &t->idle;
		id = cpu < 0 || t->no_cpus ? 1 : (uint32_t)cpu + 2;
	}
	if (idmap_get(map, id))
		return 0;
	return idmap_set(map, id, 1) ? -1 : 1;
}

/* Returns the number in the written trace of a thread or process of the source. */
static int32_t thread_ids_id(struct thread_ids *t, const struct lane *lane, bool has_tid,
			     int32_t tid, int32_t cpu, bool per_cpu)
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
	uint32_t number = intern(&t->keys, key, sizeof key);
	int32_t *ids;
	int got = 0;

	if (number == INTERN_NONE)
		return -1;
	if (number < t->capacity && t->ids[number])
		return t->ids[number] - 1;
	if (ARRAY_REACH(t->ids, t->capacity, number))
		return -1;
	ids = t->ids;
	if (has_tid && !per_cpu && tid < INT32_MAX)
		got = thread_ids_take(t, tid, cpu);
	if (!got) {
		t->renamed++;
		do
			tid = (int32_t)(MADE_UP + ++t->next);
		while (tid < INT32_MAX && !(got = thread_ids_take(t, tid, 0)));
	}
	if (got < 0)
		return -1;
	ids[number] = tid + 1;
	return tid;
}

static int32_t cpu_of(const struct lane *lane)
{
	return lane->flags & LANE_HAS_CPU && lane->cpu >= 0 ? lane->cpu : -1;
}

int32_t thread_ids_thread(struct thread_ids *t, const struct lane *lane, bool per_cpu)
{
	return thread_ids_id(t, lane, lane->flags & LANE_HAS_TID, lane->tid, cpu_of(lane), per_cpu);
}

int32_t thread_ids_process(struct thread_ids *t, const struct lane *lane)
{
	bool has_tid = lane->flags & LANE_HAS_TID && (lane->tid || lane->flags & LANE_PROCESS_TID);

	if (!has_tid || !(lane->flags & LANE_HAS_PID) || !lane->pid)
		return thread_ids_thread(t, lane, false);
	return thread_ids_id(t, lane, true, lane->pid, cpu_of(lane), false);
}

void thread_ids_free(struct thread_ids *t)
{
	intern_free(&t->keys);
	free(t->ids);
	idmap_free(&t->taken);
	idmap_free(&t->idle);
	*t = (struct thread_ids){0};
}
