#include "cmd/trencode/timeline/spill_list.h"

#include <unistd.h>

#include "common/util/temporary.h"

/* The header of a piece: offset of the piece before it + 1, and the length. */
enum { PIECE_HEADER = 16, PIECE_RECORDS = 1024, PENDING_MOST = 4 << 20 };

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

static void chain_list(struct chain *ch, struct chain **at)
{
	ch->next = *at;
	if (ch->next)
		ch->next->from = &ch->next;
	ch->from = at;
	*at = ch;
}

static void chain_unlist(struct chain *ch)
{
	*ch->from = ch->next;
	if (ch->next)
		ch->next->from = ch->from;
	ch->from = NULL;
}

void chain_free(struct chain *ch)
{
	if (ch->from)
		chain_unlist(ch);
	buffer_free(&ch->pending);
	*ch = (struct chain){0};
}

/* Write the pending records; the buffer begins with room for the header. */
static int put_away(struct spill_list *c, struct chain *ch, struct error *e)
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
		struct chain *ch = c->list;

		if (put_away(c, ch, e))
			return -1;
		buffer_free(&ch->pending);
		chain_unlist(ch);
	}
	return 0;
}

int chain_add(struct spill_list *c, struct chain *ch, const void *record, struct error *e)
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
	return c->pending > PENDING_MOST ? put_all_away(c, e) : 0;
}

static int unwind_pending(struct spill_list *c, struct chain *ch,
			  int (*take)(void *ctx, const void *record, struct error *e), void *ctx,
			  struct error *e)
{
	const struct buffer *b = &ch->pending;

	for (size_t at = b->size; at > PIECE_HEADER; at -= c->record)
		if (take(ctx, b->data + at - c->record, e))
			return -1;
	return 0;
}

int chain_unwind(struct spill_list *c, struct chain *ch,
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
