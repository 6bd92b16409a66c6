#include "cmd/trencode/timeline/tracks.h"

#include <stdlib.h>

void tracks_free(struct tracks *t)
{
	free(t->tracks);
	free(t->processes);
	intern_free(&t->pids);
	intern_free(&t->tids);
	intern_free(&t->keys);
	*t = (struct tracks){0};
}

/* Take the number `wanted` if it is not in use, else a made-up number. process: `wanted` is unique
 * within this process; -1: within all. Returns 0, or -1 when out of memory. */
static int tracks_take_number(struct intern *used, int32_t *next, int32_t process, int32_t wanted,
			      int32_t *given)
{
	int32_t key[2] = {wanted, process};
	uint32_t had = used->count;

	if (wanted >= 0) {
		if (intern(used, key, process >= 0 ? sizeof key : sizeof *key) == INTERN_NONE)
			return -1;
		if (used->count > had) {
			*given = wanted;
			return 0;
		}
	}
	do {
		had = used->count;
		*given = TRACK_MADE_UP + ++*next;
		if (intern(used, given, sizeof *given) == INTERN_NONE)
			return -1;
	} while (used->count == had);
	return 0;
}

int tracks_new_process(struct tracks *t, int32_t *pid)
{
	return tracks_take_number(&t->pids, &t->next_pid, -1, -1, pid);
}

static int tracks_process_of(struct tracks *t, const struct lane *lane, int32_t pid,
			     uint32_t *index)
{
	int32_t key[2] = {(int32_t)(lane->source ? lane->source->number : 0), pid};
	uint32_t had = t->keys.count;
	struct track_process *processes;

	*index = intern(&t->keys, key, sizeof key);
	if (*index == INTERN_NONE)
		return -1;
	if (t->keys.count == had)
		return 0;
	processes =
		array_grow(t->processes, &t->processes_capacity, t->nprocesses, sizeof(*processes));
	if (!processes)
		return -1;
	t->processes = processes;
	processes[t->nprocesses] =
		(struct track_process){.source = (uint32_t)key[0], .pid = pid, .renamed = true};
	return tracks_take_number(&t->pids, &t->next_pid, -1, pid,
				  &processes[t->nprocesses++].shown);
}

static int tracks_new_track(struct tracks *t, struct track *tr, uint32_t thread,
			    const struct lane *lane)
{
	bool per_cpu = thread == lane->cpu_thread && thread != lane->thread;
	int32_t tid = !per_cpu && lane->flags & LANE_HAS_TID ? lane->tid : -1, pid = 0,
		process = -1;

	/* an unknown process is the thread itself */
	if (!per_cpu)
		pid = lane->flags & LANE_HAS_PID ? lane->pid : tid >= 0 ? tid : 0;
	*tr = (struct track){.per_cpu = per_cpu || tid < 0};
	if (tracks_process_of(t, lane, pid, &tr->process))
		return -1;
	if (t->process_tids && lane->flags & LANE_PROCESS_TID)
		process = t->processes[tr->process].shown;
	if (tracks_take_number(&t->tids, &t->next_tid, process, tid, &tr->tid))
		return -1;
	tr->made_up = tr->tid != tid;
	tr->pid = t->processes[tr->process].shown;
	tr->thread = thread + 1;
	tr->renamed = true;
	return 0;
}

struct track *tracks_new(struct tracks *t, uint32_t thread, const struct lane *lane)
{
	struct track *tracks = array_reach(t->tracks, &t->count, thread, sizeof(*tracks)), *tr;

	if (!tracks)
		return NULL;
	t->tracks = tracks;
	tr = &t->tracks[thread];
	if (!tr->thread && tracks_new_track(t, tr, thread, lane))
		return NULL;
	if (tr->comm != lane->comm.number) {
		tr->comm = lane->comm.number;
		tr->renamed |= !tr->per_cpu;
	}
	if (tr->renamed && !tr->per_cpu) {
		struct track_process *p = &t->processes[tr->process];

		/* a process has the name of its first thread */
		if ((p->pid == lane->tid || !p->comm) && p->comm != lane->comm.number) {
			p->comm = lane->comm.number;
			p->renamed = true;
		}
	}
	return tr;
}

int track_name(const struct track *t, const struct lane *lane, struct buffer *to)
{
	if (t->per_cpu)
		return lane->flags & LANE_HAS_CPU ? buffer_printf(to, "CPU %d", lane->cpu)
						  : buffer_append(to, "events", 6);
	if (lane->comm.size ? buffer_append(to, lane->comm.text, lane->comm.size)
			    : buffer_append(to, "thread", 6))
		return -1;
	if (!t->made_up)
		return 0;
	if (lane->tid || !(lane->flags & LANE_HAS_CPU))
		return buffer_printf(to, " [%d]", lane->tid);
	return buffer_printf(to, " [CPU %d]", lane->cpu);
}
