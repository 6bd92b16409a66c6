/*
 * row_filter.h - the part of a trace that is wanted: --since, --until, --cpu, --tid, --type
 *
 * The writer refuses the rows that are not wanted, whatever the format, and nothing is asked of a
 * decoder. One that can pass over pages, packets or files without looking into them asks
 * row_filter_cpu, row_filter_tid and limits.first_time, before its first run or in it.
 */
#ifndef TRDECODE_LIMITS_H
#define TRDECODE_LIMITS_H

#include "common/value/moment.h"
#include "common/stream/writer.h"
#include "cmd/trdecode/input/row_filter_stacks.h"

struct number_range {
	int64_t first, last;
};

struct number_list {
	struct number_range *ranges;
	size_t count, capacity;
};

struct input;

struct row_filter {
	struct moment since, until;
	uint64_t end; /* of all inputs, as shifted, for moments before it */
	struct number_list cpus, tids;
	const char **types; /* globs; not owned */
	size_t ntypes, types_capacity;

	uint64_t first_time, last_time; /* of all clocks as shifted; 0 and UINT64_MAX: any */
	uint8_t *lanes, *kinds;		/* by id: 0 not asked, 1 wanted, 2 not, 3 its rows tell */
	size_t nlanes, nkinds;
	/* Of a thread some calls may be left out, and others not: trstream(5) THREAD. By lane: the
	   time of the last row that was refused. */
	bool cuts_threads;
	uint64_t *lasts;
	size_t nlasts;
	struct row_filter_stacks stacks;
	bool failed; /* to say which of them have rows left out */
	struct writer *writer;
};

/* "0-3,7": the numbers are added. -1: it is no list. */
int row_filter_add_numbers(struct number_list *l, const char *text);
int row_filter_add_type(struct row_filter *l, const char *glob, struct error *e);
void row_filter_free(struct row_filter *l);

static inline bool row_filter_from_end(const struct row_filter *l)
{
	return l->since.from == MOMENT_END || l->until.from == MOMENT_END;
}

static inline bool row_filter_any(const struct row_filter *l)
{
	return l->since.from || l->until.from || l->cpus.count || l->tids.count || l->ntypes;
}

bool row_filter_has(const struct number_list *l, int64_t n);

/* Can anything of that CPU or thread be wanted? */
static inline bool row_filter_cpu(const struct row_filter *l, int64_t cpu)
{
	return !l->cpus.count || row_filter_has(&l->cpus, cpu);
}

static inline bool row_filter_tid(const struct row_filter *l, int64_t tid)
{
	return !l->tids.count || row_filter_has(&l->tids, tid);
}

/* Before any decoder begins: have the writer refuse what is not wanted. */
void row_filter_begin(struct row_filter *l, struct writer *w);
/* When all rows are written: the last times of threads with refused rows. -1: writer.error. */
int row_filter_end(struct row_filter *l);
/* A number for the stream's id: another part of the same input is another stream. 0: no limits. */
uint64_t row_filter_identity(const struct row_filter *l);
/* When all have begun: find the times. -1: they cannot be told. */
int row_filter_times(struct row_filter *l, const struct input *inputs, int n, struct error *e);

/* The first time of an input's own clock that is wanted, for those who pass over what is before. */
uint64_t row_filter_first(const struct input *in);

#endif
