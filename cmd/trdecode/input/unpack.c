#include "cmd/trdecode/input/unpack.h"

#include <brotli/decode.h>
#include <inttypes.h>
#include <poll.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "common/util/bytes.h"
#include "common/util/io.h"

enum {
	IN_SIZE = 128 * 1024,
	OUT_SIZE = 256 * 1024,
	/* bytes given to brotli at once: in a call that finds damage, brotli keeps back what it
	 * unpacked */
	BROTLI_SLICE = 128,
	EMPTY = 2, /* chunk_snappy: the chunk is empty */
};

const char *unpack_name(enum container container)
{
	static const char *const names[] = {"snappy", "gzip", "brotli", "zstd"};

	return names[container];
}

const char *unpack_part(enum container container)
{
	static const char *const parts[] = {"chunk", "member", "stream", "frame"};

	return parts[container];
}

/* --- the file --- */

/* Read n bytes of the file, if it has so many. Returns 1, 0 (the end, with fewer), or -1. */
static int unpack_fill(struct unpack *u, size_t n, struct error *e)
{
	while ((size_t)(u->in_end - u->in_at) < n && !u->eof) {
		struct pollfd p = {u->fd, POLLIN, 0};
		size_t have = (size_t)(u->in_end - u->in_at), room;
		ssize_t got;

		memmove(u->in, u->in_at, have);
		if (have == u->in_capacity) {
			/* a length in the file proves nothing: the buffer grows as bytes arrive */
			uint8_t *in = realloc(u->in, u->in_capacity * 2);

			if (!in)
				return error_no_memory(e);
			u->in = in;
			u->in_capacity *= 2;
		}
		u->in_at = u->in;
		u->in_end = u->in + have;
		room = u->in_capacity - have;
		if (u->before_block && poll(&p, 1, 0) == 0 && u->before_block(u->before_block_ctx))
			return error_set(e, NULL, NO_OFFSET, "cannot write");
		got = io_read(u->fd, u->in_end, room);
		if (got < 0)
			return error_errno(e, u->name, u->packed, "cannot read");
		u->eof = !got;
		u->in_end += got;
	}
	return (size_t)(u->in_end - u->in_at) >= n;
}

static void unpack_take(struct unpack *u, size_t n)
{
	u->in_at += n;
	u->packed += n;
}

/* Move the unread bytes to the front of the buffer, and make room for n bytes after them. */
static uint8_t *make_room(struct unpack *u, size_t n, struct error *e)
{
	size_t have = (size_t)(u->end - u->at);

	if (u->capacity - have < n) {
		uint8_t *buffer = malloc(have + n);

		if (!buffer) {
			error_no_memory(e);
			return NULL;
		}
		if (have)
			memcpy(buffer, u->at, have);
		free(u->buffer);
		u->buffer = buffer;
		u->capacity = have + n;
	} else if (have) {
		memmove(u->buffer, u->at, have);
	}
	u->at = u->buffer;
	u->end = u->buffer + have;
	return u->buffer + have;
}

static int unpack_give(struct unpack *u, size_t n)
{
	u->end += n;
	u->total += n;
	return 1;
}

/* End the unpacked data. what: the damage, NULL: there is none. Returns 0. */
static int unpack_end(struct unpack *u, uint64_t offset, const char *what)
{
	u->ended = true;
	u->damage.what[0] = '\0';
	if (what)
		error_set(&u->damage, u->name, offset, "%s %" PRIu64 ": %s",
			  unpack_part(u->container), u->chunk, what);
	return 0;
}

/* --- snappy chunks --- */

/* Unpack what can be unpacked of a truncated or damaged chunk, and end there. */
static int rest_of_chunk(struct unpack *u, size_t n, const char *what, struct error *e)
{
	uint32_t length;
	uint8_t *out;
	size_t got;
	bool complete;

	if (!snappy_length(u->in_at, n, &length) || length > UNPACK_SNAPPY_LIMIT)
		return unpack_end(u, u->chunk_at, what);
	if (length > 22 * (uint64_t)n + 64)
		length = (uint32_t)(22 * (uint64_t)n + 64);
	out = make_room(u, length, e);
	if (!out)
		return -1;
	got = snappy_part(u->in_at, n, out, length, &complete);
	unpack_take(u, n);
	unpack_end(u, u->chunk_at, what);
	return got ? unpack_give(u, got) : 0;
}

/* Unpack the next chunk: 1, 0 at the end, -1, or EMPTY. */
static int chunk_snappy(struct unpack *u, struct error *e)
{
	uint32_t packed, length;
	size_t got;
	uint8_t *out;
	int full;

	full = unpack_fill(u, 4, e);
	if (full < 0)
		return -1;
	if (u->in_at == u->in_end) {
		if (!u->begun)
			u->chunk_at = u->packed;
		return unpack_end(u, u->packed, NULL);
	}
	u->chunk += u->begun;
	u->begun = true;
	u->chunk_at = u->packed;
	if (!full)
		return unpack_end(u, u->packed, "the file ends inside of its length");
	packed = get_u32(u->in_at);
	unpack_take(u, 4);
	if (!packed)
		return unpack_end(u, u->chunk_at, "its length is 0");
	full = unpack_fill(u, packed, e);
	if (full < 0)
		return -1;
	if (!full)
		return rest_of_chunk(u, (size_t)(u->in_end - u->in_at),
				     "the file ends inside of it", e);
	if (!snappy_length(u->in_at, packed, &length) || !snappy_length_sane(packed, length))
		return unpack_end(u, u->chunk_at, "impossible length of what is packed in it");
	out = make_room(u, length, e);
	if (!out)
		return -1;
	got = length;
	if (snappy_uncompress((const char *)u->in_at, packed, (char *)out, &got) != SNAPPY_OK ||
	    got != length)
		return rest_of_chunk(u, packed, "damaged", e);
	unpack_take(u, packed);
	if (!got)
		return EMPTY;
	return unpack_give(u, got);
}

static int more_snappy(struct unpack *u, struct error *e)
{
	int got;

	do {
		got = chunk_snappy(u, e);
	} while (got == EMPTY);
	return got;
}

/* --- gzip, brotli, zstd: what they have in common --- */

/* One step of a decompressor: take bytes from [in_at, in_end), put bytes to out. Returns 1 to go
 * on, 0 when the stream has ended (another may follow), -1 if it is damaged. */
typedef int step_function(struct unpack *u, const uint8_t **in, size_t in_size, uint8_t **out,
			  size_t room);

static int step_gzip(struct unpack *u, const uint8_t **in, size_t n, uint8_t **out, size_t room)
{
	z_stream *z = u->state;
	int result;

	z->next_in = (Bytef *)*in;
	z->avail_in = (uInt)n;
	z->next_out = *out;
	z->avail_out = (uInt)room;
	result = inflate(z, Z_NO_FLUSH);
	*in = z->next_in;
	*out = z->next_out;
	if (result == Z_STREAM_END)
		return inflateReset(z) == Z_OK ? 0 : -1;
	return result == Z_OK || result == Z_BUF_ERROR ? 1 : -1;
}

static int step_brotli(struct unpack *u, const uint8_t **in, size_t n, uint8_t **out, size_t room)
{
	BrotliDecoderResult r;

	do {
		size_t slice = n < BROTLI_SLICE ? n : BROTLI_SLICE, left;
		const uint8_t *from = *in;

		/* first the bytes for which there was no room */
		if (BrotliDecoderHasMoreOutput(u->state))
			slice = 0;
		left = slice;

		r = BrotliDecoderDecompressStream(u->state, &left, in, &room, out, NULL);
		if (r == BROTLI_DECODER_RESULT_ERROR) {
			*in = from;
			return -1;
		}
		n -= slice - left;
	} while (r == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && n && room);
	return r != BROTLI_DECODER_RESULT_SUCCESS;
}

static int step_zstd(struct unpack *u, const uint8_t **in, size_t n, uint8_t **out, size_t room)
{
	ZSTD_inBuffer from = {*in, n, 0};
	ZSTD_outBuffer to = {*out, room, 0};
	size_t result = ZSTD_decompressStream(u->state, &to, &from);

	*in += from.pos;
	*out += to.pos;
	return ZSTD_isError(result) ? -1 : result != 0;
}

/*
 * Test the window of a frame: the header gives how many unpacked bytes must be kept (RFC 8878,
 * 3.1.1.1). The limit is that of libzstd, and so of apitrace. Returns 1, 0 if the window is beyond
 * the limit, or -1: cannot read.
 */
static int check_window(struct unpack *u, struct error *e)
{
	uint64_t window;

	if (unpack_fill(u, UNPACK_ZSTD_HEADER, e) < 0)
		return -1;
	if (!unpack_zstd_window(u->in_at, (size_t)(u->in_end - u->in_at), &window) ||
	    window <= UNPACK_WINDOW_LIMIT)
		return 1;
	snprintf(u->refused, sizeof u->refused,
		 "it asks for a window of %" PRIu64 " MiB, and at most %d MiB are kept",
		 window >> 20, UNPACK_WINDOW_LIMIT >> 20);
	return unpack_end(u, u->packed, u->refused);
}

/* May another member or frame begin with these bytes? */
static bool unpack_another(const struct unpack *u)
{
	size_t n = (size_t)(u->in_end - u->in_at);

	switch (u->container) {
	case CONTAINER_GZIP: return n >= 2 && u->in_at[0] == 0x1f && u->in_at[1] == 0x8b;
	case CONTAINER_ZSTD: return unpack_is_zstd(u->in_at, n);
	default: return false;
	}
}

static int more_stream(struct unpack *u, step_function *step, struct error *e)
{
	uint8_t *out = make_room(u, OUT_SIZE, e), *to = out;

	if (!out)
		return -1;
	for (;;) {
		const uint8_t *in;
		int going;

		if (u->between) {
			if (unpack_fill(u, 4, e) < 0)
				return -1;
			if (u->in_at == u->in_end)
				return unpack_end(u, u->packed, NULL);
			if (!unpack_another(u) && u->total)
				return unpack_end(u, u->packed,
						  "bytes that do not belong to the trace "
						  "follow it");
			u->chunk_at = u->packed;
			u->between = false;
			u->chunk += u->begun;
			u->begun = true;
			if (u->container == CONTAINER_ZSTD) {
				int fits = check_window(u, e);

				if (fits <= 0)
					return fits;
			}
		}
		if (unpack_fill(u, 1, e) < 0)
			return -1;
		in = u->in_at;
		going = step(u, &in, (size_t)(u->in_end - u->in_at), &to,
			     OUT_SIZE - (size_t)(to - out));
		if (going < 0) {
			unpack_end(u, u->packed + (uint64_t)(in - u->in_at),
				   u->total || to > out
					   ? "damaged"
					   : "damaged before a byte of it was unpacked");
		} else if (!going) {
			u->between = true;
		} else if (to == out && in == u->in_at && u->eof) {
			return unpack_end(u, u->packed, "the file ends inside of it");
		}
		unpack_take(u, (size_t)(in - u->in_at));
		if (to > out)
			return unpack_give(u, (size_t)(to - out));
		if (u->ended)
			return 0;
	}
}

int unpack_more(struct unpack *u, struct error *e)
{
	if (u->ended)
		return 0;
	switch (u->container) {
	case CONTAINER_SNAPPY: return more_snappy(u, e);
	case CONTAINER_GZIP: return more_stream(u, step_gzip, e);
	case CONTAINER_BROTLI: return more_stream(u, step_brotli, e);
	case CONTAINER_ZSTD: return more_stream(u, step_zstd, e);
	}
	return 0;
}

static int unpack_start(struct unpack *u)
{
	z_stream *z;

	switch (u->container) {
	case CONTAINER_SNAPPY: unpack_take(u, 2); return 0;
	case CONTAINER_GZIP:
		z = u->state = calloc(1, sizeof *z);
		if (!z || inflateInit2(z, 16 + MAX_WBITS) == Z_OK)
			break;
		free(z);
		u->state = NULL;
		break;
	case CONTAINER_BROTLI: u->state = BrotliDecoderCreateInstance(NULL, NULL, NULL); break;
	case CONTAINER_ZSTD: u->state = ZSTD_createDStream(); break;
	}
	return u->state ? 0 : -1;
}

int unpack_open(struct unpack *u, enum container container, const struct unpack_file *file,
		struct error *e)
{
	size_t n = file->head_size;

	*u = (struct unpack){
		.container = container, .fd = file->fd, .name = file->name, .between = true};
	u->in_capacity = n > IN_SIZE ? n : IN_SIZE;
	u->in = malloc(u->in_capacity);
	u->capacity = OUT_SIZE;
	u->buffer = malloc(u->capacity);
	if (!u->in || !u->buffer)
		return error_no_memory(e);
	u->at = u->end = u->buffer;
	memcpy(u->in, file->head, n);
	u->in_at = u->in;
	u->in_end = u->in + n;
	if (unpack_start(u))
		return error_no_memory(e);
	return 0;
}

void unpack_close(struct unpack *u)
{
	if (u->state)
		switch (u->container) {
		case CONTAINER_SNAPPY: break;
		case CONTAINER_GZIP:
			inflateEnd(u->state);
			free(u->state);
			break;
		case CONTAINER_BROTLI: BrotliDecoderDestroyInstance(u->state); break;
		case CONTAINER_ZSTD: ZSTD_freeDStream(u->state); break;
		}
	free(u->in);
	free(u->buffer);
	*u = (struct unpack){.fd = -1};
}
