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
 * spent in each state so far. What was so in the past is kept as long as a call is open that began
 * then, so a call needs nothing at its enter. A pair of events keeps the times at its begin: a
 * mark. The state of a thread follows from
 *
 *     sched_switch         the previous thread: runnable (R, R+), blocked (D), sleeping (S and all
 *                          other letters), offcpu without a letter; the next thread: running
 *     sched_waking, sched_wakeup     a thread that is off its CPU: runnable
 *     sched_stat_iowait, sched_blocked_reason   the time blocked was in I/O wait
 *     irq_handler_entry, softirq_entry   the thread of the CPU: irq, up to the exit
 *     linux:sched-out of uftrace, PERF_RECORD_SWITCH_OUT   runnable if pre-empted, else offcpu
 *
 * and from the same events under LTTng's names, of which interrupts are calls. A thread is unknown
 * before its first switch, and where switches are missing: after a loss of its CPU, if it was not
 * running on another one; from a switch to another thread without one back, which calls of the
 * thread in between show.
 *
 * Events are taken in the order of the stream. Times of switches at the time of an enter or a leave
 * are 0, so their order there does not matter. Memory: a record for each thread and CPU, and at
 * most some for each open call.
 */
#ifndef TR_SCHEDULING_STATES_H
#define TR_SCHEDULING_STATES_H

#include "common/scheduling/scheduling.h"

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

struct calls;

/* A task of states.watch.turn: not known, as events were lost. */
#define STATES_LOST UINT32_MAX

/* The names of the states, which are those of fields of calls. */
extern const char *const state_names[STATES];

/* Find the state of that name; -1: there is none. */
int state_by_name(const char *name);

/* Test whether a stream has events that switch threads. */
bool states_declared(const struct dictionary *d);

/* The time that a task has spent in each state up to some time. */
struct state_mark {
	uint32_t task; /* number in states.tasks; 0: no thread */
	uint64_t ns[STATE_UNKNOWN];
};

/* A time without a change of the state of a task. */
struct state_period {
	uint64_t since;		    /* its begin */
	uint64_t ns[STATE_UNKNOWN]; /* of the task, up to since */
	uint8_t state;
	bool needed; /* states_prune: a call that is open began in it */
};

/* A thread. */
struct state_task {
	struct state_period now;
	struct state_period *past; /* in the order of their begins */
	uint32_t npast;
	uint32_t number; /* in states.tasks */
	int32_t tid;
	uint32_t cpu;	  /* on which it runs: index in states.cpus; 0 unknown */
	uint32_t known;	  /* index in states.known + 1; 0: the state is unknown */
	uint64_t blocked; /* how long it was blocked last, if that is not known to be I/O; else 0 */
	uint64_t woken;	  /* when that ended */
};

struct states {
	struct dictionary *dictionary;
	const struct calls *calls; /* whose times are needed; NULL: of pairs only */
	uint32_t stream;	   /* the present stream (struct dictionary) */
	struct scheduling_types types;
	uint8_t *roles; /* by type: what its events mean; 0 not looked at yet */
	size_t nroles;
	struct idmap numbers; /* by tid: number of the task */
	struct pool tasks;
	struct state_task **known; /* whose state is known */
	size_t nknown, known_capacity;
	struct state_cpu *cpus; /* by number + 1; 0: of rows without a CPU */
	size_t ncpus;
	bool *sources; /* by number: the source has events of the scheduler */
	size_t nsources;
	struct states_rows *rows; /* states_rows_begin; else NULL */
	size_t npast, past_most;  /* past periods of all tasks; how many are kept before a look */
	uint64_t of[STATES];	  /* the result of states_of */
	/* Called when a task has another state since that time, and when a CPU, an index in cpus,
	   begins to run a task; 0: none. -1: out of memory. NULL: not called. With a watcher, a
	   thread in an unknown state is woken, too. */
	struct {
		int (*state)(void *ctx, uint32_t task, enum state state, uint64_t since);
		int (*turn)(void *ctx, uint32_t cpu, uint32_t task, uint64_t time);
		/* Test whether a loss of a CPU, 0 unknown, leaves the state of a task. */
		bool (*spared)(void *ctx, uint32_t task, uint32_t cpu);
		void *ctx;
	} watch;
};

/* Functions that return int return 0, or -1 when out of memory. */
void states_init(struct states *s, struct dictionary *d, const struct calls *calls);
void states_free(struct states *s);

/* Get the number of the task with a tid, 0 for the idle tasks; or 0 when out of memory. */
uint32_t states_task(struct states *s, int64_t tid);

/* Take a row of any kind, before the calls take it. */
int states_take(struct states *s, const struct event *e);

struct state_cpu {
	uint64_t last;	/* time of the last row */
	uint32_t task;	/* the running one; 0 idle or unknown */
	uint32_t depth; /* of interrupts */
};

/*
 * The same for loops over the rows of a narrow block.
 *
 * A row of a type that does not change states needs nothing while its thread is on a CPU, or its
 * state is unknown.
 */
struct states_rows {
	uint32_t nlanes;
	const struct state_period *now[256]; /* by lane: the present period of its thread */
	uint64_t last[256];		     /* time of the last row of the lane; 0: none */
	uint32_t cpu[256];		     /* index in states.cpus */
};

/* Begin the rows of a block. Until states_rows_end all other rows are for states_take. */
int states_rows_begin(struct states *s, const struct block *b, struct states_rows *r);
void states_rows_end(struct states *s);

/* Test whether rows of a type change states; out of memory is true. */
bool states_changed_by(struct states *s, const struct type *t);

/* Take a row of a type that does not change states. false: it is for states_take. */
static inline bool states_pass(struct states_rows *r, uint32_t lane, uint64_t time)
{
	enum { QUIET = 1 << STATE_RUNNING | 1 << STATE_IRQ | 1 << STATE_UNKNOWN };

	r->last[lane] = time;
	return QUIET >> r->now[lane]->state & 1;
}

/* Get the mark of the thread with a tid now. */
int states_mark_tid(struct states *s, int64_t tid, uint64_t time, struct state_mark *mark);

/* A call, or a pair, that has ended. */
struct state_span {
	const struct state_mark *mark; /* of the begin of a pair, whose end is now; NULL: a call */
	const struct lane *lane;       /* of a call: of its end */
	uint64_t start, end, total;
	bool left; /* the end is a leave, so the thread runs */
};

/* Get the time of a call in each state, valid until the next use. The sum is its total. */
const uint64_t *states_of(struct states *s, const struct state_span *span);

#endif
