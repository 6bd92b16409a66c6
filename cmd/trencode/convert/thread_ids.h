/*
 * thread_ids.h - threads of all sources, with numbers that are unique in one trace
 *
 * A thread keeps its number if no thread of another source has it. Otherwise, and if it has none,
 * it gets a number that no kernel assigns.
 */
#ifndef TR_TRENCODE_CONVERT_THREAD_IDS_H
#define TR_TRENCODE_CONVERT_THREAD_IDS_H

#include "common/stream/dictionary.h"

/* The remark about the number of threads that were renamed. */
#define THREAD_IDS_RENAMED "{thread|threads} without a unique number {is|are} numbered from 4194305"

/* The numbers of all threads of one written trace. */
struct thread_ids {
	bool no_zero; /* there is no thread 0 */
	bool zero;    /* thread 0 is a thread like others, not only the idle one of a CPU */
	bool no_cpus; /* there is one thread 0, not one for each CPU */
	struct intern keys;
	int32_t *ids; /* by number of the key */
	size_t capacity;
	struct idmap taken, idle;
	uint32_t next;
	uint64_t renamed; /* threads whose number differs from that in their source */
};

/* Return the number in the written trace of the lane's thread, of its CPU's interrupts (per_cpu),
 * or of its process, which has the number of its first thread. A thread without a process is its
 * own process. Both return -1 when out of memory. */
int32_t thread_ids_thread(struct thread_ids *t, const struct lane *lane, bool per_cpu);
int32_t thread_ids_process(struct thread_ids *t, const struct lane *lane);
void thread_ids_free(struct thread_ids *t);

#endif
