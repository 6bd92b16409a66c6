/*
 * lttng.h - inside the decoder of legacy LTTng traces (1.0, 2.0 to 2.6)
 *
 * A trace is a tracefile per channel and CPU, each a run of blocks. A tracefile is read forward
 * through a buffer (lttng_file.c), its events are taken apart as the markers say, which the trace
 * announces itself (lttng_marker.c), and all files are merged by TSC (lttng.c). What runs on a CPU,
 * and which call an entry opens, follows from the merged events (lttng_state.c).
 */
#ifndef TR_LTTNG_H
#define TR_LTTNG_H

#include "common/formats/lttng.h"
#include "common/intern.h"
#include "decoder.h"

/* --- the header of a block --- */

struct lttng_header {
	bool big;
	uint8_t major, minor, word_size, alignment;
	uint8_t flight, heartbeat, tsc_shift, tsc_bits, data_shift; /* 1.0 */
	uint32_t length;	/* of the header: events begin behind it */
	uint64_t begin, end;	/* TSC */
	uint32_t size;		/* of the block */
	uint32_t used;		/* events end here */
	bool unfinished;	/* the writer never came to its end: used is size */
	uint32_t lost, corrupt; /* 2.2 on: counted since the trace began */
	uint64_t frequency, scale, start_tsc, seconds, microseconds;
};

enum { LTTNG_HEADER_MOST = 112 };

/* n bytes from the start of a block. NULL, or what is wrong with it, and at which of its bytes. */
const char *lttng_header_parse(struct lttng_header *h, const uint8_t *data, size_t n,
			       uint32_t *where);

/* --- TSC to nanoseconds --- */

struct lttng_clock {
	uint64_t numerator, denominator; /* ns per tick */
	uint64_t zero;			 /* TSC of ns base */
	int64_t base;
	uint64_t inverse; /* 2^64 / denominator */
	/* the last time asked for; later ones follow from it */
	uint64_t anchor, anchor_rest;
	int64_t anchor_ns;
	uint64_t reach; /* ticks behind the anchor that 64 bits can do */
};

/* Time zero_ns at TSC zero, at the rate that header h tells. -1: the header tells none. */
int lttng_clock_init(struct lttng_clock *c, const struct lttng_header *h, uint64_t zero,
		     int64_t zero_ns);
uint64_t lttng_clock_hertz(const struct lttng_header *h);
int64_t lttng_clock_slow(struct lttng_clock *c, uint64_t tsc);

static inline int64_t lttng_clock_ns(struct lttng_clock *c, uint64_t tsc)
{
	uint64_t ticks = tsc - c->anchor, x, q;

	if (__builtin_expect(ticks >= c->reach, 0))
		return lttng_clock_slow(c, tsc);
	x = ticks * c->numerator + c->anchor_rest;
	q = (uint64_t)((unsigned __int128)x * c->inverse >> 64);
	/* the inverse is rounded down */
	for (x -= q * c->denominator; x >= c->denominator; x -= c->denominator)
		q++;
	return c->anchor_ns + (int64_t)q;
}

/* --- markers --- */

/* What the decoder itself makes of an event. */
enum lttng_action {
	ACTION_NONE,
	ACTION_SCHEDULE, /* prev_pid, next_pid */
	ACTION_PROCESS,	 /* pid, parent_pid, name, tgid: the state dump */
	ACTION_FORK,	 /* parent_pid, child_pid, child_tgid */
	ACTION_EXEC,	 /* filename */
	ACTION_EXIT,	 /* pid: process_free */
	ACTION_SYSCALL_NAME,
	ACTION_SOFTIRQ_NAME,
	ACTION_TRAP_NAME,
	ACTION_IRQ_NAME, /* id, name */
	ACTION_MARKER_ID,
	ACTION_MARKER_FORMAT,
};

enum lttng_names { NAMES_SYSCALL, NAMES_SOFTIRQ, NAMES_TRAP, NAMES_IRQ, NAMES_COUNT, NAMES_NONE };

/* How a field goes from the trace to the row. */
struct lttng_step {
	uint8_t size; /* 0: a string */
	uint8_t align;
	bool network;
	uint16_t offset; /* in the fixed part */
};

struct lttng_channel {
	const char *name;
	struct lttng_marker **markers; /* by id */
	size_t size;
};

struct lttng_marker {
	struct lttng_channel *channel;
	uint32_t id;
	char *name;
	struct lttng_sizes sizes;
	uint8_t alignment;
	const char *format; /* NULL: never announced */
	size_t format_size;
	bool resolved, usable;
	bool has_eight; /* 1.0: the format has a "#8", which can be read in two ways */
	bool eight;

	/* the payload */
	int nfields, nstrings, nsteps;
	uint8_t payload_align; /* of its beginning, in 2.x */
	bool compact;	       /* its first field stands in the header, in a compact channel */
	struct lttng_step *steps;
	uint16_t fixed_size; /* of a row: TSC and the integers */
	uint16_t plain;	     /* bytes that are copied as they stand, if that is all */
	bool plain_words;    /* and the trace is little-endian */
	uint32_t most;	     /* bytes of the payload, padding too, without its strings */

	/* the stream */
	uint32_t type, orphan; /* orphan: a leave without an enter */
	enum type_kind kind;
	bool per_cpu;
	uint32_t pair; /* entry and exit have the same; 0 none */
	enum lttng_names names;
	int16_t id_field; /* its offset in the fixed part, with names */
	uint8_t id_size;
	uint32_t place; /* where no id tells one */

	enum lttng_action action;
	int16_t arg[4]; /* offsets in the fixed part; -1 none */
	uint8_t arg_size[4];
	int8_t string_arg; /* number of the string */

	/* lttng_told.c: offsets in the fixed part, 0 none; numbers of strings, -1 none */
	struct lttng_told {
		int16_t tid, pid, depth, call, function;
		int8_t comm, name;
	} told;
};

struct lttng;

/* The marker of an id, or NULL if it is not known or has no format. */
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
/* The core events, which need no announcement. */
int lttng_marker_core(struct lttng *l, struct lttng_channel *c);
/* Take in a core_marker_id or core_marker_format event. -1: memory is out. */
struct lttng_event;
int lttng_marker_take(struct lttng *l, const struct lttng_event *ev);
/* The marker's payload is to be read with the other meaning of "#8". */
void lttng_marker_reread(struct lttng *l, struct lttng_marker *m);
int lttng_marker_declare(struct lttng *l, struct lttng_marker *m);
uint32_t lttng_marker_orphan(struct lttng *l, struct lttng_marker *m);
void lttng_markers_free(struct lttng *l);

/* --- tracefiles --- */

/* An event taken apart. */
struct lttng_event {
	struct lttng_marker *marker;
	uint64_t tsc;
	const uint8_t *fixed; /* marker->fixed_size bytes as they go into the row */
	const uint8_t *tail;  /* the strings, each with its NUL */
	uint32_t tail_size;
};

enum { LTTNG_LANES = 32 };

struct lttng_thread;

struct lttng_file {
	const char *member;
	struct lttng_channel *channel;
	int32_t cpu;
	uint32_t rank, buffer; /* buffer: the name without its CPU, a string of the writer */
	bool metadata, compact;
	bool quiet; /* damage is reported at another time */

	/* the window on the file */
	int fd;
	bool keep;
	uint64_t start, file_size;
	uint64_t offset; /* in the file, of data[0] */
	uint8_t *data;
	size_t filled, capacity;

	/* the block, positions counted from its start */
	struct lttng_header first, block;
	bool in_block, cut, any;
	uint64_t at;   /* of the block in the file */
	uint32_t used; /* where its events end */
	uint32_t position;
	uint64_t tsc;
	uint8_t header_align;
	bool old_headers;   /* of 1.0: 32 bits of time, id, size; likewise */
	bool short_headers; /* 27 bits of time and 5 of id, in a block that was finished */

	/* what comes next, at time next */
	uint64_t next; /* TSC; UINT64_MAX with nothing: see done */
	bool done, gap_pending;
	struct lttng_marker *marker;
	uint32_t payload;   /* position */
	uint32_t size;	    /* of the payload, SIZE_UNKNOWN */
	uint32_t data_bits; /* of a compact event */
	uint64_t gap_lost, gap_blocks;

	/* lanes of the threads seen last */
	struct lttng_known_lane {
		const struct lttng_thread *thread;
		uint32_t version, lane;
	} lanes[LTTNG_LANES];
};

#define SIZE_UNKNOWN UINT32_MAX

/* Where the lane of a thread may be known already. */
static inline struct lttng_known_lane *lttng_known_lane(struct lttng_file *f,
							const struct lttng_thread *t)
{
	return &f->lanes[(uintptr_t)t / 64 % LTTNG_LANES];
}

/* Open and stand before the first event. -1: memory is out. A file that cannot be read is done. */
int lttng_file_open(struct lttng *l, struct lttng_file *f, const char *member, size_t window,
		    bool keep);
void lttng_file_close(struct lttng_file *f);
/* Find the next event: f->next, f->marker, or f->gap_pending, or f->done. -1: memory, or output. */
int lttng_file_next(struct lttng *l, struct lttng_file *f);
/* The event's payload; the position is behind it then. 1 it is there, 0 damaged (said, and the file
 * stands at its next block), -1. */
int lttng_file_event(struct lttng *l, struct lttng_file *f, struct lttng_event *ev);
/* Is it a tracefile's name? base: the name without its CPU. */
bool lttng_file_name(const char *member, size_t *base, int32_t *cpu);
/* Have n bytes of the file at offset, fewer at its end. NULL: cannot be read, or memory. */
const uint8_t *lttng_file_bytes(struct lttng *l, struct lttng_file *f, uint64_t offset, size_t n,
				size_t *have);

/* --- threads --- */

enum { LTTNG_FRAMES = 64 };

struct lttng_frames {
	uint32_t count;
	struct {
		uint32_t pair, place;
	} frame[LTTNG_FRAMES];
};

struct lttng_thread {
	int32_t tid, pid, ppid; /* -1 unknown */
	uint32_t comm;		/* string of the writer, 0 unknown */
	uint32_t version;	/* counts changes of what a lane tells of it */
	struct lttng_frames *frames;
};

struct lttng_cpu {
	int32_t cpu;
	struct lttng_thread *thread; /* that runs; never NULL */
	struct lttng_thread idle, unknown;
	struct lttng_frames frames; /* interrupts */
};

struct lttng_lane_key {
	uint32_t buffer, comm;
	int32_t cpu, tid, pid, ppid;
};

struct lttng_names_table {
	char **name;
	uint32_t *place;
	size_t size;
};

struct lttng {
	struct input *input;
	struct writer *w;
	struct lttng_header header; /* of the trace */
	struct lttng_clock clock;
	bool one_table; /* ids are the trace's, not a channel's */
	bool old;	/* 1.0 */
	int64_t shift;
	uint32_t source, clock_id;

	struct lttng_channel *channels;
	size_t nchannels, channels_capacity;
	struct intern formats; /* channel, NUL, marker: number in format_text */
	struct lttng_text {
		char *text;
		size_t size;
	} * format_text;
	size_t formats_capacity;
	struct intern pairs;

	struct lttng_file *files;
	size_t nfiles;
	struct lttng_file **heap;
	size_t nheap;

	struct lttng_cpu **cpus; /* by number */
	size_t ncpus;
	struct lttng_thread **threads; /* a hash table */
	size_t threads_size, nthreads;
	struct lttng_lane {
		struct lttng_lane_key key;
		uint32_t lane;
	} * lanes;
	size_t lanes_size, nlanes;
	struct lttng_names_table names[NAMES_COUNT];
	struct intern told_names; /* of functions: index in told_places */
	uint32_t *told_places;
	size_t told_capacity;
	struct buffer told_key;
	bool begun; /* rows may be written */

	uint8_t fixed[8 + 8 * LTTNG_FIELDS + 32]; /* rows are copied in larger pieces */
	struct buffer tail;
};

/* lttng_told.c: does the marker tell of its thread and call? Behind all else that is found of it. */
void lttng_told_find(struct lttng_marker *m, const struct lttng_field *fields, int n);
/* The thread, which runs on c from now on. -1: memory is out. */
int lttng_told_thread(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
int lttng_told_call(struct lttng *l, const struct lttng_event *ev, uint32_t *place,
		    uint32_t *depth);
void lttng_told_free(struct lttng *l);

/* The thread of that tid; on this CPU for tid 0. NULL when memory is out. */
struct lttng_thread *lttng_state_thread(struct lttng *l, struct lttng_cpu *c, int64_t tid);
struct lttng_cpu *lttng_state_cpu(struct lttng *l, int32_t cpu);
/* Before and after the row of an event is written. -1: memory is out. */
int lttng_state_before(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
int lttng_state_after(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
/* Tables and names that the trace dumps somewhere, taken in ahead. */
int lttng_state_ahead(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
uint32_t lttng_state_lane(struct lttng *l, struct lttng_file *f, struct lttng_cpu *c);
/* Place and depth of an enter or leave; false: a leave whose enter is not there. */
bool lttng_state_call(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev,
		      uint32_t *place, uint32_t *depth);
void lttng_state_free(struct lttng *l);

/* Number at an offset of the fixed part; sign-extended to 64 bits where the type is signed. */
static inline int64_t lttng_number(const struct lttng_event *ev, int16_t offset, uint8_t size)
{
	return offset < 0 ? -1 : sign_extend(get_uint(ev->fixed + offset, size, false), size);
}

#endif
