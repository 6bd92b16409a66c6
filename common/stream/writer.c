/*
 * writer.c - writes a stream
 */
#include "common/stream/writer.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/stream/field.h"
#include "common/stream/index.h"
#include "common/stream/reader.h"
#include "common/util/buffer.h"
#include "common/util/frames.h"
#include "common/util/hash.h"
#include "common/util/output.h"

/* The age at which a block is sent although it is not full. */
enum { OLD_NS = 50 * 1000 * 1000 };

/* Fill the error and return -1. */
static int writer_no_memory(struct writer *w)
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
		if (ARRAY_GROW(w->entries[k].entry, w->entries[k].capacity, 0))
			return writer_no_memory(w);
		w->entries[k].entry[0] = (struct stored_entry){0};
		w->entries[k].count = 1;
	}
	if (intern(&w->strings, "", 0) == INTERN_NONE)
		return writer_no_memory(w);
	return 0;
}

int writer_archive(struct writer *w, int level)
{
	w->crc |= level != 0;
	w->index = index_writer_new(level != 0);
	return !w->index || (level && frames_create(w->output, level)) ? writer_no_memory(w) : 0;
}

static void free_slots(struct writer_slots *s)
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
		free((char *)w->metas.meta[i].name);
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
	index_writer_free(w->index);
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

static void writer_block_header(const struct writer *w, uint8_t *p, uint16_t kind, uint16_t flags,
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
static int writer_send(struct writer *w, struct iovec *v, int n, struct error *e)
{
	if (w->broken || !send_parts(w, v, n, e))
		return 0;
	w->broken = true;
	return -1;
}

/* Pass a block that was sent to the index, and send the INDEX if it is due. b NULL: the last END is
 * next. */
static int writer_index(struct writer *w, const struct block *b, const uint8_t *header)
{
	const struct buffer *payload;
	struct iovec part;

	if (!index_writer_take(w->index, b, header, &payload))
		return 0;
	if (frames_cut(w->output, &w->error))
		return -1;
	if (!payload)
		return 0;
	if (w->output->filter)
		return frames_put_aside(w->output, payload->data, payload->size, &w->error);
	part = (struct iovec){payload->data, payload->size};
	return writer_send_block(w, BLOCK_INDEX, BLOCK_MAY_SKIP, &part, 1);
}

/* Pass a block that was sent to what follows the calls, and to the index. Of EVENTS with several
 * parts these are the head with the tables, the rows, a tail. */
static int note_sent(struct writer *w, const uint8_t *header, const struct iovec *parts, int n,
		     size_t length)
{
	static const struct iovec none;
	struct block b = {.kind = get_u16(header + 4),
			  .length = (uint32_t)length,
			  .available = (uint32_t)length,
			  .payload = parts->iov_base};

	if (b.kind == BLOCK_EVENTS && n > 1) {
		b.row_data = parts[1].iov_base;
		b.row_size = parts[1].iov_len;
	}
	if (w->calls.ctx && w->calls.sent(w->calls.ctx, &b, n > 2 ? &parts[2] : &none))
		return -1;
	return w->index && b.kind != BLOCK_INDEX ? writer_index(w, &b, header) : 0;
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
	return w->calls.ctx || w->index ? note_sent(w, header, parts, n, length) : 0;
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

/* Send a block unchanged, whose checksum, if it has one, the reader has verified. */
static int writer_send_same(struct writer *w, const struct block *b)
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
	if (w->index && flags & END_LAST && writer_index(w, NULL, NULL))
		return -1;
	w->end.due = 0;
	w->in_segment = false;
	w->more_follows = !(flags & END_LAST);
	return writer_send_block(w, BLOCK_END, 0, &part, 1);
}

static int writer_send_head(struct writer *w, uint64_t stream_id, uint32_t sequence, uint32_t flags,
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
static int writer_need_segment(struct writer *w)
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
	const struct writer_slots *all[] = {&w->block.types, &w->block.lanes, &w->block.locations,
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
static void writer_clear_block(struct writer *w)
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

/* Send all declarations and rows. */
static int flush_rows(struct writer *w)
{
	if (w->out_of_memory)
		return writer_no_memory(w);
	return writer_send_dict(w) || send_events(w, NULL, 0) ? -1 : 0;
}

int writer_flush(void *writer)
{
	struct writer *w = writer;

	return flush_rows(w) || output_flush(w->output, &w->error) ? -1 : 0;
}

/* Flush as flush_rows does, with the bytes of the last row's tail, which are not among the
 * rows. */
static int writer_flush_large(struct writer *w, const void *tail, size_t n)
{
	return writer_send_dict(w) || send_events(w, tail, n) ? -1 : 0;
}

int writer_flush_old(struct writer *w)
{
	return w->block.count && monotonic_now() - w->block.started_at > OLD_NS ? writer_flush(w)
										: 0;
}

static int writer_end_segment(struct writer *w, uint32_t flags)
{
	if (flush_rows(w) || writer_open_calls(w))
		return -1;
	return send_end(w, flags, w->end.status);
}

int writer_pass_end(struct writer *w, uint32_t flags, uint64_t gaps, uint64_t lost)
{
	if (writer_need_segment(w) || flush_rows(w) || writer_open_calls(w))
		return -1;
	w->end.gaps = gaps;
	w->end.lost = lost;
	w->end.due = 1 + flags;
	w->end.due_status = w->end.status;
	w->in_segment = false;
	w->more_follows = !(flags & END_LAST);
	return 0;
}

/* --- stores declarations, and sends each one when a segment first uses it --- */

static int writer_declare(struct writer *w, enum entry_kind kind, uint32_t id);

enum {
	ENTRY_LIMIT = 512 * 1024, /* longer entries of decoders are truncated */
};

int writer_append_entry(struct writer *w, enum entry_kind kind, uint32_t id, const void *data,
			uint32_t size)
{
	if (w->dict.size + size > DICT_LIMIT && writer_send_dict(w))
		return -1;
	return entry_append(&w->dict, kind, id, data, size) ? writer_no_memory(w) : 0;
}

int writer_append_content(struct writer *w, enum entry_kind kind, uint32_t id, const void *content)
{
	if (w->dict.size + entry_layouts[kind].size > DICT_LIMIT && writer_send_dict(w))
		return -1;
	return entry_append_content(&w->dict, kind, id, content) ? writer_no_memory(w) : 0;
}

static int declare_references(struct writer *w, const struct entry_layout *l, size_t at)
{
	for (size_t i = 0; i < l->nfields; i++) {
		const struct entry_field *f = &l->fields[i];

		if (f->refers && writer_declare(w, f->refers, get_u32(w->arena.data + at + f->at)))
			return -1;
	}
	return 0;
}

/* Set the flags of a lane that are for the present segment. */
static void set_lane_flags(struct writer *w, uint32_t id)
{
	struct lane_entry e;

	writer_lane_of(w, id, &e);
	entry_set_started(w->arena.data + w->entries[ENTRY_LANE].entry[id].offset, &e,
			  w->calls.lane_flags(w->calls.ctx, &e));
}

int writer_declare_again(struct writer *w, enum entry_kind kind, uint32_t id)
{
	size_t count = kind == ENTRY_STACK ? (size_t)stack_table_count(&w->stacks.table) + 1
					   : w->entries[kind].count;

	return id < count ? writer_declare(w, kind, id) : 0;
}

/* Send a stack after those of its callers that the segment lacks. */
static int writer_declare_stack(struct writer *w, uint32_t id)
{
	const struct stack_table *table = &w->stacks.table;
	uint32_t *segment = w->stacks.segment;
	struct buffer *lacking = &w->stacks.lacking;

	for (lacking->size = 0; id && segment[id] != w->segment;
	     id = stack_table_at(table, id).parent) {
		w->repeated += segment[id] ? ENTRY_HEADER + entry_layouts[ENTRY_STACK].size : 0;
		segment[id] = w->segment;
		if (buffer_u32(lacking, id))
			return writer_no_memory(w);
	}
	for (size_t at = lacking->size; at;) {
		struct stack_key key;

		at -= 4;
		id = get_u32(lacking->data + at);
		key = stack_table_at(table, id);
		if (writer_declare(w, ENTRY_LOCATION, key.location) ||
		    writer_append_content(w, ENTRY_STACK, id,
					  &(struct stack_entry){key.parent, key.location}))
			return -1;
	}
	return 0;
}

/* Send an entry after the entries that it names, unless this segment has it. */
static int writer_declare(struct writer *w, enum entry_kind kind, uint32_t id)
{
	const struct entry_layout *l = &entry_layouts[kind];
	struct stored_entry *e;
	uint32_t parts;
	size_t at;

	if (!id)
		return 0;
	if (kind == ENTRY_STACK)
		return writer_declare_stack(w, id);
	e = &w->entries[kind].entry[id];
	if (e->segment == w->segment)
		return 0;
	w->repeated += e->segment ? ENTRY_HEADER + e->size : 0;
	e->segment = w->segment;
	at = e->offset;
	parts = entry_parts(l, w->arena.data + at, e->size);
	if (declare_references(w, l, at))
		return -1;
	for (uint32_t i = 0; i < parts; i++)
		if (declare_references(w, l->part, at + entry_part(l, i)))
			return -1;
	if (kind == ENTRY_LANE && w->calls.ctx)
		set_lane_flags(w, id);
	if (writer_append_entry(w, kind, id, w->arena.data + at, e->size))
		return -1;
	if (kind == ENTRY_LANE)
		return writer_declare(w, ENTRY_SPACE, e->child);
	for (uint32_t child = e->child; child;) {
		enum entry_kind what = kind == ENTRY_SPACE ? ENTRY_MAP : ENTRY_SYMBOL;

		if (what == ENTRY_MAP) {
			if (writer_declare(w, what, child))
				return -1;
		} else {
			const struct stored_entry *s = &w->entries[what].entry[child];

			if (writer_append_entry(w, what, id, w->arena.data + s->offset, s->size))
				return -1;
		}
		child = w->entries[what].entry[child].next;
	}
	return 0;
}

int writer_announce(struct writer *w, enum entry_kind kind, uint32_t id)
{
	if (!id)
		return 0;
	if (buffer_u32(&w->announced, kind) || buffer_u32(&w->announced, id))
		return writer_no_memory(w);
	return writer_declare(w, kind, id);
}

/* Send entries, kind and id, u32 each, that this segment does not have. */
static int writer_declare_all(struct writer *w, const struct buffer *entries)
{
	for (size_t i = 0; i < entries->size; i += 8)
		if (writer_declare(w, get_u32(entries->data + i), get_u32(entries->data + i + 4)))
			return -1;
	return 0;
}

uint32_t writer_store(struct writer *w, enum entry_kind kind, const void *data, size_t size)
{
	size_t id = w->entries[kind].count;

	if (ARRAY_GROW(w->entries[kind].entry, w->entries[kind].capacity, id) || id >= UINT32_MAX ||
	    size > BLOCK_LIMIT - ENTRY_HEADER || buffer_append(&w->arena, data, size)) {
		writer_no_memory(w);
		return 0;
	}
	w->entries[kind].entry[id] =
		(struct stored_entry){.offset = w->arena.size - size, .size = (uint32_t)size};
	w->entries[kind].count++;
	return (uint32_t)id;
}

/* Store the content of an entry. */
static uint32_t common_writer_store(struct writer *w, enum entry_kind kind, const void *content)
{
	struct buffer *b = &w->scratch;

	b->size = 0;
	if (!entry_encode(b, kind, content))
		return writer_store(w, kind, b->data, b->size);
	writer_no_memory(w);
	return 0;
}

uint32_t writer_string(struct writer *w, const void *data, size_t n)
{
	uint32_t id;

	/* after a failed store the numbers of strings are no ids */
	if (!n || w->out_of_memory)
		return 0;
	if (n > ENTRY_LIMIT)
		n = ENTRY_LIMIT;
	id = intern(&w->strings, data, n);
	if (id == INTERN_NONE) {
		writer_no_memory(w);
		return 0;
	}
	if (id == w->entries[ENTRY_STRING].count)
		return writer_store(w, ENTRY_STRING, data, n);
	return id;
}

uint32_t writer_text(struct writer *w, const char *s)
{
	return s ? writer_string(w, s, strlen(s)) : 0;
}

uint32_t writer_clock(struct writer *w, const struct clock_entry *e)
{
	return common_writer_store(w, ENTRY_CLOCK, e);
}

uint32_t writer_source(struct writer *w, const struct source_entry *e)
{
	return common_writer_store(w, ENTRY_SOURCE, e);
}

uint32_t writer_lane(struct writer *w, const struct lane_entry *e)
{
	return common_writer_store(w, ENTRY_LANE, e);
}

uint32_t writer_lane_once(struct writer *w, struct id_cache *lanes, const struct lane_entry *e)
{
	uint32_t *id = id_cache_number(lanes, e, sizeof *e);

	if (id && !*id)
		*id = writer_lane(w, e);
	return id ? *id : 0;
}

uint32_t writer_space(struct writer *w, const struct space_entry *e)
{
	return common_writer_store(w, ENTRY_SPACE, e);
}

uint32_t writer_location(struct writer *w, const struct location_entry *e)
{
	return common_writer_store(w, ENTRY_LOCATION, e);
}

uint32_t writer_definition(struct writer *w, const struct definition_entry *e)
{
	struct definition_entry d = *e;

	if (d.nmembers > WRITER_MEMBERS)
		d.nmembers = WRITER_MEMBERS;
	return common_writer_store(w, ENTRY_DEFINITION, &d);
}

uint32_t writer_type(struct writer *w, const struct type_entry *e)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];
	uint32_t most = (ENTRY_LIMIT - l->size) / l->part->size;
	struct type_entry t = *e;

	if (t.nfields > most)
		t.nfields = most;
	return common_writer_store(w, ENTRY_TYPE, &t);
}

uint32_t writer_stack(struct writer *w, uint32_t parent, uint32_t location)
{
	uint32_t id;

	if (!stack_table_fits(&w->stacks.table, parent))
		return parent;
	id = stack_table_add(&w->stacks.table, parent, location);
	if (!id || ARRAY_REACH(w->stacks.segment, w->stacks.size, id)) {
		writer_no_memory(w);
		return 0;
	}
	return id;
}

uint32_t writer_stack_of(struct writer *w, const uint32_t *locations, size_t n)
{
	uint32_t stack = 0;

	if (n > STACK_FRAMES_MOST)
		n = STACK_FRAMES_MOST;
	while (n--) {
		stack = writer_stack(w, stack, locations[n]);
		if (!stack)
			break;
	}
	return stack;
}

int writer_lane_space(struct writer *w, uint32_t lane, uint32_t space)
{
	struct stored_entry *e;

	if (!lane || !space)
		return -1;
	e = &w->entries[ENTRY_LANE].entry[lane];
	e->child = space;
	return e->segment == w->segment ? writer_declare(w, ENTRY_SPACE, space) : 0;
}

int writer_map(struct writer *w, const struct map_entry *e)
{
	return writer_store_map(w, common_writer_store(w, ENTRY_MAP, e), e->space);
}

int writer_store_map(struct writer *w, uint32_t id, uint32_t of)
{
	struct stored_entry *space;

	if (!id || !of)
		return -1;
	space = &w->entries[ENTRY_SPACE].entry[of];
	/* in their order, after the space */
	if (space->child)
		w->entries[ENTRY_MAP].entry[space->next].next = id;
	else
		space->child = id;
	space->next = id;
	return space->segment == w->segment ? writer_declare(w, ENTRY_MAP, id) : 0;
}

int writer_symbol(struct writer *w, uint32_t location, const struct symbol_entry *e)
{
	struct stored_entry *p;
	uint32_t id;

	if (!location)
		return w->out_of_memory ? writer_no_memory(w) : 0;
	if (entry_symbol(&w->scratch, e))
		return writer_no_memory(w);
	id = writer_store(w, ENTRY_SYMBOL, w->scratch.data, w->scratch.size);
	if (!id)
		return -1;
	p = &w->entries[ENTRY_LOCATION].entry[location];
	p->child = id;
	if (p->segment != w->segment)
		return 0;
	return writer_append_entry(w, ENTRY_SYMBOL, location,
				   w->arena.data + w->entries[ENTRY_SYMBOL].entry[id].offset,
				   w->entries[ENTRY_SYMBOL].entry[id].size);
}

int writer_thread(struct writer *w, const struct thread_entry *e)
{
	if (!e->lane)
		return writer_no_memory(w);
	if (writer_declare(w, ENTRY_LANE, e->lane))
		return -1;
	/* the id has no meaning */
	return writer_append_content(w, ENTRY_THREAD, 1, e);
}

static int use(struct writer *w, enum entry_kind kind, uint32_t id)
{
	/* the row may begin another segment, which must also have the entry */
	if (buffer_u32(&w->used, kind) || buffer_u32(&w->used, id))
		return writer_no_memory(w);
	return writer_declare(w, kind, id);
}

int writer_use_definition(struct writer *w, uint32_t id)
{
	return use(w, ENTRY_DEFINITION, id);
}

int writer_use_stack(struct writer *w, uint32_t id)
{
	return use(w, ENTRY_STACK, id);
}

/* --- parts of a source --- */

enum { META_HEADER = 40 }; /* before the name */

static int writer_send_meta(struct writer *w, const struct meta *m)
{
	uint8_t head[META_HEADER];
	struct iovec parts[2];
	struct buffer *b = &w->scratch;

	put_u32(head, m->source);
	put_u32(head + 4, m->flags);
	put_u64(head + 8, m->hash);
	put_u64(head + 16, m->total);
	put_u64(head + 24, m->offset);
	put_u32(head + 32, m->name_size);
	put_u32(head + 36, (uint32_t)m->size);
	b->size = 0;
	if (buffer_append(b, head, sizeof head) || buffer_append(b, m->name, m->name_size) ||
	    buffer_append(b, m->data, m->size) || buffer_align(b, 8))
		return writer_no_memory(w);
	parts[0] = (struct iovec){b->data, b->size};
	return writer_send_block(w, BLOCK_META, BLOCK_MAY_SKIP | BLOCK_MAY_COPY, parts, 1);
}

/* Send all of a part of a source, or a reference to it. */
static int send_pieces(struct writer *w, struct meta m, const uint8_t *data)
{
	do {
		uint64_t left = m.flags & META_REFERENCE ? 0 : m.total - m.offset;

		m.data = data + m.offset;
		m.size = left < META_PIECE ? left : META_PIECE;
		if (writer_send_meta(w, &m))
			return -1;
		m.offset += m.size;
	} while (m.size && m.offset < m.total);
	return 0;
}

static struct meta new_meta(uint32_t source, const char *name, const void *data, size_t n)
{
	return (struct meta){.source = source,
			     .hash = hash_bytes(data, n, 0),
			     .total = n,
			     .name = name,
			     .name_size = (uint32_t)strlen(name)};
}

int writer_pass_meta(struct writer *w, uint32_t wire_source, const char *name, const void *data,
		     size_t n, bool reference)
{
	struct meta m = new_meta(wire_source, name, data, n);

	m.flags = reference ? META_REFERENCE : 0;
	return writer_need_segment(w) || flush_rows(w) ? -1 : send_pieces(w, m, data);
}

int writer_meta(struct writer *w, uint32_t source, const char *name, const void *data, size_t n)
{
	char *kept = strndup(name, 4096);
	struct meta m;

	if (!kept || ARRAY_GROW(w->metas.meta, w->metas.capacity, w->metas.count)) {
		free(kept);
		return writer_no_memory(w);
	}
	m = new_meta(source, kept, data, n);
	w->metas.meta[w->metas.count] = m;
	w->metas.meta[w->metas.count++].flags = META_REFERENCE;
	if (writer_declare(w, ENTRY_SOURCE, source) || flush_rows(w) || send_pieces(w, m, data))
		return -1;
	/* META blocks do not count towards the limit of a segment */
	w->segment_bytes = 0;
	return 0;
}

/* Send references to the parts that earlier segments have. */
static int writer_refer_metas(struct writer *w)
{
	for (size_t i = 0; i < w->metas.count; i++)
		if (writer_declare(w, ENTRY_SOURCE, w->metas.meta[i].source))
			return -1;
	if (writer_send_dict(w))
		return -1;
	for (size_t i = 0; i < w->metas.count; i++) {
		if (writer_send_meta(w, &w->metas.meta[i]))
			return -1;
		w->repeated += BLOCK_HEADER + META_HEADER + w->metas.meta[i].name_size;
	}
	return 0;
}

/* --- look-up of declarations --- */

static const uint8_t *writer_declared(const struct writer *w, enum entry_kind kind, uint32_t id)
{
	return w->arena.data + w->entries[kind].entry[id].offset;
}

bool writer_lane_used(const struct writer *w, uint32_t lane)
{
	return w->entries[ENTRY_LANE].entry[lane].segment == w->segment;
}

void writer_lane_of(const struct writer *w, uint32_t lane, struct lane_entry *e)
{
	entry_get(&entry_layouts[ENTRY_LANE], writer_declared(w, ENTRY_LANE, lane), e);
}

void writer_type_of(const struct writer *w, uint32_t type, struct type_entry *e)
{
	*e = (struct type_entry){0};
	entry_get(&entry_layouts[ENTRY_TYPE], writer_declared(w, ENTRY_TYPE, type), e);
}

bool writer_type_field(const struct writer *w, uint32_t type, enum field_role role,
		       uint32_t *offset, uint32_t *size)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];
	const uint8_t *p = writer_declared(w, ENTRY_TYPE, type);
	struct type_entry t;
	struct field_entry f;

	writer_type_of(w, type, &t);
	for (uint32_t i = 0; i < t.nfields; i++) {
		entry_get(l->part, p + entry_part(l, i), &f);
		*offset = f.offset;
		*size = f.size;
		if (f.role == role && f.where == WHERE_FIXED)
			return f.size <= t.fixed_size && f.offset <= t.fixed_size - f.size;
	}
	return false;
}

const char *writer_string_of(const struct writer *w, uint32_t string, size_t *n)
{
	*n = string ? w->entries[ENTRY_STRING].entry[string].size : 0;
	return string ? (const char *)writer_declared(w, ENTRY_STRING, string) : "";
}

/* --- passes on blocks and rows of another stream, with unchanged declarations --- */

int writer_pass_head(struct writer *w, const struct head *h)
{
	bool same = h->sequence && h->stream_id == w->head.stream_id;

	if (w->in_segment && writer_end_segment(w, same ? 0 : END_LAST))
		return -1;
	return writer_send_head(w, h->stream_id, h->sequence, h->flags | w->head.flags,
				h->properties, h->properties_size);
}

int writer_pass(struct writer *w, const struct block *b, struct error *e)
{
	e->what[0] = '\0';
	/* declarations may be sent before pending rows unless they change what these rows mean
	 */
	if (writer_need_segment(w) || ((b->kind != BLOCK_DICT || b->redeclares) && flush_rows(w)))
		goto fail;
	if (b->kind == BLOCK_EVENTS) {
		struct events it;
		struct event ev;

		if (b->truncated) {
			/* its length differs from its header's: copied row by row */
			for (events_begin(&it, b); event_next(&it, &ev);)
				if (writer_copy_row(w, b, &ev))
					goto fail;
			return 0;
		}
		if (writer_open_calls(w))
			goto fail;
		writer_count_events(w, b->rows, b->base, b->last);
		for (uint32_t i = 0; i < b->ntypes; i++)
			if (b->types[i]->kind == KIND_GAP) {
				for (events_begin(&it, b); event_next(&it, &ev);)
					if (ev.type->kind == KIND_GAP)
						writer_count_gap(w, &ev);
				break;
			}
	}
	if (!writer_send_same(w, b))
		return 0;
fail:
	*e = w->error;
	return -1;
}

int writer_pass_begin(struct writer *w, const struct block *b, const uint8_t *payload, size_t have,
		      struct error *e)
{
	uint8_t header[BLOCK_HEADER];
	struct iovec v[] = {{header, sizeof header}, {(void *)payload, have}};

	if (writer_need_segment(w) || flush_rows(w)) {
		*e = w->error;
		return -1;
	}
	writer_block_header(w, header, b->kind, b->flags, b->length, 0);
	writer_count_events(w, b->rows, b->base, b->last);
	return writer_send(w, v, 2, e);
}

int writer_pass_symbol(struct writer *w, uint32_t wire_location, const struct symbol_entry *e)
{
	if (entry_symbol(&w->scratch, e))
		return writer_no_memory(w);
	return writer_append_entry(w, ENTRY_SYMBOL, wire_location, w->scratch.data,
				   (uint32_t)w->scratch.size);
}

/* --- writes rows into narrow or wide blocks, and gaps --- */

enum {
	LARGE_TAIL = 32 * 1024, /* tails of this size are not copied */
	FEW_ROWS = 64,		/* as few rows are widened rather than sent */
	ROW_LIMIT = EVENTS_LIMIT -
		    4096, /* a row with a large tail, without its block's head and tables */
};

static int writer_add_slot(const struct writer *w, struct writer_slots *s, uint32_t number,
			   uint32_t id, uint32_t offset)
{
	if (ARRAY_REACH(s->slot, s->size, number) || ARRAY_GROW(s->ids, s->capacity, s->count))
		return -1;
	s->ids[s->count] = id;
	s->slot[number] = (struct writer_slot){w->block.number, s->count++ + offset};
	return 0;
}

/* Convert the rows so far to the wide form. They are few. */
static int writer_widen(struct writer *w)
{
	size_t size = (size_t)(w->block.row - w->block.rows),
	       room = (size_t)(w->block.limit - w->block.rows);
	uint8_t *old, *from, *to;

	if (w->block.count) {
		/* the rows of a bare block have one size; other rows are walked by their types
		 */
		if (!w->block.bare || size * 2 + 4096 > room)
			return 1;
		old = malloc(size);
		if (!old)
			return writer_no_memory(w);
		memcpy(old, w->block.rows, size);
		for (from = old, to = w->block.rows; from < old + size;
		     from += NARROW_ROW, to += WIDE_ROW) {
			struct plain_row r = row_read(from, 0);

			row_put_wide(to, &r);
		}
		w->block.row = to;
		free(old);
	}
	w->block.narrow = w->block.quick = false;
	return 0;
}

static void start_block(struct writer *w, uint64_t time)
{
	w->block.base = w->block.last = time;
	w->block.bare = w->block.started = true;
	/* in the last 16 ms of the range of times a step back would look like a step forward */
	w->block.narrow = !w->block.sparse && time < UINT64_MAX - NARROW_DELTA_MOST;
	w->block.quick = w->block.narrow && !w->refusal.each;
	w->block.sparse = false;
	w->block.started_at = monotonic_now();
}

/* Make room for a row of n bytes and 8 of padding after it. */
static int room_for(struct writer *w, size_t n)
{
	size_t used = (size_t)(w->block.row - w->block.rows),
	       have = (size_t)(w->block.limit - w->block.rows);
	uint8_t *rows;

	if (have - used >= n + 8)
		return 0;
	if (w->block.count)
		return 1; /* this block is full */
	rows = realloc(w->block.rows, n + 8 > ROWS_CAPACITY ? n + 8 : ROWS_CAPACITY);
	if (!rows)
		return writer_no_memory(w);
	w->block.rows = w->block.row = rows;
	w->block.limit = rows + (n + 8 > ROWS_CAPACITY ? n + 8 : ROWS_CAPACITY);
	return 0;
}

/* A row with the ids of its declarations. Lane, type and location of the row are numbers of slots.
 */
struct row_ids {
	struct new_row row;
	uint32_t lane, type, location; /* encoded ids */
	bool declared;
	bool sample; /* the location is a stack */
};

/* Get the table that a row's location is in. */
static inline struct writer_slots *places_of(struct writer *w, const struct row_ids *ids)
{
	return ids->sample ? &w->block.stacks : &w->block.locations;
}

/* Test whether the row fits the present block. 0 yes; 1 no: a new block is needed; -1. */
static int fit(struct writer *w, const struct row_ids *ids)
{
	const struct new_row *r = &ids->row;
	const struct writer_slots *places = places_of(w, ids);
	uint64_t delta = r->time - w->block.base;
	bool small = delta <= NARROW_DELTA_MOST && r->depth <= NARROW_DEPTH_MOST &&
		     (w->block.types.count <= NARROW_TYPE_MOST ||
		      writer_block_has(w, &w->block.types, r->type)) &&
		     (w->block.lanes.count <= NARROW_LANE_MOST ||
		      writer_block_has(w, &w->block.lanes, r->lane)) &&
		     (places->count < NARROW_LOCATION_MOST || !r->location ||
		      writer_block_has(w, places, r->location));

	if (r->time < w->block.base || delta >> 48)
		return 1;
	if (!writer_block_has(w, &w->block.types, r->type) && w->block.types.count == 65535)
		return 1;
	if (!writer_block_has(w, &w->block.lanes, r->lane) && w->block.lanes.count == 65535)
		return 1;
	if (ids->sample && !writer_block_has(w, places, r->location) && places->count == 65535)
		return 1;
	if (w->block.narrow && !small) {
		int full = w->block.count > FEW_ROWS ? 1 : writer_widen(w);

		/* rows this rare are cheaper in a block that is wide from its start */
		w->block.sparse =
			full > 0 && w->block.count <= FEW_ROWS && delta > NARROW_DELTA_MOST;
		return full;
	}
	return 0;
}

/* Declare entries without a slot in this block: they may be new to the segment, too. */
static int declare_for(struct writer *w, const struct row_ids *ids)
{
	const struct new_row *r = &ids->row;

	if (!writer_block_has(w, &w->block.types, r->type) &&
	    writer_declare(w, ENTRY_TYPE, ids->type))
		return -1;
	if (!writer_block_has(w, &w->block.lanes, r->lane) &&
	    writer_declare(w, ENTRY_LANE, ids->lane))
		return -1;
	return writer_block_has(w, places_of(w, ids), r->location)
		       ? 0
		       : writer_declare(w, ids->sample ? ENTRY_STACK : ENTRY_LOCATION,
					ids->location);
}

static int tables_for(struct writer *w, const struct row_ids *ids)
{
	const struct new_row *r = &ids->row;
	struct writer_slots *places = places_of(w, ids);

	if (!ids->declared && declare_for(w, ids))
		return -1;
	if (!writer_block_has(w, &w->block.types, r->type) &&
	    writer_add_slot(w, &w->block.types, r->type, ids->type, 0))
		return writer_no_memory(w);
	if (!writer_block_has(w, &w->block.lanes, r->lane) &&
	    writer_add_slot(w, &w->block.lanes, r->lane, ids->lane, 0))
		return writer_no_memory(w);
	if (!writer_block_has(w, places, r->location)) {
		if (!r->location) {
			/* index 0 means no location and is in no table */
			if (writer_add_slot(w, places, 0, 0, 0))
				return writer_no_memory(w);
			places->count--;
			places->slot[0].index = 0;
		} else if (writer_add_slot(w, places, r->location, ids->location, 1)) {
			return writer_no_memory(w);
		}
	}
	return 0;
}

bool writer_take_location(struct writer *w, uint32_t location)
{
	if (!w->block.started || !w->block.narrow || !location ||
	    location >= w->entries[ENTRY_LOCATION].count ||
	    w->entries[ENTRY_LOCATION].entry[location].segment != w->segment ||
	    w->block.locations.count >= NARROW_LOCATION_MOST ||
	    writer_block_has(w, &w->block.locations, location))
		return false;
	return !writer_add_slot(w, &w->block.locations, location, location, 1);
}

static void writer_row_plain(struct writer *w, const struct row_ids *ids)
{
	const struct new_row *r = &ids->row;
	struct plain_row row = {.time = r->time - w->block.base,
				.lane = w->block.lanes.slot[r->lane].index,
				.location = places_of(w, ids)->slot[r->location].index,
				.type = w->block.types.slot[r->type].index,
				.depth = r->depth};
	uint8_t *p = w->block.row;

	if (w->block.narrow) {
		put_u64(p, row_make(row.time, row.lane, row.location, row.type, row.depth));
		p += NARROW_ROW;
	} else {
		row_put_wide(p, &row);
		p += WIDE_ROW;
	}
	if (r->fixed_size) {
		memcpy(p, r->fixed, r->fixed_size);
		p += r->fixed_size;
	}
	if (r->has_tail) {
		size_t padded = align_up(r->tail_size, 4);

		put_u32(p, r->tail_size);
		p += 4;
		memset(p + padded - (padded ? 4 : 0), 0, padded ? 4 : 0);
		if (r->tail_size)
			memcpy(p, r->tail, r->tail_size);
		p += padded;
	}
	w->block.row = p;
	w->block.count++;
	if (r->fixed_size || r->has_tail)
		w->block.bare = false;
	if (r->time > w->block.last)
		w->block.last = r->time;
}

/* Write a row whose tail is too large to be copied: as a block of its own, directly from the
 * tail's buffer. */
static int put_large(struct writer *w, const struct row_ids *ids)
{
	struct row_ids head = *ids;

	head.row.tail_size = 0;
	if (tables_for(w, ids))
		return -1;
	writer_row_plain(w, &head);
	put_u32(w->block.row - 4, ids->row.tail_size);
	return writer_flush_large(w, ids->row.tail, ids->row.tail_size);
}

/* Test whether the next block begins a segment. Snapshots, and what segments declare again, take at
 * most a quarter of the stream each; a small dictionary may be declared again in each segment. */
static bool is_full(const struct writer *w)
{
	enum { SHARE = 4, SMALL = 64 * 1024 };
	const struct writer_calls *s = &w->calls;
	uint64_t repeated = w->repeated > SMALL ? w->repeated : 0;

	return w->segment_limit && w->segment_bytes >= w->segment_limit &&
	       w->segment_bytes / SHARE >= repeated &&
	       (!s->ctx || w->segment_bytes / SHARE >= s->size(s->ctx));
}

static int writer_add_row(struct writer *w, const struct row_ids *ids)
{
	const struct new_row *r = &ids->row;
	size_t size = WIDE_ROW + (size_t)r->fixed_size +
		      (r->has_tail ? 4 + align_up(r->tail_size, 4) : 0);
	bool large = r->has_tail && r->tail_size > LARGE_TAIL && r->fixed_size < LARGE_TAIL;
	int full = 1;

	if (w->out_of_memory)
		return writer_no_memory(w);
	if (size > ROW_LIMIT)
		return error_set(&w->error, NULL, NO_OFFSET, "an event of %zu bytes is too large",
				 size);
	if (writer_need_segment(w))
		return -1;
	if (w->block.started && !large) {
		/* in this order: the block may grow when it is made to fit */
		full = fit(w, ids);
		if (!full)
			full = room_for(w, size);
		if (full < 0)
			return -1;
	}
	if (full) {
		if (w->block.started && flush_rows(w))
			return -1;
		if (!ids->declared && is_full(w) && writer_next_segment(w))
			return -1;
		writer_clear_block(w);
		start_block(w, r->time);
		if (fit(w, ids) || (!large && room_for(w, size)))
			return writer_no_memory(w);
		if (large)
			return put_large(w, ids);
	}
	if (tables_for(w, ids))
		return -1;
	writer_row_plain(w, ids);
	return 0;
}

static int writer_row_any(struct writer *w, const struct new_row *r, bool sample)
{
	const struct row_refusal *no = &w->refusal;
	bool refused = no->row && no->row(no->ctx, r->time, r->lane, r->type, r->fixed);
	struct row_ids ids = {*r, r->lane, r->type, r->location, false, sample};
	int result = refused ? 0 : writer_add_row(w, &ids);

	w->used.size = 0;
	return result;
}

int writer_row_slow(struct writer *w, struct new_row r)
{
	return writer_row_any(w, &r, false);
}

int writer_sample(struct writer *w, struct new_row r)
{
	size_t size = (size_t)r.fixed_size + (r.has_tail ? 4 + align_up(r.tail_size, 4) : 0);
	struct writer_slots *s = &w->block.stacks;

	/* most stacks are new to their block, so writer_row_fits() would rarely do: 'trdecode |
	 * trsym | trstat' of t/bench/perf.sh takes 1.06 times the CPU without these lines */
	if (!r.location || w->out_of_memory || !writer_row_fits_but(w, &r, size) ||
	    (s->count >= NARROW_LOCATION_MOST && !writer_block_has(w, s, r.location)))
		return writer_row_any(w, &r, true);
	if (!writer_block_has(w, s, r.location)) {
		if (writer_declare(w, ENTRY_STACK, r.location))
			return -1;
		if (writer_add_slot(w, s, r.location, r.location, 1))
			return writer_no_memory(w);
	}
	writer_row_end(w, &r, writer_row_begin_at(w, &r, s->slot[r.location].index, size));
	return 0;
}

void writer_refuse_rows(struct writer *w)
{
	w->refusal.each = true;
	w->block.quick = false;
}

static void common_writer_count_gap(struct writer *w, uint32_t reason, uint32_t unit,
				    uint64_t count)
{
	w->end.gaps++;
	if (reason != GAP_LOST)
		return;
	if (unit == GAP_EVENTS && count != UINT64_MAX) {
		w->end.lost += count;
		w->end.ever_lost += count;
	} else {
		w->end.lost_more = w->end.ever_lost_more = true;
	}
}

void writer_count_gap(struct writer *w, const struct event *e)
{
	struct gap_row g = {0};

	gap_get(e, &g);
	common_writer_count_gap(w, g.reason, g.unit, g.count);
}

int writer_copy_row(struct writer *w, const struct block *b, const struct event *e)
{
	bool sample = e->type->kind == KIND_SAMPLE;
	struct row_ids ids = {.row = {.time = e->time,
				      .lane = e->lane->number,
				      .type = e->type->number,
				      .location = sample ? e->stack : e->location,
				      .depth = e->depth,
				      .fixed = e->fixed,
				      .fixed_size = e->type->fixed_size,
				      .tail = e->tail,
				      .tail_size = e->tail_size,
				      .has_tail = e->type->flags & TYPE_TAIL},
			      .declared = true,
			      .sample = sample};
	const struct new_row *r = &ids.row;
	const struct open_block *to = &w->block;

	if (to->narrow && !r->fixed_size && !r->has_tail &&
	    r->time - to->base <= NARROW_DELTA_MOST && r->depth <= NARROW_DEPTH_MOST &&
	    to->limit - to->row >= NARROW_ROW + 8 && writer_block_has(w, &to->types, r->type) &&
	    writer_block_has(w, &to->lanes, r->lane) &&
	    writer_block_has(w, places_of(w, &ids), r->location)) {
		writer_row_plain(w, &ids);
		return 0;
	}
	ids.lane = get_u32(b->lane_ids + 4 * e->lane_index);
	ids.type = get_u32(b->type_ids + 4 * e->type_index);
	if (e->location_index)
		ids.location = get_u32((sample ? b->stacks.ids : b->location_ids) +
				       4 * (size_t)(e->location_index - 1));
	if (writer_add_row(w, &ids))
		return -1;
	if (e->type->kind == KIND_GAP)
		writer_count_gap(w, e);
	return 0;
}

int writer_bare_row(struct writer *w, const struct block *b, const struct event *e,
		    uint32_t type_id)
{
	return writer_add_row(w, &(struct row_ids){.row = {.time = e->time,
							   .lane = e->lane->number,
							   .type = e->type->number,
							   .depth = e->depth},
						   .lane = get_u32(b->lane_ids + 4 * e->lane_index),
						   .type = type_id,
						   .declared = true});
}

static uint32_t gap_type(struct writer *w)
{
	struct field_entry fields[] = {
		{writer_text(w, "count"), 0, FIELD_UINT, ROLE_COUNT, WHERE_FIXED, 0, 8, 0, 0},
		{writer_text(w, "offset"), 0, FIELD_UINT, ROLE_NONE, WHERE_FIXED, 8, 8, 0, 0},
		{writer_text(w, "reason"), 0, FIELD_UINT, ROLE_NONE, WHERE_FIXED, 16, 4, 0, 0},
		{writer_text(w, "unit"), 0, FIELD_UINT, ROLE_NONE, WHERE_FIXED, 20, 4, 0, 0},
		{writer_text(w, "file"), 0, FIELD_STRING, ROLE_NONE, WHERE_REST, 4, 1, 0, 0},
	};
	struct member_entry reasons[] = {{writer_text(w, "lost"), GAP_LOST, GAP_LOST},
					 {writer_text(w, "damage"), GAP_DAMAGE, GAP_DAMAGE},
					 {writer_text(w, "unread"), GAP_UNREAD, GAP_UNREAD}};
	struct type_entry t = {.name = writer_text(w, "gap"),
			       .group = writer_text(w, "trutils"),
			       .kind = KIND_GAP,
			       .flags = TYPE_TAIL,
			       .fixed_size = 24,
			       .nfields = 5,
			       .fields = fields};

	fields[2].kind = FIELD_ENUM;
	fields[2].definition = writer_definition(
		w, &(struct definition_entry){.name = writer_text(w, "gap_reason"),
					      .kind = DEFINITION_ENUM,
					      .nmembers = 3,
					      .members = reasons});
	/* the tail: u32 bytes of the file's name, the name and a NUL, at which the field ends, the
	 * message */
	return writer_type(w, &t);
}

int writer_gap(struct writer *w, uint64_t time, uint32_t lane, const struct gap *g)
{
	size_t file = g->file ? strlen(g->file) : 0, message = g->message ? strlen(g->message) : 0;
	uint8_t fixed[24], tail[4 + 2048];
	uint32_t size = 4;

	if (!w->gap_type)
		w->gap_type = gap_type(w);
	if (w->refusal.row && w->refusal.row(w->refusal.ctx, time, lane, w->gap_type, NULL))
		return 0;
	if (file > 1024)
		file = 1024;
	if (message > 1000)
		message = 1000;
	put_u64(fixed, g->count);
	put_u64(fixed + 8, g->offset);
	put_u32(fixed + 16, g->reason);
	put_u32(fixed + 20, g->unit);
	if (file) {
		memcpy(tail + size, g->file, file);
		size += (uint32_t)file;
		tail[size++] = 0;
	}
	put_u32(tail, size - 4);
	if (message)
		memcpy(tail + size, g->message, message);
	if (writer_row_data(w, (struct new_row){.time = time,
						.lane = lane,
						.type = w->gap_type,
						.fixed = fixed,
						.fixed_size = sizeof fixed,
						.tail = tail,
						.tail_size = (uint32_t)(size + message),
						.has_tail = true}))
		return -1;
	common_writer_count_gap(w, g->reason, g->unit, g->count);
	return 0;
}

/* --- segments --- */

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
