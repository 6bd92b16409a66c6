/*
 * scheduling.h - which types of events record the scheduler, interrupts and the power of CPUs
 *
 * A type is known by its name and its fields, whichever format recorded it. The fields have slots:
 * slot i is the field i + 1 of the message of Perfetto's FtraceEvent (protos/perfetto/trace/ftrace
 * of google/perfetto: sched, irq, power, kmem, task and ftrace.proto), whose number is
 * scheduling_type.message.
 */
#ifndef TR_SCHEDULING_SCHEDULING_H
#define TR_SCHEDULING_SCHEDULING_H

#include "common/stream/field.h"

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
	SCHEDULING_CPUS = 1 << 16,   /* more than any system has */
	SCHEDULING_WAKEUP_NEW = 114, /* the message of a thread's first wakeup */
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
/* Test whether the thread has ended: it is dead, or a zombie. */
static inline bool scheduling_ended(const struct switch_state *s)
{
	return s->letters[0] == 'X' || s->letters[0] == 'x' || s->letters[0] == 'Z';
}

#endif
