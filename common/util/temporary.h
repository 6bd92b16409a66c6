/*
 * temporary.h - a nameless file for data that does not fit in memory
 */
#ifndef TR_UTIL_TEMPORARY_H
#define TR_UTIL_TEMPORARY_H

#include "common/util/error.h"

#include <stddef.h>

/* Open a file without a name in $TMPDIR (default /tmp), for reading and writing. Returns the
 * descriptor, or -1 with e filled. */
int temporary_open(struct error *e);
/* Write all n bytes at offset; -1 with e filled. */
int temporary_write(int fd, const void *data, size_t n, uint64_t offset, struct error *e);
int temporary_read(int fd, void *data, size_t n, uint64_t offset, struct error *e);
/* Free the disk space of a range that is no longer needed, if the file system can. */
void temporary_forget(int fd, uint64_t offset, size_t n);

/* Note the name of an unfinished output, a file or a directory of files, which must not be left
 * when a signal ends the program. The caller keeps the name valid until temporary_unname. */
void temporary_name(const char *name);
void temporary_unname(const char *name);
/* Remove the unfinished outputs. A signal handler may call it. */
void temporary_remove_names(void);

#endif
