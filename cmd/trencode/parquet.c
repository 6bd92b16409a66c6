/*
 * parquet.c - Parquet
 */
#include <inttypes.h>
#include <snappy-c.h>
#include <stdlib.h>

#include "cmd/trencode/table.h"
#include "common/protobuf/protobuf.h"
#include "common/stream/dictionary.h"
#include "common/util/buffer.h"
#include "common/util/output.h"
#include "common/util/text.h"
#include "common/util/version.h"

/*
 * Structures in Thrift's compact protocol, for Parquet's headers.
 *
 * The fields of a structure are written in ascending order.
 * Functions return 0, or -1 when out of memory.
 */

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

/* One structure while it is written. */
struct thrift {
	struct buffer *to;
	int last; /* number of the last field */
};

static inline int thrift_field(struct thrift *t, int field, enum thrift_type type)
{
	int step = field - t->last;

	/* fields of Parquet are less than 15 apart */
	t->last = field;
	return buffer_u8(t->to, (uint8_t)(step << 4 | (int)type));
}

static inline int thrift_i32(struct thrift *t, int field, int32_t v)
{
	return thrift_field(t, field, THRIFT_I32) || buffer_uleb(t->to, zigzag(v)) ? -1 : 0;
}

static inline int thrift_i64(struct thrift *t, int field, int64_t v)
{
	return thrift_field(t, field, THRIFT_I64) || buffer_uleb(t->to, zigzag(v)) ? -1 : 0;
}

static inline int thrift_binary_item(struct buffer *b, const void *p, size_t n)
{
	return buffer_uleb(b, n) || buffer_append(b, p, n) ? -1 : 0;
}

static inline int thrift_binary(struct thrift *t, int field, const void *p, size_t n)
{
	return thrift_field(t, field, THRIFT_BINARY) || thrift_binary_item(t->to, p, n) ? -1 : 0;
}

/* Begin a list; the caller appends its n items. */
static inline int thrift_list(struct thrift *t, int field, enum thrift_type type, size_t n)
{
	if (thrift_field(t, field, THRIFT_LIST))
		return -1;
	if (n < 15)
		return buffer_u8(t->to, (uint8_t)(n << 4 | type));
	return buffer_u8(t->to, (uint8_t)(0xf0 | type)) || buffer_uleb(t->to, n) ? -1 : 0;
}

/* Returns a structure inside of t; thrift_end ends it. */
static inline struct thrift thrift_inside(struct thrift *t)
{
	return (struct thrift){t->to, 0};
}

static inline int thrift_end(struct thrift *t)
{
	return buffer_u8(t->to, 0);
}

/*
 * An Apache Parquet file, written front to back.
 *
 * Values are collected by column until a row group is full, and then written, each column as one
 * page that snappy compresses. A row group has a dictionary of its names. All columns may be null.
 * A function that returns int returns 0, or -1 with *e filled.
 */

enum parquet_kind {
	PARQUET_TIME,
	PARQUET_SMALL,
	PARQUET_FLAG,
	PARQUET_INT, /* 64 bits, signed */
	PARQUET_REAL,
	/* texts */
	PARQUET_NAME,
	PARQUET_OBJECT
};

enum {
	PARQUET_ROWS = 64 * 1024,	 /* of a row group, at most */
	PARQUET_BYTES = 4 * 1024 * 1024, /* of its objects */
};

/* One column of the present row group. */
struct parquet_column {
	const char *name;
	enum parquet_kind kind;
	uint8_t *present; /* by row */
	size_t values;	  /* number of present values */
	struct buffer data;
	/* TIME: over the row group */
	uint64_t lowest, highest;
	uint64_t clamped;  /* number of values above INT64_MAX */
	uint64_t left_out; /* number of values of another kind */
	/* NAME */
	struct buffer dictionary;
	uint32_t words, *word; /* by string of the stream's dictionary: its index + 1 */
	size_t nwords;
	/* offsets of its pages in the file, and their bytes */
	uint64_t dictionary_at, data_at, packed, unpacked;
};

/* One file. */
struct parquet_file {
	struct output *out;
	const struct dictionary *strings;
	struct parquet_column *columns;
	size_t ncolumns;
	size_t rows; /* of the present row group */
	uint64_t offset, total, ngroups;
	struct buffer groups; /* their metadata for the footer */
	struct buffer page, packed, header;
};

/* The caller sets the names and kinds in columns[] before the first row, or the end. */

/* Numbers of the format (parquet.thrift). */
enum { TYPE_BOOLEAN = 0, TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_RLE_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2, CODEC_SNAPPY = 1, OPTIONAL = 1, CONVERTED_UTF8 = 0 };

static const char magic[4] = {'P', 'A', 'R', '1'};

static int parquet_put(struct parquet_file *f, const void *p, size_t n, struct error *e)
{
	f->offset += n;
	return output_write(f->out, p, n, e);
}

static int parquet_open(struct parquet_file *f, struct output *out,
			const struct dictionary *strings, size_t ncolumns, struct error *e)
{
	*f = (struct parquet_file){.out = out, .strings = strings};
	f->columns = calloc(ncolumns + 1, sizeof(*f->columns));
	if (!f->columns)
		return error_no_memory(e);
	f->ncolumns = ncolumns;
	for (size_t i = 0; i < ncolumns; i++) {
		f->columns[i].lowest = UINT64_MAX;
		f->columns[i].present = calloc(PARQUET_ROWS, 1);
		if (!f->columns[i].present)
			return error_no_memory(e);
	}
	return 0;
}

/* Begin the file, once: what is refused before its first rows leaves no byte. */
static int parquet_start(struct parquet_file *f, struct error *e)
{
	return f->offset ? 0 : parquet_put(f, magic, sizeof magic, e);
}

static void parquet_free(struct parquet_file *f)
{
	for (size_t i = 0; i < f->ncolumns; i++) {
		free(f->columns[i].present);
		free(f->columns[i].word);
		buffer_free(&f->columns[i].data);
		buffer_free(&f->columns[i].dictionary);
	}
	free(f->columns);
	buffer_free(&f->groups);
	buffer_free(&f->page);
	buffer_free(&f->packed);
	buffer_free(&f->header);
}

/* --- cells --- */

/* Add one cell of the present row. These return 0, or -1 when out of memory. */
static int parquet_number(struct parquet_column *c, size_t row, uint64_t n)
{
	c->present[row] = 1;
	c->values++;
	if (c->kind == PARQUET_FLAG)
		return buffer_u8(&c->data, n != 0);
	if (c->kind == PARQUET_SMALL)
		return buffer_u32(&c->data, (uint32_t)n);
	if (c->kind == PARQUET_INT)
		return buffer_u64(&c->data, n);
	/* the type is signed */
	if (n > INT64_MAX) {
		c->clamped++;
		n = INT64_MAX;
	}
	c->lowest = n < c->lowest ? n : c->lowest;
	c->highest = n > c->highest ? n : c->highest;
	return buffer_u64(&c->data, n);
}

static int parquet_real(struct parquet_column *c, size_t row, double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof bits);
	c->present[row] = 1;
	c->values++;
	return buffer_u64(&c->data, bits);
}

static int parquet_new_word(struct parquet_file *f, struct parquet_column *c, uint32_t string)
{
	struct text_ref text = dictionary_string(f->strings, string);
	size_t at;

	if (ARRAY_REACH(c->word, c->nwords, string))
		return -1;
	at = c->dictionary.size;
	if (buffer_u32(&c->dictionary, 0) || utf8_append(&c->dictionary, text.text, text.size))
		return -1;
	put_u32(c->dictionary.data + at, (uint32_t)(c->dictionary.size - at - 4));
	c->word[string] = ++c->words;
	return 0;
}

static int parquet_name(struct parquet_file *f, struct parquet_column *c, size_t row,
			uint32_t string)
{
	if ((string >= c->nwords || !c->word[string]) && parquet_new_word(f, c, string))
		return -1;
	c->present[row] = 1;
	c->values++;
	return buffer_u32(&c->data, c->word[string] - 1);
}

static int parquet_object(struct parquet_column *c, size_t row, const struct buffer *text)
{
	c->present[row] = 1;
	c->values++;
	/* a row group of small objects remains in memory */
	c->data.spills |= text->size > BUFFER_LARGE;
	return buffer_u32(&c->data, (uint32_t)text->size) ||
			       buffer_append_from(&c->data, text, 0, text->size)
		       ? -1
		       : 0;
}

/* --- pages --- */

/* Append n numbers of so many bits, in groups of 8, the lowest bits first. */
static int parquet_put_packed(struct buffer *b, const uint8_t *(*next)(const uint8_t *, uint32_t *),
			      const uint8_t *p, size_t n, unsigned bits)
{
	size_t groups = (n + 7) / 8, held = 0;
	uint64_t word = 0;

	if (buffer_uleb(b, groups << 1 | 1) || buffer_reserve(b, groups * bits + 8))
		return -1;
	for (size_t i = 0; i < groups * 8; i++) {
		uint32_t v = 0;

		if (i < n)
			p = next(p, &v);
		word |= (uint64_t)v << held;
		for (held += bits; held >= 8; held -= 8, word >>= 8)
			b->data[b->size++] = (uint8_t)word;
	}
	return 0;
}

static const uint8_t *next_byte(const uint8_t *p, uint32_t *v)
{
	*v = *p;
	return p + 1;
}

static const uint8_t *next_u32(const uint8_t *p, uint32_t *v)
{
	*v = get_u32(p);
	return p + 4;
}

/* Append the definition levels: which rows have a value. */
static int parquet_put_levels(struct buffer *b, const struct parquet_column *c, size_t rows)
{
	size_t at = b->size;

	if (buffer_u32(b, 0))
		return -1;
	if (c->values == rows || !c->values) {
		if (buffer_uleb(b, (uint64_t)rows << 1) || buffer_u8(b, c->values != 0))
			return -1;
	} else if (parquet_put_packed(b, next_byte, c->present, rows, 1)) {
		return -1;
	}
	put_u32(b->data + at, (uint32_t)(b->size - at - 4));
	return 0;
}

static unsigned bits_for(uint32_t n)
{
	return n > 1 ? 32 - (unsigned)__builtin_clz(n - 1) : 1;
}

static int parquet_put_values(struct buffer *b, const struct parquet_column *c)
{
	unsigned bits = bits_for(c->words);
	uint8_t byte = 0;

	switch (c->kind) {
	case PARQUET_NAME:
		return buffer_u8(b, (uint8_t)bits) || parquet_put_packed(b, next_u32, c->data.data,
									 c->values, bits)
			       ? -1
			       : 0;
	case PARQUET_FLAG:
		for (size_t i = 0; i < c->values; i++) {
			byte |= (uint8_t)(c->data.data[i] << i % 8);
			if (i % 8 == 7 || i + 1 == c->values) {
				if (buffer_u8(b, byte))
					return -1;
				byte = 0;
			}
		}
		return 0;
	default: return buffer_append_from(b, &c->data, 0, c->data.size);
	}
}

/*
 * Compress f->page into f->packed. Snappy's elements refer back by at most 64 KiB of the
 * uncompressed bytes, so compressed pieces can be joined: the length of all, then each piece
 * without its length.
 */
static int parquet_pack_page(struct parquet_file *f, struct error *e)
{
	enum { PIECE = BUFFER_PIECE };
	size_t most = snappy_max_compressed_length(PIECE), piece;
	struct buffer *b = &f->packed;

	buffer_clear(b);
	if (buffer_uleb(b, f->page.size))
		return error_no_memory(e);
	for (size_t at = 0; at < f->page.size; at += piece) {
		const char *from = (const char *)f->page.data + at;
		size_t n = most, length;

		piece = f->page.size - at < PIECE ? f->page.size - at : PIECE;
		length = varint_size(piece);
		if (buffer_reserve(b, most))
			return error_no_memory(e);
		if (snappy_compress(from, piece, (char *)b->data + b->size, &n) != SNAPPY_OK)
			return error_set(e, NULL, NO_OFFSET, "cannot compress");
		memmove(b->data + b->size, b->data + b->size + length, n - length);
		b->size += n - length;
		buffer_rest(&f->page);
	}
	return 0;
}

/* Write f->page, compressed, after its header. */
static int parquet_put_page(struct parquet_file *f, struct parquet_column *c, int type,
			    size_t values, struct error *e)
{
	bool data = type == PAGE_DATA;
	struct thrift t = {&f->header, 0}, inner;
	size_t packed;
	int r;

	f->header.size = 0;
	if (f->page.size > INT32_MAX)
		return error_no_memory(e);
	if (parquet_pack_page(f, e))
		return -1;
	packed = f->packed.size;
	r = thrift_i32(&t, 1, type) || thrift_i32(&t, 2, (int32_t)f->page.size) ||
	    thrift_i32(&t, 3, (int32_t)packed) || thrift_field(&t, data ? 5 : 7, THRIFT_STRUCT);
	inner = thrift_inside(&t);
	r = r || thrift_i32(&inner, 1, (int32_t)values) ||
	    thrift_i32(&inner, 2,
		       data && c->kind == PARQUET_NAME ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN);
	if (data)
		r = r || thrift_i32(&inner, 3, ENCODING_RLE) || thrift_i32(&inner, 4, ENCODING_RLE);
	r = r || thrift_end(&inner) || thrift_end(&t);
	if (r)
		return error_no_memory(e);
	c->packed += f->header.size + packed;
	c->unpacked += f->header.size + f->page.size;
	if (parquet_put(f, f->header.data, f->header.size, e))
		return -1;
	f->offset += packed;
	return output_write_buffer(f->out, &f->packed, e);
}

static int parquet_put_column(struct parquet_file *f, struct parquet_column *c, struct error *e)
{
	c->packed = c->unpacked = c->dictionary_at = 0;
	if (c->kind == PARQUET_NAME) {
		c->dictionary_at = f->offset;
		buffer_clear(&f->page);
		if (buffer_append(&f->page, c->dictionary.data, c->dictionary.size))
			return error_no_memory(e);
		if (parquet_put_page(f, c, PAGE_DICTIONARY, c->words, e))
			return -1;
	}
	c->data_at = f->offset;
	buffer_clear(&f->page);
	f->page.spills = f->packed.spills = c->data.file;
	if (parquet_put_levels(&f->page, c, f->rows) || parquet_put_values(&f->page, c))
		return error_no_memory(e);
	return parquet_put_page(f, c, PAGE_DATA, f->rows, e);
}

/* --- metadata for the footer --- */

static int parquet_type_of(const struct parquet_column *c)
{
	static const uint8_t types[] = {
		[PARQUET_TIME] = TYPE_INT64,	   [PARQUET_SMALL] = TYPE_INT32,
		[PARQUET_FLAG] = TYPE_BOOLEAN,	   [PARQUET_INT] = TYPE_INT64,
		[PARQUET_REAL] = TYPE_DOUBLE,	   [PARQUET_NAME] = TYPE_BYTE_ARRAY,
		[PARQUET_OBJECT] = TYPE_BYTE_ARRAY};

	return types[c->kind];
}

static int describe_statistics(struct thrift *meta, const struct parquet_column *c, size_t rows)
{
	struct thrift t = thrift_inside(meta);
	uint8_t low[8], high[8];

	put_u64(low, c->lowest);
	put_u64(high, c->highest);
	if (thrift_i64(&t, 3, (int64_t)(rows - c->values)))
		return -1;
	if (c->kind == PARQUET_TIME && c->values &&
	    (thrift_binary(&t, 5, high, 8) || thrift_binary(&t, 6, low, 8)))
		return -1;
	return thrift_end(&t);
}

static int describe_column(struct buffer *b, const struct parquet_column *c, size_t rows)
{
	struct thrift chunk = {b, 0}, meta;
	bool names = c->kind == PARQUET_NAME;
	int r = thrift_i64(&chunk, 2, (int64_t)(names ? c->dictionary_at : c->data_at)) ||
		thrift_field(&chunk, 3, THRIFT_STRUCT);

	meta = thrift_inside(&chunk);
	r = r || thrift_i32(&meta, 1, parquet_type_of(c)) || thrift_list(&meta, 2, THRIFT_I32, 2) ||
	    buffer_uleb(b, zigzag(ENCODING_RLE)) ||
	    buffer_uleb(b, zigzag(names ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN)) ||
	    thrift_list(&meta, 3, THRIFT_BINARY, 1) ||
	    thrift_binary_item(b, c->name, strlen(c->name)) || thrift_i32(&meta, 4, CODEC_SNAPPY) ||
	    thrift_i64(&meta, 5, (int64_t)rows) || thrift_i64(&meta, 6, (int64_t)c->unpacked) ||
	    thrift_i64(&meta, 7, (int64_t)c->packed) || thrift_i64(&meta, 9, (int64_t)c->data_at);
	if (names)
		r = r || thrift_i64(&meta, 11, (int64_t)c->dictionary_at);
	r = r || thrift_field(&meta, 12, THRIFT_STRUCT) || describe_statistics(&meta, c, rows);
	return r || thrift_end(&meta) || thrift_end(&chunk) ? -1 : 0;
}

static int describe_group(struct parquet_file *f)
{
	struct thrift t = {&f->groups, 0};
	uint64_t bytes = 0;
	int r = thrift_list(&t, 1, THRIFT_STRUCT, f->ncolumns);

	for (size_t i = 0; i < f->ncolumns; i++) {
		r = r || describe_column(&f->groups, &f->columns[i], f->rows);
		bytes += f->columns[i].unpacked;
	}
	return r || thrift_i64(&t, 2, (int64_t)bytes) || thrift_i64(&t, 3, (int64_t)f->rows) ||
			       thrift_end(&t)
		       ? -1
		       : 0;
}

static void clear_column(struct parquet_column *c)
{
	memset(c->present, 0, PARQUET_ROWS);
	if (c->word)
		memset(c->word, 0, c->nwords * sizeof(*c->word));
	buffer_clear(&c->data);
	c->data.spills = false;
	c->dictionary.size = 0;
	c->values = c->words = 0;
	c->lowest = UINT64_MAX;
	c->highest = 0;
}

static int parquet_put_group(struct parquet_file *f, struct error *e)
{
	if (parquet_start(f, e))
		return -1;
	for (size_t i = 0; i < f->ncolumns; i++)
		if (parquet_put_column(f, &f->columns[i], e))
			return -1;
	if (describe_group(f))
		return error_no_memory(e);
	for (size_t i = 0; i < f->ncolumns; i++)
		clear_column(&f->columns[i]);
	f->total += f->rows;
	f->ngroups++;
	f->rows = 0;
	return 0;
}

/* Complete the row. */
static int parquet_row(struct parquet_file *f, struct error *e)
{
	size_t objects = 0;

	f->rows++;
	for (size_t i = 0; i < f->ncolumns; i++)
		if (f->columns[i].kind >= PARQUET_NAME)
			objects += f->columns[i].data.size + f->columns[i].dictionary.size;
	return f->rows == PARQUET_ROWS || objects > PARQUET_BYTES ? parquet_put_group(f, e) : 0;
}

/* --- the footer --- */

static int describe_schema(struct thrift *meta, const struct parquet_file *f)
{
	struct thrift root;
	int r = thrift_list(meta, 2, THRIFT_STRUCT, f->ncolumns + 1);

	root = thrift_inside(meta);
	r = r || thrift_binary(&root, 4, "events", 6) ||
	    thrift_i32(&root, 5, (int32_t)f->ncolumns) || thrift_end(&root);
	for (size_t i = 0; !r && i < f->ncolumns; i++) {
		const struct parquet_column *c = &f->columns[i];
		struct thrift t = thrift_inside(meta), logical, string;

		r = thrift_i32(&t, 1, parquet_type_of(c)) || thrift_i32(&t, 3, OPTIONAL) ||
		    thrift_binary(&t, 4, c->name, strlen(c->name));
		if (c->kind >= PARQUET_NAME) {
			/* logicalType: the union's first member, STRING */
			r = r || thrift_i32(&t, 6, CONVERTED_UTF8) ||
			    thrift_field(&t, 10, THRIFT_STRUCT);
			logical = thrift_inside(&t);
			r = r || thrift_field(&logical, 1, THRIFT_STRUCT);
			string = thrift_inside(&logical);
			r = r || thrift_end(&string) || thrift_end(&logical);
		}
		r = r || thrift_end(&t);
	}
	return r ? -1 : 0;
}

/* Append the order of the columns: all are in the order of their types. */
static int describe_orders(struct thrift *meta, size_t ncolumns)
{
	int r = thrift_list(meta, 7, THRIFT_STRUCT, ncolumns);

	for (size_t i = 0; !r && i < ncolumns; i++) {
		struct thrift order = thrift_inside(meta), by_type;

		r = thrift_field(&order, 1, THRIFT_STRUCT);
		by_type = thrift_inside(&order);
		r = r || thrift_end(&by_type) || thrift_end(&order);
	}
	return r ? -1 : 0;
}

static int parquet_finish(struct parquet_file *f, const char *created_by, struct error *e)
{
	struct thrift meta = {&f->page, 0};
	uint8_t size[4];

	if (f->rows && parquet_put_group(f, e))
		return -1;
	f->page.size = 0;
	if (thrift_i32(&meta, 1, 1) || describe_schema(&meta, f) ||
	    thrift_i64(&meta, 3, (int64_t)f->total) ||
	    thrift_list(&meta, 4, THRIFT_STRUCT, f->ngroups) ||
	    buffer_append(&f->page, f->groups.data, f->groups.size) ||
	    thrift_binary(&meta, 6, created_by, strlen(created_by)) ||
	    describe_orders(&meta, f->ncolumns) || thrift_end(&meta))
		return error_no_memory(e);
	put_u32(size, (uint32_t)f->page.size);
	return parquet_start(f, e) || parquet_put(f, f->page.data, f->page.size, e) ||
			       parquet_put(f, size, sizeof size, e) ||
			       parquet_put(f, magic, sizeof magic, e)
		       ? -1
		       : 0;
}

/* --- the rows as an Apache Parquet file, for DuckDB, ClickHouse, Spark, pandas --- */

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
