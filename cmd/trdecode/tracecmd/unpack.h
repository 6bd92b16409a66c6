/*
 * unpack.h - the compressed parts of version 7
 */
#ifndef TR_TRDECODE_TRACECMD_UNPACK_H
#define TR_TRDECODE_TRACECMD_UNPACK_H

#include "common/util/buffer.h"
#include "common/util/error.h"

enum tracecmd_compression { TRACECMD_NONE, TRACECMD_ZLIB, TRACECMD_ZSTD, TRACECMD_OTHER };

struct tracecmd_unpacker {
	enum tracecmd_compression method;
	struct ZSTD_DCtx_s *zstd; /* made when first needed */
};

/* What the name in the file's prefix means. */
enum tracecmd_compression tracecmd_compression(const char *name);

/*
 * n bytes into the buffer, replacing what it holds; they must give want bytes. -1 with *what: the
 * bytes are damaged, or out of memory. What could be unpacked before the damage is in the buffer.
 */
int tracecmd_unpack(struct tracecmd_unpacker *u, const uint8_t *data, size_t n, size_t want,
		    struct buffer *out, const char **what);
void tracecmd_unpacker_free(struct tracecmd_unpacker *u);

#endif
