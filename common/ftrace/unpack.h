/*
 * unpack.h - unpack the compressed parts of version 7
 */
#ifndef TR_FTRACE_UNPACK_H
#define TR_FTRACE_UNPACK_H

#include "common/util/buffer.h"
#include "common/util/error.h"

enum tracecmd_compression { TRACECMD_NONE, TRACECMD_ZLIB, TRACECMD_ZSTD, TRACECMD_OTHER };

struct tracecmd_unpacker {
	enum tracecmd_compression method;
	struct ZSTD_DCtx_s *zstd; /* made when first needed */
};

/* Find the compression by its name in the file's prefix. */
enum tracecmd_compression tracecmd_compression(const char *name);

/*
 * Unpack n bytes into the buffer, replacing its content; they must give want bytes. Returns 0, or
 * -1 with *what: the bytes are damaged, or out of memory. What was unpacked before the damage is in
 * the buffer.
 */
int tracecmd_unpack(struct tracecmd_unpacker *u, const uint8_t *data, size_t n, size_t want,
		    struct buffer *out, const char **what);
void tracecmd_unpacker_free(struct tracecmd_unpacker *u);

#endif
