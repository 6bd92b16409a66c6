/*
 * tree_output.h - a result of several files: a directory, or a tar of it on standard output
 *
 * Members are flat: a name without a slash. They may be many (thousands) and grow in turns: each
 * has a small buffer, no descriptor, and all buffers together stay within a few MiB.
 *
 * A directory is written beside its place and put there by rename, or, where the place is an empty
 * directory, inside of it under a hidden name until all is complete; the member made first is moved
 * last. So a failed run leaves no directory that looks like a whole one. For a tar, whose headers
 * need the sizes, the members are kept in one nameless file in $TMPDIR.
 */
#ifndef TR_TRENCODE_CONVERT_TREE_OUTPUT_H
#define TR_TRENCODE_CONVERT_TREE_OUTPUT_H

#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/output.h"

#include <stdint.h>
#include <string.h>

struct tree_member {
	uint8_t *buffer;
	uint32_t used, capacity;
	uint64_t size; /* bytes so far, those in the buffer too */
	uint64_t last; /* tar: where its last piece stands in the spool */
};

struct tree_output {
	struct intern names; /* number: index in members */
	struct tree_member *members;
	size_t capacity;
	size_t active; /* members with a buffer */
	size_t limit;  /* what a buffer may take now */

	char *location, *temporary; /* directory; NULL for a tar */
	int directory;		    /* descriptor of temporary */
	bool inside;		    /* place is there, empty, and holds temporary */

	struct output output; /* tar */
	const char *top;
	int spool;
	uint64_t spool_size;
	bool open;
};

/*
 * path: a directory that does not exist, or is empty; NULL or "-": a tar to standard output, all
 * members below the directory top (which stays the caller's). 0, or -1 with e filled; then
 * tree_output_close may be called, and does nothing.
 */
int tree_output_open(struct tree_output *t, const char *path, const char *top, struct error *e);

/* May a member be called so? No slash, no NUL, no dot at its beginning, at most 255 bytes. */
bool tree_output_name_ok(const char *name, size_t n);

/* The number of the member of that name, which begins empty if it was not there. -1: a name that
 * cannot be, or out of memory. */
int tree_output_member(struct tree_output *t, const char *name, size_t n, uint32_t *number,
		       struct error *e);

/* Where name is a member: its number, else INTERN_NONE. */
uint32_t tree_output_find(const struct tree_output *t, const char *name);

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
	return 0;
}

/* Nothing will be appended to the member soon: write it out and give its buffer back. */
int tree_output_settle(struct tree_output *t, uint32_t number, struct error *e);

/* All is there: put the directory in its place, or write the tar. 0, or -1. */
int tree_output_finish(struct tree_output *t, struct error *e);

/* Free everything; what was not finished is removed. */
void tree_output_close(struct tree_output *t);

#endif
