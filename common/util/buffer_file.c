#include "common/util/buffer_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/temporary.h"

struct buffer_file {
	int fd;
	size_t mapped; /* bytes; capacity shows the part that may be filled before the next rest */
};

void buffer_rest(const struct buffer *b)
{
	if (b->file)
		madvise(b->data, b->file->mapped, MADV_DONTNEED);
}

void buffer_file_free(struct buffer *b)
{
	munmap(b->data, b->file->mapped);
	close(b->file->fd);
	free(b->file);
}

/* Extend the file, with blocks allocated on the disk: otherwise a write to the mapping could
 * raise SIGBUS. */
static bool extend(struct buffer_file *f, size_t size)
{
	return !posix_fallocate(f->fd, 0, (off_t)size);
}

static bool move_into_file(struct buffer *b, size_t size)
{
	struct buffer_file *f = malloc(sizeof *f);
	void *data = MAP_FAILED;
	struct error ignored;

	if (!f)
		return false;
	f->fd = temporary_open(&ignored);
	f->mapped = size;
	if (f->fd >= 0 && extend(f, size))
		data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (data == MAP_FAILED) {
		if (f->fd >= 0)
			close(f->fd);
		free(f);
		return false;
	}
	if (b->size)
		memcpy(data, b->data, b->size);
	free(b->data);
	b->data = data;
	b->file = f;
	return true;
}

static bool grow(struct buffer *b, size_t size)
{
	void *data = MAP_FAILED;

	if (extend(b->file, size))
		data = mremap(b->data, b->file->mapped, size, MREMAP_MAYMOVE);
	if (data == MAP_FAILED)
		return false;
	b->data = data;
	b->file->mapped = size;
	return true;
}

/* Move all content back into memory for good: there is no more space for the file. */
static int move_back(struct buffer *b, size_t want)
{
	uint8_t *data = malloc(want);

	if (!data)
		return -1;
	memcpy(data, b->data, b->size);
	buffer_file_free(b);
	b->data = data;
	b->capacity = want;
	b->file = NULL;
	b->spills = false;
	return 0;
}

int buffer_file_reserve(struct buffer *b, size_t n)
{
	size_t want, window = n > BUFFER_PIECE ? n : BUFFER_PIECE, size;

	if (__builtin_add_overflow(b->size, window, &want) || want > SIZE_MAX / 2)
		return -1;
	if (!b->file && want <= BUFFER_LARGE)
		return 1;
	size = align_up(want + want / 2, 1 << 16);
	if (!b->file && !move_into_file(b, size)) {
		b->spills = false;
		return 1;
	}
	if (want > b->file->mapped && !grow(b, size))
		return move_back(b, want);
	buffer_rest(b);
	b->capacity = want;
	return 0;
}

size_t buffer_piece(const void *p, size_t n)
{
	const uint8_t *text = p;
	size_t piece = BUFFER_PIECE;

	if (n <= BUFFER_PIECE)
		return n;
	/* a character has at most three continuation bytes */
	for (int i = 0; i < 3 && (text[piece] & 0xc0) == 0x80; i++)
		piece--;
	return piece;
}

int buffer_append_from(struct buffer *b, const struct buffer *from, size_t at, size_t n)
{
	while (n) {
		size_t piece = n < BUFFER_PIECE ? n : BUFFER_PIECE;

		if (buffer_append(b, from->data + at, piece))
			return -1;
		at += piece;
		n -= piece;
		if (n)
			buffer_rest(from);
	}
	return 0;
}
