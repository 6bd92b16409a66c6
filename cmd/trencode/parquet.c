/*
 * parquet.c - Apache Parquet files, for DuckDB, ClickHouse, Spark, pandas
 *
 *     "PAR1"
 *     row group   for each column: a page with its dictionary, a page with the rows   (zstd)
 *     row group
 *     footer      the schema; of each row group the columns with their offsets, min and max
 *     "PAR1"
 *
 * Written from parquet.thrift, Encodings.md and LogicalTypes.md of apache/parquet-format.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cmd/trencode/dataset.h"
#include "cmd/trencode/formats.h"
#include "common/protobuf/protobuf.h"
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
	THRIFT_BYTE = 3,
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

static inline int thrift_bool(struct thrift *t, int field, bool v)
{
	return thrift_field(t, field, v ? THRIFT_TRUE : THRIFT_FALSE);
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

/* Get a structure inside of t; thrift_end ends it. */
static inline struct thrift thrift_inside(struct thrift *t)
{
	return (struct thrift){t->to, 0};
}

static inline int thrift_end(struct thrift *t)
{
	return buffer_u8(t->to, 0);
}

/*
 * A column chunk: the values of a leaf of the schema in a row group.
 *
 * A column is one leaf; a column of stacks is a list of frames with a leaf for each part of them.
 */

enum {
	STATISTIC_BYTES = 64, /* of the min and max of a text; longer ones are cut */
	WORD_BYTES = 1 << 20, /* of a dictionary of texts that may be all different */
	NUMBER_WORDS = 1024,  /* of a dictionary of numbers */
	DELTA_BLOCK = 128,
	DELTA_MINI = 32,
	ZSTD_LEVEL = 1,
};

/* Numbers of the format. */
enum { TYPE_BOOLEAN = 0, TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_RLE_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2, CODEC_ZSTD = 6 };
enum { REQUIRED = 0, OPTIONAL = 1, REPEATED = 2 };
enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3, CONVERTED_UINT_64 = 14 };
enum { LOGICAL_STRING = 1, LOGICAL_LIST = 3, LOGICAL_TIMESTAMP = 8, LOGICAL_INTEGER = 10 };

static const char magic[4] = {'P', 'A', 'R', '1'};

/* What a file needs until its end, in sheet.file. */
struct parquet_file {
	struct buffer groups; /* metadata of the row groups */
	uint64_t rows, ngroups;
};

/* What is shared by the files of a run. */
struct parquet {
	struct buffer page, packed, header, low, high;
	struct buffer values;  /* u64 each: present numbers, or numbers of words */
	struct buffer present; /* by level: 1, or 0 */
	struct buffer starts;  /* the same, of a stack: 1: a frame after the first */
	struct sheet_words words;
	struct intern numbers; /* the dictionary of numbers */
	ZSTD_CCtx *zstd;
};

/* One chunk while it is written. */
struct parquet_chunk {
	struct sheet *sheet;
	const struct sheet_column *column;
	int part;	     /* of frames: enum; -1: the column itself */
	enum cell_kind kind; /* of the leaf */
	int encoding;
	size_t levels, values; /* entries, and those with a value */
	uint64_t dictionary_at, data_at, packed, unpacked;
	bool has_range, low_cut, high_cut;
};

/* --- levels and numbers --- */

/* Append n numbers of so many bits, in groups of 8, the lowest bits first. */
static int parquet_put_packed(struct buffer *b, const uint8_t *from, unsigned width, size_t n,
			      unsigned bits)
{
	size_t groups = (n + 7) / 8, held = 0;
	uint64_t word = 0;

	if (buffer_uleb(b, groups << 1 | 1) || buffer_reserve(b, groups * bits + 8))
		return -1;
	for (size_t i = 0; i < groups * 8; i++) {
		uint64_t v = i >= n ? 0 : width == 1 ? from[i] : get_u64(from + 8 * i);

		word |= v << held;
		for (held += bits; held >= 8; held -= 8, word >>= 8)
			b->data[b->size++] = (uint8_t)word;
	}
	return 0;
}

/* Append levels of so many bits, which are all equal or not. */
static int parquet_put_levels(struct buffer *b, const struct buffer *levels, unsigned bits)
{
	size_t at = b->size, n = levels->size;
	bool equal = true;

	for (size_t i = 1; i < n && equal; i++)
		equal = levels->data[i] == levels->data[0];
	if (buffer_u32(b, 0))
		return -1;
	if (equal ? buffer_uleb(b, (uint64_t)n << 1) || buffer_u8(b, n ? levels->data[0] : 0)
		  : parquet_put_packed(b, levels->data, 1, n, bits))
		return -1;
	put_u32(b->data + at, (uint32_t)(b->size - at - 4));
	return 0;
}

static unsigned bits_for(uint64_t n)
{
	return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

/* Append 32 numbers of so many bits, up to 64. */
static void parquet_put_mini(struct buffer *b, const uint64_t *v, unsigned bits)
{
	unsigned held = 0;
	uint64_t word = 0;

	for (size_t i = 0; bits && i < DELTA_MINI; i++) {
		word |= v[i] << held;
		if (held + bits >= 64) {
			put_u64(b->data + b->size, word);
			b->size += 8;
			word = held ? v[i] >> (64 - held) : 0;
			held = held + bits - 64;
		} else {
			held += bits;
		}
	}
	/* 32 numbers end with a byte */
	for (; held; held -= 8, word >>= 8)
		b->data[b->size++] = (uint8_t)word;
}

/* Append a block of differences, of numbers of 4 or 8 bytes. */
static int parquet_put_block(struct buffer *b, const uint8_t *values, size_t n, bool small)
{
	uint64_t deltas[DELTA_BLOCK] = {0};
	uint8_t *widths;
	int64_t lowest = INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		deltas[i] = get_u64(values + 8 * i) - get_u64(values + 8 * i - 8);
		if (small)
			deltas[i] = (uint64_t)(int64_t)(int32_t)deltas[i];
		lowest = (int64_t)deltas[i] < lowest ? (int64_t)deltas[i] : lowest;
	}
	for (size_t i = 0; i < DELTA_BLOCK; i++) {
		deltas[i] = i < n ? deltas[i] - (uint64_t)lowest : 0;
		if (small)
			deltas[i] = (uint32_t)deltas[i];
	}
	if (buffer_uleb(b, zigzag(lowest)) || buffer_reserve(b, 8 * DELTA_BLOCK + 16))
		return -1;
	widths = b->data + b->size;
	b->size += DELTA_BLOCK / DELTA_MINI;
	for (size_t m = 0; m < DELTA_BLOCK / DELTA_MINI; m++) {
		uint64_t all = 0;

		for (size_t i = 0; i < DELTA_MINI; i++)
			all |= deltas[m * DELTA_MINI + i];
		widths[m] = (uint8_t)bits_for(all);
		parquet_put_mini(b, deltas + m * DELTA_MINI, widths[m]);
	}
	return 0;
}

/* Append numbers as DELTA_BINARY_PACKED. */
static int parquet_put_delta(struct buffer *b, const struct buffer *values, bool small)
{
	size_t n = values->size / 8;
	int64_t first = n ? (int64_t)get_u64(values->data) : 0;

	if (buffer_uleb(b, DELTA_BLOCK) || buffer_uleb(b, DELTA_BLOCK / DELTA_MINI) ||
	    buffer_uleb(b, n) || buffer_uleb(b, zigzag(first)))
		return -1;
	for (size_t i = 1; i < n; i += DELTA_BLOCK) {
		size_t count = n - i < DELTA_BLOCK ? n - i : DELTA_BLOCK;

		if (parquet_put_block(b, values->data + 8 * i, count, small))
			return -1;
	}
	return 0;
}

/* --- pages --- */

/* Compress f->page into f->packed. */
static int parquet_pack_page(struct parquet *f, struct error *e)
{
	ZSTD_inBuffer in = {f->page.data, 0, 0};
	struct buffer *b = &f->packed;
	size_t room = ZSTD_CStreamOutSize(), left = 1;

	buffer_clear(b);
	ZSTD_CCtx_reset(f->zstd, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(f->zstd, f->page.size);
	while (in.pos < f->page.size || left) {
		ZSTD_outBuffer out;
		bool last;

		if (in.pos == in.size)
			in.size += f->page.size - in.size < BUFFER_PIECE ? f->page.size - in.size
									 : BUFFER_PIECE;
		if (buffer_reserve(b, room))
			return error_no_memory(e);
		last = in.size == f->page.size;
		out = (ZSTD_outBuffer){b->data + b->size, room, 0};
		left = ZSTD_compressStream2(f->zstd, &out, &in,
					    last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return error_set(e, NULL, NO_OFFSET, "cannot compress: %s",
					 ZSTD_getErrorName(left));
		b->size += out.pos;
		left = last ? left : 1;
		buffer_rest(&f->page);
	}
	return 0;
}

static int parquet_put_buffer(struct sheet *s, const struct buffer *b, struct error *e)
{
	size_t piece;

	for (size_t at = 0; at < b->size; at += piece) {
		piece = b->size - at < BUFFER_PIECE ? b->size - at : BUFFER_PIECE;
		if (sheet_write(s, b->data + at, piece, e))
			return -1;
		buffer_rest(b);
	}
	return 0;
}

/* Write f->page, compressed, after its header. */
static int parquet_put_page(struct parquet *f, struct parquet_chunk *c, int type, size_t values,
			    struct error *e)
{
	bool data = type == PAGE_DATA;
	struct thrift t = {&f->header, 0}, inner;
	int r;

	f->header.size = 0;
	if (f->page.size > INT32_MAX)
		return error_no_memory(e);
	if (parquet_pack_page(f, e))
		return -1;
	r = thrift_i32(&t, 1, type) || thrift_i32(&t, 2, (int32_t)f->page.size) ||
	    thrift_i32(&t, 3, (int32_t)f->packed.size) ||
	    thrift_field(&t, data ? 5 : 7, THRIFT_STRUCT);
	inner = thrift_inside(&t);
	r = r || thrift_i32(&inner, 1, (int32_t)values) ||
	    thrift_i32(&inner, 2, data ? c->encoding : ENCODING_PLAIN);
	if (data)
		r = r || thrift_i32(&inner, 3, ENCODING_RLE) || thrift_i32(&inner, 4, ENCODING_RLE);
	if (r || thrift_end(&inner) || thrift_end(&t))
		return error_no_memory(e);
	c->packed += f->header.size + f->packed.size;
	c->unpacked += f->header.size + f->page.size;
	return sheet_write(c->sheet, f->header.data, f->header.size, e)
		       ? -1
		       : parquet_put_buffer(c->sheet, &f->packed, e);
}

/* --- min and max --- */

static int parquet_set_range(struct parquet *f, struct parquet_chunk *c, const void *low,
			     const void *high, size_t n)
{
	f->low.size = f->high.size = 0;
	c->has_range = true;
	return buffer_append(&f->low, low, n) || buffer_append(&f->high, high, n) ? -1 : 0;
}

/* Set min and max of f->values. */
static int parquet_range_numbers(struct parquet *f, struct parquet_chunk *c)
{
	/* a signed order, of which that of unsigned numbers is a shift */
	uint64_t flip = c->kind == CELL_UNSIGNED ? 1ull << 63 : 0;
	int64_t low = INT64_MAX, high = INT64_MIN;
	uint8_t lowest[8], highest[8];

	for (size_t i = 0; i < f->values.size; i += 8) {
		int64_t v = (int64_t)(get_u64(f->values.data + i) ^ flip);

		low = v < low ? v : low;
		high = v > high ? v : high;
	}
	if (!f->values.size)
		return 0;
	put_u64(lowest, (uint64_t)low ^ flip);
	put_u64(highest, (uint64_t)high ^ flip);
	return parquet_set_range(f, c, lowest, highest,
				 c->kind == CELL_FLAG ? 1 : cell_width(c->kind));
}

/* The same of doubles: NaN has no order, and 0 may be -0. */
static int parquet_range_reals(struct parquet *f, struct parquet_chunk *c)
{
	double low = 0, high = 0, v;
	bool any = false;

	for (size_t i = 0; i < f->values.size; i += 8) {
		memcpy(&v, f->values.data + i, 8);
		if (__builtin_isnan(v))
			continue;
		low = !any || v < low ? v : low;
		high = !any || v > high ? v : high;
		any = true;
	}
	low = low == 0 ? -0.0 : low;
	high = high == 0 ? 0.0 : high;
	return any ? parquet_set_range(f, c, &low, &high, 8) : 0;
}

/* Cut a text of a range at the end of a character. */
static void parquet_cut(struct buffer *b, bool *cut)
{
	size_t n = STATISTIC_BYTES;

	*cut = b->size > STATISTIC_BYTES;
	if (!*cut)
		return;
	while (n && (b->data[n] & 0xc0) == 0x80)
		n--;
	b->size = n;
}

/* Take a text for min and max. */
static int parquet_range_text(struct parquet *f, struct parquet_chunk *c, const uint8_t *p,
			      size_t n)
{
	struct buffer *sides[] = {&f->low, &f->high};

	n = n < STATISTIC_BYTES + 4 ? n : STATISTIC_BYTES + 4;
	for (size_t i = 0; i < 2; i++) {
		struct buffer *b = sides[i];
		size_t both = n < b->size ? n : b->size;
		int order = both ? memcmp(p, b->data, both) : 0;
		bool above = order > 0 || (!order && n > b->size);
		bool below = order < 0 || (!order && n < b->size);

		if (c->has_range && !(i ? above : below))
			continue;
		b->size = 0;
		if (buffer_append(b, p, n))
			return -1;
	}
	c->has_range = true;
	return 0;
}

/* Complete the range of texts: what was cut is no more the lowest or highest text itself. */
static void parquet_end_texts(struct parquet *f, struct parquet_chunk *c)
{
	parquet_cut(&f->low, &c->low_cut);
	parquet_cut(&f->high, &c->high_cut);
	if (!c->high_cut)
		return;
	/* above all texts that begin so: the last ASCII character is the next one */
	while (f->high.size && f->high.data[f->high.size - 1] >= 0x7e)
		f->high.size--;
	c->has_range = f->high.size;
	if (c->has_range)
		f->high.data[f->high.size - 1]++;
}

/* --- values --- */

/* Collect which rows have a value, and numbers. */
static int parquet_take_rows(struct parquet *f, struct parquet_chunk *c)
{
	const struct sheet_column *column = c->column;
	unsigned width = cell_width(c->kind);

	for (size_t i = 0; i < c->sheet->nrows; i++) {
		size_t row = sheet_row(c->sheet, i);
		const uint8_t *p = column->data.data + width * row;
		uint64_t v = width == 8 ? get_u64(p) : width == 4 ? get_u32(p) : *p;

		f->present.data[f->present.size++] = column->present.data[row];
		if (!column->present.data[row])
			continue;
		if (c->kind == CELL_SMALL)
			v = (uint64_t)(int64_t)(int32_t)v;
		else if (c->kind == CELL_NAME)
			v = sheet_word(&f->words, c->sheet, (uint32_t)v);
		if (c->kind == CELL_NAME && v == INTERN_NONE)
			return -1;
		put_u64(f->values.data + f->values.size, v);
		f->values.size += 8;
	}
	return 0;
}

/* Collect a part of the frames of stacks. */
static int parquet_take_frames(struct parquet *f, struct parquet_chunk *c)
{
	struct sheet_frame frame;

	for (size_t i = 0; i < c->sheet->nrows; i++) {
		size_t row = sheet_row(c->sheet, i);
		uint32_t stack = get_u32(c->column->data.data + 4 * row), v;

		if (!stack && (buffer_u8(&f->present, 0) || buffer_u8(&f->starts, 0)))
			return -1;
		for (bool first = true; stack; stack = frame.stack, first = false) {
			if (sheet_frame(c->sheet, stack, &frame))
				return -1;
			v = frame.parts[c->part];
			if (buffer_u8(&f->present, v ? 3 : 2) || buffer_u8(&f->starts, !first))
				return -1;
			if (v && c->kind == CELL_NAME)
				v = sheet_word(&f->words, c->sheet, v);
			if (v == INTERN_NONE || (frame.parts[c->part] && buffer_u64(&f->values, v)))
				return -1;
		}
	}
	return 0;
}

/* Collect the texts of a column as words. Returns 1: they are too many. */
static int parquet_take_words(struct parquet *f, struct parquet_chunk *c)
{
	for (size_t i = 0; i < c->sheet->nrows; i++) {
		size_t row = sheet_row(c->sheet, i), n, at;
		uint32_t word;

		f->present.data[f->present.size++] = c->column->present.data[row];
		if (!c->column->present.data[row])
			continue;
		at = sheet_text(c->column, row, &n);
		/* half of the texts are new: they are not repeated */
		if (n > WORD_BYTES || f->words.bytes > WORD_BYTES ||
		    (i > 1000 && f->words.texts.count > i / 2))
			return 1;
		word = sheet_word_text(&f->words, c->column->bytes.data + at, n);
		if (word == INTERN_NONE)
			return -1;
		put_u64(f->values.data + f->values.size, word);
		f->values.size += 8;
	}
	return 0;
}

/* Append texts as they are. */
static int parquet_put_texts(struct parquet *f, struct parquet_chunk *c)
{
	const struct sheet_column *column = c->column;

	for (size_t i = 0; i < c->sheet->nrows; i++) {
		size_t row = sheet_row(c->sheet, i), n, at;

		if (!column->present.data[row])
			continue;
		at = sheet_text(column, row, &n);
		if (buffer_u32(&f->page, (uint32_t)n) ||
		    buffer_append_from(&f->page, &column->bytes, at, n) ||
		    parquet_range_text(f, c, column->bytes.data + at, n))
			return -1;
	}
	parquet_end_texts(f, c);
	return 0;
}

/* Begin the collected values of a chunk. */
static int parquet_begin_chunk(struct parquet *f, struct parquet_chunk *c)
{
	f->present.size = f->starts.size = f->values.size = 0;
	f->low.size = f->high.size = 0;
	sheet_words_clear(&f->words);
	return buffer_reserve(&f->present, c->sheet->nrows + 1) ||
			       buffer_reserve(&f->values, 8 * c->sheet->nrows + 8)
		       ? -1
		       : 0;
}

/* Replace numbers by those in a dictionary. Returns 1: they have too many values. */
static int parquet_number_words(struct parquet *f)
{
	uint8_t key[4];
	uint32_t word;

	intern_free(&f->numbers);
	for (size_t i = 0; i < f->values.size; i += 8) {
		put_u32(key, (uint32_t)get_u64(f->values.data + i));
		word = intern(&f->numbers, key, sizeof key);
		if (word == INTERN_NONE)
			return -1;
		if (f->numbers.count > NUMBER_WORDS)
			return 1;
	}
	for (size_t i = 0; i < f->values.size; i += 8) {
		put_u32(key, (uint32_t)get_u64(f->values.data + i));
		put_u64(f->values.data + i, intern_find(&f->numbers, key, sizeof key));
	}
	return 0;
}

/* Write the page of a dictionary. */
static int parquet_put_dictionary(struct parquet *f, struct parquet_chunk *c,
				  const struct intern *words, struct error *e)
{
	bool texts = words != &f->numbers;

	c->encoding = ENCODING_RLE_DICTIONARY;
	c->dictionary_at = c->sheet->offset;
	buffer_clear(&f->page);
	for (uint32_t i = 0; i < words->count; i++) {
		const uint8_t *p = (const uint8_t *)intern_data(words, i);
		uint32_t n = intern_size(words, i);

		if ((texts && (buffer_u32(&f->page, n) || parquet_range_text(f, c, p, n))) ||
		    buffer_append(&f->page, p, n))
			return error_no_memory(e);
	}
	if (texts)
		parquet_end_texts(f, c);
	return parquet_put_page(f, c, PAGE_DICTIONARY, words->count, e);
}

/* Append the levels of the rows. */
static int parquet_put_all_levels(struct parquet *f, const struct parquet_chunk *c)
{
	bool list = c->part >= 0;

	return (list && parquet_put_levels(&f->page, &f->starts, 1)) ||
			       parquet_put_levels(&f->page, &f->present, list ? 2 : 1)
		       ? -1
		       : 0;
}

/* Append flags, 8 a byte. */
static int parquet_put_flags(struct parquet *f)
{
	uint8_t byte = 0;

	for (size_t i = 0; i < f->values.size / 8; i++) {
		byte |= (uint8_t)(f->values.data[8 * i] << i % 8);
		if (i % 8 == 7 || i + 1 == f->values.size / 8) {
			if (buffer_u8(&f->page, byte))
				return -1;
			byte = 0;
		}
	}
	return 0;
}

/* Append the numbers of words. */
static int parquet_put_indexes(struct parquet *f, uint32_t words)
{
	unsigned bits = words > 1 ? bits_for(words - 1) : 1;

	if (buffer_u8(&f->page, (uint8_t)bits))
		return -1;
	if (words == 1)
		return buffer_uleb(&f->page, (uint64_t)(f->values.size / 8) << 1) ||
				       buffer_u8(&f->page, 0)
			       ? -1
			       : 0;
	return parquet_put_packed(&f->page, f->values.data, 8, f->values.size / 8, bits);
}

/* Write the page with the collected numbers. */
static int parquet_put_numbers(struct parquet *f, struct parquet_chunk *c, struct error *e)
{
	int bad = c->kind == CELL_REAL ? parquet_range_reals(f, c) : parquet_range_numbers(f, c);
	uint32_t words = 0;

	c->encoding =
		c->kind == CELL_FLAG || c->kind == CELL_REAL ? ENCODING_PLAIN : ENCODING_DELTA;
	if (!bad && c->kind == CELL_SMALL) {
		bad = parquet_number_words(f);
		if (!bad && parquet_put_dictionary(f, c, &f->numbers, e))
			return -1;
		words = f->numbers.count;
		bad = bad < 0;
	}
	c->data_at = c->sheet->offset;
	buffer_clear(&f->page);
	if (bad || parquet_put_all_levels(f, c))
		return error_no_memory(e);
	if (c->encoding == ENCODING_RLE_DICTIONARY)
		bad = parquet_put_indexes(f, words);
	else if (c->kind == CELL_FLAG)
		bad = parquet_put_flags(f);
	else if (c->kind == CELL_REAL)
		bad = buffer_append(&f->page, f->values.data, f->values.size);
	else
		bad = parquet_put_delta(&f->page, &f->values, c->kind == CELL_SMALL);
	c->values = f->values.size / 8;
	return bad ? error_no_memory(e) : parquet_put_page(f, c, PAGE_DATA, c->levels, e);
}

/* Write the pages of a chunk of words. */
static int parquet_put_words(struct parquet *f, struct parquet_chunk *c, struct error *e)
{
	if (parquet_put_dictionary(f, c, &f->words.texts, e))
		return -1;
	c->data_at = c->sheet->offset;
	buffer_clear(&f->page);
	c->values = f->values.size / 8;
	if (parquet_put_all_levels(f, c) || parquet_put_indexes(f, f->words.texts.count))
		return error_no_memory(e);
	return parquet_put_page(f, c, PAGE_DATA, c->levels, e);
}

/* Write the page of a chunk of texts that are not repeated. */
static int parquet_put_plain(struct parquet *f, struct parquet_chunk *c, struct error *e)
{
	c->encoding = ENCODING_PLAIN;
	c->values = c->column->values;
	c->levels = c->sheet->nrows;
	c->data_at = c->sheet->offset;
	f->present.size = 0;
	for (size_t i = 0; i < c->sheet->nrows; i++)
		f->present.data[f->present.size++] =
			c->column->present.data[sheet_row(c->sheet, i)];
	buffer_clear(&f->page);
	f->page.spills = f->packed.spills = c->column->bytes.file;
	if (parquet_put_all_levels(f, c) || parquet_put_texts(f, c))
		return error_no_memory(e);
	return parquet_put_page(f, c, PAGE_DATA, c->levels, e);
}

/* Write the pages of a chunk. */
static int parquet_put_chunk(struct parquet *f, struct parquet_chunk *c, struct error *e)
{
	int got = parquet_begin_chunk(f, c);

	if (!got && c->part >= 0)
		got = parquet_take_frames(f, c);
	else if (!got && cell_is_text(c->kind))
		got = parquet_take_words(f, c);
	else if (!got)
		got = parquet_take_rows(f, c);
	if (got < 0)
		return error_no_memory(e);
	c->levels = f->present.size;
	f->page.spills = f->packed.spills = false;
	if (got)
		return parquet_put_plain(f, c, e);
	return c->kind == CELL_NAME || cell_is_text(c->kind) ? parquet_put_words(f, c, e)
							     : parquet_put_numbers(f, c, e);
}

/* --- metadata for the footer --- */

static int parquet_type_of(enum cell_kind kind)
{
	switch (kind) {
	case CELL_FLAG: return TYPE_BOOLEAN;
	case CELL_SMALL: return TYPE_INT32;
	case CELL_REAL: return TYPE_DOUBLE;
	case CELL_NAME:
	case CELL_TEXT:
	case CELL_LABEL: return TYPE_BYTE_ARRAY;
	default: return TYPE_INT64;
	}
}

static int describe_statistics(struct thrift *meta, const struct parquet *f,
			       const struct parquet_chunk *c)
{
	struct thrift t = thrift_inside(meta);

	if (thrift_i64(&t, 3, (int64_t)(c->levels - c->values)))
		return -1;
	if (c->has_range && (thrift_binary(&t, 5, f->high.data, f->high.size) ||
			     thrift_binary(&t, 6, f->low.data, f->low.size) ||
			     thrift_bool(&t, 7, !c->high_cut) || thrift_bool(&t, 8, !c->low_cut)))
		return -1;
	return thrift_end(&t);
}

/* Append the path of a leaf in the schema. */
static int describe_path(struct thrift *meta, const struct parquet_chunk *c)
{
	const char *path[] = {c->column->name, "list", "element",
			      c->part < 0 ? NULL : frame_parts[c->part]};
	size_t n = c->part < 0 ? 1 : 4;

	if (thrift_list(meta, 3, THRIFT_BINARY, n))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (thrift_binary_item(meta->to, path[i], strlen(path[i])))
			return -1;
	return 0;
}

static int describe_chunk(struct buffer *b, const struct parquet *f, const struct parquet_chunk *c)
{
	struct thrift chunk = {b, 0}, meta;
	bool words = c->encoding == ENCODING_RLE_DICTIONARY;
	int r = thrift_i64(&chunk, 2, (int64_t)(words ? c->dictionary_at : c->data_at)) ||
		thrift_field(&chunk, 3, THRIFT_STRUCT);

	meta = thrift_inside(&chunk);
	r = r || thrift_i32(&meta, 1, parquet_type_of(c->kind)) ||
	    thrift_list(&meta, 2, THRIFT_I32, words ? 3 : 2) ||
	    buffer_uleb(b, zigzag(ENCODING_RLE)) || buffer_uleb(b, zigzag(c->encoding)) ||
	    (words && buffer_uleb(b, zigzag(ENCODING_PLAIN))) || describe_path(&meta, c) ||
	    thrift_i32(&meta, 4, CODEC_ZSTD) || thrift_i64(&meta, 5, (int64_t)c->levels) ||
	    thrift_i64(&meta, 6, (int64_t)c->unpacked) ||
	    thrift_i64(&meta, 7, (int64_t)c->packed) || thrift_i64(&meta, 9, (int64_t)c->data_at);
	if (words)
		r = r || thrift_i64(&meta, 11, (int64_t)c->dictionary_at);
	r = r || thrift_field(&meta, 12, THRIFT_STRUCT) || describe_statistics(&meta, f, c);
	return r || thrift_end(&meta) || thrift_end(&chunk) ? -1 : 0;
}

/* Count the leaves of a column, and of all. */
static int parquet_leaves(const struct sheet_column *c)
{
	return c->kind == CELL_STACK ? FRAME_PARTS : 1;
}

static size_t parquet_all_leaves(const struct sheet *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->ncolumns; i++)
		n += (size_t)parquet_leaves(&s->columns[i]);
	return n;
}

/* Append the column that the rows are sorted by, and what is after it. */
static int describe_group(struct thrift *t, const struct sheet *s, uint64_t bytes)
{
	bool sorted = s->columns[0].kind == CELL_TIME;
	struct thrift by;
	int r = thrift_i64(t, 2, (int64_t)bytes) || thrift_i64(t, 3, (int64_t)s->nrows);

	if (sorted) {
		r = r || thrift_list(t, 4, THRIFT_STRUCT, 1);
		by = thrift_inside(t);
		r = r || thrift_i32(&by, 1, 0) || thrift_bool(&by, 2, false) ||
		    thrift_bool(&by, 3, true) || thrift_end(&by);
	}
	return r || thrift_end(t) ? -1 : 0;
}

static int parquet_group(void *state, struct sheet *s, struct error *e)
{
	struct parquet *f = state;
	struct parquet_file *file = s->file;
	struct thrift t = {&file->groups, 0};
	uint64_t bytes = 0;

	if ((!s->offset && sheet_write(s, magic, sizeof magic, e)) ||
	    (thrift_list(&t, 1, THRIFT_STRUCT, parquet_all_leaves(s)) && error_no_memory(e)))
		return -1;
	for (size_t i = 0; i < s->ncolumns; i++)
		for (int k = 0; k < parquet_leaves(&s->columns[i]); k++) {
			struct parquet_chunk c = {.sheet = s, .column = &s->columns[i], .part = -1};

			c.kind = c.column->kind;
			if (c.kind == CELL_STACK) {
				c.part = k;
				c.kind = k == FRAME_LINE ? CELL_SMALL : CELL_NAME;
			}
			if (parquet_put_chunk(f, &c, e))
				return -1;
			if (describe_chunk(&file->groups, f, &c))
				return error_no_memory(e);
			bytes += c.unpacked;
		}
	if (describe_group(&t, s, bytes))
		return error_no_memory(e);
	file->rows += s->nrows;
	file->ngroups++;
	return 0;
}

/* --- the footer --- */

/* Append the logical type of a leaf. */
static int describe_logical(struct thrift *t, enum cell_kind kind, bool wall)
{
	struct thrift logical, inner, unit;
	int member = kind == CELL_NAME || cell_is_text(kind) ? LOGICAL_STRING
		     : kind == CELL_TIME && wall	     ? LOGICAL_TIMESTAMP
		     : kind == CELL_UNSIGNED		     ? LOGICAL_INTEGER
							     : 0;

	if (!member)
		return 0;
	if ((member == LOGICAL_STRING && thrift_i32(t, 6, CONVERTED_UTF8)) ||
	    (member == LOGICAL_INTEGER && thrift_i32(t, 6, CONVERTED_UINT_64)) ||
	    thrift_field(t, 10, THRIFT_STRUCT))
		return -1;
	logical = thrift_inside(t);
	if (thrift_field(&logical, member, THRIFT_STRUCT))
		return -1;
	inner = thrift_inside(&logical);
	if (member == LOGICAL_INTEGER && (thrift_field(&inner, 1, THRIFT_BYTE) ||
					  buffer_u8(t->to, 64) || thrift_bool(&inner, 2, false)))
		return -1;
	if (member == LOGICAL_TIMESTAMP) {
		if (thrift_bool(&inner, 1, true) || thrift_field(&inner, 2, THRIFT_STRUCT))
			return -1;
		unit = thrift_inside(&inner);
		/* nanoseconds, an empty struct */
		if (thrift_field(&unit, 3, THRIFT_STRUCT) || buffer_u8(t->to, 0) ||
		    thrift_end(&unit))
			return -1;
	}
	return thrift_end(&inner) || thrift_end(&logical) ? -1 : 0;
}

static int describe_leaf(struct thrift *meta, const char *name, enum cell_kind kind, bool wall)
{
	struct thrift t = thrift_inside(meta);

	return thrift_i32(&t, 1, parquet_type_of(kind)) || thrift_i32(&t, 3, OPTIONAL) ||
			       thrift_binary(&t, 4, name, strlen(name)) ||
			       describe_logical(&t, kind, wall) || thrift_end(&t)
		       ? -1
		       : 0;
}

static int describe_node(struct thrift *meta, const char *name, int repetition, int children,
			 bool list)
{
	struct thrift t = thrift_inside(meta), logical;
	int r = thrift_i32(&t, 3, repetition) || thrift_binary(&t, 4, name, strlen(name)) ||
		thrift_i32(&t, 5, children);

	if (list) {
		r = r || thrift_i32(&t, 6, CONVERTED_LIST) || thrift_field(&t, 10, THRIFT_STRUCT);
		logical = thrift_inside(&t);
		/* an empty struct */
		r = r || thrift_field(&logical, LOGICAL_LIST, THRIFT_STRUCT) ||
		    buffer_u8(t.to, 0) || thrift_end(&logical);
	}
	return r || thrift_end(&t) ? -1 : 0;
}

static int describe_schema(struct thrift *meta, const struct sheet *s)
{
	size_t n = parquet_all_leaves(s), lists = (n - s->ncolumns) / (FRAME_PARTS - 1);
	struct thrift root;

	if (thrift_list(meta, 2, THRIFT_STRUCT, n + 3 * lists + 1))
		return -1;
	root = thrift_inside(meta);
	if (thrift_binary(&root, 4, s->table, strlen(s->table)) ||
	    thrift_i32(&root, 5, (int32_t)s->ncolumns) || thrift_end(&root))
		return -1;
	for (size_t i = 0; i < s->ncolumns; i++) {
		const struct sheet_column *c = &s->columns[i];

		if (c->kind != CELL_STACK) {
			if (describe_leaf(meta, c->name, c->kind, s->wall))
				return -1;
			continue;
		}
		if (describe_node(meta, c->name, OPTIONAL, 1, true) ||
		    describe_node(meta, "list", REPEATED, 1, false) ||
		    describe_node(meta, "element", REQUIRED, FRAME_PARTS, false))
			return -1;
		for (int k = 0; k < FRAME_PARTS; k++)
			if (describe_leaf(meta, frame_parts[k],
					  k == FRAME_LINE ? CELL_SMALL : CELL_NAME, false))
				return -1;
	}
	return 0;
}

/* Append the order of the columns: all are in the order of their types. */
static int describe_orders(struct thrift *meta, size_t leaves)
{
	int r = thrift_list(meta, 7, THRIFT_STRUCT, leaves);

	for (size_t i = 0; !r && i < leaves; i++) {
		struct thrift order = thrift_inside(meta), by_type;

		r = thrift_field(&order, 1, THRIFT_STRUCT);
		by_type = thrift_inside(&order);
		r = r || thrift_end(&by_type) || thrift_end(&order);
	}
	return r ? -1 : 0;
}

/* Append the table and the clock of its times. */
static int describe_keys(struct thrift *meta, const struct sheet *s)
{
	const char *keys[][2] = {{"trutils.table", s->table}, {"trutils.clock", s->clock}};

	if (thrift_list(meta, 5, THRIFT_STRUCT, 2))
		return -1;
	for (size_t i = 0; i < 2; i++) {
		struct thrift t = thrift_inside(meta);

		if (thrift_binary(&t, 1, keys[i][0], strlen(keys[i][0])) ||
		    thrift_binary(&t, 2, keys[i][1], strlen(keys[i][1])) || thrift_end(&t))
			return -1;
	}
	return 0;
}

static int parquet_end_file(void *state, struct sheet *s, struct error *e)
{
	static const char created_by[] = "trencode " TRUTILS_VERSION;
	struct parquet *f = state;
	const struct parquet_file *file = s->file;
	struct thrift meta = {&f->page, 0};
	uint8_t size[4];

	buffer_clear(&f->page);
	if (thrift_i32(&meta, 1, 2) || describe_schema(&meta, s) ||
	    thrift_i64(&meta, 3, (int64_t)file->rows) ||
	    thrift_list(&meta, 4, THRIFT_STRUCT, file->ngroups) ||
	    buffer_append(&f->page, file->groups.data, file->groups.size) ||
	    describe_keys(&meta, s) || thrift_binary(&meta, 6, created_by, strlen(created_by)) ||
	    describe_orders(&meta, parquet_all_leaves(s)) || thrift_end(&meta))
		return error_no_memory(e);
	put_u32(size, (uint32_t)f->page.size);
	return (!s->offset && sheet_write(s, magic, sizeof magic, e)) ||
			       parquet_put_buffer(s, &f->page, e) ||
			       sheet_write(s, size, sizeof size, e) ||
			       sheet_write(s, magic, sizeof magic, e)
		       ? -1
		       : 0;
}

static int parquet_begin_file(struct sheet *s, struct error *e)
{
	s->file = calloc(1, sizeof(struct parquet_file));
	return s->file ? 0 : error_no_memory(e);
}

static void parquet_free_file(struct sheet *s)
{
	struct parquet_file *file = s->file;

	if (file)
		buffer_free(&file->groups);
	free(file);
}

static const struct sheet_format parquet_format = {
	.suffix = ".parquet",
	.begin = parquet_begin_file,
	.group = parquet_group,
	.end = parquet_end_file,
	.free = parquet_free_file,
};

/* --- the encoder --- */

static int parquet_begin(struct encoding *en, struct error *e)
{
	struct dataset *d = event_rows_begin(en, sizeof *d, dataset_row, e);
	struct parquet *f = d ? calloc(1, sizeof *f) : NULL;

	if (!d)
		return -1;
	d->state = f;
	if (f)
		f->zstd = ZSTD_createCCtx();
	if (!f || !f->zstd)
		return error_no_memory(e);
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	return dataset_begin(en, &parquet_format, f, e);
}

static int parquet_end(struct encoding *en, struct error *e)
{
	return event_rows_end(en, e) || dataset_end(en, e) ? -1 : 0;
}

static void parquet_done(struct encoding *en)
{
	struct dataset *d = en->state;
	struct parquet *f = d ? d->state : NULL;

	if (f) {
		struct buffer *buffers[] = {&f->page, &f->packed, &f->header,  &f->low,
					    &f->high, &f->values, &f->present, &f->starts};

		for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
			buffer_free(buffers[i]);
		sheet_words_free(&f->words);
		intern_free(&f->numbers);
		ZSTD_freeCCtx(f->zstd);
	}
	free(f);
	dataset_free(en);
	event_rows_free(en);
}

static const struct encoder parquet_parts = {
	.name = "parquet",
	.output = ENCODER_TREE,
	.report = true,
	.deferred = true,
	.drops = true,
	.begin = parquet_begin,
	.head = dataset_head,
	.meta = event_rows_meta,
	.event = event_rows_event,
	.end = parquet_end,
	.check = event_rows_check,
	.free = parquet_done,
};

const struct encoder encoder_parquet = {
	.name = "parquet",
	.purpose = "the rows of ndjson and csv as an Apache Parquet file, or tables of a data set",
	.output = ENCODER_FILE,
	.partitioned = &parquet_parts,
	.report = true,
	.deferred = true,
	.drops = true,
	.begin = parquet_begin,
	.head = dataset_head,
	.meta = event_rows_meta,
	.event = event_rows_event,
	.end = parquet_end,
	.check = event_rows_check,
	.free = parquet_done,
};
