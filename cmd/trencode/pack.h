/*
 * pack.h - how a file is compressed
 */
#ifndef TR_TRENCODE_PACK_H
#define TR_TRENCODE_PACK_H

#include <stdint.h>
#include <string.h>

#include "common/util/error.h"

/* A .trace uses the first four; a trace.dat uses zstd, zlib and none. */
enum pack_kind { PACK_SNAPPY, PACK_GZIP, PACK_BROTLI, PACK_ZSTD, PACK_ZLIB, PACK_NONE };

/* A method of compression, as chosen with --compress. */
struct pack_choice {
	enum pack_kind kind;
	int level;  /* -1: the default of the method */
	bool given; /* by the user */
};

/* Parse "brotli" or "brotli:11". Returns 0, or -1 with *e filled. */
int pack_parse(struct pack_choice *c, const char *text, struct error *e);

#endif
