/*
 * reader_private.h - what reader.c (inputs, blocks, segments) and reader_rows.c (the rows of an
 * EVENTS block, checked as a whole) share
 */
#ifndef TR_READER_PRIVATE_H
#define TR_READER_PRIVATE_H

#include "reader.h"

/* reader.c: -1, with the error. */
int reader_damaged(struct reader *r, uint64_t offset, const char *what);
int reader_no_memory(struct reader *r);

/* reader_rows.c: the block's tables from ids to what they name. 0, or -1. */
int reader_tables(struct reader *r, struct block *b);
/* Does every type of the block make rows without a fixed part and tail? */
bool reader_all_bare(const struct block *b);
/* Do the rows lie within the block, its tables and its times? They set row_size to what they take.
 */
bool reader_bare_rows_sane(struct block *b);
bool reader_rows_sane(struct block *b);
/* Bytes of the whole rows at the front; *rows counts them. */
size_t reader_walk_rows(const struct block *b, uint32_t *rows);

#endif
