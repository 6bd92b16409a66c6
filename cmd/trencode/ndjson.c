/*
 * ndjson.c - a JSON object on a line for each event
 */
#include <stdlib.h>

#include "common/json.h"
#include "event_rows.h"

struct state {
	struct event_rows rows;
	struct place_names texts; /* as JSON strings */
	struct text *out;
	struct buffer keys; /* ",\"name\":" of each column */
	uint32_t key_ends[ROW_COLUMNS];
	bool quote_numbers;
};

static int make_keys(struct state *s)
{
	for (size_t i = 0; i < s->rows.ncolumns; i++) {
		if (buffer_printf(&s->keys, "%c\"%s\":", i ? ',' : '{',
				  row_column_name(s->rows.columns[i])))
			return -1;
		s->key_ends[i] = (uint32_t)s->keys.size;
	}
	return 0;
}

static void put_time(struct state *s, uint64_t time)
{
	bool quote = s->quote_numbers && time > 1ull << 53;

	if (quote)
		text_char(s->out, '"');
	text_u64(s->out, time);
	if (quote)
		text_char(s->out, '"');
}

static int put_cell(struct state *s, enum row_column c)
{
	const struct row_cell *cell = &s->rows.cells[c];
	const char *text;
	uint32_t size;

	if (!cell->present) {
		text_put(s->out, "null", 4);
		return 0;
	}
	switch (row_column_form(c)) {
	case COLUMN_TIME: put_time(s, cell->number); return 0;
	case COLUMN_FLAG: text_puts(s->out, cell->number ? "true" : "false"); return 0;
	case COLUMN_SMALL: text_i64(s->out, (int64_t)cell->number); return 0;
	case COLUMN_NAME:
		text = place_names_get(&s->texts, (uint32_t)cell->number, &size);
		if (!text)
			return -1;
		text_put(s->out, text, size);
		return 0;
	case COLUMN_OBJECT: text_put_buffer(s->out, cell->object, 0, cell->object->size);
	}
	return 0;
}

static int write_row(struct event_rows *r, struct error *e)
{
	struct state *s = (struct state *)r;

	const char *keys = (const char *)s->keys.data;
	uint32_t at = 0;

	for (size_t i = 0; i < s->rows.ncolumns; at = s->key_ends[i++]) {
		text_put(s->out, keys + at, s->key_ends[i] - at);
		if (put_cell(s, s->rows.columns[i]))
			return error_no_memory(e);
	}
	text_put(s->out, "}\n", 2);
	return 0;
}

static int ndjson_begin(struct encoding *en, struct error *e)
{
	struct state *s = event_rows_begin(en, sizeof(struct state), write_row, e);

	if (!s)
		return -1;
	s->out = en->text;
	s->quote_numbers = en->options->quote_numbers;
	place_names_init_strings(&s->texts, en->dictionary, json_append_string);
	return make_keys(s) ? error_no_memory(e) : 0;
}

static void ndjson_free(struct encoding *en)
{
	struct state *s = en->state;

	if (!s)
		return;
	event_rows_free(&s->rows);
	place_names_free(&s->texts);
	buffer_free(&s->keys);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_ndjson = {
	.name = "ndjson",
	.suffixes = ".jsonl",
	.purpose = "a JSON object on a line for each call and event",
	.output = ENCODER_TEXT,
	.report = true,
	.begin = ndjson_begin,
	.meta = event_rows_meta,
	.event = event_rows_event,
	.end = event_rows_end,
	.free = ndjson_free,
};
