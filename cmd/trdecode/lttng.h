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

enum { LTTNG_HEADER_MOST = 112, LTTNG_QUICK_MOST = 64 /* bytes of a payload */ };

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
	/* the inverse is rounded down, and x below 2^64: q is right or 1 too low */
	q += x - q * c->denominator >= c->denominator;
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

/* How the quick way of lttng_quick.c takes an event. */
enum lttng_quick { QUICK_NOT, QUICK_INSTANT, QUICK_CALL, QUICK_SCHEDULE, QUICK_ACTION };

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
	uint32_t place; /* where no id tells one */
	/* of an entry: the places by id, which stands at id_field of the fixed part; with no id
	   they are the one place, and id_mask is 0 */
	const uint32_t *places;
	uint32_t nplaces;
	uint16_t id_field;
	uint64_t id_mask;
	uint32_t keep; /* mask for the number of open frames: 0 where an entry begins a stack */

	enum lttng_action action;
	enum lttng_quick quick;
	int16_t arg[4]; /* offsets in the fixed part; -1 none */
	uint8_t arg_size[4];
	int8_t string_arg; /* number of the string */
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

enum { LTTNG_FRAMES = 64, LTTNG_RECENT = 64 };

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
	uint32_t number;
	struct lttng_frames *frames;
};

/* Where the lane of a thread may be known already. */
static inline struct lttng_known_lane *lttng_known_lane(struct lttng_file *f,
							const struct lttng_thread *t)
{
	return &f->lanes[t->number % LTTNG_LANES];
}

struct lttng_cpu {
	int32_t cpu;
	struct lttng_thread *thread; /* that runs; never NULL */
	struct lttng_thread idle, unknown;
	struct lttng_frames frames;	/* interrupts */
	struct lttng_frames *stacks[2]; /* the thread's, NULL: it has none yet; and frames */
};

static inline void lttng_cpu_run(struct lttng_cpu *c, struct lttng_thread *t)
{
	c->thread = t;
	c->stacks[0] = t->frames;
}

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
	struct lttng_thread **threads;		   /* a hash table */
	struct lttng_thread *recent[LTTNG_RECENT]; /* by tid, those asked for last */
	size_t threads_size, nthreads;
	struct lttng_lane {
		struct lttng_lane_key key;
		uint32_t lane;
	} * lanes;
	size_t lanes_size, nlanes;
	struct lttng_names_table names[NAMES_COUNT];
	bool begun; /* rows may be written */

	uint8_t fixed[8 + 8 * LTTNG_FIELDS + 32]; /* rows are copied in larger pieces */
	struct buffer tail;
};

struct lttng_cpu *lttng_state_cpu(struct lttng *l, int32_t cpu);
/* The thread of that tid; on this CPU for tid 0. NULL when memory is out. */
struct lttng_thread *lttng_state_thread(struct lttng *l, struct lttng_cpu *c, int64_t tid);
/* Before and after the row of an event is written. -1: memory is out. */
int lttng_state_before(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
int lttng_state_after(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
/* Tables and names that the trace dumps somewhere, taken in ahead. */
int lttng_state_ahead(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
uint32_t lttng_state_lane(struct lttng *l, struct lttng_file *f, struct lttng_cpu *c);
/* Places by id, 0 those not yet asked for; NULL: memory is out. */
const uint32_t *lttng_state_places(struct lttng *l, enum lttng_names which, uint32_t *n);
/* The place of an entry by the id it has. */
uint32_t lttng_state_place(struct lttng *l, const struct lttng_marker *m, uint64_t id);
/* The stack of the thread that runs; the CPU's own where memory is out. */
struct lttng_frames *lttng_state_stack(struct lttng_cpu *c);
/* Place and depth of a leave that does not close the last frame; false: its enter is not there. */
bool lttng_state_unwind(const struct lttng_marker *m, struct lttng_frames *frames, uint32_t *place,
			uint32_t *depth);
void lttng_state_free(struct lttng *l);

/*
 * Place and depth of an enter or leave, whose fixed part may be read 8 bytes beyond any field.
 * false: a leave whose enter is not there.
 */
static inline bool lttng_state_call(struct lttng *l, struct lttng_cpu *c,
				    const struct lttng_marker *m, const uint8_t *fixed,
				    uint32_t *place, uint32_t *depth)
{
	struct lttng_frames *frames = c->stacks[m->per_cpu];
	uint32_t count;

	if (__builtin_expect(!frames, 0))
		frames = lttng_state_stack(c);
	if (m->kind == KIND_ENTER) {
		uint64_t id = get_u64(fixed + m->id_field) & m->id_mask;

		*place = id < m->nplaces ? m->places[id] : 0;
		if (__builtin_expect(!*place, 0))
			*place = lttng_state_place(l, m, id);
		count = frames->count & m->keep;
		count -= count == LTTNG_FRAMES;
		*depth = count;
		frames->frame[count].pair = m->pair;
		frames->frame[count].place = *place;
		frames->count = count + 1;
		return true;
	}
	count = frames->count;
	if (count && frames->frame[count - 1].pair == m->pair) {
		*depth = frames->count = count - 1;
		*place = frames->frame[count - 1].place;
		return true;
	}
	return lttng_state_unwind(m, frames, place, depth);
}

/* The lane of what happens on a CPU now. */
static inline uint32_t lttng_lane(struct lttng *l, struct lttng_file *f, struct lttng_cpu *c)
{
	const struct lttng_known_lane *known = lttng_known_lane(f, c->thread);

	return __builtin_expect(known->thread == c->thread && known->version == c->thread->version,
				1)
		       ? known->lane
		       : lttng_state_lane(l, f, c);
}

/* The same as lttng_state_thread, in line. */
static inline struct lttng_thread *lttng_thread(struct lttng *l, struct lttng_cpu *c, int32_t tid)
{
	struct lttng_thread *t = l->recent[(uint32_t)tid % LTTNG_RECENT];

	return __builtin_expect(t && t->tid == tid, 1) ? t : lttng_state_thread(l, c, tid);
}

/* --- rows --- */

static inline uint64_t lttng_row_time(struct lttng *l, uint64_t tsc)
{
	int64_t ns = lttng_clock_ns(&l->clock, tsc) + l->shift;

	return ns < 0 ? 0 : (uint64_t)ns;
}

/* The event, or gap, that the file stands before, as a row; a damaged one as none. -1: memory, or
 * output. */
int lttng_rows_event(struct lttng *l, struct lttng_file *f);
/* The same for the next ones below TSC limit of the two files that are first, g after f, or of f
 * alone, while that is quickly done; it may do none. */
int lttng_quick(struct lttng *l, struct lttng_file *f, struct lttng_file *g, uint64_t limit);
/* Files are in l->heap; set the input's next time. */
void lttng_merge_begin(struct lttng *l);
/* Rows up to and including that time. */
int lttng_merge_run(struct lttng *l, uint64_t until);

/* Number at an offset of the fixed part; sign-extended to 64 bits where the type is signed. */
static inline int64_t lttng_number(const struct lttng_event *ev, int16_t offset, uint8_t size)
{
	return offset < 0 ? -1 : sign_extend(get_uint(ev->fixed + offset, size, false), size);
}

#endif
