/*
 * tracecmd.h - the decoder of trace-cmd's trace.dat: what its files share
 *
 * Each event format is a type of the stream, and a record's bytes are its row's tail, as in the
 * ring buffer. A lane is (instance, CPU, pid). The kernel is one address space whose symbols are in
 * the META kallsyms.
 */
#ifndef TR_TRDECODE_TRACECMD_TRACECMD_H
#define TR_TRDECODE_TRACECMD_TRACECMD_H

#include "common/util/heap.h"
#include "common/util/idmap.h"
#include "common/ftrace/cpu_data.h"
#include "common/ftrace/events.h"
#include "cmd/trdecode/tracecmd/header.h"

struct tracecmd;

/* One source of events in the order of their times: a CPU, or the lines of a text. */
struct tracecmd_reader {
	struct heap_item due; /* first: time of the next record, UINT64_MAX: no more */
	const struct tracecmd_buffer *buffer;
	uint32_t cpu, buffer_name;
	uint32_t bare_lane; /* lane of events without a thread, 0: not yet declared */
	uint32_t pid, lane; /* of the last record; lane 0: there is none */
	uint32_t nlearned;  /* tracecmd.nlearned when the lane was found */
	struct idmap lanes; /* by pid */
	struct idmap named; /* by pid, of threads whose name an event gave */
	struct cpu_data data;
	struct ring_record record;
	uint64_t last;		    /* time of the last row */
	struct tracecmd_text *text; /* of a latency trace */
};

struct location_slot {
	uint64_t address;
	uint32_t location;
};

/* The stack of a function and its caller. */
struct pair_slot {
	uint64_t address, parent;
	uint32_t stack;
};

enum { LOCATION_SLOTS = 4096 };

struct tracecmd {
	struct input *input;
	struct writer *w;
	struct tracecmd_header h;
	struct ring_layout layout;

	struct ftrace_events events;
	uint32_t common_end; /* least bytes of a record */

	struct idmap comms;   /* by pid: 1 + offset of its line in cmdlines */
	struct idmap learned; /* by pid: the name that an event gave, a string of w */
	uint32_t nlearned;

	uint32_t source, clock, space;
	struct location_slot locations[LOCATION_SLOTS];
	struct pair_slot pairs[LOCATION_SLOTS];
	struct idmap spaces;  /* of processes, by pid */
	struct buffer frames; /* u32 each: locations of a stack */

	/* times */
	bool raw, tsc, sync;
	int64_t shift; /* added to every time, also to times that tsc or sync converted */

	struct tracecmd_reader *readers;
	size_t nreaders;
	struct heap heap; /* readers that have a next record */
	struct buffer packed;
	uint64_t unknown; /* records without a format */
	bool skipped;	  /* what is not wanted was skipped */
};

/* events.c: formats, types, lanes, locations; rows. */
int tracecmd_read_formats(struct tracecmd *t, struct error *e);
int tracecmd_read_comms(struct tracecmd *t, struct error *e);
/* Declare all types. */
int tracecmd_announce_types(struct tracecmd *t);
uint32_t tracecmd_bare_lane(struct tracecmd *t, struct tracecmd_reader *r);
/* Write the next record. */
int tracecmd_emit(struct tracecmd *t, struct tracecmd_reader *r);

uint32_t tracecmd_location(struct tracecmd *t, uint64_t address);

/* stacks.c: declare the stack of a record, of whose event v has one. 0: it has no frame, or out of
 * memory, which *bad shows. */
uint32_t tracecmd_stack(struct tracecmd *t, const struct ftrace_event *v,
			const struct ring_record *record, bool *bad);

/* skip.c: skip what is not wanted, before the first event is written. */
void tracecmd_skip(struct tracecmd *t);
/* Find the time of the last page (struct decoder, late). */
bool tracecmd_late(struct input *in, uint64_t *latest);

/* time.c */
void tracecmd_clock(struct tracecmd *t);
/* Convert a time of the ring buffer to the stream's. */
uint64_t tracecmd_time_slow(const struct tracecmd *t, uint32_t cpu, uint64_t time);

static inline uint64_t tracecmd_time(const struct tracecmd *t, uint32_t cpu, uint64_t time)
{
	uint64_t out = time + (uint64_t)t->shift;

	if (__builtin_expect(t->tsc || t->sync || (t->shift < 0 ? out > time : out < time) ||
				     out == UINT64_MAX,
			     0))
		return tracecmd_time_slow(t, cpu, time);
	return out;
}

/* declare.c: source, clock, META. */
int tracecmd_declare(struct tracecmd *t);

/* text.c: the lines of latency traces. */
int tracecmd_text_begin(struct tracecmd *t, struct tracecmd_reader *r, struct error *e);
/* Write the next line, and read the line after it. */
int tracecmd_text_next(struct tracecmd *t, struct tracecmd_reader *r, struct error *e);
/* Return the time of the next line. */
uint64_t tracecmd_text_time(const struct tracecmd *t, const struct tracecmd_reader *r);
void tracecmd_text_free(struct tracecmd_reader *r);

/* info.c */
int tracecmd_info(struct input *in, struct trace_info *f, struct error *e);

#endif
