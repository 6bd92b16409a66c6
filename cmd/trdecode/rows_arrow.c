/*
 * rows_arrow.c - reads the rows of Apache Arrow: streams, which DuckDB, ClickHouse, pandas, polars
 * and trencode -t arrow write, and files (Feather), which have the bytes of a stream after a mark
 *
 *     schema             time: timestamp[ns], name: dictionary of texts, stack: list of structs
 *     dictionary batch   "read", "write"
 *     record batch       of 2 rows: 1000, 1040 | 0, 1 | ...
 *
 * A schema is a tree of fields, kept in the order in which batches have their buffers. A batch is
 * read into memory; each of its rows is cells for rows_table.c. Lists and structs become JSON, but
 * a list of structs named "stack" a list of the names, the outermost first.
 *
 * Source: Columnar.rst, Message.fbs and Schema.fbs of apache/arrow, and FlatBuffers' internals.
 */
#include "cmd/trdecode/rows_arrow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "common/formats/arrow.h"
#include "common/util/bytes.h"
#include "common/util/text_span.h"

enum {
	ARROW_META_MOST = 16 << 20,  /* bytes of the metadata of a message */
	ARROW_BODY_MOST = 256 << 20, /* bytes of a body, of its content, and of all dictionaries */
	ARROW_FIELDS_MOST = 16384,   /* fields of a schema, with those inside of others */
	ARROW_DEPTH = 16,	     /* fields inside of others */
	ARROW_REPEATED = 256, /* bytes and elements that rows have, for each byte of the body: */
	ARROW_REPEATED_LEAST = 65536, /* those of several rows may be the same */
};

/* --- FlatBuffers --- */

/* The metadata of a message. */
struct flat {
	const uint8_t *data;
	size_t size;
};

/* One table: the place of its fields, and of the list of their offsets. */
struct flat_table {
	struct flat flat;
	size_t at, vtable;
	unsigned vsize;
};

/* A vector: the place of its first item. */
struct flat_vector {
	size_t at, n;
};

static bool flat_open(struct flat flat, size_t at, struct flat_table *t)
{
	int64_t vtable;

	if (at > flat.size || flat.size - at < 4)
		return false;
	vtable = (int64_t)at - (int32_t)get_u32(flat.data + at);
	if (vtable < 0 || (uint64_t)vtable + 4 > flat.size)
		return false;
	*t = (struct flat_table){flat, at, (size_t)vtable, get_u16(flat.data + vtable)};
	return t->vsize >= 4 && t->vtable + t->vsize <= flat.size;
}

/* Get the place of a field of so many bytes; 0: the table does not have it. */
static size_t flat_place(const struct flat_table *t, unsigned field, size_t size)
{
	size_t place = 0;

	if (4 + 2 * field + 2 <= t->vsize)
		place = get_u16(t->flat.data + t->vtable + 4 + 2 * (size_t)field);
	return place && t->at + place + size <= t->flat.size ? t->at + place : 0;
}

static uint64_t flat_number(const struct flat_table *t, unsigned field, unsigned size,
			    uint64_t other)
{
	size_t place = flat_place(t, field, size);

	return place ? get_uint(t->flat.data + place, size, false) : other;
}

/* Get what a field refers to; 0: the table does not have it. */
static size_t flat_target(const struct flat_table *t, unsigned field)
{
	size_t place = flat_place(t, field, 4);

	return place ? place + get_u32(t->flat.data + place) : 0;
}

static bool flat_child(const struct flat_table *t, unsigned field, struct flat_table *child)
{
	size_t at = flat_target(t, field);

	return at && flat_open(t->flat, at, child);
}

/* Get a vector of items of so many bytes; one that is not there, or damaged, has none. */
static struct flat_vector flat_get_vector(const struct flat_table *t, unsigned field, size_t size)
{
	size_t at = flat_target(t, field);
	struct flat_vector v = {0};

	if (!at || at > t->flat.size || t->flat.size - at < 4)
		return v;
	v = (struct flat_vector){at + 4, get_u32(t->flat.data + at)};
	return v.n > (t->flat.size - v.at) / size ? (struct flat_vector){0} : v;
}

/* Get the table that an item of a vector refers to. */
static bool flat_item(const struct flat_table *t, struct flat_vector v, size_t i,
		      struct flat_table *item)
{
	size_t at = v.at + 4 * i;

	return flat_open(t->flat, at + get_u32(t->flat.data + at), item);
}

/* --- fields --- */

struct arrow_bytes {
	const uint8_t *at;
	size_t n;
};

/* A field of the schema, and its values in the present batch. Fields inside of it follow. */
struct arrow_input_field {
	const char *name;
	size_t name_size;
	enum arrow_type type;
	unsigned width;	    /* bytes of a number, an offset or an index; 0: none */
	bool is_signed;	    /* the number, or the index */
	uint64_t scale;	    /* ns of a time; 0: none */
	uint64_t list_size; /* of a list of fixed size */
	size_t next;	    /* the field after those inside */
	size_t words;	    /* number of its dictionary + 1; 0: none */
	enum arrow_type of; /* the type of its values, if it has a dictionary */
	unsigned of_width;
	bool of_signed;
	/* of the batch */
	uint64_t length;
	struct arrow_bytes valid, data, bytes; /* bytes: of texts */
	size_t views, nviews;		       /* in arrow_rows.spans */
	bool absent;			       /* it has no bytes: all values are null */
};

/* A dictionary: its words as cells. */
struct arrow_words {
	uint64_t id;
	struct buffer texts, ends, tokens; /* ends: u64 each; tokens: u8 */
};

/* One input. */
struct arrow_rows {
	struct input *input;
	struct input_lines *lines;
	struct buffer schema; /* which has the names of the fields */
	struct arrow_input_field *fields;
	size_t nfields, capacity, ncolumns;
	struct arrow_words *words;
	size_t nwords, words_capacity;
	uint64_t words_bytes;
	uint64_t offset; /* of the present message */
	size_t pending;	 /* bytes of it, which are still in lines */
	bool named;	 /* the names of the columns were read */
	bool file, ended;
	struct arrow_bytes *spans; /* buffers of the batch */
	size_t nspans, spans_capacity;
	struct buffer unpacked;
	uint64_t rows, row;
	uint64_t budget; /* bytes and elements that rows may have */
	struct buffer text, number;
	const char *why;
};

/* Note why a message is damaged. */
static bool arrow_bad(struct arrow_rows *a, const char *why)
{
	a->why = why;
	return false;
}

static uint64_t arrow_unit(uint64_t unit)
{
	static const uint64_t units[] = {1000000000, 1000000, 1000, 1};

	return unit <= ARROW_NANOSECOND ? units[unit] : 0;
}

/* Set the type of a field, without a dictionary. Returns false if it is not read. */
static bool arrow_set_type(struct arrow_input_field *f, const struct flat_table *type)
{
	f->is_signed = true;
	switch (f->type) {
	case ARROW_NULL:
	case ARROW_BOOL:
	case ARROW_STRUCT: return true;
	case ARROW_INT:
		f->width = (unsigned)flat_number(type, 0, 4, 0) / 8;
		f->is_signed = flat_number(type, 1, 1, 0);
		return f->width == 1 || f->width == 2 || f->width == 4 || f->width == 8;
	case ARROW_FLOAT: f->width = 2u << flat_number(type, 0, 2, 0) % 4; return f->width <= 8;
	case ARROW_DATE:
		f->width = flat_number(type, 0, 2, 1) ? 8 : 4;
		f->scale = (f->width == 8 ? 1 : 86400000) * UINT64_C(1000000);
		return true;
	case ARROW_TIME:
		f->width = (unsigned)flat_number(type, 1, 4, 32) / 8;
		f->scale = arrow_unit(flat_number(type, 0, 2, ARROW_MILLISECOND));
		return f->width == 4 || f->width == 8;
	case ARROW_TIMESTAMP:
	case ARROW_DURATION:
		f->width = 8;
		f->scale = arrow_unit(flat_number(
			type, 0, 2, f->type == ARROW_DURATION ? ARROW_MILLISECOND : ARROW_SECOND));
		return f->scale;
	case ARROW_FIXED_LIST:
		f->list_size = (uint32_t)flat_number(type, 0, 4, 0);
		return f->list_size <= INT32_MAX;
	case ARROW_BINARY:
	case ARROW_UTF8:
	case ARROW_LIST:
	case ARROW_MAP: f->width = 4; return true;
	case ARROW_LARGE_BINARY:
	case ARROW_LARGE_UTF8:
	case ARROW_LARGE_LIST: f->width = 8; return true;
	case ARROW_BINARY_VIEW:
	case ARROW_UTF8_VIEW: f->width = 16; return true;
	}
	return false;
}

static bool arrow_is_list(enum arrow_type type)
{
	return type == ARROW_LIST || type == ARROW_LARGE_LIST || type == ARROW_MAP ||
	       type == ARROW_FIXED_LIST;
}

static bool arrow_is_nested(enum arrow_type type)
{
	return type == ARROW_STRUCT || arrow_is_list(type);
}

static bool arrow_is_text(enum arrow_type type)
{
	return type == ARROW_BINARY || type == ARROW_UTF8 || type == ARROW_LARGE_BINARY ||
	       type == ARROW_LARGE_UTF8;
}

static bool arrow_is_view(enum arrow_type type)
{
	return type == ARROW_BINARY_VIEW || type == ARROW_UTF8_VIEW;
}

/* Get the number of the dictionary of an id + 1; 0: out of memory. */
static size_t arrow_words_of(struct arrow_rows *a, uint64_t id)
{
	for (size_t i = 0; i < a->nwords; i++)
		if (a->words[i].id == id)
			return i + 1;
	if (ARRAY_GROW(a->words, a->words_capacity, a->nwords))
		return 0;
	a->words[a->nwords] = (struct arrow_words){.id = id};
	return ++a->nwords;
}

/* Set the dictionary of a field. Returns 0; 1: it is not read; -1: out of memory. */
static int arrow_set_dictionary(struct arrow_rows *a, struct arrow_input_field *f,
				const struct flat_table *encoding)
{
	struct flat_table index;

	if (arrow_is_nested(f->type))
		return 1;
	f->of = f->type;
	f->of_width = f->width;
	f->of_signed = f->is_signed;
	f->type = ARROW_INT;
	f->width = 4;
	f->is_signed = true;
	f->scale = 0;
	if (flat_child(encoding, 1, &index) && !arrow_set_type(f, &index))
		return 1;
	f->words = arrow_words_of(a, flat_number(encoding, 0, 8, 0));
	return f->words ? 0 : -1;
}

/* Add a field of the schema, and those inside of it. */
static int arrow_add_field(struct arrow_rows *a, const struct flat_table *t, unsigned depth,
			   struct error *e)
{
	size_t name = flat_target(t, 0), at = a->nfields;
	struct flat_vector children = flat_get_vector(t, 5, 4);
	struct arrow_input_field f = {.name = "", .type = (enum arrow_type)flat_number(t, 2, 1, 0)};
	struct flat_table type = {0}, child;
	int other = 0;

	if (depth == ARROW_DEPTH || at == ARROW_FIELDS_MOST)
		return error_set(e, a->input->name, a->offset,
				 "the schema has more than %d fields, or %d inside of each other",
				 ARROW_FIELDS_MOST, ARROW_DEPTH);
	if (name && name + 4 <= t->flat.size &&
	    get_u32(t->flat.data + name) <= t->flat.size - name - 4) {
		f.name = (const char *)t->flat.data + name + 4;
		f.name_size = get_u32(t->flat.data + name);
	}
	if (!flat_child(t, 3, &type) || !arrow_set_type(&f, &type))
		other = 1;
	if (!other && flat_child(t, 4, &child))
		other = arrow_set_dictionary(a, &f, &child);
	if (other < 0 || ARRAY_GROW(a->fields, a->capacity, a->nfields))
		return error_no_memory(e);
	if (other || (arrow_is_list(f.type) && children.n != 1))
		return error_set(e, a->input->name, a->offset,
				 "the column '%.*s' has a type that is not read (number %d of "
				 "Arrow): convert it to a number or a text",
				 (int)(f.name_size < 64 ? f.name_size : 64), f.name, (int)f.type);
	a->fields[a->nfields++] = f;
	for (size_t i = 0; i < children.n && arrow_is_nested(f.type); i++) {
		if (!flat_item(t, children, i, &child))
			return error_set(e, a->input->name, a->offset, "the schema is damaged");
		if (arrow_add_field(a, &child, depth + 1, e))
			return -1;
	}
	a->fields[at].next = a->nfields;
	return 0;
}

/* Read the schema: the fields of the table t. Its names are in a copy of the metadata. */
static int arrow_read_schema(struct arrow_rows *a, struct flat flat, struct error *e)
{
	struct flat_table message, schema, field;
	struct flat_vector fields;

	if (buffer_append(&a->schema, flat.data, flat.size))
		return error_no_memory(e);
	flat.data = a->schema.data;
	if (!flat_open(flat, get_u32(flat.data), &message) || !flat_child(&message, 2, &schema))
		return error_set(e, a->input->name, a->offset, "the schema is damaged");
	if (flat_number(&schema, 0, 2, 0))
		return error_set(e, a->input->name, a->offset,
				 "its numbers are big-endian: write it on another machine");
	fields = flat_get_vector(&schema, 1, 4);
	for (size_t i = 0; i < fields.n; i++) {
		if (!flat_item(&schema, fields, i, &field))
			return error_set(e, a->input->name, a->offset, "the schema is damaged");
		if (arrow_add_field(a, &field, 0, e))
			return -1;
	}
	a->ncolumns = fields.n;
	return 0;
}

/* --- batches --- */

/* A batch while it is read. */
struct arrow_batch {
	struct flat_table table;
	struct flat_vector nodes, variadic;
	size_t node, view, span;
	uint64_t values_most; /* of a field, as each takes a bit or more */
};

/* Append the content of a compressed buffer. Returns 0; 1: it is damaged; -1: out of memory. */
static int arrow_unpack(struct arrow_rows *a, struct arrow_bytes packed)
{
	struct buffer *to = &a->unpacked;
	ZSTD_inBuffer in = {packed.at, packed.n, 8};
	uint64_t size;
	size_t result = 1;
	ZSTD_DStream *z;

	if (packed.n < 8)
		return packed.n ? 1 : 0;
	size = get_u64(packed.at);
	if (size == UINT64_MAX)
		return buffer_append(to, packed.at + 8, packed.n - 8);
	if (size > ARROW_BODY_MOST - to->size)
		return 1;
	z = ZSTD_createDStream();
	size += to->size;
	while (z && result && to->size < size) {
		uint64_t piece = size - to->size < 1 << 17 ? size - to->size : 1 << 17;
		ZSTD_outBuffer out;
		size_t before = in.pos;

		if (buffer_reserve(to, piece)) {
			ZSTD_freeDStream(z);
			return -1;
		}
		out = (ZSTD_outBuffer){to->data + to->size, piece, 0};
		result = ZSTD_decompressStream(z, &out, &in);
		to->size += out.pos;
		if (ZSTD_isError(result) || (!out.pos && in.pos == before))
			break;
	}
	ZSTD_freeDStream(z);
	return !z ? -1 : to->size != size;
}

/* Find the buffers of a batch. Returns 0; 1: it is damaged; -1: out of memory. */
static int arrow_find_spans(struct arrow_rows *a, struct arrow_batch *b, struct arrow_bytes body)
{
	struct flat_vector buffers = flat_get_vector(&b->table, 2, 16);
	struct flat_table compression;
	bool packed = flat_child(&b->table, 3, &compression);
	const uint8_t *p = b->table.flat.data + buffers.at;

	a->nspans = 0;
	buffer_clear(&a->unpacked);
	if (packed && flat_number(&compression, 0, 1, ARROW_LZ4) != ARROW_ZSTD) {
		arrow_bad(a, "it is compressed by lz4: write it without compression, or by zstd");
		return 1;
	}
	for (size_t i = 0; i < buffers.n; i++, p += 16) {
		uint64_t at = get_u64(p), n = get_u64(p + 8);
		struct arrow_bytes span = {body.at, n};
		size_t from = a->unpacked.size;
		int bad;

		if (at > body.n || n > body.n - at)
			return 1;
		span.at += at;
		if (ARRAY_GROW(a->spans, a->spans_capacity, a->nspans))
			return -1;
		if (packed) {
			bad = arrow_unpack(a, span);
			if (bad)
				return bad;
			span = (struct arrow_bytes){NULL, a->unpacked.size - from};
		}
		a->spans[a->nspans++] = span;
	}
	for (size_t i = 0, at = 0; packed && i < a->nspans; at += a->spans[i++].n)
		a->spans[i].at = a->unpacked.data ? a->unpacked.data + at : body.at;
	b->values_most = 8 * (uint64_t)(packed ? a->unpacked.size : body.n);
	a->budget = ARROW_REPEATED_LEAST + b->values_most / 8 * ARROW_REPEATED;
	return 0;
}

static bool arrow_take_span(const struct arrow_rows *a, struct arrow_batch *b,
			    struct arrow_bytes *span)
{
	if (b->span == a->nspans)
		return false;
	*span = a->spans[b->span++];
	return true;
}

/* Read the node and the buffers of a field. */
static bool arrow_load_field(const struct arrow_rows *a, struct arrow_batch *b,
			     struct arrow_input_field *f)
{
	const uint8_t *node = b->table.flat.data + b->nodes.at + 16 * b->node;
	bool offsets = arrow_is_text(f->type) || (arrow_is_list(f->type) && f->width);
	uint64_t needed;

	if (b->node == b->nodes.n)
		return false;
	b->node++;
	f->length = get_u64(node);
	f->valid = f->data = f->bytes = (struct arrow_bytes){0};
	if (f->length > b->values_most)
		return false;
	if (f->type == ARROW_NULL)
		return true;
	if (!arrow_take_span(a, b, &f->valid) || (f->valid.n && f->valid.n < (f->length + 7) / 8))
		return false;
	needed = f->type == ARROW_BOOL ? (f->length + 7) / 8 : f->width * f->length;
	if (offsets)
		needed = f->length ? f->width * (f->length + 1) : 0;
	if ((f->width || f->type == ARROW_BOOL) &&
	    (!arrow_take_span(a, b, &f->data) || f->data.n < needed))
		return false;
	if (arrow_is_text(f->type))
		return arrow_take_span(a, b, &f->bytes);
	if (!arrow_is_view(f->type))
		return true;
	if (b->view == b->variadic.n)
		return false;
	f->nviews = get_u64(b->table.flat.data + b->variadic.at + 8 * b->view++);
	f->views = b->span;
	if (f->nviews > a->nspans - b->span)
		return false;
	b->span += f->nviews;
	return true;
}

/* Begin with a batch, and find its buffers; as arrow_find_spans. */
static int arrow_begin_batch(struct arrow_rows *a, struct arrow_batch *b, struct arrow_bytes body)
{
	b->nodes = flat_get_vector(&b->table, 1, 16);
	b->variadic = flat_get_vector(&b->table, 4, 8);
	return arrow_find_spans(a, b, body);
}

/* Load a record batch; as arrow_find_spans. */
static int arrow_load_batch(struct arrow_rows *a, struct arrow_batch *b, struct arrow_bytes body)
{
	uint64_t rows = flat_number(&b->table, 0, 8, 0);
	int bad = arrow_begin_batch(a, b, body);

	if (bad)
		return bad;
	if (rows > b->values_most)
		return 1;
	for (size_t i = 0; i < a->nfields; i++)
		if (!arrow_load_field(a, b, &a->fields[i]))
			return 1;
	for (size_t i = 0; i < a->nfields; i = a->fields[i].next) {
		struct arrow_input_field *f = &a->fields[i];

		f->absent = true;
		for (size_t k = i; k < f->next; k++)
			f->absent &= !a->fields[k].valid.n && !a->fields[k].data.n;
		if (!f->absent && f->length != rows)
			return 1;
	}
	a->rows = rows;
	a->row = 0;
	return 0;
}

/* --- values --- */

/* Get what a number or a bit is. */
static int64_t arrow_integer(const struct arrow_input_field *f, uint64_t row)
{
	unsigned unused = 64 - 8 * f->width;
	uint64_t n = get_uint(f->data.at + f->width * row, f->width, false);

	return f->is_signed ? (int64_t)(n << unused) >> unused : (int64_t)n;
}

static double arrow_half(uint16_t half)
{
	double sign = half & 0x8000 ? -1 : 1;
	int exponent = half >> 10 & 31, digits = half & 1023;

	if (exponent == 31)
		return digits ? (double)NAN : sign * (double)INFINITY;
	return sign * (exponent ? ldexp(digits + 1024, exponent - 25) : ldexp(digits, -24));
}

/* Append a number, with a NUL after it. */
static int arrow_put_number(const struct arrow_input_field *f, uint64_t row, struct buffer *to,
			    struct in_cell *cell)
{
	const uint8_t *p = f->data.at + f->width * row;
	size_t from = to->size;
	double real;
	int bad;

	cell->token = JSON_NUMBER;
	if (f->type == ARROW_FLOAT) {
		real = f->width == 2   ? arrow_half(get_u16(p))
		       : f->width == 4 ? (double)get_float(p)
				       : get_double(p);
		if (!isfinite(real)) {
			cell->token = JSON_STRING;
			bad = buffer_puts(to, isnan(real) ? "nan" : real < 0 ? "-inf" : "inf");
		} else {
			bad = f->width == 4 ? json_append_float(to, (float)real)
					    : json_append_real(to, real);
		}
	} else {
		bad = f->is_signed ? buffer_signed(to, arrow_integer(f, row))
				   : buffer_decimal(to, (uint64_t)arrow_integer(f, row));
	}
	cell->text = NULL;
	cell->size = to->size - from;
	return bad ? bad : buffer_u8(to, 0);
}

/* Count bytes and elements: those of different rows may be the same. */
static int arrow_spend(struct arrow_rows *a, uint64_t n)
{
	if (n > a->budget) {
		arrow_bad(a, "its rows repeat long texts too often");
		return 1;
	}
	a->budget -= n;
	return 0;
}

/* Get a part of bytes. Returns 0; 1: it is not inside of them. */
static int arrow_part(struct arrow_rows *a, struct arrow_bytes bytes, uint64_t from, uint64_t n,
		      struct in_cell *cell)
{
	if (from > bytes.n || n > bytes.n - from)
		return 1;
	cell->text = n ? (const char *)bytes.at + from : "";
	cell->size = n;
	return arrow_spend(a, n);
}

/* Get the offsets of a text or a list. Returns false if they descend. */
static bool arrow_offsets(const struct arrow_input_field *f, uint64_t row, uint64_t *from,
			  uint64_t *to)
{
	const uint8_t *p;

	if (f->type == ARROW_FIXED_LIST) {
		*from = row * f->list_size;
		*to = *from + f->list_size;
		return true;
	}
	p = f->data.at + f->width * row;
	*from = get_uint(p, f->width, false);
	*to = get_uint(p + f->width, f->width, false);
	return *from <= *to;
}

static int arrow_view(struct arrow_rows *a, const struct arrow_input_field *f, uint64_t row,
		      struct in_cell *cell)
{
	const uint8_t *p = f->data.at + 16 * row;
	uint32_t n = get_u32(p), number = get_u32(p + 8);

	if (n <= 12)
		return arrow_part(a, (struct arrow_bytes){p + 4, 12}, 0, n, cell);
	if (number >= f->nviews)
		return 1;
	return arrow_part(a, a->spans[f->views + number], get_u32(p + 12), n, cell);
}

/* Get a word of the dictionary of a field. */
static int arrow_get_word(struct arrow_rows *a, const struct arrow_input_field *f, uint64_t row,
			  struct in_cell *cell)
{
	const struct arrow_words *w = &a->words[f->words - 1];
	uint64_t i = (uint64_t)arrow_integer(f, row), from;

	if (i >= w->tokens.size)
		return 1;
	from = i ? get_u64(w->ends.data + 8 * (i - 1)) : 0;
	cell->token = (enum json_token)w->tokens.data[i];
	cell->text = (const char *)w->texts.data + from;
	cell->size = get_u64(w->ends.data + 8 * i) - from - 1; /* a NUL follows */
	return arrow_spend(a, cell->size);
}

/* Get a value that is neither a list nor a struct. What is no bytes of the batch is appended to
 * `to`, and the cell's text is NULL then. Returns 0; 1: it is damaged; -1: out of memory. */
static int arrow_scalar(struct arrow_rows *a, const struct arrow_input_field *f, uint64_t row,
			struct buffer *to, struct in_cell *cell)
{
	uint64_t from, end;

	*cell = (struct in_cell){"", 0, JSON_NULL, false};
	if (row >= f->length)
		return 1;
	if (f->type == ARROW_NULL || (f->valid.n && !(f->valid.at[row / 8] >> row % 8 & 1)))
		return 0;
	cell->token = JSON_STRING;
	cell->quoted = true;
	if (f->words)
		return arrow_get_word(a, f, row, cell);
	if (arrow_is_text(f->type))
		return arrow_offsets(f, row, &from, &end)
			       ? arrow_part(a, f->bytes, from, end - from, cell)
			       : 1;
	if (arrow_is_view(f->type))
		return arrow_view(a, f, row, cell);
	if (f->type == ARROW_BOOL) {
		bool set = f->data.at[row / 8] >> row % 8 & 1;

		cell->token = set ? JSON_TRUE : JSON_FALSE;
		cell->text = set ? "true" : "false";
		cell->size = set ? 4 : 5;
		return 0;
	}
	return arrow_put_number(f, row, to, cell);
}

static bool arrow_is_null(const struct arrow_input_field *f, uint64_t row)
{
	return f->type == ARROW_NULL || (f->valid.n && !(f->valid.at[row / 8] >> row % 8 & 1));
}

/* Append a value as JSON; as arrow_scalar. */
static int arrow_put_json(struct arrow_rows *a, size_t i, uint64_t row, struct buffer *to);

static int arrow_put_list(struct arrow_rows *a, size_t i, uint64_t row, struct buffer *to)
{
	uint64_t from, end;
	int bad = 0;

	if (!arrow_offsets(&a->fields[i], row, &from, &end) || end > a->fields[i + 1].length ||
	    arrow_spend(a, end - from))
		return 1;
	if (buffer_u8(to, '['))
		return -1;
	for (uint64_t k = from; k < end && !bad; k++) {
		if (k > from && buffer_u8(to, ','))
			return -1;
		bad = arrow_put_json(a, i + 1, k, to);
	}
	return bad ? bad : buffer_u8(to, ']');
}

static int arrow_put_struct(struct arrow_rows *a, size_t i, uint64_t row, struct buffer *to)
{
	bool first = true;
	int bad = 0;

	if (buffer_u8(to, '{'))
		return -1;
	for (size_t k = i + 1; k < a->fields[i].next && !bad; k = a->fields[k].next) {
		const struct arrow_input_field *f = &a->fields[k];

		if (row >= f->length || arrow_spend(a, 1))
			return 1;
		if (arrow_is_null(f, row))
			continue;
		if ((!first && buffer_u8(to, ',')) ||
		    json_append_string(to, f->name, f->name_size) || buffer_u8(to, ':'))
			return -1;
		first = false;
		bad = arrow_put_json(a, k, row, to);
	}
	return bad ? bad : buffer_u8(to, '}');
}

static int arrow_put_json(struct arrow_rows *a, size_t i, uint64_t row, struct buffer *to)
{
	const struct arrow_input_field *f = &a->fields[i];
	struct in_cell cell;
	int bad;

	if (row >= f->length)
		return 1;
	if (arrow_is_null(f, row))
		return buffer_puts(to, "null");
	if (arrow_is_nested(f->type))
		return f->type == ARROW_STRUCT ? arrow_put_struct(a, i, row, to)
					       : arrow_put_list(a, i, row, to);
	a->number.size = 0;
	bad = arrow_scalar(a, f, row, &a->number, &cell);
	if (bad)
		return bad;
	cell.text = cell.text ? cell.text : (const char *)a->number.data;
	return cell.token == JSON_STRING ? json_append_string(to, cell.text, cell.size)
					 : buffer_append(to, cell.text, cell.size);
}

/* Get the field of the names of a stack, a list of structs; 0: the column is none. */
static size_t arrow_stack_names(const struct arrow_rows *a, size_t i)
{
	const struct arrow_input_field *f = &a->fields[i];

	if (f->name_size != 5 || memcmp(f->name, "stack", 5) != 0 || !arrow_is_list(f->type) ||
	    a->fields[i + 1].type != ARROW_STRUCT)
		return 0;
	for (size_t k = i + 2; k < f->next; k = a->fields[k].next)
		if (a->fields[k].name_size == 4 && !memcmp(a->fields[k].name, "name", 4) &&
		    !arrow_is_nested(a->fields[k].type))
			return k;
	return 0;
}

/* Append the names of the frames of a stack, the outermost first. */
static int arrow_put_names(struct arrow_rows *a, size_t i, size_t names, uint64_t row,
			   struct buffer *to)
{
	uint64_t from, end;
	int bad = 0;

	if (!arrow_offsets(&a->fields[i], row, &from, &end) || end > a->fields[names].length ||
	    arrow_spend(a, end - from))
		return 1;
	if (buffer_u8(to, '['))
		return -1;
	for (uint64_t k = end; k-- > from && !bad;) {
		if (k + 1 < end && buffer_u8(to, ','))
			return -1;
		if (arrow_is_null(&a->fields[names], k))
			bad = buffer_puts(to, "\"?\"");
		else
			bad = arrow_put_json(a, names, k, to);
	}
	return bad ? bad : buffer_u8(to, ']');
}

/* Get the cell of a column; as arrow_scalar. */
static int arrow_cell(struct arrow_rows *a, size_t i, struct in_cell *cell)
{
	const struct arrow_input_field *f = &a->fields[i];
	size_t from = a->text.size, names;
	int bad;

	*cell = (struct in_cell){"", 0, JSON_NULL, false};
	if (f->absent)
		return 0;
	if (!arrow_is_nested(f->type))
		return arrow_scalar(a, f, a->row, &a->text, cell);
	if (a->row >= f->length)
		return 1;
	if (arrow_is_null(f, a->row))
		return 0;
	names = arrow_stack_names(a, i);
	bad = names ? arrow_put_names(a, i, names, a->row, &a->text)
		    : arrow_put_json(a, i, a->row, &a->text);
	*cell = (struct in_cell){NULL, a->text.size - from,
				 f->type == ARROW_STRUCT ? JSON_OBJECT : JSON_ARRAY, true};
	return bad ? bad : buffer_u8(&a->text, 0);
}

/* Get the cells of the present row; as arrow_scalar. */
static int arrow_get_row(struct arrow_rows *a, struct in_cell *cells)
{
	size_t at = 0, n = 0;
	int bad = 0;

	a->text.size = 0;
	for (size_t i = 0; i < a->nfields && !bad; i = a->fields[i].next)
		bad = arrow_cell(a, i, &cells[n++]);
	/* texts have their places now */
	for (size_t i = 0; i < n && !bad; i++)
		if (!cells[i].text) {
			cells[i].text = (const char *)a->text.data + at;
			at += cells[i].size + 1;
		}
	return bad;
}

/* --- dictionaries --- */

/* Read the words of a dictionary batch; as arrow_find_spans. */
static int arrow_load_words(struct arrow_rows *a, const struct flat_table *header,
			    struct arrow_bytes body)
{
	uint64_t id = flat_number(header, 0, 8, 0);
	bool more = flat_number(header, 2, 1, 0);
	struct arrow_input_field f = {0};
	struct arrow_batch b = {0};
	struct arrow_words *w;
	int bad;

	for (size_t i = 0; i < a->nfields && !f.words; i++)
		if (a->fields[i].words && a->words[a->fields[i].words - 1].id == id)
			f = a->fields[i];
	if (!f.words)
		return 0; /* of no column */
	w = &a->words[f.words - 1];
	f = (struct arrow_input_field){.type = f.of, .width = f.of_width, .is_signed = f.of_signed};
	if (!flat_child(header, 1, &b.table))
		return 1;
	bad = arrow_begin_batch(a, &b, body);
	if (bad || !arrow_load_field(a, &b, &f) || f.type == ARROW_NULL)
		return bad ? bad : 1;
	if (!more) {
		a->words_bytes -= w->texts.size;
		w->texts.size = w->ends.size = w->tokens.size = 0;
	}
	for (uint64_t i = 0; i < f.length && !bad; i++) {
		struct in_cell cell;

		a->number.size = 0;
		bad = arrow_scalar(a, &f, i, &a->number, &cell);
		if (bad)
			break;
		cell.text = cell.text ? cell.text : (const char *)a->number.data;
		a->words_bytes += cell.size + 1;
		if (a->words_bytes > ARROW_BODY_MOST)
			arrow_bad(a, "the dictionaries have more than 256 MiB");
		bad = a->words_bytes > ARROW_BODY_MOST ? 1
		      : buffer_append(&w->texts, cell.text, cell.size) || buffer_u8(&w->texts, 0) ||
				      buffer_u64(&w->ends, w->texts.size) ||
				      buffer_u8(&w->tokens, (uint8_t)cell.token)
			      ? -1
			      : 0;
	}
	return bad;
}

/* --- messages --- */

/* Skip the message that was read. */
static void arrow_skip(struct arrow_rows *a)
{
	a->lines->begin += a->pending;
	a->offset += a->pending;
	a->pending = 0;
}

/* Read so many bytes of the message. Returns 1; 0: the input ends before; -1 with *e filled. */
static int arrow_need(struct arrow_rows *a, size_t n, const uint8_t **at, struct error *e)
{
	if (input_lines_fill(a->lines, a->input, n, e))
		return -1;
	*at = a->lines->data.data + a->lines->begin;
	return a->lines->data.size - a->lines->begin >= n;
}

static int arrow_cut(struct arrow_rows *a)
{
	a->ended = true;
	if (a->lines->data.size > a->lines->begin || !a->nfields)
		input_short(a->input, a->input->name, a->offset,
			    "the input ends within a message of Arrow");
	return 0;
}

/* Take the mark before the first message of a file. */
static int arrow_take_mark(struct arrow_rows *a, struct error *e)
{
	const uint8_t *at;
	int got = a->offset ? 0 : arrow_need(a, 8, &at, e);

	if (got < 0)
		return -1;
	a->file |= got && !memcmp(at, "ARROW1\0", 8);
	if (got && a->file) {
		a->pending = 8;
		arrow_skip(a);
	}
	return 0;
}

/* End with the mark of the end, of so many bytes. */
static int arrow_end_of_stream(struct arrow_rows *a, size_t size, struct error *e)
{
	const uint8_t *at;
	int got = a->file ? 0 : arrow_need(a, size + 1, &at, e);

	a->ended = true;
	if (got > 0)
		input_damage(a->input, a->input->name, a->offset + size,
			     "what follows the end of the stream is not read");
	return got < 0 ? -1 : 0;
}

/* Read the metadata of the next message. Returns as arrow_need; *head: bytes before it. */
static int arrow_read_head(struct arrow_rows *a, struct flat *meta, size_t *head, struct error *e)
{
	const uint8_t *at;
	int got;

	arrow_skip(a);
	if (arrow_take_mark(a, e))
		return -1;
	got = arrow_need(a, 4, &at, e);
	if (got <= 0)
		return got < 0 ? -1 : arrow_cut(a);
	/* streams of before 2019 have no mark before the size */
	*head = get_u32(at) == UINT32_MAX ? 8 : 4;
	got = arrow_need(a, *head, &at, e);
	if (got <= 0)
		return got < 0 ? -1 : arrow_cut(a);
	meta->size = get_u32(at + *head - 4);
	if (!meta->size)
		return arrow_end_of_stream(a, *head, e);
	if (meta->size > ARROW_META_MOST || meta->size < 8)
		return error_set(e, a->input->name, a->offset, "this is no message of Arrow");
	got = arrow_need(a, *head + meta->size, &at, e);
	meta->data = got > 0 ? at + *head : NULL;
	return got ? got : arrow_cut(a);
}

/* Take a message other than the schema; as arrow_find_spans. */
static int arrow_take_message(struct arrow_rows *a, const struct flat_table *message,
			      struct arrow_bytes body)
{
	unsigned kind = (unsigned)flat_number(message, 1, 1, 0);
	struct arrow_batch b = {0};
	struct flat_table header;

	arrow_bad(a, "its metadata is damaged");
	if (!flat_child(message, 2, &header))
		return 1;
	if (kind == ARROW_DICTIONARY)
		return arrow_load_words(a, &header, body);
	b.table = header;
	return kind == ARROW_BATCH ? arrow_load_batch(a, &b, body) : 0;
}

/* Read the next message. Returns 1; 0: no more; -1 with *e filled. */
static int arrow_next_message(struct arrow_rows *a, struct error *e)
{
	struct flat_table message;
	struct arrow_bytes body;
	struct flat meta = {0};
	const uint8_t *at;
	size_t head;
	int got = arrow_read_head(a, &meta, &head, e), bad;

	if (got <= 0)
		return got;
	if (!flat_open(meta, get_u32(meta.data), &message))
		return error_set(e, a->input->name, a->offset, "this is no message of Arrow");
	body.n = flat_number(&message, 3, 8, 0);
	if (body.n > ARROW_BODY_MOST)
		return error_set(e, a->input->name, a->offset,
				 "a batch has more than 256 MiB: write smaller ones");
	got = arrow_need(a, head + meta.size + body.n, &at, e);
	if (got <= 0)
		return got < 0 ? -1 : arrow_cut(a);
	a->pending = head + meta.size + body.n;
	meta.data = at + head;
	body.at = meta.data + meta.size;
	message.flat = meta;
	if (!a->schema.size)
		return flat_number(&message, 1, 1, 0) == ARROW_SCHEMA
			       ? arrow_read_schema(a, meta, e) ? -1 : 1
			       : error_set(e, a->input->name, a->offset,
					   "it does not begin with a schema of Arrow");
	bad = arrow_take_message(a, &message, body);
	if (bad > 0)
		input_damage(a->input, a->input->name, a->offset, "a batch is left out: %s",
			     a->why);
	return bad < 0 ? error_no_memory(e) : 1;
}

/* --- the rows --- */

/* Get the names of the columns as cells. */
static int arrow_get_names(struct arrow_input *in, struct in_cell *cells, size_t most, size_t *n,
			   struct error *e)
{
	struct arrow_rows *a = in->rows;
	int got = arrow_next_message(a, e);

	a->named = true;
	if (got <= 0)
		return got;
	if (a->ncolumns > most)
		return error_set(e, a->input->name, NO_OFFSET,
				 "the schema has more than %zu columns", most);
	in->scales = calloc(a->ncolumns + 1, sizeof *in->scales);
	if (!in->scales)
		return error_no_memory(e);
	*n = 0;
	for (size_t i = 0; i < a->nfields; i = a->fields[i].next) {
		in->scales[*n] = a->fields[i].scale;
		cells[(*n)++] = (struct in_cell){a->fields[i].name, a->fields[i].name_size,
						 JSON_STRING, true};
	}
	return 1;
}

static struct arrow_rows *arrow_begin_rows(struct arrow_input *in)
{
	struct arrow_rows *a = calloc(1, sizeof *a);

	in->rows = a;
	if (a) {
		a->input = in->input;
		a->lines = in->lines;
	}
	return a;
}

int arrow_rows_next(struct arrow_input *in, struct in_cell *cells, size_t most, size_t *n,
		    uint64_t *offset, struct error *e)
{
	struct arrow_rows *a = in->rows ? in->rows : arrow_begin_rows(in);
	int bad;

	if (!a)
		return error_no_memory(e);
	if (!a->named)
		return arrow_get_names(in, cells, most, n, e);
	for (;;) {
		while (a->row == a->rows) {
			int got = a->ended ? 0 : arrow_next_message(a, e);

			if (got <= 0)
				return got;
		}
		*offset = a->offset;
		*n = a->ncolumns;
		bad = arrow_get_row(a, cells);
		if (bad <= 0)
			break;
		input_damage(a->input, a->input->name, a->offset,
			     "rows of a batch are left out: %s", a->why);
		a->row = a->rows;
	}
	a->row++;
	return bad ? error_no_memory(e) : 1;
}

void arrow_rows_free(struct arrow_input *in)
{
	struct arrow_rows *a = in->rows;

	free(in->scales);
	if (!a)
		return;
	for (size_t i = 0; i < a->nwords; i++) {
		buffer_free(&a->words[i].texts);
		buffer_free(&a->words[i].ends);
		buffer_free(&a->words[i].tokens);
	}
	free(a->words);
	free(a->fields);
	free(a->spans);
	buffer_free(&a->schema);
	buffer_free(&a->unpacked);
	buffer_free(&a->text);
	buffer_free(&a->number);
	free(a);
}
