/*
 * tree_private.h - what tree.c, tree_archive.c and tree_packed.c share
 */
#ifndef TR_TRDECODE_INPUT_TREE_PRIVATE_H
#define TR_TRDECODE_INPUT_TREE_PRIVATE_H

#include "cmd/trdecode/input/tree.h"

struct member {
	char *name;
	uint64_t offset; /* in the temporary file */
	uint64_t size;
	uint32_t order; /* position in the archive: the later of two equal names counts */
	bool packed;	/* of a directory: it was unpacked to t->spool */
};

struct tree {
	char *name;
	int fd;	   /* the directory, or the temporary file */
	int spool; /* the temporary file of packed members; -1: there are none */
	bool is_archive;
	int depth_most;
	struct member *members;
	size_t nr, room;
	size_t names_size;
	bool damaged;
	bool cut; /* the damage is that a signal ended the archive */
	struct error damage;
};

/* Add a member, its name copied; NULL: the tree is full or out of memory, which is noted as
 * damage. */
struct member *tree_add(struct tree *t, const char *name);

/* Compare members for qsort: by name, then by order in the archive. */
int tree_compare(const void *a, const void *b);

/*
 * Copy all members of the archive at fd to the temporary file t->fd, sorted. peeked: n bytes
 * already taken from fd. Returns 0, also where the archive is damaged; -1 with *e filled if nothing
 * can be read.
 */
int tree_open_archive(struct tree *t, int fd, const void *peeked, size_t n, struct error *e);

/*
 * Unpack the compressed files of a directory, FILE.gz for example, to the temporary file t->spool,
 * as members FILE, unless there is a FILE. The members stay sorted. Damage is that of the tree.
 * Returns -1 with *e filled if the temporary file cannot be written.
 */
int tree_unpack_members(struct tree *t, struct error *e);

#endif
