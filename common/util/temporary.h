/*
 * temporary.h - a nameless file for what does not fit in memory
 */
#ifndef TR_UTIL_TEMPORARY_H
#define TR_UTIL_TEMPORARY_H

#include "common/util/error.h"

#include <stddef.h>

/* A file without a name in $TMPDIR (default /tmp), open for reading and writing. The descriptor,
 * or -1 with e filled. */
int temporary_open(struct error *e);
/* n bytes at offset, all of them; -1 with e filled. */
int temporary_write(int fd, const void *data, size_t n, uint64_t offset, struct error *e);
int temporary_read(int fd, void *data, size_t n, uint64_t offset, struct error *e);
/* What stands there is no longer needed: give its room back where the file system can. */
void temporary_forget(int fd, uint64_t offset, size_t n);

#endif
