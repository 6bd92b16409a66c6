/*
 * block_compact.h - make a block of some rows of another block
 */
#ifndef TR_TRFILTER_BLOCK_COMPACT_H
#define TR_TRFILTER_BLOCK_COMPACT_H

#include "common/stream/event.h"

/* Rows that were copied from a block. */
struct compact_rows {
	size_t size; /* bytes */
	uint32_t count;
	uint64_t low, high; /* lowest and highest time */
};

/*
 * Make a block of rows that were copied from b to payload + b->front, with 8 bytes of room
 * after them. payload may be b's own.
 */
void compact_block(struct block *out, const struct block *b, uint8_t *payload,
		   const struct compact_rows *rows);

/*
 * Describe the block that compact_block would make, for callers that write the payload themselves:
 * header and tables are unchanged, and out's base less b's is to be subtracted from the rows'
 * times. The pointers are b's.
 */
void compact_describe(struct block *out, const struct block *b, const struct compact_rows *rows);
/* Write the block's numbers to the beginning of its payload. */
void compact_put_header(uint8_t *payload, const struct block *b);

#endif
