#include "cmd/trencode/timeline/spill_journal.h"

#include <unistd.h>

#include "common/util/buffer_file.h"
#include "common/util/temporary.h"

/* The header of a record: u32 length, u32 1 if it is revoked. */
enum { HEADER = 8, PENDING_MOST = 256 * 1024 };

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
		piece = record->size - at < PENDING_MOST ? record->size - at : PENDING_MOST;
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
	if (n > PENDING_MOST)
		return spill_journal_add_large(r, record, e);
	if (buffer_append(b, record->data, n))
		return error_no_memory(e);
	return b->size > PENDING_MOST ? spill_journal_write(r, e) : 0;
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
		size_t n = size < PENDING_MOST ? size : PENDING_MOST;

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
		size_t n = left < PENDING_MOST ? (size_t)left : PENDING_MOST, done = 0, end = 0;

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
