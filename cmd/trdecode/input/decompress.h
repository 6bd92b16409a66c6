/*
 * decompress.h - a compressed file as a pipe of its content, which a thread unpacks
 *
 * Known are gzip, zstd, xz, bzip2 and lz4. The content is never stored, so its size has no limit.
 */
#ifndef TR_TRDECODE_INPUT_DECOMPRESS_H
#define TR_TRDECODE_INPUT_DECOMPRESS_H

#include "cmd/trdecode/input/unpack.h"

struct decompress;

/* Test whether the first bytes of a file are those of a compressed one. */
bool decompress_known(const uint8_t *head, size_t n);
/* Begin to unpack a file from its start, of which head was read. The file's descriptor is the
 * decompressor's then. *fd: the pipe, to be closed by the caller before decompress_close. NULL: *e
 * is filled, and the file's descriptor remains the caller's. */
struct decompress *decompress_open(const struct unpack_file *file, int *fd, struct error *e);
/* Wait until all is unpacked: the caller has read the pipe to its end. Returns true, once, with *e
 * filled, if the file is damaged. */
bool decompress_damage(struct decompress *d, struct error *e);
/* d may be NULL. */
void decompress_close(struct decompress *d);

#endif
