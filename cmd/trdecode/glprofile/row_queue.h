/*
 * row_queue.h - rows that wait for their times
 *
 * Rows may be added in any order; those of the same time are written in the order of their
 * addition. At most ROW_QUEUE_ROWS rows and about ROW_QUEUE_BYTES bytes wait; then the earliest
 * are written. A zero-initialised queue is empty. Functions that return int return 0, or -1 when
 * out of memory, or with the writer's error.
 */
#ifndef TR_TRDECODE_GLPROFILE_ROW_QUEUE_H
#define TR_TRDECODE_GLPROFILE_ROW_QUEUE_H

#include "common/stream/writer_rows.h"

enum { ROW_QUEUE_ROWS = 1 << 18, ROW_QUEUE_BYTES = 64 << 20 };

struct queued_row;

struct row_queue {
	struct writer *w;
	struct queued_row **rows; /* a heap */
	size_t count, capacity, bytes;
	uint64_t added;
};

/* What a row needs to be declared before it. */
struct row_needs {
	const uint8_t *definitions; /* u32 each; bytes: their size */
	size_t bytes;
	uint32_t stack; /* 0: none */
};

/* Declare them. */
static inline int row_needs_use(const struct row_needs *n, struct writer *w)
{
	for (size_t i = 0; i < n->bytes; i += 4)
		if (writer_use_definition(w, get_u32(n->definitions + i)))
			return -1;
	return n->stack ? writer_use_stack(w, n->stack) : 0;
}

/* Add a row. Its data is copied. */
int row_queue_put(struct row_queue *q, const struct new_row *r, const struct row_needs *needs);
/* Write the rows up to and including a time. */
int row_queue_write(struct row_queue *q, uint64_t until);
/* Return the time of the first row; UINT64_MAX: there is none. */
uint64_t row_queue_next(const struct row_queue *q);
void row_queue_free(struct row_queue *q);

#endif
