/*
 * tree_private.h - what tree.c (directories, members) and tree_archive.c share
 */
#ifndef TR_TREE_PRIVATE_H
#define TR_TREE_PRIVATE_H

#include "tree.h"

#define READ_SIZE (256u << 10)

struct tree_member {
	char *name;
	uint64_t offset; /* in the temporary file */
	uint64_t size;
	uint32_t order; /* the later of two equal names in an archive counts */
};

struct tree {
	char *name;
	int fd; /* the directory, or the temporary file */
	bool is_archive;
	struct tree_member *members;
	size_t nr, room;
	size_t names_size;
	bool damaged;
	struct error damage;
};

/* What an archive is read from: the file as it is, or what is packed in it. */
/* tree.c: a member behind the others; NULL when there is no room for its name. */
struct tree_member *tree_add_member(struct tree *t, const char *name);
/* The last one is none after all. */
void tree_drop_member(struct tree *t);
/* All are there. */
void tree_finish_members(struct tree *t);
void tree_set_damage(struct tree *t, const char *member, const char *what);

/* tree_archive.c: take in a tar of which n bytes have been read already. 0, or -1 with e filled. */
int tree_open_archive(struct tree *t, int fd, const void *peeked, size_t n, struct error *e);

#endif
