/*
 * spool.c - spill the data of a trace.dat's CPUs, compressed if the output is
 */
#include "cmd/trencode/tracecmd/spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "common/util/temporary.h"
#include "cmd/trencode/tracecmd/pages.h"

/* The header of a piece: u64 offset of the chain's next piece, u64 bytes of this piece. */
enum { PIECE_HEADER = 16, COPY_SIZE = 64 * 1024 };

/* The recorder's default levels. */
enum { ZSTD_USUAL = ZSTD_CLEVEL_DEFAULT, ZLIB_USUAL = Z_BEST_COMPRESSION };

const char *tracecmd_packer_version(enum tracecmd_method method)
{
	switch (method) {
	case TRACECMD_WITH_ZLIB: return zlibVersion();
	case TRACECMD_WITH_ZSTD: return ZSTD_versionString();
	default: return "";
	}
}

/* Compress n bytes. Returns the compressed size, 0 on failure. */
static size_t pack_to(struct tracecmd_packer *p, const void *data, size_t n, uint8_t *to,
		      size_t room)
{
	size_t size;

	if (p->method == TRACECMD_WITH_ZLIB) {
		uLongf have = room;

		return compress2(to, &have, data, n, p->level < 0 ? ZLIB_USUAL : p->level) == Z_OK
			       ? have
			       : 0;
	}
	if (!p->zstd)
		p->zstd = ZSTD_createCCtx();
	if (!p->zstd)
		return 0;
	size = ZSTD_compressCCtx(p->zstd, to, room, data, n, p->level < 0 ? ZSTD_USUAL : p->level);
	return ZSTD_isError(size) ? 0 : size;
}

int tracecmd_pack(struct tracecmd_packer *p, const void *data, size_t n, struct buffer *out,
		  struct error *e)
{
	size_t room = p->method == TRACECMD_WITH_ZLIB ? compressBound(n) : ZSTD_compressBound(n),
	       size;

	if (n > UINT32_MAX / 2)
		return error_set(e, NULL, NO_OFFSET,
				 "a part of %zu bytes is too large for a trace.dat", n);
	if (buffer_reserve(out, 8 + room))
		return error_no_memory(e);
	size = pack_to(p, data, n, out->data + out->size + 8, room);
	if (!size)
		return error_set(e, NULL, NO_OFFSET, "cannot compress");
	tracecmd_put_uint(out->data + out->size, size, 4, p->big_endian);
	tracecmd_put_uint(out->data + out->size + 4, n, 4, p->big_endian);
	out->size += 8 + size;
	return 0;
}

void tracecmd_packer_free(struct tracecmd_packer *p)
{
	ZSTD_freeCCtx(p->zstd);
	p->zstd = NULL;
}

/* --- the temporary file --- */

static int spool_open(struct tracecmd_spool *s, struct error *e)
{
	s->fd = temporary_open(e);
	return s->fd < 0 ? -1 : 0;
}

int tracecmd_spool_add(struct tracecmd_spool *s, struct tracecmd_pieces *p, const void *data,
		       size_t n, struct error *e)
{
	struct buffer *b = &s->piece;
	uint8_t link[8];

	if (s->fd < 0 && spool_open(s, e))
		return -1;
	b->size = 0;
	if (buffer_zero(b, PIECE_HEADER))
		return error_no_memory(e);
	if (s->packer->method != TRACECMD_PLAIN) {
		if (tracecmd_pack(s->packer, data, n, b, e))
			return -1;
	} else if (buffer_append(b, data, n)) {
		return error_no_memory(e);
	}
	n = b->size - PIECE_HEADER;
	put_u64(b->data + 8, n);
	if (temporary_write(s->fd, b->data, b->size, s->size, e))
		return -1;
	put_u64(link, s->size);
	if (p->count && temporary_write(s->fd, link, sizeof link, p->last, e))
		return -1;
	if (!p->count)
		p->first = s->size;
	p->last = s->size;
	p->bytes += n;
	p->count++;
	s->size += b->size;
	return 0;
}

int tracecmd_spool_copy(struct tracecmd_spool *s, const struct tracecmd_pieces *p,
			struct output *to, struct error *e)
{
	uint64_t at = p->first;
	uint8_t header[PIECE_HEADER];

	s->piece.size = 0;
	if (buffer_reserve(&s->piece, COPY_SIZE))
		return error_no_memory(e);
	for (uint32_t i = 0; i < p->count; i++) {
		uint64_t left, next;

		if (temporary_read(s->fd, header, sizeof header, at, e))
			return -1;
		next = get_u64(header);
		left = get_u64(header + 8);
		at += PIECE_HEADER;
		while (left) {
			size_t n = left < COPY_SIZE ? (size_t)left : COPY_SIZE;

			if (temporary_read(s->fd, s->piece.data, n, at, e) ||
			    output_write(to, s->piece.data, n, e))
				return -1;
			at += n;
			left -= n;
		}
		at = next;
	}
	return 0;
}

void tracecmd_spool_close(struct tracecmd_spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	buffer_free(&s->piece);
}
