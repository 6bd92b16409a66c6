/*
 * event_rows.h - events as rows of a table, for csv, tsv, ndjson and parquet
 *
 * A call is one row, written at its end. Each other event is one row, too.
 *
 * A function that returns int returns 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_TABLE_EVENT_ROWS_H
#define TR_TRENCODE_TABLE_EVENT_ROWS_H

#include "cmd/trencode/encoder.h"
#include "cmd/trencode/convert/location_names.h"
#include "cmd/trencode/table/field_columns.h"
#include "cmd/trencode/timeline/spans.h"

enum row_column {
	ROW_TIME,
	ROW_DUR,
	ROW_TYPE,
	ROW_PID,
	ROW_TID,
	ROW_CPU,
	ROW_COMM,
	ROW_NAME,
	ROW_DEPTH,
	ROW_FILE,
	ROW_LINE,
	ROW_ARGS,
	/* only with -c */
	ROW_KIND,
	ROW_SELF,
	ROW_CALLER,
	ROW_RECURSIVE,
	ROW_UNFINISHED,
	ROW_GROUP,
	ROW_MODULE,
	ROW_CLASS,
	ROW_INPUT,
	ROW_STACK,
	ROW_WEIGHT,
	ROW_COLUMNS, /* from here on those of event_rows.fields */
	ROW_ALL = ROW_COLUMNS + FIELD_COLUMNS
};

/* The values of a column. */
enum row_form {
	COLUMN_TIME,   /* u64: ns or ticks */
	COLUMN_WEIGHT, /* i64; larger ones count as INT64_MAX */
	COLUMN_SMALL,  /* i32 */
	COLUMN_FLAG,   /* 0 or 1 */
	COLUMN_NAME,   /* a string of the dictionary, often repeated */
	COLUMN_OBJECT, /* JSON */
	COLUMN_FIELD,  /* see row_field */
};

/* One cell of a row. */
struct row_cell {
	uint64_t number;	     /* NAME: number of the string */
	const struct buffer *object; /* OBJECT: never empty; valid until the next row */
};

/* One table. The state of an encoder begins with it. */
struct event_rows {
	struct spans spans;
	struct location_names locations; /* only their numbers are used */
	struct attributes attributes;
	struct buffer bytes, json, stack;
	bool drop, wants_args;
	uint8_t columns[ROW_ALL]; /* enum row_column, in the order of the output */
	size_t ncolumns;
	uint32_t wanted;		    /* columns as bits */
	struct row_cell cells[ROW_COLUMNS]; /* of one row, by enum row_column */
	uint32_t present;		    /* bits: the cells that the row has */
	struct field_columns fields;
	/* write the row in cells; the format's */
	int (*write)(struct event_rows *r, struct error *e);
};

static inline bool row_has(const struct event_rows *r, enum row_column c)
{
	return r->present >> c & 1;
}

/* Get the cell of a COLUMN_FIELD; NULL: the row has none. */
static inline const struct attribute *row_field(const struct event_rows *r, enum row_column c)
{
	return r->fields.cells[c - ROW_COLUMNS];
}

const char *row_column_name(const struct event_rows *r, enum row_column c);
enum row_form row_column_form(enum row_column c);

/*
 * Allocate the state of an encoder in en->state, all zero but for its rows. Returns en->state, or
 * NULL with *e filled (out of memory, or an unknown column); the encoder's free() frees en->state
 * in both cases.
 */
void *event_rows_begin(struct encoding *en, size_t state_size,
		       int (*write)(struct event_rows *r, struct error *e), struct error *e);
int event_rows_meta(struct encoding *en, const struct meta *m, struct error *e);
int event_rows_event(struct encoding *en, const struct event *ev, struct error *e);
int event_rows_end(struct encoding *en, struct error *e);
/* Check, at the end, that events have the fields that are columns. partial: declarations may be
 * missing. */
int event_rows_check(struct encoding *en, bool partial, struct error *e);
void event_rows_free(struct event_rows *r);

#endif
