/*
 * pack.c - compress and write the container of a .trace
 */
#include "cmd/trencode/pack.h"

#include <brotli/encode.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "common/util/buffer.h"
#include "common/formats/apitrace.h"

enum {
	OUT_SIZE = 256 * 1024,
	GZIP_LEVEL = 9, /* the defaults of apitrace's own tools */
	ZSTD_LEVEL = 3,
	BROTLI_QUALITY = 5, /* apitrace uses 11, which takes a hundred times as long */
	BROTLI_WINDOW = 22, /* apitrace uses 24, which takes 53 MB more */
};

/* zstd's seekable format: a seek table in a skippable frame after the data frames. */
enum { SEEK_MAGIC = 0x184d2a5e, SEEK_FOOTER = (int)0x8f92eab1 };

/* One frame of zstd: compressed and original size, bytes. */
struct pack_frame {
	uint32_t packed, size;
};

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
	struct pack_frame *frames;
	size_t n;

	if (!p->size)
		return 0;
	n = ZSTD_compress2(p->state, p->packed, p->packed_capacity, p->data, p->size);
	if (ZSTD_isError(n) || ARRAY_GROW(p->frames, p->frames_capacity, p->nframes))
		return pack_fail(p, "cannot compress");
	frames = p->frames;
	frames[p->nframes++] = (struct pack_frame){(uint32_t)n, (uint32_t)p->size};
	return pack_write(p, p->packed, n);
}

static int pack_seek_table(struct pack *p)
{
	struct buffer b = {0};
	int bad = buffer_u32(&b, SEEK_MAGIC) || buffer_u32(&b, (uint32_t)(8 * p->nframes + 9));

	for (size_t i = 0; i < p->nframes && !bad; i++)
		bad = buffer_u32(&b, p->frames[i].packed) || buffer_u32(&b, p->frames[i].size);
	bad = bad || buffer_u32(&b, (uint32_t)p->nframes) || buffer_u8(&b, 0) ||
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
		case PACK_ZLIB:
		case PACK_NONE: break;
		case PACK_SNAPPY: pack_snappy(p); break;
		case PACK_GZIP: pack_gzip(p, last); break;
		case PACK_BROTLI: pack_brotli(p, last); break;
		case PACK_ZSTD:
			if (!pack_zstd(p) && last)
				pack_seek_table(p);
			break;
		}
	p->size = 0;
}

void pack_slow(struct pack *p, const void *data, size_t n)
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
	case PACK_ZLIB:
	case PACK_NONE: break;
	}
	return -1;
}

int pack_open(struct pack *p, const struct pack_choice *c, struct output *output, struct error *e)
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

int pack_finish(struct pack *p, struct error *e)
{
	pack_flush(p, true);
	if (!p->error.what[0])
		return 0;
	*e = p->error;
	return -1;
}

void pack_close(struct pack *p)
{
	if (p->state)
		switch (p->kind) {
		case PACK_SNAPPY:
		case PACK_ZLIB:
		case PACK_NONE: break;
		case PACK_GZIP:
			deflateEnd(p->state);
			free(p->state);
			break;
		case PACK_BROTLI: BrotliEncoderDestroyInstance(p->state); break;
		case PACK_ZSTD: ZSTD_freeCCtx(p->state); break;
		}
	free(p->data);
	free(p->packed);
	free(p->frames);
	*p = (struct pack){0};
}
