/*
 * parquet_file.h - an Apache Parquet file, written front to back
 *
 * Values are collected column by column until a row group is full, and then written, each column as
 * one page that snappy has compressed. Names go through a dictionary of the row group. All columns
 * may be null. Functions return 0, or -1 with e filled.
 */
#ifndef TR_TRENCODE_TABLE_PARQUET_FILE_H
#define TR_TRENCODE_TABLE_PARQUET_FILE_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"
#include "common/util/output.h"

enum parquet_kind { PARQUET_TIME, PARQUET_SMALL, PARQUET_FLAG, PARQUET_NAME, PARQUET_OBJECT };

enum {
	PARQUET_ROWS = 64 * 1024,	 /* of a row group, at most */
	PARQUET_BYTES = 4 * 1024 * 1024, /* of its objects */
};

struct parquet_column {
	const char *name;
	enum parquet_kind kind;
	uint8_t *present; /* by row */
	size_t values;	  /* that are present */
	struct buffer data;
	/* TIME: over the row group */
	uint64_t lowest, highest, clamped; /* clamped: were above INT64_MAX */
	/* NAME */
	struct buffer dictionary;
	uint32_t words, *word; /* by string of the stream's dictionary: its index + 1 */
	size_t nwords;
	/* of what was written */
	uint64_t dictionary_at, data_at, packed, unpacked;
};

struct parquet_file {
	struct output *out;
	const struct dictionary *strings;
	struct parquet_column *columns;
	size_t ncolumns;
	size_t rows; /* of the present row group */
	uint64_t offset, total, ngroups;
	struct buffer groups; /* what the footer says of them */
	struct buffer page, packed, header;
};

int parquet_open(struct parquet_file *f, struct output *out, const struct dictionary *strings,
		 size_t ncolumns, struct error *e);
/* Columns are named and typed by the caller, in columns[], before the first row. */

/* One cell of the present row; -1: out of memory. */
int parquet_number(struct parquet_column *c, size_t row, uint64_t n);
int parquet_name(struct parquet_file *f, struct parquet_column *c, size_t row, uint32_t string);
int parquet_object(struct parquet_column *c, size_t row, const struct buffer *text);
/* The row is complete. */
int parquet_row(struct parquet_file *f, struct error *e);

int parquet_finish(struct parquet_file *f, const char *created_by, struct error *e);
void parquet_free(struct parquet_file *f);

#endif
