/*
 * delimited.c - csv (RFC 4180) and tsv, a row for each event
 */
#include <stdlib.h>

#include "common/util/buffer_file.h"
#include "common/value/delimited.h"
#include "common/util/utf8.h"
#include "cmd/trencode/formats.h"
#include "cmd/trencode/table/event_rows.h"

/* One run of the encoder. */
struct delimited {
	struct event_rows rows;
	struct location_names texts; /* as cells */
	struct buffer cell;
	struct text *out;
	char separator;
	int (*put)(struct buffer *to, const char *p, size_t n); /* append a piece of an object */
};

static int delimited_render(struct buffer *to, const char *p, size_t n,
			    int (*put)(struct buffer *, const char *, size_t))
{
	struct buffer clean = {0};
	int r = utf8_append(&clean, p, n) || put(to, (const char *)clean.data, clean.size) ? -1 : 0;

	buffer_free(&clean);
	return r;
}

static int delimited_render_csv(struct buffer *to, const char *p, size_t n)
{
	return delimited_render(to, p, n, csv_append);
}

static int delimited_render_tsv(struct buffer *to, const char *p, size_t n)
{
	return delimited_render(to, p, n, tsv_append);
}

/* Write an object. It contains quotes, so in csv it is in quotes. */
static int delimited_put_object(struct delimited *s, const struct buffer *json)
{
	bool csv = s->separator == ',';
	size_t piece;

	if (csv)
		text_char(s->out, '"');
	for (size_t at = 0; at < json->size; at += piece) {
		piece = json->size - at < BUFFER_PIECE ? json->size - at : BUFFER_PIECE;
		s->cell.size = 0;
		if (s->put(&s->cell, (const char *)json->data + at, piece))
			return -1;
		text_put(s->out, (const char *)s->cell.data, s->cell.size);
		buffer_rest(json);
	}
	if (csv)
		text_char(s->out, '"');
	return 0;
}

static int delimited_put_field(struct delimited *s, const struct attribute *cell)
{
	const struct plain_value plain = {
		.kind = cell->kind, .size = 8, .number = cell->number, .real = cell->real};

	s->cell.size = 0;
	if (cell->kind < ATTRIBUTE_TEXT ? plain_append(&s->cell, &plain)
					: s->texts.render(&s->cell, cell->text, cell->number))
		return -1;
	text_put(s->out, (const char *)s->cell.data, s->cell.size);
	return 0;
}

static int delimited_put_cell(struct delimited *s, enum row_column c)
{
	const struct row_cell *cell;
	const char *text;
	uint32_t size;

	if (c >= ROW_COLUMNS)
		return row_field(&s->rows, c) ? delimited_put_field(s, row_field(&s->rows, c)) : 0;
	if (!row_has(&s->rows, c))
		return 0;
	cell = &s->rows.cells[c];
	switch (row_column_form(c)) {
	case COLUMN_TIME:
	case COLUMN_FLAG: text_u64(s->out, cell->number); return 0;
	case COLUMN_WEIGHT:
	case COLUMN_SMALL: text_i64(s->out, (int64_t)cell->number); return 0;
	case COLUMN_NAME:
		text = location_names_get(&s->texts, (uint32_t)cell->number, &size);
		if (!text)
			return -1;
		text_put(s->out, text, size);
		return 0;
	case COLUMN_OBJECT: return delimited_put_object(s, cell->object);
	case COLUMN_FIELD: break;
	}
	return 0;
}

static int delimited_write_row(struct event_rows *r, struct error *e)
{
	struct delimited *s = (struct delimited *)r;

	for (size_t i = 0; i < s->rows.ncolumns; i++) {
		if (i)
			text_char(s->out, s->separator);
		if (delimited_put_cell(s, s->rows.columns[i]))
			return error_no_memory(e);
	}
	text_char(s->out, '\n');
	return 0;
}

static int delimited_begin(struct encoding *en, struct error *e)
{
	struct delimited *s =
		event_rows_begin(en, sizeof(struct delimited), delimited_write_row, e);
	bool csv = en->encoder == &encoder_csv;

	if (!s)
		return -1;
	s->out = en->text;
	s->separator = csv ? ',' : '\t';
	s->put = csv ? csv_append_inside : tsv_append;
	location_names_init_strings(&s->texts, en->dictionary,
				    csv ? delimited_render_csv : delimited_render_tsv);
	if (en->options->no_header)
		return 0;
	for (size_t i = 0; i < s->rows.ncolumns; i++) {
		if (i)
			text_char(s->out, s->separator);
		text_puts(s->out, row_column_name(&s->rows, s->rows.columns[i]));
	}
	text_char(s->out, '\n');
	return 0;
}

static void delimited_free(struct encoding *en)
{
	struct delimited *s = en->state;

	if (!s)
		return;
	event_rows_free(&s->rows);
	location_names_free(&s->texts);
	buffer_free(&s->cell);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_csv = {
	.name = "csv",
	.purpose = "a row for each call and event, comma-separated",
	.output = ENCODER_TEXT,
	.report = true,
	.begin = delimited_begin,
	.meta = event_rows_meta,
	.drops = true,
	.event = event_rows_event,
	.end = event_rows_end,
	.check = event_rows_check,
	.free = delimited_free,
};

const struct encoder encoder_tsv = {
	.name = "tsv",
	.purpose = "the same, tab-separated",
	.output = ENCODER_TEXT,
	.report = true,
	.begin = delimited_begin,
	.meta = event_rows_meta,
	.drops = true,
	.event = event_rows_event,
	.end = event_rows_end,
	.check = event_rows_check,
	.free = delimited_free,
};
