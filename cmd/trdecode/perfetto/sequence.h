/*
 * sequence.h - the state of a sequence of packets
 */
#ifndef TR_TRDECODE_PERFETTO_SEQUENCE_H
#define TR_TRDECODE_PERFETTO_SEQUENCE_H

#include <stdbool.h>

#include "cmd/trdecode/perfetto/ids.h"

enum { PERFETTO_EXTRA = 16 }; /* extra counters of an event */

/* Kinds of interned entries; perfetto_interned gets what is in parentheses, else a string. */
enum perfetto_interned_kind {
	OF_CATEGORY,
	OF_NAME,
	OF_ANNOTATION_NAME,
	OF_SOURCE_LOCATION, /* (number in p->source_locations, from 1) */
	OF_FUNCTION,
	OF_FRAME,     /* (location of the writer) */
	OF_CALLSTACK, /* (stack of the writer) */
	OF_BUILD_ID,
	OF_PATH,
	OF_SOURCE_PATH,
	OF_MAPPING, /* (number in p->modules.mappings, from 1) */
	OF_LOG_BODY,
	OF_ANNOTATION_STRING,
	OF_CORRELATION,
	OF_KERNEL_SYMBOL,
	INTERNED_KINDS,
};

/* The interned entries of a sequence. */
struct perfetto_interned {
	uint64_t entries; /* of all kinds, which may share the ids */
	struct perfetto_ids ids[INTERNED_KINDS];
};

struct perfetto_source_location {
	uint32_t file, function; /* strings of the writer */
	uint32_t line;
};

/* A file that is mapped, with a space of the writer for its addresses. */
struct perfetto_mapped {
	uint32_t space, path, build_id;
};

/* A clock of one sequence. */
struct perfetto_own_clock {
	uint64_t last, unit; /* ns or units of the last time; ns of a unit, 0: 1 */
	bool incremental;
};

/* Values that packets of a sequence have unless they give others. */
struct perfetto_defaults {
	uint64_t track;
	bool has_track;
	uint32_t clock; /* 0: none */
	uint32_t sample_name;
	uint64_t period;
	uint8_t nextra, nextra_real, nfollowers;
	uint32_t followers[PERFETTO_EXTRA]; /* names of the other counters of a sample */
	uint64_t extra[PERFETTO_EXTRA], extra_real[PERFETTO_EXTRA];
};

struct perfetto_sequence {
	uint32_t id, machine, number;
	bool seen;		   /* a packet was read */
	bool valid;		   /* the state is complete */
	bool has_thread;	   /* a descriptor of its thread was read */
	uint32_t generation;	   /* number of times that the state was cleared */
	uint64_t skipped;	   /* packets left out since the state is incomplete */
	uint64_t skipped_time;	   /* time of the first of them */
	uint64_t last_time;	   /* of its last packet */
	uint32_t thread_track;	   /* number of the track of its thread */
	int64_t time, thread_time; /* us: of events with time deltas */
	struct perfetto_defaults defaults;
	struct perfetto_interned *interned; /* NULL: none yet */
	struct perfetto_own_clock *clocks;  /* by id from CLOCK_OF_SEQUENCE_FIRST; NULL: none */
};

#endif
