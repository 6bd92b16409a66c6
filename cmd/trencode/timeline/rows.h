/*
 * rows.h - records of one size in lists, each of which is read several times from its beginning
 *
 * All lists share one buffer that spills (common/util/buffer_file.h), so memory does not depend on
 * their number of records. A function that returns int returns 0, or -1 when out of memory.
 */
#ifndef TR_TRENCODE_TIMELINE_ROWS_H
#define TR_TRENCODE_TIMELINE_ROWS_H

#include "common/util/buffer.h"

/* The records of all lists. A chunk of a list is the offset of its next chunk, then ROWS_CHUNK
 * records. */
struct rows {
	struct buffer bytes;
	size_t record;	/* size of a record, bytes */
	size_t touched; /* bytes read or written since the memory was released */
};

enum { ROWS_CHUNK = 64 };

/* One list. */
struct row_list {
	size_t first, last; /* offsets of chunks; valid if there are records */
	uint64_t count;
};

void rows_init(struct rows *r, size_t record);
void rows_free(struct rows *r);
int rows_add(struct rows *r, struct row_list *list, const void *record);

/* A position in a list. */
struct row_cursor {
	size_t chunk;
	uint64_t at; /* number of the next record */
};

/* Returns the next record of a list, valid until the next call; NULL: there is none. *c is zero at
 * the beginning. */
const void *rows_next(struct rows *r, const struct row_list *list, struct row_cursor *c);

#endif
