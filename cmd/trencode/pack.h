/*
 * pack.h - compress and write the container of a .trace
 */
#ifndef TR_TRENCODE_PACK_H
#define TR_TRENCODE_PACK_H

#include <stdint.h>
#include <string.h>

#include "common/util/error.h"
#include "common/util/output.h"

/* A .trace uses the first four; a trace.dat uses zstd, zlib and none. */
enum pack_kind { PACK_SNAPPY, PACK_GZIP, PACK_BROTLI, PACK_ZSTD, PACK_ZLIB, PACK_NONE };

/* A method of compression, as chosen with --compress. */
struct pack_choice {
	enum pack_kind kind;
	int level;  /* -1: the default of the method */
	bool given; /* by the user */
};

/* Functions that return int return 0, or -1 with *e filled. */

/* Parse "brotli" or "brotli:11". */
int pack_parse(struct pack_choice *c, const char *text, struct error *e);

/* One container being written. */
struct pack {
	struct output *output;
	enum pack_kind kind;
	int level;
	bool begun;	    /* snappy: its magic is written */
	struct error error; /* "" until something fails */
	uint8_t *data;	    /* not yet compressed */
	size_t size, capacity;
	uint8_t *packed;
	size_t packed_capacity;
	void *state;
	struct pack_frame *frames; /* zstd: for the seek table */
	size_t nframes, frames_capacity;
};

int pack_open(struct pack *p, const struct pack_choice *c, struct output *output, struct error *e);
/* Write the rest and the end of the container. */
int pack_finish(struct pack *p, struct error *e);
void pack_close(struct pack *p);

/* Append to the container. pack_finish reports errors; a caller may test p->error before. */
void pack_slow(struct pack *p, const void *data, size_t n);

static inline void pack_put(struct pack *p, const void *data, size_t n)
{
	if (__builtin_expect(n <= p->capacity - p->size, 1)) {
		memcpy(p->data + p->size, data, n);
		p->size += n;
	} else {
		pack_slow(p, data, n);
	}
}

static inline void pack_byte(struct pack *p, uint8_t byte)
{
	if (__builtin_expect(p->size < p->capacity, 1))
		p->data[p->size++] = byte;
	else
		pack_slow(p, &byte, 1);
}

static inline void pack_uint(struct pack *p, uint64_t n)
{
	while (n > 0x7f) {
		pack_byte(p, (uint8_t)(n | 0x80));
		n >>= 7;
	}
	pack_byte(p, (uint8_t)n);
}

#endif
