/*
 * copied_row.h - rows outside of their blocks, and lists of them
 */
#ifndef TR_TRENCODE_COPIED_ROW_H
#define TR_TRENCODE_COPIED_ROW_H

#include "common/stream/event.h"

/* A row outside its block; of a list, with its neighbours. */
struct copied_row {
	struct copied_row *before, *after;
	uint64_t time;
	const struct type *type;
	const struct lane *lane;
	uint32_t location;
	bool shown, ignored; /* the caller's */
	size_t size;
	uint8_t row[];
};

struct copied_rows {
	struct copied_row *oldest, *newest;
};

/* A block of one copied row. It must not move. */
struct copied_block {
	struct block block;
	uint32_t locations[2];
};

/* Copy an event. NULL: out of memory. */
struct copied_row *copied_row_new(const struct event *ev);
/* Append a row to a list, which then owns it. */
void copied_rows_append(struct copied_rows *l, struct copied_row *n);
/* Take a row out of its list, and free it. */
void copied_rows_remove(struct copied_rows *l, struct copied_row *n);
void copied_rows_clear(struct copied_rows *l);
/* Make a block of a row with another time. The block refers to n. */
const struct block *copied_row_block(struct copied_block *b, struct copied_row *n, uint64_t time);

#endif
