/*
 * block_compact.h - make a block of some rows of another block
 */
#ifndef TR_TRFILTER_ROWS_BLOCK_COMPACT_H
#define TR_TRFILTER_ROWS_BLOCK_COMPACT_H

#include "common/stream/event.h"

/* Returns the bytes of a row in the block. */
static inline size_t compact_row_size(const struct block *b, const uint8_t *row)
{
	bool wide = b->row_flags & EVENTS_WIDE;
	size_t n = wide ? WIDE_ROW : NARROW_ROW;
	const struct type *t;

	if (b->row_flags & EVENTS_BARE)
		return n;
	t = b->types[wide ? get_u16(row + 6) : row[6]];
	n += t->fixed_size;
	if (t->flags & TYPE_TAIL)
		n += 4 + align_up(get_u32(row + n), 4);
	return n;
}

/* Returns the time of a row in the block, less the block's base. */
static inline uint64_t compact_row_time(const struct block *b, const uint8_t *row)
{
	return get_u64(row) & (b->row_flags & EVENTS_WIDE ? 0xffffffffffff : 0xffffff);
}

static inline void cut_row_indexes(const struct block *b, const uint8_t *row, uint32_t *lane,
				   uint32_t *type)
{
	bool wide = b->row_flags & EVENTS_WIDE;

	*lane = wide ? get_u16(row + 12) : row[3];
	*type = wide ? get_u16(row + 6) : row[6];
}

/* Returns the bytes of payload that precede the rows. */
static inline size_t compact_front(const struct block *b)
{
	return (size_t)(b->row_data - b->payload);
}

/*
 * Make a block of rows that were copied from b to payload + compact_front(b), size bytes, with 8
 * bytes of room after them; low and high are their times. payload may be b's own.
 */
void compact_block(struct block *out, const struct block *b, uint8_t *payload, size_t size,
		   uint32_t rows, uint64_t low, uint64_t high);

/*
 * Describe the block that compact_block would make, for callers that write the payload themselves:
 * header and tables are unchanged, and out's base less b's is to be subtracted from the rows'
 * times. The pointers are b's.
 */
void compact_describe(struct block *out, const struct block *b, size_t size, uint32_t rows,
		      uint64_t low, uint64_t high);
/* Write the block's numbers to the beginning of its payload. */
void compact_put_header(uint8_t *payload, const struct block *b);

#endif
