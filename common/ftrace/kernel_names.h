/*
 * kernel_names.h - what the numbers in fields of the kernel's events are called
 *
 *     sys_exit_openat  ret=-2           ENOENT
 *     signal_deliver   sig=9            SIGKILL
 *     sched_switch     prev_state=1     S
 *
 * The decoders of all formats with events of the kernel declare these names with the fields, so
 * that no other program has a table of its own.
 */
#ifndef TR_FTRACE_KERNEL_NAMES_H
#define TR_FTRACE_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct writer;

enum names_table {
	KERNEL_ERRORS,	 /* of returned values: -2 is ENOENT */
	KERNEL_SIGNALS,	 /* SIGKILL */
	KERNEL_CODES,	 /* si_code of signals: SI_USER */
	KERNEL_STATES,	 /* bits of the states of tasks: S, D */
	KERNEL_SOFTIRQS, /* vectors: TIMER */
	KERNEL_SYSCALLS, /* of the machine: openat */
	KERNEL_TABLES
};

/* The names in the stream of one source; zero-initialised, and freed by free(). */
struct kernel_names {
	const char *machine;		     /* as of uname -m; NULL: not known */
	const char *release;		     /* as of uname -r; NULL: 4.14 or later */
	uint32_t definitions[KERNEL_TABLES]; /* 1 + id of those that were declared */
};

/* Get the definition of the numbers in a field of an event, whose names are of these sizes and as
 * ftrace, LTTng or Perfetto have them. 0: they have no names, or k is NULL. */
uint32_t kernel_names_of(struct kernel_names *k, struct writer *w, const char *event,
			 size_t event_size, const char *field, size_t field_size);

enum { SOFTIRQS = 10, ERRORS_END = 540 };

/* Get the name of an error, which x86 has; NULL: the number is not known. */
const char *kernel_error_name(uint64_t number);

/* Get the name of a softirq; NULL: the number is not known. */
const char *softirq_name(uint64_t number);

#endif
