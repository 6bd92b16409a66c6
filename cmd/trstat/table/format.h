/*
 * format.h - the writers that table_write calls, one file each
 */
#ifndef TR_TRSTAT_TABLE_FORMAT_H
#define TR_TRSTAT_TABLE_FORMAT_H

#include "cmd/trstat/table/table.h"

/* The rows to be written, in order. */
struct rows {
	enum table_format format;
	const struct table *table;
	const struct aggregate *const *row;
	size_t count;
	size_t left_out; /* number of rows that the last line of the table counts */
};

/* Keep the first rows, as many as the table's limit allows. */
void rows_limit(struct rows *rows);

struct format {
	const char *name;
	int (*write)(const struct rows *rows, struct text *out, struct error *e);
};

/* Write the rows unchanged, in rows->format. */
int table_write_rows(const struct rows *rows, struct text *out, struct error *e);

int format_aligned(const struct rows *rows, struct text *out, struct error *e);
int format_cells(const struct rows *rows, struct text *out, struct error *e);

/* Size of a buffer for any value, its sign, point, unit and NUL. */
#define VALUE_SIZE 48

/* Format a value, which must be present, for machine formats: an integer, or three decimals. */
size_t format_value(char out[static VALUE_SIZE], enum column_unit unit, int128 number);
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

/* Format a column's value with its unit, "" where there is none; ticks have no unit. */
size_t format_column(char out[static VALUE_SIZE], const struct column *column,
		     struct column_value v, bool ticks);

/* Returns the width of a text on a terminal in characters. */
size_t format_characters(const char *p, size_t n);
/* Write a text in at most width characters, its middle left out if necessary, unprintable
 * characters as '?'. Returns its width. */
size_t format_elided(struct text *out, const char *p, size_t n, size_t width);

#endif
