/*
 * input_tree.h - inputs that are directories, archives and compressed files
 */
#ifndef TR_TRDECODE_INPUT_TREE_H
#define TR_TRDECODE_INPUT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/trdecode/bid.h"
#include "common/util/error.h"

/*
 * The files of a trace that is a directory, wherever they are stored.
 *
 * A tree is a directory, or a tar of one, from a file or a pipe. Its members are the regular files
 * below it, named by their path relative to the trace's own directory: directories that all members
 * have in common ("./", "uftrace.data/") are not part of the names. Nothing is ever written to a
 * path taken from an archive.
 *
 * A directory is read in place, eight levels deep; a file is opened only when the caller reads it.
 * Compressed files of a directory are unpacked to one unlinked file, and lose their suffix.
 * A tar is read once, forward, by tree_open_fd, and its contents are copied to one unlinked file in
 * $TMPDIR (default /tmp). In neither case does the tree keep a descriptor per member.
 */

struct tree;

/* Bytes of a file's start that tree_is_archive() needs. */
#define TREE_PROBE 512

/*
 * Open a directory (n is 0 then) or a tar, whose first n bytes, peeked, were already read. fd stays
 * the caller's; an archive is read to its end. name is for messages. NULL and e if fd is neither.
 * An archive that ends early or is damaged gives a tree of what could be read, see tree_damage().
 */
struct tree *tree_open_fd(int fd, const char *name, const void *peeked, size_t n, struct error *e);

/* Open a directory by its path, two levels deep: for an operand that is one file of it. */
struct tree *tree_open_near(const char *path, struct error *e);

/* t may be NULL. */
void tree_close(struct tree *t);

/* Are these first bytes of a file (TREE_PROBE are enough) those of a tar? */
bool tree_is_archive(const void *head, size_t n);

/* What the user called the input. */
const char *tree_name(const struct tree *t);

/* Members, in bytewise order of their names. */
size_t tree_count(const struct tree *t);
const char *tree_member(const struct tree *t, size_t i);

/* The index of the first member whose name is not below `name`; tree_count() if there is none. */
size_t tree_lower_bound(const struct tree *t, const char *name);

bool tree_has(const struct tree *t, const char *name);

/*
 * The whole member in one malloc'ed block, with a NUL after its `size` bytes. -1 and e if there is
 * no such member, it is larger than max_bytes, or reading fails. Memory grows as bytes arrive.
 */
int tree_read(const struct tree *t, const char *name, uint64_t max_bytes, void **data, size_t *size,
	      struct error *e);

/*
 * A descriptor from which pread() at [*offset, *offset + *size) gives the member. The caller closes
 * it. For a directory it is the file itself (offset 0); for a tar a duplicate of the temporary
 * file, so offset is not 0 and the file position is shared: use pread() only. -1 and e on failure.
 */
int tree_fd(const struct tree *t, const char *name, uint64_t *offset, uint64_t *size,
	    struct error *e);

/* Get the bytes of a member, 0 if it cannot be read. */
uint64_t tree_size(const struct tree *t, const char *name);
/* Read the first n bytes of a member. Returns how many there are, 0 if it cannot be read. */
size_t tree_peek(const struct tree *t, const char *name, void *data, size_t n);

/* "INPUT/member" into buf, cut where it does not fit; returns buf. */
const char *tree_path(const struct tree *t, const char *name, char *buf, size_t size);

/* True, and *e (may be NULL) filled, if the archive was damaged or had too many members. */
bool tree_damage(const struct tree *t, struct error *e);

/*
 * Unpack a compressed file, read forward.
 *
 * Containers: snappy chunks after "at", gzip (members), brotli, zstd (frames). The unpacked bytes
 * not yet read are [at, end); unpack_more() adds to them.
 */

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
/* Get what the container's parts are called: "chunk", "member" ... */
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

#endif
