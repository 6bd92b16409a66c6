/*
 * table.h - tables of events: csv, tsv, ndjson
 */
#ifndef TR_TRENCODE_TABLE_H
#define TR_TRENCODE_TABLE_H

#include "cmd/trencode/attributes.h"
#include "cmd/trencode/convert.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/spans.h"
#include "common/value/scalar.h"

/*
 * Fields of events, arguments and return values as columns of a table.
 *
 * A column is named as a key elsewhere: next_comm, arg.1, arg.NAME, ret; or, with a dot before it,
 * as a field of which another column has the name: .pid. A call has what its enter and its leave
 * have, of both that of the leave.
 *
 * A function that returns int returns 0, or -1 when out of memory.
 */

enum { FIELD_COLUMNS = 100 }; /* at most, in a table */

/* What the values of a column are, by the declared types that have the field. */
enum field_form_of_column {
	FIELD_COLUMN_NONE, /* no type has it */
	FIELD_COLUMN_INT,  /* integers of at most 64 bits */
	FIELD_COLUMN_REAL,
	FIELD_COLUMN_TEXT, /* texts, names of numbers, arguments; or several of these */
};

struct field_columns {
	struct text_ref columns[FIELD_COLUMNS];	      /* as written */
	struct text_ref names[FIELD_COLUMNS];	      /* of the fields */
	const struct attribute *cells[FIELD_COLUMNS]; /* of one row; NULL: it has none */
	size_t count;
	struct attributes attributes;
	struct buffer bytes; /* the attributes of the row */
	uint32_t *fields;    /* by type and column: 2 + index of the field, 1 none, 0 not known */
	size_t nfields;
};

enum field_form_of_column field_columns_form(const struct field_columns *c, size_t column);

/*
 * Events as rows of a table, for csv, tsv, ndjson and parquet.
 *
 * A call is one row, written at its end. Each other event is one row, too.
 *
 * A function that returns int returns 0, or -1 with *e filled.
 */

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
