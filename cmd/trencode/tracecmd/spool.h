/*
 * spool.h - spill the data of a trace.dat's CPUs until the stream ends
 *
 * The file contains the data CPU after CPU, but the stream is ordered by time. So the data are
 * spilled to an unlinked temporary file, compressed if the output is compressed. The data of one
 * CPU are a chain of pieces in the temporary file, so memory does not grow with the trace.
 * Functions that return int return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_TRACECMD_SPOOL_H
#define TR_TRENCODE_TRACECMD_SPOOL_H

#include <zstd.h>

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/output.h"

enum tracecmd_method { TRACECMD_PLAIN, TRACECMD_WITH_ZLIB, TRACECMD_WITH_ZSTD };

/* How data are compressed. */
struct tracecmd_packer {
	enum tracecmd_method method;
	int level; /* -1: the default of the method */
	bool big_endian;
	ZSTD_CCtx *zstd;
};

/* Return the version of the compression library as files name it; "" for none. */
const char *tracecmd_packer_version(enum tracecmd_method method);
/* Append u32 packed size, u32 size, packed data; not for TRACECMD_PLAIN. */
int tracecmd_pack(struct tracecmd_packer *p, const void *data, size_t n, struct buffer *out,
		  struct error *e);
void tracecmd_packer_free(struct tracecmd_packer *p);

/* The temporary file. */
struct tracecmd_spool {
	int fd;	       /* -1: not yet open */
	uint64_t size; /* bytes */
	struct tracecmd_packer *packer;
	struct buffer piece;
};

/* The chain of pieces of one CPU. Zero-initialised is empty. */
struct tracecmd_pieces {
	uint64_t first, last; /* offsets of pieces */
	uint64_t bytes;	      /* of all pieces, without their headers */
	uint32_t count;
};

/* Append a piece to a chain. The first piece creates the temporary file. */
int tracecmd_spool_add(struct tracecmd_spool *s, struct tracecmd_pieces *p, const void *data,
		       size_t n, struct error *e);
/* Write all pieces of a chain, p->bytes in total. */
int tracecmd_spool_copy(struct tracecmd_spool *s, const struct tracecmd_pieces *p,
			struct output *to, struct error *e);
void tracecmd_spool_close(struct tracecmd_spool *s);

#endif
