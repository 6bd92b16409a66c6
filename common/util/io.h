/*
 * io.h - reads that are not interrupted
 *
 * Functions return -1 with errno set.
 */
#ifndef TR_UTIL_IO_H
#define TR_UTIL_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Read up to n bytes; wait for them, if the descriptor does not block. Returns 0 at the end. */
ssize_t io_read(int fd, void *data, size_t n);
/* Read n bytes at offset, fewer only at the end of the file. */
ssize_t io_read_at(int fd, void *data, size_t n, uint64_t offset);

#endif
