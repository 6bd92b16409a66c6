/*
 * field_names.h - names for the numbers in a field of an event
 *
 * Functions return the id of a definition that they declare, or 0: the numbers have no names, or
 * out of memory.
 */
#ifndef TR_FTRACE_FIELD_NAMES_H
#define TR_FTRACE_FIELD_NAMES_H

#include "common/ftrace/event_format.h"
#include "common/stream/writer.h"

/* Find the first __print_symbolic(REC->...) in the event's print fmt; NULL: there is none. */
const char *field_names_find(const struct event_format *e);
/* Declare the names that the print fmt has for a field from there on:
 * __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" }). */
uint32_t field_names_symbolic(const struct event_format *e, const char *first,
			      const struct event_field *f, struct writer *w);

/* Declare the names of system calls. machine: the last word of uname -a of the recorded kernel,
 * such as x86_64. */
uint32_t field_names_syscalls(const char *machine, struct writer *w);

#endif
