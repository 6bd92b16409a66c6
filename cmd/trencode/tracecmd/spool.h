/*
 * spool.h - the data of a trace.dat's CPUs until all of them are there
 *
 * The file has them CPU after CPU, and the stream by time: so they go through an unlinked
 * temporary file, packed already where the file is to have them packed. What one CPU has there is
 * a chain of pieces, so memory does not grow with the trace.
 */
#ifndef TR_TRENCODE_TRACECMD_SPOOL_H
#define TR_TRENCODE_TRACECMD_SPOOL_H

#include <zstd.h>

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/output.h"

enum tracecmd_method { TRACECMD_PLAIN, TRACECMD_WITH_ZLIB, TRACECMD_WITH_ZSTD };

struct tracecmd_packer {
	enum tracecmd_method method;
	int level; /* -1: the usual one */
	bool big_endian;
	ZSTD_CCtx *zstd;
};

/* The version of the library as files name it; "" for none. */
const char *tracecmd_packer_version(enum tracecmd_method method);
/* Append u32 packed size, u32 size, packed data; not for TRACECMD_PLAIN. */
int tracecmd_pack(struct tracecmd_packer *p, const void *data, size_t n, struct buffer *out,
		  struct error *e);
void tracecmd_packer_free(struct tracecmd_packer *p);

struct tracecmd_spool {
	int fd; /* -1: not yet open */
	uint64_t size;
	struct tracecmd_packer *packer;
	struct buffer piece;
};

/* Zero-initialised is empty. */
struct tracecmd_pieces {
	uint64_t first, last, bytes;
	uint32_t count;
};

/* The temporary file is made by the first piece. 0, or -1 with e filled. */
int tracecmd_spool_add(struct tracecmd_spool *s, struct tracecmd_pieces *p, const void *data,
		       size_t n, struct error *e);
/* All pieces of one chain, p->bytes together. */
int tracecmd_spool_copy(struct tracecmd_spool *s, const struct tracecmd_pieces *p,
			struct output *to, struct error *e);
void tracecmd_spool_close(struct tracecmd_spool *s);

#endif
