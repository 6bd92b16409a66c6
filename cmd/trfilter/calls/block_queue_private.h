/*
 * block_queue_private.h - what waiting.c (the queue) and block_queue_file.c (what is in the file)
 * share
 */
#ifndef TR_TRFILTER_CALLS_BLOCK_QUEUE_PRIVATE_H
#define TR_TRFILTER_CALLS_BLOCK_QUEUE_PRIVATE_H

#include "cmd/trfilter/rows/block_compact.h"
#include "cmd/trfilter/calls/block_queue.h"

/* The parts of a held EVENTS block: where they begin behind its payload. */
struct block_queue_layout {
	size_t states, types, lanes, locations, size;
};

/* Behind the payload there is room for compact_block. */
struct block_queue_layout block_queue_layout(const struct block *b, size_t payload, uint32_t rows);
/* Bytes of the payload before its rows. */
size_t block_queue_front_size(const struct block *b);
/* Let the block's pointers go into memory. */
void block_queue_point(struct block *b, uint8_t *memory, const struct block_queue_layout *l,
		       size_t front);

void block_queue_forget(struct block_queue *w, struct queued_block *h);
/* From memory into the file. */
int block_queue_spill(struct block_queue *w, struct queued_block *h, struct error *e);
/* An EVENTS block, or what may be kept of it, from where it stands into the file. */
int block_queue_write(struct block_queue *w, struct queued_block *h, const struct block *b,
		      const uint8_t *states, const uint32_t *offsets,
		      const struct block_queue_layout *l, struct error *e);

/* The next row from i on that is not dropped; most are, where this matters. */
static inline uint32_t block_queue_next_row(const uint8_t *states, uint32_t rows, uint32_t i)
{
	while (i + 8 <= rows && !get_u64(states + i))
		i += 8;
	while (i < rows && states[i] == ROW_DROP)
		i++;
	return i;
}

/* Where row i stands. */
static inline const uint8_t *block_queue_row_at(const struct block *b, const uint32_t *offsets,
						uint32_t i)
{
	if (!(b->row_flags & EVENTS_BARE))
		return b->row_data + offsets[i];
	return b->row_data + (size_t)i * (b->row_flags & EVENTS_WIDE ? WIDE_ROW : NARROW_ROW);
}

#endif
