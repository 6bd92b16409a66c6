/*
 * column_types.h - what columns of trstat are called, need and show: one table
 */
#ifndef TR_TRSTAT_TABLE_COLUMN_TYPES_H
#define TR_TRSTAT_TABLE_COLUMN_TYPES_H

#include "common/util/u128.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aggregate;
struct column;
struct columns;
struct columns_run;

/* The unit of a column's numbers, for the writers. */
enum column_unit {
	UNIT_NUMBER,	  /* an integer */
	UNIT_DURATION,	  /* ns, or ticks */
	UNIT_TIME,	  /* ns, or ticks, from the clock's start */
	UNIT_PERCENT,	  /* a decimal, kept as the next one is */
	UNIT_THOUSANDTHS, /* a decimal with three places, kept as an integer 1000 times as large */
};

enum column_flags {
	COLUMN_OF_CALLS = 1,   /* empty for a group without calls */
	COLUMN_OF_FIELD = 2,   /* written NAME(F) */
	COLUMN_PERCENTILE = 4, /* written pN */
	COLUMN_UNIQ = 8,       /* counts different values */
	COLUMN_OF_PAIRS = 32,  /* of --pair alone */
	COLUMN_OF_TIMES = 64,  /* empty for a group without calls and parts of calls */
	COLUMN_OF_RUN = 256,   /* a part of the time of the whole run */
	COLUMN_SUM = 128,      /* 0 for no call or event; others have no value then */
	COLUMN_TOTALS = 512,   /* needs to know which calls are recursive */
	COLUMN_RATE = 16,      /* needs times of the whole run, and a clock that counts ns */
};

/* The part of an aggregate that a column needs. */
enum column_part {
	PART_NONE,
	PART_HISTOGRAM,
	PART_TIMES,
	PART_TOTAL_STDEV,
	PART_SELF_STDEV,
	PART_FIELDS,
	PART_BUSY,
	PART_WHOLE,
	PARTS,
};

struct column_value {
	bool present; /* false: empty cell, as the group has no calls or no row with the field */
	int128 number;
	double fraction; /* of floats, see number_real; of the sign of number */
};

/* What a value is computed of. */
struct column_cell {
	const struct columns *columns;
	const struct column *column;
	const struct aggregate *a;
	const struct columns_run *run;
};

struct column_type {
	const char *name, *alias; /* alias: NULL, or a short name */
	unsigned flags;		  /* enum column_flags */
	enum column_unit unit;
	enum column_part part;
	struct column_value (*value)(const struct column_cell *cell);
	const char *metric, *help; /* of -t prom; "@" is replaced by the unit of time */
};

/* All types, in the order of messages and of -t prom. */
extern const struct column_type column_types[];
extern const size_t column_types_count;

/* The type of all percentiles. */
const struct column_type *column_percentile(void);

#endif
