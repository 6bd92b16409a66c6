/*
 * reader_private.h - what reader_input.c (the inputs and their bytes), reader.c (blocks, segments),
 * reader_pass.c (blocks from pipe to pipe) and reader_rows.c (the rows of an EVENTS block, checked
 * as a whole) share
 */
#ifndef TR_READER_PRIVATE_H
#define TR_READER_PRIVATE_H

#include "reader.h"

enum {
	READ_SIZE = 128 * 1024,
	LARGE = 4 << 20, /* of the buffer: not kept beyond the block that needed it */
};

#define READER_NO_END "the stream ends without its end mark (did the program before fail?)"

/* reader_input.c: -1, with the error. */
int reader_fatal(struct reader *r, const char *what);
int reader_damaged(struct reader *r, uint64_t offset, const char *what);
int reader_no_memory(struct reader *r);
/* 1: the next input is open, 0: there is none, -1 (and the one after it next time). */
int reader_open_next(struct reader *r);
void reader_close_input(struct reader *r);
/* Have n bytes at data[begin], reading at most `most` bytes. 1, or 0 at the end of the input with
 * fewer, or -1. */
int reader_fill(struct reader *r, size_t n, size_t most);
/* Let what was made of the input so far go out before waiting for more of it. 0, or -1. */
int reader_wait(struct reader *r);
/* Step over what is left of the last block. */
int reader_skip_pending(struct reader *r);

static inline void reader_consume(struct reader *r, size_t n)
{
	r->begin += n;
	r->offset += n;
}

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
