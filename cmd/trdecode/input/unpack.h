/*
 * unpack.h - the bytes of a compressed file, read forward
 *
 * Containers: snappy chunks behind "at", gzip (members), brotli, zstd (frames). What is at hand is
 * [at, end); who needs more asks for it.
 */
#ifndef TR_TRDECODE_INPUT_UNPACK_H
#define TR_TRDECODE_INPUT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"

enum container { CONTAINER_SNAPPY, CONTAINER_GZIP, CONTAINER_BROTLI, CONTAINER_ZSTD };

struct unpack {
	const uint8_t *at, *end;
	uint64_t total;	   /* bytes unpacked so far, those at hand with them */
	uint64_t packed;   /* bytes of the file taken so far */
	uint64_t chunk;	   /* number of the present chunk, member or frame, from 0 */
	uint64_t chunk_at; /* where it begins in the file */
	enum container container;
	bool ended;
	struct error damage; /* with ended: what is wrong, "" nothing */

	/* before a read that would block */
	int (*before_block)(void *ctx);
	void *before_block_ctx;

	/* its own */
	const char *name;
	int fd;
	uint8_t *buffer;
	size_t capacity;
	uint8_t *in, *in_at, *in_end; /* bytes of the file */
	size_t in_capacity;
	bool eof, between; /* between: of what is no snappy, no chunk is begun */
	bool begun;	   /* a chunk was */
	void *state;	   /* of zlib, brotli, zstd */
	char refused[80];  /* what it is not unpacked for; "": it is damaged, or well */
};

/* The container by the first bytes of a file. false: none. */
bool unpack_probe(const uint8_t *head, size_t n, enum container *container);
const char *unpack_name(enum container container);
/* A frame, or one that is to be skipped. */
bool unpack_is_zstd(const uint8_t *head, size_t n);
/* The window that a frame's header asks for; false: it is cut, or a frame to skip. */
bool unpack_zstd_window(const uint8_t *head, size_t n, uint64_t *window);
/* What its parts are called: "chunk", "member" ... */
const char *unpack_part(enum container container);

/* Read from fd (which stays the caller's), of which head was read already. name for messages. */
int unpack_open(struct unpack *u, enum container container, int fd, const char *name,
		const uint8_t *head, size_t n, struct error *e);
void unpack_close(struct unpack *u);

/*
 * Have more bytes at hand: at and end move, the bytes stay. 1; 0: there are no more, and damage
 * says if that is not as it should be; -1: the file cannot be read, or out of memory.
 */
int unpack_more(struct unpack *u, struct error *e);

/* As much of a raw snappy block as decodes: bytes written to out; *whole: it is all of it. */
size_t snappy_part(const uint8_t *in, size_t n, uint8_t *out, size_t size, bool *whole);
/* The length a raw snappy block says it has when unpacked. false: it does not even say that. */
bool snappy_length(const uint8_t *in, size_t n, uint32_t *length);

enum {
	UNPACK_SNAPPY_LIMIT = 64 * 1024 * 1024, /* of one chunk, unpacked */
	/* what raw snappy makes of so much at most */
	UNPACK_SNAPPY_PACKED = 32 + UNPACK_SNAPPY_LIMIT + UNPACK_SNAPPY_LIMIT / 6,
	UNPACK_WINDOW_LIMIT = 128 * 1024 * 1024, /* of a frame of zstd */
	UNPACK_ZSTD_HEADER = 17,		 /* of a frame, at most */
};

/* Raw snappy cannot expand more than 64 bytes from an element of 3. */
static inline bool snappy_length_sane(uint32_t packed, uint32_t length)
{
	return length <= UNPACK_SNAPPY_LIMIT && length <= 22 * (uint64_t)packed + 64;
}

#endif
