/*
 * table.h - calls and events as rows of a table
 *
 * A function that returns int returns 0, or -1 with *e filled; without e, or -1 when out of memory.
 */
#ifndef TR_TRENCODE_TABLE_H
#define TR_TRENCODE_TABLE_H

#include "cmd/trencode/attributes.h"
#include "cmd/trencode/spans.h"

struct states;

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

struct field_columns {
	struct text_ref columns[FIELD_COLUMNS];	      /* as written */
	struct text_ref names[FIELD_COLUMNS];	      /* of the fields */
	const struct attribute *cells[FIELD_COLUMNS]; /* of one row; NULL: it has none */
	size_t count;
	struct attributes attributes;
	struct buffer bytes; /* the attributes of the row */
	uint32_t *fields;    /* by type and column: 2 + index of the field, 1 none, 0 not known */
	size_t nfields;
	bool declared; /* only fields of types: no arguments */
};

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
	ROW_WEIGHT_TOTAL,
	ROW_WEIGHT_COUNT,
	ROW_WEIGHT_UNIT,
	ROW_TIME_UNIT,
	ROW_NESTING,
	/* times of calls in states (states.h); irq is a field of interrupts */
	ROW_RUNNING,
	ROW_RUNNABLE,
	ROW_SLEEPING,
	ROW_BLOCKED,
	ROW_IOWAIT,
	ROW_OFFCPU,
	ROW_UNKNOWN,
	ROW_COLUMNS, /* from here on those of event_rows.fields */
	ROW_ALL = ROW_COLUMNS + FIELD_COLUMNS
};

/* The values of a column. */
enum row_form {
	COLUMN_TIME,  /* u64: ns or ticks */
	COLUMN_SMALL, /* i32 */
	COLUMN_FLAG,  /* 0 or 1 */
	COLUMN_INT,   /* i64; of a weight, larger ones count as INT64_MAX */
	COLUMN_REAL,
	/* texts */
	COLUMN_NAME,   /* a string of the dictionary, often repeated */
	COLUMN_OBJECT, /* JSON, or any text */
	COLUMN_FIELD,  /* see row_field */
};

/* One table. The state of an encoder begins with it. */
struct event_rows {
	struct spans spans;
	struct location_names locations; /* only their numbers are used */
	struct location_names texts;	 /* of csv, tsv and ndjson: names as cells */
	struct buffer cell;		 /* while it is made */
	struct attributes attributes;
	struct buffer bytes;	   /* the attributes of a row */
	struct buffer args, stack; /* ROW_ARGS, ROW_STACK of the row: never empty if it has them */
	bool drop, wants_args;
	uint8_t columns[ROW_ALL]; /* enum row_column, in the order of the output */
	size_t ncolumns;
	uint64_t wanted; /* columns as bits */
	/* the other columns of one row, by enum row_column; of COLUMN_NAME numbers of strings */
	uint64_t numbers[ROW_COLUMNS];
	uint64_t present; /* bits: the cells that the row has */
	struct field_columns fields;
	const struct encode_options *options;
	/* of a worker: the thread of an unfinished call that was declared after the first rows, 0
	   none; there are several, whose order at the end is that in which they were declared */
	uint32_t late_thread;
	bool late_threads;
	struct states *states;	   /* of threads, if a column is the time in a state; else NULL */
	const struct event *event; /* of the row; NULL: a call */
	const struct lane *lane;
	bool typed; /* args are those of calls only: write has the event */
	/* called before an event is taken; NULL: is not */
	int (*before)(struct event_rows *r, const struct event *ev, struct error *e);
	/* write the row; the format's */
	int (*write)(struct event_rows *r, struct error *e);
	bool marks; /* ndjson without -c: rows that are no whole calls of their thread's stack or no
		       instants, have times in ticks, or an error with a name, have the columns of
		       ndjson_marks, by which trdecode reads them back; the only column of fields
		       is ret.name */
};

static inline bool row_has(const struct event_rows *r, enum row_column c)
{
	return r->present >> c & 1;
}

/* Get the cell of a COLUMN_OBJECT that the row has. */
static inline const struct buffer *row_object(const struct event_rows *r, enum row_column c)
{
	return c == ROW_ARGS ? &r->args : &r->stack;
}

/* Get the cell of a COLUMN_FIELD; NULL: the row has none. */
static inline const struct attribute *row_field(const struct event_rows *r, enum row_column c)
{
	return r->fields.cells[c - ROW_COLUMNS];
}

/* One column of enum row_column. */
struct row_column_kind {
	const char *name;
	enum row_form form;
};

extern const struct row_column_kind row_columns[ROW_COLUMNS];

static inline const char *row_column_name(const struct event_rows *r, enum row_column c)
{
	return c < ROW_COLUMNS ? row_columns[c].name : r->fields.columns[c - ROW_COLUMNS].text;
}

static inline enum row_form row_column_form(enum row_column c)
{
	return c < ROW_COLUMNS ? row_columns[c].form : COLUMN_FIELD;
}

/* Append the text of a field; render: how a text is appended. */
static inline int row_field_append(struct buffer *to, const struct attribute *cell,
				   int (*render)(struct buffer *, const char *, size_t))
{
	const struct plain_value plain = {
		.kind = cell->kind, .size = 8, .number = cell->number, .real = cell->real};

	return cell->kind < ATTRIBUTE_TEXT ? plain_append(to, &plain)
					   : render(to, cell->text, cell->number);
}

/*
 * The functions of an encoder whose state begins with a struct event_rows.
 *
 * event_rows_begin allocates the state in en->state, all zero but for its rows. It returns
 * en->state, or NULL with *e filled (out of memory, or an unknown column). The encoder's free()
 * frees en->state in both cases, with event_rows_free.
 */
void *event_rows_begin(struct encoding *en, size_t state_size,
		       int (*write)(struct event_rows *r, struct error *e), struct error *e);
int event_rows_meta(struct encoding *en, const struct meta *m, struct error *e);
int event_rows_event(struct encoding *en, const struct event *ev, struct error *e);
int event_rows_end(struct encoding *en, struct error *e);
/* Check, at the end, that events have the fields that are columns. partial: declarations may be
 * missing. */
int event_rows_check(struct encoding *en, bool partial, struct error *e);
void event_rows_free(struct encoding *en);

#endif
