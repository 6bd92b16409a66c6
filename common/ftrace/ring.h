/*
 * ring.h - the kernel's ring buffer, and files of its pages
 */
#ifndef TR_FTRACE_RING_H
#define TR_FTRACE_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"

/*
 * Read the records of one sub-buffer ("page") of the kernel's ring buffer.
 *
 * Works on memory alone; no byte outside of those given is read, whatever the page contains. Used
 * for trace.dat and for uftrace's kernel-cpu*.dat.
 */

/*
 * A trace.dat as a file that is read at offsets, and cursors through its parts.
 *
 * Functions return -1 with *e filled where they fail.
 */

struct tracecmd_file {
	const char *name;
	int fd;
	bool own;      /* fd is the temporary copy of a pipe */
	uint64_t base; /* bytes of fd before the file, which may be a member of an archive */
	uint64_t size;
};

/*
 * Open a file. A regular file is read through fd; the data of a pipe, with the n bytes of head that
 * were taken from it, are first copied to an unlinked file in $TMPDIR (default /tmp). Fails if the
 * data cannot be read or copied.
 */
int tracecmd_file_open(struct tracecmd_file *f, const char *name, int fd, const uint8_t *head,
		       size_t n, struct error *e);
void tracecmd_file_close(struct tracecmd_file *f);

/* Read the bytes of [offset, offset + n) that the file has. Returns how many, or -1 if reading
 * failed. */
ssize_t tracecmd_file_read(const struct tracecmd_file *f, void *data, size_t n, uint64_t offset,
			   struct error *e);

/*
 * A position in a part of the file, or in an unpacked section (mem not NULL). The functions below
 * fail where the part does not have so many bytes.
 */
struct ring_cursor {
	const struct tracecmd_file *file;
	const uint8_t *mem;
	uint64_t base; /* offset of pos 0 in the file; with mem, offset of its section */
	uint64_t pos, size;
	bool big_endian;
};

static inline uint64_t cursor_left(const struct ring_cursor *c)
{
	return c->size - c->pos;
}

/* Get the file's offset for messages. */
static inline uint64_t cursor_offset(const struct ring_cursor *c)
{
	return c->mem ? c->base : c->base + c->pos;
}

int cursor_bytes(struct ring_cursor *c, void *data, size_t n, struct error *e);
/* Read a number of 1, 2, 4 or 8 bytes. */
int cursor_number(struct ring_cursor *c, unsigned size, uint64_t *number, struct error *e);
/* Append n bytes, and a NUL that does not count. */
int cursor_append(struct ring_cursor *c, struct buffer *b, uint64_t n, struct error *e);
/* Append text up to its NUL, which is appended too but does not count; at most limit bytes. */
int cursor_text(struct ring_cursor *c, struct buffer *b, size_t limit, struct error *e);

/* --- unpack the compressed parts of version 7 --- */

enum tracecmd_compression { TRACECMD_NONE, TRACECMD_ZLIB, TRACECMD_ZSTD, TRACECMD_OTHER };

struct tracecmd_unpacker {
	enum tracecmd_compression method;
	struct ZSTD_DCtx_s *zstd; /* made when first needed */
};

/* Find the compression by its name in the file's prefix. */
enum tracecmd_compression tracecmd_compression(const char *name);

/*
 * Unpack n bytes into the buffer, replacing its content; they must give want bytes. Returns 0, or
 * -1 with *what: the bytes are damaged, or out of memory. What was unpacked before the damage is in
 * the buffer.
 */
int tracecmd_unpack(struct tracecmd_unpacker *u, const uint8_t *data, size_t n, size_t want,
		    struct buffer *out, const char **what);
void tracecmd_unpacker_free(struct tracecmd_unpacker *u);

/* The layout of a page, from the text header_page. */
struct ring_layout {
	bool big_endian;
	uint8_t long_size; /* long size of the kernel, 4 or 8: size of the field commit */
	uint32_t data;	   /* offset of the records: 12 or 16 */
};

struct ring_page {
	const uint8_t *begin, *at, *end; /* the page's records */
	uint64_t time;			 /* time of the last record */
	uint64_t missed; /* events lost before this page; UINT64_MAX: unknown number */
	bool big_endian;
	bool cut;	  /* the file ends within the page: end is where the bytes end */
	const char *what; /* after -1: what is wrong at `at` */
};

struct ring_record {
	uint64_t time;
	const uint8_t *data;
	uint32_t size; /* bytes, a multiple of 4 */
};

/* Read the header of a page of n bytes (fewer than page_size if the file ends). Returns 0, or -1
 * with p->what: no records can be found in the page. */
int ring_page_begin(struct ring_page *p, const struct ring_layout *layout, const uint8_t *page,
		    size_t n, size_t page_size);

/* Read an entry that is not a plain record. Returns 1 with the next record in *r, 0 at the page's
 * end, -1: damage. */
int ring_next_special(struct ring_page *p, struct ring_record *r);

/* Find the next record: 1, or 0 at the end, or -1 for damage; after 0 and -1 the page has no
 * more records. */
static inline int ring_next(struct ring_page *p, struct ring_record *r)
{
	const uint8_t *at = p->at;

	if (__builtin_expect(p->end - at >= 8, 1)) {
		uint32_t w, kind, delta;

		memcpy(&w, at, 4);
		if (p->big_endian) {
			w = be32toh(w);
			kind = w >> 27;
			delta = w & 0x7ffffff;
		} else {
			w = le32toh(w);
			kind = w & 31;
			delta = w >> 5;
		}
		if (__builtin_expect(kind - 1 < 28 && (size_t)(p->end - at) >= 4 + 4 * kind, 1)) {
			p->time += delta;
			r->time = p->time;
			r->data = at + 4;
			r->size = 4 * kind;
			p->at = at + 4 + r->size;
			return 1;
		}
	}
	return ring_next_special(p, r);
}

/*
 * Parse the layout in the text of header_page. Return false if the text is empty or cannot be
 * parsed; *layout is then what the word size implies. *data_size: bytes of records in a page, 0:
 * unknown.
 */
bool ring_layout_parse(struct ring_layout *layout, const char *text, size_t n, bool big_endian,
		       uint8_t word_size, uint32_t *data_size);

/*
 * The records of one CPU, page after page, from a file read at offsets.
 *
 * Damage is noted for the caller, and reading continues after the damage at the next page.
 */

struct cpu_data {
	const struct tracecmd_file *file;
	struct tracecmd_unpacker *unpacker; /* NULL: plain pages */
	struct buffer *packed;		    /* buffer that the CPUs share */
	struct ring_layout layout;
	uint64_t offset, end;  /* range in the file that is not yet read */
	uint64_t chunk_offset; /* offset in the file of the data in the window */
	uint64_t chunks;       /* compressed chunks left to read */
	uint32_t page_size, read_ahead;
	bool started;

	struct buffer window; /* pages */
	size_t at;	      /* offset in the window of the next page */
	uint8_t *page_begin;
	struct ring_page page;
	uint64_t missed; /* events lost before the next record; UINT64_MAX: unknown number */

	/* damage before the next record, or at the end */
	bool damaged;
	struct error damage;
};

/* Begin with size bytes at offset. read_ahead: bytes for each read, at least a page. */
void cpu_data_begin(struct cpu_data *c, uint64_t offset, uint64_t size, uint32_t page_size,
		    uint32_t read_ahead);
void cpu_data_free(struct cpu_data *c);

/* Find the first record of the next page that has one. Returns 1; 0 at the end; -1: out of
 * memory, or reading failed. c->damaged may be set with 1 and 0. */
int cpu_data_page(struct cpu_data *c, struct ring_record *r, struct error *e);

/* Read the next bytes of data that are not pages into c->window. Returns 1; 0 at the end; -1 as
 * above. */
int cpu_data_bytes(struct cpu_data *c, struct error *e);

/*
 * Read the first bytes, at least a page where there are so many, of the compressed chunk whose
 * lengths are at offset, into `to`, and find the offset of the next chunk's lengths. to NULL: find
 * the offset only. Return false if there is no chunk.
 */
bool cpu_data_chunk(const struct cpu_data *c, uint64_t offset, struct buffer *to, uint64_t *next);

/* Find the next record: 1, 0 at the end; -1 as above. */
static inline int cpu_data_next(struct cpu_data *c, struct ring_record *r, struct error *e)
{
	if (__builtin_expect(ring_next(&c->page, r) > 0, 1))
		return 1;
	return cpu_data_page(c, r, e);
}

#endif
