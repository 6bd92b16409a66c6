#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/util/buffer_file.h"
#include "common/util/checksum.h"
#include "common/util/status.h"
#include "common/stream/reader.h"
#include "common/stream/writer_private.h"

/* The age at which a block is sent although it is not full. */
enum { OLD_NS = 50 * 1000 * 1000 };

int writer_no_memory(struct writer *w)
{
	w->out_of_memory = true;
	return error_set(&w->error, NULL, NO_OFFSET, "out of memory");
}

int writer_init(struct writer *w, struct output *output, uint64_t segment_limit)
{
	*w = (struct writer){.output = output, .segment_limit = segment_limit, .block.number = 1};
	w->crc = output_is_file(output);
	w->block.rows = malloc(ROWS_CAPACITY);
	if (!w->block.rows)
		return writer_no_memory(w);
	w->block.row = w->block.rows;
	w->block.limit = w->block.rows + ROWS_CAPACITY;
	/* id 0 is none, for every kind */
	for (int k = 1; k < ENTRY_KINDS; k++) {
		struct stored_entries *s = &w->entries[k];

		if (ARRAY_GROW(s->entry, s->capacity, 0))
			return writer_no_memory(w);
		s->entry[0] = (struct stored_entry){0};
		s->count = 1;
	}
	if (intern(&w->strings, "", 0) == INTERN_NONE)
		return writer_no_memory(w);
	return 0;
}

static void free_slots(struct slots *s)
{
	free(s->slot);
	free(s->ids);
}

void writer_free(struct writer *w)
{
	free(w->block.rows);
	free_slots(&w->block.types);
	free_slots(&w->block.lanes);
	free_slots(&w->block.locations);
	free_slots(&w->block.stacks);
	for (int k = 0; k < ENTRY_KINDS; k++)
		free(w->entries[k].entry);
	for (size_t i = 0; i < w->metas.count; i++)
		free(w->metas.meta[i].name);
	free(w->metas.meta);
	intern_free(&w->strings);
	stack_table_free(&w->stacks.table);
	free(w->stacks.segment);
	buffer_free(&w->stacks.lacking);
	buffer_free(&w->arena);
	buffer_free(&w->dict);
	buffer_free(&w->scratch);
	buffer_free(&w->head.properties);
	buffer_free(&w->used);
	buffer_free(&w->announced);
	w->block.rows = NULL;
}

int writer_property(struct writer *w, uint16_t key, const void *data, size_t n)
{
	uint8_t head[8] = {0};

	put_u16(head, key);
	put_u32(head + 4, (uint32_t)n);
	if (buffer_append(&w->head.properties, head, sizeof head) ||
	    buffer_append(&w->head.properties, data, n) || buffer_align(&w->head.properties, 8))
		return writer_no_memory(w);
	return 0;
}

int writer_command(struct writer *w, int argc, char **argv)
{
	struct buffer line = {0};
	int result = 0;

	for (int i = 0; i < argc && line.size < 65536; i++)
		if (buffer_append(&line, " ", i > 0) ||
		    buffer_append(&line, argv[i], strlen(argv[i])))
			result = writer_no_memory(w);
	if (!result)
		result = writer_property(w, HEAD_COMMAND, line.data,
					 line.size < 65536 ? line.size : 65536);
	buffer_free(&line);
	return result;
}

/* --- sending of blocks --- */

void writer_block_header(const struct writer *w, uint8_t *p, uint16_t kind, uint16_t flags,
			 uint32_t length, uint32_t crc)
{
	put_u32(p, BLOCK_SYNC);
	put_u16(p + 4, kind);
	put_u16(p + 6, (uint16_t)((flags & ~BLOCK_HAS_CRC) | (w->crc ? BLOCK_HAS_CRC : 0)));
	put_u32(p + 8, length);
	put_u32(p + 12, w->crc ? crc : 0);
	put_u32(p + 16, 0);
	put_u32(p + BLOCK_CHECKED, checksum(0, p, BLOCK_CHECKED));
}

/* Test whether a tail is in a file: it is read in pieces, which need not stay in memory. */
static bool in_file(const struct writer *w, const struct iovec *v)
{
	const struct buffer *b = w->tail_buffer;

	return b && b->file && v->iov_base == b->data && v->iov_len == b->size;
}

static int send_parts(struct writer *w, struct iovec *v, int n, struct error *e)
{
	for (int i = 0; i < n; i++)
		if (in_file(w, &v[i]))
			return output_writev(w->output, v, i, e) ||
					       output_write_buffer(w->output, w->tail_buffer, e) ||
					       output_writev(w->output, v + i + 1, n - i - 1, e)
				       ? -1
				       : 0;
	return output_writev(w->output, v, n, e);
}

static uint32_t checksum_part(const struct writer *w, uint32_t crc, const struct iovec *v)
{
	const uint8_t *p = v->iov_base;
	size_t n = v->iov_len;

	for (; in_file(w, v) && n > BUFFER_PIECE; p += BUFFER_PIECE, n -= BUFFER_PIECE) {
		crc = checksum(crc, p, BUFFER_PIECE);
		buffer_rest(w->tail_buffer);
	}
	return checksum(crc, p, n);
}

/* No block may follow one that was written in part. */
int writer_send(struct writer *w, struct iovec *v, int n, struct error *e)
{
	if (w->broken || !send_parts(w, v, n, e))
		return 0;
	w->broken = true;
	return -1;
}

/* Pass a block that was sent to what follows the calls. Of EVENTS with several parts these are the
 * head with the tables, the rows, a tail. */
static int note_sent(struct writer *w, uint16_t kind, const struct iovec *parts, int n,
		     size_t length)
{
	static const struct iovec none;
	struct block b = {.kind = kind,
			  .length = (uint32_t)length,
			  .available = (uint32_t)length,
			  .payload = parts->iov_base};

	if (kind == BLOCK_EVENTS && n > 1) {
		b.row_data = parts[1].iov_base;
		b.row_size = parts[1].iov_len;
	}
	return w->calls.sent(w->calls.ctx, &b, n > 2 ? &parts[2] : &none);
}

static int send_block(struct writer *w, uint16_t kind, uint16_t flags, const struct iovec *parts,
		      int n, uint32_t crc)
{
	uint8_t header[BLOCK_HEADER];
	struct iovec v[5] = {{header, sizeof header}};
	size_t length = 0;

	for (int i = 0; i < n; i++) {
		v[i + 1] = parts[i];
		length += parts[i].iov_len;
	}
	writer_block_header(w, header, kind, flags, (uint32_t)length, crc);
	w->segment_bytes += length + BLOCK_HEADER;
	if (writer_send(w, v, n + 1, &w->error))
		return -1;
	return w->calls.ctx ? note_sent(w, kind, parts, n, length) : 0;
}

int writer_open_calls(struct writer *w)
{
	if (!w->calls_due)
		return 0;
	w->calls_due = false;
	return w->calls.send(w->calls.ctx);
}

int writer_send_block(struct writer *w, uint16_t kind, uint16_t flags, const struct iovec *parts,
		      int n)
{
	uint32_t crc = 0;

	for (int i = 0; w->crc && i < n; i++)
		crc = checksum_part(w, crc, &parts[i]);
	return send_block(w, kind, flags, parts, n, crc);
}

int writer_send_same(struct writer *w, const struct block *b)
{
	struct iovec part = {(void *)b->payload, b->length};

	if (!(b->flags & BLOCK_HAS_CRC))
		return writer_send_block(w, b->kind, b->flags, &part, 1);
	return send_block(w, b->kind, b->flags, &part, 1, b->crc);
}

/* Needs no memory: the stream of a program without memory has an END, too. */
static int send_end(struct writer *w, uint32_t flags, uint32_t status)
{
	uint8_t data[56 + sizeof w->end.message + sizeof w->end.printed.mark] = {0};
	size_t n = status ? strlen(w->end.message) : 0;
	size_t size = align_up(56 + n, 8);
	struct printed printed = {.n = 0};
	struct iovec part = {.iov_base = data};

	/* what is stored is reported again by each program that reads it */
	if (status && !w->crc) {
		printed = w->end.printed;
		printed_add(&printed);
	}
	put_u64(data, w->end.events);
	put_u64(data + 8, w->end.gaps);
	put_u64(data + 16, w->end.lost);
	put_u64(data + 24, w->end.events ? w->end.first : 0);
	put_u64(data + 32, w->end.last);
	put_u32(data + 40, status);
	put_u32(data + 44, flags | (w->end.lost_more ? END_LOST_MORE : 0));
	put_u32(data + 48, (uint32_t)n);
	put_u32(data + 52, printed.n);
	memcpy(data + 56, w->end.message, n);
	for (unsigned i = 0; i < printed.n; i++, size += 8)
		put_u64(data + size, printed.mark[i]);
	part.iov_len = size;
	w->end.due = 0;
	w->in_segment = false;
	w->more_follows = !(flags & END_LAST);
	return writer_send_block(w, BLOCK_END, 0, &part, 1);
}

int writer_send_head(struct writer *w, uint64_t stream_id, uint32_t sequence, uint32_t flags,
		     const void *before, size_t before_size)
{
	char marker[MARKER_SIZE + 1];
	uint8_t head[24] = {0};
	struct iovec mark = {marker, MARKER_SIZE};
	struct iovec parts[] = {{head, sizeof head},
				{(void *)before, before_size},
				{w->head.properties.data, w->head.properties.size}};

	snprintf(marker, sizeof marker, MARKER_PREFIX "%08x", (uint32_t)stream_id);
	put_u16(head, STREAM_MAJOR);
	put_u16(head + 2, STREAM_MINOR);
	put_u32(head + 4, sequence);
	put_u64(head + 8, stream_id);
	put_u32(head + 16, flags);
	if (w->end.due && send_end(w, w->end.due - 1, w->end.due_status))
		return -1;
	if (sizeof head + before_size + w->head.properties.size > BLOCK_LIMIT)
		parts[2].iov_len = 0; /* of very many stages the last are left out */
	w->head.stream_id = stream_id;
	w->head.sequence = sequence;
	w->segment++;
	w->segment_bytes = MARKER_SIZE;
	w->repeated = 0;
	w->in_segment = true;
	w->end.events = w->end.gaps = w->end.lost = 0;
	w->end.lost_more = false;
	w->end.first = UINT64_MAX;
	w->end.last = 0;
	w->calls_due = w->calls.ctx && sequence && flags & HEAD_SEGMENTED;
	if (writer_send(w, &mark, 1, &w->error))
		return -1;
	return writer_send_block(w, BLOCK_HEAD, 0, parts, 3);
}

/* Begin a segment for blocks that upstream sent outside of one (its HEAD was damaged). */
int writer_need_segment(struct writer *w)
{
	if (w->in_segment)
		return 0;
	return writer_send_head(w, w->head.stream_id, w->more_follows ? w->head.sequence + 1 : 0,
				w->head.flags, NULL, 0);
}

int writer_begin(struct writer *w, uint64_t stream_id)
{
	return writer_send_head(w, stream_id, 0, w->head.flags, NULL, 0);
}

int writer_send_dict(struct writer *w)
{
	struct iovec part = {w->dict.data, w->dict.size};
	int result;

	if (!w->dict.size)
		return 0;
	result = writer_send_block(w, BLOCK_DICT, 0, &part, 1);
	w->dict.size = 0;
	return result;
}

/* Write the tables of the present block, which follow the EVENTS header, to scratch. */
static int build_tables(struct writer *w)
{
	const struct slots *all[] = {&w->block.types, &w->block.lanes, &w->block.locations,
				     &w->block.stacks};
	uint8_t head[EVENTS_HEADER] = {0};
	struct buffer *b = &w->scratch;

	put_u64(head, w->block.base);
	put_u64(head + 8, w->block.last);
	put_u32(head + 16, w->block.count);
	put_u16(head + 20, (uint16_t)((w->block.narrow ? 0 : EVENTS_WIDE) |
				      (w->block.bare ? EVENTS_BARE : 0)));
	put_u16(head + 22, (uint16_t)w->block.types.count);
	put_u16(head + 24, (uint16_t)w->block.lanes.count);
	put_u16(head + 26, (uint16_t)w->block.stacks.count);
	put_u32(head + 28, w->block.locations.count);
	b->size = 0;
	if (buffer_append(b, head, sizeof head))
		return -1;
	for (int k = 0; k < 4; k++)
		for (uint32_t i = 0; i < all[k]->count; i++)
			if (buffer_u32(b, all[k]->ids[i]))
				return -1;
	return buffer_align(b, 8);
}

void writer_count_events(struct writer *w, uint64_t rows, uint64_t base, uint64_t last)
{
	w->end.events += rows;
	if (base < w->end.first)
		w->end.first = base;
	if (last > w->end.last)
		w->end.last = last;
}

/* Empty the block being built. */
void writer_clear_block(struct writer *w)
{
	w->block.count = 0;
	w->block.row = w->block.rows;
	w->block.limit = w->block.rows + ROWS_CAPACITY;
	/* a segment smaller than a block has one block */
	if (w->segment_limit && w->segment_limit < ROWS_CAPACITY)
		w->block.limit = w->block.rows + w->segment_limit;
	w->block.narrow = w->block.quick = w->block.started = false;
	w->block.number++;
	w->block.types.count = w->block.lanes.count = w->block.locations.count = 0;
	w->block.stacks.count = 0;
}

static int send_events(struct writer *w, const void *tail, size_t tail_size)
{
	static const uint8_t zeros[8];
	struct iovec parts[4];
	size_t n, whole;

	if (!w->block.count)
		return 0;
	if (writer_open_calls(w))
		return -1;
	if (build_tables(w))
		return writer_no_memory(w);
	n = (size_t)(w->block.row - w->block.rows);
	whole = n + tail_size;
	parts[0] = (struct iovec){w->scratch.data, w->scratch.size};
	parts[1] = (struct iovec){w->block.rows, n};
	parts[2] = (struct iovec){(void *)tail, tail_size};
	/* rows are 4-aligned, blocks 8-aligned */
	parts[3] = (struct iovec){(void *)zeros, align_up(whole, 8) - whole};
	writer_count_events(w, w->block.count, w->block.base, w->block.last);
	w->sent.events += w->block.count;
	w->sent.bytes += w->scratch.size + whole;
	writer_clear_block(w);
	if (w->sent.progress)
		progress_tick(w->sent.progress, w->sent.bytes, 0, w->sent.events);
	if (writer_send_block(w, BLOCK_EVENTS, 0, parts, 4))
		return -1;
	return w->sent.after ? w->sent.after(w->sent.after_ctx) : 0;
}

int writer_flush(void *writer)
{
	struct writer *w = writer;

	if (w->out_of_memory)
		return writer_no_memory(w);
	return writer_send_dict(w) || send_events(w, NULL, 0) ? -1 : 0;
}

int writer_flush_large(struct writer *w, const void *tail, size_t n)
{
	return writer_send_dict(w) || send_events(w, tail, n) ? -1 : 0;
}

uint64_t writer_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int writer_flush_old(struct writer *w)
{
	return w->block.count && writer_now() - w->block.started_at > OLD_NS ? writer_flush(w) : 0;
}

int writer_end_segment(struct writer *w, uint32_t flags)
{
	if (writer_flush(w) || writer_open_calls(w))
		return -1;
	return send_end(w, flags, w->end.status);
}

int writer_pass_end(struct writer *w, uint32_t flags, uint64_t gaps, uint64_t lost)
{
	if (writer_need_segment(w) || writer_flush(w) || writer_open_calls(w))
		return -1;
	w->end.gaps = gaps;
	w->end.lost = lost;
	w->end.due = 1 + flags;
	w->end.due_status = w->end.status;
	w->in_segment = false;
	w->more_follows = !(flags & END_LAST);
	return 0;
}

int writer_begin_segment(struct writer *w)
{
	return writer_end_segment(w, 0) ||
			       writer_send_head(w, w->head.stream_id, w->head.sequence + 1,
						w->head.flags, NULL, 0) ||
			       writer_declare_all(w, &w->announced)
		       ? -1
		       : writer_refer_metas(w);
}

int writer_next_segment(struct writer *w)
{
	if (writer_begin_segment(w) || writer_open_calls(w))
		return -1;
	w->segment_bytes = 0;
	return writer_declare_all(w, &w->used);
}

void writer_status(struct writer *w, uint32_t status, const char *message,
		   const struct printed *printed)
{
	if ((!w->end.message[0] || status > w->end.status) && message) {
		snprintf(w->end.message, sizeof w->end.message, "%s", message);
		w->end.printed = printed ? *printed : (struct printed){.n = 0};
	}
	if (status > w->end.status)
		w->end.status = status;
}

int writer_finish(struct writer *w)
{
	if (w->broken || !(w->in_segment || w->end.due))
		return 0;
	if (w->end.due)
		return send_end(w, w->end.due - 1, w->end.status);
	if (!writer_end_segment(w, END_LAST))
		return 0;
	if (w->out_of_memory && w->in_segment) {
		writer_status(w, STATUS_FAILED, w->error.what, NULL);
		send_end(w, END_LAST, STATUS_FAILED);
	}
	return -1;
}
