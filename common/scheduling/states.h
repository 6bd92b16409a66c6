/*
 * states.h - how much of a call its thread was running, runnable, asleep ...
 *
 *     call of thread 7             enter 100                     leave 200
 *     sched_switch  7 -> 0, S               120
 *     sched_wakeup  7                           150
 *     sched_switch  0 -> 7                          160
 *
 *     running 20 + 40, sleeping 30, runnable 10: the sum is the call's time
 *
 * Each thread, known by its tid whatever source recorded it, has a state and the time that it has
 * spent in each state so far. A call, or a pair of events, keeps the times at its begin: a mark.
 * The state of a thread follows from
 *
 *     sched_switch         the previous thread: runnable (R, R+), blocked (D), sleeping (S and all
 *                          other letters), offcpu without a letter; the next thread: running
 *     sched_waking, sched_wakeup     a thread that is off its CPU: runnable
 *     sched_stat_iowait, sched_blocked_reason   the time blocked was in I/O wait
 *     irq_handler_entry, softirq_entry   the thread of the CPU: irq, up to the exit
 *     linux:sched-out of uftrace, PERF_RECORD_SWITCH_OUT   runnable if pre-empted, else offcpu
 *
 * and from the same events under LTTng's names. A thread is unknown before its first switch, and
 * where switches are missing: after a loss of its CPU, if it was not running on another one; from
 * a switch to another thread without one back, which calls of the thread in between show.
 *
 * Events are taken in the order of the stream. Times of switches at the time of an enter or a leave
 * are 0, so their order there does not matter. Memory: a record for each thread and CPU.
 */
#ifndef TR_SCHEDULING_STATES_H
#define TR_SCHEDULING_STATES_H

#include "common/scheduling/scheduling.h"
#include "common/util/map.h"

enum state {
	STATE_RUNNING,
	STATE_RUNNABLE,
	STATE_SLEEPING,
	STATE_BLOCKED,
	STATE_IOWAIT,
	STATE_IRQ,
	STATE_OFFCPU, /* the source does not record why */
	STATE_UNKNOWN,
	STATES,
};

/* The names of the states, which are those of fields of calls. */
extern const char *const state_names[STATES];

/* Find the state of that name; -1: there is none. */
int state_by_name(const char *name);

/* Test whether a stream has events that switch threads. */
bool states_declared(const struct dictionary *d);

/* The time that a thread has spent in each state up to some time. */
struct state_mark {
	uint32_t task; /* number of the thread in struct states + 1; 0: no thread */
	uint64_t ns[STATE_UNKNOWN];
};

/* What is known of a thread at the time of its last row. */
struct state_thread {
	uint32_t version;	       /* of the task, when `then` was copied */
	uint64_t last;		       /* time of the row */
	uint64_t since;		       /* begin of the state */
	enum state state;	       /* at the row */
	struct state_mark first, then; /* up to the thread's first row; up to `since` */
};

struct states {
	struct dictionary *dictionary;
	uint32_t stream; /* the present stream (struct dictionary) */
	struct scheduling_types types;
	uint8_t *roles; /* by type: what its events mean; 0 not looked at yet */
	size_t nroles;
	struct idmap numbers; /* by tid: index in tasks + 1 */
	struct state_task *tasks;
	size_t ntasks, tasks_capacity;
	uint32_t *known; /* tasks whose state is known */
	size_t nknown, known_capacity;
	struct state_cpu *cpus;
	size_t ncpus;
	struct state_thread *threads; /* by number of the lane's thread */
	size_t nthreads;
	bool *sources; /* by number: the source has events of the scheduler */
	size_t nsources;
	uint64_t of[STATES]; /* the result of states_of */
};

/* Functions that return int return 0, or -1 when out of memory. */
void states_init(struct states *s, struct dictionary *d);
void states_free(struct states *s);

/* Take a row of any kind, before it is counted. */
int states_take(struct states *s, const struct event *e);

/* Get the mark of a lane's thread at a time not before its last row. */
void states_mark(const struct states *s, const struct lane *l, uint64_t time,
		 struct state_mark *mark);
/* Get that of the thread with a tid now. */
int states_mark_tid(struct states *s, int64_t tid, uint64_t time, struct state_mark *mark);

/* A call, or a pair, that has ended. */
struct state_span {
	/* of its begin; NULL, or of no thread: the call was open before its thread's first row */
	const struct state_mark *mark;
	const struct lane *lane; /* of its end; NULL: a pair, whose end is now */
	uint64_t start, end, total;
	bool left; /* the end is a leave, so the thread runs */
};

/* Get the time of a call in each state, valid until the next use. The sum is its total. */
const uint64_t *states_of(struct states *s, const struct state_span *span);

#endif
