/*
 * reader_private.h - what the parts of the reader share: reader_input.c (the inputs and their
 * bytes), reader.c (block by block), reader_segment.c (markers, HEAD and END), reader_events.c (an
 * EVENTS block is had at hand), reader_rows.c (its rows, checked as a whole), reader_pass.c (blocks
 * from pipe to pipe), reader_damage.c (where to go on behind damage)
 */
#ifndef TR_STREAM_READER_PRIVATE_H
#define TR_STREAM_READER_PRIVATE_H

#include "common/stream/reader.h"

enum {
	READ_SIZE = 128 * 1024,
	LARGE = 4 << 20, /* of the buffer: not kept beyond the block that needed it */
};

#define READER_NO_END	"the stream ends without its end mark (did the program before fail?)"
#define READER_NO_BLOCK "here should stand a block of the stream"

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

/* reader.c: the header of a block; false if none stands at p. */
bool reader_parse_header(const uint8_t *p, struct block *b);
/* What is wrong with the payload by its checksum; NULL: nothing. */
const char *reader_crc_fault(const struct block *b);

/* How much to read for a block of EVENTS, or otherwise. Of a file that is the block with the header
 * of the next one: so each of them comes to the same place in memory, where the processor has it at
 * hand. */
static inline size_t reader_at_once(const struct reader *r, const struct block *b, size_t otherwise)
{
	size_t have = r->filled - r->begin, all = (size_t)b->length + BLOCK_HEADER;

	return r->regular && b->kind == BLOCK_EVENTS && all > have ? all - have : otherwise;
}

/* reader_segment.c, between segments: another marker (1), or the end of the input (2: as it should,
 * -1). */
int reader_begin_segment(struct reader *r);
/* The first block of a segment, and no other, is HEAD, and all have checksums or none. What is not
 * so is said once and gone past. */
int reader_check_order(struct reader *r, const struct block *b);
/* A version of later days: no stream for us, or on to another segment of one that we know. */
int reader_check_version(struct reader *r, const struct block *b);
/* Summaries are for one program, and that one takes nothing else with them. */
int reader_check_summary(struct reader *r, const struct block *b);
/* What is wrong with a HEAD or END block, so that it is of no use; NULL: nothing. */
const char *reader_head_fault(const struct reader *r, const struct block *b);
const char *reader_end_fault(const struct block *b);
/* What HEAD and END say. -1: with the error, which does not make them useless. */
int reader_read_head(struct reader *r, const struct block *b);
int reader_read_end(struct reader *r, const struct block *b);

/* reader_events.c: the head of an EVENTS block, and its rows unless they are had on demand. */
int reader_read_events(struct reader *r, struct block *b);

/*
 * reader_damage.c: from here on look for the marker of a segment or, within a segment, for a block
 * (its ids stay; what the damaged part declared is found to be missing where it is used). 1 found,
 * 0 the input ended, -1. Who calls has found that nothing can go on at the present place as it is,
 * so this does not come back to the same place for ever.
 */
int reader_resynchronise(struct reader *r);
/* The same, and to the next input if nothing is found. The error stays as it is. */
void reader_go_on_behind_damage(struct reader *r);
/* The content of a block is damaged: does what belongs into a stream stand behind it at least? */
bool reader_length_is_true(struct reader *r, size_t length);
/*
 * May so many bytes that were looked at be gone through again? Blocks that lie within each other,
 * every one of them damaged at its end, must not cost the square of their bytes.
 */
bool reader_may_go_back(struct reader *r, size_t length);
/* If not, the next block is looked for from the beginning of this one's payload. */
void reader_distrust_length(struct reader *r, size_t length);

/* reader_rows.c: the block's tables from ids to what they name. 0, or -1. */
int reader_tables(struct reader *r, struct block *b);
/* Does every type of the block make rows without a fixed part and tail? */
bool reader_all_bare(const struct block *b);
/* Of a block with EVENTS_BARE: are there as many rows as it says? Sets row_size to what they take.
 */
bool reader_bare_rows_fit(struct block *b);
/* Do the rows lie within the block, its tables and its times? Sets row_size to what they take. */
bool reader_rows_sane(const struct reader *r, struct block *b);
/* Bytes of the whole rows at the front; *rows counts them. Sets bad_values. */
size_t reader_walk_rows(const struct reader *r, struct block *b, uint32_t *rows);

#endif
