/*
 * unpack.h - unpack a compressed file, read forward
 *
 * Containers: snappy chunks after "at", gzip (members), brotli, zstd (frames). The unpacked bytes
 * not yet read are [at, end); unpack_more() adds to them.
 */
#ifndef TR_TRDECODE_INPUT_UNPACK_H
#define TR_TRDECODE_INPUT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"
#include "cmd/trdecode/bid.h"

enum container { CONTAINER_SNAPPY, CONTAINER_GZIP, CONTAINER_BROTLI, CONTAINER_ZSTD };

struct unpack {
	const uint8_t *at, *end;
	uint64_t total;	   /* bytes unpacked so far, including the unread ones */
	uint64_t packed;   /* bytes of the file taken so far */
	uint64_t chunk;	   /* index of the present chunk, member or frame */
	uint64_t chunk_at; /* offset in the file where it begins */
	enum container container;
	bool ended;
	struct error damage; /* once ended: the damage, "" if there is none */

	/* called before a read that would block */
	int (*before_block)(void *ctx);
	void *before_block_ctx;

	/* private */
	const char *name;
	int fd;
	uint8_t *buffer;
	size_t capacity;
	uint8_t *in, *in_at, *in_end; /* unread bytes of the file */
	size_t in_capacity;
	bool eof, between; /* between: no chunk, member or frame is open */
	bool begun;	   /* a chunk was begun */
	void *state;	   /* state of zlib, brotli or zstd */
	char refused[80];  /* why a valid file is not unpacked, "" if it is */
};

/* Find the container by the first bytes of a file, and bid for them as a .trace. */
enum bid unpack_probe(const uint8_t *head, size_t n, enum container *container);
const char *unpack_name(enum container container);
/* Do these bytes begin a frame, or a frame to skip? */
bool unpack_is_zstd(const uint8_t *head, size_t n);
/* Read the window that a frame's header requires. Return false if the header is truncated, or of
 * a frame to skip. */
bool unpack_zstd_window(const uint8_t *head, size_t n, uint64_t *window);
/* Return what the container's parts are called: "chunk", "member" ... */
const char *unpack_part(enum container container);

/* A file that is open, and whose first bytes were already read. */
struct unpack_file {
	int fd;		     /* the caller closes it */
	const char *name;    /* in messages */
	const uint8_t *head; /* head_size bytes, not kept */
	size_t head_size;
};

int unpack_open(struct unpack *u, enum container container, const struct unpack_file *file,
		struct error *e);
void unpack_close(struct unpack *u);

/*
 * Unpack more bytes: at and end move, unread bytes remain. Returns 1; 0 at the end, with damage
 * filled if the file is damaged; -1 if the file cannot be read, or out of memory.
 */
int unpack_more(struct unpack *u, struct error *e);

/* Decode as much of a raw snappy block as is valid. Returns the number of bytes written to out;
 * *complete: the block is complete. */
size_t snappy_part(const uint8_t *in, size_t n, uint8_t *out, size_t size, bool *complete);
/* Read the length that a raw snappy block gives for its unpacked bytes. Return false if the
 * length itself is damaged. */
bool snappy_length(const uint8_t *in, size_t n, uint32_t *length);

enum {
	UNPACK_SNAPPY_LIMIT = 64 * 1024 * 1024, /* of one chunk, unpacked */
	/* most bytes that raw snappy needs for this limit */
	UNPACK_SNAPPY_PACKED = 32 + UNPACK_SNAPPY_LIMIT + UNPACK_SNAPPY_LIMIT / 6,
	UNPACK_WINDOW_LIMIT = 128 * 1024 * 1024, /* of a zstd frame */
	UNPACK_ZSTD_HEADER = 17,		 /* of a zstd frame, at most */
};

/* Raw snappy cannot expand more than 64 bytes from an element of 3. */
static inline bool snappy_length_sane(uint32_t packed, uint32_t length)
{
	return length <= UNPACK_SNAPPY_LIMIT && length <= 22 * (uint64_t)packed + 64;
}

#endif
