/*
 * parquet_file.h - an Apache Parquet file, written front to back
 *
 * Values are collected by column until a row group is full, and then written, each column as one
 * page that snappy compresses. A row group has a dictionary of its names. All columns may be null.
 * A function that returns int returns 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_TABLE_PARQUET_FILE_H
#define TR_TRENCODE_TABLE_PARQUET_FILE_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"
#include "common/util/output.h"

enum parquet_kind {
	PARQUET_TIME,
	PARQUET_SMALL,
	PARQUET_FLAG,
	PARQUET_INT, /* 64 bits, signed */
	PARQUET_REAL,
	/* texts */
	PARQUET_NAME,
	PARQUET_OBJECT
};

enum {
	PARQUET_ROWS = 64 * 1024,	 /* of a row group, at most */
	PARQUET_BYTES = 4 * 1024 * 1024, /* of its objects */
};

/* One column of the present row group. */
struct parquet_column {
	const char *name;
	enum parquet_kind kind;
	uint8_t *present; /* by row */
	size_t values;	  /* number of present values */
	struct buffer data;
	/* TIME: over the row group */
	uint64_t lowest, highest;
	uint64_t clamped;  /* number of values above INT64_MAX */
	uint64_t left_out; /* number of values of another kind */
	/* NAME */
	struct buffer dictionary;
	uint32_t words, *word; /* by string of the stream's dictionary: its index + 1 */
	size_t nwords;
	/* offsets of its pages in the file, and their bytes */
	uint64_t dictionary_at, data_at, packed, unpacked;
};

/* One file. */
struct parquet_file {
	struct output *out;
	const struct dictionary *strings;
	struct parquet_column *columns;
	size_t ncolumns;
	size_t rows; /* of the present row group */
	uint64_t offset, total, ngroups;
	struct buffer groups; /* their metadata for the footer */
	struct buffer page, packed, header;
};

int parquet_open(struct parquet_file *f, struct output *out, const struct dictionary *strings,
		 size_t ncolumns, struct error *e);
/* The caller sets the names and kinds in columns[] before the first row, or the end. */

/* Add one cell of the present row. These return 0, or -1 when out of memory. */
int parquet_number(struct parquet_column *c, size_t row, uint64_t n);
int parquet_name(struct parquet_file *f, struct parquet_column *c, size_t row, uint32_t string);
int parquet_object(struct parquet_column *c, size_t row, const struct buffer *text);
int parquet_real(struct parquet_column *c, size_t row, double real);
/* Complete the row. */
int parquet_row(struct parquet_file *f, struct error *e);

int parquet_finish(struct parquet_file *f, const char *created_by, struct error *e);
void parquet_free(struct parquet_file *f);

#endif
