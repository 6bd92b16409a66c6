/*
 * arrow.c - Apache Arrow's IPC stream, for programs that read tables from a pipe
 *
 *     schema             the columns and their types
 *     dictionary batch   for each column of names: the texts of the next rows
 *     record batch       the next rows, by columns
 *     ffffffff 00000000  the end
 *
 * A message is ffffffff, the size of its metadata, a table of FlatBuffers, and a body. Written from
 * Columnar.rst, Message.fbs and Schema.fbs of apache/arrow, and FlatBuffers' internals.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/trencode/dataset.h"
#include "cmd/trencode/formats.h"
#include "common/formats/arrow.h"
#include "common/util/output.h"

/* One run of the encoder. */
struct arrow {
	struct buffer meta;	      /* FlatBuffers of a message */
	struct buffer body, texts;    /* of a record batch, and of a dictionary */
	struct buffer nodes, buffers; /* of the batch: pairs of u64 */
	struct buffer frames;	      /* u32 each: stacks, of each frame its own */
	struct sheet_words words;
	bool begun; /* the schema is written */
};

/* --- FlatBuffers, written front to back: what refers to a later object is set when it begins ---
 */

/* Append a table with so many fields of 8 bytes each. present: bits. *at: of its first field. */
static int flat_table(struct buffer *b, unsigned fields, unsigned present, size_t *at)
{
	size_t vtable;

	if (buffer_align(b, 8))
		return -1;
	vtable = b->size;
	if (buffer_zero(b, align_up(4 + 2 * fields, 8) + 8 + 8 * fields))
		return -1;
	put_u16(b->data + vtable, (uint16_t)(4 + 2 * fields));
	put_u16(b->data + vtable + 2, (uint16_t)(8 + 8 * fields));
	for (unsigned i = 0; i < fields; i++)
		put_u16(b->data + vtable + 4 + 2 * i, present >> i & 1 ? (uint16_t)(8 + 8 * i) : 0);
	*at = b->size - 8 * fields;
	put_u32(b->data + *at - 8, (uint32_t)(*at - 8 - vtable));
	return 0;
}

static void flat_set(struct buffer *b, size_t table, unsigned field, uint64_t v)
{
	put_u64(b->data + table + 8 * field, v);
}

/* Let a place refer to an object. */
static void flat_refer(struct buffer *b, size_t from, size_t to)
{
	put_u32(b->data + from, (uint32_t)(to - from));
}

/* Let a field refer to a table; at: of the table's first field. */
static void flat_refer_table(struct buffer *b, size_t table, unsigned field, size_t at)
{
	flat_refer(b, table + 8 * field, at - 8);
}

static int flat_text(struct buffer *b, size_t table, unsigned field, const char *text)
{
	size_t n = strlen(text);

	if (buffer_align(b, 4))
		return -1;
	flat_refer(b, table + 8 * field, b->size);
	return buffer_u32(b, (uint32_t)n) || buffer_append(b, text, n + 1) ? -1 : 0;
}

/* Append a vector of n references, which the caller sets. *at: of the first one. */
static int flat_vector(struct buffer *b, size_t table, unsigned field, size_t n, size_t *at)
{
	if (buffer_align(b, 4))
		return -1;
	flat_refer(b, table + 8 * field, b->size);
	if (buffer_u32(b, (uint32_t)n))
		return -1;
	*at = b->size;
	return buffer_zero(b, 4 * n);
}

/* Append a vector of pairs of u64. */
static int flat_pairs(struct buffer *b, size_t table, unsigned field, const struct buffer *pairs)
{
	if (buffer_align(b, 8) || buffer_u32(b, 0))
		return -1;
	flat_refer(b, table + 8 * field, b->size);
	return buffer_u32(b, (uint32_t)(pairs->size / 16)) ||
			       buffer_append(b, pairs->data, pairs->size)
		       ? -1
		       : 0;
}

/* --- messages --- */

/* Begin a message, and the table of its header. */
static int arrow_begin_message(struct arrow *a, unsigned kind, uint64_t body, unsigned fields,
			       size_t *header)
{
	struct buffer *b = &a->meta;
	size_t message;

	b->size = 0;
	if (buffer_u64(b, 0) || flat_table(b, 4, 15, &message))
		return -1;
	flat_refer(b, 0, message - 8);
	flat_set(b, message, 0, ARROW_V5);
	flat_set(b, message, 1, kind);
	flat_set(b, message, 3, body);
	if (flat_table(b, fields, (1u << fields) - 1, header))
		return -1;
	flat_refer_table(b, message, 2, *header);
	return 0;
}

/* Write the message, and its body. */
static int arrow_put_message(struct arrow *a, struct sheet *s, const struct buffer *body,
			     struct error *e)
{
	uint8_t head[8];
	size_t piece;

	if (buffer_align(&a->meta, 8))
		return error_no_memory(e);
	put_u32(head, UINT32_MAX);
	put_u32(head + 4, (uint32_t)a->meta.size);
	if (sheet_write(s, head, sizeof head, e) || sheet_write(s, a->meta.data, a->meta.size, e))
		return -1;
	for (size_t at = 0; body && at < body->size; at += piece) {
		piece = body->size - at < BUFFER_PIECE ? body->size - at : BUFFER_PIECE;
		if (sheet_write(s, body->data + at, piece, e))
			return -1;
		buffer_rest(body);
	}
	return 0;
}

/* --- the schema --- */

static int arrow_int_type(struct buffer *b, unsigned bits, bool is_signed, size_t *type)
{
	if (flat_table(b, 2, 3, type))
		return -1;
	flat_set(b, *type, 0, bits);
	flat_set(b, *type, 1, is_signed);
	return 0;
}

/* Append the type of a column's values, texts for names. *kind: of the union of types. */
static int arrow_type(struct buffer *b, enum cell_kind kind, bool wall, unsigned *member,
		      size_t *type)
{
	int bad;

	switch (kind) {
	case CELL_FLAG: *member = ARROW_BOOL; return flat_table(b, 0, 0, type);
	case CELL_NAME:
	case CELL_LABEL:
	case CELL_TEXT: *member = ARROW_UTF8; return flat_table(b, 0, 0, type);
	case CELL_STACK: *member = ARROW_LIST; return flat_table(b, 0, 0, type);
	case CELL_REAL:
		*member = ARROW_FLOAT;
		bad = flat_table(b, 1, 1, type);
		if (!bad)
			flat_set(b, *type, 0, ARROW_DOUBLE);
		return bad;
	case CELL_TIME:
		if (!wall)
			break;
		*member = ARROW_TIMESTAMP;
		bad = flat_table(b, 2, 3, type);
		if (!bad)
			flat_set(b, *type, 0, ARROW_NANOSECOND);
		return bad ? bad : flat_text(b, *type, 1, "UTC");
	default: break;
	}
	*member = ARROW_INT;
	return arrow_int_type(b, kind == CELL_SMALL ? 32 : 64, kind != CELL_UNSIGNED, type);
}

/* A field of the schema, before its children. */
struct arrow_field {
	const char *name;
	enum cell_kind kind;
	bool wall;
	size_t children;
	uint64_t dictionary;
};

/* Append a field. at: what refers to it; *children: its references. */
static int arrow_put_field(struct buffer *b, size_t at, const struct arrow_field *f,
			   size_t *children)
{
	bool words = f->kind == CELL_NAME || f->kind == CELL_LABEL;
	size_t field, type, encoding, index;
	unsigned member;

	if (flat_table(b, 6, words ? 63 : 47, &field))
		return -1;
	flat_refer(b, at, field - 8);
	flat_set(b, field, 1, 1);
	if (flat_text(b, field, 0, f->name) || arrow_type(b, f->kind, f->wall, &member, &type))
		return -1;
	flat_set(b, field, 2, member);
	flat_refer_table(b, field, 3, type);
	if (words) {
		if (flat_table(b, 2, 3, &encoding))
			return -1;
		flat_refer_table(b, field, 4, encoding);
		flat_set(b, encoding, 0, f->dictionary);
		if (arrow_int_type(b, 32, true, &index))
			return -1;
		flat_refer_table(b, encoding, 1, index);
	}
	return flat_vector(b, field, 5, f->children, children);
}

/* Append the struct of the frames of a column of stacks. */
static int arrow_put_frame_field(struct buffer *b, size_t at, uint64_t dictionary)
{
	size_t field, type, children, none;

	if (flat_table(b, 6, 47, &field))
		return -1;
	flat_refer(b, at, field - 8);
	flat_set(b, field, 2, ARROW_STRUCT);
	if (flat_text(b, field, 0, "item") || flat_table(b, 0, 0, &type))
		return -1;
	flat_refer_table(b, field, 3, type);
	if (flat_vector(b, field, 5, FRAME_PARTS, &children))
		return -1;
	for (unsigned i = 0; i < FRAME_PARTS; i++) {
		struct arrow_field f = {.name = frame_parts[i],
					.kind = i == FRAME_LINE ? CELL_SMALL : CELL_NAME,
					.dictionary = dictionary + i};

		if (arrow_put_field(b, children + 4 * i, &f, &none))
			return -1;
	}
	return 0;
}

/* Get the id of the dictionary of a column; of stacks, that of the first part. */
static uint64_t arrow_dictionary(size_t column)
{
	return column * FRAME_PARTS;
}

static int arrow_describe(struct arrow *a, const struct sheet *s)
{
	const char *keys[][2] = {{"trutils.table", s->table}, {"trutils.clock", s->clock}};
	struct buffer *b = &a->meta;
	size_t schema, fields, children, pairs, pair;

	if (arrow_begin_message(a, ARROW_SCHEMA, 0, 3, &schema) ||
	    flat_vector(b, schema, 1, s->ncolumns, &fields))
		return -1;
	for (size_t i = 0; i < s->ncolumns; i++) {
		const struct sheet_column *c = &s->columns[i];
		struct arrow_field f = {c->name, c->kind, s->wall, c->kind == CELL_STACK,
					arrow_dictionary(i)};

		if (arrow_put_field(b, fields + 4 * i, &f, &children) ||
		    (f.children && arrow_put_frame_field(b, children, f.dictionary)))
			return -1;
	}
	if (flat_vector(b, schema, 2, 2, &pairs))
		return -1;
	for (size_t i = 0; i < 2; i++) {
		if (flat_table(b, 2, 3, &pair))
			return -1;
		flat_refer(b, pairs + 4 * i, pair - 8);
		if (flat_text(b, pair, 0, keys[i][0]) || flat_text(b, pair, 1, keys[i][1]))
			return -1;
	}
	return 0;
}

static int arrow_begin_stream(struct arrow *a, struct sheet *s, struct error *e)
{
	if (a->begun)
		return 0;
	a->begun = true;
	return arrow_describe(a, s) ? error_no_memory(e) : arrow_put_message(a, s, NULL, e);
}

/* --- the columns of a batch --- */

/* Note the buffer of a body from an offset on, and pad the body. */
static int arrow_note_buffer(struct arrow *a, struct buffer *body, size_t from)
{
	return buffer_u64(&a->buffers, from) || buffer_u64(&a->buffers, body->size - from) ||
			       buffer_align(body, 8)
		       ? -1
		       : 0;
}

/* Append bits: those of nulls, only if there are any. */
static int arrow_put_bits(struct arrow *a, const struct sheet *s, const struct buffer *flags,
			  bool any)
{
	size_t from = a->body.size;

	if (any && buffer_zero(&a->body, (s->nrows + 7) / 8))
		return -1;
	for (size_t i = 0; any && i < s->nrows; i++)
		a->body.data[from + i / 8] |=
			(uint8_t)((flags->data[sheet_row(s, i)] & 1) << i % 8);
	return arrow_note_buffer(a, &a->body, from);
}

static int arrow_note_node(struct arrow *a, uint64_t length, uint64_t nulls)
{
	return buffer_u64(&a->nodes, length) || buffer_u64(&a->nodes, nulls) ? -1 : 0;
}

/* Append texts in the order of the rows: offsets and bytes. */
static int arrow_put_texts(struct arrow *a, const struct sheet *s, const struct sheet_column *c)
{
	size_t from = a->body.size, n, at, sum = 0;

	if (buffer_u32(&a->body, 0))
		return -1;
	for (size_t i = 0; i < s->nrows; i++) {
		sheet_text(c, sheet_row(s, i), &n);
		sum += n;
		if (sum > INT32_MAX || buffer_u32(&a->body, (uint32_t)sum))
			return -1;
	}
	if (arrow_note_buffer(a, &a->body, from))
		return -1;
	from = a->body.size;
	for (size_t i = 0; i < s->nrows; i++) {
		at = sheet_text(c, sheet_row(s, i), &n);
		if (buffer_append_from(&a->body, &c->bytes, at, n))
			return -1;
	}
	return arrow_note_buffer(a, &a->body, from);
}

/* Get the number of the word of a row. */
static uint32_t arrow_word(struct arrow *a, const struct sheet *s, const struct sheet_column *c,
			   size_t row)
{
	size_t n, at;

	if (c->kind == CELL_NAME)
		return sheet_word(&a->words, s, get_u32(c->data.data + 4 * row));
	at = sheet_text(c, row, &n);
	return sheet_word_text(&a->words, c->bytes.data + at, n);
}

/* Append the values of a column that are not texts, nor flags. */
static int arrow_put_values(struct arrow *a, const struct sheet *s, const struct sheet_column *c)
{
	bool words = c->kind == CELL_NAME || c->kind == CELL_LABEL;
	unsigned width = words ? 4 : cell_width(c->kind);
	size_t from = a->body.size;

	for (size_t i = 0; i < s->nrows; i++) {
		size_t row = sheet_row(s, i);
		uint32_t word = 0;

		if (words && c->present.data[row])
			word = arrow_word(a, s, c, row);
		if (word == INTERN_NONE ||
		    (words ? buffer_u32(&a->body, word)
			   : buffer_put(&a->body, c->data.data + width * row, width)))
			return -1;
	}
	return arrow_note_buffer(a, &a->body, from);
}

/* Write the words of a column as a dictionary batch, before the record batch. */
static int arrow_put_dictionary(struct arrow *a, struct sheet *s, uint64_t id, struct error *e)
{
	const struct intern *words = &a->words.texts;
	struct buffer nodes = a->nodes, buffers = a->buffers, *b = &a->texts;
	uint32_t sum = 0;
	size_t header, batch;
	int bad;

	/* those of the dictionary itself */
	a->nodes = a->buffers = (struct buffer){0};
	b->size = 0;
	bad = arrow_note_node(a, words->count, 0) || arrow_note_buffer(a, b, 0) || buffer_u32(b, 0);
	for (uint32_t i = 0; i < words->count && !bad; i++) {
		sum += intern_size(words, i);
		bad = buffer_u32(b, sum);
	}
	bad = bad || arrow_note_buffer(a, b, 0);
	header = b->size;
	for (uint32_t i = 0; i < words->count && !bad; i++)
		bad = buffer_append(b, intern_data(words, i), intern_size(words, i));
	bad = bad || arrow_note_buffer(a, b, header) ||
	      arrow_begin_message(a, ARROW_DICTIONARY, b->size, 2, &header) ||
	      flat_table(&a->meta, 3, 7, &batch);
	if (!bad) {
		flat_set(&a->meta, header, 0, id);
		flat_refer_table(&a->meta, header, 1, batch);
		flat_set(&a->meta, batch, 0, words->count);
		bad = flat_pairs(&a->meta, batch, 1, &a->nodes) ||
		      flat_pairs(&a->meta, batch, 2, &a->buffers);
	}
	buffer_free(&a->nodes);
	buffer_free(&a->buffers);
	a->nodes = nodes;
	a->buffers = buffers;
	bad = bad ? error_no_memory(e) : arrow_put_message(a, s, b, e);
	sheet_words_clear(&a->words);
	return bad;
}

/* Append the offsets of lists, and collect their frames. */
static int arrow_put_lists(struct arrow *a, const struct sheet *s, const struct sheet_column *c)
{
	size_t from = a->body.size;
	struct sheet_frame frame;

	a->frames.size = 0;
	if (buffer_u32(&a->body, 0))
		return -1;
	for (size_t i = 0; i < s->nrows; i++) {
		uint32_t stack = get_u32(c->data.data + 4 * sheet_row(s, i));

		for (; stack; stack = frame.stack)
			if (buffer_u32(&a->frames, stack) || sheet_frame(s, stack, &frame))
				return -1;
		if (buffer_u32(&a->body, (uint32_t)(a->frames.size / 4)))
			return -1;
	}
	return arrow_note_buffer(a, &a->body, from);
}

/* Append a part of the collected frames. */
static int arrow_put_part(struct arrow *a, const struct sheet *s, unsigned part)
{
	size_t n = a->frames.size / 4, bits = a->body.size, from, nulls = 0, node = a->nodes.size;
	struct sheet_frame frame;

	if (arrow_note_node(a, n, 0) || buffer_zero(&a->body, (n + 7) / 8) ||
	    arrow_note_buffer(a, &a->body, bits))
		return -1;
	from = a->body.size;
	for (size_t i = 0; i < n; i++) {
		uint32_t v;

		if (sheet_frame(s, get_u32(a->frames.data + 4 * i), &frame))
			return -1;
		v = frame.parts[part];
		nulls += !v;
		a->body.data[bits + i / 8] |= (uint8_t)((v != 0) << i % 8);
		if (v && part != FRAME_LINE)
			v = sheet_word(&a->words, s, v);
		if (v == INTERN_NONE || buffer_u32(&a->body, v))
			return -1;
	}
	put_u64(a->nodes.data + node + 8, nulls);
	return arrow_note_buffer(a, &a->body, from);
}

/* Append the struct of the frames, and its parts. */
static int arrow_put_frames(struct arrow *a, struct sheet *s, uint64_t dictionary, struct error *e)
{
	if (arrow_note_node(a, a->frames.size / 4, 0) ||
	    arrow_note_buffer(a, &a->body, a->body.size))
		return error_no_memory(e);
	for (unsigned i = 0; i < FRAME_PARTS; i++) {
		sheet_words_clear(&a->words);
		if (arrow_put_part(a, s, i))
			return error_no_memory(e);
		if (i != FRAME_LINE && arrow_put_dictionary(a, s, dictionary + i, e))
			return -1;
	}
	return 0;
}

static int arrow_put_column(struct arrow *a, struct sheet *s, size_t column, struct error *e)
{
	const struct sheet_column *c = &s->columns[column];
	size_t nulls = s->nrows - c->values;
	int bad =
		arrow_note_node(a, s->nrows, nulls) || arrow_put_bits(a, s, &c->present, nulls > 0);

	sheet_words_clear(&a->words);
	switch (c->kind) {
	case CELL_FLAG: bad = bad || arrow_put_bits(a, s, &c->data, true); break;
	case CELL_TEXT: bad = bad || arrow_put_texts(a, s, c); break;
	case CELL_STACK: bad = bad || arrow_put_lists(a, s, c); break;
	default: bad = bad || arrow_put_values(a, s, c); break;
	}
	if (bad)
		return error_no_memory(e);
	if (c->kind == CELL_STACK)
		return arrow_put_frames(a, s, arrow_dictionary(column), e);
	return c->kind == CELL_NAME || c->kind == CELL_LABEL
		       ? arrow_put_dictionary(a, s, arrow_dictionary(column), e)
		       : 0;
}

static int arrow_group(void *state, struct sheet *s, struct error *e)
{
	struct arrow *a = state;
	size_t batch;

	if (arrow_begin_stream(a, s, e))
		return -1;
	buffer_clear(&a->body);
	a->body.spills = true;
	a->nodes.size = a->buffers.size = 0;
	for (size_t i = 0; i < s->ncolumns; i++)
		if (arrow_put_column(a, s, i, e))
			return -1;
	if (arrow_begin_message(a, ARROW_BATCH, a->body.size, 3, &batch))
		return error_no_memory(e);
	flat_set(&a->meta, batch, 0, s->nrows);
	if (flat_pairs(&a->meta, batch, 1, &a->nodes) ||
	    flat_pairs(&a->meta, batch, 2, &a->buffers))
		return error_no_memory(e);
	return arrow_put_message(a, s, &a->body, e);
}

static int arrow_end_stream(void *state, struct sheet *s, struct error *e)
{
	static const uint8_t end[8] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};

	return arrow_begin_stream(state, s, e) || sheet_write(s, end, sizeof end, e) ? -1 : 0;
}

static int arrow_begin_file(struct sheet *s, struct error *e)
{
	(void)s;
	(void)e;
	return 0;
}

static void arrow_free_file(struct sheet *s)
{
	(void)s;
}

static const struct sheet_format arrow_format = {
	.suffix = ".arrows",
	.begin = arrow_begin_file,
	.group = arrow_group,
	.end = arrow_end_stream,
	.free = arrow_free_file,
};

/* --- the encoder --- */

static int arrow_begin(struct encoding *en, struct error *e)
{
	struct dataset *d = event_rows_begin(en, sizeof *d, dataset_row, e);

	if (!d)
		return -1;
	d->state = calloc(1, sizeof(struct arrow));
	return d->state ? dataset_begin(en, &arrow_format, d->state, e) : error_no_memory(e);
}

static int arrow_end(struct encoding *en, struct error *e)
{
	return event_rows_end(en, e) || dataset_end(en, e) ? -1 : 0;
}

static void arrow_done(struct encoding *en)
{
	struct dataset *d = en->state;
	struct arrow *a = d ? d->state : NULL;

	if (a) {
		struct buffer *buffers[] = {&a->meta,  &a->body,    &a->texts,
					    &a->nodes, &a->buffers, &a->frames};

		for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
			buffer_free(buffers[i]);
		sheet_words_free(&a->words);
	}
	free(a);
	dataset_free(en);
	event_rows_free(en);
}

const struct encoder encoder_arrow = {
	.name = "arrow",
	.suffixes = ".arrows",
	.purpose = "the same rows, or a table, as a stream of Apache Arrow",
	.output = ENCODER_FILE,
	.report = true,
	.deferred = true,
	.drops = true,
	.begin = arrow_begin,
	.head = dataset_head,
	.meta = event_rows_meta,
	.event = event_rows_event,
	.end = arrow_end,
	.check = event_rows_check,
	.free = arrow_done,
};
