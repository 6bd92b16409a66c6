/*
 * table.h - columns, and tables of them
 */
#ifndef TR_TRSTAT_TABLE_H
#define TR_TRSTAT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/trstat/groups.h"
#include "common/pairs/keys.h"
#include "common/util/error.h"
#include "common/util/text.h"
#include "common/util/u128.h"

/*
 * What columns of trstat are called, need and show: one table.
 */

struct aggregate;
struct column;
struct columns;
struct columns_run;
struct screen;

/* The unit of a column's numbers, for the writers. */
enum column_unit {
	UNIT_NUMBER,	  /* an integer */
	UNIT_DURATION,	  /* ns, or ticks */
	UNIT_TIME,	  /* ns, or ticks, from the clock's start */
	UNIT_PERCENT,	  /* a decimal, kept as the next one is */
	UNIT_THOUSANDTHS, /* a decimal with three places, kept as an integer 1000 times as large */
};

enum column_flags {
	COLUMN_OF_CALLS = 1,	 /* empty for a group without calls */
	COLUMN_OF_FIELD = 2,	 /* written NAME(F) */
	COLUMN_PERCENTILE = 4,	 /* written pN */
	COLUMN_UNIQ = 8,	 /* counts different values */
	COLUMN_OF_PAIRS = 32,	 /* of --pair alone */
	COLUMN_OF_TIMES = 64,	 /* empty for a group without calls and parts of calls */
	COLUMN_OF_MEMORY = 1024, /* of pairs that are memory */
	COLUMN_OF_RUN = 256,	 /* a part of the time of the whole run */
	COLUMN_SUM = 128,	 /* 0 for no call or event; others have no value then */
	COLUMN_TOTALS = 512,	 /* needs to know which calls are recursive */
	COLUMN_RATE = 16,	 /* needs times of the whole run, and a clock that counts ns */
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
	PART_MEMORY,
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

/*
 * The columns of trstat: their names, and their values for a group.
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
 *     sum(F) min(F) max(F) avg(F) pN(F) uniq(F)      of a field of the events, or of dur (or total)
 *                                                    or self, the times of a call
 *     running runnable sleeping blocked iowait irq offcpu unknown
 *                                                    sum(F) of the time that the thread of a call
 *                                                    was so (common/scheduling/states.h)
 */

struct column {
	char *name; /* as the user wrote it */
	const struct column_type *type;
	uint64_t numerator, denominator; /* COLUMN_PERCENTILE */
	uint32_t field;			 /* COLUMN_OF_FIELD: index into wanted.field */
	bool duration; /* COLUMN_OF_FIELD: the field is the time of a call, or part of it */
	bool weight;   /* durations are weights of samples that are no times */
	bool ns;       /* durations are weights in ns, whatever the clock counts */
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
	uint64_t stray; /* number of events before first that are not of the run */
	/* the parts of the run that the streams cover, which may lie apart; 0: all of it is one */
	const struct time_span *parts;
	size_t nparts;
	uint64_t bucket; /* width of the groups' buckets of time; 0: groups are of the whole run */
	size_t bucket_key; /* 1 + the index of the key that is the bucket; 0: bucket_begin has it */
	uint64_t bucket_begin; /* of all values that are computed with this run */
};

/* Get the number of parts of a run. */
static inline size_t columns_run_parts(const struct columns_run *run)
{
	return run->nparts ? run->nparts : 1;
}

static inline struct time_span columns_run_part(const struct columns_run *run, size_t i)
{
	return run->nparts ? run->parts[i] : (struct time_span){run->first, run->last};
}

/* Get how much of the time from begin to end a run covers. */
static inline uint64_t columns_run_time(const struct columns_run *run, uint64_t begin, uint64_t end)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < columns_run_parts(run); i++) {
		struct time_span part = columns_run_part(run, i);
		uint64_t first = begin > part.since ? begin : part.since,
			 last = end < part.last ? end : part.last;

		if (first < last)
			add_saturated(&sum, last - first);
	}
	return sum;
}

enum { COLUMN_WORDS_SIZE = 600 };
/* Add the names of all columns, separated by blanks, and some percentiles, to the words of an
 * option (common/cli/program.h). Those of fields are "sum(F)". */
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

/* Hint for mixed clocks */
#define CLOCKS_HINT "only counts (-c count) apply to both"

void columns_free(struct columns *c);

/* Get the index in wanted.field of the field of that name, or -1. */
int columns_field(const struct columns *c, const char *name);

enum column_unit column_unit(const struct column *c);

/* Returns true for a value of a field, whose unit is not known, such as ns of a tracepoint. */
static inline bool column_may_be_time(const struct column *c)
{
	return c->type->flags & COLUMN_OF_FIELD && !(c->type->flags & COLUMN_UNIQ);
}

/* Make all durations weights of samples: plain numbers, such as CPU cycles, or ns. */
void columns_set_weights(struct columns *c, bool ns);
/* Test whether values of a column are ticks, where the clock counts ticks. */
static inline bool column_counts_ticks(const struct column *c, bool ticks)
{
	enum column_unit unit = column_unit(c);

	return ticks && (unit == UNIT_TIME || (unit == UNIT_DURATION && !c->ns));
}

/* Get the unit of a column whose numbers show none: ticks, or the event that samples count; else
 * NULL. */
static inline const char *column_heading_unit(const struct column *c, bool ticks, const char *event)
{
	bool time = c->type->unit == UNIT_DURATION || c->duration;

	if (column_counts_ticks(c, ticks))
		return "ticks";
	return time && c->weight && !c->ns && !(c->type->flags & COLUMN_UNIQ) ? event : NULL;
}

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

/*
 * The order of trstat's rows.
 *
 * -s takes a comma-separated list of columns and group keys. Columns sort descending, group keys
 * ascending; "+" before a name means ascending, "-" descending. Empty cells are last either way.
 * Rows with equal sort keys are in ascending order of all their group keys (groups_compare), so the
 * order of the output depends on the rows alone.
 */

/* Compare values, or the cells of a key, in an order: empty ones are last in either. */
static inline int column_value_compare(const struct column_value *a, const struct column_value *b,
				       bool descending)
{
	int c = a->number != b->number ? (a->number > b->number ? 1 : -1)
				       : (a->fraction > b->fraction) - (a->fraction < b->fraction);

	if (!a->present || !b->present)
		return b->present - a->present;
	return descending ? -c : c;
}

static inline int compare_cells(const struct groups *g, const struct key_cell *a,
				const struct key_cell *b, bool descending)
{
	int c = groups_compare(g, a, b);

	return descending && a->kind != KEY_MISSING && b->kind != KEY_MISSING ? -c : c;
}

/* Zero-initialised sorts by the group keys. */
struct sort {
	struct {
		bool group_key; /* index is that of a group key, else of a column */
		bool descending;
		size_t index;
	} * key;
	size_t count;
	/* number of the group key, from 1, whose rows of one value stay together: values are in the
	   order of their first rows; 0: none */
	size_t together;
};

/*
 * Parse the argument of -s; keys are the names of the group keys. Columns that are not printed are
 * added to c, so this must precede the first aggregate. Returns -1 with e naming what is unknown.
 */
int sort_parse(struct sort *s, const char *list, const char *const *keys, size_t key_count,
	       struct columns *c, struct error *e);

/*
 * Returns the groups in order: an array of g->count pointers that the caller frees. NULL with e
 * filled when out of memory.
 */
const struct aggregate **sort_groups(const struct sort *s, const struct groups *g,
				     const struct columns *c, const struct columns_run *run,
				     struct error *e);

/*
 * Groups as rows of a table, human-readable or machine-readable.
 *
 *     table    aligned; durations scaled to us, ms or s, the group keys at the right
 *     tsv csv  a header line of the names as the user gave them, group keys first; plain integers
 *     json     one array with an object for each row, a row to a line
 *     ndjson   the same objects, one a line
 *     prom     metrics of Prometheus (prom.h)
 *     markdown the cells of table, as a table of Markdown
 *
 * Cells without a value are empty (table, tsv, csv) or null (json, ndjson).
 */

enum table_format {
	TABLE_ALIGNED,
	TABLE_TSV,
	TABLE_CSV,
	TABLE_JSON,
	TABLE_NDJSON,
	TABLE_PROM,
	TABLE_SVG,    /* by diff_write and views */
	TABLE_FOLDED, /* by run_why */
	TABLE_MARKDOWN,
	TABLE_TEXT, /* by run_report */
	TABLE_HTML, /* the same */
};

/* An interval of -i. */
struct interval {
	uint64_t time; /* its beginning: by the trace's clock, or ns since 1970 */
	uint64_t width;
	bool wall;
	bool first; /* no interval was printed before */
};

struct table {
	const struct groups *groups;
	const struct columns *columns;
	const char *const *keys; /* names of the group keys, groups->keys of them */
	const struct sort *sort;
	struct columns_run run;
	const struct keys *by; /* the keys that the first names are of; NULL: unknown */
	size_t hidden_key; /* 1 + the index of a key that an aligned table leaves out; 0: none */
	size_t optional;   /* number of first columns left out of an aligned table where empty */
	size_t usual;	   /* number of first columns that the user did not ask for */
	size_t limit;	   /* most rows; 0: all */
	bool more; /* aligned table: a last line counts the rows that the limit leaves out */
	struct screen *screen;
	bool ticks;			 /* the clock counts ticks */
	bool quiet;			 /* nothing is remarked on */
	bool samples;			 /* some calls are samples (statistics.c) */
	const char *event;		 /* that samples count, such as "cycles"; NULL: none */
	const struct interval *interval; /* interval of the table; NULL: everything */
	bool bounds;			 /* aligned table: a note on the error bounds below it */
	const char *title;		 /* of a picture; NULL: none */
	size_t part_bytes; /* most bytes of a picture that is part of a page; 0: it is a file */
};

/* Test whether durations are ns: times of calls, or weights of samples. Otherwise they have no unit
 * that is scaled. */
static inline bool table_durations_ns(const struct table *t)
{
	return !t->columns->weights && (!t->ticks || t->columns->ns);
}

/* Parse the name of a format: "table", "tsv", ...; -1 with e naming all of them. */
int table_format_parse(const char *name, enum table_format *format, struct error *e);
const char *table_format_name(enum table_format format);
/* Refuse a format of another view than that asked for (NULL: the table); -1 with e filled. */
int table_format_check(enum table_format format, const char *view, struct error *e);

/*
 * Write the table. Returns -1 with e filled when out of memory or, as far as already seen, writing
 * failed; the caller ends the text with text_flush.
 */
int table_write(const struct table *t, enum table_format format, struct text *out, struct error *e);

/*
 * Returns a line without newline on the exactness of the columns, for --bounds; NULL if all are
 * exact. With machine formats the program prints it to stderr.
 */
const char *table_bounds(const struct columns *c);

/* Most rows of a human-readable table on a terminal, where -n is not given. */
enum { TABLE_ROWS = 50 };
/* How a user sees the columns that a small width leaves out. */
#define TABLE_HINT "-c NAMES or --width=0 shows them, or | less -RS"
/* Write the last line of a table that lacks this number of rows, unless that is 0. */
void table_put_more(struct text *out, size_t rows);

/*
 * Rows of cells in machine formats: tsv, csv, json and ndjson.
 *
 *     cells_begin(&c, out, TABLE_TSV, names, 3);
 *     for each row: three of cells_text, cells_number, cells_none
 *     cells_end(&c);
 *
 * Only these functions write the header line, separators, quotes and brackets of the formats.
 */

struct cells {
	struct text *out;
	enum table_format format;
	const char *const *names;
	size_t count; /* number of cells in a row, at least 1 */
	size_t at;    /* index of the next cell */
	bool rows;    /* a row was written */
};

/* Start a table; the count names belong to the caller. Not for TABLE_ALIGNED and TABLE_PROM. */
void cells_begin(struct cells *c, struct text *out, enum table_format format,
		 const char *const *names, size_t count);
void cells_end(struct cells *c);

void cells_text(struct cells *c, const char *p, size_t n);
/* Write digits unchanged. */
void cells_number(struct cells *c, const char *digits, size_t n);
void cells_u64(struct cells *c, uint64_t number);
/* Write a number, or none if it is not known. */
void cells_integer(struct cells *c, bool known, int128 number);
void cells_none(struct cells *c);
/* Write a group's key. */
void cells_key(struct cells *c, const struct groups *g, const struct key_cell *cell);
void cells_value(struct cells *c, const struct column *column, struct column_value v);

/* --- the writers that table_write calls, one file each --- */

/* The rows to be written, in order. */
struct table_rows {
	enum table_format format;
	const struct table *table;
	const struct aggregate *const *row;
	size_t count;
	size_t left_out; /* number of rows that the last line of the table counts */
};

/* Keep the first rows, as many as the table's limit allows. */
void rows_limit(struct table_rows *rows);

/* Write the rows unchanged, in rows->format. */
int table_write_rows(const struct table_rows *rows, struct text *out, struct error *e);

/* Size of a buffer for any value, its sign, point, unit and NUL. */
#define VALUE_SIZE 48
/* The same of a value that is present, of floats too: those have their shortest digits. */
size_t format_number(char out[static VALUE_SIZE], enum column_unit unit, struct column_value v);

/* Format an integer key cell for machine formats. */
size_t format_key(char out[static VALUE_SIZE], const struct key_cell *cell);

/* Format an integer cell of the key with that number for a human-readable table: a key of times as
 * a time, unless they are ticks. by may be NULL. */
size_t format_key_aligned(char out[static VALUE_SIZE], const struct keys *by, size_t key,
			  const struct key_cell *cell, bool ticks);

/*
 * Format a duration of ns, which may be negative, in us, ms or s with three decimals, by integer
 * division, so that the digits shown are digits of the value: 999999 ns is 999.999 us. Ticks have
 * no unit. A point in time is in seconds with nine decimals.
 */
size_t format_duration(char out[static VALUE_SIZE], int128 duration, bool ticks);
size_t format_time(char out[static VALUE_SIZE], uint64_t ns);

/* Format the beginning of an interval: its trace time, or the local time of the wall clock. */
void format_interval(char out[static VALUE_SIZE], const struct interval *i, bool ticks);

/* Append the texts of the first n keys of groups with the table's keys: "fib, 4123". Returns 0, or
 * -1 when out of memory. */
int table_group_name(const struct table *t, const struct groups *g, const struct key_cell *cells,
		     size_t n, struct buffer *to);

/* Format a column's value with its unit, "" where there is none; ticks have no unit. */
size_t format_column(char out[static VALUE_SIZE], const struct column *column,
		     struct column_value v, bool ticks);

/*
 * Bars in a terminal.
 *
 * With the block elements of Unicode where the output is a terminal and the locale's characters are
 * UTF-8, with ASCII elsewhere.
 */

enum { PLOT_WIDTH = 80 }; /* width of a line where the output is not a terminal */

/* Returns true if this output can show UTF-8. */
bool plot_utf8(const struct output *o);

/* Write a bar of value / max of width characters: with UTF-8 in eighths of a character, and
 * visible if value is not 0. Returns its width in characters. */
size_t plot_bar(struct text *out, uint64_t value, uint64_t max, size_t width, bool utf8);

/* Write one character whose height shows value / max; a blank for 0. */
void plot_level(struct text *out, uint64_t value, uint64_t max, bool utf8);

#endif
