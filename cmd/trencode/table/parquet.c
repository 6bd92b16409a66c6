/*
 * parquet.c - the rows as an Apache Parquet file, for DuckDB, ClickHouse, Spark, pandas
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/util/version.h"
#include "cmd/trencode/table/event_rows.h"
#include "cmd/trencode/table/parquet_file.h"

/* One run of the encoder. */
struct parquet {
	struct event_rows rows;
	struct parquet_file file;
};

static int parquet_put_cell(struct parquet *s, struct parquet_column *c, enum row_column column)
{
	const struct row_cell *cell = &s->rows.cells[column];

	if (!row_has(&s->rows, column))
		return 0;
	switch (c->kind) {
	case PARQUET_NAME: return parquet_name(&s->file, c, s->file.rows, (uint32_t)cell->number);
	case PARQUET_OBJECT: return parquet_object(c, s->file.rows, cell->object);
	default: return parquet_number(c, s->file.rows, cell->number);
	}
}

static int parquet_write_row(struct event_rows *r, struct error *e)
{
	struct parquet *s = (struct parquet *)r;

	for (size_t i = 0; i < s->rows.ncolumns; i++)
		if (parquet_put_cell(s, &s->file.columns[i], (enum row_column)s->rows.columns[i]))
			return error_no_memory(e);
	return parquet_row(&s->file, e);
}

static int parquet_begin(struct encoding *en, struct error *e)
{
	static const enum parquet_kind kinds[] = {[COLUMN_TIME] = PARQUET_TIME,
						  [COLUMN_SMALL] = PARQUET_SMALL,
						  [COLUMN_FLAG] = PARQUET_FLAG,
						  [COLUMN_NAME] = PARQUET_NAME,
						  [COLUMN_OBJECT] = PARQUET_OBJECT};
	struct parquet *s = event_rows_begin(en, sizeof(struct parquet), parquet_write_row, e);

	if (!s)
		return -1;
	if (parquet_open(&s->file, en->out, en->dictionary, s->rows.ncolumns, e))
		return -1;
	for (size_t i = 0; i < s->rows.ncolumns; i++) {
		enum row_column c = s->rows.columns[i];

		s->file.columns[i].name = row_column_name(c);
		s->file.columns[i].kind = kinds[row_column_form(c)];
	}
	return 0;
}

static int parquet_end(struct encoding *en, struct error *e)
{
	struct parquet *s = en->state;
	uint64_t clamped = 0;

	if (event_rows_end(en, e))
		return -1;
	for (size_t i = 0; i < s->file.ncolumns; i++)
		clamped += s->file.columns[i].clamped;
	if (!en->options->quiet)
		warn_count(NULL, clamped,
			   "{time is|times are} 2^63 or more, which parquet's numbers cannot hold: "
			   "written as 9223372036854775807");
	return parquet_finish(&s->file, "trencode " TRUTILS_VERSION, e);
}

static void parquet_done(struct encoding *en)
{
	struct parquet *s = en->state;

	if (!s)
		return;
	event_rows_free(&s->rows);
	parquet_free(&s->file);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_parquet = {
	.name = "parquet",
	.purpose = "the rows of ndjson and csv as an Apache Parquet file",
	.output = ENCODER_FILE,
	.report = true,
	.begin = parquet_begin,
	.meta = event_rows_meta,
	.drops = true,
	.adopt = event_rows_adopt,
	.event = event_rows_event,
	.end = parquet_end,
	.free = parquet_done,
};
