/*
 * threads.h - threads and processes by their numbers, with their names and mappings at the time of
 * the present record
 */
#ifndef TR_TRDECODE_PERF_THREADS_H
#define TR_TRDECODE_PERF_THREADS_H

#include "cmd/trdecode/perf/maps.h"

struct perf_process {
	int32_t pid;
	struct perf_maps *maps; /* NULL: no record has named any */
	struct jit_dump *dump;	/* NULL: no JIT compiler has mapped one */
};

struct perf_thread {
	int32_t tid, pid; /* pid -1: not known */
	uint32_t comm;	  /* string of the writer */
	struct perf_process *process;
	/* the last lane, and the CPU (-1: none) that it is of; 0: comm or pid have changed */
	uint32_t lane;
	int32_t lane_cpu;
};

/* A table of threads, or of processes, by number. */
struct perf_table {
	void **items;
	int32_t *keys;
	size_t count, size;
};

struct perf_threads {
	struct perf_table threads, processes;
	struct id_cache lanes;	    /* by tid, pid, comm and CPU */
	struct perf_thread *last;   /* the last one found */
	struct perf_thread unknown; /* of all threads beyond the limit */
	struct perf_process unknown_process;
};

/* Functions return NULL or -1 when out of memory. */

/* Get a thread. pid -1: as known so far. */
struct perf_thread *perf_thread_of(struct perf_threads *t, int32_t pid, int32_t tid);
struct perf_process *perf_process_of(struct perf_threads *t, int32_t pid);
/* Get the mappings of a process, empty ones if none are known. */
struct perf_maps *perf_process_maps(struct perf_spaces *s, struct perf_process *process);
void perf_thread_rename(struct perf_thread *t, uint32_t comm);
/* Begin a thread: it has the name of its parent, and a process the mappings. */
void perf_thread_fork(struct perf_thread *child, const struct perf_thread *parent);
void perf_threads_free(struct perf_threads *t);

#endif
