/*
 * table.h - groups as rows of a table, human-readable or machine-readable
 *
 *     table    aligned; durations scaled to us, ms or s, the group keys at the right
 *     tsv csv  a header line of the names as the user gave them, group keys first; plain integers
 *     json     one array with an object for each row, a row to a line
 *     ndjson   the same objects, one a line
 *     prom     metrics of Prometheus (prom.h)
 *
 * Cells without a value are empty (table, tsv, csv) or null (json, ndjson).
 */
#ifndef TR_TRSTAT_TABLE_TABLE_H
#define TR_TRSTAT_TABLE_TABLE_H

#include "common/util/error.h"
#include "common/util/text.h"
#include "cmd/trstat/table/columns.h"
#include "common/pairs/keys.h"
#include "cmd/trstat/table/sort.h"

#include <stdbool.h>
#include <stddef.h>

enum table_format {
	TABLE_ALIGNED,
	TABLE_TSV,
	TABLE_CSV,
	TABLE_JSON,
	TABLE_NDJSON,
	TABLE_PROM,
	TABLE_SVG, /* of --diff only, by diff_write */
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
	size_t optional; /* number of first columns left out of an aligned table where empty */
	size_t limit;	 /* most rows; 0: all */
	bool more;	 /* aligned table: a last line counts the rows that the limit leaves out */
	unsigned width;	 /* of the terminal, to which long texts are elided; 0: nothing is elided */
	bool ticks;	 /* the clock counts ticks */
	bool quiet;	 /* nothing is remarked on */
	bool samples;	 /* some calls are samples (statistics_samples.c) */
	const struct interval *interval; /* interval of the table; NULL: everything */
	bool bounds;			 /* aligned table: a note on the error bounds below it */
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
/* Write the last line of a table that lacks this number of rows, unless that is 0. */
void table_put_more(struct text *out, size_t rows);

/* Returns the width of the terminal at fd: COLUMNS if it is a number, else the terminal's own;
 * else 0. */
unsigned table_terminal_width(int fd);

#endif
