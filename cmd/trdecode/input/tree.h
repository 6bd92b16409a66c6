/*
 * tree.h - the files of a trace that is a directory, wherever they are stored
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
#ifndef TR_TRDECODE_INPUT_TREE_H
#define TR_TRDECODE_INPUT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"

struct tree;

/* Members beyond this number are not read (that is damage). */
#define TREE_MAX_MEMBERS (1u << 20)

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

/* Return the bytes of a member, 0 if it cannot be read. */
uint64_t tree_size(const struct tree *t, const char *name);
/* Read the first n bytes of a member. Returns how many there are, 0 if it cannot be read. */
size_t tree_peek(const struct tree *t, const char *name, void *data, size_t n);

/* "INPUT/member" into buf, cut where it does not fit; returns buf. */
const char *tree_path(const struct tree *t, const char *name, char *buf, size_t size);

/* Set the damage of the file that the archive is in. */
void tree_set_damage(struct tree *t, const struct error *e);
/* True, and *e (may be NULL) filled, if the archive was damaged or had too many members. */
bool tree_damage(const struct tree *t, struct error *e);
/* Test whether a signal ended the archive within it, and so is the cause of what it lacks. */
bool tree_cut(const struct tree *t);

#endif
