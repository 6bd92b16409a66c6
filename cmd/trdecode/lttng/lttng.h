/*
 * lttng.h - inside the decoder of legacy LTTng traces (1.0, 2.0 to 2.6)
 *
 * A trace is a tracefile per channel and CPU, each a run of blocks. A tracefile is read forward
 * through a window (file.c). The trace itself announces its markers (marker.c), which define the
 * layout of events. All files are merged by TSC (merge.c). The merged events determine which thread
 * runs on a CPU and which call an entry opens (state.c).
 *
 * Functions return 0, or -1 when out of memory; those that write rows, also when the output failed.
 */
#ifndef TR_TRDECODE_LTTNG_LTTNG_H
#define TR_TRDECODE_LTTNG_LTTNG_H

#include "common/util/idmap.h"
#include "common/util/intern.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/lttng/file.h"

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
	uint32_t number;
	struct lttng_frames *frames;
};

/* Return the entry that may have the lane of a thread. */
static inline struct lttng_known_lane *lttng_known_lane(struct lttng_file *f,
							const struct lttng_thread *t)
{
	return &f->lanes[t->number % LTTNG_LANES];
}

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

struct lttng_lane_key {
	uint32_t buffer, comm;
	int32_t cpu, tid, pid, ppid;
};

/* Names of one kind by id, and their locations. */
struct lttng_names_table {
	char **name;
	uint32_t *location;
	size_t size;
};

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
	struct lttng_threads {
		struct lttng_thread **thread;
		size_t count, capacity;
		struct idmap by_tid; /* index + 1 */
	} threads;
	struct id_cache lanes; /* by struct lttng_lane_key */
	struct lttng_names_table names[NAMES_COUNT];
	size_t nmaps;
	struct lttng_functions {     /* transcoded.c */
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

/* --- opening (find.c) --- */

enum bid lttng_probe(const struct input *in);
/* Read the trace's header from a file of the metadata, else from any file. -1 with *e filled: no
 * header is valid. */
int lttng_find_header(struct lttng *l, struct error *e);
/* List all tracefiles, CPUs and channels. */
int lttng_find_files(struct lttng *l, struct error *e);
int lttng_find_channels(struct lttng *l);
/* Test whether a member's name is that of a tracefile. *base: length of the name without its CPU.
 */
bool lttng_file_name(const char *member, size_t *base, int32_t *cpu);
/* Return the channel's name, "processes" in "control/flight-processes_0": without the prefix of
 * overwritten channels. */
const char *lttng_channel_name(const char *member, size_t base, size_t *n);

/* --- reading ahead (prescan.c) --- */

/* Take in the markers that a file of the metadata announces. */
int lttng_prescan_metadata(struct lttng *l, const struct lttng_file *f);
/* Take in the names that the trace dumps anywhere, and the thread that runs first on each CPU. */
int lttng_prescan(struct lttng *l);

/* --- names (names.c) --- */

/* Take in an event that contains a name and its id. */
int lttng_names_take(struct lttng *l, const struct lttng_event *ev);
/* Return the locations by id, 0: not declared yet; NULL: out of memory. */
const uint32_t *lttng_names_locations(struct lttng *l, enum lttng_names which, uint32_t *n);
/* Return the location of an entry by its id. 0: out of memory. */
uint32_t lttng_names_location(struct lttng *l, const struct lttng_marker *m, uint64_t id);
void lttng_names_free(struct lttng *l);

/* --- threads and calls (transcoded.c, state.c) --- */

/* Find the thread and call among the fields that trencode adds to a marker; called after all other
 * classification. */
void lttng_transcoded_find(struct lttng_marker *m, const struct lttng_field *fields, int n);
/* Set f->order of the next event, whose marker has the field. -1: out of memory, or the output
 * failed. */
int lttng_transcoded_order(struct lttng *l, struct lttng_file *f);
/* Take the thread from an event; it runs on c from now on. */
int lttng_transcoded_thread(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
/* Take location and depth of a call from an event. */
int lttng_transcoded_call(struct lttng *l, const struct lttng_event *ev, uint32_t *location,
			  uint32_t *depth);
void lttng_transcoded_free(struct lttng *l);

struct lttng_cpu *lttng_state_cpu(struct lttng *l, int32_t cpu);
/* Find or add the thread of a tid; tid 0 is this CPU's idle thread. NULL: out of memory. */
struct lttng_thread *lttng_state_thread(struct lttng *l, struct lttng_cpu *c, int64_t tid);
/* Update threads and names by an event, before and after its row is written. */
int lttng_state_before(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
int lttng_state_after(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
/* Take in an event that dumps threads or names, before the first row. */
int lttng_state_ahead(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
uint32_t lttng_state_lane(struct lttng *l, struct lttng_file *f, struct lttng_cpu *c);
/* Return the stack of the thread that runs; when out of memory, the CPU's own stack. */
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

/* Return the lane of the thread that runs on a CPU. */
static inline uint32_t lttng_lane(struct lttng *l, struct lttng_file *f, struct lttng_cpu *c)
{
	const struct lttng_known_lane *known = lttng_known_lane(f, c->thread);

	return __builtin_expect(known->thread == c->thread && known->version == c->thread->version,
				1)
		       ? known->lane
		       : lttng_state_lane(l, f, c);
}

/* Take in a mapping (maps.c). */
int lttng_maps_take(struct lttng *l, struct lttng_cpu *c, const struct lttng_event *ev);
/* Attach the mappings of a thread's process to one of its lanes. */
int lttng_maps_of(struct lttng *l, struct lttng_cpu *c, const struct lttng_thread *t,
		  uint32_t lane);

/* --- rows (rows.c, quick.c, merge.c) --- */

static inline uint64_t lttng_row_time(struct lttng *l, uint64_t tsc)
{
	int64_t ns = lttng_clock_ns(&l->clock, tsc) + l->shift;

	return ns < 0 ? 0 : (uint64_t)ns;
}

/* Write the file's next event or gap as a row; write nothing for a damaged event. */
int lttng_rows_event(struct lttng *l, struct lttng_file *f);
/* Write events below TSC limit of the two files that are next, g after f, or of f alone (g NULL),
 * while they have the quick form. May write no event. */
int lttng_quick(struct lttng *l, struct lttng_file *f, struct lttng_file *g, uint64_t limit);
/* Order the files in l->heap, and set the input's next time. */
void lttng_merge_begin(struct lttng *l);
/* Write the rows up to and including that time. */
int lttng_merge_run(struct lttng *l, uint64_t until);

/* Return the number at an offset of the fixed part, sign-extended to 64 bits; -1 if the offset is
 * negative. */
static inline int64_t lttng_number(const struct lttng_event *ev, int16_t offset, uint8_t size)
{
	return offset < 0 ? -1 : sign_extend(get_uint(ev->fixed + offset, size, false), size);
}

/* Return the number at marker->arg[i]; -1: none. */
static inline int64_t lttng_arg(const struct lttng_event *ev, int i)
{
	return lttng_number(ev, ev->marker->arg[i], ev->marker->arg_size[i]);
}

#endif
