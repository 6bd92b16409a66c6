/*
 * rows_table.h - the rows of JSON lines, csv, tsv and Arrow: columns, --map, cells and times
 */
#ifndef TR_TRDECODE_ROWS_TABLE_H
#define TR_TRDECODE_ROWS_TABLE_H

#include "cmd/trdecode/frames.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/rows_arrow.h"
#include "common/value/json.h"

#define IN_SECOND 1000000000ull

enum { IN_COLUMNS_MOST = 4096 }; /* distinct names of columns */

enum in_format { IN_NDJSON, IN_CSV, IN_TSV, IN_ARROW };

/* What a column is. */
enum in_role {
	IN_TIME,
	IN_DUR,
	IN_END,
	IN_PID,
	IN_TID,
	IN_CPU,
	IN_DEPTH,
	IN_LINE,
	IN_WEIGHT,
	IN_WEIGHT_TOTAL, /* of a sum of calls */
	IN_WEIGHT_COUNT,
	IN_NAME,
	IN_TYPE,
	IN_GROUP,
	IN_COMM,
	IN_FILE,
	IN_MODULE,
	IN_KIND,
	IN_UNFINISHED,
	IN_WEIGHT_UNIT,
	IN_TIME_UNIT,
	IN_NESTING,
	IN_ERROR,
	IN_STACK,
	IN_ARGS,  /* its members are fields */
	IN_VALUE, /* a field, and the row is a counter */
	IN_ROLES,
	IN_FIELD = IN_ROLES, /* a field of the event */
	IN_SKIPPED,	     /* follows from other columns */
	IN_INSIDE,	     /* an object, of which a member has a role */
};

/* What a call nests in: the calls of its thread, those of its CPU, none, those of its thread in the
 * kernel, or any of its thread, which is scheduled out meanwhile. */
enum in_nesting { IN_OF_THREAD, IN_OF_CPU, IN_OF_NONE, IN_OF_KERNEL, IN_INNER, IN_NESTINGS };

/* How the times of a column are written. */
struct in_times {
	uint64_t scale;	     /* ns of an integer; 0: not known */
	bool ticks;	     /* the clock counts ticks */
	bool named;	     /* ns by the name of the column: numbers with a point are seconds */
	bool points, whole;  /* without a unit: numbers with a point were read, and without one */
	const char *pattern; /* of strptime; NULL: a number, or ISO 8601 */
	const char *after;   /* what follows %f in the pattern, the fraction; NULL: none */
};

enum in_value { IN_VALUE_ANY, IN_VALUE_INT, IN_VALUE_REAL, IN_VALUE_TEXT };

/* A column, or a constant of --map. */
struct in_column {
	enum in_role role;
	enum in_value form;    /* of a field */
	bool looked_text, any; /* csv: values that were looked at */
	bool looked_real;
	uint32_t name;	  /* string of the writer: of the field */
	const char *text; /* as the input names it; of a constant its text */
	size_t size;
	struct in_times times;
};

/* A row, while it is read. */
struct in_row {
	uint32_t present; /* bits by role */
	uint64_t time, dur, end, weight, total, calls;
	int64_t pid, tid, cpu, depth, line;
	uint32_t texts[IN_KIND - IN_NAME]; /* by role from IN_NAME on: strings of the writer */
	uint8_t kind;			   /* enum type_kind; KIND_COUNT: not given */
	bool unfinished, negative, timed;  /* negative, timed: the weight */
	bool ticks;
	uint8_t nesting; /* of a call: enum in_nesting */
	bool has_return;
	uint32_t nvalues;
	uint32_t stack, frame; /* of the writer: the callers, and the name of the innermost frame;
				  0 none */
	bool in_args;	       /* the stack is a member of args: it is no field of its own */
	uint32_t return_at;    /* offset of the return value in the values */
	uint16_t error;	       /* that was returned, by its name; 0 none */
};

/* A table of which rows are read. */
struct rows_table {
	struct input *input;
	struct writer *w;
	struct input_lines lines;
	enum in_format format;
	struct arrow_input arrow; /* of IN_ARROW */
	/* the columns are those of trencode: rows come in the order of their ends, and have
	 * nestings */
	bool of_trencode;
	bool checked; /* the columns are known to have a time */
	bool begun;   /* a row was read */
	struct in_column *columns;
	size_t ncolumns, columns_capacity;
	struct id_cache names;	/* by text: number + 1 */
	struct in_column *maps; /* of --map: text is the input's name; constants */
	size_t nmaps, maps_capacity, nconstants;
	struct in_column *constants;
	size_t constants_capacity;
	char *map;	 /* the option's text, cut at its commas */
	uint32_t *order; /* csv: columns by place */
	size_t norder, order_capacity;
	size_t guess; /* ndjson: the next column, if the keys are in the order of the line before */
	bool listed;  /* ndjson: rows are in the brackets of a list */
	struct in_row row;
	struct buffer values; /* of the row: u32 name, u32 size, value */
	struct error fault;   /* why the row is left out */
	const char *why;      /* a time cannot be read: what follows in the message */
	/* lines that are read again after a record without an end, and the record of several */
	struct buffer again, record, cell, json_text, path;
	size_t again_at;
	uint64_t again_offset, reread, row_offset;
	struct json_reader json, frames_json;
	struct nested_json objects;
	struct frame_locations locations;
	struct in_cell *cells; /* of a record of csv: IN_COLUMNS_MOST */
	size_t ncells;
	uint32_t texts_return; /* "ret" */
	char when[512];	       /* a time, for strptime */
	int64_t minute;	       /* seconds since 1970 of the minute of minute_text; its text */
	char minute_text[20];
	int minute_zone;		 /* enum in_zone */
	uint64_t unlike, beyond_columns; /* values that do not fit their column; fields beyond
					    IN_COLUMNS_MOST */
};

/* Bid for an input as a table of a format. */
enum bid rows_table_probe(const struct input *in, enum in_format format);
/* Begin with a table, which is zero-initialised, and read --map. Returns 0, or -1 with *e filled.
 * The table is to be closed in any case. */
int rows_table_open(struct rows_table *r, struct input *in, enum in_format format, struct error *e);
/* Read the next row that has a time; of csv and tsv, the header before the first. Rows that cannot
 * be read are damage. Returns 1; 0: no more; -1 with *e filled. */
int rows_table_next(struct rows_table *r, struct error *e);
void rows_table_close(struct rows_table *r);

static inline bool table_row_has(const struct in_row *row, enum in_role role)
{
	return row->present >> role & 1;
}

/* Get a text of the row; 0: it has none. */
static inline uint32_t table_row_text(const struct in_row *row, enum in_role role)
{
	return row->texts[role - IN_NAME];
}

/* NULL: no column has that role. */
static inline struct in_column *table_column_of_role(struct rows_table *r, enum in_role role)
{
	for (size_t i = 0; i < r->ncolumns; i++)
		if (r->columns[i].role == role)
			return &r->columns[i];
	return NULL;
}

/* Add the innermost frame to the stack of its callers. */
static inline int table_row_push_frame(struct rows_table *r)
{
	uint32_t location;

	if (!r->row.frame)
		return 0;
	location = frame_location(&r->locations, &(struct named_frame){.name = r->row.frame});
	r->row.stack = location ? writer_stack(r->w, r->row.stack, location) : 0;
	return r->row.stack ? 0 : -1;
}

#endif
