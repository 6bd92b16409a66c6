/*
 * events_block.h - decodes the payload of an EVENTS block
 *
 *     events_block_head(b), then events_block_tables, then events_block_rows
 *
 * For payloads that are not a reader's: those that a program writes, and the rows of open calls.
 * The functions return the fault, NULL if there is none. Without memory they return
 * EVENTS_NO_MEMORY.
 */
#ifndef TR_STREAM_EVENTS_BLOCK_H
#define TR_STREAM_EVENTS_BLOCK_H

#include "common/stream/event.h"

/* Room for the tables of one block. Zero-initialised: none. */
struct events_tables {
	const struct type **types;
	const struct lane **lanes;
	uint32_t *locations, *stacks, *innermost;
	size_t types_capacity, lanes_capacity, locations_capacity, stacks_capacity,
		innermost_capacity;
};

extern const char *const EVENTS_NO_MEMORY;

void events_tables_free(struct events_tables *t);

/* Decode the head. The payload and its length, at least EVENTS_HEADER, are set. */
const char *events_block_head(struct block *b);
/* Resolve the ids of the tables, which are valid until the next call for t. */
const char *events_block_tables(struct events_tables *t, const struct dictionary *d,
				struct block *b);
/* Check that the rows lie within the block, its tables and its times. Sets row_size to their
 * bytes, and bad_values for the values that are read. */
const char *events_block_rows(struct block *b, enum reads_values reads);

#endif
