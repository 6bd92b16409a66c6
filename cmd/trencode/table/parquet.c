/*
 * parquet.c - the rows as an Apache Parquet file, for DuckDB, ClickHouse, Spark, pandas
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/util/utf8.h"
#include "common/util/version.h"
#include "cmd/trencode/table/event_rows.h"
#include "cmd/trencode/table/parquet_file.h"

/* One run of the encoder. */
struct parquet {
	struct event_rows rows;
	struct parquet_file file;
	struct buffer text; /* of a field */
	bool typed;	    /* the columns of fields have their kinds */
};

/* Add a field to a column of texts. */
static int parquet_put_text(struct parquet *s, struct parquet_column *c,
			    const struct attribute *cell)
{
	const struct plain_value plain = {
		.kind = cell->kind, .size = 8, .number = cell->number, .real = cell->real};

	s->text.size = 0;
	if (cell->kind < ATTRIBUTE_TEXT ? plain_append(&s->text, &plain)
					: utf8_append(&s->text, cell->text, cell->number))
		return -1;
	return parquet_object(c, s->file.rows, &s->text);
}

static int parquet_put_field(struct parquet *s, struct parquet_column *c,
			     const struct attribute *cell)
{
	bool whole = cell->kind == ATTRIBUTE_INT || cell->kind == ATTRIBUTE_UINT;
	bool above = cell->kind == ATTRIBUTE_UINT && cell->number > INT64_MAX;

	if (c->kind == PARQUET_OBJECT)
		return parquet_put_text(s, c, cell);
	if (c->kind == PARQUET_REAL && cell->kind == ATTRIBUTE_REAL)
		return parquet_real(c, s->file.rows, cell->real);
	if (c->kind == PARQUET_REAL || !whole) {
		c->left_out++;
		return 0;
	}
	c->clamped += above;
	return parquet_number(c, s->file.rows, above ? INT64_MAX : cell->number);
}

static int parquet_put_cell(struct parquet *s, struct parquet_column *c, enum row_column column)
{
	const struct row_cell *cell;

	if (column >= ROW_COLUMNS)
		return row_field(&s->rows, column)
			       ? parquet_put_field(s, c, row_field(&s->rows, column))
			       : 0;
	if (!row_has(&s->rows, column))
		return 0;
	cell = &s->rows.cells[column];
	switch (c->kind) {
	case PARQUET_NAME: return parquet_name(&s->file, c, s->file.rows, (uint32_t)cell->number);
	case PARQUET_OBJECT: return parquet_object(c, s->file.rows, cell->object);
	default: return parquet_number(c, s->file.rows, cell->number);
	}
}

/* Set the kinds of the columns of fields, by the types that are declared now. */
static void parquet_type_fields(struct parquet *s)
{
	static const enum parquet_kind kinds[] = {[FIELD_COLUMN_NONE] = PARQUET_OBJECT,
						  [FIELD_COLUMN_INT] = PARQUET_INT,
						  [FIELD_COLUMN_REAL] = PARQUET_REAL,
						  [FIELD_COLUMN_TEXT] = PARQUET_OBJECT};

	for (size_t i = 0; i < s->rows.ncolumns && !s->typed; i++)
		if (s->rows.columns[i] >= ROW_COLUMNS)
			s->file.columns[i].kind = kinds[field_columns_form(
				&s->rows.fields, s->rows.columns[i] - (size_t)ROW_COLUMNS)];
	s->typed = true;
}

static int parquet_write_row(struct event_rows *r, struct error *e)
{
	struct parquet *s = (struct parquet *)r;

	parquet_type_fields(s);
	for (size_t i = 0; i < s->rows.ncolumns; i++)
		if (parquet_put_cell(s, &s->file.columns[i], (enum row_column)s->rows.columns[i]))
			return error_no_memory(e);
	return parquet_row(&s->file, e);
}

static int parquet_begin(struct encoding *en, struct error *e)
{
	static const enum parquet_kind kinds[] = {
		[COLUMN_TIME] = PARQUET_TIME,	[COLUMN_WEIGHT] = PARQUET_INT,
		[COLUMN_SMALL] = PARQUET_SMALL, [COLUMN_FLAG] = PARQUET_FLAG,
		[COLUMN_NAME] = PARQUET_NAME,	[COLUMN_OBJECT] = PARQUET_OBJECT,
		[COLUMN_FIELD] = PARQUET_OBJECT};
	struct parquet *s = event_rows_begin(en, sizeof(struct parquet), parquet_write_row, e);

	if (!s)
		return -1;
	if (parquet_open(&s->file, en->out, en->dictionary, s->rows.ncolumns, e))
		return -1;
	for (size_t i = 0; i < s->rows.ncolumns; i++) {
		enum row_column c = s->rows.columns[i];

		s->file.columns[i].name = row_column_name(&s->rows, c);
		s->file.columns[i].kind = kinds[row_column_form(c)];
	}
	return 0;
}

static int parquet_end(struct encoding *en, struct error *e)
{
	struct parquet *s = en->state;
	uint64_t clamped = 0, left_out = 0;

	if (event_rows_end(en, e))
		return -1;
	parquet_type_fields(s);
	for (size_t i = 0; i < s->file.ncolumns; i++) {
		clamped += s->file.columns[i].clamped;
		left_out += s->file.columns[i].left_out;
	}
	if (!en->options->quiet) {
		remark_count(
			clamped,
			"{number is|numbers are} 2^63 or more: written as 9223372036854775807, "
			"the largest number of parquet");
		remark_count(
			left_out,
			"{value is|values are} left out: the field has numbers in the first type "
			"with it");
	}
	return parquet_finish(&s->file, "trencode " TRUTILS_VERSION, e);
}

static void parquet_done(struct encoding *en)
{
	struct parquet *s = en->state;

	if (!s)
		return;
	event_rows_free(&s->rows);
	parquet_free(&s->file);
	buffer_free(&s->text);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_parquet = {
	.name = "parquet",
	.purpose = "the rows of ndjson and csv as an Apache Parquet file",
	.output = ENCODER_FILE,
	.report = true,
	.deferred = true,
	.begin = parquet_begin,
	.meta = event_rows_meta,
	.drops = true,
	.event = event_rows_event,
	.end = parquet_end,
	.check = event_rows_check,
	.free = parquet_done,
};
