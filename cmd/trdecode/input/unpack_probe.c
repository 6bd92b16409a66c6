/*
 * unpack_probe.c - test whether a file is a .trace, and find its container
 *
 * The first bytes are unpacked: a trace begins with a known version.
 */
#include "cmd/trdecode/input/unpack.h"

#include <brotli/decode.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "common/util/bytes.h"
#include "common/formats/apitrace.h"
#include "cmd/trdecode/input/tree.h"

enum { FIRST_BYTES = 8 };

static bool first_bytes_sane(const uint8_t *p, size_t n)
{
	if (!n || p[0] > APITRACE_LATEST)
		return false;
	/* traces without events may be first: in old versions each is a header of one byte */
	while (n > 1 && p[0] < APITRACE_PROPERTIES && p[1] > APITRACE_LEAVE &&
	       p[1] <= APITRACE_LATEST) {
		p++;
		n--;
	}
	return n < 2 || p[1] <= (p[0] >= APITRACE_PROPERTIES ? p[0] : APITRACE_LEAVE);
}

/* Test for the two bytes of gzip and its only method. */
static bool gzip_mark(const uint8_t *head, size_t n)
{
	return n >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8;
}

/* Bid for the first unpacked bytes of a file that has the mark of its container. */
static enum bid bid_first(const uint8_t *p, size_t n)
{
	return first_bytes_sane(p, n) ? BID_HEADER : BID_NONE;
}

/*
 * Test a file with the mark of gzip. A file with the mark of gzip or zstd that is damaged before
 * its first byte can be unpacked may have been a trace: it is accepted, so that the damage and its
 * offset are reported.
 */
static enum bid probe_gzip(const uint8_t *head, size_t n)
{
	z_stream z = {.next_in = (Bytef *)head, .avail_in = (uInt)n};
	uint8_t out[FIRST_BYTES];
	int result;

	if (head[3] & 0xe0) /* flags that gzip does not define: damage */
		return BID_CHANCE;
	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return BID_NONE;
	z.next_out = out;
	z.avail_out = sizeof out;
	/* past members without content */
	do
		result = inflate(&z, Z_SYNC_FLUSH);
	while (result == Z_STREAM_END && z.avail_out && z.avail_in && inflateReset(&z) == Z_OK);
	inflateEnd(&z);
	if (z.avail_out < sizeof out)
		return bid_first(out, sizeof out - z.avail_out);
	/* damage, or too few bytes because the file is truncated */
	return result == Z_DATA_ERROR || (result != Z_STREAM_END && n < TREE_PROBE) ? BID_CHANCE
										    : BID_NONE;
}

/* Where damage follows soon: do the bytes begin with a whole header, or with its first property? */
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

/* Is the first function's name empty? Other files that brotli can decode by chance give zeros,
 * compiled Python among them. */
static bool first_is_nameless(const uint8_t *p, size_t n)
{
	size_t i = 2, numbers;

	if (n < 2 || p[0] >= APITRACE_PROPERTIES || p[1] != APITRACE_ENTER)
		return false;
	/* past the thread and the id */
	for (numbers = p[0] >= APITRACE_THREADS ? 2 : 1; i < n && numbers; i++)
		numbers -= !(p[i] & 0x80);
	return i < n && !p[i];
}

static enum bid probe_brotli(const uint8_t *head, size_t n)
{
	BrotliDecoderState *b = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
	uint8_t out[32], *to = out;
	size_t room = sizeof out, unpacked;
	uint8_t window = *head & 15;

	if (!b)
		return BID_NONE;
	/* one byte at a time: brotli drops what it unpacked in the call that finds the damage */
	while (n && result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) {
		size_t one = 1;

		result = BrotliDecoderDecompressStream(b, &one, &head, &room, &to, NULL);
		n -= 1 - one;
	}
	BrotliDecoderDestroyInstance(b);
	unpacked = sizeof out - room;
	if (result == BROTLI_DECODER_RESULT_ERROR)
		return header_sane(out, unpacked) ? BID_CHANCE : BID_NONE;
	if (!unpacked) /* the tables alone may fill what was read; random bytes seldom make them so
			  long */
		return result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && !n &&
				       (window == 15 || window == 11)
			       ? BID_CHANCE
			       : BID_NONE;
	return first_bytes_sane(out, unpacked) && !first_is_nameless(out, unpacked) ? BID_CHANCE
										    : BID_NONE;
}

bool unpack_is_zstd(const uint8_t *head, size_t n)
{
	return n >= 4 &&
	       (get_u32(head) == ZSTD_MAGICNUMBER ||
		(get_u32(head) & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START);
}

/* RFC 8878, 3.1.1.1 */
bool unpack_zstd_window(const uint8_t *head, size_t n, uint64_t *window)
{
	static const uint8_t id_sizes[] = {0, 1, 2, 4}, size_sizes[] = {1, 2, 4, 8};
	uint8_t flags;
	size_t id, size;

	if (n < 6 || get_u32(head) != ZSTD_MAGICNUMBER)
		return false;
	flags = head[4];
	if (flags & 8) /* reserved: must be 0 */
		return false;
	if (!(flags & 0x20)) {
		uint64_t base = 1ull << (10 + (head[5] >> 3));

		*window = base + base / 8 * (head[5] & 7);
		return true;
	}
	/* a single segment: the window is all of its content */
	id = id_sizes[flags & 3];
	size = size_sizes[flags >> 6];
	if (n < 5 + id + size)
		return false;
	*window = get_uint(head + 5 + id, (unsigned)size, false) + (size == 2 ? 256 : 0);
	return true;
}

static enum bid probe_zstd(const uint8_t *head, size_t n)
{
	ZSTD_DStream *z;
	ZSTD_inBuffer in = {head, n, 0};
	uint8_t bytes[FIRST_BYTES];
	ZSTD_outBuffer out = {bytes, sizeof bytes, 0};
	size_t result = 1;

	if (!unpack_is_zstd(head, n) || !(z = ZSTD_createDStream()))
		return BID_NONE;
	while (out.pos < out.size && in.pos < in.size && !ZSTD_isError(result)) {
		size_t before = in.pos + out.pos;

		result = ZSTD_decompressStream(z, &out, &in);
		if (in.pos + out.pos == before)
			break;
	}
	ZSTD_freeDStream(z);
	/* the first block may be longer than what was read, or damaged, or its window too large */
	return out.pos ? bid_first(bytes, out.pos) : BID_MAGIC;
}

/*
 * Test a file with the mark of snappy chunks. Text may begin with the mark, too. The last byte of
 * the length after the mark is 0 in files by apitrace, and at most 4 in chunks of the size that is
 * read here: text has neither. If the length is damaged, the chunk must begin with the first bytes
 * of a trace.
 */
static enum bid probe_snappy(const uint8_t *head, size_t n)
{
	uint8_t out[FIRST_BYTES];
	uint32_t packed = n < 6 ? 0 : get_u32(head + 2);
	bool complete;

	if (!packed)
		return BID_NONE;
	if (first_bytes_sane(out, snappy_part(head + 6, n - 6, out, sizeof out, &complete)))
		return packed <= UNPACK_SNAPPY_PACKED ? BID_HEADER : BID_LIKELY;
	return packed <= UNPACK_SNAPPY_PACKED ? BID_CHANCE : BID_NONE;
}

enum bid unpack_probe(const uint8_t *head, size_t n, enum container *container)
{
	*container = CONTAINER_BROTLI;
	if (n >= 2 && !memcmp(head, "at", 2))
		*container = CONTAINER_SNAPPY;
	else if (gzip_mark(head, n))
		*container = CONTAINER_GZIP;
	else if (unpack_is_zstd(head, n))
		*container = CONTAINER_ZSTD;
	switch (*container) {
	case CONTAINER_SNAPPY: return probe_snappy(head, n);
	case CONTAINER_GZIP: return n > 3 ? probe_gzip(head, n) : BID_NONE;
	case CONTAINER_ZSTD: return probe_zstd(head, n);
	case CONTAINER_BROTLI: break;
	}
	/* a tar may begin with any bytes */
	return n >= 262 && !memcmp(head + 257, "ustar", 5) ? BID_NONE : probe_brotli(head, n);
}
