/*
 * threads.c - the threads of rows
 */
#include <stdlib.h>

#include "cmd/trencode/convert/convert.h"

static struct convert_thread *new_thread(struct conversion *a, const struct lane *lane,
					 bool per_cpu)
{
	struct convert_thread *t = calloc(1, sizeof *t), **list;
	if (!t || ARRAY_GROW(a->by_number, a->by_number_capacity, a->nthreads))
		goto failed;
	list = a->by_number;
	t->per_cpu = per_cpu;
	t->tid = thread_ids_thread(&a->ids, lane, per_cpu);
	t->pid = per_cpu ? t->tid : thread_ids_process(&a->ids, lane);
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

struct convert_thread *convert_thread(struct conversion *a, const struct lane *lane, bool per_cpu)
{
	uint32_t number = per_cpu ? lane->cpu_thread : lane->thread;
	struct convert_thread *t;

	if (number >= a->threads_size) {
		if (ARRAY_REACH(a->threads, a->threads_size, number))
			return NULL;
	}
	t = a->threads[number];
	if (!t)
		return a->threads[number] = new_thread(a, lane, per_cpu);
	if (lane->comm.number != t->comm.number && lane->comm.size && !per_cpu) {
		if (t->comm.size)
			a->counts.comms++;
		else
			t->comm = lane->comm;
	}
	return t;
}
