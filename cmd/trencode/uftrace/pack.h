/*
 * pack.h - rows of the stream as the bytes of a uftrace data directory
 *
 * Layouts: common/formats/uftrace.h. All functions append to b; they return 0, -1 when memory is
 * out, and 1 when the row is no such thing or does not fit: then b is as it was.
 */
#ifndef TR_TRENCODE_UFTRACE_PACK_H
#define TR_TRENCODE_UFTRACE_PACK_H

#include "common/util/buffer.h"
#include "common/stream/field.h"
#include "common/formats/uftrace.h"

/* Byte order and word size of the machine that recorded. */
struct uftrace_machine {
	bool big_endian;
	bool swap; /* big_endian is not this machine's order */
	uint8_t word;
};

/* What follows an ENTRY or EXIT record: its values as the function's argument specs lay them out.
 */
int uftrace_pack_values(struct buffer *b, const struct uftrace_machine *m, const uint8_t *tail,
			size_t n);

/* What follows an EVENT record: length and data, out of the fields that the row has. */
int uftrace_pack_event(struct buffer *b, const struct uftrace_machine *m, const struct event *ev);

/* Has rows of the type data, that is, does a payload follow the EVENT record? */
bool uftrace_event_has_data(const struct type *t);

/* SWITCH, from a sched-out (out) or sched-in row. */
int uftrace_pack_switch(struct buffer *b, const struct uftrace_machine *m, const struct event *ev);
/* FORK or EXIT (perf_type), from linux:task-new and linux:task-exit. */
int uftrace_pack_life(struct buffer *b, const struct uftrace_machine *m, const struct event *ev,
		      uint32_t perf_type);
/* COMM, from linux:task-name. */
int uftrace_pack_comm(struct buffer *b, const struct uftrace_machine *m, const struct event *ev);

#endif
