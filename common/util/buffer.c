#include "common/util/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/util/buffer_file.h"
#include "common/util/digits.h"

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
