/*
 * unpack_probe.c - is a file a .trace, and in what is it packed?
 *
 * Its first bytes are unpacked: those of the trace must be a version that there is.
 */
#include "unpack.h"

#include <brotli/decode.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "common/bytes.h"
#include "common/formats/apitrace.h"

static bool first_bytes_sane(const uint8_t *p, size_t n)
{
	return n && p[0] <= APITRACE_LATEST &&
	       (n < 2 || p[1] <= (p[0] >= APITRACE_PROPERTIES ? p[0] : 1));
}

static bool probe_gzip(const uint8_t *head, size_t n)
{
	z_stream z = {.next_in = (Bytef *)head, .avail_in = (uInt)n};
	uint8_t out[2];

	if (n < 4 || head[0] != 0x1f || head[1] != 0x8b || head[2] != 8 || head[3] & 0xe0)
		return false;
	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return false;
	z.next_out = out;
	z.avail_out = sizeof out;
	inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	return first_bytes_sane(out, sizeof out - z.avail_out);
}

/* Where damage follows soon: does a whole header, or its first property, stand at the beginning? */
static bool header_sane(const uint8_t *p, size_t n)
{
	if (n < 4 || !first_bytes_sane(p, n))
		return false;
	if (p[0] < APITRACE_PROPERTIES)
		return p[1] == APITRACE_ENTER;
	if (!p[2])
		return p[3] == APITRACE_ENTER;
	for (size_t i = 3; i < n && i < 3 + (size_t)p[2]; i++)
		if (p[i] < ' ' || p[i] > '~')
			return false;
	return p[2] < 0x80;
}

static bool probe_brotli(const uint8_t *head, size_t n)
{
	BrotliDecoderState *b = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
	uint8_t out[32], *to = out;
	size_t room = sizeof out, unpacked;
	uint8_t window = *head & 15;

	if (!b)
		return false;
	/* byte by byte: what was unpacked in the call that meets the damage does not come out */
	while (n && result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) {
		size_t one = 1;

		result = BrotliDecoderDecompressStream(b, &one, &head, &room, &to, NULL);
		n -= 1 - one;
	}
	BrotliDecoderDestroyInstance(b);
	unpacked = sizeof out - room;
	if (result == BROTLI_DECODER_RESULT_ERROR)
		return header_sane(out, unpacked);
	if (!unpacked) /* tables alone may fill what was read; those of chance seldom do */
		return result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && !n &&
		       (window == 15 || window == 11);
	return first_bytes_sane(out, unpacked);
}

bool unpack_is_zstd(const uint8_t *head, size_t n)
{
	return n >= 4 &&
	       (get_u32(head) == ZSTD_MAGICNUMBER ||
		(get_u32(head) & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START);
}

static bool probe_zstd(const uint8_t *head, size_t n)
{
	ZSTD_DStream *z;
	ZSTD_inBuffer in = {head, n, 0};
	uint8_t bytes[2];
	ZSTD_outBuffer out = {bytes, sizeof bytes, 0};
	size_t result = 1;

	if (!unpack_is_zstd(head, n) || !(z = ZSTD_createDStream()))
		return false;
	while (out.pos < out.size && in.pos < in.size && !ZSTD_isError(result)) {
		size_t before = in.pos + out.pos;

		result = ZSTD_decompressStream(z, &out, &in);
		if (in.pos + out.pos == before)
			break;
	}
	ZSTD_freeDStream(z);
	/* its first block may be longer than what was read */
	return out.pos ? first_bytes_sane(bytes, out.pos) : !ZSTD_isError(result);
}

static bool probe_snappy(const uint8_t *head, size_t n)
{
	uint32_t packed, length;
	size_t at = 6;

	if (n < 2 || memcmp(head, "at", 2) != 0)
		return false;
	/* cut before the end of the first block's length */
	while (at < n && at < 6 + 5 && head[at] & 0x80)
		at++;
	if (at >= n)
		return true;
	packed = get_u32(head + 2);
	return packed && snappy_length(head + 6, n - 6, &length) &&
	       snappy_length_sane(packed, length);
}

bool unpack_probe(const uint8_t *head, size_t n, enum container *container)
{
	*container = CONTAINER_BROTLI;
	if (n >= 2 && !memcmp(head, "at", 2))
		*container = CONTAINER_SNAPPY;
	else if (n >= 4 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8 && !(head[3] & 0xe0))
		*container = CONTAINER_GZIP;
	else if (unpack_is_zstd(head, n))
		*container = CONTAINER_ZSTD;
	switch (*container) {
	case CONTAINER_SNAPPY: return probe_snappy(head, n);
	case CONTAINER_GZIP: return probe_gzip(head, n);
	case CONTAINER_ZSTD: return probe_zstd(head, n);
	case CONTAINER_BROTLI: break;
	}
	/* a tar may begin with anything */
	if (n >= 262 && !memcmp(head + 257, "ustar", 5))
		return false;
	return probe_brotli(head, n);
}
