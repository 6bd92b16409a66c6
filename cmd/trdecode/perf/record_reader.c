#include "cmd/trdecode/perf/record_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "cmd/trdecode/perf/perf.h"
#include "common/util/io.h"
#include "common/util/memory.h"

enum {
	READ = 256 * 1024,
	UNPACKED = 256 * 1024,	  /* bytes to unpack before records are returned */
	TRACING_LIMIT = 64 << 20, /* bytes after a HEADER_TRACING_DATA */
	ZSTD_WINDOW_LOG = 27,	  /* 128 MiB */
	PROBED = 3,		  /* records in a row that are no chance */
};

void perf_records_seek(struct perf_records *s, int fd, uint64_t base, uint64_t offset, uint64_t end)
{
	s->fd = fd;
	s->seeks = true;
	s->base = base;
	s->offset = offset;
	s->end = end;
}

int perf_records_pipe(struct perf_records *s, int fd, const uint8_t *head, size_t n)
{
	s->fd = fd;
	s->end = UINT64_MAX;
	s->capacity = n > READ ? n : READ;
	s->data = malloc(s->capacity);
	if (!s->data)
		return -1;
	memcpy(s->data, head, n);
	s->filled = n;
	return 0;
}

void perf_records_free(struct perf_records *s)
{
	free(s->data);
	ZSTD_freeDCtx(s->unpacker.zstd);
	buffer_free(&s->unpacker.packed);
	buffer_free(&s->unpacker.out);
}

static const uint8_t *records_at(const struct perf_records *s)
{
	return s->data + s->begin;
}

static size_t records_have(const struct perf_records *s)
{
	return s->filled - s->begin;
}

static int make_room(struct perf_records *s, size_t n)
{
	size_t capacity = s->capacity ? s->capacity : READ;
	uint8_t *data;

	if (s->begin) {
		memmove(s->data, records_at(s), records_have(s));
		s->filled -= s->begin;
		s->begin = 0;
	}
	/* grows as bytes arrive: a size is no evidence of data */
	if (s->filled < s->capacity)
		return 0;
	while (capacity < n && capacity < 2 * s->capacity)
		capacity *= 2;
	if (capacity == s->capacity)
		capacity *= 2;
	data = realloc(s->data, capacity);
	if (!data)
		return -1;
	s->data = data;
	s->capacity = capacity;
	return 0;
}

/* Read until there are n bytes, fewer only at the end. Returns how many there are; -1: *e. */
static ssize_t records_need(struct perf_records *s, size_t n, struct error *e)
{
	while (records_have(s) < n && !s->eof) {
		uint64_t at = s->offset + records_have(s);
		size_t room;
		ssize_t got;

		if (s->begin + n > s->capacity && make_room(s, n))
			return error_no_memory(e);
		room = s->capacity - s->filled;
		if (s->end - at < room)
			room = (size_t)(s->end - at);
		got = !room	 ? 0
		      : s->seeks ? io_read_at(s->fd, s->data + s->filled, room, s->base + at)
				 : io_read(s->fd, s->data + s->filled, room);
		if (got < 0)
			return error_errno(e, s->name, at, "cannot read");
		s->eof = !got;
		s->filled += (size_t)got;
	}
	return (ssize_t)records_have(s);
}

/* Skip n bytes, also beyond those that were read. Returns false if the file ends before. */
static bool records_skip(struct perf_records *s, uint64_t n, struct error *e)
{
	size_t have = records_have(s);

	if (n > have && s->seeks) {
		bool whole = n <= s->end - s->offset;

		s->offset = whole ? s->offset + n : s->end;
		s->begin = s->filled = 0;
		return whole;
	}
	while (n > have) {
		s->offset += have;
		n -= have;
		s->begin = s->filled = 0;
		if (records_need(s, 1, e) <= 0)
			return false;
		have = records_have(s);
	}
	s->begin += (size_t)n;
	s->offset += n;
	return true;
}

static void unpack_header(const struct perf_records *s, const uint8_t *d, struct perf_record *r)
{
	*r = (struct perf_record){.data = d,
				  .type = (uint32_t)get_uint(d, 4, s->big_endian),
				  .misc = (uint16_t)get_uint(d + 4, 2, s->big_endian),
				  .size = (uint32_t)get_uint(d + 6, 2, s->big_endian)};
}

static bool is_plausible(const struct perf_record *r)
{
	return r->size >= PERF_RECORD_HEAD && r->type && r->type < PERF_RECORD_KNOWN &&
	       (r->type >= PERF_RECORD_OF_PERF || r->size % 8 == 0);
}

/* Do records begin here? */
static bool looks_like_records(const struct perf_records *s)
{
	const uint8_t *d = records_at(s), *end = s->data + s->filled;
	struct perf_record r;

	for (int i = 0; i < PROBED; i++) {
		if (end - d < PERF_RECORD_HEAD)
			return i > 0 && s->eof && d == end;
		unpack_header(s, d, &r);
		if (!is_plausible(&r))
			return false;
		if ((size_t)(end - d) < r.size)
			return i > 0 && !s->eof;
		d += r.size;
	}
	return true;
}

/* Move on to where records begin again. Returns 1; 0: nowhere; -1. */
static int find_records(struct perf_records *s, struct error *e)
{
	for (;;) {
		ssize_t have;

		s->begin += 8;
		s->offset += 8;
		have = records_need(s, (size_t)PROBED * PERF_RECORD_MOST, e);
		if (have < 0)
			return -1;
		if (have < 2 * PERF_RECORD_HEAD) {
			s->begin = s->filled;
			return 0;
		}
		if (looks_like_records(s))
			return 1;
	}
}

/* Get the size of a record with the bytes after it that belong to it, and how many to keep. */
static int whole_size(struct perf_records *s, const struct perf_record *r, uint64_t *more,
		      struct error *e)
{
	*more = 0;
	if (r->type != PERF_RECORD_HEADER_TRACING_DATA || r->size < 12)
		return 0;
	*more = get_uint(records_at(s) + 8, 4, s->big_endian);
	if (*more > TRACING_LIMIT) {
		input_damage(s->input, s->name, s->offset, "tracing data of %" PRIu64 " bytes",
			     *more);
		*more = 0;
		return 0;
	}
	return records_need(s, (size_t)(r->size + *more), e) < 0 ? -1 : 0;
}

/* Get the next record of the file. */
static int next_of_file(struct perf_records *s, struct perf_record *r, struct error *e)
{
	uint64_t more;
	ssize_t have = records_need(s, PERF_RECORD_HEAD, e);

	if (have < 0)
		return -1;
	if (have && have < PERF_RECORD_HEAD)
		input_damage(s->input, s->name, s->offset, "the file ends inside of a record");
	if (have < PERF_RECORD_HEAD)
		return 0;
	unpack_header(s, records_at(s), r);
	if (r->size < PERF_RECORD_HEAD || !r->type) {
		int found;

		input_damage(s->input, s->name, s->offset, "a record of type %u with %u bytes",
			     r->type, r->size);
		found = find_records(s, e);
		if (found <= 0)
			return found;
		unpack_header(s, records_at(s), r);
	}
	have = records_need(s, r->size, e);
	if (have < 0)
		return -1;
	if ((size_t)have < r->size) {
		input_damage(s->input, s->name, s->offset, "the file ends inside of a record");
		s->begin = s->filled;
		return 0;
	}
	if (whole_size(s, r, &more, e))
		return -1;
	if (more > records_have(s) - r->size) {
		input_damage(s->input, s->name, s->offset, "the file ends in the tracing data");
		more = records_have(s) - r->size;
	}
	r->data = records_at(s);
	r->offset = s->offset;
	r->size += (uint32_t)more;
	s->begin += r->size;
	s->offset += r->size;
	return 1;
}

/* --- packed records --- */

static void refuse(struct perf_records *s, const char *what)
{
	struct perf_unpacker *u = &s->unpacker;

	input_damage(s->input, s->name, u->offset, "packed records: %s", what);
	u->refused = true;
	u->packed.size = u->packed_at = 0;
	u->out.size = u->out_at = 0;
}

static int begin_packed(struct perf_records *s, const struct perf_record *r)
{
	struct perf_unpacker *u = &s->unpacker;
	size_t at = PERF_RECORD_HEAD, n = r->size - at;

	if (r->type == PERF_RECORD_COMPRESSED2) {
		uint64_t size = n < 8 ? 0 : get_uint(r->data + at, 8, s->big_endian);

		at += 8;
		n = n < 8 ? 0 : n - 8;
		if (size > n)
			input_damage(s->input, s->name, r->offset,
				     "a packed record that is longer than its record");
		else
			n = (size_t)size;
	}
	u->offset = r->offset;
	u->packed.size = u->packed_at = 0;
	if (u->refused)
		return 0;
	if (!u->zstd) {
		u->zstd = ZSTD_createDCtx();
		if (!u->zstd)
			return -1;
		ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	}
	return buffer_append(&u->packed, r->data + at, n);
}

/* Unpack more bytes after those not yet returned. Returns 1; 0: no more; -1: out of memory. */
static int unpack_piece(struct perf_records *s)
{
	struct perf_unpacker *u = &s->unpacker;
	ZSTD_inBuffer in = {u->packed.data, u->packed.size, u->packed_at};
	ZSTD_outBuffer out;
	size_t result, had = u->out.size - u->out_at;

	if (u->refused)
		return 0;
	if (u->out_at)
		memmove(u->out.data, u->out.data + u->out_at, had);
	u->out.size = had;
	u->out_at = 0;
	if (buffer_reserve(&u->out, UNPACKED))
		return -1;
	out = (ZSTD_outBuffer){u->out.data, u->out.size + UNPACKED, u->out.size};
	result = ZSTD_decompressStream(u->zstd, &out, &in);
	if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) {
		memory_fail();
		return -1;
	}
	if (ZSTD_isError(result)) {
		refuse(s, ZSTD_getErrorName(result));
		return 0;
	}
	u->packed_at = in.pos;
	u->out.size = out.pos;
	return out.pos > had;
}

/* Get the next record among the unpacked bytes. Returns 1; 0: more of the file is needed; -1. */
static int next_unpacked(struct perf_records *s, struct perf_record *r, struct error *e)
{
	struct perf_unpacker *u = &s->unpacker;

	for (;;) {
		size_t have = u->out.size - u->out_at;
		int got;

		if (have >= PERF_RECORD_HEAD) {
			unpack_header(s, u->out.data + u->out_at, r);
			if (r->size < PERF_RECORD_HEAD || !r->type ||
			    r->type == PERF_RECORD_COMPRESSED ||
			    r->type == PERF_RECORD_COMPRESSED2) {
				refuse(s, "they have a damaged record");
				return 0;
			}
			if (have >= r->size) {
				r->offset = u->offset;
				u->out_at += r->size;
				return 1;
			}
		}
		if (!u->packed.size)
			return 0;
		got = unpack_piece(s);
		if (got < 0)
			return error_no_memory(e);
		if (!got)
			return 0;
	}
}

int perf_records_next(struct perf_records *s, struct perf_record *r, struct error *e)
{
	for (;;) {
		int got = next_unpacked(s, r, e);

		if (got)
			return got;
		got = next_of_file(s, r, e);
		if (!got && s->unpacker.out.size > s->unpacker.out_at)
			refuse(s, "they end inside of a record");
		if (got <= 0)
			return got;
		if (r->type == PERF_RECORD_AUXTRACE && r->size >= 16) {
			uint64_t n = get_uint(r->data + 8, 8, s->big_endian);

			s->aux_bytes += n;
			if (!records_skip(s, n, e))
				input_damage(s->input, s->name, s->offset,
					     "the file ends in the data of AUXTRACE");
			continue;
		}
		if (r->type != PERF_RECORD_COMPRESSED && r->type != PERF_RECORD_COMPRESSED2)
			return 1;
		if (begin_packed(s, r))
			return error_no_memory(e);
	}
}

void perf_records_back(struct perf_records *s, const struct perf_record *r)
{
	struct perf_unpacker *u = &s->unpacker;

	if (u->out_at >= r->size && r->data == u->out.data + u->out_at - r->size) {
		u->out_at -= r->size;
		return;
	}
	s->begin -= r->size;
	s->offset -= r->size;
}
