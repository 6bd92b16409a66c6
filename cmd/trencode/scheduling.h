/*
 * scheduling.h - which types of events record the scheduler, interrupts and the power of CPUs
 *
 * A type is known by its name and its fields, whichever format recorded it. The fields have slots:
 * slot i is the field i + 1 of the message of Perfetto's FtraceEvent (protos/perfetto/trace/ftrace
 * of google/perfetto: sched, irq, power, kmem, task and ftrace.proto), whose number is
 * scheduling_type.message.
 */
#ifndef TR_TRENCODE_SCHEDULING_H
#define TR_TRENCODE_SCHEDULING_H

#include "common/stream/field.h"
#include "common/util/error.h"

enum scheduling_kind {
	SCHEDULING_NONE, /* no such type */
	SCHEDULING_SWITCH,
	SCHEDULING_WAKING,
	SCHEDULING_WAKEUP, /* after SCHEDULING_WAKING, if the recorder has that */
	SCHEDULING_IRQ_ENTRY,
	SCHEDULING_IRQ_EXIT,
	SCHEDULING_SOFTIRQ_ENTRY,
	SCHEDULING_SOFTIRQ_EXIT,
	SCHEDULING_FREQUENCY,
	SCHEDULING_LIMITS,
	SCHEDULING_IDLE,
	SCHEDULING_MEMORY,
	SCHEDULING_OTHER, /* Perfetto has a message for it */
};

enum {
	SCHEDULING_SLOTS = 7,
	SCHEDULING_CPUS = 1 << 16, /* more than any system has */
};

/* Slots of each kind. */
enum {
	SWITCH_PREV_COMM,
	SWITCH_PREV_TID,
	SWITCH_PREV_PRIO,
	SWITCH_PREV_STATE,
	SWITCH_NEXT_COMM,
	SWITCH_NEXT_TID,
	SWITCH_NEXT_PRIO,

	WAKE_COMM = 0,
	WAKE_TID,
	WAKE_PRIO,
	WAKE_SUCCESS, /* of old kernels; 0: the task was not asleep */
	WAKE_CPU,     /* the CPU on which it will run */

	IRQ_NUMBER = 0, /* of a softirq the vector */
	IRQ_NAME = 1,	/* of an entry; of a softirq, where the source is text: no field of the
			   message */
	IRQ_RET = 1,	/* of an exit */

	POWER_STATE = 0, /* frequency in kHz; idle state, 2^32 - 1: not idle */
	POWER_CPU = 1,
	LIMITS_LOW = 0,
	LIMITS_HIGH = 1,
	LIMITS_CPU = 2,

	MEMORY_MEMBER = 0,
	MEMORY_SIZE, /* bytes or pages, as recorded */
	MEMORY_CURRENT,
	MEMORY_ID,
};

/* What is known of one type. */
struct scheduling_type {
	bool known;
	bool whole;	  /* every field that is an attribute has a slot */
	uint8_t needs;	  /* bit i: slot i must be there */
	uint8_t kind;	  /* enum scheduling_kind */
	uint8_t texts;	  /* bit i: slot i is a text */
	uint32_t message; /* number of the message in FtraceEvent */
	const struct field *fields[SCHEDULING_SLOTS]; /* NULL: the type has no such field */
	/* of a type whose events have arguments instead of fields: the names of the arguments by
	   slot, as in Trace Event JSON that was made of events with fields; else NULL */
	const char *const *arguments;
	const struct dictionary *dictionary; /* in which they are */
	const struct field *flags;	     /* common_flags, or NULL */
	const struct field *cpu; /* with ROLE_CPU: the CPU, whose thread is not that of the lane; or
				    NULL */
	/* of a switch whose states have letters in the source: the letters by bit; 0 none */
	bool declared;
	char letters[16];
};

/* What is known of the types of a stream. */
struct scheduling_types {
	struct scheduling_type *types; /* by number */
	size_t count;
	/* to read arguments of events without fields, too; else NULL */
	const struct dictionary *dictionary;
};

void scheduling_types_free(struct scheduling_types *t);

/* Get what is known of a type, valid until the next call. NULL: out of memory. */
const struct scheduling_type *scheduling_types_make(struct scheduling_types *t,
						    const struct type *type);
static inline const struct scheduling_type *scheduling_types_get(struct scheduling_types *t,
								 const struct type *type)
{
	return type->number < t->count && t->types[type->number].known
		       ? &t->types[type->number]
		       : scheduling_types_make(t, type);
}

/* Get the CPU of an event. false: it is not known. */
bool scheduling_cpu(const struct scheduling_type *t, const struct event *ev, uint32_t *cpu);
/* Read the whole number, or the text, in a slot of an event. false: it has none. */
bool scheduling_number(const struct scheduling_type *t, const struct event *ev, unsigned slot,
		       int64_t *number);
bool scheduling_text(const struct scheduling_type *t, const struct event *ev, unsigned slot,
		     const char **text, size_t *size);
/* Test whether an event has a slot. */
bool scheduling_slot(const struct scheduling_type *t, const struct event *ev, unsigned slot);
/* Test whether an event has the slots that its kind needs. *whole: every attribute has a slot. */
bool scheduling_sound(const struct scheduling_type *t, const struct event *ev, bool *whole);

/* The states of a thread. */
enum thread_state {
	THREAD_UNKNOWN, /* also after its end */
	THREAD_RUNNING,
	THREAD_RUNNABLE,
	THREAD_SLEEPING,
	THREAD_UNINTERRUPTIBLE,
	THREAD_STOPPED,
	THREAD_TRACED,
	THREAD_PARKED,
	THREAD_IDLE,
	THREAD_STATES,
};

enum { STATE_LETTERS = 24 };

/* Why a thread leaves its CPU. */
struct switch_state {
	enum thread_state state;
	char letters[STATE_LETTERS]; /* as the kernel prints them: "R+", "D|K"; "" unknown */
	uint32_t perfetto; /* the number in kernel 4.4, which Perfetto assumes where a trace does
			      not have its kernel's version; UINT32_MAX: it has none */
};

/* Read the state of the thread that a SCHEDULING_SWITCH switches out. */
struct switch_state scheduling_state(const struct scheduling_type *t, const struct event *ev);

/*
 * What CPUs and threads do, from the events of the kernel's scheduler.
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
