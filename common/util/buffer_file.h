/*
 * buffer_file.h - the part of a large buffer that is not being worked on, out of memory
 *
 * A buffer that spills (buffer.h) and grows beyond BUFFER_LARGE moves into a temporary file that is
 * mapped: its bytes stay where data says, all of them, and may be read and changed as in any other
 * buffer. What differs is the memory: the pages behind which appending has gone on are given back,
 * and so are those that were read, by who reads much of it. Where no such file can be had, the
 * buffer is in memory like any other.
 */
#ifndef TR_UTIL_BUFFER_FILE_H
#define TR_UTIL_BUFFER_FILE_H

#include "common/util/buffer.h"

enum {
	BUFFER_LARGE = 1 << 20,	 /* bytes up to which a buffer that spills is in memory */
	BUFFER_PIECE = 256 << 10 /* to be written or read before buffer_rest is called */
};

/* Of buffer_reserve, for what spills: the same. 1: it is to grow in memory. */
int buffer_file_reserve(struct buffer *b, size_t n);
/* Of buffer_free. */
void buffer_file_free(struct buffer *b);

/* Give the memory of what is in the file back, until it is looked at again; in any other buffer
 * nothing happens. */
void buffer_rest(const struct buffer *b);

/* How much of n bytes at p to take as the next piece, so that no character of UTF-8 is cut. */
size_t buffer_piece(const void *p, size_t n);

/* Append what stands in another buffer, piece by piece. -1: out of memory. */
int buffer_append_from(struct buffer *b, const struct buffer *from, size_t at, size_t n);

#endif
