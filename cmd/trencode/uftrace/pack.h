/*
 * pack.h - encode rows of the stream as the bytes of a uftrace data directory
 *
 * Layouts: common/formats/uftrace.h. Functions with b append to b. They return 0, or -1 when out of
 * memory, or 1 if the row has another form or does not fit: then b is unchanged.
 */
#ifndef TR_TRENCODE_UFTRACE_PACK_H
#define TR_TRENCODE_UFTRACE_PACK_H

#include "common/util/buffer.h"
#include "common/stream/field.h"
#include "common/formats/uftrace.h"

/* Byte order and word size of the recording machine. */
struct uftrace_machine {
	bool big_endian;
	bool swap;    /* big_endian differs from this machine's order */
	uint8_t word; /* bytes: 4 or 8 */
};

/* Append the values of an ENTRY or EXIT record, in the layout of the function's argument specs. */
int uftrace_pack_values(struct buffer *b, const struct uftrace_machine *m, const uint8_t *tail,
			size_t n);

/* Append the payload of an EVENT record: its length, and data from the fields of the row. */
int uftrace_pack_event(struct buffer *b, const struct uftrace_machine *m, const struct event *ev);

/* Test whether a payload follows the EVENT records of the type. */
bool uftrace_event_has_data(const struct type *t);

/* Append a SWITCH record, from a sched-out (enter) or sched-in row. */
int uftrace_pack_switch(struct buffer *b, const struct uftrace_machine *m, const struct event *ev,
			uint64_t time);
/* Append a FORK or EXIT record (perf_type), from a linux:task-new or linux:task-exit row. */
int uftrace_pack_life(struct buffer *b, const struct uftrace_machine *m, const struct event *ev,
		      uint32_t perf_type);
/* Append a COMM record, from a linux:task-name row. */
int uftrace_pack_comm(struct buffer *b, const struct uftrace_machine *m, const struct event *ev);

#endif
