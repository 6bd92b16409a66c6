/*
 * ring.c - the kernel's ring buffer, and files of its pages
 */
#include "common/ftrace/ring.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "common/util/output.h"
#include "common/util/lines.h"
#include "common/util/memory.h"
#include "common/formats/tracecmd.h"

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

static int ring_unpack_no_memory(const char **what)
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
		return ring_unpack_no_memory(what);
	while (result == Z_OK && out->size < want) {
		size_t space = unpack_room(out, want);

		if (!space) {
			inflateEnd(&z);
			return ring_unpack_no_memory(what);
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
		return ring_unpack_no_memory(what);
	if ((result == Z_OK || result == Z_STREAM_END) && out->size == want)
		return 0;
	*what = "compressed data (zlib) is damaged";
	return -1;
}

static int ring_unpack_zstd(struct tracecmd_unpacker *u, const uint8_t *data, size_t n, size_t want,
			    struct buffer *out, const char **what)
{
	ZSTD_inBuffer in = {data, n, 0};

	if (!u->zstd)
		u->zstd = ZSTD_createDCtx();
	if (!u->zstd)
		return ring_unpack_no_memory(what);
	ZSTD_DCtx_reset(u->zstd, ZSTD_reset_session_only);
	ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	while (out->size < want) {
		size_t space = unpack_room(out, want), left;
		ZSTD_outBuffer to = {out->data + out->size, space, 0};

		if (!space)
			return ring_unpack_no_memory(what);
		left = ZSTD_decompressStream(u->zstd, &to, &in);
		out->size += to.pos;
		if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
			return ring_unpack_no_memory(what);
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
		return ring_unpack_zstd(u, data, n, want, out, what);
	*what = "compressed in a way that is not known";
	return -1;
}

void tracecmd_unpacker_free(struct tracecmd_unpacker *u)
{
	ZSTD_freeDCtx(u->zstd);
	u->zstd = NULL;
}

/* --- file --- */

enum { COPY = 256 * 1024, TEXT_PIECE = 256 };

static int spool_to(struct tracecmd_file *f, int from, const uint8_t *head, size_t n,
		    uint8_t *piece, struct error *e)
{
	const uint8_t *data = head;
	ssize_t got = (ssize_t)n;

	do {
		if (temporary_write(f->fd, data, (size_t)got, f->size, e))
			return -1;
		f->size += (uint64_t)got;
		data = piece;
		got = io_read(from, piece, COPY);
	} while (got > 0);
	return got < 0 ? error_errno(e, f->name, f->size, "cannot read") : 0;
}

static int spool_pipe(struct tracecmd_file *f, int from, const uint8_t *head, size_t n,
		      struct error *e)
{
	uint8_t *piece;
	int result;

	f->fd = temporary_open(e);
	if (f->fd < 0)
		return -1;
	f->own = true;
	piece = malloc(COPY);
	if (!piece)
		return error_no_memory(e);
	result = spool_to(f, from, head, n, piece, e);
	free(piece);
	return result;
}

int tracecmd_file_open(struct tracecmd_file *f, const char *name, int fd, const uint8_t *head,
		       size_t n, struct error *e)
{
	struct stat st;

	*f = (struct tracecmd_file){.name = name, .fd = fd};
	if (fstat(fd, &st))
		return error_errno(e, name, NO_OFFSET, "cannot read");
	/* if the offset is not that after the head, another process has moved it */
	if (S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == (off_t)n) {
		f->size = (uint64_t)st.st_size;
		return 0;
	}
	return spool_pipe(f, fd, head, n, e);
}

void tracecmd_file_close(struct tracecmd_file *f)
{
	if (f->own)
		close(f->fd);
	f->own = false;
}

ssize_t tracecmd_file_read(const struct tracecmd_file *f, void *data, size_t n, uint64_t offset,
			   struct error *e)
{
	ssize_t got;

	if (offset >= f->size)
		return 0;
	if (n > f->size - offset)
		n = (size_t)(f->size - offset);
	got = io_read_at(f->fd, data, n, f->base + offset);
	return got < 0 ? error_errno(e, f->name, offset, "cannot read") : got;
}

static int cursor_ends(const struct ring_cursor *c, struct error *e)
{
	return error_set(e, c->file->name, cursor_offset(c), "the file ends too early");
}

int cursor_bytes(struct ring_cursor *c, void *data, size_t n, struct error *e)
{
	ssize_t got;

	if (n > cursor_left(c))
		return cursor_ends(c, e);
	if (c->mem) {
		memcpy(data, c->mem + c->pos, n);
	} else {
		got = tracecmd_file_read(c->file, data, n, c->base + c->pos, e);
		if (got < 0)
			return -1;
		if ((size_t)got < n)
			return cursor_ends(c, e);
	}
	c->pos += n;
	return 0;
}

int cursor_number(struct ring_cursor *c, unsigned size, uint64_t *number, struct error *e)
{
	uint8_t bytes[8];

	*number = 0;
	if (cursor_bytes(c, bytes, size, e))
		return -1;
	*number = get_uint(bytes, size, c->big_endian);
	return 0;
}

int cursor_append(struct ring_cursor *c, struct buffer *b, uint64_t n, struct error *e)
{
	if (n > cursor_left(c))
		return cursor_ends(c, e);
	if (buffer_reserve(b, (size_t)n + 1))
		return error_no_memory(e);
	if (cursor_bytes(c, b->data + b->size, (size_t)n, e))
		return -1;
	b->size += (size_t)n;
	b->data[b->size] = '\0';
	return 0;
}

int cursor_text(struct ring_cursor *c, struct buffer *b, size_t limit, struct error *e)
{
	size_t before = b->size;

	for (;;) {
		size_t n = TEXT_PIECE, had = b->size;
		const uint8_t *nul;

		if (n > cursor_left(c))
			n = (size_t)cursor_left(c);
		if (!n || cursor_append(c, b, n, e))
			return n ? -1 : cursor_ends(c, e);
		nul = memchr(b->data + had, 0, n);
		if (nul) {
			c->pos -= n - (size_t)(nul - (b->data + had)) - 1;
			b->size = (size_t)(nul - b->data);
			return 0;
		}
		if (b->size - before > limit)
			return error_set(e, c->file->name, cursor_offset(c),
					 "a name without an end");
	}
}

/* --- ring --- */

static int ring_damaged(struct ring_page *p, const char *what)
{
	p->what = what;
	p->end = p->at;
	return -1;
}

int ring_page_begin(struct ring_page *p, const struct ring_layout *layout, const uint8_t *page,
		    size_t n, size_t page_size)
{
	bool big = layout->big_endian;
	uint64_t commit;
	uint32_t flags;
	size_t size;

	*p = (struct ring_page){.begin = page, .at = page, .end = page, .big_endian = big};
	if (n < layout->data)
		return ring_damaged(p, "the file ends inside a sub-buffer's header");
	p->time = get_uint(page, 8, big);
	commit = get_uint(page + 8, layout->long_size, big);
	flags = (uint32_t)commit;
	size = flags & RING_COMMIT_MASK;
	p->begin = p->at = p->end = page + layout->data;
	/* the end of the records cannot be known then */
	if (size > page_size - layout->data)
		return ring_damaged(p, "a sub-buffer with more data than its size");
	n -= layout->data;
	p->end = p->at + (size < n ? size : n);
	p->cut = size > n;
	if (flags & RING_MISSED) {
		p->missed = UINT64_MAX;
		if (flags & RING_MISSED_SIZE && !p->cut && n - size >= layout->long_size)
			p->missed = get_uint(p->end, layout->long_size, big);
	}
	return 0;
}

static uint32_t ring_word(const struct ring_page *p, const uint8_t *at)
{
	return (uint32_t)get_uint(at, 4, p->big_endian);
}

/* Complete the 59 bits of an absolute time with the upper bits of the last time. */
static uint64_t ring_absolute(uint64_t now, uint64_t low)
{
	const uint64_t bits = (1ull << 59) - 1;
	uint64_t time = (now & ~bits) | (low & bits);

	/* far below the last time: the 59 bits have wrapped */
	return time < now && now - time > bits / 2 ? time + bits + 1 : time;
}

/* End the page in the middle of a record that needs more bytes. */
static int ring_too_short(struct ring_page *p)
{
	return ring_damaged(p, p->cut ? "the file ends inside a sub-buffer"
				      : "a record reaches beyond its sub-buffer");
}

int ring_next_special(struct ring_page *p, struct ring_record *r)
{
	while (p->end - p->at >= 4) {
		size_t left = (size_t)(p->end - p->at) - 4, size;
		uint32_t w = ring_word(p, p->at), kind = p->big_endian ? w >> 27 : w & 31,
			 delta = p->big_endian ? w & 0x7ffffff : w >> 5, next;

		if (kind == RING_PADDING && !delta) {
			p->at = p->end;
			return 0;
		}
		if (kind && kind < RING_PADDING) {
			size = 4 * kind;
			if (size > left)
				return ring_too_short(p);
			p->time += delta;
			*r = (struct ring_record){p->time, p->at + 4, (uint32_t)size};
			p->at += 4 + size;
			return 1;
		}
		if (left < 4)
			return ring_too_short(p);
		next = ring_word(p, p->at + 4);
		switch (kind) {
		case RING_TIME_EXTEND:
			p->time += (uint64_t)next << 27 | delta;
			p->at += 8;
			continue;
		case RING_TIME_STAMP:
			p->time = ring_absolute(p->time, (uint64_t)next << 27 | delta);
			p->at += 8;
			continue;
		case RING_PADDING:
			size = align_up(next, 4);
			if (size > left)
				return ring_too_short(p);
			p->time += delta;
			p->at += 4 + size;
			continue;
		}
		/* RING_LONG: the length includes its own 4 bytes */
		size = align_up(next, 4);
		if (size < 4 || size > left)
			return ring_too_short(p);
		p->time += delta;
		*r = (struct ring_record){p->time, p->at + 8, (uint32_t)size - 4};
		p->at += 4 + size;
		return 1;
	}
	if (p->cut)
		return ring_damaged(p, "the file ends inside a sub-buffer");
	return 0;
}

/* Parse the number after "offset:" or "size:" in a line. Return false if there is none. */
static bool number_after(const char *line, const char *end, const char *key, uint32_t *number)
{
	size_t n = strlen(key);

	for (const char *p = line; (size_t)(end - p) > n; p++) {
		uint32_t v = 0;
		const char *q = p + n;

		if (memcmp(p, key, n))
			continue;
		for (; q < end && *q >= '0' && *q <= '9' && v < 100000000; q++)
			v = v * 10 + (uint32_t)(*q - '0');
		*number = v;
		return q > p + n;
	}
	return false;
}

/* Test whether this is the line of the field with that name. ";" follows the name. */
static bool line_names(const char *line, const char *end, const char *name)
{
	size_t n = strlen(name);
	const char *semicolon = memchr(line, ';', (size_t)(end - line));

	return semicolon && (size_t)(semicolon - line) > n && !memcmp(semicolon - n, name, n) &&
	       (semicolon[-1 - (ptrdiff_t)n] == ' ' || semicolon[-1 - (ptrdiff_t)n] == '\t');
}

bool ring_layout_parse(struct ring_layout *layout, const char *text, size_t n, bool big_endian,
		       uint8_t word_size, uint32_t *data_size)
{
	uint32_t commit = 0, at = 0, data = 0, size = 0, commit_at = 0;
	bool good;

	for (struct lines l = lines_of(text, n); lines_next(&l);) {
		const char *end = l.line + l.size;

		if (line_names(l.line, end, "commit")) {
			number_after(l.line, end, "offset:", &commit_at);
			number_after(l.line, end, "size:", &commit);
		} else if (line_names(l.line, end, "data")) {
			number_after(l.line, end, "offset:", &data);
			number_after(l.line, end, "size:", &size);
		} else if (line_names(l.line, end, "timestamp")) {
			number_after(l.line, end, "size:", &at);
		}
	}
	good = at == 8 && commit_at == 8 && (commit == 4 || commit == 8) && data == 8 + commit &&
	       size <= 1 << 26;
	if (!good) {
		commit = word_size == 4 ? 4 : 8;
		data = 8 + commit;
		size = 0;
	}
	*layout = (struct ring_layout){big_endian, (uint8_t)commit, data};
	*data_size = size;
	return good;
}

/* --- cpu data --- */

/* trace-cmd packs ten pages to a chunk. */
enum { CHUNK_LIMIT = 64 << 20 };

void cpu_data_begin(struct cpu_data *c, uint64_t offset, uint64_t size, uint32_t page_size,
		    uint32_t read_ahead)
{
	c->offset = offset;
	c->end = offset + size;
	c->page_size = page_size;
	c->read_ahead = read_ahead < page_size ? page_size : read_ahead / page_size * page_size;
}

void cpu_data_free(struct cpu_data *c)
{
	buffer_free(&c->window);
}

/* Note damage. Of several before one record, the first is reported. */
static void cpu_damage(struct cpu_data *c, uint64_t offset, const char *what)
{
	if (c->damaged)
		return;
	c->damaged = true;
	error_set(&c->damage, c->file->name, offset, "%s", what);
}

static int read_window(struct cpu_data *c, size_t n, struct buffer *to, struct error *e)
{
	ssize_t got;

	to->size = 0;
	if (buffer_reserve(to, n + 1))
		return error_no_memory(e);
	got = tracecmd_file_read(c->file, to->data, n, c->offset, e);
	if (got < 0)
		return -1;
	to->size = (size_t)got;
	c->offset += (uint64_t)got;
	return 0;
}

static int next_plain(struct cpu_data *c, struct error *e)
{
	uint64_t left = c->end - c->offset;

	if (!left)
		return 0;
	c->chunk_offset = c->offset;
	if (read_window(c, left < c->read_ahead ? (size_t)left : c->read_ahead, &c->window, e))
		return -1;
	if (!c->window.size) {
		cpu_damage(c, c->offset, "the file ends inside a CPU's data");
		c->end = c->offset;
		return 0;
	}
	return 1;
}

/* End the CPU's data: nothing can be found after damaged lengths. */
static int cpu_give_up(struct cpu_data *c, const char *what)
{
	cpu_damage(c, c->offset, what);
	c->chunks = 0;
	c->offset = c->end;
	return 0;
}

static int ring_read_number(struct cpu_data *c, uint32_t *number, struct error *e)
{
	uint8_t bytes[4];
	ssize_t got =
		c->end - c->offset < 4 ? 0 : tracecmd_file_read(c->file, bytes, 4, c->offset, e);

	if (got < 0)
		return -1;
	if (got < 4)
		return cpu_give_up(c, "the file ends inside a CPU's data");
	*number = (uint32_t)get_uint(bytes, 4, c->layout.big_endian);
	c->offset += 4;
	return 1;
}

static int next_chunk(struct cpu_data *c, struct error *e)
{
	uint32_t packed, size, count;
	const char *what;
	int got;

	if (!c->started) {
		c->started = true;
		got = ring_read_number(c, &count, e);
		if (got <= 0)
			return got;
		c->chunks = count;
	}
	if (!c->chunks)
		return 0;
	c->chunks--;
	c->chunk_offset = c->offset;
	got = ring_read_number(c, &packed, e);
	if (got > 0)
		got = ring_read_number(c, &size, e);
	if (got <= 0)
		return got;
	if (packed > c->end - c->offset && c->end < c->file->size)
		return cpu_give_up(c, "compressed data reach beyond those of their CPU");
	if (size > CHUNK_LIMIT)
		return cpu_give_up(c, "compressed data of more than 64 MiB in one piece");
	if (packed > c->end - c->offset) {
		packed = (uint32_t)(c->end - c->offset);
		c->chunks = 0;
		cpu_damage(c, c->file->size, "the file ends inside compressed data");
	}
	if (read_window(c, packed, c->packed, e))
		return -1;
	if (tracecmd_unpack(c->unpacker, c->packed->data, c->packed->size, size, &c->window,
			    &what)) {
		cpu_damage(c, c->chunk_offset, what);
		/* whole pages before the damage are valid */
		c->window.size -= c->window.size % c->page_size;
	}
	return 1;
}

bool cpu_data_chunk(const struct cpu_data *c, uint64_t offset, struct buffer *to, uint64_t *next)
{
	uint8_t lengths[8];
	uint32_t packed, size;
	const char *what;
	struct error e;

	if (offset > c->end || c->end - offset < 8 ||
	    tracecmd_file_read(c->file, lengths, 8, offset, &e) != 8)
		return false;
	packed = (uint32_t)get_uint(lengths, 4, c->layout.big_endian);
	size = (uint32_t)get_uint(lengths + 4, 4, c->layout.big_endian);
	if (packed > c->end - offset - 8 || size > CHUNK_LIMIT)
		return false;
	*next = offset + 8 + packed;
	if (!to)
		return true;
	c->packed->size = 0;
	if (buffer_reserve(c->packed, (size_t)packed + 1) ||
	    tracecmd_file_read(c->file, c->packed->data, packed, offset + 8, &e) != packed)
		return false;
	return !tracecmd_unpack(c->unpacker, c->packed->data, packed, size, to, &what);
}

static uint64_t page_offset(const struct cpu_data *c)
{
	/* the offset of the chunk: packed data have no offset of their own */
	return c->unpacker ? c->chunk_offset
			   : c->chunk_offset + (uint64_t)(c->page_begin - c->window.data);
}

static void count_missed(struct cpu_data *c, uint64_t missed)
{
	if (!missed)
		return;
	if (missed == UINT64_MAX || c->missed == UINT64_MAX || missed > UINT64_MAX - 1 - c->missed)
		c->missed = UINT64_MAX;
	else
		c->missed += missed;
}

int cpu_data_bytes(struct cpu_data *c, struct error *e)
{
	int got;

	do
		got = c->unpacker ? next_chunk(c, e) : next_plain(c, e);
	while (got > 0 && !c->window.size);
	return got;
}

int cpu_data_page(struct cpu_data *c, struct ring_record *r, struct error *e)
{
	int got;

	for (;;) {
		size_t n;

		if (c->page.what)
			cpu_damage(
				c,
				page_offset(c) +
					(c->unpacker ? 0 : (uint64_t)(c->page.at - c->page_begin)),
				c->page.what);
		c->page = (struct ring_page){0};
		if (c->at >= c->window.size) {
			got = cpu_data_bytes(c, e);
			c->at = 0;
			if (got <= 0) {
				c->window.size = 0;
				return got;
			}
		}
		n = c->window.size - c->at;
		if (n > c->page_size)
			n = c->page_size;
		c->page_begin = c->window.data + c->at;
		c->at += n;
		if (!ring_page_begin(&c->page, &c->layout, c->page_begin, n, c->page_size)) {
			count_missed(c, c->page.missed);
			if (ring_next(&c->page, r) > 0)
				return 1;
		}
	}
}
