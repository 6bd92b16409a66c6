/*
 * waits.h - whom a thread waited for: the critical path of a time of a thread
 *
 *     call of main        |====================|      enter 0, leave 20
 *     main                RRRR................RR      asleep from 4 to 18, woken by worker
 *     worker              ....rrrrRRRRRRRRRRRR..      runnable from 4 to 8, behind hog on CPU 1
 *
 *     path, backwards     main ran            20 - 18
 *                         worker ran          18 - 8      main waits for worker
 *                         hog was in front     8 - 4      main waits for worker
 *                         main ran             4 - 0
 *
 * Each part of the time is on one thread. While a thread waits, the path is that of the thread that
 * wakes it, from the wakeup back to the begin of the wait, and so on: parts of depth 0 are of the
 * thread itself, parts of depth 1 of threads that it waits for. The parts add up to the time.
 *
 * Rows of one time have an order: that in which they are read. A wakeup may be read after the
 * switch of the same time that it causes, as where files of CPUs are merged. After a loss of a CPU,
 * a thread that was on another CPU last is taken to sleep or wait there as before, unless its next
 * event contradicts that.
 *
 * The past of all threads and CPUs is kept since the time that the caller needs (waits_keep), up to
 * WAITS_MOST marks. Then the oldest are dropped, and what a path has there is unknown. A path takes
 * a time that is proportional to the marks in it.
 */
#ifndef TR_SCHEDULING_WAITS_H
#define TR_SCHEDULING_WAITS_H

#include "common/scheduling/states.h"
#include "common/util/intern.h"

/* Events that a trace has, which paths need. */
enum waits_seen {
	SEEN_SWITCH = 1, /* or states of threads by other events */
	SEEN_WAKING = 2,
	SEEN_WAKEUP = 4,
	SEEN_INTERRUPT = 8,
};

/* What a part of a path is. */
enum wait_kind {
	WAIT_RUNNING,
	WAIT_INTERRUPTED, /* an interrupt ran on the CPU in place of the thread */
	WAIT_CPU,	  /* runnable, while another thread ran on its CPU */
	WAIT_INVERSION,	  /* the same, where a thread of higher priority waits for this one, and the
			     other thread is between the two */
	WAIT_IDLE,	  /* runnable, while its CPU was idle: the CPU wakes up */
	WAIT_THROTTLED,	  /* the same, though it left its CPU runnable: its cgroup is throttled */
	WAIT_INTERRUPT,	  /* asleep, until an interrupt or a timer woke it */
	WAIT_UNKNOWN,
	WAIT_KINDS,
};

/* Why a part is unknown. */
enum wait_unknown {
	WAIT_NO_WAKEUP, /* no event records who woke the thread */
	WAIT_NOT_WOKEN, /* asleep up to the end of the trace */
	WAIT_NO_SWITCH, /* before the first switch of the thread, or a switch is missing */
	WAIT_LOST,	/* events were lost */
	WAIT_FORGOTTEN, /* older than what is kept */
	WAIT_TOO_DEEP,	/* a chain of more than WAITS_DEPTH threads */
	WAIT_NO_THREAD, /* the source does not record the thread */
	WAIT_UNKNOWNS,
};

extern const char *const wait_kind_names[WAIT_KINDS];
extern const char *const wait_unknown_names[WAIT_UNKNOWNS];

enum { WAITS_DEPTH = 64, WAITS_MOST = 1 << 18 };

/* A part of a path. */
struct wait_part {
	enum wait_kind kind;
	uint64_t begin, end;
	uint32_t depth;
	const uint32_t *tasks; /* depth + 1: the thread, the thread it waits for, and so on */
	/* CPU, INVERSION: task that ran, 0 unknown; of interrupts: number in waits.names; UNKNOWN:
	   enum wait_unknown */
	uint32_t other;
	uint32_t function;   /* location of the innermost open call of the last task; 0 unknown */
	uint32_t cpu;	     /* + 1, on which the task is; 0 unknown */
	uint32_t migrations; /* to other CPUs, while it was runnable */
};

/* A flag of wait_mark.state: the thread has ended. */
enum { WAIT_MARK_ENDED = 128 };

/* What a thread, or a CPU, is from a time on. */
struct wait_mark {
	uint64_t since;
	/* of a thread: number of the row, as rows of one time have an order; else 0 */
	uint64_t order;
	/* of a thread that is runnable: task, or interrupt, that woke it, 0 none; of a CPU: 1 +
	   the task that runs, 0 unknown; of calls: location of the innermost one */
	uint32_t what;
	uint16_t cpu;	  /* + 1; 0 unknown */
	uint8_t state;	  /* enum state, and flags */
	uint8_t priority; /* as the kernel counts, the highest is the lowest number, + 2; 0 unknown
			   */
};

/* Marks in the order of their times, and the present one. */
struct wait_history {
	struct wait_mark now;
	struct wait_mark *past;
	size_t count, capacity;
	uint32_t kept; /* waits.kept at which past was begun; another one: it is empty */
};

struct wait_task {
	int32_t tid;
	uint8_t priority;
	const struct lane *lane; /* one of the thread's, for its name; NULL: none was seen */
	uint32_t comm;		 /* the same as events name it: number + 1 in waits.names; 0 none */
	struct wait_history states, functions;
	uint64_t first; /* time of the first event about the thread; 0 none */
	/* the last sched_waking without a sched_wakeup after it: time, and who; 0: none */
	uint64_t waking;
	uint32_t waker;
};

enum { WAITS_INTERRUPTS = 8 };

/* A CPU: whose turn it is, and the interrupts that run. */
struct wait_cpu {
	struct wait_history turns;
	uint32_t depth;
	struct {
		uint32_t name; /* in waits.names */
		uint8_t role;  /* of the event that ends it */
		uint8_t flags; /* of the events in it; 0 unknown */
	} interrupts[WAITS_INTERRUPTS];
};

struct waits {
	struct states states;
	struct dictionary *dictionary;
	struct intern names; /* of interrupts, and of threads without a lane */
	uint32_t stream;
	uint8_t *roles; /* by type; 0: not looked at yet */
	size_t nroles;
	struct wait_task *tasks; /* by number in states */
	size_t ntasks;
	struct wait_cpu *cpus; /* by index in states.cpus */
	size_t ncpus;
	uint32_t *lanes; /* by lane: number of its task; 0 not known yet */
	size_t nlanes;
	/* the past is kept */
	bool keeps;
	uint64_t order;	     /* number of the present row */
	uint32_t kept;	     /* how often keeping began */
	uint64_t kept_since; /* nothing older is kept: dropped, or before keeping began */
	bool dropped;	     /* as there was too much; it is noted once */
	size_t nmarks, marks_most, nfunctions, room; /* room: of the marks of all histories */
	uint64_t grain; /* calls that are innermost for a shorter time are left out */
	/* the present event */
	struct {
		uint8_t role;
		uint32_t cpu;	 /* + 1; 0 unknown */
		uint32_t woken;	 /* the task that it wakes; 0: none */
		uint32_t waker;	 /* who wakes it, or the interrupt that it begins */
		uint32_t on;	 /* CPU + 1 on which that will run; 0 unknown */
		uint32_t leaves; /* the task that leaves its CPU; 0: none */
		bool late;	 /* the wakeup was begun before the task slept */
		bool gap;
	} event;
	unsigned seen; /* enum waits_seen */
};

/* Functions that return int return 0, or -1 when out of memory. */
void waits_init(struct waits *w, struct dictionary *d);
void waits_free(struct waits *w);

/* Take a row of any kind, before the calls take it. */
int waits_take(struct waits *w, const struct event *e);
/* Note the innermost open call of the thread of a lane, which has changed. */
int waits_call(struct waits *w, const struct lane *lane, uint32_t function, uint64_t time);

/* Keep the past from now on; or forget it. */
void waits_keep(struct waits *w, bool keep, uint64_t now);
/* Test whether waits_forget is to be called, as there are many marks. */
static inline bool waits_full(const struct waits *w)
{
	return w->nmarks >= w->marks_most;
}
/* Forget the marks of times that are over before since. looked: how many things the caller has
 * looked at to find that time. */
void waits_forget(struct waits *w, uint64_t since, size_t looked);

/* Get the number of the task of a lane; 0: it is not known. */
uint32_t waits_task(struct waits *w, const struct lane *lane);

/* Test whether a task has ended. A later thread may have its tid: then waits.tasks.first is new. */
static inline bool waits_ended(const struct waits *w, uint32_t task)
{
	return task < w->ntasks && w->tasks[task].states.now.state & WAIT_MARK_ENDED;
}

/* Call put for each part of the path of a task's time, the latest first. -1: put returned it. */
int waits_path(struct waits *w, uint32_t task, uint64_t begin, uint64_t end,
	       int (*put)(void *ctx, const struct wait_part *part), void *ctx);

/* Append "comm-tid". */
int waits_name(const struct waits *w, uint32_t task, struct buffer *b);
/* Append what a part waits for: the name of a thread or an interrupt, or why it is unknown. Nothing
 * if that is not known, or the part waits for nothing. */
int waits_other(const struct waits *w, const struct wait_part *p, struct buffer *b);
/* Get what the events of a type are, enum waits_seen; 0: nothing for paths, or out of memory. */
unsigned waits_type_seen(struct scheduling_types *types, const struct type *t);
/* Report on stderr which events a trace lacks that has seen (enum waits_seen), and how they are
 * recorded. */
void waits_report_missing(unsigned seen);

#endif
