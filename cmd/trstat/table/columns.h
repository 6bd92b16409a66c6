/*
 * columns.h - the columns of trstat: their names, and their values for a group
 *
 *     count                                          rows: finished calls and instants
 *     total total_avg total_min total_max total_stdev   time from enter to leave
 *     avg min max                                    short for total_avg total_min total_max
 *     self self_avg self_min self_max self_stdev     the same less the callees' time
 *     total_percent self_percent                     these in percent of the self of all groups of
 *                                                    the same type
 *     total% self%                                   short for these two
 *     p50 p90 p99 p99.9 (any pN or pN.N, 0 to 100)   percentiles of the calls' times
 *     first last                                     time of the first and the last row
 *     rate                                           rows per second of the whole run
 *     busy util                                      of pairs: time within the bucket(time,T) of
 *                                                    the group, and that in percent of T
 *     sum(F) min(F) max(F) avg(F) uniq(F)            of a field of the events, or of dur (or total)
 *                                                    or self, the times of a call
 */
#ifndef TR_TRSTAT_TABLE_COLUMNS_H
#define TR_TRSTAT_TABLE_COLUMNS_H

#include "common/stream/clocks.h"
#include "common/util/error.h"
#include "cmd/trstat/groups/aggregate.h"
#include "cmd/trstat/table/column_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column {
	char *name; /* as the user wrote it */
	const struct column_type *type;
	uint64_t numerator, denominator; /* COLUMN_PERCENTILE */
	uint32_t field;			 /* COLUMN_OF_FIELD: index into wanted.field */
	bool duration;			 /* COLUMN_OF_FIELD: the field is the time of a call */
	bool weight;			 /* durations are weights of samples that are no times */
	bool ns; /* durations are weights in ns, whatever the clock counts */
};

/* Zero-initialised: no columns. */
struct columns {
	struct column *column; /* the printed columns first, then those that are only sorted by */
	size_t printed, count;
	bool weights, ns; /* each column has weight, ns set */
	struct columns_wanted wanted;
};

/* Times of the first and the last row of the whole run, for rate and util; none while first >
 * last. */
struct columns_run {
	uint64_t first, last;
	uint64_t bucket; /* width of the groups' buckets of time; 0: groups are of the whole run */
	size_t bucket_key; /* 1 + the index of the key that is the bucket; 0: bucket_begin has it */
	uint64_t bucket_begin; /* of all values that are computed with this run */
};

enum { COLUMN_WORDS_SIZE = 500 };
/* Add the names of all columns, separated by blanks, and some percentiles, to the words of an
 * option (common/cli/options.h). Those of fields are "sum(F)". */
void columns_add_words(char *words, size_t size);

/*
 * Add the columns of a comma-separated list, to be printed in this order. Returns 0, or -1 with
 * e->what naming the unknown or repeated column and the known ones.
 */
int columns_parse(struct columns *c, const char *list, struct error *e);

/*
 * Returns the index of the column of that name, which is added, not printed, if it is missing; -1
 * with e filled as above. All columns must be added before the first aggregate is made.
 */
int columns_find(struct columns *c, const char *name, struct error *e);

/* Returns -1 with e filled if a column makes no sense for a clock that counts ticks: rate. */
int columns_check_ticks(const struct columns *c, struct error *e);

/* Hint for mixed clocks */
#define CLOCKS_HINT "only counts (-c count) apply to both"

/* Returns -1 with e filled if a column is of pairs. */
int columns_refuse_pairs(const struct columns *c, struct error *e);

/* Returns -1 with e filled if a column has times, and the events had both times and ticks. */
int columns_check_clocks(const struct columns *c, const struct clocks *clocks, struct error *e);

void columns_free(struct columns *c);

/* Returns the index in wanted.field of the field of that name, or -1. */
int columns_field(const struct columns *c, const char *name);

/* Returns true for an argument of calls, or an element of one: arg.N. */
bool columns_is_argument(const struct wanted_field *f);
/* Returns how many of the first n fields are arguments. */
size_t columns_arguments(const struct columns_wanted *w, uint32_t n);

enum column_unit column_unit(const struct column *c);
/* Returns true for a value of a field, whose unit is not known, such as ns of a tracepoint. */
static inline bool column_may_be_time(const struct column *c)
{
	return c->type->flags & COLUMN_OF_FIELD && !(c->type->flags & COLUMN_UNIQ);
}
/* Make all durations weights of samples: plain numbers, such as CPU cycles, or ns. */
void columns_set_weights(struct columns *c, bool ns);
/* Test whether values of a column are ticks, where the clock counts ticks. */
bool column_counts_ticks(const struct column *c, bool ticks);
/* Test whether a column is a statistic of single weights of samples, which a table shows only if it
 * is asked for. */
bool column_of_single_weights(const struct column *c);

/*
 * Returns the value of one column for one group. Integer divisions round down as in uftrace report
 * (total_avg, self_avg); rate and avg(F) are rounded to a thousandth, halves away from zero;
 * standard deviations to the nearest unit. Sums beyond 127 bits become the largest number.
 */
struct column_value column_value(const struct columns *c, const struct column *column,
				 const struct aggregate *a, const struct columns_run *run);

#endif
