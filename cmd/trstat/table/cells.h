/*
 * cells.h - rows of cells in machine formats: tsv, csv, json and ndjson
 *
 *     cells_begin(&c, out, TABLE_TSV, names, 3);
 *     for each row: three of cells_text, cells_number, cells_none
 *     cells_end(&c);
 *
 * Only these functions write the header line, separators, quotes and brackets of the formats.
 */
#ifndef TR_TRSTAT_TABLE_CELLS_H
#define TR_TRSTAT_TABLE_CELLS_H

#include "cmd/trstat/table/table.h"

struct cells {
	struct text *out;
	enum table_format format;
	const char *const *names;
	size_t count; /* number of cells in a row, at least 1 */
	size_t at;    /* index of the next cell */
	bool rows;    /* a row was written */
};

/* Start in the middle of a table: like cells_begin, without a header line. */
void cells_resume(struct cells *c, struct text *out, enum table_format format,
		  const char *const *names, size_t count);
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

#endif
