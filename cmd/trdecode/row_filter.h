/*
 * row_filter.h - the stacks of calls some of whose rows are refused (THREAD in trstream(5))
 */
#ifndef TR_TRDECODE_ROW_FILTER_H
#define TR_TRDECODE_ROW_FILTER_H

#include "common/stream/writer.h"
#include "common/util/intern.h"
#include "common/value/moment.h"
#include "common/value/scalar.h"

/*
 * Refuse the rows that --since, --until, --cpu, --tid and --type exclude.
 *
 * The writer refuses rows of any format, so decoders need not test them. A decoder that can skip
 * pages, packets or files without reading them calls row_filter_cpu and row_filter_tid and reads
 * first_time, before its first run or in it.
 */

struct number_list {
	struct {
		int64_t first, last;
	} * ranges;
	size_t count, capacity;
};

struct input;

struct row_filter {
	struct moment since, until;
	uint64_t end; /* end of all inputs, shifted, for times that count from the end */
	struct number_list cpus, tids;
	/* globs for names of types */
	struct {
		const char *glob; /* not owned */
		bool matched;
		struct nearest nearest; /* of the types that no glob matched */
	} * types;
	size_t ntypes, types_capacity;

	uint64_t first_time,
		last_time; /* range of the times wanted, shifted; 0 and UINT64_MAX: no limit */
	bool has_lane, has_cpu, has_tid;    /* of the lanes and types that were tested */
	bool has_start;			    /* the inputs have events */
	uint64_t start;			    /* first time of the inputs */
	bool ticks;			    /* a clock counts ticks */
	bool in_range, of_cpu, of_tid, any; /* a row was in the range of times; of a CPU, of a
					     * thread, wanted; was written */
	uint8_t *lanes, *kinds;		    /* by id: one of the constants, 0: not yet tested */
	size_t nlanes, nkinds;
	/* some calls of a thread may be left out and others kept: trstream(5) THREAD. By lane:
	 * the time of the last refused row. */
	bool cuts_threads;
	uint64_t *lasts;
	size_t nlasts;
	bool all_cut; /* rows of each stack may be missing without having been refused */
	struct intern stack_keys;
	/* by type: 0 unknown, 1 no calls on stacks, 2 calls of threads, 3 of CPUs */
	uint8_t *calls;
	size_t ncalls;
	uint32_t *numbers[2]; /* 1 + index in stacks, by lane: of its thread, of its CPU */
	size_t nnumbers[2];
	struct {
		bool left_out; /* a row was refused */
		bool used;     /* a row was kept */
		bool written;  /* the THREAD entry was written, in this segment: */
		uint32_t segment;
	} * stacks;
	size_t nstacks;
	bool failed; /* the threads with refused rows could not be recorded */
	struct writer *writer;
};

static inline bool row_filter_any(const struct row_filter *l)
{
	return l->since.from || l->until.from || l->cpus.count || l->tids.count || l->ntypes;
}

bool row_filter_has(const struct number_list *l, int64_t n);

/* Test whether any event of that CPU or thread can be wanted. */
static inline bool row_filter_cpu(const struct row_filter *l, int64_t cpu)
{
	return !l->cpus.count || row_filter_has(&l->cpus, cpu);
}

static inline bool row_filter_tid(const struct row_filter *l, int64_t tid)
{
	return !l->tids.count || row_filter_has(&l->tids, tid);
}

/* Test whether rows of a type can be wanted, by its name and "GROUP:NAME". */
bool row_filter_type(const struct row_filter *l, const char *name, const char *both);

/* Have the writer refuse rows that are not wanted. Called before begin of any decoder. */
void row_filter_begin(struct row_filter *l, struct writer *w);
/* Write the last times of threads with refused rows. Called when all rows are written. Returns
 * 0, or -1 with writer.error filled. */
int row_filter_end(struct row_filter *l);

/* Get the first wanted time on the input's own clock, for decoders that skip what is before. */
uint64_t row_filter_first(const struct input *in);

/* Get the last wanted time, shifted, for decoders that are not in_order and skip what is after.
 * UINT64_MAX: no limit. */
uint64_t row_filter_last(const struct input *in);

#endif
