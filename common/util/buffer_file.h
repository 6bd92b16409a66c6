/*
 * buffer_file.h - moves the unused part of a large buffer out of memory
 *
 * A buffer that spills (buffer.h) and grows beyond BUFFER_LARGE moves into a mapped temporary file.
 * All its bytes stay at data, and may be read and changed as in any other buffer. Only the use of
 * memory differs: pages before the end of appending are released, and so are pages that were read,
 * by callers that read much of the buffer. If no such file can be created, the buffer stays in
 * memory.
 */
#ifndef TR_UTIL_BUFFER_FILE_H
#define TR_UTIL_BUFFER_FILE_H

#include "common/util/buffer.h"

enum {
	BUFFER_LARGE = 1 << 20,	 /* bytes up to which a buffer that spills is in memory */
	BUFFER_PIECE = 256 << 10 /* bytes to write or read before a call of buffer_rest */
};

/* Reserve for buffer_reserve in a buffer that spills. 1: the buffer must grow in memory. */
int buffer_file_reserve(struct buffer *b, size_t n);
/* Free for buffer_free. */
void buffer_file_free(struct buffer *b);

/* Release the memory of the spilled part until it is read again; other buffers are unchanged. */
void buffer_rest(const struct buffer *b);

/* Get the size of the next piece of n bytes at p, so that no UTF-8 character is split. */
size_t buffer_piece(const void *p, size_t n);

/* Append another buffer's content, piece by piece. -1: out of memory. */
int buffer_append_from(struct buffer *b, const struct buffer *from, size_t at, size_t n);

#endif
