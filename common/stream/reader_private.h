/*
 * reader_private.h - shared by reader_input.c (inputs and bytes), reader.c (blocks),
 * reader_segment.c (markers, HEAD and END), reader_events.c (loading of EVENTS blocks),
 * reader_rows.c (checks of rows), reader_pass.c (blocks from pipe to pipe), reader_damage.c
 * (resynchronisation after damage)
 */
#ifndef TR_STREAM_READER_PRIVATE_H
#define TR_STREAM_READER_PRIVATE_H

#include "common/stream/reader.h"

enum {
	READ_SIZE = 128 * 1024,
	LARGE = 4 << 20, /* size of the buffer above which it is released after the block */
};

#define READER_NO_END	"the stream ends without its end mark: did the previous command fail?"
#define READER_NO_BLOCK "no block of the stream begins here"

/* reader_input.c: fill the error and return -1. */
int reader_fatal(struct reader *r, const char *what);
int reader_damaged(struct reader *r, uint64_t offset, const char *what);
/* Report that the input ended too early. After a signal that is no damage (reader.cut). */
int reader_ended(struct reader *r, uint64_t offset, const char *what);
int reader_no_memory(struct reader *r);
/* Open the next input. 1, 0: there is none, -1 (the next call opens the one after it). */
int reader_open_next(struct reader *r);
void reader_close_input(struct reader *r);
/* Read until n bytes are at data[begin], at most `most` bytes. 1, or 0 at the end of the input
 * with fewer, or -1. */
int reader_fill(struct reader *r, size_t n, size_t most);
/* Call before_block before waiting for more input. 0, or -1. */
int reader_wait(struct reader *r);
/* Skip the rest of the last block. */
int reader_skip_pending(struct reader *r);

static inline void reader_consume(struct reader *r, size_t n)
{
	r->input.begin += n;
	r->input.offset += n;
}

/* reader.c: decode the header of a block; false if there is none at p. */
bool reader_parse_header(const uint8_t *p, struct block *b);
/* Find the fault of the payload by its checksum; NULL: none. */
const char *reader_crc_fault(const struct block *b);

/* Get how many bytes to read at once. For a block of EVENTS in a file these are the block and
 * the header of the next one: so every block is at the same address, which the processor's cache
 * contains. */
static inline size_t reader_at_once(const struct reader *r, const struct block *b, size_t otherwise)
{
	size_t have = r->input.filled - r->input.begin, all = (size_t)b->length + BLOCK_HEADER;

	return r->input.regular && b->kind == BLOCK_EVENTS && all > have ? all - have : otherwise;
}

/* reader_segment.c: read what follows a segment: another marker (1), or the end of the input (2:
 * normal, -1). */
int reader_begin_segment(struct reader *r);
/* Check that the first block of a segment, and no other, is HEAD, and that all blocks have
 * checksums or none has. A fault is reported once and passed over. */
int reader_check_order(struct reader *r, const struct block *b);
/* Refuse a stream of an unknown version, or skip to the next segment of a known one. */
int reader_check_version(struct reader *r, const struct block *b);
/* Check that all inputs are summaries or none is: one program reads summaries, and only them. */
int reader_check_summary(struct reader *r, const struct block *b);
/* Find the fault that makes a HEAD or END block useless; NULL: none. */
const char *reader_head_fault(const struct reader *r, const struct block *b);
const char *reader_end_fault(const struct block *b);
/* Decode HEAD and END. -1: with the error; the block can be used nevertheless. */
int reader_read_head(struct reader *r, const struct block *b);
int reader_read_end(struct reader *r, const struct block *b);

/* reader_events.c: read the head of an EVENTS block, and its rows except on demand. */
int reader_read_events(struct reader *r, struct block *b);

/*
 * reader_damage.c: search from here on for the marker of a segment or, within a segment, for a
 * block (its ids stay valid; declarations of the damaged part are found to be missing where they
 * are used). 1 found, 0 the input ended, -1. The caller has found that the stream cannot continue
 * at the present offset unchanged, so the search never returns to it endlessly.
 */
int reader_resynchronise(struct reader *r);
/* Do the same, and open the next input if nothing is found. The error is unchanged. */
void reader_go_on_after_damage(struct reader *r);
/* Test whether valid stream data follows a block whose content is damaged. */
bool reader_length_is_true(struct reader *r, size_t length);
/*
 * Test whether that many bytes may be scanned again. Nested blocks that are each damaged at their
 * end must not cost quadratic time.
 */
bool reader_may_go_back(struct reader *r, size_t length);
/* If the length is wrong, search the next block from the beginning of this payload. */
void reader_distrust_length(struct reader *r, size_t length);

/* reader_rows.c: resolve the ids of the block's tables. 0, or -1. */
int reader_tables(struct reader *r, struct block *b);
/* Test whether every type of the block makes rows without a fixed part and tail. */
bool reader_all_bare(const struct block *b);
/* Test whether a block with EVENTS_BARE contains as many rows as it declares. Sets row_size to
 * their bytes. */
bool reader_bare_rows_fit(struct block *b);
/* Count the complete rows at the front into *rows, and return their bytes. Sets bad_values. */
size_t reader_walk_rows(enum reads_values reads, struct block *b, uint32_t *rows);

#endif
