/*
 * buffer.h - a growable array of bytes, and growing arrays of any type (ARRAY_GROW)
 *
 * A zero-initialised buffer is empty. Appending returns -1 when out of memory, and the buffer is
 * then unchanged. A buffer that spills keeps its content beyond 1 MiB in a temporary file
 * (BUFFER_LARGE). It is meant for large values of a trace that are kept until they are written.
 */
#ifndef TR_UTIL_BUFFER_H
#define TR_UTIL_BUFFER_H

#include <stdbool.h>
#include <stdlib.h>

#include "common/util/bytes.h"

struct buffer {
	uint8_t *data;
	size_t size, capacity;
	struct buffer_file *file; /* the file that data is mapped from; NULL: in memory */
	bool spills;		  /* set by its owner */
};

/* Make room for n more bytes; they are not yet part of the buffer. */
int buffer_grow(struct buffer *b, size_t n);
static inline int buffer_reserve(struct buffer *b, size_t n)
{
	return __builtin_expect(b->capacity - b->size >= n && b->data, 1) ? 0 : buffer_grow(b, n);
}
int buffer_append(struct buffer *b, const void *data, size_t n);
int buffer_zero(struct buffer *b, size_t n);
/* Append zero bytes up to the next multiple of to (a power of two). */
static inline int buffer_align(struct buffer *b, unsigned to)
{
	return b->size & (to - 1) ? buffer_zero(b, align_up(b->size, to) - b->size) : 0;
}
/* Append a number: decimal digits; 0x and hexadecimal digits; two hexadecimal digits for each byte.
 */
int buffer_decimal(struct buffer *b, uint64_t v);
int buffer_signed(struct buffer *b, int64_t v);
int buffer_hex(struct buffer *b, uint64_t v);
int buffer_hex_bytes(struct buffer *b, const uint8_t *p, size_t n);
int buffer_printf(struct buffer *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Free the content. A buffer that spills keeps that property. */
void buffer_free(struct buffer *b);
/* Empty the buffer; a spilled one frees its file. */
static inline void buffer_clear(struct buffer *b)
{
	if (__builtin_expect(b->file != NULL, 0))
		buffer_free(b);
	b->size = 0;
}

/* Append as buffer_append does, for callers that usually have room. */
static inline __attribute__((always_inline)) int buffer_put(struct buffer *b, const void *data,
							    size_t n)
{
	/* also false for an empty buffer without data */
	if (__builtin_expect(b->capacity - b->size <= n, 0))
		return buffer_append(b, data, n);
	memcpy(b->data + b->size, data, n);
	b->size += n;
	return 0;
}

static inline int buffer_puts(struct buffer *b, const char *s)
{
	return buffer_append(b, s, strlen(s));
}

static inline int buffer_u32(struct buffer *b, uint32_t v)
{
	v = htole32(v);
	return buffer_append(b, &v, sizeof v);
}

static inline int buffer_u64(struct buffer *b, uint64_t v)
{
	v = htole64(v);
	return buffer_put(b, &v, sizeof v);
}

static inline int buffer_u8(struct buffer *b, uint8_t v)
{
	return buffer_put(b, &v, 1);
}

static inline int buffer_uleb(struct buffer *b, uint64_t n)
{
	if (buffer_reserve(b, ULEB_MOST))
		return -1;
	b->size = (size_t)(uleb_at(b->data + b->size, n) - b->data);
	return 0;
}

/*
 * Growing arrays. The macros assign the array and its capacity themselves, so a caller cannot keep
 * the old ones; where it has a copy of the address, it reads it again, as the array may have moved.
 * Both return 0, or -1 when out of memory, and then nothing has changed.
 *
 *	if (ARRAY_GROW(s->modules, s->capacity, s->nmodules))
 *		return -1;
 *	s->modules[s->nmodules++] = module;
 *
 * ARRAY_GROW makes room for element number count. ARRAY_REACH makes room for element number i; new
 * elements are zero. The arguments array and capacity (a size_t) are evaluated more than once.
 */
#define ARRAY_GROW(array, capacity, count)                                                         \
	ARRAY_ASSIGN(array, array_grow(array, &(capacity), count, sizeof *(array)))
#define ARRAY_REACH(array, capacity, i)                                                            \
	ARRAY_ASSIGN(array, array_reach(array, &(capacity), i, sizeof *(array)))
#define ARRAY_ASSIGN(array, value)                                                                 \
	({                                                                                         \
		void *grown_ = (value);                                                            \
                                                                                                   \
		if (grown_)                                                                        \
			(array) = grown_;                                                          \
		grown_ ? 0 : -1;                                                                   \
	})

/* The macros' own: they return the array, or NULL when out of memory (the old one stays valid). */
void *array_grow(void *array, size_t *capacity, size_t count, size_t element);
void *array_reach_slow(void *array, size_t *capacity, size_t i, size_t element);
static inline void *array_reach(void *array, size_t *capacity, size_t i, size_t element)
{
	return i < *capacity ? array : array_reach_slow(array, capacity, i, element);
}

/*
 * The indexes of an array whose elements are reused. Zero-initialised: no index is in use.
 */
struct indexes {
	size_t count; /* number of indexes ever used: 0 to count - 1 */
	size_t *unused, nunused, capacity;
};

/* Take an unused index. Returns -1 when out of memory. */
static inline int indexes_take(struct indexes *x, size_t *index)
{
	if (x->nunused) {
		*index = x->unused[--x->nunused];
		return 0;
	}
	/* reserved here, so that returning the index cannot fail */
	if (ARRAY_GROW(x->unused, x->capacity, x->count))
		return -1;
	*index = x->count++;
	return 0;
}

static inline void indexes_give(struct indexes *x, size_t index)
{
	x->unused[x->nunused++] = index;
}

static inline void indexes_free(struct indexes *x)
{
	free(x->unused);
	*x = (struct indexes){0};
}

/*
 * Moves the unused part of a large buffer out of memory.
 *
 * A buffer that spills and grows beyond BUFFER_LARGE moves into a mapped temporary file.
 * All its bytes stay at data, and may be read and changed as in any other buffer. Only the use of
 * memory differs: pages before the end of appending are released, and so are pages that were read,
 * by callers that read much of the buffer. If no such file can be created, the buffer stays in
 * memory.
 */

enum {
	BUFFER_LARGE = 1 << 20,	 /* bytes up to which a buffer that spills is in memory */
	BUFFER_PIECE = 256 << 10 /* bytes to write or read before a call of buffer_rest */
};

/* Release the memory of the spilled part until it is read again; other buffers are unchanged. */
void buffer_rest(const struct buffer *b);

/* Get the size of the next piece of n bytes at p, so that no UTF-8 character is split. */
size_t buffer_piece(const void *p, size_t n);

/* Append another buffer's content, piece by piece. -1: out of memory. */
int buffer_append_from(struct buffer *b, const struct buffer *from, size_t at, size_t n);

#endif
