/*
 * groups.h - groups of a table, and what is summed up in each
 */
#ifndef TR_TRSTAT_GROUPS_H
#define TR_TRSTAT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/pairs/keys.h"
#include "common/util/buffer.h"
#include "common/util/histogram.h"
#include "common/util/u128.h"

/*
 * The exact population standard deviation of 64-bit integers.
 *
 * The sum of squares is kept in 192 bits, enough for 2^64 values of 64 bits, so it cannot wrap and
 * does not depend on the order of values. Only the result is rounded.
 */

/* All zero is the empty sum. */
struct squares {
	uint128 low;
	uint64_t high;
};

static inline void squares_add(struct squares *s, uint64_t value)
{
	s->high += __builtin_add_overflow(s->low, (uint128)value * value, &s->low);
}

/* Returns -1 if the sum does not fit, which takes more than 2^64 values. */
int squares_merge(struct squares *into, const struct squares *from);

/*
 * sqrt(mean of squares - square of mean), rounded to the nearest integer, halves up: the result s
 * has (s - 1/2)^2 <= variance < (s + 1/2)^2. n values (0 gives 0) with that sum and sum of squares.
 */
uint64_t stddev_of(uint64_t n, int128 sum, const struct squares *squares);

/*
 * The number of distinct values: exact up to 4096, then HyperLogLog.
 *
 * Values are distinguished by a 64-bit hash. The hash of an integer is a permutation, so integers
 * of one sign are counted exactly. Beyond 4096 hashes the set becomes 2^14 registers (Flajolet et
 * al. 2007) read with the improved estimator of Ertl 2017: standard error 1.04 / sqrt(2^14) =
 * 0.81%. The state depends on the set of values alone, never on their order or on how they were
 * split, so merging gives exactly the result of a single run.
 *
 * Memory: 8 to 12 bytes a value up to 4096 values, then 16 KiB.
 */

#define DISTINCT_EXACT	   4096
#define DISTINCT_PRECISION 14
#define DISTINCT_REGISTERS (1 << DISTINCT_PRECISION)

/* All zero is the empty set. */
struct distinct {
	uint64_t *hashes;   /* open-addressed, 0 is free; NULL once there are registers */
	uint8_t *registers; /* DISTINCT_REGISTERS ranks, NULL at first */
	uint32_t used, capacity;
	bool zero; /* hash 0 is in the set (and counted in used) */
};

void distinct_free(struct distinct *d);

uint64_t distinct_hash_number(int128 value);
uint64_t distinct_hash_bytes(const void *data, size_t size);

/* Returns -1 when out of memory; the set is then unchanged. */
int distinct_add(struct distinct *d, uint64_t hash);
int distinct_merge(struct distinct *into, const struct distinct *from);

/* Raise a register of a stored summary to rank (1 .. 51). Returns -1 when out of memory or out
 * of range. */
int distinct_raise(struct distinct *d, uint32_t index, uint8_t rank);

uint64_t distinct_count(const struct distinct *d);

/*
 * The numbers that trstat keeps for one group of rows.
 *
 * Times are in ns, or in ticks where the clock has no unit. Every part is a sum, an extreme or a
 * set, kept exactly, so aggregate_merge of the parts of a trace, in any order, is the aggregate of
 * the whole. Parts that no column needs take no memory: an aggregate has the size and the
 * offsets that struct columns_wanted gives, and is allocated.
 *
 * The meaning of the numbers is that of uftrace report 0.19: total is the
 * sum over calls with no call of the same function below them; averages, extremes, deviation and
 * percentiles cover every call. A sample counts as a call; its weight may be negative.
 */

/* A field of the events that sum(F) min(F) max(F) avg(F) or uniq(F) need */
struct wanted_field {
	char *name;
	bool uniq;	/* some column is uniq(F) */
	bool histogram; /* some column is pN(F) */
	bool each;	/* some column but sum(F) is of F */
	bool quoted;	/* the name is that of an event's own field after a '.' */
	int state;	/* enum state: F is the time of calls in it; else -1 */
	bool checked;	/* the name is one of a pair's second event (pair_columns) */
	enum wanted_time { TIME_NONE, TIME_TOTAL, TIME_SELF } time; /* of a call: F is its name */
};

/* Which parts the columns need. Offsets are from the aggregate; 0: part not needed. */
struct columns_wanted {
	uint32_t size;	    /* of an aggregate with its parts, a multiple of 16 */
	uint32_t histogram; /* struct histogram of the calls' total times */
	uint32_t times; /* struct time_span: of the first and the last row; none while since > last
			 */
	uint32_t total_stdev; /* struct squares of total times */
	uint32_t self_stdev;  /* struct squares of self times */
	/* uint128[2]: time of pairs, split at the edges of buckets; and without stray events */
	uint32_t busy;
	uint32_t memory; /* struct aggregate_memory */
	uint32_t whole;	 /* int128: sum of the self values of all groups (statistics_show) */
	uint32_t fields; /* array of struct aggregate_field */
	uint32_t field_count;
	struct wanted_field *field;
	bool totals; /* a column depends on which calls are recursive */
	bool rarely; /* some of times, total_stdev, self_stdev are needed */
};

struct aggregate {
	uint64_t calls;	   /* number of finished calls */
	uint64_t instants; /* number of rows without a time of their own */
	int128 total;	   /* sum over calls that are not recursive */
	int128 recursive;  /* sum over recursive calls */
	int128 self;	   /* sum over all calls */
	/* INT64_MAX and INT64_MIN without calls; larger values count as INT64_MAX */
	int64_t total_min, total_max, self_min, self_max;
};

/* Memory that was allocated, and what of it was not freed. Of a group of a bucket of time,
 * outstanding and left are what the bucket adds; held is what there is at its end. */
struct aggregate_memory {
	int128 bytes, outstanding, held;
	int64_t left, held_number;
};

/* An integer, kept exactly, and what floats add to it; whole NUMBER_MOST or its negation: the
 * fraction alone is the number. */
struct group_number {
	int128 whole;
	double fraction;
};

#define NUMBER_MOST ((int128)1 << 126)

/* sum, min, max and avg cover numbers only; distinct also counts texts, and only if wanted. */
struct aggregate_field {
	uint64_t count; /* number of numeric values */
	bool seen;	/* some row had this field, numeric or not */
	struct group_number sum, min, max;
	struct distinct distinct;
	struct histogram histogram; /* of the values' integers, negative ones as 0 */
};

struct group_number number_of_real(double real);
double number_real(int128 whole, double fraction);

static inline void *aggregate_part(const struct aggregate *a, uint32_t offset)
{
	return (char *)(uintptr_t)a + offset;
}

/* An aggregate of no rows in w->size zeroed bytes aligned to 16. */
void aggregate_init(struct aggregate *a, const struct columns_wanted *w);
void aggregate_free(struct aggregate *a, const struct columns_wanted *w);

/* Take the times of rows, from the first to the last. */
static inline void aggregate_rows(struct aggregate *a, const struct columns_wanted *w,
				  uint64_t first, uint64_t last)
{
	struct time_span *t = aggregate_part(a, w->times);

	if (!w->times)
		return;
	t->since = first < t->since ? first : t->since;
	t->last = last > t->last ? last : t->last;
}

void aggregate_call_rare(struct aggregate *a, const struct columns_wanted *w, uint64_t total,
			 uint64_t self, uint64_t time);

/* Add a sample whose total or self value is negative, or a call with one above INT64_MAX. A
 * negative value counts in histograms as 0. */
int aggregate_signed(struct aggregate *a, const struct columns_wanted *w, int128 total, int128 self,
		     bool recursive, uint64_t time);

static inline void aggregate_no_extremes(struct aggregate *a)
{
	a->total_min = a->self_min = INT64_MAX;
	a->total_max = a->self_max = INT64_MIN;
}

/* Take extremes of values. */
static inline void aggregate_total_extremes(struct aggregate *a, int64_t least, int64_t most)
{
	a->total_min = least < a->total_min ? least : a->total_min;
	a->total_max = most > a->total_max ? most : a->total_max;
}

static inline void aggregate_self_extremes(struct aggregate *a, int64_t least, int64_t most)
{
	a->self_min = least < a->self_min ? least : a->self_min;
	a->self_max = most > a->self_max ? most : a->self_max;
}

/*
 * Add one finished call: total is its time from enter to leave, self that time less its callees',
 * recursive whether a call of the same group is open below it, at the time of the leave.
 */
static inline int aggregate_call(struct aggregate *a, const struct columns_wanted *w,
				 uint64_t total, uint64_t self, bool recursive, uint64_t time)
{
	if (__builtin_expect((total | self) > INT64_MAX, 0))
		return aggregate_signed(a, w, total, self, recursive, time);
	a->calls++;
	if (__builtin_expect(recursive, 0))
		a->recursive += total;
	else
		a->total += total;
	a->self += self;
	aggregate_total_extremes(a, (int64_t)total, (int64_t)total);
	aggregate_self_extremes(a, (int64_t)self, (int64_t)self);
	if (__builtin_expect(w->rarely, 0))
		aggregate_call_rare(a, w, total, self, time);
	if (w->histogram)
		return histogram_add(aggregate_part(a, w->histogram), total);
	return 0;
}

/* Add the part of a recursive call that is not inside another one of its group to the total. */
static inline void aggregate_outside(struct aggregate *a, uint64_t time)
{
	a->recursive -= time;
	a->total += time;
}

/* Get the total of all calls, recursions too. */
static inline int128 aggregate_every(const struct aggregate *a)
{
	int128 sum;

	return __builtin_add_overflow(a->total, a->recursive, &sum) ? INT128_MAX : sum;
}

/* Get an integer as histograms have it. */
static inline uint64_t histogram_value(int128 value)
{
	return value < 0 ? 0 : value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

/* Get a quantile of the total times, where there is a histogram; a negative one is 0. */
uint64_t aggregate_quantile(const struct aggregate *a, const struct columns_wanted *w,
			    uint64_t numerator, uint64_t denominator);

/* Test whether there are times of calls: finished ones, or parts of some. */
static inline bool aggregate_has_times(const struct aggregate *a)
{
	return a->calls || a->total || a->recursive || a->self;
}

/* Add one row that has no duration. */
static inline void aggregate_instant(struct aggregate *a, const struct columns_wanted *w,
				     uint64_t time)
{
	a->instants++;
	aggregate_rows(a, w, time, time);
}

/* Note that a row has the field w->field[field]. */
void aggregate_field_seen(struct aggregate *a, const struct columns_wanted *w, uint32_t field);

/*
 * Add a row's value of the field w->field[field]: a number (signed or unsigned, 64 bits; or a
 * finite one that is no such integer), or a text, which counts for uniq(F) only. Returns -1 when
 * out of memory.
 */
int aggregate_real(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		   double value);
int aggregate_number(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		     int128 value);
int aggregate_text(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		   const void *data, size_t size);
/* Add a text whose distinct_hash_bytes is known. */
int aggregate_hash(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		   uint64_t hash);

/*
 * Add the numbers of from to into. Returns -1 when out of memory, or if a sum does not fit
 * (EOVERFLOW, only from a forged summary); into then contains a part of from.
 */
int aggregate_merge(struct aggregate *into, const struct aggregate *from,
		    const struct columns_wanted *w);

/* Add from, which has the parts v, w's among them. Field i of w is fields[i] of v, or i where
 * fields is NULL. */
int aggregate_merge_of(struct aggregate *into, const struct columns_wanted *w,
		       const struct aggregate *from, const struct columns_wanted *v,
		       const uint32_t *fields);

/* Number of rows of both kinds */
static inline uint64_t aggregate_count(const struct aggregate *a)
{
	return a->calls + a->instants;
}

/*
 * The times of each thread that calls of a group have counted.
 *
 *     main  0..........100   -g 'bucket(dur,50us)': when f returns, its group 0 has counted g's
 *     f       10....40       time, 20 to 30. f adds 30 - 10 to the total. main is of the group
 *     g         20.30        100, which has counted nothing.
 *
 * So keys that only the return of a call shows need nothing of its enter. The times of a group are
 * kept apart only where an open call began between them: a group has at most one span more than the
 * thread has open calls.
 */

/* Times from start to end that are counted; `time` of it, as there may be gaps. */
struct counted_span {
	uint64_t start, end, time;
};

/* Those of one group in one thread, in the order of their starts. */
struct counted_group {
	struct counted_span *spans;
	size_t count, capacity;
};

/*
 * The groups of trstat: a map from composite keys to aggregates.
 *
 * A key has one cell (keys.h) for each name in -g. Groups never move, so a caller can keep an
 * aggregate, for instance by location.
 */

struct groups {
	const struct columns_wanted *wanted; /* owned by the caller */
	size_t keys;			     /* number of cells of a key */
	size_t count;			     /* number of groups */
	size_t stride;			     /* bytes of a group: the aggregate, then the cells */
	char **chunk;
	size_t chunks, chunk_capacity;
	struct key_map numbers; /* number + 1, by the hash of the key, or the next one */
	struct key_texts texts;
	uint32_t *stack_rank; /* of the stacks, by node */
	bool whole_stacks;    /* do not limit them to STACK_FRAMES frames */
	uint64_t deep;	      /* number of stacks that have more; 0 with whole_stacks */
};

/* keys may be 0: then there is at most one group. wanted must not change afterwards. */
void groups_init(struct groups *g, size_t keys, const struct columns_wanted *wanted);
void groups_free(struct groups *g);
/* Delete the groups; texts that cells may name and the stacks are kept. */
void groups_clear(struct groups *g);
/* Set the number of cells of a key; there are no groups. */
void groups_set_keys(struct groups *g, size_t keys);
/* Move the groups out, to be put back one by one and then cleared; g is then empty. */
struct groups groups_take(struct groups *g);

/* As key_text. */
static inline int groups_text(struct groups *g, const void *data, size_t size,
			      struct key_cell *cell)
{
	return key_text(&g->texts, data, size, cell);
}

/* Copy a cell to other groups, whose texts have their own numbers. Returns -1 when out of
 * memory. */
int groups_copy_cell(struct groups *into, const struct groups *from, const struct key_cell *cell,
		     struct key_cell *copy);

/* Get the aggregate of the group with these cells, made if new; NULL when out of memory. Equal
 * numbers are one group, in whatever base the source prints them. */
struct aggregate *groups_find(struct groups *g, const struct key_cell *cells);

/* Get the group with that number, in the order of creation; number < g->count. */
static inline struct aggregate *groups_at(const struct groups *g, size_t number);

/* The cells of a group whose aggregates have these parts. */
static inline const struct key_cell *aggregate_cells(const struct aggregate *a,
						     const struct columns_wanted *w)
{
	return (const struct key_cell *)((const char *)a + w->size);
}

static inline const struct key_cell *groups_cells(const struct groups *g, const struct aggregate *a)
{
	return aggregate_cells(a, g->wanted);
}

/*
 * Merge groups whose stacks proved equal, and groups whose stacks are equal in their first
 * STACK_FRAMES frames. To be called before cells of kind KEY_STACK are compared or shown. stacks
 * belongs to the caller. Returns -1 when out of memory (or EOVERFLOW of aggregate_merge).
 */
int groups_stacks(struct groups *g, struct call_stacks *stacks);

/* As key_cell_text. */
static inline bool groups_cell_text(const struct groups *g, const struct key_cell *cell,
				    const char **text, size_t *size)
{
	return key_cell_text(&g->texts, cell, text, size);
}

/* Compare cells: numbers by value, then texts by their bytes, then stacks from their callers
 * down, then missing cells. */
int groups_compare(const struct groups *g, const struct key_cell *a, const struct key_cell *b);

/* Compare the first n cells of two groups. */
int groups_compare_first(const struct groups *g, const struct aggregate *a,
			 const struct aggregate *b, size_t n);

#define GROUPS_CHUNK 256 /* number of groups allocated at once */

static inline struct aggregate *groups_at(const struct groups *g, size_t number)
{
	return (struct aggregate *)(g->chunk[number / GROUPS_CHUNK] +
				    number % GROUPS_CHUNK * g->stride);
}

#endif
