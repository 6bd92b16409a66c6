/*
 * ndjson.c - a JSON object on a line for each event
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/json.h"
#include "event_rows.h"

enum {
	KEY_ROOM = 16,	/* ,"unfinished": */
	CELL_ROOM = 24, /* a number in quotes, null, true or false */
};

/* ,"name": of a column */
struct key {
	char text[KEY_ROOM];
	size_t size;
};

struct state {
	struct event_rows rows;
	struct place_names texts; /* as JSON strings */
	struct text *out;
	struct key keys[ROW_COLUMNS]; /* in the order of the output */
	bool quote_numbers;
};

static void make_keys(struct state *s)
{
	for (size_t i = 0; i < s->rows.ncolumns; i++) {
		struct key *key = &s->keys[i];

		key->size = (size_t)snprintf(key->text, KEY_ROOM, "%c\"%s\":", i ? ',' : '{',
					     row_column_name(s->rows.columns[i]));
	}
}

static char *put_time(const struct state *s, char *p, uint64_t time)
{
	bool quote = s->quote_numbers && time > 1ull << 53;

	if (quote)
		*p++ = '"';
	p = decimal_at(p, time);
	if (quote)
		*p++ = '"';
	return p;
}

static char *put_small(char *p, int64_t n)
{
	if (n < 0)
		*p++ = '-';
	return decimal_at(p, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static char *put_word(char *p, const char *word)
{
	size_t n = strlen(word);

	memcpy(p, word, n);
	return p + n;
}

/* A key and its value. */
static int put_cell(struct state *s, const struct key *key, enum row_column c)
{
	const struct row_cell *cell = &s->rows.cells[c];
	char *p = text_room(s->out, KEY_ROOM + CELL_ROOM);
	enum row_form form = row_column_form(c);
	const char *text;
	uint32_t size;

	memcpy(p, key->text, KEY_ROOM); /* of a length the compiler knows */
	p += key->size;
	if (!cell->present)
		p = put_word(p, "null");
	else if (form == COLUMN_TIME)
		p = put_time(s, p, cell->number);
	else if (form == COLUMN_SMALL)
		p = put_small(p, (int64_t)cell->number);
	else if (form == COLUMN_FLAG)
		p = put_word(p, cell->number ? "true" : "false");
	text_wrote(s->out, p);
	if (!cell->present)
		return 0;
	if (form == COLUMN_NAME) {
		text = place_names_get(&s->texts, (uint32_t)cell->number, &size);
		if (!text)
			return -1;
		text_put(s->out, text, size);
	} else if (form == COLUMN_OBJECT) {
		text_put_buffer(s->out, cell->object, 0, cell->object->size);
	}
	return 0;
}

static int write_row(struct event_rows *r, struct error *e)
{
	struct state *s = (struct state *)r;

	for (size_t i = 0; i < s->rows.ncolumns; i++)
		if (put_cell(s, &s->keys[i], s->rows.columns[i]))
			return error_no_memory(e);
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
	make_keys(s);
	return 0;
}

static void ndjson_free(struct encoding *en)
{
	struct state *s = en->state;

	if (!s)
		return;
	event_rows_free(&s->rows);
	place_names_free(&s->texts);
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
