/*
 * spill_list.c - records of many threads, added in any order and read back thread by thread
 */
#include "cmd/trencode/spill_list.h"

#include <unistd.h>

#include "common/util/buffer.h"
#include "common/util/output.h"

/* The header of a piece: offset of the piece before it + 1, and the length. */
enum { PIECE_HEADER = 16, PIECE_RECORDS = 1024, SPILL_LIST_PENDING_MOST = 4 << 20 };

void spill_list_init(struct spill_list *c, size_t record)
{
	*c = (struct spill_list){.record = record, .fd = -1};
}

void spill_list_free(struct spill_list *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

static void chain_list(struct spill_chain *ch, struct spill_chain **at)
{
	ch->next = *at;
	if (ch->next)
		ch->next->from = &ch->next;
	ch->from = at;
	*at = ch;
}

static void chain_unlist(struct spill_chain *ch)
{
	*ch->from = ch->next;
	if (ch->next)
		ch->next->from = ch->from;
	ch->from = NULL;
}

void chain_free(struct spill_chain *ch)
{
	if (ch->from)
		chain_unlist(ch);
	buffer_free(&ch->pending);
	*ch = (struct spill_chain){0};
}

/* Write the pending records; the buffer begins with room for the header. */
static int put_away(struct spill_list *c, struct spill_chain *ch, struct error *e)
{
	struct buffer *b = &ch->pending;

	if (b->size <= PIECE_HEADER)
		return 0;
	if (c->fd < 0 && (c->fd = temporary_open(e)) < 0)
		return -1;
	put_u64(b->data, ch->last);
	put_u64(b->data + 8, b->size - PIECE_HEADER);
	if (temporary_write(c->fd, b->data, b->size, c->size, e))
		return -1;
	ch->last = c->size + 1;
	c->size += b->size;
	c->pending -= b->size;
	b->size = 0;
	return 0;
}

static int put_all_away(struct spill_list *c, struct error *e)
{
	while (c->list) {
		struct spill_chain *ch = c->list;

		if (put_away(c, ch, e))
			return -1;
		buffer_free(&ch->pending);
		chain_unlist(ch);
	}
	return 0;
}

int chain_add(struct spill_list *c, struct spill_chain *ch, const void *record, struct error *e)
{
	struct buffer *b = &ch->pending;
	size_t had = b->size;

	if (!ch->from)
		chain_list(ch, &c->list);
	if ((!had && buffer_zero(b, PIECE_HEADER)) || buffer_append(b, record, c->record))
		return error_no_memory(e);
	c->pending += b->size - had;
	if (b->size >= PIECE_HEADER + PIECE_RECORDS * c->record && put_away(c, ch, e))
		return -1;
	return c->pending > SPILL_LIST_PENDING_MOST ? put_all_away(c, e) : 0;
}

static int unwind_pending(struct spill_list *c, struct spill_chain *ch,
			  int (*take)(void *ctx, const void *record, struct error *e), void *ctx,
			  struct error *e)
{
	const struct buffer *b = &ch->pending;

	for (size_t at = b->size; at > PIECE_HEADER; at -= c->record)
		if (take(ctx, b->data + at - c->record, e))
			return -1;
	return 0;
}

int chain_unwind(struct spill_list *c, struct spill_chain *ch,
		 int (*take)(void *ctx, const void *record, struct error *e), void *ctx,
		 struct error *e)
{
	struct buffer *b = &ch->pending;

	if (ch->from)
		chain_unlist(ch);
	c->pending -= b->size;
	if (unwind_pending(c, ch, take, ctx, e))
		return -1;
	while (ch->last) {
		uint8_t header[PIECE_HEADER];
		size_t n;

		if (temporary_read(c->fd, header, sizeof header, ch->last - 1, e))
			return -1;
		n = get_u64(header + 8);
		b->size = 0;
		if (buffer_reserve(b, PIECE_HEADER + n))
			return error_no_memory(e);
		if (temporary_read(c->fd, b->data, PIECE_HEADER + n, ch->last - 1, e))
			return -1;
		b->size = PIECE_HEADER + n;
		ch->last = get_u64(header);
		if (unwind_pending(c, ch, take, ctx, e))
			return -1;
	}
	buffer_free(b);
	return 0;
}

/* --- spill journal --- */

/* The header of a record: u32 length, u32 1 if it is revoked. */
enum { HEADER = 8, SPILL_JOURNAL_PENDING_MOST = 256 * 1024 };

void spill_journal_init(struct spill_journal *r)
{
	*r = (struct spill_journal){.fd = -1};
}

void spill_journal_free(struct spill_journal *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	buffer_free(&r->pending);
}

static int spill_journal_write(struct spill_journal *r, struct error *e)
{
	if (r->fd < 0 && (r->fd = temporary_open(e)) < 0)
		return -1;
	if (temporary_write(r->fd, r->pending.data, r->pending.size, r->written, e))
		return -1;
	r->written += r->pending.size;
	r->pending.size = 0;
	return 0;
}

/* Write a record to the file directly, in pieces, as it may have spilled. */
static int spill_journal_add_large(struct spill_journal *r, const struct buffer *record,
				   struct error *e)
{
	size_t piece;

	if (spill_journal_write(r, e))
		return -1;
	for (size_t at = 0; at < record->size; at += piece) {
		piece = record->size - at < SPILL_JOURNAL_PENDING_MOST ? record->size - at
								       : SPILL_JOURNAL_PENDING_MOST;
		if (temporary_write(r->fd, record->data + at, piece, r->written, e))
			return -1;
		r->written += piece;
		buffer_rest(record);
	}
	return 0;
}

int spill_journal_add(struct spill_journal *r, const struct buffer *record, uint64_t *token,
		      struct error *e)
{
	struct buffer *b = &r->pending;
	size_t n = record->size;

	if (n > UINT32_MAX)
		return error_set(e, NULL, NO_OFFSET, "a record of %zu bytes is too large", n);
	*token = r->written + b->size;
	if (buffer_u32(b, (uint32_t)n) || buffer_u32(b, 0))
		return error_no_memory(e);
	if (n > SPILL_JOURNAL_PENDING_MOST)
		return spill_journal_add_large(r, record, e);
	if (buffer_append(b, record->data, n))
		return error_no_memory(e);
	return b->size > SPILL_JOURNAL_PENDING_MOST ? spill_journal_write(r, e) : 0;
}

int spill_journal_revoke(struct spill_journal *r, uint64_t token, struct error *e)
{
	uint8_t mark[4];

	put_u32(mark, 1);
	if (token < r->written)
		return temporary_write(r->fd, mark, sizeof mark, token + 4, e);
	memcpy(r->pending.data + (token - r->written) + 4, mark, sizeof mark);
	return 0;
}

/* Copy a record, without its header, that is longer than the buffer. */
static int spill_journal_copy_large(struct spill_journal *r, uint64_t at, size_t size,
				    struct output *to, struct error *e)
{
	while (size) {
		size_t n = size < SPILL_JOURNAL_PENDING_MOST ? size : SPILL_JOURNAL_PENDING_MOST;

		if (temporary_read(r->fd, r->pending.data, n, at, e) ||
		    output_write(to, r->pending.data, n, e))
			return -1;
		at += n;
		size -= n;
	}
	return 0;
}

int spill_journal_copy(struct spill_journal *r, struct output *to, struct error *e)
{
	struct buffer *b = &r->pending;
	uint64_t at = 0;

	if (spill_journal_write(r, e))
		return -1;
	while (at < r->written) {
		uint64_t left = r->written - at;
		size_t n = left < SPILL_JOURNAL_PENDING_MOST ? (size_t)left
							     : SPILL_JOURNAL_PENDING_MOST,
		       done = 0, end = 0;

		b->size = 0;
		if (buffer_reserve(b, n))
			return error_no_memory(e);
		if (temporary_read(r->fd, b->data, n, at, e))
			return -1;
		/* move the records that remain together */
		while (done + HEADER <= n) {
			size_t size = get_u32(b->data + done);
			bool revoked = get_u32(b->data + done + 4);

			if (size > n - done - HEADER) {
				if (done)
					break;
				/* longer than the piece that was read */
				if (!revoked &&
				    spill_journal_copy_large(r, at + HEADER, size, to, e))
					return -1;
				done = HEADER + size;
				break;
			}
			if (!revoked)
				memmove(b->data + end, b->data + done + HEADER, size);
			end += revoked ? 0 : size;
			done += HEADER + size;
		}
		if (output_write(to, b->data, end, e))
			return -1;
		at += done;
	}
	return 0;
}
