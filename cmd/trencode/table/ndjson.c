/*
 * ndjson.c - a JSON object on a line for each event
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/value/json.h"
#include "cmd/trencode/table/event_rows.h"

enum {
	KEY_ROOM = 24,	/* ,"unfinished":null */
	CELL_ROOM = 72, /* a number in quotes, null, true or false, or a short name */
	SHORT_NAME = 64,
};

/* The text ,"name":null of one column. */
struct key {
	char text[KEY_ROOM];
	uint8_t size; /* without null */
	uint8_t column, form;
};

/* One run of the encoder. */
struct ndjson {
	struct event_rows rows;
	struct location_names texts; /* as JSON strings */
	struct text *out;
	struct key keys[ROW_ALL]; /* in the order of the output */
	struct buffer field;	  /* a field, with its name */
	bool quote_numbers;
};

static void ndjson_make_keys(struct ndjson *s)
{
	for (size_t i = 0; i < s->rows.ncolumns; i++) {
		struct key *key = &s->keys[i];

		key->column = s->rows.columns[i];
		key->form = (uint8_t)row_column_form(key->column);
		key->size = (uint8_t)snprintf(key->text, KEY_ROOM, "%c\"%s\":null", i ? ',' : '{',
					      row_column_name(&s->rows, key->column)) -
			    4;
	}
}

/* Write a time, or a weight, which may be negative. */
static char *ndjson_put_time(const struct ndjson *s, char *p, uint64_t time, bool negative)
{
	bool quote = s->quote_numbers && time > 1ull << 53;

	if (quote)
		*p++ = '"';
	if (negative)
		*p++ = '-';
	p = decimal_at(p, time);
	if (quote)
		*p++ = '"';
	return p;
}

static char *ndjson_put_small(char *p, int64_t n)
{
	if (n < 0)
		*p++ = '-';
	return decimal_at(p, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static char *ndjson_put_flag(char *p, bool flag)
{
	memcpy(p, flag ? "true" : "false", 5);
	return p + (flag ? 4 : 5);
}

/* Write a text of any length. p, and the result, have room for the other cells of a row. */
static char *ndjson_put_long(struct ndjson *s, char *p, const struct buffer *b, size_t at,
			     size_t size)
{
	text_wrote(s->out, p);
	text_put_buffer(s->out, b, at, size);
	return text_room(s->out, ROW_COLUMNS * (KEY_ROOM + CELL_ROOM));
}

/* Write a name. Returns its end, or NULL when out of memory. */
static char *ndjson_put_name(struct ndjson *s, char *p, uint32_t number)
{
	uint32_t size;
	const char *text = location_names_get(&s->texts, number, &size);

	if (!text)
		return NULL;
	if (size > SHORT_NAME)
		return ndjson_put_long(s, p, &s->texts.bytes,
				       (size_t)(text - (const char *)s->texts.bytes.data), size);
	return location_names_copy(p, text, size);
}

/* Write the key and the value of a field. Returns their end, or NULL when out of memory. */
static char *ndjson_put_field(struct ndjson *s, char *p, const struct key *key)
{
	const struct attribute *cell = row_field(&s->rows, key->column);
	const char *name = row_column_name(&s->rows, key->column);

	s->field.size = 0;
	if (buffer_u8(&s->field, (uint8_t)key->text[0]) ||
	    json_append_string(&s->field, name, strlen(name)) || buffer_u8(&s->field, ':') ||
	    (cell ? attribute_json(cell, s->quote_numbers, NULL, &s->field)
		  : buffer_puts(&s->field, "null")))
		return NULL;
	return ndjson_put_long(s, p, &s->field, 0, s->field.size);
}

/* Write a key and its value at p. Returns their end, or NULL when out of memory. */
static char *ndjson_put_cell(struct ndjson *s, char *p, const struct key *key)
{
	const struct row_cell *cell;

	if (key->form == COLUMN_FIELD)
		return ndjson_put_field(s, p, key);
	memcpy(p, key->text, KEY_ROOM); /* a constant size: inlined */
	p += key->size;
	if (!row_has(&s->rows, key->column))
		return p + 4;
	cell = &s->rows.cells[key->column];
	switch (key->form) {
	case COLUMN_TIME: return ndjson_put_time(s, p, cell->number, false);
	case COLUMN_WEIGHT:
		return ndjson_put_time(s, p,
				       cell->number > INT64_MAX ? -cell->number : cell->number,
				       cell->number > INT64_MAX);
	case COLUMN_SMALL: return ndjson_put_small(p, (int64_t)cell->number);
	case COLUMN_FLAG: return ndjson_put_flag(p, cell->number);
	case COLUMN_NAME: return ndjson_put_name(s, p, (uint32_t)cell->number);
	default: return ndjson_put_long(s, p, cell->object, 0, cell->object->size);
	}
}

static int ndjson_write_row(struct event_rows *r, struct error *e)
{
	struct ndjson *s = (struct ndjson *)r;
	char *p = text_room(s->out, ROW_COLUMNS * (KEY_ROOM + CELL_ROOM));

	for (size_t i = 0; i < s->rows.ncolumns; i++) {
		p = ndjson_put_cell(s, p, &s->keys[i]);
		if (!p)
			return error_no_memory(e);
	}
	memcpy(p, "}\n", 2);
	text_wrote(s->out, p + 2);
	return 0;
}

static int ndjson_begin(struct encoding *en, struct error *e)
{
	struct ndjson *s = event_rows_begin(en, sizeof(struct ndjson), ndjson_write_row, e);

	if (!s)
		return -1;
	s->out = en->text;
	s->quote_numbers = en->options->quote_numbers;
	location_names_init_strings(&s->texts, en->dictionary, json_append_string);
	ndjson_make_keys(s);
	return 0;
}

static void ndjson_free(struct encoding *en)
{
	struct ndjson *s = en->state;

	if (!s)
		return;
	event_rows_free(&s->rows);
	buffer_free(&s->field);
	location_names_free(&s->texts);
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
	.drops = true,
	.event = event_rows_event,
	.end = event_rows_end,
	.check = event_rows_check,
	.free = ndjson_free,
};
