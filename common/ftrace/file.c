#include "common/ftrace/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/temporary.h"
#include "common/util/io.h"

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

static int cursor_ends(const struct cursor *c, struct error *e)
{
	return error_set(e, c->file->name, cursor_offset(c), "the file ends too early");
}

int cursor_bytes(struct cursor *c, void *data, size_t n, struct error *e)
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

int cursor_number(struct cursor *c, unsigned size, uint64_t *number, struct error *e)
{
	uint8_t bytes[8];

	*number = 0;
	if (cursor_bytes(c, bytes, size, e))
		return -1;
	*number = get_uint(bytes, size, c->big_endian);
	return 0;
}

int cursor_append(struct cursor *c, struct buffer *b, uint64_t n, struct error *e)
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

int cursor_text(struct cursor *c, struct buffer *b, size_t limit, struct error *e)
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
