/*
 * apitrace.c - apitrace's .trace: its calls, and the container that compresses them
 *
 *     61 74 ...    "at", then pieces that Snappy has compressed: the default
 *     1f 8b ...    gzip
 */
#include "cmd/trencode/pack.h"

#include <brotli/encode.h>
#include <inttypes.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "cmd/trencode/convert.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/formats.h"
#include "common/calls/open_calls.h"
#include "common/formats/apitrace.h"
#include "common/stream/dictionary.h"
#include "common/stream/event.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/intern.h"
#include "common/util/output.h"
#include "common/value/value_text.h"

/* --- compress and write the container of a .trace --- */

/* One container being written. */
struct pack {
	struct output *output;
	enum pack_kind kind;
	int level;
	bool begun;	    /* snappy: its magic is written */
	struct error error; /* "" until something fails */
	uint8_t *data;	    /* not yet compressed */
	size_t size, capacity;
	uint8_t *packed;
	size_t packed_capacity;
	void *state;
	struct buffer
		frames; /* zstd: the seek table, compressed and original size of each frame, u32 */
};

static void pack_slow(struct pack *p, const void *data, size_t n);

static inline void pack_put(struct pack *p, const void *data, size_t n)
{
	if (__builtin_expect(n <= p->capacity - p->size, 1)) {
		memcpy(p->data + p->size, data, n);
		p->size += n;
	} else {
		pack_slow(p, data, n);
	}
}

static inline void pack_byte(struct pack *p, uint8_t byte)
{
	if (__builtin_expect(p->size < p->capacity, 1))
		p->data[p->size++] = byte;
	else
		pack_slow(p, &byte, 1);
}

static inline void pack_uint(struct pack *p, uint64_t n)
{
	while (n > 0x7f) {
		pack_byte(p, (uint8_t)(n | 0x80));
		n >>= 7;
	}
	pack_byte(p, (uint8_t)n);
}

enum {
	OUT_SIZE = 256 * 1024,
	GZIP_LEVEL = 9, /* the defaults of apitrace's own tools */
	ZSTD_LEVEL = 3,
	BROTLI_QUALITY = 5, /* apitrace uses 11, which takes a hundred times as long */
	BROTLI_WINDOW = 22, /* apitrace uses 24, which takes 53 MB more */
};

/* zstd's seekable format: a seek table in a skippable frame after the data frames. */
enum { SEEK_MAGIC = 0x184d2a5e, SEEK_FOOTER = (int)0x8f92eab1 };

int pack_parse(struct pack_choice *c, const char *text, struct error *e)
{
	static const struct {
		const char *name;
		enum pack_kind kind;
		long least, most;
	} kinds[] = {
		{"snappy", PACK_SNAPPY, 0, -1}, {"gzip", PACK_GZIP, 1, 9},
		{"brotli", PACK_BROTLI, 0, 11}, {"zstd", PACK_ZSTD, 1, 19},
		{"zlib", PACK_ZLIB, 1, 9},	{"none", PACK_NONE, 0, -1},
	};
	size_t n = strcspn(text, ":");

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char *end;
		long level = -1;

		if (strlen(kinds[i].name) != n || memcmp(kinds[i].name, text, n) != 0)
			continue;
		if (text[n]) {
			level = strtol(text + n + 1, &end, 10);
			if (*end || end == text + n + 1 || level < kinds[i].least ||
			    level > kinds[i].most)
				break;
		}
		*c = (struct pack_choice){kinds[i].kind, (int)level, true};
		return 0;
	}
	return error_set(e, NULL, NO_OFFSET,
			 "--compress takes snappy, gzip, brotli or zstd, the latter three with a "
			 "level as in gzip:9 (1 to 9, 0 to 11, 1 to 19), and for a trace.dat none, "
			 "zlib (1 to 9) or zstd, not '%s'",
			 text);
}

static int pack_fail(struct pack *p, const char *what)
{
	if (!p->error.what[0])
		error_set(&p->error, p->output->name, NO_OFFSET, "%s", what);
	return -1;
}

static int pack_write(struct pack *p, const void *data, size_t n)
{
	struct error e;

	if (p->error.what[0])
		return -1;
	if (output_write(p->output, data, n, &e)) {
		p->error = e;
		return -1;
	}
	return 0;
}

static int pack_snappy(struct pack *p)
{
	size_t n = p->packed_capacity - 4;

	if (!p->size)
		return 0;
	if (snappy_compress((const char *)p->data, p->size, (char *)p->packed + 4, &n) != SNAPPY_OK)
		return pack_fail(p, "cannot compress");
	put_u32(p->packed, (uint32_t)n);
	return pack_write(p, p->packed, n + 4);
}

static int pack_gzip(struct pack *p, bool last)
{
	z_stream *z = p->state;
	int result;

	z->next_in = p->data;
	z->avail_in = (uInt)p->size;
	do {
		z->next_out = p->packed;
		z->avail_out = (uInt)p->packed_capacity;
		result = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
		if (result == Z_STREAM_ERROR)
			return pack_fail(p, "cannot compress");
		if (pack_write(p, p->packed, p->packed_capacity - z->avail_out))
			return -1;
	} while (!z->avail_out || (last && result != Z_STREAM_END));
	return 0;
}

static int pack_brotli(struct pack *p, bool last)
{
	BrotliEncoderOperation op = last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS;
	const uint8_t *in = p->data;
	size_t n = p->size;

	do {
		uint8_t *out = p->packed;
		size_t space = p->packed_capacity;

		if (!BrotliEncoderCompressStream(p->state, op, &n, &in, &space, &out, NULL))
			return pack_fail(p, "cannot compress");
		if (pack_write(p, p->packed, (size_t)(out - p->packed)))
			return -1;
	} while (n || BrotliEncoderHasMoreOutput(p->state) ||
		 (last && !BrotliEncoderIsFinished(p->state)));
	return 0;
}

static int pack_zstd(struct pack *p)
{
	size_t n;

	if (!p->size)
		return 0;
	n = ZSTD_compress2(p->state, p->packed, p->packed_capacity, p->data, p->size);
	if (ZSTD_isError(n) || buffer_u32(&p->frames, (uint32_t)n) ||
	    buffer_u32(&p->frames, (uint32_t)p->size))
		return pack_fail(p, "cannot compress");
	return pack_write(p, p->packed, n);
}

static int pack_seek_table(struct pack *p)
{
	struct buffer b = {0};
	int bad = buffer_u32(&b, SEEK_MAGIC) || buffer_u32(&b, (uint32_t)p->frames.size + 9) ||
		  buffer_append(&b, p->frames.data, p->frames.size) ||
		  buffer_u32(&b, (uint32_t)(p->frames.size / 8)) || buffer_u8(&b, 0) ||
		  buffer_u32(&b, (uint32_t)SEEK_FOOTER);

	bad = bad ? pack_fail(p, "out of memory") : pack_write(p, b.data, b.size);
	buffer_free(&b);
	return bad;
}

static void pack_flush(struct pack *p, bool last)
{
	/* not in pack_open: the caller may fail after it with nothing to write */
	if (p->kind == PACK_SNAPPY && !p->begun && !pack_write(p, "at", 2))
		p->begun = true;
	if (!p->error.what[0])
		switch (p->kind) {
		case PACK_SNAPPY: pack_snappy(p); break;
		case PACK_GZIP: pack_gzip(p, last); break;
		case PACK_BROTLI: pack_brotli(p, last); break;
		case PACK_ZSTD:
			if (!pack_zstd(p) && last)
				pack_seek_table(p);
			break;
		default: break;
		}
	p->size = 0;
}

/* Append to the container. pack_finish reports errors; a caller may test p->error before. */
static void pack_slow(struct pack *p, const void *data, size_t n)
{
	const uint8_t *from = data;

	while (n) {
		size_t part = p->capacity - p->size < n ? p->capacity - p->size : n;

		memcpy(p->data + p->size, from, part);
		p->size += part;
		from += part;
		n -= part;
		if (p->size == p->capacity)
			pack_flush(p, false);
	}
}

static int pack_start(struct pack *p)
{
	BrotliEncoderState *b;
	z_stream *z;

	switch (p->kind) {
	case PACK_SNAPPY: return 0;
	case PACK_GZIP:
		z = p->state = calloc(1, sizeof *z);
		if (!z)
			return -1;
		if (deflateInit2(z, p->level < 0 ? GZIP_LEVEL : p->level, Z_DEFLATED,
				 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK)
			return 0;
		free(z);
		p->state = NULL;
		return -1;
	case PACK_BROTLI:
		b = p->state = BrotliEncoderCreateInstance(NULL, NULL, NULL);
		if (!b)
			return -1;
		BrotliEncoderSetParameter(b, BROTLI_PARAM_QUALITY,
					  p->level < 0 ? BROTLI_QUALITY : (uint32_t)p->level);
		BrotliEncoderSetParameter(b, BROTLI_PARAM_LGWIN, BROTLI_WINDOW);
		return 0;
	case PACK_ZSTD:
		p->state = ZSTD_createCCtx();
		if (!p->state)
			return -1;
		ZSTD_CCtx_setParameter(p->state, ZSTD_c_compressionLevel,
				       p->level < 0 ? ZSTD_LEVEL : p->level);
		return 0;
	default: break;
	}
	return -1;
}

static int pack_open(struct pack *p, const struct pack_choice *c, struct output *output,
		     struct error *e)
{
	*p = (struct pack){.output = output, .kind = c->kind, .level = c->level};
	if (p->kind == PACK_ZLIB || p->kind == PACK_NONE)
		return error_set(e, NULL, NO_OFFSET,
				 "a .trace is compressed with snappy, gzip, brotli or zstd");
	p->capacity = p->kind == PACK_ZSTD     ? APITRACE_ZSTD_FRAME
		      : p->kind == PACK_SNAPPY ? APITRACE_CHUNK
					       : OUT_SIZE;
	p->packed_capacity = p->kind == PACK_ZSTD ? ZSTD_compressBound(p->capacity)
			     : p->kind == PACK_SNAPPY
				     ? snappy_max_compressed_length(p->capacity) + 4
				     : OUT_SIZE;
	p->data = malloc(p->capacity);
	p->packed = malloc(p->packed_capacity);
	if (!p->data || !p->packed || pack_start(p))
		return error_no_memory(e);
	return 0;
}

/* Write the rest and the end of the container. */
static int pack_finish(struct pack *p, struct error *e)
{
	pack_flush(p, true);
	if (!p->error.what[0])
		return 0;
	*e = p->error;
	return -1;
}

static void pack_close(struct pack *p)
{
	if (p->state)
		switch (p->kind) {
		case PACK_GZIP:
			deflateEnd(p->state);
			free(p->state);
			break;
		case PACK_BROTLI: BrotliEncoderDestroyInstance(p->state); break;
		case PACK_ZSTD: ZSTD_freeCCtx(p->state); break;
		default: break;
		}
	free(p->data);
	free(p->packed);
	buffer_free(&p->frames);
	*p = (struct pack){0};
}

/* --- write a .trace: definitions where they are first used, values in their order --- */

/* One definition or function of the trace: whether it is written, and its encoded id. */
struct apitrace_written {
	uint8_t kind; /* enum definition_kind, 1 for a function; 0: not written yet */
	uint8_t size; /* of id, bytes; 0: id is too long for the array */
	uint8_t id[6];
};

/* The state of the encoder. */
struct apitrace_encoder {
	struct dictionary *dictionary;
	struct pack pack; /* its error has errors of writing */
	uint64_t version; /* of the trace */
	/* by twice the number of a definition, and twice the number of a location + 1 */
	struct apitrace_written *written;
	size_t nwritten;
	struct apitrace_header *headers, *last; /* in input order; the last may be incomplete */
	const struct source *source;		/* of the events being written; NULL: none yet */
	const struct source *checked;		/* source that is_ours tested last */
	bool ours;				/* the result of is_ours for checked */
	struct intern done;			/* numbers of the sources written so far */
	struct open_calls open; /* call number in the stream to call number in the output */
	uint32_t call;		/* number of the next call */
	uint64_t unmatched, foreign, gaps;
	bool quiet, begun, several; /* begun: a header is written; several: more than one is */
};

/* Functions that return int return 0, or -1 when out of memory. */

/* Write an id. number: in t->written. Returns 1 if the declaration must follow, 0 if it is written,
 * -1 when out of memory. */
static int apitrace_put_id(struct apitrace_encoder *t, size_t number, uint64_t id, uint8_t kind)
{
	struct apitrace_written *written;
	struct pack *p = &t->pack;
	uint8_t bytes[10];
	size_t n;

	if (ARRAY_REACH(t->written, t->nwritten, number))
		return -1;
	written = &t->written[number];
	if (__builtin_expect(written->size, 1)) {
		pack_put(p, written->id, written->size);
		return 0;
	}
	n = (size_t)(uleb_at(bytes, id) - bytes);
	pack_put(p, bytes, n);
	if (written->kind)
		return 0;
	written->kind = kind;
	if (n <= sizeof written->id) {
		written->size = (uint8_t)n;
		memcpy(written->id, bytes, n);
	}
	return 1;
}

static void apitrace_put_text(struct pack *p, const struct text_ref *t)
{
	pack_uint(p, t->size);
	pack_put(p, t->text, t->size);
}

/* Write a signed integer with its tag. */
static void apitrace_put_sint(struct pack *p, int64_t n)
{
	pack_byte(p, n < 0 ? APITRACE_SINT : APITRACE_UINT);
	pack_uint(p, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static void definitions_put_frame(struct pack *p, const struct definition *d)
{
	static const char *const keys[] = APITRACE_FRAME_NAMES;

	for (uint32_t i = 0; i < d->count; i++) {
		unsigned key = APITRACE_FRAME_MODULE;

		while (key <= APITRACE_FRAME_OFFSET &&
		       strcmp(keys[key], d->members[i].name.text) != 0)
			key++;
		if (key > APITRACE_FRAME_OFFSET)
			break;
		if (key >= APITRACE_FRAME_LINE) {
			pack_byte(p, (uint8_t)key);
			pack_uint(p, d->members[i].low);
		} else if (++i < d->count) {
			pack_byte(p, (uint8_t)key);
			apitrace_put_text(p, &d->members[i].name);
		}
	}
	pack_byte(p, APITRACE_FRAME_END);
}

static void put_members(struct apitrace_encoder *t, const struct definition *d)
{
	struct pack *p = &t->pack;

	if (d->kind == DEFINITION_FRAME) {
		definitions_put_frame(p, d);
		return;
	}
	if (d->kind == DEFINITION_ENUM && t->version < APITRACE_ENUM_SETS) {
		/* one id is one name and its value */
		if (d->count) {
			apitrace_put_text(p, &d->members[0].name);
			apitrace_put_sint(p, (int64_t)d->members[0].low);
		}
		return;
	}
	if (d->kind == DEFINITION_STRUCT)
		apitrace_put_text(p, &d->name);
	pack_uint(p, d->count);
	for (uint32_t i = 0; i < d->count; i++) {
		apitrace_put_text(p, &d->members[i].name);
		if (d->kind == DEFINITION_ENUM)
			apitrace_put_sint(p, (int64_t)d->members[i].low);
		else if (d->kind == DEFINITION_BITMASK)
			pack_uint(p, d->members[i].low);
	}
}

/* Get the definition of an id of the segment; NULL: it is missing, or of another kind. */
static const struct definition *apitrace_definition(const struct apitrace_encoder *t, uint32_t id,
						    enum definition_kind kind)
{
	const struct definition *d = dictionary_definition_id(t->dictionary, id);

	return d && d->kind == kind ? d : NULL;
}

/* Write the id of a definition, and its members when it is new. */
static int apitrace_put_definition(struct apitrace_encoder *t, const struct definition *d)
{
	int fresh = apitrace_put_id(t, 2 * (size_t)d->number, d->native, (uint8_t)d->kind);

	if (fresh > 0)
		put_members(t, d);
	return fresh < 0 ? -1 : 0;
}

/* Write the id of a function, and its declaration when it is new. */
static int apitrace_put_function(struct apitrace_encoder *t, const struct location *location)
{
	const struct definition *arguments = location->arguments;
	struct pack *p = &t->pack;
	int fresh = apitrace_put_id(t, 2 * (size_t)location->number + 1, location->address, 1);

	if (fresh <= 0)
		return fresh;
	apitrace_put_text(p, &location->name);
	pack_uint(p, arguments ? arguments->count : 0);
	for (uint32_t i = 0; arguments && i < arguments->count; i++)
		apitrace_put_text(p, &arguments->members[i].name);
	return 0;
}

/* --- write the values of a call to a .trace --- */

/* --- any value --- */

static void put_run(struct pack *p, uint8_t tag, const void *bytes, size_t n)
{
	pack_byte(p, tag);
	pack_uint(p, n);
	pack_put(p, bytes, n);
}

static void put_integer(struct pack *p, uint64_t n, bool is_signed)
{
	if (is_signed) {
		apitrace_put_sint(p, (int64_t)n);
	} else {
		pack_byte(p, APITRACE_UINT);
		pack_uint(p, n);
	}
}

/* Write an ENUM as a number if its definition cannot be written or does not have the value. */
static int values_put_enum(struct apitrace_encoder *t, const struct value *v)
{
	const struct definition *d = apitrace_definition(t, v->definition, DEFINITION_ENUM);
	struct pack *p = &t->pack;
	char digits[I128_SIZE];
	bool is_signed;
	uint64_t n;

	if (!value_integer(v, d, &n, &is_signed)) {
		put_run(p, APITRACE_STRING, digits, value_enum_decimal(digits, d, v));
		return 0;
	}
	if (!d || (!is_signed && n > INT64_MAX) ||
	    (t->version < APITRACE_ENUM_SETS && (!d->count || d->members[0].low != n))) {
		put_integer(p, n, is_signed);
		return 0;
	}
	pack_byte(p, APITRACE_ENUM);
	if (apitrace_put_definition(t, d))
		return -1;
	if (t->version >= APITRACE_ENUM_SETS)
		apitrace_put_sint(p, (int64_t)n);
	return 0;
}

static int values_put_bitmask(struct apitrace_encoder *t, const struct value *v)
{
	const struct definition *d = apitrace_definition(t, v->definition, DEFINITION_BITMASK);

	pack_byte(&t->pack, d ? APITRACE_BITMASK : APITRACE_UINT);
	if (d && apitrace_put_definition(t, d))
		return -1;
	pack_uint(&t->pack, v->number);
	return 0;
}

/* Write a value of a kind that apitrace does not record. */
static void put_foreign(struct pack *p, const struct value *v)
{
	long double real;
	double number;
	bool is_signed;
	uint64_t n;

	if (value_real(v, &real)) {
		number = (double)real;
		pack_byte(p, v->size == 4 ? APITRACE_FLOAT : APITRACE_DOUBLE);
		pack_put(p, v->size == 4 ? v->bytes : (const void *)&number, v->size == 4 ? 4 : 8);
	} else if (value_integer(v, NULL, &n, &is_signed)) {
		put_integer(p, n, is_signed);
	} else if (v->tag == VALUE_FRAME) {
		pack_byte(p, APITRACE_NULL);
	} else {
		put_run(p, APITRACE_BLOB, v->bytes, v->n);
	}
}

static int apitrace_put_scalar(void *to, const struct value_item *item)
{
	const struct value *v = &item->value;
	struct apitrace_encoder *t = to;
	struct pack *p = &t->pack;

	switch (v->tag) {
	case VALUE_NULL:
	case VALUE_FALSE:
	case VALUE_TRUE: pack_byte(p, v->tag); return 0;
	case VALUE_NEGATIVE:
		pack_byte(p, APITRACE_SINT);
		pack_uint(p, -v->number);
		return 0;
	case VALUE_UINT:
		pack_byte(p, APITRACE_UINT);
		pack_uint(p, v->number);
		return 0;
	case VALUE_POINTER:
		pack_byte(p, APITRACE_OPAQUE);
		pack_uint(p, v->number);
		return 0;
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		pack_byte(p, v->tag);
		pack_put(p, v->bytes, v->n);
		return 0;
	case VALUE_STRING:
	case VALUE_BLOB: put_run(p, v->tag, v->bytes, v->n); return 0;
	case VALUE_WSTRING:
		pack_byte(p, APITRACE_WSTRING);
		pack_uint(p, v->number);
		pack_put(p, v->bytes, v->n);
		return 0;
	case VALUE_ENUM: return values_put_enum(t, v);
	case VALUE_BITMASK: return values_put_bitmask(t, v);
	}
	put_foreign(p, v);
	return 0;
}

/* Get the definition of a struct; NULL: it has none, and is written as an array. */
static const struct definition *struct_of(const struct value_parent *v)
{
	return v->definition && v->definition->kind == DEFINITION_STRUCT ? v->definition : NULL;
}

/* Write what is before the children. The definition of a struct has their number. */
static int put_begin(void *to, const struct value_parent *v, const struct values *rest)
{
	struct apitrace_encoder *t = to;
	const struct definition *d = struct_of(v);

	(void)rest;
	if (v->tag == VALUE_REPR) {
		pack_byte(&t->pack, APITRACE_REPR);
		return 0;
	}
	pack_byte(&t->pack, d ? APITRACE_STRUCT : APITRACE_ARRAY);
	if (d)
		return apitrace_put_definition(t, d);
	pack_uint(&t->pack, v->count);
	return 0;
}

/* Leave out children that the definition does not have. */
static int put_child(void *to, const struct value_parent *v, const struct values *rest)
{
	const struct definition *d = struct_of(v);

	(void)to;
	(void)rest;
	return d && v->index >= d->count ? VALUE_SKIP : 0;
}

/* Write a NULL for each child that only the definition has. */
static int put_end(void *to, const struct value_parent *v)
{
	struct apitrace_encoder *t = to;
	const struct definition *d = struct_of(v);

	for (uint64_t i = v->count; d && i < d->count; i++)
		pack_byte(&t->pack, APITRACE_NULL);
	return 0;
}

static const struct value_style apitrace_style = {.raw = true,
						  .scalar = apitrace_put_scalar,
						  .begin = put_begin,
						  .child = put_child,
						  .end = put_end};

static int encode_apitrace_put_value(struct apitrace_encoder *t, struct values *v)
{
	return value_walk(&apitrace_style, t, t->dictionary, v);
}

/* Find the next frame that has a definition, among *n frames; NULL: there is none. */
static const struct definition *next_frame(struct apitrace_encoder *t, struct values *v,
					   uint64_t *n)
{
	const struct definition *d = NULL;
	struct value frame;

	for (; *n && !d && values_value(v, &frame); --*n)
		d = apitrace_definition(t, frame.definition, DEFINITION_FRAME);
	return d;
}

static int encode_apitrace_put_backtrace(struct apitrace_encoder *t, struct values *v)
{
	const struct definition *frame;
	struct values ahead;
	struct value array;
	uint64_t n = 0, left;

	if (!values_value(v, &array))
		return -1;
	ahead = *v;
	for (left = array.count; next_frame(t, &ahead, &left);)
		n++;
	pack_byte(&t->pack, APITRACE_BACKTRACE);
	pack_uint(&t->pack, n);
	for (left = array.count; (frame = next_frame(t, v, &left));)
		if (apitrace_put_definition(t, frame))
			return -1;
	return 0;
}

static int encode_apitrace_put_detail(struct apitrace_encoder *t, struct values *v)
{
	struct pack *p = &t->pack;
	struct value flags;
	uint64_t index;
	uint8_t what;

	if (!values_what(v, &what, &index))
		return -1;
	switch (what) {
	case DETAIL_ARGUMENT:
		if (!index)
			return -1;
		pack_byte(p, APITRACE_ARGUMENT);
		pack_uint(p, index - 1);
		return encode_apitrace_put_value(t, v);
	case DETAIL_RETURN: pack_byte(p, APITRACE_RETURN); return encode_apitrace_put_value(t, v);
	case DETAIL_BACKTRACE: return encode_apitrace_put_backtrace(t, v);
	case DETAIL_FLAGS:
		if (!values_value(v, &flags))
			return -1;
		pack_byte(p, APITRACE_FLAGS);
		pack_uint(p, flags.number);
		return 0;
	}
	return values_skip(v) ? 0 : -1;
}

/* --- small values --- */

/*
 * Nearly all values are small, and their definitions are already written. The quick_* functions
 * copy such values with their state in registers; encode_apitrace_put_detail() writes the first
 * other value. Without them 'trdecode | trencode -t apitrace' of t/bench/apitrace.sh's trace
 * takes 1.53 times the instructions.
 */
struct apitrace_quick_rows {
	const uint8_t *p, *end;
	uint8_t *out, *limit;
};

enum { QUICK_OUT = 32 }; /* bytes written between two tests of the space, at most, except strings */

static inline __attribute__((always_inline)) bool
apitrace_quick_room(const struct apitrace_quick_rows *q)
{
	return q->limit - q->out >= QUICK_OUT;
}

static inline __attribute__((always_inline)) bool quick_byte(struct apitrace_quick_rows *q,
							     uint8_t *byte)
{
	if (q->p == q->end)
		return false;
	*byte = *q->p++;
	return true;
}

/* Copy a number, whose encoding is the same in the trace. */
static inline __attribute__((always_inline)) bool
apitrace_quick_number(struct apitrace_quick_rows *q)
{
	uint8_t byte;

	for (int i = 0; i < 9; i++) {
		if (!quick_byte(q, &byte))
			return false;
		*q->out++ = byte;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static inline __attribute__((always_inline)) bool quick_bytes(struct apitrace_quick_rows *q,
							      size_t n)
{
	if ((size_t)(q->end - q->p) < n)
		return false;
	memcpy(q->out, q->p, n);
	q->out += n;
	q->p += n;
	return true;
}

static inline __attribute__((always_inline)) bool apitrace_quick_run(struct apitrace_quick_rows *q)
{
	uint8_t n;

	if (!quick_byte(q, &n) || n & 0x80 || q->limit - q->out < n + QUICK_OUT)
		return false;
	*q->out++ = n;
	return quick_bytes(q, n);
}

/* Copy the id of a definition that is already written. */
static inline __attribute__((always_inline)) bool quick_definition(struct apitrace_quick_rows *q,
								   const struct apitrace_encoder *t,
								   enum definition_kind kind)
{
	const struct apitrace_written *written;
	uint8_t low, high;
	size_t number;

	if (!quick_byte(q, &low))
		return false;
	number = low;
	if (low & 0x80) {
		if (!quick_byte(q, &high) || high & 0x80)
			return false;
		number = (low & 0x7f) | (uint32_t)high << 7;
	}
	number = 2 * (size_t)idmap_get(&t->dictionary->ids[ENTRY_DEFINITION], (uint32_t)number);
	if (number >= t->nwritten)
		return false;
	written = &t->written[number];
	if (written->kind != kind || !written->size)
		return false;
	memcpy(q->out, written->id, sizeof written->id);
	q->out += written->size;
	return true;
}

static inline __attribute__((always_inline)) bool
apitrace_quick_enum(struct apitrace_quick_rows *q, const struct apitrace_encoder *t)
{
	uint8_t size;
	int64_t n;

	if (!quick_definition(q, t, DEFINITION_ENUM) || !quick_byte(q, &size) ||
	    q->end - q->p < size)
		return false;
	switch (size) {
	case 1: n = (int8_t)*q->p; break;
	case 2: n = (int16_t)get_u16(q->p); break;
	case 4: n = (int32_t)get_u32(q->p); break;
	default: return false;
	}
	q->p += size;
	*q->out++ = n < 0 ? APITRACE_SINT : APITRACE_UINT;
	q->out = uleb_at(q->out, (uint64_t)(n < 0 ? -n : n));
	return true;
}

static inline __attribute__((always_inline)) bool
apitrace_quick_scalar(struct apitrace_quick_rows *q, const struct apitrace_encoder *t)
{
	uint8_t tag;

	if (!quick_byte(q, &tag))
		return false;
	/* these VALUE_* tags equal the tags of the trace */
	*q->out++ = tag;
	switch (tag) {
	case VALUE_NULL:
	case VALUE_FALSE:
	case VALUE_TRUE: return true;
	case VALUE_NEGATIVE:
	case VALUE_UINT:
	case VALUE_POINTER: return apitrace_quick_number(q);
	case VALUE_FLOAT: return quick_bytes(q, 4);
	case VALUE_DOUBLE: return quick_bytes(q, 8);
	case VALUE_STRING:
	case VALUE_BLOB: return apitrace_quick_run(q);
	case VALUE_ENUM: return apitrace_quick_enum(q, t);
	case VALUE_BITMASK:
		return quick_definition(q, t, DEFINITION_BITMASK) && apitrace_quick_number(q);
	}
	return false;
}

static inline __attribute__((always_inline)) bool
apitrace_quick_array(struct apitrace_quick_rows *q, const struct apitrace_encoder *t)
{
	size_t floats;
	uint8_t n;

	*q->out++ = *q->p++;
	if (!quick_byte(q, &n) || n & 0x80)
		return false;
	*q->out++ = n;
	/* floats have the same encoding in the trace */
	floats = value_floats(q->p, q->end, n);
	if ((size_t)(q->limit - q->out) < 5 * floats || !quick_bytes(q, 5 * floats))
		return false;
	for (n -= (uint8_t)floats; n; n--)
		if (!apitrace_quick_room(q) || !apitrace_quick_scalar(q, t))
			return false;
	return true;
}

/* Write details up to the first that needs encode_apitrace_put_detail(). */
static void encode_apitrace_quick_details(struct apitrace_encoder *t, struct values *v)
{
	struct pack *pack = &t->pack;
	struct apitrace_quick_rows q = {v->at, v->end, pack->data + pack->size,
					pack->data + pack->capacity};

	if (t->version < APITRACE_ENUM_SETS)
		return;
	while (q.end - q.p >= 3 && apitrace_quick_room(&q)) {
		struct apitrace_quick_rows before = q;
		uint8_t what = q.p[0], index = q.p[1];

		q.p += 2;
		*q.out++ = what;
		if (what == DETAIL_ARGUMENT)
			*q.out++ = (uint8_t)(index - 1);
		if (what < DETAIL_ARGUMENT || what > DETAIL_RETURN || index & 0x80 ||
		    (what == DETAIL_ARGUMENT && !index) ||
		    (*q.p == VALUE_ARRAY ? !apitrace_quick_array(&q, t)
					 : !apitrace_quick_scalar(&q, t))) {
			q = before;
			break;
		}
	}
	v->at = q.p;
	pack->size = (size_t)(q.out - pack->data);
}

/* Write the values of an event and the end mark. */
static int apitrace_put_details(struct apitrace_encoder *t, const struct event *ev)
{
	struct values v;

	values_begin(&v, ev->tail, ev->tail_size);
	while (v.at < v.end) {
		encode_apitrace_quick_details(t, &v);
		if (v.at < v.end && encode_apitrace_put_detail(t, &v))
			return -1;
	}
	pack_byte(&t->pack, APITRACE_END);
	return 0;
}

/*
 * The encoder of apitrace's .trace.
 *
 * An unfiltered stream gives the trace that trdecode read: the same bytes before compression,
 * except numbers that the source wrote in a longer form than necessary. In a filtered stream calls
 * get new numbers, and definitions are written where they are first used.
 */

/* The header of one source, not yet written. */
struct apitrace_header {
	struct apitrace_header *next;
	uint32_t source; /* its number */
	struct buffer text;
};

static int encode_apitrace_begin(struct encoding *en, struct error *e)
{
	struct apitrace_encoder *s = calloc(1, sizeof *s);

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->dictionary = en->dictionary;
	s->quiet = en->options->flags & ENCODE_QUIET;
	return pack_open(&s->pack, &en->options->compress, en->out, e);
}

/* Remove the first header; NULL: there is none. The caller frees the header. */
static struct apitrace_header *take_header(struct apitrace_encoder *s)
{
	struct apitrace_header *h = s->headers;

	if (h)
		s->headers = h->next;
	if (!s->headers)
		s->last = NULL;
	return h;
}

static void free_header(struct apitrace_header *h)
{
	buffer_free(&h->text);
	free(h);
}

static uint64_t apitrace_size(const struct encoding *en)
{
	const struct apitrace_encoder *s = en->state;

	return en->out->written + s->pack.size;
}

static void apitrace_free(struct encoding *en)
{
	struct apitrace_encoder *s = en->state;

	if (!s)
		return;
	pack_close(&s->pack);
	free(s->written);
	for (struct apitrace_header *h; (h = take_header(s));)
		free_header(h);
	intern_free(&s->done);
	open_calls_free(&s->open);
	free(s);
}

/* --- the header --- */

static int apitrace_add_header(struct apitrace_encoder *s, uint32_t source)
{
	struct apitrace_header *h = s->last;

	/* each segment repeats the header */
	if (h && h->source == source) {
		h->text.size = 0;
		return 0;
	}
	if (intern_find(&s->done, &source, sizeof source) != INTERN_NONE)
		return 0;
	h = calloc(1, sizeof *h);
	if (!h)
		return -1;
	h->source = source;
	if (s->last)
		s->last->next = h;
	else
		s->headers = h;
	s->last = h;
	return 0;
}

static int encode_apitrace_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct apitrace_encoder *s = en->state;
	struct apitrace_header *h;

	if (!meta_is(m, APITRACE_META_HEADER))
		return 0;
	if (!m->offset && apitrace_add_header(s, m->source))
		return error_no_memory(e);
	h = s->last;
	return h && h->source == m->source && m->offset == h->text.size &&
			       buffer_append(&h->text, m->data, m->size)
		       ? error_no_memory(e)
		       : 0;
}

/* Begin another trace in the same file, as apitrace does when two processes share a file. */
static void apitrace_write_header(struct apitrace_encoder *s, const uint8_t *text, size_t size)
{
	if (s->begun && !s->several && !s->quiet)
		remark(NULL,
		       "the output contains several traces, and apitrace reads only the first: "
		       "--resynthesize writes one trace");
	s->several = s->begun;
	s->begun = true;
	s->version = text[0];
	if (s->nwritten)
		memset(s->written, 0, s->nwritten * sizeof *s->written);
	pack_put(&s->pack, text, size);
}

/* Write the header of a source, after those of traces without events; false: there is none. */
static bool apitrace_put_header(struct apitrace_encoder *s, uint32_t source)
{
	bool found = false;

	for (const struct apitrace_header *h = s->headers; h && !found; h = h->next)
		found = h->source == source;
	if (!found)
		return false;
	for (found = false; !found;) {
		struct apitrace_header *h = take_header(s);

		found = h->source == source;
		if (h->text.size)
			apitrace_write_header(s, h->text.data, h->text.size);
		free_header(h);
	}
	return true;
}

/* Begin a trace for the events of another source, after the first trace. */
static int apitrace_begin_trace(struct apitrace_encoder *s, const struct source *source,
				struct error *e)
{
	static const uint8_t latest[] = {APITRACE_LATEST, APITRACE_LATEST, 0};
	uint32_t before = s->done.count;

	if (intern(&s->done, &source->number, sizeof source->number) == INTERN_NONE)
		return error_no_memory(e);
	if (s->done.count == before)
		return error_set(e, NULL, NO_OFFSET,
				 "several traces with interleaved calls cannot be written into one "
				 ".trace: use --resynthesize");
	s->source = source;
	s->call = 0;
	open_calls_free(&s->open);
	if (!apitrace_put_header(s, source->number))
		apitrace_write_header(s, latest, sizeof latest);
	return 0;
}

/* --- events --- */

static int apitrace_put_enter(struct apitrace_encoder *s, const struct event *ev, uint32_t call)
{
	const struct location *location = dictionary_location(s->dictionary, ev->location);

	if (!location) {
		s->foreign++;
		return 0;
	}
	pack_byte(&s->pack, APITRACE_ENTER);
	if (s->version >= APITRACE_THREADS)
		pack_uint(&s->pack, (uint32_t)ev->lane->tid);
	if (apitrace_put_function(s, location) || apitrace_put_details(s, ev))
		return -1;
	return open_calls_put(&s->open, 0, call, s->call++);
}

static int apitrace_put_leave(struct apitrace_encoder *s, const struct event *ev, uint32_t call)
{
	uint64_t number;

	if (!open_calls_take(&s->open, 0, call, &number)) {
		s->unmatched++; /* the enter was left out or not recorded */
		return 0;
	}
	pack_byte(&s->pack, APITRACE_LEAVE);
	pack_uint(&s->pack, (uint32_t)number);
	return apitrace_put_details(s, ev);
}

/* Test whether the source is an apitrace trace; the last result is kept. */
static inline bool is_ours(struct apitrace_encoder *s, const struct source *source)
{
	if (__builtin_expect(source != s->checked, 0)) {
		s->checked = source;
		s->ours = !strcmp(source->format.text, "apitrace");
	}
	return s->ours;
}

static int encode_apitrace_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct apitrace_encoder *s = en->state;
	uint32_t call;
	int bad = 0;

	if (ev->type->kind == KIND_GAP) {
		s->gaps++;
		return 0;
	}
	if (!is_ours(s, ev->lane->source) || !(ev->type->flags & TYPE_CALL_NUMBER) ||
	    !(ev->type->flags & TYPE_VALUES) || !field_call(ev, &call)) {
		s->foreign++;
		return 0;
	}
	if (ev->lane->source != s->source && apitrace_begin_trace(s, ev->lane->source, e))
		return -1;
	if (ev->type->kind == KIND_ENTER)
		bad = apitrace_put_enter(s, ev, call);
	else if (ev->type->kind == KIND_LEAVE)
		bad = apitrace_put_leave(s, ev, call);
	if (s->pack.error.what[0]) {
		*e = s->pack.error;
		return -1;
	}
	return bad ? error_no_memory(e) : 0;
}

static int encode_apitrace_end(struct encoding *en, struct error *e)
{
	struct apitrace_encoder *s = en->state;

	/* a trace without events is its header alone */
	if (s->last)
		apitrace_put_header(s, s->last->source);
	if (!s->quiet) {
		remark_count(
			s->foreign,
			"{event that is not a call of apitrace is|events that are not calls of "
			"apitrace are} left out");
		remark_count(s->gaps, "{gap|gaps} cannot be written into a .trace");
		remark_count(s->unmatched, "{return|returns} without a call {is|are} left out");
	}
	return pack_finish(&s->pack, e);
}

const struct encoder encoder_apitrace = {
	.name = "apitrace",
	.purpose = "a .trace of apitrace",
	.suffixes = ".trace",
	.conversion = &apitrace_target,
	.holds_several = true,
	.output = ENCODER_FILE,
	.begin = encode_apitrace_begin,
	.meta = encode_apitrace_meta,
	.event = encode_apitrace_event,
	.end = encode_apitrace_end,
	.size = apitrace_size,
	.free = apitrace_free,
};

/* --- declare functions for the calls of any source, with names of arguments --- */

enum {
	NAME_MOST = 32 * 1024,
	LISTED_MOST = 1 << 18, /* arguments of all lists */
};

/* One function of the target trace. */
struct apitrace_convert_function {
	uint32_t location;  /* number in the target dictionary; 0: not yet declared */
	uint32_t arguments; /* number of */
	bool keep;	    /* arguments keep their recorded numbers */
};

/* The state of the conversion. */
struct apitrace_conversion {
	struct conversion conversion;
	struct {
		uint32_t *definitions; /* numbers in the target dictionary, by number in the
					  stream's; 0: not yet converted */
		size_t size;
		struct buffer *out;	  /* of the values that are being converted */
		uint64_t rounded, opaque; /* values */
	} values;
	/* the functions of the target trace: one for each name and list of arguments, where the
	   list is known before the call is written */
	struct {
		struct convert_arguments arguments;
		uint64_t cut; /* names */
		/* of calls by location * 2 + numbered, of instants by location, of instants by
		   type, of lists by known */
		struct apitrace_convert_function *locations, *instants, *types, *lists;
		size_t locations_size, instants_size, types_size, lists_size;
		struct intern known; /* lists of arguments */
		struct buffer key;
		uint32_t signatures;
		uint64_t listed; /* arguments in lists */
	} functions;
	struct type *calls[2];
	struct buffer tail; /* values of the row being written */
	uint32_t calls_written;
	uint64_t extra; /* arguments left out */
	uint64_t unseen, instants;
	uint64_t named; /* threads with a name or a process */
};

/* --- names of arguments --- */

static struct definition *target_definition(struct target_dictionary *d)
{
	struct definition *x = pool_add(&d->dictionary.definitions);

	if (!x)
		return NULL;
	*x = (struct definition){.number = d->dictionary.definitions.count - 1};
	x->native = x->number - 1;
	if (idmap_set(&d->dictionary.ids[ENTRY_DEFINITION], x->number, x->number))
		return NULL;
	return x;
}

/* Add a definition with n names of arguments, which the caller fills in. */
static struct definition *new_names(struct apitrace_conversion *s, uint32_t n,
				    struct member **members)
{
	struct definition *d = target_definition(&s->conversion.d);

	*members = target_members(&s->conversion.d, n);
	if (!d || !*members)
		return NULL;
	d->name = target_string(&s->conversion.d, "", 0);
	d->kind = DEFINITION_STRUCT;
	d->count = n;
	d->members = *members;
	return d;
}

/* Name an argument as uftrace does: "arg1", "fparg1". */
static struct text_ref number_name(struct apitrace_conversion *s, uint64_t index)
{
	char name[32];
	int size = index > 1000 ? snprintf(name, sizeof name, "fparg%" PRIu64, index - 1000)
				: snprintf(name, sizeof name, "arg%" PRIu64, index);

	return target_string(&s->conversion.d, name, (size_t)size);
}

/* List the names of the event's arguments in their order. from: the names by index, or NULL. */
static struct definition *apitrace_list_names(struct apitrace_conversion *s, const struct event *ev,
					      const struct definition *from, uint32_t n)
{
	const struct convert_fields *fields =
		convert_arguments_fields(&s->functions.arguments, ev->type);
	uint32_t named = from ? from->count : 0;
	struct definition *d;
	struct member *m;
	struct values v;
	struct detail x;

	d = fields ? new_names(s, n, &m) : NULL;
	if (!d)
		return NULL;
	values_begin(&v, ev->tail, ev->tail_size);
	for (uint32_t i = 0; i < n && values_detail(&v, &x);) {
		if (x.what != DETAIL_ARGUMENT)
			continue;
		m[i++].name = !x.index || x.index > named + (uint64_t)fields->n
				      ? number_name(s, x.index)
			      : x.index <= named ? from->members[x.index - 1].name
						 : fields->list[x.index - named - 1].from->name;
	}
	return d;
}

/* List the names of a location's arguments, which may be NULL, and of fields; and of the function
 * of an event. */
static struct definition *all_names(struct apitrace_conversion *s, const struct definition *from,
				    const struct convert_fields *fields, bool function)
{
	uint32_t n = from ? from->count : 0;
	struct definition *d;
	struct member *m;

	d = new_names(s, n + fields->n + function, &m);
	if (!d)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		m[i].name = from->members[i].name;
	for (uint32_t i = 0; i < fields->n; i++)
		m[n + i].name = fields->list[i].from->name;
	if (function)
		m[n + fields->n].name = target_string(&s->conversion.d, "function", 8);
	return d;
}

/* --- functions --- */

/* Escape NULs in a name, as readers end the name at a NUL. */
static int name_without_nul(struct apitrace_conversion *s, struct text_ref *name)
{
	struct buffer b = {0};
	int result = convert_name_no_nul(&b, name->text, name->size);

	if (!result)
		*name = target_string(&s->conversion.d, b.data, b.size);
	buffer_free(&b);
	return result;
}

static struct apitrace_convert_function *declare_function(struct apitrace_conversion *s,
							  struct apitrace_convert_function *to,
							  struct text_ref name,
							  const struct definition *names)
{
	struct location *p = target_location(&s->conversion.d);

	if (!p || !names)
		return NULL;
	p->address = s->functions.signatures++;
	if (name.size && name_without_nul(s, &name))
		return NULL;
	if (name.size > NAME_MOST) {
		name = target_string(&s->conversion.d, name.text, NAME_MOST);
		s->functions.cut++;
	}
	p->name = name;
	p->arguments = names;
	to->arguments = names->count;
	to->location = p->number;
	return to;
}

static struct apitrace_convert_function *function_at(struct apitrace_convert_function **table,
						     size_t *size, uint32_t number)
{
	return ARRAY_REACH(*table, *size, number) ? NULL : &(*table)[number];
}

/* Fill s->functions.key with the identity of the event's list of arguments: location or type, and
 * the arguments' indices. */
static int list_arguments(struct apitrace_conversion *s, const struct event *ev, uint32_t location,
			  uint32_t *n)
{
	uint32_t whose[] = {location, location ? 0 : ev->type->number};
	struct values v;
	struct detail x;

	*n = 0;
	s->functions.key.size = 0;
	if (buffer_append(&s->functions.key, whose, sizeof whose))
		return -1;
	values_begin(&v, ev->tail, ev->tail_size);
	while (values_detail(&v, &x)) {
		if (x.what != DETAIL_ARGUMENT || *n == s->functions.arguments.most)
			continue;
		++*n;
		if (buffer_append(&s->functions.key, &x.index, sizeof x.index))
			return -1;
	}
	return 0;
}

/* Get the function of the event's list of arguments. base: another function of the same name,
 * if one is declared; it is used when there are too many lists. */
static struct apitrace_convert_function *function_of_list(struct apitrace_conversion *s,
							  const struct event *ev, uint32_t location,
							  struct text_ref name,
							  const struct definition *from,
							  struct apitrace_convert_function *base)
{
	struct apitrace_convert_function *to;
	uint32_t number, n;

	if (!ev->tail_size && base->location && !base->arguments)
		return base;
	if (list_arguments(s, ev, location, &n))
		return NULL;
	if (base->location && s->functions.listed + n + 1 > LISTED_MOST &&
	    intern_find(&s->functions.known, s->functions.key.data, s->functions.key.size) ==
		    INTERN_NONE)
		return base;
	number = intern(&s->functions.known, s->functions.key.data, s->functions.key.size);
	to = number == INTERN_NONE
		     ? NULL
		     : function_at(&s->functions.lists, &s->functions.lists_size, number);
	if (to && !to->location) {
		s->functions.listed += n + 1;
		to = declare_function(s, to, name, apitrace_list_names(s, ev, from, n));
	}
	if (to)
		*base = *to;
	return to;
}

/* Test whether leaves may have arguments; those of uftrace have only a return value. */
static bool returns_arguments(const struct event *ev)
{
	return !ev->type->source || strcmp(ev->type->source->format.text, "uftrace") != 0;
}

/* Get the function of an enter or leave. Its arguments are what the enter recorded. */
static struct apitrace_convert_function *apitrace_function_of_call(struct apitrace_conversion *s,
								   const struct convert_row *r)
{
	const struct location *location =
		dictionary_location(s->conversion.dictionary, r->location);
	const struct definition *names = location ? location->arguments : NULL;
	/* asynchronous calls of a function have an id, and other calls of it have none */
	bool numbered = r->ev->type->flags & TYPE_CALL_NUMBER;
	struct apitrace_convert_function *base = function_at(
		&s->functions.locations, &s->functions.locations_size, 2 * r->location + numbered);
	struct text_ref name = dictionary_location_name(s->conversion.dictionary, r->location);
	const struct convert_fields *fields;

	/* the leave has the function of its enter */
	if (!base || (base->location && r->what == CONVERT_LEAVE))
		return base;
	if (!base->location)
		convert_use_location(&s->conversion, r->location);
	fields = convert_arguments_fields(&s->functions.arguments, r->ev->type);
	if (!fields)
		return NULL;
	if (fields->n || (names && returns_arguments(r->ev))) {
		base->keep = true;
		return base->location ? base
				      : declare_function(s, base, name,
							 all_names(s, names, fields, false));
	}
	if (r->ev->type->flags & TYPE_VALUES || !returns_arguments(r->ev))
		return function_of_list(s, r->ev, r->location, name, names, base);
	return base->location ? base
			      : declare_function(s, base, name, all_names(s, NULL, fields, false));
}

/* Get the function of an event with values, named for its location, or for its type. ev: the
 * event with its fields as arguments. */
static struct apitrace_convert_function *apitrace_function_of_values(struct apitrace_conversion *s,
								     const struct event *ev)
{
	const struct location *location =
		dictionary_location(s->conversion.dictionary, ev->location);
	struct apitrace_convert_function *base;

	if (!ev->location) {
		base = function_at(&s->functions.types, &s->functions.types_size, ev->type->number);
		return base ? function_of_list(s, ev, 0, ev->type->name, NULL, base) : NULL;
	}
	/* calls of the same location may need all of its names */
	base = function_at(&s->functions.instants, &s->functions.instants_size, ev->location);
	if (base && !base->location)
		convert_use_location(&s->conversion, ev->location);
	return base ? function_of_list(
			      s, ev, ev->location,
			      dictionary_location_name(s->conversion.dictionary, ev->location),
			      location ? location->arguments : NULL, base)
		    : NULL;
}

/* Get the function of an event with fields, named for its type; the location, if there is one,
 * is the last argument. */
static struct apitrace_convert_function *
apitrace_function_of_fields(struct apitrace_conversion *s, const struct event *ev,
			    const struct convert_fields *fields)
{
	struct apitrace_convert_function *to =
		function_at(&s->functions.types, &s->functions.types_size, ev->type->number);

	return to && !to->location ? declare_function(s, to, ev->type->name,
						      all_names(s, NULL, fields, ev->location))
				   : to;
}

/* --- convert values of any source to those of a .trace --- */

/* Get the number of the definition in the target dictionary; 0: out of memory. */
static uint32_t apitrace_convert_definition(struct apitrace_conversion *s,
					    const struct definition *d)
{
	struct definition *made;

	if (ARRAY_REACH(s->values.definitions, s->values.size, d->number))
		return 0;
	if (s->values.definitions[d->number])
		return s->values.definitions[d->number];
	made = target_definition(&s->conversion.d);
	if (!made)
		return 0;
	made->name = d->name;
	made->kind = d->kind;
	made->count = d->count;
	made->members = d->members; /* owned by the stream's dictionary */
	return s->values.definitions[d->number] = made->number;
}

/* Convert the definition of a value; *id is 0 if the definition is missing or of another kind. */
static int apitrace_definition_of(struct apitrace_conversion *s, const struct definition *d,
				  uint32_t kind, uint32_t *id)
{
	*id = 0;
	if (!d || d->kind != kind)
		return 0;
	*id = apitrace_convert_definition(s, d);
	return *id ? 0 : -1;
}

static int put_signed(struct buffer *b, int64_t v)
{
	return v < 0 ? value_put_uint(b, VALUE_NEGATIVE, -(uint64_t)v)
		     : value_put_uint(b, VALUE_UINT, (uint64_t)v);
}

/* A .trace has signed 64-bit enum values; larger values are written without their labels. */
static int convert_values_put_enum(struct apitrace_conversion *s, const struct value_item *item)
{
	const struct value *v = &item->value;
	struct buffer *b = s->values.out;
	char digits[I128_SIZE];
	uint8_t bytes[8];
	bool is_signed;
	uint32_t id;
	uint64_t n;

	if (apitrace_definition_of(s, item->definition, DEFINITION_ENUM, &id))
		return -1;
	if (!value_integer(v, item->definition, &n, &is_signed))
		return value_put_bytes(b, VALUE_STRING, digits,
				       value_enum_decimal(digits, item->definition, v));
	if (!is_signed && n > INT64_MAX)
		return value_put_uint(b, VALUE_UINT, n);
	put_u64(bytes, n);
	return id ? value_put_enum(b, id, bytes, (int32_t)n == (int64_t)n ? 4 : 8)
		  : put_signed(b, (int64_t)n);
}

static int convert_values_put_bitmask(struct apitrace_conversion *s, const struct value_item *item)
{
	uint32_t id;

	if (apitrace_definition_of(s, item->definition, DEFINITION_BITMASK, &id))
		return -1;
	return id ? value_put_bitmask(s->values.out, id, item->value.number)
		  : value_put_uint(s->values.out, VALUE_UINT, item->value.number);
}

static int convert_values_put_frame(struct apitrace_conversion *s, const struct value_item *item)
{
	uint32_t id;

	if (apitrace_definition_of(s, item->definition, DEFINITION_FRAME, &id))
		return -1;
	return id ? value_put_uint(s->values.out, VALUE_FRAME, id)
		  : value_put_simple(s->values.out, VALUE_NULL);
}

static int apitrace_put_real(struct apitrace_conversion *s, struct buffer *b, const struct value *v)
{
	long double real = 0;
	double twice;

	if (v->size == 4 || v->size == 8)
		return value_put_float(b, v->bytes, v->size);
	value_real(v, &real);
	twice = (double)real;
	s->values.rounded += (long double)twice != real;
	return value_put_float(b, (const void *)&twice, 8);
}

static int apitrace_put_number(struct apitrace_conversion *s, struct buffer *b,
			       const struct value *v)
{
	uint64_t bits = v->size < 8 ? v->number & ((1ull << 8 * v->size) - 1) : v->number;

	if (v->format == 'f')
		return apitrace_put_real(s, b, v);
	if (v->size > 8)
		return value_put_bytes(b, VALUE_BLOB, v->bytes, v->size);
	switch (v->format) {
	case 'p': return value_put_uint(b, VALUE_POINTER, bits);
	case 'u':
	case 'x':
	case 'o':
	case 'c': return value_put_uint(b, VALUE_UINT, bits);
	}
	return put_signed(b, (int64_t)v->number);
}

static int apitrace_put_opaque(struct apitrace_conversion *s, struct buffer *b,
			       const struct value *v)
{
	if (v->type_name_size == 11 && !memcmp(v->type_name, "std::string", 11))
		return value_put_bytes(b, VALUE_STRING, v->bytes, v->n);
	s->values.opaque++;
	return v->n ? value_put_bytes(b, VALUE_BLOB, v->bytes, v->n)
		    : value_put_bytes(b, VALUE_STRING, v->type_name, v->type_name_size);
}

static int convert_scalar(void *to, const struct value_item *item)
{
	struct apitrace_conversion *s = to;
	const struct value *v = &item->value;
	struct buffer *b = s->values.out;

	switch (v->tag) {
	case VALUE_NUMBER: return apitrace_put_number(s, b, v);
	case VALUE_STRING:
		if (value_is_null_string(v))
			return value_put_simple(b, VALUE_NULL);
		return value_put_bytes(b, VALUE_STRING, v->bytes, v->n);
	case VALUE_BLOB: return value_put_bytes(b, VALUE_BLOB, v->bytes, v->n);
	case VALUE_WSTRING:
		return value_put_uint(b, VALUE_WSTRING, v->number) ||
				       buffer_append(b, v->bytes, v->n)
			       ? -1
			       : 0;
	case VALUE_OPAQUE: return apitrace_put_opaque(s, b, v);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return value_put_float(b, v->bytes, (uint8_t)v->n);
	case VALUE_NEGATIVE: return put_signed(b, (int64_t)v->number);
	case VALUE_UINT:
	case VALUE_POINTER: return value_put_uint(b, v->tag, v->number);
	case VALUE_ENUM: return convert_values_put_enum(s, item);
	case VALUE_BITMASK: return convert_values_put_bitmask(s, item);
	case VALUE_FRAME: return convert_values_put_frame(s, item);
	}
	return value_put_simple(b, v->tag);
}

static int convert_begin_children(void *to, const struct value_parent *v, const struct values *rest)
{
	struct apitrace_conversion *s = to;
	uint32_t id;

	(void)rest;
	if (v->tag == VALUE_REPR)
		return value_put_simple(s->values.out, VALUE_REPR);
	if (apitrace_definition_of(s, v->definition, DEFINITION_STRUCT, &id))
		return -1;
	return id ? value_put_struct(s->values.out, id, v->count)
		  : value_put_array(s->values.out, v->count);
}

static const struct value_style convert_style = {
	.raw = true, .scalar = convert_scalar, .begin = convert_begin_children};

/*
 * Append the details of an event's values to b. Arguments are numbered from 1 in their order, or
 * with keep as recorded. Arguments beyond n are left out and counted in *lost.
 */
static int apitrace_convert_details(struct apitrace_conversion *s, struct buffer *b,
				    const struct event *ev, bool keep, uint32_t n, uint64_t *lost)
{
	uint64_t index, position = 0;
	struct values v;
	uint8_t what;

	s->values.out = b;
	for (values_begin(&v, ev->tail, ev->tail_size); v.at < v.end;) {
		if (!values_what(&v, &what, &index))
			return -1;
		if (what == DETAIL_ARGUMENT && !keep)
			index = ++position;
		if (what == DETAIL_ARGUMENT && index > n) {
			++*lost;
			if (!values_skip(&v))
				return -1;
			continue;
		}
		if (value_put_detail(b, what, index) ||
		    value_walk(&convert_style, s, s->conversion.dictionary, &v))
			return -1;
	}
	return 0;
}

/*
 * Convert the events of any source to a .trace.
 *
 * Calls keep their arguments. Every other event becomes a call that returns at once, with the
 * event's fields as arguments. The encoder of apitrace's own streams numbers the calls
 * and writes the file.
 */

enum { ARGUMENTS_MOST = 4096 };

/* --- rows --- */

static int put_call_row(struct apitrace_conversion *s, const struct convert_row *r, bool leave,
			uint32_t call, uint32_t location, struct error *e)
{
	uint8_t fixed[APITRACE_FIXED_SIZE] = {0};
	struct event ev = {.type = s->calls[leave],
			   .location = location,
			   .fixed = fixed,
			   .tail = s->tail.data,
			   .tail_size = (uint32_t)s->tail.size};

	put_u32(fixed + APITRACE_FIXED_CALL, call);
	s->named += !r->thread->lane && (r->thread->comm.size || r->thread->pid != r->thread->tid);
	ev.lane = convert_thread_lane(&s->conversion, r->thread);
	return ev.lane ? target_event(&s->conversion.d, &ev, e) : error_no_memory(e);
}

/* Get the number of the function's argument of that name, 0: none. */
static uint32_t argument_of(const struct apitrace_conversion *s,
			    const struct apitrace_convert_function *f, struct text_ref name)
{
	const struct definition *names =
		dictionary_location(&s->conversion.d.dictionary, f->location)->arguments;

	/* fields are last */
	for (uint32_t i = names->count; i; i--)
		if (names->members[i - 1].name.size == name.size &&
		    !memcmp(names->members[i - 1].name.text, name.text, name.size))
			return i;
	return 0;
}

/* Convert the values and fields of a call's row into s->tail. */
static int call_values(struct apitrace_conversion *s, const struct convert_row *r,
		       const struct apitrace_convert_function *f)
{
	const struct event *ev = r->ev;
	const struct convert_fields *fields;

	s->tail.size = 0;
	if (r->cut)
		return 0;
	if (ev->type->flags & TYPE_VALUES &&
	    apitrace_convert_details(s, &s->tail, ev, f->keep, f->arguments, &s->extra))
		return -1;
	fields = convert_arguments_fields(&s->functions.arguments, ev->type);
	if (!fields)
		return -1;
	for (uint32_t i = 0; i < fields->n; i++) {
		bool result = convert_is_return(ev->type, fields->list[i].from);
		uint32_t index = result ? 0 : argument_of(s, f, fields->list[i].from->name);

		/* a leave may have other fields than its enter, which named the arguments */
		if (!result && !index)
			s->extra++;
		else if (convert_field_value(&s->tail, &fields->list[i], ev,
					     result ? DETAIL_RETURN : DETAIL_ARGUMENT, index))
			return -1;
	}
	return 0;
}

static int apitrace_convert_call(void *state, const struct convert_row *r, struct error *e)
{
	struct apitrace_conversion *s = state;
	bool leave = r->what == CONVERT_LEAVE;
	struct apitrace_convert_function *f;

	if (r->unseen) {
		s->unseen++;
		return 0;
	}
	f = apitrace_function_of_call(s, r);
	if (!f || call_values(s, r, f))
		return error_no_memory(e);
	if (!leave)
		*r->mark = s->calls_written++;
	return put_call_row(s, r, leave, *r->mark, f->location, e);
}

/* Find the function of an instant, and convert the values or fields into s->tail. */
static struct apitrace_convert_function *instant_values(struct apitrace_conversion *s,
							const struct event *ev)
{
	struct apitrace_convert_function *f;
	const struct convert_fields *fields;
	struct text_ref name;
	struct event joined;

	s->tail.size = 0;
	if (ev->type->flags & TYPE_VALUES) {
		if (convert_arguments_join(&s->functions.arguments, ev, &joined))
			return NULL;
		f = apitrace_function_of_values(s, &joined);
		return f && !apitrace_convert_details(s, &s->tail, &joined, f->keep, f->arguments,
						      &s->extra)
			       ? f
			       : NULL;
	}
	fields = convert_arguments_fields(&s->functions.arguments, ev->type);
	f = fields ? apitrace_function_of_fields(s, ev, fields) : NULL;
	if (!f)
		return NULL;
	for (uint32_t i = 0; i < fields->n; i++)
		if (convert_field_value(&s->tail, &fields->list[i], ev, DETAIL_ARGUMENT, i + 1))
			return NULL;
	if (ev->location && f->arguments > fields->n) {
		name = dictionary_location_name(s->conversion.dictionary, ev->location);
		if (value_put_detail(&s->tail, DETAIL_ARGUMENT, f->arguments) ||
		    value_put_bytes(&s->tail, VALUE_STRING, name.text, name.size))
			return NULL;
	}
	return f;
}

/* Write an instant as a call that returns at once. */
static int apitrace_convert_instant(void *state, const struct convert_row *r, struct error *e)
{
	struct apitrace_conversion *s = state;
	const struct event *ev = r->ev;
	struct apitrace_convert_function *f = instant_values(s, ev);
	uint32_t call = s->calls_written++;

	if (!f)
		return error_no_memory(e);
	s->instants++;
	if (put_call_row(s, r, false, call, f->location, e))
		return -1;
	s->tail.size = 0;
	return put_call_row(s, r, true, call, f->location, e);
}

static int apitrace_convert_gap(void *state, const struct convert_row *r, struct error *e)
{
	struct apitrace_conversion *s = state;
	struct event ev = {.type = s->conversion.d.gap,
			   .lane = dictionary_lane(&s->conversion.d.dictionary, 0)};

	(void)r;
	return target_event(&s->conversion.d, &ev, e);
}

static void apitrace_convert_drop(void *state)
{
	struct apitrace_conversion *s = state;

	convert_arguments_free(&s->functions.arguments);
	free(s->functions.locations);
	free(s->functions.instants);
	free(s->functions.types);
	free(s->functions.lists);
	intern_free(&s->functions.known);
	buffer_free(&s->functions.key);
	free(s->values.definitions);
	buffer_free(&s->tail);
}

static int apitrace_convert_init(void *state, struct error *e)
{
	static const char *const names[] = {"enter", "leave"};
	static const struct field number = {.kind = FIELD_UINT,
					    .role = ROLE_CALL,
					    .where = WHERE_FIXED,
					    .offset = APITRACE_FIXED_CALL,
					    .size = 4};
	struct apitrace_conversion *s = state;

	s->functions.arguments.dictionary = s->conversion.dictionary;
	s->functions.arguments.most = ARGUMENTS_MOST;
	for (int leave = 0; leave < 2; leave++) {
		struct type *t = s->calls[leave] =
			target_type(&s->conversion.d, names[leave], "apitrace");

		if (!t)
			return error_no_memory(e);
		t->kind = leave ? KIND_LEAVE : KIND_ENTER;
		t->flags = TYPE_CALL_NUMBER | TYPE_VALUES | TYPE_TAIL;
		t->fixed_size = APITRACE_FIXED_SIZE;
		t->nfields = 1;
		t->fields = &number;
	}
	return 0;
}

static int apitrace_convert_end(void *state, struct error *e)
{
	static const uint8_t header[] = {APITRACE_LATEST, APITRACE_LATEST, 0};
	struct apitrace_conversion *s = state;

	s->conversion.counts.unmatched += s->unseen;
	/* a trace without events is its header alone */
	return s->calls_written ? 0
				: target_meta(&s->conversion.d, APITRACE_META_HEADER, header,
					      sizeof header, 0, e);
}

static void apitrace_convert_report(void *state)
{
	struct apitrace_conversion *s = state;
	struct conversion *a = &s->conversion;

	convert_lost(
		a, a->counts.with_time,
		"{event is|events are} written without {its time|their times}: a .trace has none");
	convert_lost(a, a->counts.with_cpu,
		     "{event is|events are} written without {its|their} CPU: a .trace has none");
	convert_lost(a, s->named,
		     "{thread is|threads are} written without {its name and process|their names "
		     "and processes}");
	convert_lost(
		a, s->instants,
		"{event is|events are} written as {a call that returns|calls that return} at once");
	convert_lost(a, s->extra,
		     "{argument is|arguments are} left out: the function is declared with fewer");

	convert_lost(a, s->functions.cut, "{name was|names were} cut to 32768 bytes");
	convert_lost(a, s->values.rounded, "{number was|numbers were} rounded to 64 bits");
	convert_lost(a, s->values.opaque,
		     "{struct of unknown members is written as a blob or as its name|structs of "
		     "unknown members are written as blobs or as their names}");
	convert_lost(a, s->functions.arguments.lost,
		     "{field is|fields are} left out, of types with more than 4096 fields");
}

const struct convert_target apitrace_target = {
	.native = &encoder_apitrace,
	.format = "apitrace",
	.state_size = sizeof(struct apitrace_conversion),
	.zero = true,
	.no_cpus = true,
	.init = apitrace_convert_init,
	.call = apitrace_convert_call,
	.instant = apitrace_convert_instant,
	.gap = apitrace_convert_gap,
	.end = apitrace_convert_end,
	.report = apitrace_convert_report,
	.drop = apitrace_convert_drop,
};
