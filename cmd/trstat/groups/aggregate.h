/*
 * aggregate.h - the numbers that trstat keeps for one group of rows
 *
 * Times are in ns, or in ticks where the clock has no unit. Every part is a sum, an extreme or a
 * set, kept exactly, so aggregate_merge of the parts of a trace, in any order, is the aggregate of
 * the whole. Parts that no column needs take no memory: an aggregate has the size and the
 * offsets that struct columns_wanted gives, and is allocated by groups.c.
 *
 * The meaning of the numbers is that of uftrace report 0.19: total is the
 * sum over calls with no call of the same function below them; averages, extremes, deviation and
 * percentiles cover every call. A sample counts as a call; its weight may be negative.
 */
#ifndef TR_TRSTAT_GROUPS_AGGREGATE_H
#define TR_TRSTAT_GROUPS_AGGREGATE_H

#include "common/util/histogram.h"
#include "common/util/u128.h"
#include "cmd/trstat/groups/stddev.h"
#include "cmd/trstat/groups/distinct.h"

#include <stdbool.h>
#include <stdint.h>

/* A field of the events that sum(F) min(F) max(F) avg(F) or uniq(F) need */
struct wanted_field {
	char *name;
	bool uniq;    /* some column is uniq(F) */
	bool checked; /* the name is one of a pair's second event (pair_columns) */
	enum wanted_time { TIME_NONE, TIME_TOTAL, TIME_SELF } time; /* of a call: F is its name */
};

/* Which parts the columns need. Offsets are from the aggregate; 0: part not needed. */
struct columns_wanted {
	uint32_t size;	      /* of an aggregate with its parts, a multiple of 16 */
	uint32_t histogram;   /* struct histogram of the calls' total times */
	uint32_t times;	      /* struct aggregate_times */
	uint32_t total_stdev; /* struct squares of total times */
	uint32_t self_stdev;  /* struct squares of self times */
	uint32_t busy;	      /* uint128: time of pairs, split at the edges of buckets */
	uint32_t whole;	      /* int128: sum of the self values of all groups (statistics_show) */
	uint32_t fields;      /* array of struct aggregate_field */
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

/* Times of the first and the last row; none while first > last. */
struct aggregate_times {
	uint64_t first, last;
};

/* An integer, kept exactly, and what floats add to it; whole NUMBER_MOST or its negation: the
 * fraction alone is the number. */
struct number {
	int128 whole;
	double fraction;
};

#define NUMBER_MOST ((int128)1 << 126)

/* sum, min, max and avg cover numbers only; distinct also counts texts, and only if wanted. */
struct aggregate_field {
	uint64_t count; /* number of numeric values */
	bool seen;	/* some row had this field, numeric or not */
	struct number sum, min, max;
	struct distinct distinct;
};

struct number number_of_real(double real);
double number_real(int128 whole, double fraction);
/* Carry the integer part of the fraction, which several floats may have added up. */
struct number number_settle(struct number n);

static inline void *aggregate_part(const struct aggregate *a, uint32_t offset)
{
	return (char *)(uintptr_t)a + offset;
}

/* An aggregate of no rows in w->size zeroed bytes aligned to 16. */
void aggregate_init(struct aggregate *a, const struct columns_wanted *w);
void aggregate_free(struct aggregate *a, const struct columns_wanted *w);

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

/* Returns the total of all calls, recursions too. */
static inline int128 aggregate_every(const struct aggregate *a)
{
	int128 sum;

	return __builtin_add_overflow(a->total, a->recursive, &sum) ? INT128_MAX : sum;
}

/* Returns a quantile of the total times, where there is a histogram; a negative one is 0. */
uint64_t aggregate_quantile(const struct aggregate *a, const struct columns_wanted *w,
			    uint64_t numerator, uint64_t denominator);

/* Add the self values of from, whose calls are counted in the aggregate already, with the self
 * value 0. Returns as aggregate_merge. */
int aggregate_merge_self(struct aggregate *into, const struct aggregate *from,
			 const struct columns_wanted *w);

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
	if (w->times) {
		struct aggregate_times *t = aggregate_part(a, w->times);

		t->first = time < t->first ? time : t->first;
		t->last = time > t->last ? time : t->last;
	}
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

#endif
