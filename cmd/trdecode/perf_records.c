/*
 * perf_records.c - the records of a perf.data, in the order of their times
 *
 *     u32 type, u16 misc, u16 size, then size - 8 bytes     9 is PERF_RECORD_SAMPLE
 *
 * Buffers of CPUs are flushed in turn: records wait until no earlier one can follow.
 */
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/perf_records.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/perf_unwind.h"
#include "common/formats/perf.h"
#include "common/formats/tracecmd.h"
#include "common/ftrace/event_format.h"
#include "common/ftrace/ring.h"
#include "common/protobuf/protobuf.h"
#include "common/symbols/symbols.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/lines.h"
#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/memory.h"
#include "common/util/output.h"
#include "common/util/text.h"

/* --- record reader --- */

enum {
	READ = 256 * 1024,
	UNPACKED = 256 * 1024,	  /* bytes to unpack before records are returned */
	TRACING_LIMIT = 64 << 20, /* bytes after a HEADER_TRACING_DATA */
	ZSTD_WINDOW_LOG = 27,	  /* 128 MiB */
	PROBED = 3,		  /* records in a row that are no chance */
};

/* Begin at an offset of a file that can be read anywhere, and begins at base of fd. */
static void perf_records_seek(struct perf_records *s, int fd, uint64_t base, uint64_t offset,
			      uint64_t end)
{
	s->fd = fd;
	s->seeks = true;
	s->base = base;
	s->offset = offset;
	s->end = end;
}

/* Begin with the n bytes that were already read from fd. */
static int perf_records_pipe(struct perf_records *s, int fd, const uint8_t *head, size_t n)
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

static const uint8_t *records_at(const struct perf_records *s)
{
	return s->data + s->begin;
}

static size_t records_have(const struct perf_records *s)
{
	return s->filled - s->begin;
}

static int perf_records_make_room(struct perf_records *s, size_t n)
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

		if (s->begin + n > s->capacity && perf_records_make_room(s, n))
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

static bool is_simpleperf(uint32_t type)
{
	return type >= SIMPLEPERF_KERNEL_SYMBOL && type < SIMPLEPERF_KNOWN;
}

static void perf_records_unpack_header(const struct perf_records *s, const uint8_t *d,
				       struct perf_record *r)
{
	*r = (struct perf_record){.data = d,
				  .type = (uint32_t)get_uint(d, 4, s->big_endian),
				  .misc = (uint16_t)get_uint(d + 4, 2, s->big_endian),
				  .size = (uint32_t)get_uint(d + 6, 2, s->big_endian)};
	if (is_simpleperf(r->type)) {
		r->size |= (uint32_t)r->misc << 16;
		r->misc = 0;
	}
}

static bool is_plausible(const struct perf_record *r)
{
	return r->size >= PERF_RECORD_HEAD && r->type &&
	       (r->type < PERF_RECORD_KNOWN ? r->type >= PERF_RECORD_OF_PERF || r->size % 8 == 0
					    : is_simpleperf(r->type) && r->size < PERF_RECORD_MOST);
}

/* Do records begin here? */
static bool looks_like_records(const struct perf_records *s)
{
	const uint8_t *d = records_at(s), *end = s->data + s->filled;
	struct perf_record r;

	for (int i = 0; i < PROBED; i++) {
		if (end - d < PERF_RECORD_HEAD)
			return i > 0 && s->eof && d == end;
		perf_records_unpack_header(s, d, &r);
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
	/* simpleperf has the data inside of the record */
	if (r->size > 16 && *more <= r->size - 12) {
		*more = 0;
		return 0;
	}
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
	perf_records_unpack_header(s, records_at(s), r);
	if (r->size < PERF_RECORD_HEAD || !r->type || r->size > TRACING_LIMIT) {
		int found;

		input_damage(s->input, s->name, s->offset, "a record of type %u with %u bytes",
			     r->type, r->size);
		found = find_records(s, e);
		if (found <= 0)
			return found;
		perf_records_unpack_header(s, records_at(s), r);
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

static void perf_records_refuse(struct perf_records *s, const char *what)
{
	input_damage(s->input, s->name, s->unpacker.offset, "packed records: %s", what);
	s->unpacker.refused = true;
	s->unpacker.packed.size = s->unpacker.packed_at = 0;
	s->unpacker.out.size = s->unpacker.out_at = 0;
}

static int begin_packed(struct perf_records *s, const struct perf_record *r)
{
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
	s->unpacker.offset = r->offset;
	s->unpacker.packed.size = s->unpacker.packed_at = 0;
	if (s->unpacker.refused)
		return 0;
	if (!s->unpacker.zstd) {
		s->unpacker.zstd = ZSTD_createDCtx();
		if (!s->unpacker.zstd)
			return -1;
		ZSTD_DCtx_setParameter(s->unpacker.zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	}
	return buffer_append(&s->unpacker.packed, r->data + at, n);
}

/* Unpack more bytes after those not yet returned. Returns 1; 0: no more; -1: out of memory. */
static int unpack_piece(struct perf_records *s)
{
	ZSTD_inBuffer in = {s->unpacker.packed.data, s->unpacker.packed.size,
			    s->unpacker.packed_at};
	ZSTD_outBuffer out;
	size_t result, had = s->unpacker.out.size - s->unpacker.out_at;

	if (s->unpacker.refused)
		return 0;
	if (s->unpacker.out_at)
		memmove(s->unpacker.out.data, s->unpacker.out.data + s->unpacker.out_at, had);
	s->unpacker.out.size = had;
	s->unpacker.out_at = 0;
	if (buffer_reserve(&s->unpacker.out, UNPACKED))
		return -1;
	out = (ZSTD_outBuffer){s->unpacker.out.data, s->unpacker.out.size + UNPACKED,
			       s->unpacker.out.size};
	result = ZSTD_decompressStream(s->unpacker.zstd, &out, &in);
	if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) {
		memory_fail();
		return -1;
	}
	if (ZSTD_isError(result)) {
		perf_records_refuse(s, ZSTD_getErrorName(result));
		return 0;
	}
	s->unpacker.packed_at = in.pos;
	s->unpacker.out.size = out.pos;
	return out.pos > had;
}

/* Get the next record among the unpacked bytes. Returns 1; 0: more of the file is needed; -1. */
static int next_unpacked(struct perf_records *s, struct perf_record *r, struct error *e)
{
	for (;;) {
		size_t have = s->unpacker.out.size - s->unpacker.out_at;
		int got;

		if (have >= PERF_RECORD_HEAD) {
			perf_records_unpack_header(s, s->unpacker.out.data + s->unpacker.out_at, r);
			if (r->size < PERF_RECORD_HEAD || !r->type ||
			    r->type == PERF_RECORD_COMPRESSED ||
			    r->type == PERF_RECORD_COMPRESSED2) {
				perf_records_refuse(s, "they have a damaged record");
				return 0;
			}
			if (have >= r->size) {
				r->offset = s->unpacker.offset;
				s->unpacker.out_at += r->size;
				return 1;
			}
		}
		if (!s->unpacker.packed.size)
			return 0;
		got = unpack_piece(s);
		if (got < 0)
			return error_no_memory(e);
		if (!got)
			return 0;
	}
}

/* Get the next record; its data are valid until the next call. Returns 1; 0 at the end; -1 with *e
 * filled. */
static int perf_records_next(struct perf_records *s, struct perf_record *r, struct error *e)
{
	for (;;) {
		int got = next_unpacked(s, r, e);

		if (got)
			return got;
		got = next_of_file(s, r, e);
		if (!got && s->unpacker.out.size > s->unpacker.out_at)
			perf_records_refuse(s, "they end inside of a record");
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

/* Have the next call return the record that the last call returned. */
static void perf_records_back(struct perf_records *s, const struct perf_record *r)
{
	if (s->unpacker.out_at >= r->size &&
	    r->data == s->unpacker.out.data + s->unpacker.out_at - r->size) {
		s->unpacker.out_at -= r->size;
		return;
	}
	s->begin -= r->size;
	s->offset -= r->size;
}

/* --- the events of a recording, and their ids --- */

enum { ATTRS_MOST = 4096, IDS_MOST = 1 << 22 };

/* Reverse the bits: a big-endian machine numbers the bits of a bit field from the highest. */
static uint64_t reversed(uint64_t v)
{
	uint64_t out = 0;

	for (int i = 0; i < 64; i++)
		out |= (v >> i & 1) << (63 - i);
	return out;
}

static void unpack_attr(const struct perf *p, const uint8_t *d, size_t size, struct perf_attr *a)
{
	uint64_t flags = perf_u64(p, d + PERF_ATTR_FLAGS);

	*a = (struct perf_attr){.kind = perf_u32(p, d + PERF_ATTR_TYPE),
				.config = perf_u64(p, d + PERF_ATTR_CONFIG),
				.period = perf_u64(p, d + PERF_ATTR_PERIOD),
				.sample_type = perf_u64(p, d + PERF_ATTR_SAMPLE_TYPE),
				.read_format = perf_u64(p, d + PERF_ATTR_READ_FORMAT),
				.flags = p->h.big_endian ? reversed(flags) : flags};
	if (size >= PERF_ATTR_BRANCH_TYPE + 8)
		a->branch_type = perf_u64(p, d + PERF_ATTR_BRANCH_TYPE);
	if (size >= PERF_ATTR_USER_REGS + 8)
		a->user_regs = perf_u64(p, d + PERF_ATTR_USER_REGS);
	if (size >= PERF_ATTR_CLOCK_ID + 4)
		a->clock_id = (int32_t)perf_u32(p, d + PERF_ATTR_CLOCK_ID);
	if (size >= PERF_ATTR_INTR_REGS + 8)
		a->intr_regs = perf_u64(p, d + PERF_ATTR_INTR_REGS);
}

/* --- ids --- */

static int perf_id_add(struct perf *p, uint64_t id, uint32_t attr)
{
	uint32_t *number;

	if (p->nids == IDS_MOST)
		return 0;
	number = key_map_number(&p->id_numbers, id);
	if (!number || ARRAY_GROW(p->ids, p->ids_size, p->nids))
		return -1;
	if (*number)
		return 0;
	p->ids[p->nids++] = (struct perf_id){.id = id, .attr = attr};
	*number = (uint32_t)p->nids;
	return 0;
}

struct perf_id *perf_id_find(const struct perf *p, uint64_t id)
{
	uint64_t number = key_map_get(&p->id_numbers, id);

	return number ? &p->ids[number - 1] : NULL;
}

/* Add an attribute of size bytes, with n ids. */
static int perf_attr_add(struct perf *p, const uint8_t *data, size_t size, const uint8_t *ids,
			 size_t n)
{
	struct perf_attr *attrs;

	if (p->nattrs == ATTRS_MOST)
		return 0;
	if (ARRAY_GROW(p->attrs, p->attrs_capacity, p->nattrs))
		return -1;
	attrs = p->attrs;
	unpack_attr(p, data, size, &attrs[p->nattrs++]);
	for (size_t i = 0; i < n; i++)
		if (perf_id_add(p, perf_u64(p, ids + 8 * i), (uint32_t)p->nattrs - 1))
			return -1;
	return 0;
}

/* Get the place of the id among the numbers of a record: `first`, or after those of `others` that
 * the record has. -1: it has no id. */
static int id_place(const struct perf_attr *a, int first, uint64_t others)
{
	if (a->sample_type & PERF_SAMPLE_IDENTIFIER)
		return first;
	return a->sample_type & PERF_SAMPLE_ID
		       ? first + __builtin_popcountll(a->sample_type & others)
		       : -1;
}

void perf_attrs_settle(struct perf *p)
{
	const uint64_t before = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_ADDR,
		       after = PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID;

	p->id_at = p->nattrs ? id_place(&p->attrs[0], 0, before) : -1;
	p->id_from_end = p->nattrs ? id_place(&p->attrs[0], 1, after) : -1;
	for (size_t i = 0; i < p->nattrs; i++)
		p->deferred.used |= perf_flag(&p->attrs[i], PERF_FLAG_DEFER_CALLCHAIN);
}

struct perf_attr *perf_attr_of(struct perf *p, uint64_t id, bool has_id)
{
	const struct perf_id *found;

	if (!p->nattrs)
		return NULL;
	/* what perf itself has made has the id 0 */
	if (p->nattrs == 1 || !has_id || !id)
		return &p->attrs[0];
	found = perf_id_find(p, id);
	return found ? &p->attrs[found->attr] : NULL;
}

/*
 * The formats of the kernel's events, as in a trace.dat of version 6.
 *
 * Facts: tools/perf/util/trace-event-info.c of Linux.
 */

/* Add the events of one system. Returns 0, or -1: out of memory. */
static int add_system(struct perf *p, struct byte_span *s, const char *system)
{
	uint64_t n = unwind_span_number(s, 4);

	while (n-- && !s->cut) {
		uint64_t size = unwind_span_number(s, 8);
		const char *text = (const char *)span_take(s, size);

		if (text && ftrace_events_add(p->events, system, strlen(system), text, size,
					      p->h.long_size) == FTRACE_NO_MEMORY)
			return -1;
	}
	return 0;
}

/* Get a text that ends with a NUL. NULL: there is no NUL. */
static inline const char *span_text(struct byte_span *s)
{
	size_t n = strnlen((const char *)s->at, (size_t)(s->end - s->at));

	return (const char *)span_take(s, n + 1);
}

/* Skip a named text. Returns false if the name is another. */
static bool skip_named(struct byte_span *s, const char *name)
{
	const char *have = span_text(s);

	if (!have || strcmp(have, name) != 0)
		return false;
	span_take(s, unwind_span_number(s, 8));
	return !s->cut;
}

static int add_events(struct perf *p, struct byte_span *s)
{
	uint64_t systems;

	if (add_system(p, s, "ftrace"))
		return -1;
	systems = unwind_span_number(s, 4);
	while (systems-- && !s->cut) {
		const char *name = span_text(s);

		if (name && add_system(p, s, name))
			return -1;
	}
	return ftrace_events_kinds(p->events);
}

/* Read the formats of the kernel's events. */
static int perf_tracing_data(struct perf *p, const uint8_t *data, size_t n)
{
	struct byte_span s;
	const uint8_t *magic;

	if (p->events)
		return 0; /* given twice */
	/* formats point to their texts */
	if (buffer_append(&p->h.formats, data, n))
		return -1;
	s = (struct byte_span){.at = p->h.formats.data, .end = p->h.formats.data + n};
	magic = span_take(&s, TRACECMD_MAGIC_SIZE);
	if (!magic || memcmp(magic, TRACECMD_MAGIC, TRACECMD_MAGIC_SIZE) != 0 || !span_text(&s)) {
		input_damage(p->input, p->file.name, NO_OFFSET, "tracing data without a header");
		return 0;
	}
	s.big_endian = unwind_span_number(&s, 1);
	p->h.long_size = unwind_span_number(&s, 1) == 4 ? 4 : 8;
	unwind_span_number(&s, 4); /* the size of a page */
	p->events = calloc(1, sizeof *p->events);
	if (!p->events)
		return -1;
	p->events->machine = p->h.arch;
	if (skip_named(&s, TRACECMD_HEADER_PAGE) && skip_named(&s, TRACECMD_HEADER_EVENT) &&
	    add_events(p, &s))
		return -1;
	if (s.cut)
		input_short(p->input, p->file.name, NO_OFFSET, "the tracing data are cut");
	return 0;
}

/*
 * The features of a perf.data: facts about the machine and the recording.
 *
 * Facts: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.c of Linux.
 */

enum { FACTS_MOST = 4096, LIST_MOST = 4096 };

static int perf_fact_add(struct perf *p, const char *name, const char *text, size_t n, bool item)
{
	if (p->h.nfacts == FACTS_MOST)
		return 0;
	if (ARRAY_GROW(p->h.facts, p->h.facts_capacity, p->h.nfacts))
		return -1;
	p->h.facts[p->h.nfacts].name = name;
	p->h.facts[p->h.nfacts].text = strndup(text, n);
	p->h.facts[p->h.nfacts].item = item;
	return p->h.facts[p->h.nfacts++].text ? 0 : -1;
}

static __attribute__((format(printf, 4, 5))) int fact(struct perf *p, const char *name, bool item,
						      const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return perf_fact_add(p, name, text, strlen(text), item);
}

/* Get a text of a u32 length, up to its NUL. Returns "" with *n 0 beyond the end. */
static inline const char *span_string(struct byte_span *s, size_t *n)
{
	uint64_t size = unwind_span_number(s, 4);
	const char *text = (const char *)span_take(s, size);

	*n = text ? strnlen(text, size) : 0;
	return text ? text : "";
}

static int perf_records_take_text(struct perf *p, struct byte_span *s, const char *name)
{
	size_t n;
	const char *text = span_string(s, &n);

	return n ? perf_fact_add(p, name, text, n, false) : 0;
}

/* Take a list of texts: as items, or as one text with blanks between them. */
static int perf_records_take_list(struct perf *p, struct byte_span *s, const char *name, bool items)
{
	uint64_t count = unwind_span_number(s, 4);
	struct buffer line = {0};
	int bad = 0;

	for (uint64_t i = 0; i < count && i < LIST_MOST && !s->cut && !bad; i++) {
		size_t n;
		const char *text = span_string(s, &n);

		if (items)
			bad = n ? perf_fact_add(p, name, text, n, true) : 0;
		else
			bad = (i && buffer_puts(&line, " ")) || buffer_append(&line, text, n);
	}
	if (line.size && !bad)
		bad = perf_fact_add(p, name, (char *)line.data, line.size, false);
	buffer_free(&line);
	return bad ? -1 : 0;
}

static int take_arch(struct perf *p, struct byte_span *s)
{
	size_t n;
	const char *text = span_string(s, &n);

	if (p->h.arch || !n)
		return 0;
	p->h.arch = strndup(text, n);
	if (!p->h.arch)
		return -1;
	if (p->events)
		p->events->machine = p->h.arch;
	return perf_fact_add(p, "machine", text, n, false);
}

static int perf_records_take_events(struct perf *p, struct byte_span *s)
{
	uint64_t count = unwind_span_number(s, 4), size = unwind_span_number(s, 4);

	for (uint64_t i = 0; i < count && !s->cut; i++) {
		size_t n;
		uint64_t nids;
		const char *name;
		const uint8_t *ids;
		struct perf_attr *a = i < p->nattrs ? &p->attrs[i] : NULL;

		span_take(s, size);
		nids = unwind_span_number(s, 4);
		name = span_string(s, &n);
		ids = span_take(s, 8 * nids);
		if (s->cut)
			break;
		for (uint64_t k = 0; k < nids; k++) {
			const struct perf_id *id = perf_id_find(p, perf_u64(p, ids + 8 * k));

			if (id)
				a = &p->attrs[id->attr];
		}
		if (!a || a->name || !n)
			continue;
		a->name = strndup(name, n);
		if (!a->name)
			return -1;
	}
	return 0;
}

static int take_numa(struct perf *p, struct byte_span *s)
{
	uint64_t count = unwind_span_number(s, 4);

	for (uint64_t i = 0; i < count && i < LIST_MOST && !s->cut; i++) {
		uint64_t node = unwind_span_number(s, 4), total = unwind_span_number(s, 8);
		size_t n;
		const char *cpus;

		unwind_span_number(s, 8); /* free */
		cpus = span_string(s, &n);
		if (!s->cut && fact(p, "numa nodes", true, "%" PRIu64 ": CPUs %.*s, %" PRIu64 " kB",
				    node, (int)(n < 400 ? n : 400), cpus, total))
			return -1;
	}
	return 0;
}

static int take_pmus(struct perf *p, struct byte_span *s)
{
	uint64_t count = unwind_span_number(s, 4);

	for (uint64_t i = 0; i < count && i < LIST_MOST && !s->cut; i++) {
		uint64_t type = unwind_span_number(s, 4);
		size_t n;
		const char *name = span_string(s, &n);

		if (!s->cut &&
		    fact(p, "pmus", true, "%.*s = %" PRIu64, (int)(n < 400 ? n : 400), name, type))
			return -1;
	}
	return 0;
}

static int take_groups(struct perf *p, struct byte_span *s)
{
	uint64_t count = unwind_span_number(s, 4);

	for (uint64_t i = 0; i < count && i < LIST_MOST && !s->cut; i++) {
		size_t n;
		const char *name = span_string(s, &n);
		uint64_t leader = unwind_span_number(s, 4), members = unwind_span_number(s, 4);
		const struct perf_attr *a = leader < p->nattrs ? &p->attrs[leader] : NULL;

		if (!s->cut && fact(p, "groups", true, "%.*s: %" PRIu64 " events, %s leads",
				    (int)(n < 200 ? n : 200), name, members,
				    a && a->name ? a->name : "the first"))
			return -1;
	}
	return 0;
}

static int take_cpus(struct perf *p, struct byte_span *s)
{
	uint64_t available = unwind_span_number(s, 4), online = unwind_span_number(s, 4);

	return fact(p, "cpus", false, "%" PRIu64 " online, %" PRIu64 " available", online,
		    available);
}

static int take_sample_time(struct perf *p, struct byte_span *s)
{
	uint64_t first = unwind_span_number(s, 8), last = unwind_span_number(s, 8);

	return fact(p, "samples", false, "from %" PRIu64 " to %" PRIu64 " ns", first, last);
}

static int take_compressed(struct perf *p, struct byte_span *s)
{
	uint64_t type, level, ratio;

	unwind_span_number(s, 4); /* version */
	type = unwind_span_number(s, 4);
	level = unwind_span_number(s, 4);
	ratio = unwind_span_number(s, 4);
	return fact(p, "compression", false, "%s, level %" PRIu64 ", ratio %" PRIu64,
		    type == 1 ? "zstd" : "unknown", level, ratio);
}

/* A wall time, and the time of the records' clock at that moment. */
static int take_clock_data(struct perf *p, struct byte_span *s)
{
	uint64_t wall, time;

	unwind_span_number(s, 4); /* version */
	unwind_span_number(s, 4); /* clock */
	wall = unwind_span_number(s, 8);
	time = unwind_span_number(s, 8);
	if (s->cut || wall >= TIME_LIMIT || time >= TIME_LIMIT)
		return 0;
	p->h.has_clock_data = true;
	p->h.wall = (int64_t)(wall - time);
	return fact(p, "wall time", false, "%" PRIu64 " ns at %" PRIu64 " ns", wall, time);
}

/* --- build ids --- */

void perf_build_id_text(const uint8_t *id, size_t n, char text[PERF_BUILD_ID_TEXT])
{
	*text = '\0';
	for (size_t i = 0; i < n && i < PERF_BUILD_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}

/* Take the build id of a file: a record with its header. */
static int perf_build_id_record(struct perf *p, const uint8_t *data, size_t n)
{
	enum { ID_AT = PERF_RECORD_HEAD + 4, PATH_AT = PERF_RECORD_HEAD + PERF_BUILD_ID_BODY };
	char text[PERF_BUILD_ID_TEXT];
	const char *path = (const char *)data + PATH_AT;
	size_t size = PERF_BUILD_ID;
	uint32_t *number;

	if (n <= PATH_AT)
		return 0;
	if (perf_u16(p, data + 4) & PERF_MISC_BUILD_ID_SIZE)
		size = data[ID_AT + PERF_BUILD_ID];
	perf_build_id_text(data + ID_AT, size, text);
	number = id_cache_number(&p->h.build_ids, path, strnlen(path, n - PATH_AT));
	if (!number)
		return -1;
	if (*number)
		return 0;
	*number = 1 + (uint32_t)(p->h.build_id_texts.size / sizeof text);
	return buffer_append(&p->h.build_id_texts, text, sizeof text);
}

static int take_build_ids(struct perf *p, struct byte_span *s)
{
	while (s->end - s->at >= PERF_RECORD_HEAD) {
		const uint8_t *d = s->at;
		uint16_t size = perf_u16(p, d + 6);

		if (size < PERF_RECORD_HEAD || !span_take(s, size)) {
			s->cut = true;
			return 0;
		}
		if (perf_build_id_record(p, d, size))
			return -1;
	}
	return 0;
}

/*
 * The symbols that simpleperf of Android stores.
 *
 * simpleperf records on a phone and reports on another machine, which has none of the files. So its
 * perf.data has the functions of each file that a sample is in, in the feature FILE:
 *
 *     u32 size
 *     "/system/lib64/libc.so\0"  u32 2 (ELF)  u64 least address  u32 1 symbol
 *         u64 61000  u32 12  "malloc\0"
 *     u64 offset in the file of the least address
 *
 * An address of a mapping of this file that is 6100c in the ELF file has the name malloc. FILE2 has
 * the same as messages of Protocol Buffers.
 *
 * Facts: the sources of simpleperf (record_file_format, record_file, dso) in Android's
 * platform/system/extras. All numbers are little-endian.
 */

/* What a file is; the addresses of its symbols are of another kind in each. */
enum recorded_kind {
	RECORDED_KERNEL,     /* addresses in memory */
	RECORDED_MODULE,     /* from the least address of the module's code on */
	RECORDED_ELF,	     /* of the ELF file */
	RECORDED_DEX,	     /* offsets in the file */
	RECORDED_SYMBOL_MAP, /* addresses in memory */
	RECORDED_UNKNOWN,    /* the same */
};

#define KERNEL_PATH    "[kernel.kallsyms]"
#define OFFSET_UNKNOWN UINT64_MAX

enum {
	FILES_MOST = 1 << 16,
	SYMBOLS_MOST = 1 << 22, /* of all files */
};

/* A function while its file is read. name belongs to the feature. */
struct recorded_symbol {
	uint64_t start, size;
	const char *name;
	size_t name_size;
};

/* A file with its functions. */
struct recorded_file {
	enum recorded_kind kind;
	uint64_t least; /* the least address of code */
	uint64_t
		offset_of_least; /* in the file; of a module in memory. OFFSET_UNKNOWN: not known */
	struct symbols *symbols;
};

struct recorded_symbols {
	struct writer *w;
	struct recorded_file *file;
	size_t nfiles, capacity;
	struct idmap by_path;	      /* by the path's string: index + 1 */
	struct recorded_symbol *read; /* of the file that is being read */
	size_t nread, read_capacity;
	size_t nsymbols;
	uint32_t kernel; /* string of the kernel's path */
};

/* w NULL: nothing is kept. */
static struct recorded_symbols *recorded_symbols_new(struct writer *w)
{
	struct recorded_symbols *s = calloc(1, sizeof *s);

	if (s)
		s->w = w;
	return s;
}

static void recorded_symbols_free(struct recorded_symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nfiles; i++)
		symbols_free(s->file[i].symbols);
	free(s->file);
	free(s->read);
	idmap_free(&s->by_path);
	free(s);
}

static int recorded_add_symbol(struct recorded_symbols *s, const struct recorded_symbol *symbol)
{
	if (symbol->start > UINT64_MAX - symbol->size || s->nsymbols == SYMBOLS_MOST)
		return 0;
	if (ARRAY_GROW(s->read, s->read_capacity, s->nread))
		return -1;
	s->nsymbols++;
	s->read[s->nread++] = *symbol;
	return 0;
}

static int recorded_compare(const void *a, const void *b)
{
	const struct recorded_symbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Make the table of the file that was read. A symbol ends where the next one begins, even one
 * without a size: simpleperf looks at the last one before an address only. */
static struct symbols *recorded_table(struct recorded_symbols *s)
{
	struct symbols *table = symbols_new();
	int bad = table ? 0 : -1;

	if (s->nread)
		qsort(s->read, s->nread, sizeof *s->read, recorded_compare);
	for (size_t i = 0; i < s->nread && !bad; i++) {
		const struct recorded_symbol *r = &s->read[i];
		uint64_t next = i + 1 < s->nread ? r[1].start : UINT64_MAX;

		if (next > r->start && r->size && r->name_size)
			bad = symbols_add(table, r->start,
					  r->size < next - r->start ? r->size : next - r->start,
					  'T', r->name, r->name_size);
	}
	s->nread = 0;
	if (!bad && !symbols_sort(table))
		return table;
	symbols_free(table);
	return NULL;
}

/* Add a file with its table. The first of a path counts. */
static int recorded_add_file(struct recorded_symbols *s, const struct recorded_file *f,
			     const char *path, size_t n)
{
	uint32_t string = n ? writer_string(s->w, path, n) : 0;

	if (!f->symbols || (n && !string))
		goto fail;
	if (f->kind == RECORDED_KERNEL)
		s->kernel = string;
	if (!n || s->nfiles == FILES_MOST || idmap_get(&s->by_path, string)) {
		symbols_free(f->symbols);
		return 0;
	}
	if (ARRAY_GROW(s->file, s->capacity, s->nfiles))
		goto fail;
	s->file[s->nfiles++] = *f;
	return idmap_set(&s->by_path, string, (uint32_t)s->nfiles);
fail:
	symbols_free(f->symbols);
	return -1;
}

/* --- the feature FILE --- */

/* A file in bytes; left: those not yet taken. */
struct file_bytes {
	const uint8_t *at;
	size_t left;
	bool cut;
};

static uint64_t recorded_number(struct file_bytes *b, unsigned size)
{
	uint64_t n;

	if (b->left < size) {
		b->cut = true;
		return 0;
	}
	n = get_uint(b->at, size, false);
	b->at += size;
	b->left -= size;
	return n;
}

static const char *recorded_text(struct file_bytes *b, size_t *n)
{
	const char *text = (const char *)b->at;

	*n = strnlen(text, b->left);
	if (*n == b->left) {
		b->cut = true;
		return "";
	}
	b->at += *n + 1;
	b->left -= *n + 1;
	return text;
}

static int recorded_take_file(struct recorded_symbols *s, struct file_bytes *b)
{
	struct recorded_file f = {.offset_of_least = OFFSET_UNKNOWN};
	struct recorded_symbol symbol;
	size_t n;
	const char *path = recorded_text(b, &n);
	uint64_t count;
	int bad = 0;

	f.kind = (enum recorded_kind)recorded_number(b, 4);
	f.least = recorded_number(b, 8);
	count = recorded_number(b, 4);
	while (count-- && !b->cut && !bad) {
		symbol.start = recorded_number(b, 8);
		symbol.size = recorded_number(b, 4);
		symbol.name = recorded_text(b, &symbol.name_size);
		if (!b->cut)
			bad = recorded_add_symbol(s, &symbol);
	}
	/* old files end here */
	if (b->left >= 8 && (f.kind == RECORDED_ELF || f.kind == RECORDED_MODULE))
		f.offset_of_least = recorded_number(b, 8);
	f.symbols = recorded_table(s);
	return bad || recorded_add_file(s, &f, path, n) ? -1 : b->cut;
}

/* Take the content of the feature FILE. Returns 1 if it is damaged: the files before the damage are
 * kept. */
static int recorded_symbols_files(struct recorded_symbols *s, const uint8_t *data, size_t n)
{
	int bad = 0;

	while (s->w && n && !bad) {
		size_t size = n < 4 ? SIZE_MAX : get_u32(data);
		struct file_bytes b = {.at = data + 4};

		if (n < 4 || size > n - 4)
			return 1;
		b.left = size;
		bad = recorded_take_file(s, &b);
		data += 4 + size;
		n -= 4 + size;
	}
	return bad;
}

/* --- the feature FILE2 --- */

static int recorded_take_symbol(struct recorded_symbols *s, struct protobuf_view v)
{
	enum { ADDRESS = 1, LENGTH = 2, NAME = 3 };
	struct protobuf_field field;
	struct recorded_symbol symbol = {.name = ""};

	while (protobuf_next(&v, &field) > 0) {
		if (field.number == ADDRESS)
			symbol.start = field.value;
		else if (field.number == LENGTH)
			symbol.size = field.value;
		else if (field.number == NAME && field.wire == PROTOBUF_LENGTH) {
			symbol.name = (const char *)field.bytes.at;
			symbol.name_size = protobuf_size(field.bytes);
		}
	}
	return recorded_add_symbol(s, &symbol);
}

static uint64_t offset_in(struct protobuf_view v)
{
	struct protobuf_field field;

	while (protobuf_next(&v, &field) > 0)
		if (field.number == 1)
			return field.value;
	return 0;
}

static int recorded_take_message(struct recorded_symbols *s, struct protobuf_view v)
{
	enum { PATH = 1, KIND = 2, LEAST = 3, SYMBOL = 4, ELF = 6, MODULE = 7 };
	struct recorded_file f = {.offset_of_least = OFFSET_UNKNOWN};
	struct protobuf_field field;
	struct protobuf_view path = {NULL, NULL};
	int bad = 0, got = 0;

	while (!bad && (got = protobuf_next(&v, &field)) > 0) {
		switch (field.number) {
		case PATH: path = field.bytes; break;
		case KIND: f.kind = (enum recorded_kind)field.value; break;
		case LEAST: f.least = field.value; break;
		case SYMBOL: bad = recorded_take_symbol(s, field.bytes); break;
		case ELF:
		case MODULE: f.offset_of_least = offset_in(field.bytes); break;
		default: break;
		}
	}
	f.symbols = recorded_table(s);
	bad = bad ||
	      recorded_add_file(s, &f, path.at ? (const char *)path.at : "", protobuf_size(path));
	return bad ? -1 : got < 0;
}

/* The same of FILE2. */
static int recorded_symbols_messages(struct recorded_symbols *s, const uint8_t *data, size_t n)
{
	int bad = 0;

	while (s->w && n && !bad) {
		size_t size = n < 4 ? SIZE_MAX : get_u32(data);

		if (n < 4 || size > n - 4)
			return 1;
		data += 4;
		bad = recorded_take_message(s, (struct protobuf_view){data, data + size});
		data += size;
		n -= 4 + size;
	}
	return bad;
}

/* Take the text of /proc/kallsyms. */
static int recorded_symbols_kernel(struct recorded_symbols *s, const char *text, size_t n)
{
	struct recorded_file f = {.kind = RECORDED_KERNEL};

	if (!s->w)
		return 0;
	f.symbols = symbols_from_kallsyms(text, n);
	return recorded_add_file(s, &f, KERNEL_PATH, sizeof KERNEL_PATH - 1);
}

/* --- names --- */

/* Get the address of a place as the symbols of its file have it. */
static uint64_t recorded_address(const struct recorded_file *f, const struct recorded_place *at)
{
	uint64_t inside = at->address - at->start;
	bool known = f->offset_of_least != OFFSET_UNKNOWN;

	if (at->by_address)
		return at->address;
	switch (f->kind) {
	case RECORDED_DEX: return inside + at->offset;
	case RECORDED_ELF: return inside + f->least + (known ? at->offset - f->offset_of_least : 0);
	case RECORDED_MODULE: return inside + f->least - (known ? f->offset_of_least : 0);
	case RECORDED_KERNEL:
	case RECORDED_SYMBOL_MAP:
	case RECORDED_UNKNOWN: break;
	}
	return at->address;
}

static const struct recorded_file *file_at(const struct recorded_symbols *s, uint32_t path)
{
	uint32_t number = s && path ? idmap_get(&s->by_path, path) : 0;

	return number ? &s->file[number - 1] : NULL;
}

bool recorded_symbols_find(const struct recorded_symbols *s, const struct recorded_place *at,
			   struct symbol_entry *e)
{
	const struct recorded_file *f = file_at(s, at->path);
	uint64_t address = f ? recorded_address(f, at) : 0;
	const struct symbol *found = f ? symbols_find(f->symbols, address) : NULL;

	/* kallsyms has the functions of modules, too */
	if (!found && f && f->kind == RECORDED_MODULE) {
		f = file_at(s, s->kernel);
		address = at->address;
		found = f ? symbols_find(f->symbols, address) : NULL;
	}
	if (!found || address - found->start > at->address)
		return false;
	*e = (struct symbol_entry){.start = at->address - (address - found->start),
				   .size = found->size,
				   .name = found->name,
				   .name_size = (uint32_t)strlen(found->name)};
	return e->start <= UINT64_MAX - e->size;
}

/* --- simpleperf --- */

/* Name the events by lines "sched:sched_switch,2,91": name, type and number. */
static int take_event_names(struct perf *p, const char *text, size_t n)
{
	for (struct lines l = lines_of(text, n); lines_next(&l);) {
		const char *comma = memchr(l.line, ',', l.size);
		uint64_t kind, config;
		char *at;

		if (!comma)
			continue;
		/* the text has a NUL after its last line */
		kind = strtoull(comma + 1, &at, 10);
		config = *at == ',' ? strtoull(at + 1, &at, 10) : 0;
		if (*at && *at != '\n')
			continue;
		for (size_t i = 0; i < p->nattrs; i++) {
			struct perf_attr *a = &p->attrs[i];

			if (a->name || a->kind != kind || a->config != config)
				continue;
			a->name = strndup(l.line, (size_t)(comma - l.line));
			if (!a->name)
				return -1;
		}
	}
	return 0;
}

static int take_meta(struct perf *p, struct byte_span *s)
{
	static const struct {
		const char *key, *fact;
	} facts[] = {
		{"simpleperf_version", "simpleperf version"},
		{"product_props", "device"},
		{"android_version", "android version"},
		{"android_build_type", "android build type"},
		{"app_package_name", "app"},
		{"app_type", "app type"},
		{"trace_offcpu", "off-cpu"},
		{"system_wide_collection", "system wide"},
		{"clockid", "clock of simpleperf"},
	};
	const char *key, *value;
	int bad = 0;

	while (s->at < s->end && !bad && (key = span_text(s)) && (value = span_text(s))) {
		if (!strcmp(key, "event_type_info"))
			bad = take_event_names(p, value, strlen(value));
		for (size_t i = 0; i < sizeof facts / sizeof *facts && !bad; i++)
			if (!strcmp(key, facts[i].key))
				bad = perf_fact_add(p, facts[i].fact, value, strlen(value), false);
	}
	return bad;
}

/* Take the content of one of the features with symbols of files. */
static int take_symbols(struct perf *p, unsigned feature, struct byte_span *s)
{
	size_t n = (size_t)(s->end - s->at);
	int bad = feature == SIMPLEPERF_FEATURE_FILE
			  ? recorded_symbols_files(p->spaces.recorded, s->at, n)
			  : recorded_symbols_messages(p->spaces.recorded, s->at, n);

	s->cut = bad > 0;
	return bad < 0 ? -1 : 0;
}

/* Take a feature. Damage in it is reported. */
static int perf_feature(struct perf *p, unsigned feature, const uint8_t *data, size_t n)
{
	struct byte_span s = {data, data + n, p->h.big_endian, false};
	int bad = 0;

	switch ((enum perf_feature)feature) {
	case PERF_FEATURE_TRACING_DATA: bad = n ? perf_tracing_data(p, data, n) : 0; break;
	case PERF_FEATURE_BUILD_ID: bad = take_build_ids(p, &s); break;
	case PERF_FEATURE_HOSTNAME: bad = perf_records_take_text(p, &s, "host"); break;
	case PERF_FEATURE_RELEASE: bad = perf_records_take_text(p, &s, "kernel"); break;
	case PERF_FEATURE_VERSION: bad = perf_records_take_text(p, &s, "recorded by perf"); break;
	case PERF_FEATURE_ARCH: bad = take_arch(p, &s); break;
	case PERF_FEATURE_CPUS: bad = take_cpus(p, &s); break;
	case PERF_FEATURE_CPU_NAME: bad = perf_records_take_text(p, &s, "cpu"); break;
	case PERF_FEATURE_CPU_ID: bad = perf_records_take_text(p, &s, "cpu id"); break;
	case PERF_FEATURE_MEMORY:
		bad = fact(p, "memory", false, "%" PRIu64 " kB", unwind_span_number(&s, 8));
		break;
	case PERF_FEATURE_COMMAND: bad = perf_records_take_list(p, &s, "command", false); break;
	case PERF_FEATURE_EVENTS: bad = perf_records_take_events(p, &s); break;
	case PERF_FEATURE_TOPOLOGY:
		bad = perf_records_take_list(p, &s, "sibling cores", true) ||
		      perf_records_take_list(p, &s, "sibling threads", true);
		break;
	case PERF_FEATURE_NUMA: bad = take_numa(p, &s); break;
	case PERF_FEATURE_PMUS: bad = take_pmus(p, &s); break;
	case PERF_FEATURE_GROUPS: bad = take_groups(p, &s); break;
	case PERF_FEATURE_SAMPLE_TIME: bad = take_sample_time(p, &s); break;
	case PERF_FEATURE_COMPRESSED: bad = take_compressed(p, &s); break;
	case PERF_FEATURE_CLOCK_DATA: bad = take_clock_data(p, &s); break;
	case SIMPLEPERF_FEATURE_META: bad = take_meta(p, &s); break;
	case SIMPLEPERF_FEATURE_FILE:
	case SIMPLEPERF_FEATURE_FILE2: bad = take_symbols(p, feature, &s); break;
	case PERF_FEATURE_DIRECTORY: p->h.in_directory = unwind_span_number(&s, 8) != 0; break;
	case PERF_FEATURE_CACHE:
	case PERF_FEATURE_CLOCK: break;
	}
	if (s.cut && n && !bad)
		input_short(p->input, p->file.name, NO_OFFSET, "feature %u of the header is cut",
			    feature);
	return bad ? -1 : 0;
}

/* --- record files --- */

enum { RECORD_FILES_PATH_MOST = 4096 };

static const char PREFIX[] = "data.";

static int add_file(struct perf *p, const char *member, struct error *e)
{
	struct tree *t = p->input->tree;
	struct perf_records *files = realloc(p->files.at, (p->files.count + 1) * sizeof *files), *s;
	uint64_t offset, size;
	char path[RECORD_FILES_PATH_MOST];

	if (!files)
		return error_no_memory(e);
	p->files.at = p->files.last = files;
	s = &files[p->files.count++];
	*s = (struct perf_records){.input = p->input,
				   .big_endian = p->h.big_endian,
				   .fd = -1,
				   .own_name = strdup(tree_path(t, member, path, sizeof path))};
	s->name = s->own_name;
	if (!s->name)
		return error_no_memory(e);
	s->fd = tree_fd(t, member, &offset, &size, e);
	if (s->fd < 0)
		return -1;
	perf_records_seek(s, s->fd, offset, 0, size);
	return 0;
}

/* Add data.0 and so on of the directory. A missing number is damage, and with in_directory their
 * lack, too; how many there were is not recorded. Returns 0, or -1 with *e filled. */
static int perf_files_add(struct perf *p, struct error *e)
{
	struct tree *t = p->input->tree;
	char path[RECORD_FILES_PATH_MOST], wanted[sizeof PREFIX + 20];
	size_t count;

	for (size_t i = tree_lower_bound(t, PREFIX); i < tree_count(t); i++) {
		const char *member = tree_member(t, i), *number = member + sizeof PREFIX - 1;

		if (strncmp(member, PREFIX, sizeof PREFIX - 1))
			break;
		if (*number && strspn(number, "0123456789") == strlen(number) &&
		    add_file(p, member, e))
			return -1;
	}
	/* the first file is the perf.data */
	count = p->files.count == 1 && p->h.in_directory ? 1 : p->files.count - 1;
	for (size_t i = 0; i < count; i++) {
		snprintf(wanted, sizeof wanted, "%s%zu", PREFIX, i);
		if (tree_has(t, wanted))
			continue;
		input_damage(p->input, tree_path(t, wanted, path, sizeof path), NO_OFFSET,
			     "the file of the directory is missing");
		break;
	}
	return 0;
}

int perf_files_next(struct perf *p, struct perf_record *r, struct error *e)
{
	for (;;) {
		struct perf_records *from = NULL;
		int got;

		for (size_t i = 0; i < p->files.count; i++)
			if (!p->files.at[i].ended && (!from || p->files.at[i].time < from->time))
				from = &p->files.at[i];
		if (!from)
			return 0;
		got = perf_records_next(from, r, e);
		p->files.last = from;
		if (got)
			return got;
		from->ended = true;
	}
}

/*
 * The header of a file, its attributes and sections; and the records that a pipe has in their
 * place.
 */

enum {
	ATTR_MOST = 4096,   /* bytes of an attribute */
	SECTION_LEAST = 16, /* u64 offset, u64 size */
	SECTION_MOST = 64 << 20,
	HEADER_PATH_MOST = 4096,
	TYPES_MOST = 4096,
};

/* Read the section at an entry {u64 offset, u64 size}, as far as the file has it. -1: *e. */
static int perf_records_read_section(struct perf *p, const uint8_t *entry, struct buffer *b,
				     struct error *e)
{
	uint64_t offset = perf_u64(p, entry), size = perf_u64(p, entry + 8);
	struct ring_cursor c = {.file = &p->file,
				.base = offset,
				.size = offset < p->file.size ? p->file.size - offset : 0};

	b->size = 0;
	if (c.size > size)
		c.size = size;
	if (c.size > SECTION_MOST)
		c.size = SECTION_MOST;
	if (c.size < size)
		input_short(p->input, p->file.name, offset,
			    "the file ends inside of a section of its header");
	return cursor_append(&c, b, c.size, e);
}

static int read_attrs(struct perf *p, const uint8_t *entry, struct error *e)
{
	struct buffer attrs = {0}, ids = {0};
	size_t size = (size_t)p->h.attr_size;
	int result = perf_records_read_section(p, entry, &attrs, e);

	for (size_t at = 0; !result && attrs.size - at >= size; at += size) {
		const uint8_t *d = attrs.data + at;

		result = perf_records_read_section(p, d + size - SECTION_LEAST, &ids, e);
		if (!result && perf_attr_add(p, d, size - SECTION_LEAST, ids.data, ids.size / 8))
			result = error_no_memory(e);
	}
	buffer_free(&attrs);
	buffer_free(&ids);
	return result;
}

/* The names of tracepoints in old files. */
static int read_event_types(struct perf *p, const uint8_t *entry, struct error *e)
{
	const size_t each = 8 + PERF_EVENT_NAME;
	struct buffer types = {0};
	int result = perf_u64(p, entry + 8) > TYPES_MOST * each
			     ? 0
			     : perf_records_read_section(p, entry, &types, e);

	for (size_t at = 0; !result && types.size - at >= each; at += each) {
		uint64_t id = perf_u64(p, types.data + at);

		for (size_t i = 0; i < p->nattrs; i++) {
			struct perf_attr *a = &p->attrs[i];

			if (a->name || a->kind != PERF_TYPE_TRACEPOINT || a->config != id)
				continue;
			a->name = strndup((char *)types.data + at + 8, PERF_EVENT_NAME);
			if (!a->name)
				result = error_no_memory(e);
		}
	}
	buffer_free(&types);
	return result;
}

static int read_features(struct perf *p, uint64_t offset, struct error *e)
{
	struct buffer content = {0};
	int result = 0;

	for (unsigned i = 1; i < PERF_FEATURES && !result; i++) {
		uint8_t d[SECTION_LEAST];

		if (!(p->h.features[i / 64] >> i % 64 & 1))
			continue;
		if (tracecmd_file_read(&p->file, d, sizeof d, offset, e) != sizeof d) {
			input_short(p->input, p->file.name, offset,
				    "the file ends before the sections of its header");
			break;
		}
		offset += sizeof d;
		result = perf_records_read_section(p, d, &content, e);
		if (!result && perf_feature(p, i, content.data, content.size))
			result = error_no_memory(e);
	}
	buffer_free(&content);
	return result;
}

/* Read the bits of features, which a 32-bit big-endian machine has in words of 4 bytes. */
static void read_feature_bits(struct perf *p, const uint8_t *d)
{
	uint64_t *features = p->h.features;

	for (int i = 0; i < PERF_FEATURES / 64; i++)
		features[i] = perf_u64(p, d + 8 * i);
	if (!p->h.big_endian || features[0] >> PERF_FEATURE_HOSTNAME & 1)
		return;
	for (int i = 0; i < PERF_FEATURES / 64; i++)
		features[i] = features[i] << 32 | features[i] >> 32;
}

static int perf_records_read_file(struct perf *p, struct error *e)
{
	struct input *in = p->input;
	uint8_t d[PERF_FILE_HEADER];
	uint64_t begin, size, end;

	if (tracecmd_file_read(&p->file, d, sizeof d, 0, e) != sizeof d)
		return error_set(e, p->file.name, 0, "the header of perf.data is cut");
	p->h.attr_size = perf_u64(p, d + PERF_AT_ATTR_SIZE);
	begin = perf_u64(p, d + PERF_AT_DATA);
	size = perf_u64(p, d + PERF_AT_DATA + 8);
	if (p->h.attr_size < PERF_ATTR_LEAST + SECTION_LEAST || p->h.attr_size > ATTR_MOST)
		return error_set(e, p->file.name, PERF_AT_ATTR_SIZE,
				 "attributes of %" PRIu64 " bytes", p->h.attr_size);
	if (read_attrs(p, d + PERF_AT_ATTRS, e) || read_event_types(p, d + PERF_AT_EVENT_TYPES, e))
		return -1;
	read_feature_bits(p, d + PERF_AT_FEATURES);
	end = begin + size;
	if (!size || end < begin || end > p->file.size) {
		const char *what = size ? "the file ends before its records do"
					: "the size of the records is 0 (perf record did not "
					  "end): they are read up to the end of the file";

		input_short(in, p->file.name, PERF_AT_DATA, "%s", what);
		end = p->file.size;
		if (begin > end)
			begin = end;
	} else if (read_features(p, end, e)) {
		return -1;
	}
	perf_records_seek(p->files.at, p->file.fd, p->file.base, begin, end);
	return 0;
}

/* Find version and byte order. Returns false if the bytes are no perf.data. */
static bool read_magic(struct perf *p, const uint8_t *d)
{
	p->h.version = 2;
	p->h.big_endian = get_u64(d) == __builtin_bswap64(get_u64(PERF_MAGIC_2));
	if (p->h.big_endian || !memcmp(d, PERF_MAGIC_2, 8))
		return true;
	p->h.version = 1;
	/* the size of the header is small */
	p->h.big_endian = get_u64(d + PERF_AT_SIZE) > UINT32_MAX;
	return !memcmp(d, PERF_MAGIC_1, 8);
}

/* Open the file `data` of a directory. */
static int open_member(struct perf *p, struct error *e)
{
	struct input *in = p->input;
	char path[HEADER_PATH_MOST];

	p->file.fd = tree_fd(in->tree, PERF_DIRECTORY_DATA, &p->file.base, &p->file.size, e);
	if (p->file.fd < 0)
		return -1;
	p->file.own = true;
	p->own_name = strdup(tree_path(in->tree, PERF_DIRECTORY_DATA, path, sizeof path));
	p->file.name = p->own_name;
	return p->own_name ? 0 : error_no_memory(e);
}

static int read_directory(struct perf *p, struct error *e)
{
	uint8_t d[PERF_PIPE_HEADER];

	if (open_member(p, e))
		return -1;
	if (tracecmd_file_read(&p->file, d, sizeof d, 0, e) != sizeof d || !read_magic(p, d))
		return error_set(e, p->file.name, 0, "the header of perf.data is cut");
	p->files.at->big_endian = p->h.big_endian;
	p->files.at->name = p->file.name;
	return perf_records_read_file(p, e) || perf_files_add(p, e) ? -1 : 0;
}

/* --- records of a pipe --- */

static int take_attr(struct perf *p, const struct perf_record *r)
{
	const uint8_t *d = r->data + PERF_RECORD_HEAD;
	size_t have = r->size - PERF_RECORD_HEAD, size;

	if (have < PERF_ATTR_LEAST) {
		input_damage(p->input, p->file.name, r->offset, "an attribute that is cut");
		return 0;
	}
	size = perf_u32(p, d + PERF_ATTR_SIZE);
	if (size < PERF_ATTR_LEAST)
		size = PERF_ATTR_LEAST;
	if (size > have)
		size = have;
	return perf_attr_add(p, d, size, d + size, (have - size) / 8);
}

static int take_update(struct perf *p, const struct perf_record *r)
{
	enum { UPDATE_NAME = 2, UPDATE_BODY = 24 };
	const struct perf_id *id;
	struct perf_attr *a;

	if (r->size <= UPDATE_BODY || perf_u64(p, r->data + 8) != UPDATE_NAME)
		return 0;
	id = perf_id_find(p, perf_u64(p, r->data + 16));
	a = id ? &p->attrs[id->attr] : NULL;
	if (!a || a->name)
		return 0;
	a->name = strndup((const char *)r->data + UPDATE_BODY, r->size - UPDATE_BODY);
	return a->name ? 0 : -1;
}

/* Take the ids of events. */
static int take_ids(struct perf *p, struct byte_span *s)
{
	uint64_t count = unwind_span_number(s, 8);

	while (count-- && !s->cut) {
		uint64_t attr = unwind_span_number(s, 8), id = unwind_span_number(s, 8);

		if (!s->cut && attr < p->nattrs && perf_id_add(p, id, (uint32_t)attr))
			return -1;
	}
	return 0;
}

static int perf_records_take_own(struct perf *p, const struct perf_record *r);

/* Take a part of a record that is split; at its end the whole record. */
static int take_split(struct perf *p, const struct perf_record *r)
{
	struct buffer *b = &p->h.split;
	struct perf_record whole;
	int bad = 0;

	if (r->type == SIMPLEPERF_SPLIT)
		return b->size > TRACING_LIMIT ? 0
					       : buffer_append(b, r->data + PERF_RECORD_HEAD,
							       r->size - PERF_RECORD_HEAD);
	if (b->size >= PERF_RECORD_HEAD) {
		perf_records_unpack_header(p->files.last, b->data, &whole);
		whole.offset = r->offset;
		if (whole.size != b->size || !is_simpleperf(whole.type) ||
		    whole.type == SIMPLEPERF_SPLIT || whole.type == SIMPLEPERF_SPLIT_END)
			input_damage(p->input, p->file.name, r->offset,
				     "the parts of a record that are none together");
		else
			bad = perf_records_take_own(p, &whole);
	}
	b->size = 0;
	return bad;
}

/* Take a record that simpleperf adds. Those that are left out here are about the recording. */
static int perf_records_take_own(struct perf *p, const struct perf_record *r)
{
	struct byte_span s = {r->data + PERF_RECORD_HEAD, r->data + r->size, p->h.big_endian,
			      false};
	const uint8_t *text;
	uint64_t n;
	int bad = 0;

	switch ((enum simpleperf_record_type)r->type) {
	case SIMPLEPERF_SPLIT:
	case SIMPLEPERF_SPLIT_END: return take_split(p, r);
	case SIMPLEPERF_EVENT_ID: bad = take_ids(p, &s); break;
	case SIMPLEPERF_KERNEL_SYMBOL:
	case SIMPLEPERF_TRACING_DATA:
		n = unwind_span_number(&s, 4);
		text = span_take(&s, n);
		if (!text)
			break;
		bad = r->type == SIMPLEPERF_TRACING_DATA
			      ? perf_tracing_data(p, text, n)
			      : recorded_symbols_kernel(p->spaces.recorded, (const char *)text, n);
		break;
	case SIMPLEPERF_DSO:
	case SIMPLEPERF_SYMBOL: p->counts.old_symbols++; break;
	default: break;
	}
	if (s.cut && !bad)
		input_damage(p->input, p->file.name, r->offset,
			     "a record of simpleperf that is cut");
	return bad;
}

int perf_header_record(struct perf *p, const struct perf_record *r, struct error *e)
{
	const uint8_t *d = r->data + PERF_RECORD_HEAD;
	size_t n = r->size - PERF_RECORD_HEAD, own;
	int bad = 0;

	if (is_simpleperf(r->type))
		return perf_records_take_own(p, r) ? error_no_memory(e) : 0;

	switch (r->type) {
	case PERF_RECORD_HEADER_ATTR: bad = take_attr(p, r); break;
	case PERF_RECORD_EVENT_UPDATE: bad = take_update(p, r); break;
	case PERF_RECORD_HEADER_BUILD_ID: bad = perf_build_id_record(p, r->data, r->size); break;
	case PERF_RECORD_HEADER_TRACING_DATA:
		/* the data follow the record, whose own size is 12 or, with padding, 16 */
		own = perf_u16(p, r->data + 6);
		if (r->size > own && own >= 12)
			bad = perf_tracing_data(p, r->data + own, r->size - own);
		else if (n > 8 && perf_u32(p, d) <= n - 4)
			bad = perf_tracing_data(p, d + 4, perf_u32(p, d));
		break;
	case PERF_RECORD_HEADER_FEATURE:
		if (n >= 8 && perf_u64(p, d) < PERF_FEATURES)
			bad = perf_feature(p, (unsigned)perf_u64(p, d), d + 8, n - 8);
		break;
	default: break;
	}
	return bad ? error_no_memory(e) : 0;
}

/* Read the records that a pipe begins with, up to the first one of the kernel; of a file those of
 * simpleperf, and the formats of events. */
static int read_first_records(struct perf *p, struct error *e)
{
	for (;;) {
		struct perf_record r;
		int got = perf_files_next(p, &r, e);

		if (got <= 0)
			return got;
		if (r.type < PERF_RECORD_OF_PERF || (!p->h.pipe && !is_simpleperf(r.type) &&
						     r.type != PERF_RECORD_HEADER_TRACING_DATA)) {
			perf_records_back(p->files.last, &r);
			return 0;
		}
		if (perf_header_record(p, &r, e))
			return -1;
	}
}

int perf_header_read(struct perf *p, struct error *e)
{
	struct input *in = p->input;
	struct perf_records *records = calloc(1, sizeof *records);

	p->spaces.recorded = recorded_symbols_new(p->w);
	if (!records || !p->spaces.recorded) {
		free(records);
		return error_no_memory(e);
	}
	p->files.at = p->files.last = records;
	p->files.count = 1;
	records->input = in;
	records->name = in->name;
	if (in->tree)
		return read_directory(p, e);
	if (in->head_size < PERF_PIPE_HEADER || !read_magic(p, in->head))
		return error_set(e, in->name, 0, "the header of perf.data is cut");
	records->big_endian = p->h.big_endian;
	p->h.pipe = perf_u64(p, in->head + PERF_AT_SIZE) == PERF_PIPE_HEADER;
	if (!p->h.pipe)
		return tracecmd_file_open(&p->file, in->name, in->fd, in->head, in->head_size, e) ||
				       perf_records_read_file(p, e) || read_first_records(p, e)
			       ? -1
			       : 0;
	p->file.name = in->name;
	records->offset = PERF_PIPE_HEADER;
	return perf_records_pipe(records, in->fd, in->head + PERF_PIPE_HEADER,
				 in->head_size - PERF_PIPE_HEADER)
		       ? error_no_memory(e)
		       : read_first_records(p, e);
}

void perf_header_free(struct perf *p)
{
	recorded_symbols_free(p->spaces.recorded);
	for (size_t i = 0; i < p->files.count; i++) {
		struct perf_records *s = &p->files.at[i];

		free(s->data);
		ZSTD_freeDCtx(s->unpacker.zstd);
		buffer_free(&s->unpacker.packed);
		buffer_free(&s->unpacker.out);
		/* that of the first one is the input's */
		if (i && s->fd >= 0)
			close(s->fd);
		free(s->own_name);
	}
	free(p->files.at);
	for (size_t i = 0; i < p->nattrs; i++) {
		free(p->attrs[i].name);
		free(p->attrs[i].members);
	}
	free(p->attrs);
	free(p->ids);
	key_map_free(&p->id_numbers);
	for (size_t i = 0; i < p->h.nfacts; i++)
		free(p->h.facts[i].text);
	free(p->h.facts);
	free(p->h.arch);
	buffer_free(&p->h.formats);
	buffer_free(&p->h.split);
	buffer_free(&p->h.build_id_texts);
	id_cache_free(&p->h.build_ids);
}
