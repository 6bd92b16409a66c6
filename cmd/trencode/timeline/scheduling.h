/*
 * scheduling.h - what CPUs and threads do, from the events of the kernel's scheduler
 *
 * The events of a stream become slices: the thread that runs on a CPU, the state of a thread, the
 * interrupt and the softirq that a CPU handles; flows from the thread that wakes another one to
 * where that one runs; and values of counters. Memory is bounded by the number of CPUs and threads.
 *
 * A slice that began before the trace begins with the first event of its CPU, and is unseen. A
 * slice whose end the trace does not show ends with the last event before the gap, and is
 * unfinished; those that are open at the end of the trace end with the last event of their source.
 *
 * CPUs and threads are those of one source. The idle thread of each CPU, number 0, has no states.
 * A function that returns int returns 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_TIMELINE_SCHEDULING_H
#define TR_TRENCODE_TIMELINE_SCHEDULING_H

#include "cmd/trencode/timeline/scheduling_types.h"
#include "common/util/error.h"

enum { SCHEDULING_NESTED = 8 }; /* interrupts that are open on a CPU at once, at most */

/* The tracks of a CPU, and that of a thread. */
enum scheduling_track { TRACK_CPU, TRACK_IRQ, TRACK_SOFTIRQ, TRACK_STATE };

/* A wakeup. */
struct scheduling_wake {
	uint64_t time;
	uint32_t cpu; /* index */
	enum scheduling_track track;
	uint32_t waker; /* thread: index + 1, 0 unknown */
};

struct scheduling_thread {
	const struct source *source;
	int32_t tid;
	uint32_t comm; /* number of a string of the dictionary; 0 unknown */
	enum thread_state state;
	uint64_t since; /* of the state */
	/* the CPU of the state, and its neighbours in the list of that CPU: index + 1, 0 none */
	uint32_t cpu, before, after;
	bool woken; /* it has not run since */
	struct scheduling_wake wake;
};

/* An interrupt that a CPU handles. */
struct scheduling_irq {
	uint64_t since;
	int64_t number;
	uint32_t name; /* string; 0 none */
};

struct scheduling_cpu {
	const struct source *source;
	int32_t cpu;
	bool begun;	      /* first is known */
	uint64_t first, last; /* times of its first event after the last gap, and of its last one */
	uint32_t running;     /* thread: index + 1, 0 unknown */
	uint64_t since;
	bool has_prio, woken;
	int32_t prio;
	struct scheduling_wake wake; /* with woken: of the thread that runs, before it did */
	uint32_t threads; /* list of the threads with a state whose CPU this is: index + 1 */
	struct scheduling_irqs {
		unsigned count;
		struct scheduling_irq open[SCHEDULING_NESTED];
	} irqs, softirqs;
};

/* Something that lasts from start to end. */
struct scheduling_slice {
	enum scheduling_track track;
	const struct scheduling_cpu *cpu;	/* of a state the CPU that it began on */
	const struct scheduling_thread *thread; /* of TRACK_CPU and TRACK_STATE */
	const struct scheduling_irq *irq;	/* of TRACK_IRQ and TRACK_SOFTIRQ */
	uint64_t start, end;
	bool unseen, unfinished; /* open at the end: unfinished too */
	const char *end_state;	 /* of TRACK_CPU: letters; "" unknown */
	int64_t ret;		 /* of TRACK_IRQ */
	bool has_ret;
	enum thread_state state;	       /* of TRACK_STATE */
	const struct scheduling_thread *waker; /* of THREAD_RUNNABLE after a wakeup, or NULL */
};

/* A wakeup, and the CPU on which the thread runs then. */
struct scheduling_flow {
	uint64_t number; /* from 1 */
	const struct scheduling_cpu *from, *to;
	enum scheduling_track track; /* of the waker */
	uint64_t start, end;
};

/* The functions of an encoder. */
struct scheduling_sink {
	int (*slice)(void *ctx, const struct scheduling_slice *s, struct error *e);
	int (*flow)(void *ctx, const struct scheduling_flow *f, struct error *e);
	/* Take an event of SCHEDULING_FREQUENCY, LIMITS, IDLE or MEMORY. */
	int (*counter)(void *ctx, const struct scheduling_type *t, const struct event *ev,
		       struct error *e);
};

struct scheduling {
	struct scheduling_types types;
	const struct scheduling_sink *sink;
	void *ctx;
	struct dictionary *dictionary;
	struct intern cpu_keys, thread_keys; /* source and number (idle threads: and CPU) */
	struct scheduling_cpu *cpus;
	struct scheduling_thread *threads;
	size_t ncpus, nthreads;
	uint64_t *ends; /* by source: time of its last event */
	size_t nends;
	uint64_t flows, unpaired; /* unpaired: ends of interrupts without a beginning */
	bool at_end;		  /* after the last event */
};

void scheduling_init(struct scheduling *s, struct dictionary *d, const struct scheduling_sink *sink,
		     void *ctx);
void scheduling_free(struct scheduling *s);

/* Take an event that is no enter or leave. */
int scheduling_event(struct scheduling *s, const struct event *ev, struct error *e);
/* End what is open: events are missing. */
int scheduling_lost(struct scheduling *s, struct error *e);
/* End what is open, at the end of the trace. */
int scheduling_finish(struct scheduling *s, struct error *e);

#endif
