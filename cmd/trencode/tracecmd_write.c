/*
 * tracecmd_write.c - trace.dat
 */
#include "cmd/trencode/tracecmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "common/formats/tracecmd.h"
#include "common/stream/field.h"
#include "common/stream/reader.h"
#include "common/util/lines.h"
#include "common/util/output.h"

/* The header of a piece: u64 offset of the chain's next piece, u64 bytes of this piece. */
enum { PIECE_HEADER = 16, COPY_SIZE = 64 * 1024 };

/* The recorder's default levels. */
enum { ZSTD_USUAL = ZSTD_CLEVEL_DEFAULT, ZLIB_USUAL = Z_BEST_COMPRESSION };

/* Get the version of the compression library as files name it; "" for none. */
static const char *tracecmd_packer_version(enum tracecmd_method method)
{
	switch (method) {
	case TRACECMD_WITH_ZLIB: return zlibVersion();
	case TRACECMD_WITH_ZSTD: return ZSTD_versionString();
	default: return "";
	}
}

/* Compress n bytes. Returns the compressed size, 0 on failure. */
static size_t pack_to(struct tracecmd_state *s, const void *data, size_t n, uint8_t *to,
		      size_t room)
{
	int level = s->packer.level;
	size_t size;

	if (s->packer.method == TRACECMD_WITH_ZLIB) {
		uLongf have = room;

		return compress2(to, &have, data, n, level < 0 ? ZLIB_USUAL : level) == Z_OK ? have
											     : 0;
	}
	if (!s->packer.zstd)
		s->packer.zstd = ZSTD_createCCtx();
	if (!s->packer.zstd)
		return 0;
	size = ZSTD_compressCCtx(s->packer.zstd, to, room, data, n, level < 0 ? ZSTD_USUAL : level);
	return ZSTD_isError(size) ? 0 : size;
}

/* Append u32 packed size, u32 size, packed data; not for TRACECMD_PLAIN. */
static int tracecmd_pack(struct tracecmd_state *s, const void *data, size_t n, struct buffer *out,
			 struct error *e)
{
	bool zlib = s->packer.method == TRACECMD_WITH_ZLIB;
	size_t room = zlib ? compressBound(n) : ZSTD_compressBound(n), size;

	if (n > UINT32_MAX / 2)
		return error_set(e, NULL, NO_OFFSET,
				 "a part of %zu bytes is too large for a trace.dat", n);
	if (buffer_reserve(out, 8 + room))
		return error_no_memory(e);
	size = pack_to(s, data, n, out->data + out->size + 8, room);
	if (!size)
		return error_set(e, NULL, NO_OFFSET, "cannot compress");
	tracecmd_put_uint(out->data + out->size, size, 4, s->big_endian);
	tracecmd_put_uint(out->data + out->size + 4, n, 4, s->big_endian);
	out->size += 8 + size;
	return 0;
}

/* --- the temporary file --- */

/* Append a piece to a stream's chain. The first piece creates the temporary file. */
static int tracecmd_spool_add(struct tracecmd_stream *x, const void *data, size_t n,
			      struct error *e)
{
	struct tracecmd_state *s = x->state;
	struct buffer *b = &s->spool.piece;
	uint8_t link[8];

	if (s->spool.fd < 0 && (s->spool.fd = temporary_open(e)) < 0)
		return -1;
	b->size = 0;
	if (buffer_zero(b, PIECE_HEADER))
		return error_no_memory(e);
	if (s->packer.method != TRACECMD_PLAIN) {
		if (tracecmd_pack(s, data, n, b, e))
			return -1;
	} else if (buffer_append(b, data, n)) {
		return error_no_memory(e);
	}
	n = b->size - PIECE_HEADER;
	put_u64(b->data + 8, n);
	if (temporary_write(s->spool.fd, b->data, b->size, s->spool.size, e))
		return -1;
	put_u64(link, s->spool.size);
	if (x->pieces.count && temporary_write(s->spool.fd, link, sizeof link, x->pieces.last, e))
		return -1;
	if (!x->pieces.count)
		x->pieces.first = s->spool.size;
	x->pieces.last = s->spool.size;
	x->pieces.bytes += n;
	x->pieces.count++;
	s->spool.size += b->size;
	return 0;
}

/* Write all pieces of a stream's chain. */
static int tracecmd_spool_copy(struct tracecmd_state *s, const struct tracecmd_stream *x,
			       struct output *to, struct error *e)
{
	struct buffer *b = &s->spool.piece;
	uint64_t at = x->pieces.first;
	uint8_t header[PIECE_HEADER];

	b->size = 0;
	if (buffer_reserve(b, COPY_SIZE))
		return error_no_memory(e);
	for (uint32_t i = 0; i < x->pieces.count; i++) {
		uint64_t left, next;

		if (temporary_read(s->spool.fd, header, sizeof header, at, e))
			return -1;
		next = get_u64(header);
		left = get_u64(header + 8);
		at += PIECE_HEADER;
		while (left) {
			size_t n = left < COPY_SIZE ? (size_t)left : COPY_SIZE;

			if (temporary_read(s->spool.fd, b->data, n, at, e) ||
			    output_write(to, b->data, n, e))
				return -1;
			at += n;
			left -= n;
		}
		at = next;
	}
	return 0;
}

/* --- write sub-buffers ("pages") of the kernel's ring buffer --- */

/* Pages are written in pieces: as many pages as the recorder packs together, at most PIECE_MOST
 * bytes. */
enum { PIECE_PAGES = 10, PIECE_MOST = 256 * 1024, DELTA_BITS = 27, SHORT_MOST = 28 * 4 };

/* Bits of a time extend or time stamp. */
enum { TIME_BITS = 59 };

static size_t header_size(const struct tracecmd_pages *p)
{
	return 8 + p->word;
}

static int append_uint(struct tracecmd_pages *p, uint64_t v, unsigned size)
{
	uint8_t bytes[8];

	tracecmd_put_uint(bytes, v, size, p->big_endian);
	return buffer_append(&p->data, bytes, size);
}

/* Append the first word of a record. */
static int append_head(struct tracecmd_pages *p, unsigned kind, uint32_t delta)
{
	return append_uint(p, p->big_endian ? kind << DELTA_BITS | delta : delta << 5 | kind, 4);
}

static int write_pages(struct tracecmd_pages *p, struct error *e)
{
	if (!p->data.size)
		return 0;
	if (p->put(p->context, p->data.data, p->data.size, e))
		return -1;
	p->data.size = 0;
	return 0;
}

/* Get the end of the space for records: the number of lost events follows the records. */
static size_t page_end(const struct tracecmd_pages *p)
{
	bool counted = p->reported && p->reported != UINT64_MAX;

	return p->begin + p->page_size - (counted ? p->word : 0);
}

static int open_page(struct tracecmd_pages *p, uint64_t time, struct error *e)
{
	p->begin = p->data.size;
	if (append_uint(p, time, 8) || append_uint(p, 0, p->word))
		return error_no_memory(e);
	p->open = true;
	p->time = time;
	p->reported = p->missed;
	p->missed = 0;
	/* the number does not fit into a 32-bit long */
	if (p->word == 4 && p->reported > UINT32_MAX)
		p->reported = UINT64_MAX;
	return 0;
}

static int close_page(struct tracecmd_pages *p, struct error *e)
{
	uint64_t commit;

	if (!p->open)
		return 0;
	commit = p->data.size - p->begin - header_size(p);
	if (p->reported)
		commit |= RING_MISSED;
	if (p->reported && p->reported != UINT64_MAX) {
		commit |= RING_MISSED_SIZE;
		if (append_uint(p, p->reported, p->word))
			return error_no_memory(e);
	}
	tracecmd_put_uint(p->data.data + p->begin + 8, commit, p->word, p->big_endian);
	if (buffer_zero(&p->data, p->begin + p->page_size - p->data.size))
		return error_no_memory(e);
	p->open = false;
	if (p->data.size >= (size_t)PIECE_PAGES * p->page_size ||
	    p->data.size + p->page_size > PIECE_MOST)
		return write_pages(p, e);
	return 0;
}

int tracecmd_pages_lost(struct tracecmd_pages *p, uint64_t count, struct error *e)
{
	if (!count)
		return 0;
	if (count == UINT64_MAX || p->missed == UINT64_MAX || count > UINT64_MAX - 1 - p->missed)
		p->missed = UINT64_MAX;
	else
		p->missed += count;
	return close_page(p, e);
}

/* Test whether the open page can have a record of this time. *extend: after 8 bytes of time. */
static bool page_can_reach(const struct tracecmd_pages *p, uint64_t time, bool *extend)
{
	*extend = time < p->time || (time - p->time) >> DELTA_BITS;
	if (time >= p->time)
		return !((time - p->time) >> TIME_BITS);
	/* back: by a time stamp, of which some readers use only the lower 59 bits */
	return !(p->time >> TIME_BITS);
}

static int append_time(struct tracecmd_pages *p, uint64_t time)
{
	bool back = time < p->time;
	uint64_t v = back ? time : time - p->time;

	return append_head(p, back ? RING_TIME_STAMP : RING_TIME_EXTEND,
			   (uint32_t)v & ((1u << DELTA_BITS) - 1)) ||
			       append_uint(p, v >> DELTA_BITS, 4)
		       ? -1
		       : 0;
}

int tracecmd_pages_record(struct tracecmd_pages *p, uint64_t time, const void *data, size_t n,
			  struct error *e)
{
	size_t padded = align_up(n, 4), need = padded + (padded > SHORT_MOST || !padded ? 8 : 4);
	bool extend = false;
	uint32_t delta;

	if (need > p->page_size - header_size(p))
		return 1;
	if (p->open && (!page_can_reach(p, time, &extend) ||
			need + (extend ? 8 : 0) > page_end(p) - p->data.size))
		if (close_page(p, e))
			return -1;
	if (!p->open) {
		extend = false;
		if (open_page(p, time, e))
			return -1;
		/* a record is worth more than the number of lost events */
		if (need > page_end(p) - p->data.size)
			p->reported = UINT64_MAX;
	}
	if (extend && append_time(p, time))
		return error_no_memory(e);
	delta = extend ? 0 : (uint32_t)(time - p->time);
	if (need == padded + 4 ? append_head(p, (unsigned)(padded / 4), delta)
			       : append_head(p, RING_LONG, delta) || append_uint(p, padded + 4, 4))
		return error_no_memory(e);
	if ((n && buffer_append(&p->data, data, n)) || buffer_zero(&p->data, padded - n))
		return error_no_memory(e);
	p->time = time;
	return 0;
}

int tracecmd_pages_end(struct tracecmd_pages *p, struct error *e)
{
	/* a page without records reports what was lost after the last record */
	if (p->missed && !p->open && open_page(p, p->time, e))
		return -1;
	return close_page(p, e) || write_pages(p, e) ? -1 : 0;
}

/* --- parts of a trace.dat that both versions share --- */

static int tracecmd_number(const struct tracecmd_state *s, struct buffer *b, uint64_t v,
			   unsigned size)
{
	uint8_t bytes[8];

	tracecmd_put_uint(bytes, v, size, s->big_endian);
	return buffer_append(b, bytes, size);
}

static int tracecmd_sized(const struct tracecmd_state *s, enum tracecmd_part part, unsigned size,
			  struct buffer *b)
{
	const struct buffer *from = &s->parts[part];

	return tracecmd_number(s, b, from->size, size) || buffer_append(b, from->data, from->size)
		       ? -1
		       : 0;
}

/* Append parts that both versions share to b. */
static int tracecmd_header_info(const struct tracecmd_state *s, struct buffer *b)
{
	return buffer_append(b, TRACECMD_HEADER_PAGE, sizeof TRACECMD_HEADER_PAGE) ||
			       tracecmd_sized(s, PART_HEADER_PAGE, 8, b) ||
			       buffer_append(b, TRACECMD_HEADER_EVENT,
					     sizeof TRACECMD_HEADER_EVENT) ||
			       tracecmd_sized(s, PART_HEADER_EVENT, 8, b)
		       ? -1
		       : 0;
}

/* One format of the part "formats": u32 size of the system's name, u32 size of the text, the
 * name, the text. */
struct format_text {
	const uint8_t *system, *text;
	uint32_t system_size, size;
};

static bool next_format(const struct buffer *b, size_t *at, struct format_text *f)
{
	size_t left = b->size - *at;

	if (left < 8)
		return false;
	f->system_size = get_u32(b->data + *at);
	f->size = get_u32(b->data + *at + 4);
	left -= 8;
	if (f->system_size > left || f->size > left - f->system_size)
		return false;
	f->system = b->data + *at + 8;
	f->text = f->system + f->system_size;
	*at += 8 + (size_t)f->system_size + f->size;
	return true;
}

static bool tracecmd_write_is_ftrace(const struct format_text *f)
{
	return f->system_size == 6 && !memcmp(f->system, "ftrace", 6);
}

static bool same_system(const struct format_text *a, const struct format_text *b)
{
	return a->system_size == b->system_size && !memcmp(a->system, b->system, a->system_size);
}

static int append_format(const struct tracecmd_state *s, const struct format_text *f,
			 struct buffer *b)
{
	return tracecmd_number(s, b, f->size, 8) || buffer_append(b, f->text, f->size) ? -1 : 0;
}

static int tracecmd_ftrace_formats(const struct tracecmd_state *s, struct buffer *b)
{
	const struct buffer *from = &s->parts[PART_FORMATS];
	struct format_text f;
	size_t at = 0, count_at = b->size;
	uint32_t n = 0;

	if (tracecmd_number(s, b, 0, 4))
		return -1;
	while (next_format(from, &at, &f))
		if (tracecmd_write_is_ftrace(&f)) {
			n++;
			if (append_format(s, &f, b))
				return -1;
		}
	tracecmd_put_uint(b->data + count_at, n, 4, s->big_endian);
	return 0;
}

static int tracecmd_event_formats(const struct tracecmd_state *s, struct buffer *b)
{
	const struct buffer *from = &s->parts[PART_FORMATS];
	size_t at = 0, systems_at = b->size, count_at = 0;
	struct format_text f, before = {.system_size = 0};
	uint32_t systems = 0, n = 0;

	if (tracecmd_number(s, b, 0, 4))
		return -1;
	while (next_format(from, &at, &f)) {
		if (tracecmd_write_is_ftrace(&f))
			continue;
		if (!systems || !same_system(&f, &before)) {
			systems++;
			n = 0;
			if (buffer_append(b, f.system, f.system_size) || buffer_u8(b, 0))
				return -1;
			count_at = b->size;
			if (tracecmd_number(s, b, 0, 4))
				return -1;
			before = f;
		}
		if (append_format(s, &f, b))
			return -1;
		tracecmd_put_uint(b->data + count_at, ++n, 4, s->big_endian);
	}
	tracecmd_put_uint(b->data + systems_at, systems, 4, s->big_endian);
	return 0;
}

static int option_cpus(const struct tracecmd_state *s, struct buffer *b)
{
	return tracecmd_number(s, b, TRACECMD_CPUCOUNT, 2) || tracecmd_number(s, b, 4, 4) ||
			       tracecmd_number(s, b, s->cpus, 4)
		       ? -1
		       : 0;
}

/* Append the offset that trdecode was given; readers add all such options. */
static int option_offset(const struct tracecmd_state *s, struct buffer *b)
{
	char text[32];
	size_t n = (size_t)snprintf(text, sizeof text, "%" PRId64, s->offset_added) + 1;

	return tracecmd_number(s, b, TRACECMD_OFFSET, 2) || tracecmd_number(s, b, n, 4) ||
			       buffer_append(b, text, n)
		       ? -1
		       : 0;
}

/* Append the source's options, with the right number of CPUs: each as id, size, payload. */
static int tracecmd_options(const struct tracecmd_state *s, struct buffer *b)
{
	const struct buffer *from = &s->parts[PART_OPTIONS];
	bool cpus = false;

	for (size_t at = 0; from->size - at >= 8;) {
		uint16_t id = get_u16(from->data + at);
		uint32_t size = get_u32(from->data + at + 4);

		at += 8;
		if (size > from->size - at)
			break;
		if (id == TRACECMD_CPUCOUNT) {
			if (!cpus && option_cpus(s, b))
				return -1;
			cpus = true;
		} else if (id != TRACECMD_DONE && id != TRACECMD_BUFFER) {
			if (tracecmd_number(s, b, id, 2) || tracecmd_number(s, b, size, 4) ||
			    buffer_append(b, from->data + at, size))
				return -1;
		}
		at += size;
	}
	if (s->offset_added && option_offset(s, b))
		return -1;
	return cpus || s->version == 6 ? 0 : option_cpus(s, b);
}

/* --- choose the properties of the output file by those of the source file --- */

/* Bounds of sub-buffers, bytes; the kernel makes no larger ones. */
enum { PAGE_LEAST = 1024, PAGE_MOST = 1 << 20 };

static const char *tracecmd_write_value_of(const char *text, const char *name)
{
	size_t size;

	return lines_value(text, strlen(text), name, &size);
}

static uint64_t tracecmd_write_number_of(const char *text, const char *name)
{
	const char *value = tracecmd_write_value_of(text, name);

	return value ? strtoull(value, NULL, 10) : 0;
}

static uint32_t good_page_size(uint64_t size)
{
	return size >= PAGE_LEAST && size <= PAGE_MOST && !(size & (size - 1)) ? (uint32_t)size : 0;
}

static struct tracecmd_out_buffer *add_buffer(struct tracecmd_state *s, const char *name, size_t n,
					      const char *clock, size_t clock_size)
{
	struct tracecmd_out_buffer *b;

	if (s->nbuffers >= TRACECMD_BUFFERS_MOST ||
	    ARRAY_GROW(s->buffers, s->buffers_capacity, s->nbuffers))
		return NULL;
	b = &s->buffers[s->nbuffers];
	*b = (struct tracecmd_out_buffer){.name = strndup(name, n),
					  .clock = strndup(clock, clock_size),
					  .page_size = s->page_size};
	s->nbuffers++;
	return b->name && b->clock ? b : NULL;
}

/* Find or add a buffer. Returns its number, INTERN_NONE when out of memory. */
static uint32_t tracecmd_buffer_number(struct tracecmd_state *s, const char *name,
				       const char *clock)
{
	size_t i = 0;

	while (i < s->nbuffers && strcmp(s->buffers[i].name, name) != 0)
		i++;
	if (i == s->nbuffers && !add_buffer(s, name, strlen(name), clock, strlen(clock)))
		return INTERN_NONE;
	return (uint32_t)i;
}

/* Add the buffers of lines "NAME\tCLOCK\tPAGE_SIZE\tCPUS"; a name may contain tabs. */
static int add_buffers(struct tracecmd_state *s, const char *text, struct error *e)
{
	while (*text) {
		const char *end = strchrnul(text, '\n'), *tab[3], *p = end;
		struct tracecmd_out_buffer *b;
		int n = 3;

		while (n && (p = memrchr(text, '\t', (size_t)(p - text))))
			tab[--n] = p;
		if (!n) {
			b = add_buffer(s, text, (size_t)(tab[0] - text), tab[0] + 1,
				       (size_t)(tab[1] - tab[0] - 1));
			if (!b)
				return error_no_memory(e);
			if (good_page_size(strtoull(tab[1] + 1, NULL, 10)))
				b->page_size = (uint32_t)strtoull(tab[1] + 1, NULL, 10);
		}
		text = *end ? end + 1 : end;
	}
	/* the top buffer always exists */
	if (!s->nbuffers && !add_buffer(s, "", 0, "", 0))
		return error_no_memory(e);
	return 0;
}

/* Choose version and compression: those of the options, else those of the source. */
static void choose_version(struct tracecmd_state *s, const struct encode_options *o,
			   const char *file)
{
	static const char *const names[] = {"none", "zlib", "zstd"};
	const char *compression = tracecmd_write_value_of(file, "compression"),
		   *version = tracecmd_write_value_of(file, "compression_version");
	uint64_t had = tracecmd_write_number_of(file, "version");
	bool packs = o->compress.given && o->compress.kind != PACK_NONE;
	int source = -1;

	for (int i = 0; compression && i < 3; i++)
		if (!strncmp(compression, names[i], 4) && compression[4] == '\n')
			source = i;
	s->version = o->file_version ? (unsigned)o->file_version : packs || had > 6 ? 7 : 6;
	s->packer.level = o->compress.given ? o->compress.level : -1;
	if (s->version == 6)
		s->packer.method = TRACECMD_PLAIN;
	else if (o->compress.given)
		s->packer.method = o->compress.kind == PACK_NONE   ? TRACECMD_PLAIN
				   : o->compress.kind == PACK_ZLIB ? TRACECMD_WITH_ZLIB
								   : TRACECMD_WITH_ZSTD;
	else
		s->packer.method =
			had > 6 && source >= 0 ? (enum tracecmd_method)source : TRACECMD_WITH_ZSTD;
	/* readers compare it with the version of their own library */
	if (had > 6 && source == (int)s->packer.method && version)
		snprintf(s->compression_version, sizeof s->compression_version, "%.*s",
			 (int)strcspn(version, "\n"), version);
	else
		snprintf(s->compression_version, sizeof s->compression_version, "%s",
			 tracecmd_packer_version(s->packer.method));
}

/* Choose the output's properties by the source's META, before the first event.
 */
static int tracecmd_take_source(struct tracecmd_state *s, const struct encode_options *o,
				struct error *e)
{
	const char *file, *value;
	uint64_t cpus;

	if (buffer_append(&s->parts[PART_FILE], "", 1) ||
	    buffer_append(&s->parts[PART_BUFFERS], "", 1))
		return error_no_memory(e);
	s->begun = true;
	file = (const char *)s->parts[PART_FILE].data;
	if (!tracecmd_write_value_of(file, "version"))
		return error_set(e, s->source->name.text, NO_OFFSET,
				 "the header of the trace.dat is missing: " WITHOUT_FIRST_SEGMENT);
	s->big_endian = s->source->big_endian;
	s->program_long = tracecmd_write_number_of(file, "long_size") == 4 ? 4 : 8;
	s->page_size = good_page_size(tracecmd_write_number_of(file, "page_size"));
	if (!s->page_size)
		s->page_size = 4096;
	cpus = tracecmd_write_number_of(file, "cpus");
	s->cpus = cpus < TRACECMD_CPUS_MOST ? (uint32_t)cpus : TRACECMD_CPUS_MOST;
	value = tracecmd_write_value_of(file, "time_added");
	s->time_added = value ? strtoll(value, NULL, 10) : 0;
	value = tracecmd_write_value_of(file, "offset_added");
	s->offset_added = value ? strtoll(value, NULL, 10) : 0;
	choose_version(s, o, file);
	return add_buffers(s, (const char *)s->parts[PART_BUFFERS].data, e);
}

/*
 * Write a trace.dat from its parts.
 *
 * Everything before the data is made twice: first to find its length, then with the offsets that
 * follow from the length. So the output may be a pipe.
 */

static int write_zeros(struct output *o, uint64_t until, struct error *e)
{
	static const uint8_t zeros[4096];

	while (o->written < until) {
		uint64_t n = until - o->written;

		if (output_write(o, zeros, n < sizeof zeros ? (size_t)n : sizeof zeros, e))
			return -1;
	}
	return 0;
}

static bool is_packed(const struct tracecmd_state *s)
{
	return s->packer.method != TRACECMD_PLAIN;
}

static uint32_t alignment(const struct tracecmd_state *s, const struct tracecmd_out_buffer *b)
{
	return s->version == 6 ? s->page_size : b->page_size;
}

/* Append a text with its NUL. */
static int tracecmd_write_put_text(struct buffer *b, const char *text)
{
	return buffer_append(b, text, strlen(text) + 1);
}

static int append_prefix(const struct tracecmd_state *s, struct buffer *b)
{
	return buffer_append(b, TRACECMD_MAGIC, TRACECMD_MAGIC_SIZE) ||
			       tracecmd_write_put_text(b, s->version == 6 ? "6" : "7") ||
			       buffer_u8(b, s->big_endian) || buffer_u8(b, s->program_long) ||
			       tracecmd_number(s, b, s->page_size, 4)
		       ? -1
		       : 0;
}

/* Assign offsets to the data of a buffer whose header ends at `at`. Returns the end of the data. */
static uint64_t assign_data(struct tracecmd_state *s, const struct tracecmd_out_buffer *b,
			    uint64_t at)
{
	for (size_t i = 0; i < b->count; i++) {
		struct tracecmd_stream *x = s->order[b->first + i];

		if (!b->text)
			at = align_up(at, alignment(s, b));
		x->offset = at;
		x->size = x->pieces.bytes + (is_packed(s) ? 4 : 0);
		at += x->size;
	}
	return at;
}

static int write_data(struct tracecmd_state *s, const struct tracecmd_out_buffer *b,
		      struct output *o, struct error *e)
{
	for (size_t i = 0; i < b->count; i++) {
		const struct tracecmd_stream *x = s->order[b->first + i];
		uint8_t count[4];

		if (write_zeros(o, x->offset, e))
			return -1;
		tracecmd_put_uint(count, x->pieces.count, 4, s->big_endian);
		if (is_packed(s) && output_write(o, count, sizeof count, e))
			return -1;
		if (tracecmd_spool_copy(s, x, o, e))
			return -1;
	}
	return 0;
}

/* --- version 6 --- */

/* Append the tag, the table of all CPUs and the clock of a buffer. */
static int append_table_v6(const struct tracecmd_state *s, const struct tracecmd_out_buffer *b,
			   uint64_t end, struct buffer *to)
{
	size_t i = 0, n = strlen(b->clock);

	if (buffer_append(to, TRACECMD_TAG_DATA, TRACECMD_TAG_SIZE))
		return -1;
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++) {
		const struct tracecmd_stream *x = i < b->count ? s->order[b->first + i] : NULL;
		bool has = x && x->cpu == cpu;

		/* a CPU without data has the offset of the next data */
		if (tracecmd_number(s, to, x ? x->offset : end, 8) ||
		    tracecmd_number(s, to, has ? x->size : 0, 8))
			return -1;
		i += has;
	}
	if (!n)
		return tracecmd_number(s, to, 0, 8);
	return tracecmd_number(s, to, n + 2, 8) || buffer_u8(to, '[') ||
			       buffer_append(to, b->clock, n) || buffer_u8(to, ']')
		       ? -1
		       : 0;
}

static uint64_t tracecmd_write_table_size(const struct tracecmd_state *s,
					  const struct tracecmd_out_buffer *b)
{
	size_t n = strlen(b->clock);

	return TRACECMD_TAG_SIZE + 16 * (uint64_t)s->cpus + 8 + (n ? n + 2 : 0);
}

/* Assign offsets to all buffers: `at` is that of the top buffer; the instances follow. */
static void assign_v6(struct tracecmd_state *s, uint64_t at)
{
	for (size_t i = 0; i < s->nbuffers; i++) {
		struct tracecmd_out_buffer *b = &s->buffers[i];

		b->offset = at;
		at = b->text ? at + TRACECMD_TAG_SIZE : at + tracecmd_write_table_size(s, b);
		at = assign_data(s, b, at);
		if (!b->text)
			at = align_up(at, s->page_size);
	}
}

static int options_v6(const struct tracecmd_state *s, struct buffer *b)
{
	if (buffer_append(b, TRACECMD_TAG_OPTIONS, TRACECMD_TAG_SIZE) || tracecmd_options(s, b))
		return -1;
	for (size_t i = 1; i < s->nbuffers; i++) {
		const struct tracecmd_out_buffer *x = &s->buffers[i];

		if (tracecmd_number(s, b, TRACECMD_BUFFER, 2) ||
		    tracecmd_number(s, b, 8 + strlen(x->name) + 1, 4) ||
		    tracecmd_number(s, b, x->offset, 8) || tracecmd_write_put_text(b, x->name))
			return -1;
	}
	return tracecmd_number(s, b, TRACECMD_DONE, 2);
}

static int head_v6(const struct tracecmd_state *s, struct buffer *b)
{
	return append_prefix(s, b) || tracecmd_header_info(s, b) || tracecmd_ftrace_formats(s, b) ||
			       tracecmd_event_formats(s, b) ||
			       tracecmd_sized(s, PART_KALLSYMS, 4, b) ||
			       tracecmd_sized(s, PART_PRINTK, 4, b) ||
			       tracecmd_sized(s, PART_CMDLINES, 8, b) ||
			       tracecmd_number(s, b, s->cpus, 4)
		       ? -1
		       : 0;
}

static int write_v6(struct tracecmd_state *s, struct output *o, struct buffer *b, struct error *e)
{
	size_t fixed;

	for (size_t i = 0; i < s->nbuffers; i++)
		if (s->buffers[i].text && (i || s->nbuffers > 1))
			return error_set(e, NULL, NO_OFFSET,
					 "version 6 of trace.dat cannot contain a latency trace "
					 "and other buffers: use --file-version 7");
	if (head_v6(s, b))
		return error_no_memory(e);
	fixed = b->size;
	if (options_v6(s, b))
		return error_no_memory(e);
	assign_v6(s, b->size);
	b->size = fixed;
	if (options_v6(s, b))
		return error_no_memory(e);
	for (size_t i = 0; i < s->nbuffers; i++) {
		struct tracecmd_out_buffer *x = &s->buffers[i];
		uint64_t end = i + 1 < s->nbuffers
				       ? s->buffers[i + 1].offset
				       : align_up(x->offset + tracecmd_write_table_size(s, x),
						  s->page_size);

		if (i)
			b->size = 0;
		if (x->text ? buffer_append(b, TRACECMD_TAG_LATENCY, TRACECMD_TAG_SIZE)
			    : append_table_v6(s, x, end, b))
			return error_no_memory(e);
		if (write_zeros(o, i ? x->offset : 0, e) || output_write(o, b->data, b->size, e) ||
		    write_data(s, x, o, e))
			return -1;
	}
	/* readers require offsets of tables inside the file */
	return s->nbuffers == 1 && s->buffers[0].text
		       ? 0
		       : write_zeros(o, align_up(o->written, s->page_size), e);
}

/* --- version 7 --- */

static int section_header(const struct tracecmd_state *s, uint16_t id, bool compressed,
			  uint64_t size, struct buffer *b)
{
	/* no string describes the section */
	return tracecmd_number(s, b, id, 2) ||
			       tracecmd_number(s, b, compressed ? TRACECMD_COMPRESSED : 0, 2) ||
			       tracecmd_number(s, b, UINT32_MAX, 4) ||
			       tracecmd_number(s, b, size, 8)
		       ? -1
		       : 0;
}

static int body_of(const struct tracecmd_state *s, uint16_t id, struct buffer *b)
{
	const struct buffer *raw = &s->parts[id == TRACECMD_BTF ? PART_BTF : PART_MODULES];

	switch (id) {
	case TRACECMD_HEADER_INFO: return tracecmd_header_info(s, b);
	case TRACECMD_FTRACE_EVENTS: return tracecmd_ftrace_formats(s, b);
	case TRACECMD_EVENT_FORMATS: return tracecmd_event_formats(s, b);
	case TRACECMD_KALLSYMS: return tracecmd_sized(s, PART_KALLSYMS, 4, b);
	case TRACECMD_PRINTK: return tracecmd_sized(s, PART_PRINTK, 4, b);
	case TRACECMD_CMDLINES: return tracecmd_sized(s, PART_CMDLINES, 8, b);
	default: return buffer_append(b, raw->data, raw->size);
	}
}

static int add_section(struct tracecmd_state *s, uint16_t id, struct buffer *b, struct error *e)
{
	struct buffer body = {0};
	size_t begin = b->size;
	int result = 0;

	s->sections[s->nsections].option = id;
	s->sections[s->nsections++].offset = begin;
	if (body_of(s, id, &body) || section_header(s, id, is_packed(s), body.size, b))
		result = error_no_memory(e);
	else if (is_packed(s))
		result = tracecmd_pack(s, body.data, body.size, b, e);
	else if (buffer_append(b, body.data, body.size))
		result = error_no_memory(e);
	buffer_free(&body);
	if (!result)
		tracecmd_put_uint(b->data + begin + 8, b->size - begin - TRACECMD_SECTION_HEADER, 8,
				  s->big_endian);
	return result;
}

static int add_sections(struct tracecmd_state *s, struct buffer *b, struct error *e)
{
	for (uint16_t id = TRACECMD_HEADER_INFO; id <= TRACECMD_CMDLINES; id++)
		if (add_section(s, id, b, e))
			return -1;
	if (s->parts[PART_BTF].size && add_section(s, TRACECMD_BTF, b, e))
		return -1;
	return s->parts[PART_MODULES].size ? add_section(s, TRACECMD_MODULES, b, e) : 0;
}

static int option_buffer(const struct tracecmd_state *s, const struct tracecmd_out_buffer *x,
			 struct buffer *b)
{
	size_t begin = b->size;

	if (tracecmd_number(s, b, x->text ? TRACECMD_BUFFER_TEXT : TRACECMD_BUFFER, 2) ||
	    tracecmd_number(s, b, 0, 4) || tracecmd_number(s, b, x->offset, 8) ||
	    tracecmd_write_put_text(b, x->name) || tracecmd_write_put_text(b, x->clock))
		return -1;
	if (!x->text &&
	    (tracecmd_number(s, b, x->page_size, 4) || tracecmd_number(s, b, x->count, 4)))
		return -1;
	for (size_t i = 0; !x->text && i < x->count; i++) {
		const struct tracecmd_stream *r = s->order[x->first + i];

		if (tracecmd_number(s, b, r->cpu, 4) || tracecmd_number(s, b, r->offset, 8) ||
		    tracecmd_number(s, b, r->size, 8))
			return -1;
	}
	tracecmd_put_uint(b->data + begin + 2, b->size - begin - 6, 4, s->big_endian);
	return 0;
}

/* Append the only list of options, which ends the chain. */
static int options_v7(const struct tracecmd_state *s, struct buffer *b)
{
	size_t begin = b->size;

	if (section_header(s, TRACECMD_DONE, false, 0, b))
		return -1;
	for (size_t i = 0; i < s->nsections; i++)
		if (tracecmd_number(s, b, s->sections[i].option, 2) ||
		    tracecmd_number(s, b, 8, 4) || tracecmd_number(s, b, s->sections[i].offset, 8))
			return -1;
	if (tracecmd_options(s, b))
		return -1;
	for (size_t i = 0; i < s->nbuffers; i++)
		if (option_buffer(s, &s->buffers[i], b))
			return -1;
	if (tracecmd_number(s, b, TRACECMD_DONE, 2) || tracecmd_number(s, b, 8, 4) ||
	    tracecmd_number(s, b, 0, 8))
		return -1;
	tracecmd_put_uint(b->data + begin + 8, b->size - begin - TRACECMD_SECTION_HEADER, 8,
			  s->big_endian);
	return 0;
}

static int write_buffer_v7(struct tracecmd_state *s, const struct tracecmd_out_buffer *x,
			   uint64_t end, struct output *o, struct buffer *b, struct error *e)
{
	b->size = 0;
	if (section_header(s, x->text ? TRACECMD_BUFFER_TEXT : TRACECMD_BUFFER, is_packed(s),
			   end - x->offset - TRACECMD_SECTION_HEADER, b))
		return error_no_memory(e);
	return output_write(o, b->data, b->size, e) || write_data(s, x, o, e) ? -1 : 0;
}

static int write_v7(struct tracecmd_state *s, struct output *o, struct buffer *b, struct error *e)
{
	static const char *const names[] = {"none", "zlib", "zstd"};
	size_t options_at, options;
	uint64_t at;

	if (append_prefix(s, b) || tracecmd_write_put_text(b, names[s->packer.method]) ||
	    tracecmd_write_put_text(b, s->compression_version))
		return error_no_memory(e);
	options_at = b->size;
	if (tracecmd_number(s, b, 0, 8) || add_sections(s, b, e))
		return b->size == options_at ? error_no_memory(e) : -1;
	options = b->size;
	tracecmd_put_uint(b->data + options_at, options, 8, s->big_endian);
	if (options_v7(s, b))
		return error_no_memory(e);
	at = b->size;
	for (size_t i = 0; i < s->nbuffers; i++) {
		s->buffers[i].offset = at;
		at = assign_data(s, &s->buffers[i], at + TRACECMD_SECTION_HEADER);
	}
	b->size = options;
	if (options_v7(s, b))
		return error_no_memory(e);
	if (output_write(o, b->data, b->size, e))
		return -1;
	for (size_t i = 0; i < s->nbuffers; i++)
		if (write_buffer_v7(s, &s->buffers[i],
				    i + 1 < s->nbuffers ? s->buffers[i + 1].offset : at, o, b, e))
			return -1;
	return 0;
}

/* Write the file, at the end of the stream. */
static int tracecmd_write(struct tracecmd_state *s, struct output *to, struct error *e)
{
	struct buffer b = {0};
	int result = s->version == 6 ? write_v6(s, to, &b, e) : write_v7(s, to, &b, e);

	buffer_free(&b);
	return result;
}

/*
 * The encoder of trace-cmd's trace.dat, versions 6 and 7.
 *
 * The input is the stream of a trace.dat, filtered or not. Texts, formats and options are the
 * source's; the pages of the ring buffers are written again.
 */

enum { PART_LIMIT = 1 << 30, TEXT_PIECE = 40 * 1024 };

static const char *const part_names[PARTS] = {
	[PART_FILE] = "file",
	[PART_BUFFERS] = "buffers",
	[PART_HEADER_PAGE] = "header_page",
	[PART_HEADER_EVENT] = "header_event",
	[PART_KALLSYMS] = "kallsyms",
	[PART_PRINTK] = "printk_formats",
	[PART_CMDLINES] = "saved_cmdlines",
	[PART_OPTIONS] = "options",
	[PART_FORMATS] = "formats",
	[PART_BTF] = "btf",
	[PART_MODULES] = "modules",
};

static int tracecmd_write_begin(struct encoding *en, struct error *e)
{
	const struct pack_choice *c = &en->options->compress;
	struct tracecmd_state *s = calloc(1, sizeof *s);

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->streams.element = sizeof(struct tracecmd_stream);
	s->spool.fd = -1;
	if (c->given && c->kind != PACK_NONE && c->kind != PACK_ZLIB && c->kind != PACK_ZSTD)
		return error_set(e, NULL, NO_OFFSET,
				 "a trace.dat is compressed with zlib or zstd, or not (none)");
	if (en->options->file_version && en->options->file_version < 6)
		return error_set(e, NULL, NO_OFFSET, "--file-version of a trace.dat is 6 or 7");
	if (en->options->file_version == 6 && c->given && c->kind != PACK_NONE)
		return error_set(e, NULL, NO_OFFSET,
				 "version 6 of trace.dat is never compressed (--compress)");
	return 0;
}

static int tracecmd_write_check_source(struct tracecmd_state *s, const struct source *source,
				       struct error *e)
{
	if (source == s->source && source)
		return 0;
	if (!source || strcmp(source->format.text, "trace-cmd") != 0)
		return error_set(e, source ? source->name.text : NULL, NO_OFFSET,
				 "events of %s follow events of a trace.dat: --resynthesize writes "
				 "one trace.dat of both",
				 source ? source->format.text : "an unknown source");
	if (s->source)
		return error_set(e, source->name.text, NO_OFFSET,
				 "several traces with different event ids cannot be written as one "
				 "trace.dat: use --resynthesize");
	s->source = source;
	return 0;
}

static int tracecmd_write_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct tracecmd_state *s = en->state;
	const struct source *source = meta_source(en->dictionary, m);
	size_t i = 0;

	if (!source)
		return 0;
	if (source != s->source && tracecmd_write_check_source(s, source, e))
		return -1;
	if (s->begun)
		return 0;
	while (i < PARTS && !meta_is(m, part_names[i]))
		i++;
	if (i == PARTS)
		return 0;
	if (!m->offset)
		s->parts[i].size = 0;
	if (m->offset != s->parts[i].size || !m->size)
		return 0;
	if (m->size > PART_LIMIT - s->parts[i].size)
		return error_set(e, source->name.text, NO_OFFSET, "'%s' of the trace is too large",
				 part_names[i]);
	return buffer_append(&s->parts[i], m->data, m->size) ? error_no_memory(e) : 0;
}

/* --- events --- */

static int tracecmd_write_put_pages(void *context, const void *pages, size_t n, struct error *e)
{
	return tracecmd_spool_add(context, pages, n, e);
}

static struct tracecmd_stream *new_stream(struct tracecmd_state *s, const struct lane *lane,
					  bool text)
{
	struct {
		uint32_t buffer, cpu, text;
	} key = {0};
	struct tracecmd_stream *x;
	uint32_t number;

	key.buffer = tracecmd_buffer_number(s, lane->buffer.text,
					    lane->clock ? lane->clock->name.text : "");
	key.cpu = lane->flags & LANE_HAS_CPU && !text ? (uint32_t)lane->cpu : 0;
	key.text = text;
	if (key.buffer == INTERN_NONE)
		return NULL;
	number = intern(&s->keys, &key, sizeof key);
	if (number == INTERN_NONE)
		return NULL;
	if (number < s->streams.count)
		return pool_at(&s->streams, number);
	x = pool_add(&s->streams);
	if (!x)
		return NULL;
	x->buffer = key.buffer;
	x->cpu = key.cpu;
	x->text = text;
	x->state = s;
	x->pages.put = tracecmd_write_put_pages;
	x->pages.context = x;
	x->pages.big_endian = s->big_endian;
	x->pages.word = s->source->word_size == 4 ? 4 : 8;
	x->pages.page_size = alignment(s, &s->buffers[key.buffer]);
	return x;
}

static int tracecmd_write_stream_of(struct tracecmd_state *s, const struct lane *lane, bool text,
				    struct tracecmd_stream **out, struct error *e)
{
	struct tracecmd_stream **at;

	if (ARRAY_REACH(s->lanes, s->lanes_size, lane->number))
		return error_no_memory(e);
	at = text ? &s->lanes[lane->number].text : &s->lanes[lane->number].data;
	if (!*at) {
		*at = new_stream(s, lane, text);
		if (!*at)
			return s->nbuffers < TRACECMD_BUFFERS_MOST
				       ? error_no_memory(e)
				       : error_set(e, NULL, NO_OFFSET,
						   "a trace.dat of more than %d buffers",
						   TRACECMD_BUFFERS_MOST);
	}
	*out = *at;
	return 0;
}

/* Test whether the lane has a CPU whose number keeps the tables of CPUs small. */
static bool has_cpu(const struct lane *lane)
{
	return lane->flags & LANE_HAS_CPU && (uint32_t)lane->cpu < TRACECMD_CPUS_MOST;
}

/* Test whether the events are lines of a latency trace, which have no id. */
static bool is_line(const struct type *t)
{
	return !t->native && !t->declaration.size && tracecmd_is_text(t->name.text) &&
	       !strcmp(t->group.text, "ftrace");
}

static int tracecmd_write_take_line(struct tracecmd_state *s, const struct event *ev,
				    struct error *e)
{
	struct tracecmd_stream *x;
	struct buffer *b;

	if (tracecmd_write_stream_of(s, ev->lane, true, &x, e))
		return -1;
	b = &x->pages.data;
	if ((ev->tail_size && buffer_append(b, ev->tail, ev->tail_size)) || buffer_u8(b, '\n'))
		return error_no_memory(e);
	if (b->size < TEXT_PIECE)
		return 0;
	if (tracecmd_spool_add(x, b->data, b->size, e))
		return -1;
	b->size = 0;
	return 0;
}

/* Get the time in the ring buffer. The output keeps the options that readers apply to it. */
static uint64_t raw_time(const struct tracecmd_state *s, const struct event *ev)
{
	const struct type *t = ev->type;

	if (t->fixed_size >= 8 && t->nfields && t->fields[0].role == ROLE_SOURCE_TIME &&
	    t->fields[0].where == WHERE_FIXED && t->fields[0].size == 8 && !t->fields[0].offset)
		return get_u64(ev->fixed);
	return ev->time - (uint64_t)s->time_added;
}

static int tracecmd_write_take_gap(struct tracecmd_state *s, const struct event *ev,
				   struct error *e)
{
	struct tracecmd_stream *x;
	struct gap_row g;

	if (!gap_get(ev, &g) || !has_cpu(ev->lane))
		return 0;
	if (tracecmd_write_stream_of(s, ev->lane, false, &x, e))
		return -1;
	if (!x->pages.open && !x->pieces.count && !x->pages.data.size)
		x->pages.time = ev->time - (uint64_t)s->time_added;
	return tracecmd_pages_lost(&x->pages, g.unit == GAP_EVENTS ? g.count : UINT64_MAX, e);
}

static int tracecmd_write_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct tracecmd_state *s = en->state;
	struct tracecmd_stream *x;
	int got;

	if (ev->lane->source != s->source && tracecmd_write_check_source(s, ev->lane->source, e))
		return -1;
	if (!s->begun && tracecmd_take_source(s, en->options, e))
		return -1;
	if (__builtin_expect(ev->type->kind == KIND_GAP, 0))
		return tracecmd_write_take_gap(s, ev, e);
	if (__builtin_expect(!ev->type->native, 0) && is_line(ev->type))
		return tracecmd_write_take_line(s, ev, e);
	if (!ev->tail_size || !has_cpu(ev->lane)) {
		s->unfit++;
		return 0;
	}
	if (tracecmd_write_stream_of(s, ev->lane, false, &x, e))
		return -1;
	got = tracecmd_pages_record(&x->pages, raw_time(s, ev), ev->tail, ev->tail_size, e);
	s->unfit += got > 0;
	return got < 0 ? -1 : 0;
}

/* --- the end --- */

static int by_buffer_and_cpu(const void *a, const void *b)
{
	const struct tracecmd_stream *x = *(struct tracecmd_stream *const *)a,
				     *y = *(struct tracecmd_stream *const *)b;

	return x->buffer != y->buffer ? (x->buffer > y->buffer) - (x->buffer < y->buffer)
				      : (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* Move the remaining data to the spool, and sort the streams in the order of the file. */
static int finish_streams(struct tracecmd_state *s, struct error *e)
{
	uint64_t mixed = 0;
	size_t n = 0;

	s->order = calloc(s->streams.count + (size_t)1, sizeof *s->order);
	if (!s->order)
		return error_no_memory(e);
	for (uint32_t i = 0; i < s->streams.count; i++) {
		struct tracecmd_stream *x = pool_at(&s->streams, i);
		struct buffer *b = &x->pages.data;

		if (!x->text ? tracecmd_pages_end(&x->pages, e)
			     : b->size && tracecmd_spool_add(x, b->data, b->size, e))
			return -1;
		buffer_free(b);
		if (x->text)
			s->buffers[x->buffer].text = true;
	}
	for (uint32_t i = 0; i < s->streams.count; i++) {
		struct tracecmd_stream *x = pool_at(&s->streams, i);

		/* a buffer has either text or data */
		if (x->text == s->buffers[x->buffer].text && x->pieces.count)
			s->order[n++] = x;
		else
			mixed += x->pieces.count > 0;
	}
	if (mixed)
		remark(NULL, "events beside the text of a latency trace are left out");
	qsort(s->order, n, sizeof(struct tracecmd_stream *), by_buffer_and_cpu);
	for (size_t i = 0; i < n; i++) {
		struct tracecmd_out_buffer *b = &s->buffers[s->order[i]->buffer];

		if (!b->count++)
			b->first = i;
		if (s->order[i]->cpu >= s->cpus)
			s->cpus = s->order[i]->cpu + 1;
	}
	return 0;
}

static uint64_t tracecmd_size(const struct encoding *en)
{
	const struct tracecmd_state *s = en->state;
	uint64_t size = s->spool.size;

	for (uint32_t i = 0; i < s->streams.count; i++)
		size += ((const struct tracecmd_stream *)pool_at(&s->streams, i))->pages.data.size;
	return size;
}

static int tracecmd_write_end(struct encoding *en, struct error *e)
{
	struct tracecmd_state *s = en->state;

	if (!s->source)
		return error_set(e, NULL, NO_OFFSET,
				 "the stream has no events of a trace.dat: nothing to write");
	if (!s->begun && tracecmd_take_source(s, en->options, e))
		return -1;
	if (finish_streams(s, e) || tracecmd_write(s, en->out, e))
		return -1;
	for (size_t i = 0;
	     i < s->nbuffers && s->offset_added && !(en->options->flags & ENCODE_QUIET); i++)
		if (s->buffers[i].text) {
			remark(NULL,
			       "the offset of %" PRId64
			       " ns is not applied to a latency trace, which is text",
			       s->offset_added);
			break;
		}
	if (!(en->options->flags & ENCODE_QUIET))
		remark_count(s->unfit,
			     "{event that a trace.dat cannot contain is|events that a trace.dat "
			     "cannot contain are} left out");
	return 0;
}

static void tracecmd_free(struct encoding *en)
{
	struct tracecmd_state *s = en->state;

	if (!s)
		return;
	for (size_t i = 0; i < PARTS; i++)
		buffer_free(&s->parts[i]);
	for (size_t i = 0; i < s->nbuffers; i++) {
		free(s->buffers[i].name);
		free(s->buffers[i].clock);
	}
	for (uint32_t i = 0; i < s->streams.count; i++) {
		struct tracecmd_stream *x = pool_at(&s->streams, i);

		buffer_free(&x->pages.data);
	}
	free(s->buffers);
	pool_free(&s->streams);
	intern_free(&s->keys);
	free(s->order);
	free(s->lanes);
	if (s->spool.fd >= 0)
		close(s->spool.fd);
	buffer_free(&s->spool.piece);
	ZSTD_freeCCtx(s->packer.zstd);
	free(s);
}

const struct encoder encoder_tracecmd = {
	.name = "trace-cmd",
	.purpose = "a trace.dat of trace-cmd",
	.suffixes = ".dat",
	.conversion = &tracecmd_target,
	.needs_meta = true,
	.output = ENCODER_FILE,
	.begin = tracecmd_write_begin,
	.meta = tracecmd_write_meta,
	.event = tracecmd_write_event,
	.end = tracecmd_write_end,
	.size = tracecmd_size,
	.free = tracecmd_free,
};
