/*
 * block_queue_private.h - shared by block_queue.c (the queue) and block_queue_file.c (its file)
 */
#ifndef TR_TRFILTER_CALLS_BLOCK_QUEUE_PRIVATE_H
#define TR_TRFILTER_CALLS_BLOCK_QUEUE_PRIVATE_H

#include "cmd/trfilter/rows/block_compact.h"
#include "cmd/trfilter/calls/block_queue.h"

/* Offsets of the parts of a queued EVENTS block, which are after its payload. */
struct block_queue_layout {
	size_t states, types, lanes, locations, stacks, innermost, size;
};

/* A block with a state for each row (row_state.h), and the rows' offsets as block_queue_events
 * takes them. */
struct decided_rows {
	const struct block *block;
	const uint8_t *states;
	const uint32_t *offsets;
};

/* Compute the layout; after the payload there is room for compact_block. */
struct block_queue_layout block_queue_layout(const struct block *b, size_t payload, uint32_t rows);
/* Set the block's pointers into memory. */
void block_queue_point(struct block *b, uint8_t *memory, const struct block_queue_layout *l);

void block_queue_forget(struct block_queue *w, struct queued_block *h);
/* Move a block from memory to the file. */
int block_queue_spill(struct block_queue *w, struct queued_block *h, struct error *e);
/* Write an EVENTS block, or the rows of it that may be kept, to the file without a copy in
 * memory. */
int block_queue_write(struct block_queue *w, struct queued_block *h,
		      const struct decided_rows *rows, const struct block_queue_layout *l,
		      struct error *e);

/* Returns the next row from i on that is not left out; where speed matters, most are left out. */
static inline uint32_t block_queue_next_row(const uint8_t *states, uint32_t rows, uint32_t i)
{
	while (i + 8 <= rows && !get_u64(states + i))
		i += 8;
	while (i < rows && states[i] == ROW_LEFT_OUT)
		i++;
	return i;
}

/* Returns the address of row i. */
static inline const uint8_t *block_queue_row_at(const struct block *b, const uint32_t *offsets,
						uint32_t i)
{
	if (!(b->row_flags & EVENTS_BARE))
		return b->row_data + offsets[i];
	return b->row_data + (size_t)i * (b->row_flags & EVENTS_WIDE ? WIDE_ROW : NARROW_ROW);
}

#endif
