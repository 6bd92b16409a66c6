#include "common/ftrace/unpack.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "common/util/memory.h"

/* Bytes by which the buffer grows: a length in the file does not prove that there are so many. */
enum { STEP = 256 * 1024, WINDOW_LOG_MAX = 24 };

enum tracecmd_compression tracecmd_compression(const char *name)
{
	if (!strcmp(name, "none") || !*name)
		return TRACECMD_NONE;
	if (!strcmp(name, "zlib"))
		return TRACECMD_ZLIB;
	return !strcmp(name, "zstd") ? TRACECMD_ZSTD : TRACECMD_OTHER;
}

static size_t unpack_room(struct buffer *out, size_t want)
{
	size_t n = want - out->size;

	if (n > STEP)
		n = STEP;
	return buffer_reserve(out, n + 1) ? 0 : n;
}

static int unpack_no_memory(const char **what)
{
	memory_fail();
	*what = "out of memory";
	return -1;
}

static int unpack_zlib(const uint8_t *data, size_t n, size_t want, struct buffer *out,
		       const char **what)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)n};
	int result = Z_OK;

	if (inflateInit(&z) != Z_OK)
		return unpack_no_memory(what);
	while (result == Z_OK && out->size < want) {
		size_t space = unpack_room(out, want);

		if (!space) {
			inflateEnd(&z);
			return unpack_no_memory(what);
		}
		z.next_out = out->data + out->size;
		z.avail_out = (uInt)space;
		result = inflate(&z, Z_NO_FLUSH);
		out->size += space - z.avail_out;
		if (result == Z_OK && z.avail_out && !z.avail_in)
			break;
	}
	inflateEnd(&z);
	if (result == Z_MEM_ERROR)
		return unpack_no_memory(what);
	if ((result == Z_OK || result == Z_STREAM_END) && out->size == want)
		return 0;
	*what = "compressed data (zlib) is damaged";
	return -1;
}

static int unpack_zstd(struct tracecmd_unpacker *u, const uint8_t *data, size_t n, size_t want,
		       struct buffer *out, const char **what)
{
	ZSTD_inBuffer in = {data, n, 0};

	if (!u->zstd)
		u->zstd = ZSTD_createDCtx();
	if (!u->zstd)
		return unpack_no_memory(what);
	ZSTD_DCtx_reset(u->zstd, ZSTD_reset_session_only);
	ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	while (out->size < want) {
		size_t space = unpack_room(out, want), left;
		ZSTD_outBuffer to = {out->data + out->size, space, 0};

		if (!space)
			return unpack_no_memory(what);
		left = ZSTD_decompressStream(u->zstd, &to, &in);
		out->size += to.pos;
		if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
			return unpack_no_memory(what);
		if (ZSTD_isError(left) || !left || (!to.pos && in.pos == in.size))
			break;
	}
	if (out->size == want)
		return 0;
	*what = "compressed data (zstd) is damaged";
	return -1;
}

int tracecmd_unpack(struct tracecmd_unpacker *u, const uint8_t *data, size_t n, size_t want,
		    struct buffer *out, const char **what)
{
	out->size = 0;
	if (!want)
		return 0;
	if (u->method == TRACECMD_ZLIB)
		return unpack_zlib(data, n, want, out, what);
	if (u->method == TRACECMD_ZSTD)
		return unpack_zstd(u, data, n, want, out, what);
	*what = "compressed in a way that is not known";
	return -1;
}

void tracecmd_unpacker_free(struct tracecmd_unpacker *u)
{
	ZSTD_freeDCtx(u->zstd);
	u->zstd = NULL;
}
