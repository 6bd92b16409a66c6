/*
 * scratch.h - a nameless temporary file in $TMPDIR (else /tmp), gone when it is closed
 *
 * Functions return 0, or -1 with e filled.
 */
#ifndef TR_SCRATCH_H
#define TR_SCRATCH_H

#include "error.h"

#include <stddef.h>

/* The descriptor, or -1 with e filled. */
int scratch_open(struct error *e);
int scratch_write(int fd, const void *data, size_t n, uint64_t at, struct error *e);
int scratch_read(int fd, void *data, size_t n, uint64_t at, struct error *e);

#endif
