/*
 * lttng.h - inside the decoder of legacy LTTng traces (1.0, 2.0 to 2.6)
 *
 * A trace is a tracefile per channel and CPU, each a run of blocks. A tracefile is read forward
 * through a buffer (lttng_file.c), its events are taken apart as the markers say, which the trace
 * announces itself (lttng_marker.c), and all files are merged by TSC (lttng_merge.c). What runs on
 * a CPU, and which call an entry opens, follows from the merged events (lttng_state.c).
 */
#ifndef TR_TRDECODE_LTTNG_LTTNG_H
#define TR_TRDECODE_LTTNG_LTTNG_H

#include "common/util/intern.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/lttng/file.h"

/* --- threads --- */

enum { LTTNG_FRAMES = 64, LTTNG_RECENT = 64 };

struct lttng_frames {
	uint32_t count;
	struct {
		uint32_t pair, location;
	} frame[LTTNG_FRAMES];
};

struct lttng_thread {
	int32_t tid, pid, ppid; /* -1 unknown */
	uint32_t comm;		/* string of the writer, 0 unknown */
	uint32_t space;		/* of its process, where it is the first thread of one; 0 none */
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
	uint32_t *location;
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
	size_t nmaps;
	struct intern told_names; /* of functions: index in told_places */
	uint32_t *told_locations;
	size_t told_capacity;
	struct buffer told_key;
	bool begun; /* rows may be written */

	uint8_t fixed[8 + 8 * LTTNG_FIELDS + 32]; /* rows are copied in larger pieces */
	struct buffer tail;
};

/* --- opening (lttng_find.c) --- */

bool lttng_probe(const struct input *in);
/* The trace's own header, of the metadata. -1: none can be used. */
int lttng_find_header(struct lttng *l, struct error *e);
/* All tracefiles, CPUs and channels. */
int lttng_find_files(struct lttng *l, struct error *e);
int lttng_find_channels(struct lttng *l);
/* Is it a tracefile's name? base: the name without its CPU. */
bool lttng_file_name(const char *member, size_t *base, int32_t *cpu);
/* "control/flight-processes_0": its last part, without the prefix of overwritten channels. */
const char *lttng_channel_name(const char *member, size_t base, size_t *n);

/* --- reading ahead (lttng_prescan.c). -1: out of memory --- */

/* What a file of the metadata announces. */
int lttng_prescan_metadata(struct lttng *l, const struct lttng_file *f);
/* Names that the trace dumps somewhere, and the threads that run first. */
int lttng_prescan(struct lttng *l);

/* --- names (lttng_names.c) --- */

/* Take in an event that names something. -1: out of memory. */
int lttng_names_take(struct lttng *l, const struct lttng_event *ev);
/* Places by id, 0 those not yet asked for; NULL: out of memory. */
const uint32_t *lttng_names_locations(struct lttng *l, enum lttng_names which, uint32_t *n);
/* The place of an entry by the id it has. */
uint32_t lttng_names_location(struct lttng *l, const struct lttng_marker *m, uint64_t id);
void lttng_names_free(struct lttng *l);

/* --- what follows from the events (lttng_state.c) --- */

/* lttng_transcoded.c: does the marker tell of its thread and call? Behind all else that is found of
 * it.
 */
void lttng_transcoded_find(struct lttng_marker *m, const struct lttng_field *fields, int n);
/* f->order of the event that comes next, whose marker tells it. -1: memory, or output. */
int lttng_transcoded_order(struct lttng *l, struct lttng_file *f);
/* The thread, which runs on c from now on. -1: out of memory. */
int lttng_transcoded_thread(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
int lttng_transcoded_call(struct lttng *l, const struct lttng_event *ev, uint32_t *location,
			  uint32_t *depth);
void lttng_transcoded_free(struct lttng *l);

struct lttng_cpu *lttng_state_cpu(struct lttng *l, int32_t cpu);
/* The thread of that tid; on this CPU for tid 0. NULL when out of memory. */
struct lttng_thread *lttng_state_thread(struct lttng *l, struct lttng_cpu *c, int64_t tid);
/* Before and after the row of an event is written. -1: out of memory. */
int lttng_state_before(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
int lttng_state_after(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
/* Tables and names that the trace dumps somewhere, taken in ahead. */
int lttng_state_ahead(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
uint32_t lttng_state_lane(struct lttng *l, struct lttng_file *f, struct lttng_cpu *c);
/* The stack of the thread that runs; the CPU's own where out of memory. */
struct lttng_frames *lttng_state_stack(struct lttng_cpu *c);
/* Place and depth of a leave that does not close the last frame; false: its enter is not there. */
bool lttng_state_unwind(const struct lttng_marker *m, struct lttng_frames *frames,
			uint32_t *location, uint32_t *depth);
void lttng_state_free(struct lttng *l);

/*
 * Place and depth of an enter or leave, whose fixed part may be read 8 bytes beyond any field.
 * false: a leave whose enter is not there.
 */
static inline bool lttng_state_call(struct lttng *l, struct lttng_cpu *c,
				    const struct lttng_marker *m, const uint8_t *fixed,
				    uint32_t *location, uint32_t *depth)
{
	struct lttng_frames *frames = c->stacks[m->per_cpu];
	uint32_t count;

	if (__builtin_expect(!frames, 0))
		frames = lttng_state_stack(c);
	if (m->kind == KIND_ENTER) {
		/* without one nothing is read: the fixed part may begin before its block */
		uint64_t id = m->id_mask ? get_u64(fixed + m->id_field) & m->id_mask : 0;

		*location = id < m->nplaces ? m->locations[id] : 0;
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

/* Take in a mapping (lttng_maps.c). -1: out of memory. */
int lttng_maps_take(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
/* The mappings of a thread's process go with a lane of it. */
int lttng_maps_of(struct lttng *l, struct lttng_cpu *c, const struct lttng_thread *t,
		  uint32_t lane);

/* --- rows (lttng_rows.c, lttng_quick.c, lttng_merge.c) --- */

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

/* The number that find_action wanted as that one; -1 none. */
static inline int64_t lttng_arg(const struct lttng_event *ev, int i)
{
	return lttng_number(ev, ev->marker->arg[i], ev->marker->arg_size[i]);
}

#endif
