/*
 * lttng.h - traces of LTTng 0.x
 */
#ifndef TR_TRDECODE_LTTNG_H
#define TR_TRDECODE_LTTNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "common/formats/lttng.h"
#include "common/stream/writer.h"
#include "common/util/error.h"
#include "common/util/intern.h"

/*
 * The headers of blocks, and the clock that they define.
 */

/* The header of a block. */
struct lttng_header {
	bool big;
	uint8_t major, minor, word_size, alignment;
	uint8_t flight, heartbeat, tsc_shift, tsc_bits, data_shift; /* 1.0 */
	uint32_t length;	/* bytes of the header: events follow it */
	uint64_t begin, end;	/* TSC */
	uint32_t size;		/* bytes of the block */
	uint32_t used;		/* bytes of the block up to the end of its events */
	bool unfinished;	/* the tracer did not complete the block: used is size */
	uint32_t lost, corrupt; /* from 2.2 on: numbers since the trace began */
	uint64_t frequency, scale, start_tsc, seconds, microseconds;
};

enum { LTTNG_HEADER_MOST = 112 };

/* --- TSC to nanoseconds --- */

/* The conversion of a TSC to ns. */
struct lttng_clock {
	uint64_t numerator, denominator; /* ns per tick */
	uint64_t zero;			 /* TSC at time base */
	int64_t base;			 /* ns */
	uint64_t inverse;		 /* 2^64 / denominator */
	/* a TSC and its time, from which later ones are computed */
	uint64_t anchor, anchor_rest;
	int64_t anchor_ns;
	uint64_t reach; /* ticks after the anchor that 64-bit arithmetic can convert */
};

/* Set a clock that is at zero_ns at TSC zero, with the rate of header h. -1: the header contains no
 * rate. */
int lttng_clock_init(struct lttng_clock *c, const struct lttng_header *h, uint64_t zero,
		     int64_t zero_ns);
int64_t lttng_clock_slow(struct lttng_clock *c, uint64_t tsc);

static inline int64_t lttng_clock_ns(struct lttng_clock *c, uint64_t tsc)
{
	uint64_t ticks = tsc - c->anchor, x, q;

	if (__builtin_expect(ticks >= c->reach, 0))
		return lttng_clock_slow(c, tsc);
	x = ticks * c->numerator + c->anchor_rest;
	q = (uint64_t)((unsigned __int128)x * c->inverse >> 64);
	/* the inverse is rounded down, and x below 2^64: q is right or 1 too low */
	q += x - q * c->denominator >= c->denominator;
	return c->anchor_ns + (int64_t)q;
}

/* --- markers: the event types that a trace announces --- */

struct lttng;
struct lttng_cpu;
struct lttng_event;

enum { LTTNG_QUICK_MOST = 64 /* bytes of a payload */, LTTNG_ARGS = 5 };
enum { NAMES_MOST = 4096 }; /* ids of names of one kind */

/* What the decoder learns from an event, besides writing its row. */
enum lttng_action {
	ACTION_NONE,
	ACTION_SCHEDULE, /* prev_pid, next_pid */
	ACTION_FORK,	 /* parent_pid, child_pid, child_tgid */
	ACTION_EXEC,	 /* filename */
	ACTION_EXIT,	 /* pid: process_free */
	/* from ACTION_PROCESS to ACTION_MAP: the state dump, which is read ahead */
	ACTION_PROCESS,	     /* pid, parent_pid, name, tgid */
	ACTION_SYSCALL_NAME, /* and the next three, in the order of enum lttng_names: id, name */
	ACTION_SOFTIRQ_NAME,
	ACTION_TRAP_NAME,
	ACTION_IRQ_NAME,
	ACTION_MAP, /* pid, start, end, pgoff, inode */
	ACTION_MARKER_ID,
	ACTION_MARKER_FORMAT,
};

/* How lttng.c converts an event. */
enum lttng_quick { QUICK_NOT, QUICK_INSTANT, QUICK_CALL, QUICK_SCHEDULE, QUICK_ACTION };

enum lttng_names { NAMES_SYSCALL, NAMES_SOFTIRQ, NAMES_TRAP, NAMES_IRQ, NAMES_COUNT, NAMES_NONE };

/* The conversion of a field of the payload to the row. */
struct lttng_step {
	uint8_t size; /* 0: a string */
	uint8_t align;
	bool network;
	uint16_t offset; /* offset in the fixed part */
};

/* A channel and its markers. */
struct lttng_channel {
	const char *name;
	struct lttng_marker **markers; /* by id */
	size_t size;
};

/* A marker: one event type of a channel. */
struct lttng_marker {
	struct lttng_channel *channel;
	uint32_t id;
	char *name;
	struct lttng_sizes sizes;
	uint8_t alignment;
	const char *format; /* NULL: never announced */
	bool resolved, usable;
	bool has_eight; /* 1.0: the format has a "#8", which has two meanings */
	bool eight;	/* the meaning that is used */

	/* The layout of a marker's payload. */
	struct {
		int nfields, nstrings, nsteps;
		uint8_t align; /* alignment of its beginning, in 2.x */
		bool compact;  /* its first field is in the header, in a compact channel */
		struct lttng_step *steps;
		uint16_t fixed_size; /* bytes of a row: TSC and the integers */
		uint16_t plain;	     /* bytes of a payload that is copied unchanged; else 0 */
		bool plain_words; /* the payload is copied unchanged, and the trace is little-endian
				   */
		uint32_t most;	  /* most bytes of the payload with padding, without its strings */
	} layout;

	/* the stream */
	uint32_t type, orphan; /* orphan: a leave without an enter */
	enum type_kind kind;
	bool per_cpu;
	uint32_t pair; /* number that entry and exit share; 0 none */
	enum lttng_names names;
	uint32_t location; /* location if the event has no id */
	/* of an entry: locations by the id at id_field of the fixed part; without an id:
	   one location, and id_mask is 0 */
	const uint32_t *locations;
	uint32_t nlocations;
	uint16_t id_field;
	uint64_t id_mask;
	uint32_t keep; /* mask for the number of open calls: 0 if an entry begins a stack */

	enum lttng_action action;
	enum lttng_quick quick;
	int16_t arg[LTTNG_ARGS]; /* offsets in the fixed part; -1 none */
	uint8_t arg_size[LTTNG_ARGS];
	int8_t string_arg; /* number of the string that the action needs */

	/* Offsets in the fixed part, 0 none; numbers of strings, -1 none */
	struct {
		int16_t tid, pid, depth, call, function;
		int16_t order; /* offset in the payload */
		int8_t comm, name;
		uint16_t flags; /* flags of a call's type */
	} transcoded;
};

/* Parse the marker's format at its first use. NULL: it has no usable format. */
struct lttng_marker *lttng_marker_resolve(struct lttng *l, struct lttng_marker *m);

static inline struct lttng_marker *lttng_marker(struct lttng *l, const struct lttng_channel *c,
						uint32_t id)
{
	struct lttng_marker *m = id < c->size ? c->markers[id] : NULL;

	if (__builtin_expect(m && !m->usable, 0))
		m = lttng_marker_resolve(l, m);
	return m;
}

struct lttng_channel *lttng_channel(struct lttng *l, const char *name, size_t n);
/* Take in a core_marker_id or core_marker_format event. */
int lttng_marker_take(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
/* Declare the type of its rows. */
int lttng_marker_declare(struct lttng *l, struct lttng_marker *m);
/* Declare the type of a leave without an enter. 0: out of memory. */
uint32_t lttng_marker_orphan(struct lttng *l, struct lttng_marker *m);
void lttng_markers_free(struct lttng *l);

/*
 * A tracefile read forward: its window, its blocks, their events.
 *
 * Functions return 0, or -1 when out of memory or when the output failed.
 */

/* An event, split into what its row contains. */
struct lttng_event {
	struct lttng_marker *marker;
	uint64_t tsc;
	const uint8_t *fixed; /* marker->fixed_size bytes, as in the row */
	const uint8_t *tail;  /* the strings, each with its NUL */
	uint32_t tail_size;
};

enum { LTTNG_LANES = 32 };

struct lttng_thread;

/* Get a string by its number, from 0; "" if there is none. */
const char *lttng_event_text(const struct lttng_event *ev, int number, size_t *n);

/* A tracefile, its current block and its next event. */
struct lttng_file {
	const char *member;
	size_t base; /* bytes of member without its CPU */
	struct lttng_channel *channel;
	int32_t cpu;
	uint32_t rank, buffer; /* buffer: the name without its CPU, a string of the writer */
	bool metadata, compact;
	bool quiet; /* do not report damage: another pass does */

	struct file_window window;

	/* the block; positions count from its start */
	struct lttng_header first, block;
	bool in_block, cut, any;
	uint64_t at;   /* offset of the block in the file */
	uint32_t used; /* end of its events */
	uint32_t position;
	uint64_t tsc;
	struct { /* of the events */
		uint8_t align;
		bool old;     /* 1.0: 32 bits of time, id, size; in a block that was completed */
		bool compact; /* 27 bits of time and 5 of id; in a block that was completed */
	} headers;

	/* the next event or gap, at time next */
	uint64_t next;	/* TSC; UINT64_MAX: none, see done */
	uint64_t order; /* recorded order among events of one time; 0: not recorded */
	bool done;
	struct lttng_marker *marker;
	uint32_t payload;   /* position */
	uint32_t size;	    /* bytes of the payload, or SIZE_UNKNOWN */
	uint32_t data_bits; /* data in the header of a compact event */
	struct {
		bool pending;
		uint64_t lost, blocks;
	} gap;

	/* Lanes of the threads used last: without them 'trdecode | trstat -g name -c count' of
	 * t/bench/lttng.sh takes 1.19 times the instructions. */
	struct {
		const struct lttng_thread *thread;
		uint32_t version, lane;
	} lanes[LTTNG_LANES];
};

#define SIZE_UNKNOWN UINT32_MAX

/* Open one of `files` tracefiles and find its first event. Report a file that cannot be read, and
 * set its done. */
int lttng_file_open(struct lttng *l, struct lttng_file *f, const char *member, size_t files);
/* Find the next event: set f->next and f->marker, or f->gap.pending, or f->done. */
int lttng_file_next(struct lttng *l, struct lttng_file *f);

/* --- blocks --- */

/* Find the beginning of the last block, as struct decoder's late. */
bool lttng_skip_late(struct input *in, uint64_t *latest);

/*
 * Inside the decoder of legacy LTTng traces (1.0, 2.0 to 2.6).
 *
 * A trace is a tracefile per channel and CPU, each a run of blocks. A tracefile is read forward
 * through a window. The trace itself announces its markers (lttng_file.c), which define
 * the layout of events. All files are merged by TSC. The merged events determine which
 * thread runs on a CPU and which call an entry opens.
 *
 * Functions return 0, or -1 when out of memory; those that write rows, also when the output failed.
 */

/* --- threads --- */

enum { LTTNG_FRAMES = 64 };

/* The stack of a thread or of a CPU's interrupts. */
struct lttng_frames {
	uint32_t count;
	struct {
		uint32_t pair, location;
	} frame[LTTNG_FRAMES];
};

/* A thread, as far as the events have described it. */
struct lttng_thread {
	int32_t tid, pid, ppid; /* -1 unknown */
	uint32_t comm;		/* string of the writer, 0 unknown */
	uint32_t space;	  /* address space of its process, if this is the first thread; 0 none */
	uint32_t version; /* number of changes to what its lanes contain */
	uint32_t number;  /* % LTTNG_LANES: where a file keeps its lane */
	struct lttng_frames *frames;
};

/* A CPU and the thread that runs on it. */
struct lttng_cpu {
	int32_t cpu;
	struct lttng_thread *thread; /* the thread that runs; never NULL */
	struct lttng_thread idle, unknown;
	struct lttng_frames frames;	/* interrupts */
	struct lttng_frames *stacks[2]; /* the thread's stack, NULL: none yet; and frames */
};

static inline void lttng_cpu_run(struct lttng_cpu *c, struct lttng_thread *t)
{
	c->thread = t;
	c->stacks[0] = t->frames;
}

/* The state of decoding one input. */
struct lttng {
	struct input *input;
	struct writer *w;
	struct lttng_header header; /* the header of the trace */
	struct lttng_clock clock;
	bool one_table; /* ids are unique in the trace, not only in a channel */
	bool old;	/* 1.0 */
	int64_t shift;
	uint32_t source, clock_id;

	struct lttng_channel *channels;
	size_t nchannels, channels_capacity;
	struct intern formats; /* channel, NUL, marker: number in format_text */
	char **format_text;
	size_t formats_capacity;
	struct intern pairs;

	struct lttng_file *files;
	size_t nfiles;
	struct lttng_file **heap;
	size_t nheap;

	struct lttng_cpu **cpus; /* by number */
	size_t ncpus;
	struct {
		struct lttng_thread **thread;
		size_t count, capacity;
		struct idmap by_tid; /* index + 1 */
	} threads;
	struct id_cache lanes; /* by what lttng_state_lane declares */
	/* Names by id, below NAMES_MOST, and their locations; NULL: none yet. */
	struct {
		char **name;
		uint32_t *location;
	} names[NAMES_COUNT];
	size_t nmaps;
	struct {		     /* lttng.c */
		struct intern names; /* to indices in locations */
		uint32_t *locations;
		size_t capacity;
		struct buffer key;
	} functions;
	bool begun; /* rows may be written */

	uint8_t fixed[8 + 8 * LTTNG_FIELDS +
		      32]; /* with padding: rows are copied in larger pieces */
	struct buffer tail;
};

/* --- names (lttng.c) --- */

/* Get the locations by id, below NAMES_MOST, 0: not declared yet; NULL: out of memory. */
const uint32_t *lttng_names_locations(struct lttng *l, enum lttng_names which);
/* Get the location of an entry by its id. 0: out of memory. */
uint32_t lttng_names_location(struct lttng *l, const struct lttng_marker *m, uint64_t id);

/* --- threads and calls --- */

/* Find or add the thread of a tid; tid 0 is this CPU's idle thread. NULL: out of memory. */
struct lttng_thread *lttng_state_thread(struct lttng *l, struct lttng_cpu *c, int64_t tid);
uint32_t lttng_state_lane(struct lttng *l, struct lttng_file *f, struct lttng_cpu *c);
/* Get the stack of the thread that runs; when out of memory, the CPU's own stack. */
struct lttng_frames *lttng_state_stack(struct lttng_cpu *c);
/* Find location and depth of a leave that does not end the innermost call; false: no open call is
 * its enter's. */
bool lttng_state_unwind(const struct lttng_marker *m, struct lttng_frames *frames,
			uint32_t *location, uint32_t *depth);
void lttng_state_free(struct lttng *l);

/* Find location and depth of an enter or leave. 8 bytes at any field of the fixed part must be
 * readable. false: a leave without an enter. */
static inline bool lttng_state_call(struct lttng *l, struct lttng_cpu *c,
				    const struct lttng_marker *m, const uint8_t *fixed,
				    uint32_t *location, uint32_t *depth)
{
	struct lttng_frames *frames = c->stacks[m->per_cpu];
	uint32_t count;

	if (__builtin_expect(!frames, 0))
		frames = lttng_state_stack(c);
	if (m->kind == KIND_ENTER) {
		/* without an id nothing may be read: the fixed part may begin before its block */
		uint64_t id = m->id_mask ? get_u64(fixed + m->id_field) & m->id_mask : 0;

		*location = id < m->nlocations ? m->locations[id] : 0;
		if (__builtin_expect(!*location, 0))
			*location = lttng_names_location(l, m, id);
		count = frames->count & m->keep;
		count -= count == LTTNG_FRAMES;
		*depth = count;
		frames->frame[count].pair = m->pair;
		frames->frame[count].location = *location;
		frames->count = count + 1;
		return true;
	}
	count = frames->count;
	if (count && frames->frame[count - 1].pair == m->pair) {
		*depth = frames->count = count - 1;
		*location = frames->frame[count - 1].location;
		return true;
	}
	return lttng_state_unwind(m, frames, location, depth);
}

/* --- alignment and times of events in a block --- */

/* Get the bytes from a position to the next multiple of `to`, a power of two; `to` 0: no
 * alignment. */
static inline uint32_t lttng_pad(uint32_t position, unsigned to)
{
	return -position & (to - (to != 0));
}

/* Replace the low bits of the file's TSC by those of an event, which can only be later. */
static inline uint64_t lttng_advance(uint64_t tsc, uint64_t low, unsigned bits)
{
	uint64_t mask = ((uint64_t)1 << bits) - 1;

	return (tsc & ~mask) + low + (low < (tsc & mask) ? mask + 1 : 0);
}

/* --- markers, blocks and events (lttng_file.c) --- */

/* Add the core events, which are not announced. */
int lttng_marker_core(struct lttng *l, struct lttng_channel *c);

/* Parse the header in the first n bytes of a block. Return NULL, or what is wrong, with the offset
 * of the fault in *where. */
const char *lttng_header_parse(struct lttng_header *h, const uint8_t *data, size_t n,
			       uint32_t *where);

/* Read the event's payload, and move the position after it. 1: *ev is filled; 0: damaged: the
 * damage was reported, and the file is at its next block; -1. */
int lttng_file_event(struct lttng *l, struct lttng_file *f, struct lttng_event *ev);

#endif
