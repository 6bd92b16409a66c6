/*
 * dataset.h - the rows of tables by columns, as Parquet and Arrow write them
 *
 *     call        time    100  160        each column has a cell for each row: its bytes,
 *                 name    "a"  "b"        and whether the row has a value
 *                 ret          -2
 *
 * Rows are collected in a sheet, until a group of them is full. The format then writes the group,
 * and the sheet is empty again. dataset.c has the tables of a stream, puts events in them, and
 * gives each table its file.
 *
 * A function that returns int returns 0, or -1 with *e filled; without e, or -1 when out of memory.
 */
#ifndef TR_TRENCODE_DATASET_H
#define TR_TRENCODE_DATASET_H

#include "cmd/trencode/table.h"
#include "cmd/trencode/tree_output.h"
#include "common/util/intern.h"

enum { SHEET_ROWS = 64 * 1024 }; /* of a group, at most */

/* The values of a column. */
enum cell_kind {
	CELL_TIME,     /* u64: ns or ticks, at most INT64_MAX; with sheet.wall: ns since 1970 */
	CELL_SPAN,     /* u64: the time between two events, as above */
	CELL_SMALL,    /* i32 */
	CELL_FLAG,     /* u8: 0 or 1 */
	CELL_INT,      /* i64 */
	CELL_UNSIGNED, /* u64 */
	CELL_REAL,     /* double */
	CELL_NAME,     /* u32: a string of the dictionary, often repeated */
	CELL_TEXT,     /* u64: the offset of its end in bytes */
	CELL_LABEL,    /* the same, of few distinct texts */
	CELL_STACK,    /* u32: a stack of the dictionary, a list of frames */
};

/* One column of the present group. */
struct sheet_column {
	const char *name;
	enum cell_kind kind;
	struct buffer present; /* by row: 1, or 0 */
	struct buffer data;    /* by row: the value; 0 where there is none */
	struct buffer bytes;   /* of texts */
	size_t values;	       /* number of present values */
};

/* One table in one file. */
struct sheet {
	const char *table;
	struct sheet_column *columns;
	size_t ncolumns, nrows;
	size_t row_size;    /* bytes of the cells of a row without texts */
	size_t texts;	    /* bytes of the texts and frames, about */
	bool wall;	    /* CELL_TIME is ns since 1970, UTC */
	const char *clock;  /* name of the clock of CELL_TIME; "" unknown */
	int64_t day;	    /* of all rows, since 1970; NO_DAY: not known, or not only one */
	uint32_t *order;    /* rows in the order of their times; NULL: as they were put */
	struct output *out; /* NULL: a member of tree */
	struct tree_output *tree;
	uint32_t member;
	uint64_t offset; /* bytes written */
	struct dictionary *dictionary;
	void *file; /* the format's */
};

/* Get the number of the row that is written as row i. */
static inline size_t sheet_row(const struct sheet *s, size_t i)
{
	return s->order ? s->order[i] : i;
}

/* Get the bytes of a cell in data. */
static inline unsigned cell_width(enum cell_kind kind)
{
	switch (kind) {
	case CELL_FLAG: return 1;
	case CELL_SMALL:
	case CELL_NAME:
	case CELL_STACK: return 4;
	default: return 8;
	}
}

/* Test for a text that is in bytes. */
static inline bool cell_is_text(enum cell_kind kind)
{
	return kind == CELL_TEXT || kind == CELL_LABEL;
}

/* Get the text of a row: its offset in bytes, and its size. */
static inline size_t sheet_text(const struct sheet_column *c, size_t row, size_t *n)
{
	size_t from = row ? get_u64(c->data.data + 8 * (row - 1)) : 0;

	*n = get_u64(c->data.data + 8 * row) - from;
	return from;
}

/*
 * The frames of a stack that are written, the innermost first. Those above STACK_FRAMES others are
 * one frame, STACK_DEEPER.
 */

enum { FRAME_NAME, FRAME_FILE, FRAME_LINE, FRAME_MODULE, FRAME_PARTS };
extern const char *const frame_parts[FRAME_PARTS]; /* their names */

/* One frame. */
struct sheet_frame {
	uint32_t stack; /* the next one; 0: it is the last */
	/* of texts numbers of strings of the dictionary, 0: none */
	uint32_t parts[FRAME_PARTS];
};

/* Get the frame of a stack. -1: out of memory. */
int sheet_frame(const struct sheet *s, uint32_t stack, struct sheet_frame *f);

/* The distinct texts of a group, by number in the order of their first rows. */
struct sheet_words {
	struct intern texts; /* valid UTF-8 */
	uint32_t *known;     /* by string of the dictionary: number + 1; 0: not known */
	size_t nknown;
	struct buffer used;  /* u32 each: strings in known */
	struct buffer clean; /* a text, as UTF-8 */
	size_t bytes;	     /* of the texts */
};

/* Get the number of a string of the dictionary, or of a text; INTERN_NONE: out of memory. */
uint32_t sheet_word(struct sheet_words *w, const struct sheet *s, uint32_t string);
uint32_t sheet_word_text(struct sheet_words *w, const void *text, size_t n);
void sheet_words_clear(struct sheet_words *w);
void sheet_words_free(struct sheet_words *w);

/* Write bytes to the file of a sheet. */
int sheet_write(struct sheet *s, const void *p, size_t n, struct error *e);

/* A format of files that have sheets. */
struct sheet_format {
	const char *suffix; /* ".parquet" */
	/* begin the file, whose columns have their kinds; before group and end */
	int (*begin)(struct sheet *s, struct error *e);
	/* write the rows as a group; all cells of the columns are there */
	int (*group)(void *state, struct sheet *s, struct error *e);
	int (*end)(void *state, struct sheet *s, struct error *e);
	void (*free)(struct sheet *s); /* free s->file */
};

/* A table of a data set: the sheets of its rows, one for each day. */
struct dataset_table {
	struct text_ref name;
	uint32_t *sheets; /* numbers in dataset.sheets */
	size_t nsheets, capacity;
	struct dataset_field *fields; /* of the columns after the usual ones */
	size_t nfields;
	const uint8_t *usual; /* enum row_column, or more, of its columns; ends with 0xff */
	bool wanted;
};

/* What was seen of a lane. */
struct dataset_lane {
	uint64_t first, last, events;
};

struct dataset_states;

/* The tables of an encoder. */
struct dataset {
	struct event_rows rows;
	const struct sheet_format *format;
	void *state;	       /* the format's */
	const char *only;      /* the table that is written; NULL: the rows, or all tables */
	const char *partition; /* --partition; NULL: none */
	bool parts;
	struct output *out;
	struct tree_output tree;
	struct sheet **sheets;
	size_t nsheets, capacity;
	size_t held; /* bytes of all their rows, about */
	struct dataset_table *tables;
	size_t ntables, tables_capacity;
	uint32_t *table_of; /* by type: number of the table + 1; 0: not known */
	size_t ntable_of;
	struct dataset_lane *lanes; /* by number */
	size_t nlanes;
	struct dataset_states *states; /* NULL: no state table */
	uint64_t id, hashed;	       /* of the first events */
	const struct clock *clock;     /* of the last event */
	struct buffer command, host;
	uint64_t lost; /* by recorders */
	uint64_t clamped, left_out, timeless;
	struct attribute_source spelling;
	struct buffer scratch, compound;
};

/*
 * The functions of an encoder whose state is a struct dataset, which event_rows_begin allocates
 * with dataset_row. They come after those of the rows, dataset_free before.
 */
int dataset_row(struct event_rows *r, struct error *e);
int dataset_begin(struct encoding *en, const struct sheet_format *format, void *state,
		  struct error *e);
int dataset_head(struct encoding *en, const struct head *h, struct error *e);
int dataset_end(struct encoding *en, struct error *e);
void dataset_free(struct encoding *en);

#endif
