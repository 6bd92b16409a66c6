/*
 * writer_private.h - shared by writer.c (blocks and segments), writer_declare.c (declarations),
 * writer_rows.c (rows and gaps), writer_meta.c (parts of sources), writer_pass.c (blocks of another
 * stream)
 */
#ifndef TR_STREAM_WRITER_PRIVATE_H
#define TR_STREAM_WRITER_PRIVATE_H

#include "common/stream/writer.h"

enum {
	ROWS_CAPACITY = BLOCK_TARGET,
	DICT_LIMIT = 256 * 1024, /* pending declarations of this size are sent at once */
};

/* A stored declaration: its payload in the arena, and the segment that it was last sent in. */
struct stored_entry {
	size_t offset;
	uint32_t size;
	uint32_t segment;
	uint32_t child; /* first of the entries sent after it: maps of a space, symbol of a
			   location; space of a lane */
	uint32_t next;
};

/* A part of a source that was sent. */
struct sent_meta {
	uint32_t source;
	char *name;
	uint64_t hash, total;
};

/* Fill the error and return -1. */
int writer_no_memory(struct writer *w);
uint64_t writer_now(void); /* CLOCK_MONOTONIC, ns */

/* writer.c */
void writer_block_header(const struct writer *w, uint8_t *p, uint16_t kind, uint16_t flags,
			 uint32_t length, uint32_t crc);
int writer_send(struct writer *w, struct iovec *v, int n, struct error *e);
/* Send a block unchanged, whose checksum, if it has one, the reader has verified. */
int writer_send_same(struct writer *w, const struct block *b);
int writer_send_head(struct writer *w, uint64_t stream_id, uint32_t sequence, uint32_t flags,
		     const void *before, size_t before_size);
int writer_need_segment(struct writer *w);
int writer_end_segment(struct writer *w, uint32_t flags);
int writer_next_segment(struct writer *w);
void writer_count_events(struct writer *w, uint64_t rows, uint64_t base, uint64_t last);
void writer_clear_block(struct writer *w);

/* writer_meta.c: send references to the parts that earlier segments have. */
int writer_refer_metas(struct writer *w);

/* writer_declare.c: send an entry after the entries that it names, unless this segment has it.
 * */
int writer_declare(struct writer *w, enum entry_kind kind, uint32_t id);
/* Send entries, kind and id, u32 each, that this segment does not have. */
int writer_declare_all(struct writer *w, const struct buffer *entries);

/* writer_rows.c */

/* Flush as writer_flush does, with the bytes of the last row's tail, which are not among the
 * rows. */
int writer_flush_large(struct writer *w, const void *tail, size_t n);

#endif
