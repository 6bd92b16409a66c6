/*
 * buffer.c - a growable array of bytes, and growing arrays of any type (ARRAY_GROW)
 */
#include "common/util/buffer.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/text.h"
#include "common/util/output.h"

static void buffer_file_free(struct buffer *b);
static int buffer_file_reserve(struct buffer *b, size_t n);

int buffer_grow(struct buffer *b, size_t n)
{
	size_t want, capacity;
	uint8_t *data;

	if (b->spills) {
		int in_memory = buffer_file_reserve(b, n);

		if (in_memory <= 0)
			return in_memory;
	}
	if (__builtin_add_overflow(b->size, n, &want))
		return -1;
	capacity = b->capacity + b->capacity / 2;
	if (capacity < want)
		capacity = want;
	if (capacity < 64)
		capacity = 64;
	data = realloc(b->data, capacity);
	if (!data)
		return -1;
	b->data = data;
	b->capacity = capacity;
	return 0;
}

/* Append in pieces: written pieces need not stay in memory. */
static int append_large(struct buffer *b, const uint8_t *data, size_t n)
{
	size_t size = b->size;

	while (n) {
		size_t piece = n < BUFFER_PIECE ? n : BUFFER_PIECE;

		if (buffer_reserve(b, piece)) {
			b->size = size;
			return -1;
		}
		memcpy(b->data + b->size, data, piece);
		b->size += piece;
		data += piece;
		n -= piece;
	}
	return 0;
}

int buffer_append(struct buffer *b, const void *data, size_t n)
{
	if (__builtin_expect(b->capacity - b->size < n || !b->data, 0)) {
		if (n > BUFFER_PIECE && b->spills)
			return append_large(b, data, n);
		if (buffer_reserve(b, n))
			return -1;
	}
	if (n)
		memcpy(b->data + b->size, data, n);
	b->size += n;
	return 0;
}

int buffer_zero(struct buffer *b, size_t n)
{
	if (buffer_reserve(b, n))
		return -1;
	memset(b->data + b->size, 0, n);
	b->size += n;
	return 0;
}

int buffer_decimal(struct buffer *b, uint64_t v)
{
	if (buffer_reserve(b, 20))
		return -1;
	b->size = (size_t)(decimal_at((char *)b->data + b->size, v) - (char *)b->data);
	return 0;
}

int buffer_signed(struct buffer *b, int64_t v)
{
	if (v >= 0)
		return buffer_decimal(b, (uint64_t)v);
	return buffer_u8(b, '-') || buffer_decimal(b, -(uint64_t)v) ? -1 : 0;
}

int buffer_hex(struct buffer *b, uint64_t v)
{
	char text[18], *end = text + sizeof text, *p = digits_base(end, v, 16, false);

	*--p = 'x';
	*--p = '0';
	return buffer_append(b, p, (size_t)(end - p));
}

int buffer_hex_bytes(struct buffer *b, const uint8_t *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	if (buffer_reserve(b, 2 * n))
		return -1;
	for (; n--; p++) {
		b->data[b->size++] = (uint8_t)digits[*p >> 4];
		b->data[b->size++] = (uint8_t)digits[*p & 15];
	}
	return 0;
}

int buffer_printf(struct buffer *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || buffer_reserve(b, (size_t)n + 1))
		return -1;
	va_start(ap, fmt);
	vsnprintf((char *)b->data + b->size, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->size += (size_t)n;
	return 0;
}

void buffer_free(struct buffer *b)
{
	if (b->file)
		buffer_file_free(b);
	else
		free(b->data);
	*b = (struct buffer){.spills = b->spills || b->file};
}

void *array_grow(void *array, size_t *capacity, size_t count, size_t element)
{
	size_t want = *capacity ? *capacity * 2 : 16, bytes;
	void *p;

	if (count < *capacity)
		return array;
	if (want <= count)
		want = count + 1;
	if (__builtin_mul_overflow(want, element, &bytes))
		return NULL;
	p = realloc(array, bytes);
	if (p)
		*capacity = want;
	return p;
}

void *array_reach_slow(void *array, size_t *size, size_t number, size_t element)
{
	size_t old = *size, want = old > 32 ? 2 * old : 64;
	char *p;

	if (number >= want)
		want = number + number / 2;
	p = reallocarray(array, want, element);
	if (!p)
		return NULL;
	memset(p + old * element, 0, (want - old) * element);
	*size = want;
	return p;
}

/* --- buffer file --- */

struct buffer_file {
	int fd;
	size_t mapped; /* bytes; capacity shows the part that may be filled before the next rest */
};

void buffer_rest(const struct buffer *b)
{
	if (b->file)
		madvise(b->data, b->file->mapped, MADV_DONTNEED);
}

/* Free for buffer_free. */
static void buffer_file_free(struct buffer *b)
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

static bool common_buffer_grow(struct buffer *b, size_t size)
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

/* Reserve for buffer_reserve in a buffer that spills. 1: the buffer must grow in memory. */
static int buffer_file_reserve(struct buffer *b, size_t n)
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
	if (want > b->file->mapped && !common_buffer_grow(b, size))
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
