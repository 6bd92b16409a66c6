/*
 * ftrace.h - types of the events of ftrace: ftrace_types.c and ftrace_rows.c
 */
#ifndef TR_TRDECODE_PERFETTO_FTRACE_H
#define TR_TRDECODE_PERFETTO_FTRACE_H

#include "cmd/trdecode/perfetto/perfetto.h"

enum { LIST_MOST = 6 }; /* elements of a list: the arguments of a system call */

/* An entry of CompactSched. */
struct perfetto_switch {
	int64_t prev_state;
	int32_t pid, prio, target_cpu;
	uint32_t comm; /* string of the writer */
};

/* A field of an event. In the stream, numbers are 8 bytes of the fixed part, a list is LIST_MOST
 * such numbers, and texts are in the tail. */
struct perfetto_event_field {
	uint32_t number, name;
	uint8_t kind; /* a letter of ftrace_table.h */
	uint32_t at;  /* offset in the fixed part, or number of the text */
};

/* The type of an event. */
struct perfetto_event_type {
	uint32_t number, name, group;
	uint32_t type; /* of the writer; 0: not yet declared */
	uint32_t nfields, fixed_size, texts;
	struct perfetto_event_field *fields;
};

/* Get the type of an event by its number. NULL: out of memory. */
struct perfetto_event_type *perfetto_event_type(struct perfetto *p, uint32_t number);
/* Take the description of events that the trace numbers itself. */
int perfetto_event_descriptor(struct perfetto *p, struct protobuf_view message);
/* Get the number + 1 in p->ftrace.type of the type of a GenericFtraceEvent. 0: out of memory. */
uint32_t perfetto_generic_type(struct perfetto *p, struct protobuf_view message);
/* Declare a type of the stream. 0: out of memory. */
uint32_t perfetto_event_declare(struct perfetto *p, struct perfetto_event_type *t);

#endif
