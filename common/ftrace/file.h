/*
 * file.h - a trace.dat as a file that is read at offsets, and cursors through its parts
 *
 * Functions return -1 with *e filled where they fail.
 */
#ifndef TR_FTRACE_FILE_H
#define TR_FTRACE_FILE_H

#include <sys/types.h>

#include "common/util/buffer.h"
#include "common/util/error.h"

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
struct cursor {
	const struct tracecmd_file *file;
	const uint8_t *mem;
	uint64_t base; /* offset of pos 0 in the file; with mem, offset of its section */
	uint64_t pos, size;
	bool big_endian;
};

static inline uint64_t cursor_left(const struct cursor *c)
{
	return c->size - c->pos;
}

/* Return the file's offset for messages. */
static inline uint64_t cursor_offset(const struct cursor *c)
{
	return c->mem ? c->base : c->base + c->pos;
}

int cursor_bytes(struct cursor *c, void *data, size_t n, struct error *e);
/* Read a number of 1, 2, 4 or 8 bytes. */
int cursor_number(struct cursor *c, unsigned size, uint64_t *number, struct error *e);
/* Append n bytes, and a NUL that does not count. */
int cursor_append(struct cursor *c, struct buffer *b, uint64_t n, struct error *e);
/* Append text up to its NUL, which is appended too but does not count; at most limit bytes. */
int cursor_text(struct cursor *c, struct buffer *b, size_t limit, struct error *e);

#endif
