/*
 * tree_output.h - a result of several files: a directory, or a tar of it on standard output
 *
 * Members are flat: a name without a slash. They may be many (thousands) and grow in turns: each
 * has a small buffer, no descriptor, and all buffers together stay within a few MiB.
 *
 * A directory is written under a hidden name beside its path, and renamed when it is complete. If
 * the path is an empty directory, the hidden directory is inside of it, and the members are moved
 * up when all are complete, the member made first as the last. So a failed run leaves no directory
 * that looks complete. Members with places are moved to these, one by one, in a directory that may
 * have other files; a file that is in a place is replaced. A tar needs the sizes of the members in
 * their headers, so the members are kept in one nameless file in $TMPDIR, the spool.
 *
 * A function that returns int returns 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_TREE_OUTPUT_H
#define TR_TRENCODE_TREE_OUTPUT_H

#include <stdint.h>
#include <string.h>

#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/output.h"

/* One file of the result. */
struct tree_member {
	uint8_t *buffer;
	uint32_t used, capacity;
	uint64_t size; /* bytes so far, with those in the buffer */
	uint64_t last; /* tar: offset of its last piece in the spool */
	char *place;   /* path in the directory; NULL: its name. Owned */
};

/* One result of several files. */
struct tree_output {
	struct intern names; /* number: index in members */
	struct tree_member *members;
	size_t capacity;
	size_t active;	/* members with a buffer */
	size_t limit;	/* largest size of a buffer now, bytes */
	uint64_t total; /* bytes of all members */

	char *path, *temporary; /* directories; NULL for a tar */
	int directory;		/* descriptor of temporary */
	bool inside;		/* path is a directory that contains temporary */
	bool places;		/* members have places */
	bool made;		/* path was created for them */

	struct output output; /* tar */
	const char *top;
	int spool;
	uint64_t spool_size;
	bool open;
};

/*
 * Open the result. path: a directory that does not exist, or is empty; NULL or "-": a tar to
 * standard output, all members below the directory top, which the caller owns. top NULL: the
 * members have places, which the caller sets before tree_output_finish. After an error
 * tree_output_close may be called, and does nothing.
 */
int tree_output_open(struct tree_output *t, const char *path, const char *top, struct error *e);

/* Test whether a member may have this name: no slash, no NUL, no dot at its beginning, at most 255
 * bytes. */
bool tree_output_name_ok(const char *name, size_t n);

/* Find the member of that name, or add an empty one. An impossible name is an error. */
int tree_output_member(struct tree_output *t, const char *name, size_t n, uint32_t *number,
		       struct error *e);

static inline uint64_t tree_output_size(const struct tree_output *t, uint32_t number)
{
	return t->members[number].size;
}

int tree_output_put_slow(struct tree_output *t, uint32_t number, const void *data, size_t n,
			 struct error *e);

/* Append to a member. */
static inline int tree_output_put(struct tree_output *t, uint32_t number, const void *data,
				  size_t n, struct error *e)
{
	struct tree_member *m = &t->members[number];

	if (n > m->capacity - m->used || !m->buffer)
		return tree_output_put_slow(t, number, data, n, e);
	memcpy(m->buffer + m->used, data, n);
	m->used += (uint32_t)n;
	m->size += n;
	t->total += n;
	return 0;
}

/* Write the buffer of a member to which nothing will be appended soon, and free the buffer. */
int tree_output_settle(struct tree_output *t, uint32_t number, struct error *e);

/* Complete the result: rename the directory, or write the tar. */
int tree_output_finish(struct tree_output *t, struct error *e);

/* Free everything, and remove an unfinished directory. */
void tree_output_close(struct tree_output *t);

#endif
