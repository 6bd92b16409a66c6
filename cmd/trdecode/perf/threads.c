#include "cmd/trdecode/perf/threads.h"

#include <stdlib.h>

enum { TABLE_LEAST = 64, TABLE_MOST = 1 << 18 };

static size_t table_slot(const struct perf_table *t, int32_t key)
{
	size_t i = hash_u64((uint32_t)key) & (t->size - 1);

	while (t->items[i] && t->keys[i] != key)
		i = (i + 1) & (t->size - 1);
	return i;
}

static int table_grow(struct perf_table *t)
{
	struct perf_table old = *t;

	t->size = old.size ? 2 * old.size : TABLE_LEAST;
	t->items = calloc(t->size, sizeof *t->items);
	t->keys = calloc(t->size, sizeof *t->keys);
	if (!t->items || !t->keys) {
		free(t->items);
		free(t->keys);
		*t = old;
		return -1;
	}
	for (size_t i = 0; i < old.size; i++) {
		size_t at;

		if (!old.items[i])
			continue;
		at = table_slot(t, old.keys[i]);
		t->items[at] = old.items[i];
		t->keys[at] = old.keys[i];
	}
	free(old.items);
	free(old.keys);
	return 0;
}

/* Get the slot of a key, whose item may be NULL. NULL: out of memory. */
static void **table_get(struct perf_table *t, int32_t key)
{
	size_t i;

	if (2 * t->count >= t->size && table_grow(t))
		return NULL;
	i = table_slot(t, key);
	t->keys[i] = key;
	return &t->items[i];
}

struct perf_process *perf_process_of(struct perf_threads *t, int32_t pid)
{
	void **slot = table_get(&t->processes, pid);

	if (!slot || *slot)
		return slot ? *slot : NULL;
	/* no machine has so many: the file is damaged */
	if (t->processes.count == TABLE_MOST)
		return &t->unknown_process;
	*slot = calloc(1, sizeof(struct perf_process));
	if (!*slot)
		return NULL;
	t->processes.count++;
	((struct perf_process *)*slot)->pid = pid;
	return *slot;
}

static int set_process(struct perf_threads *t, struct perf_thread *thread, int32_t pid)
{
	struct perf_process *process = perf_process_of(t, pid);

	if (!process)
		return -1;
	thread->process = process;
	thread->pid = pid;
	thread->lane = 0;
	return 0;
}

static struct perf_thread *new_thread(struct perf_threads *t, void **slot, int32_t pid, int32_t tid)
{
	struct perf_thread *thread = &t->unknown;

	if (t->threads.count < TABLE_MOST) {
		thread = calloc(1, sizeof *thread);
		if (!thread)
			return NULL;
		*slot = thread;
		t->threads.count++;
		thread->pid = -1;
	}
	thread->tid = tid;
	return set_process(t, thread, pid) ? NULL : thread;
}

struct perf_thread *perf_thread_of(struct perf_threads *t, int32_t pid, int32_t tid)
{
	struct perf_thread *thread = t->last;
	void **slot;

	if (thread && thread->tid == tid && (thread->pid == pid || pid == -1))
		return thread;
	slot = table_get(&t->threads, tid);
	if (!slot)
		return NULL;
	thread = *slot ? *slot : new_thread(t, slot, pid, tid);
	if (!thread || (thread->pid != pid && pid != -1 && set_process(t, thread, pid)))
		return NULL;
	t->last = thread;
	return thread;
}

struct perf_maps *perf_process_maps(struct perf_spaces *s, struct perf_process *process)
{
	if (!process->maps)
		process->maps = perf_maps_new(s, process->pid, false);
	return process->maps;
}

void perf_thread_rename(struct perf_thread *t, uint32_t comm)
{
	if (t->comm != comm)
		t->lane = 0;
	t->comm = comm;
}

void perf_thread_fork(struct perf_thread *child, const struct perf_thread *parent)
{
	perf_thread_rename(child, parent->comm);
	if (child->process == parent->process)
		return;
	perf_maps_release(child->process->maps);
	child->process->maps = parent->process->maps;
	if (child->process->maps)
		child->process->maps->users++;
}

void perf_threads_free(struct perf_threads *t)
{
	for (size_t i = 0; i < t->threads.size; i++)
		free(t->threads.items[i]);
	for (size_t i = 0; i < t->processes.size; i++) {
		struct perf_process *process = t->processes.items[i];

		if (process)
			perf_maps_release(process->maps);
		free(process);
	}
	perf_maps_release(t->unknown_process.maps);
	free(t->threads.items);
	free(t->threads.keys);
	free(t->processes.items);
	free(t->processes.keys);
	id_cache_free(&t->lanes);
}
