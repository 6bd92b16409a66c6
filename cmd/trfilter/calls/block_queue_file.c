/*
 * block_queue_file.c - memory and temporary file of the queue
 */
#include <stdlib.h>

#include "common/util/temporary.h"
#include "cmd/trfilter/calls/block_queue_private.h"

/* --- layout of a queued block's memory --- */

struct block_queue_layout block_queue_layout(const struct block *b, size_t payload, uint32_t rows)
{
	struct block_queue_layout l = {.states = align_up(payload + 8, 8)};
	size_t stacks = 0;

	l.types = l.states + align_up(rows, 8);
	l.lanes = l.types + b->ntypes * sizeof *b->types;
	l.locations = l.lanes + b->nlanes * sizeof *b->lanes;
	l.stacks = l.locations + ((size_t)b->nlocations + 1) * sizeof *b->locations;
	if (b->stacks.numbers)
		stacks = ((size_t)b->stacks.count + 1) * sizeof *b->stacks.numbers;
	l.innermost = l.stacks + stacks;
	l.size = l.innermost + stacks;
	return l;
}

void block_queue_point(struct block *b, uint8_t *memory, const struct block_queue_layout *l)
{
	b->payload = memory;
	b->type_ids = memory + EVENTS_HEADER;
	b->lane_ids = b->type_ids + 4 * b->ntypes;
	b->location_ids = b->lane_ids + 4 * b->nlanes;
	b->stacks.ids = b->location_ids + 4 * (size_t)b->stacks.locations;
	b->row_data = memory + b->front;
	b->types = (const struct type **)(void *)(memory + l->types);
	b->lanes = (const struct lane **)(void *)(memory + l->lanes);
	b->locations = (const uint32_t *)(void *)(memory + l->locations);
	if (l->stacks < l->size) {
		b->stacks.numbers = (const uint32_t *)(void *)(memory + l->stacks);
		b->stacks.innermost = (const uint32_t *)(void *)(memory + l->innermost);
	}
}

/* --- memory and file --- */

void block_queue_forget(struct block_queue *w, struct queued_block *h)
{
	if (h->memory)
		w->bytes -= h->size;
	free(h->memory);
	h->memory = NULL;
	h->block.payload = NULL;
}

static int open_file(struct block_queue *w, struct error *e)
{
	if (w->fd < 0)
		w->fd = temporary_open(e);
	return w->fd < 0 ? -1 : 0;
}

/* Account the bytes appended to the file to the block. */
static void appended(struct block_queue *w, struct queued_block *h)
{
	h->offset = w->file_size;
	h->spilled = true;
	w->file_size += align_up(h->size, 4096);
}

int block_queue_spill(struct block_queue *w, struct queued_block *h, struct error *e)
{
	if (open_file(w, e) || temporary_write(w->fd, h->memory, h->size, w->file_size, e))
		return -1;
	appended(w, h);
	block_queue_forget(w, h);
	return 0;
}

int block_queue_load(struct block_queue *w, struct queued_block *h, struct error *e)
{
	struct block_queue_layout l;

	if (h->memory)
		return 0;
	h->memory = malloc(h->size + 1);
	if (!h->memory)
		return error_no_memory(e);
	w->bytes += h->size;
	if (temporary_read(w->fd, h->memory, h->size, h->offset, e))
		return -1;
	h->block.payload = h->memory;
	if (h->block.kind == BLOCK_EVENTS) {
		l = block_queue_layout(&h->block, h->states_at - 8, h->block.rows);
		block_queue_point(&h->block, h->memory, &l);
	}
	if (h->block.kind == BLOCK_HEAD)
		h->head.properties = h->memory;
	return 0;
}

int block_queue_put_back(struct block_queue *w, struct queued_block *h, struct error *e)
{
	if (w->bytes <= w->limit)
		return 0;
	if (temporary_write(w->fd, h->memory + h->states_at, h->block.rows,
			    h->offset + h->states_at, e))
		return -1;
	block_queue_forget(w, h);
	return 0;
}

/* --- rows written directly to the file --- */

/* Output buffer for the end of the file; large data bypass it. */
struct outgoing {
	int fd;
	uint64_t at; /* offset in the file of bytes[0] */
	size_t size;
	struct error *e;
	bool failed;
	uint8_t bytes[16 * 1024];
};

static void flush(struct outgoing *o)
{
	o->failed = o->failed || temporary_write(o->fd, o->bytes, o->size, o->at, o->e);
	o->at += o->size;
	o->size = 0;
}

static void outgoing_put(struct outgoing *o, const void *data, size_t n)
{
	if (n > sizeof o->bytes - o->size)
		flush(o);
	if (n > sizeof o->bytes) {
		o->failed = o->failed || temporary_write(o->fd, data, n, o->at, o->e);
		o->at += n;
	} else {
		memcpy(o->bytes + o->size, data, n);
		o->size += n;
	}
}

/* Write zeros up to an offset of the block, less than 24 bytes away. */
static void pad(struct outgoing *o, uint64_t start, size_t to)
{
	static const uint8_t zeros[24];

	outgoing_put(o, zeros, (size_t)(start + to - o->at - o->size));
}

/* Describe the block that the kept rows form, as compact_describe does. */
static struct block described(const struct block *b, const uint8_t *states, const uint32_t *offsets)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct block out;
	uint32_t rows = 0;
	size_t size = 0;

	for (uint32_t i = 0; (i = block_queue_next_row(states, b->rows, i)) < b->rows; i++) {
		const uint8_t *row = block_queue_row_at(b, offsets, i);
		uint64_t time = block_row(b, row).time;

		low = time < low ? time : low;
		high = time > high ? time : high;
		size += row_size(b, row);
		rows++;
	}
	compact_describe(&out, b, &(struct compact_rows){size, rows, low, high});
	return out;
}

static void put_rows(struct outgoing *o, const struct block *b, const struct block *out,
		     const uint8_t *states, const uint32_t *offsets)
{
	for (uint32_t i = 0; (i = block_queue_next_row(states, b->rows, i)) < b->rows; i++) {
		const uint8_t *row = block_queue_row_at(b, offsets, i);
		bool wide = b->row_flags & EVENTS_WIDE;
		uint8_t first[WIDE_ROW];
		size_t n = wide ? WIDE_ROW : NARROW_ROW;

		memcpy(first, row, n);
		row_move(first, wide, out->base - b->base);
		outgoing_put(o, first, n);
		outgoing_put(o, row + n, row_size(b, row) - n);
	}
}

int block_queue_write(struct block_queue *w, struct queued_block *h,
		      const struct decided_rows *rows, const struct block_queue_layout *l,
		      struct error *e)
{
	const struct block *b = rows->block;
	const uint8_t *states = rows->states;
	struct outgoing o = {.fd = -1};
	uint8_t header[EVENTS_HEADER];

	if (open_file(w, e))
		return -1;
	o.fd = w->fd;
	o.at = w->file_size;
	o.e = e;
	h->block = described(b, states, rows->offsets);
	memcpy(header, b->payload, sizeof header);
	compact_put_header(header, &h->block);
	outgoing_put(&o, header, sizeof header);
	outgoing_put(&o, b->payload + sizeof header, b->front - sizeof header);
	put_rows(&o, b, &h->block, states, rows->offsets);
	pad(&o, w->file_size, l->states);
	for (uint32_t i = 0; (i = block_queue_next_row(states, b->rows, i)) < b->rows; i++)
		outgoing_put(&o, &states[i], 1);
	pad(&o, w->file_size, l->types);
	outgoing_put(&o, b->types, l->lanes - l->types);
	outgoing_put(&o, b->lanes, l->locations - l->lanes);
	outgoing_put(&o, b->locations, l->stacks - l->locations);
	if (l->stacks < l->size) {
		outgoing_put(&o, b->stacks.numbers, l->innermost - l->stacks);
		outgoing_put(&o, b->stacks.innermost, l->size - l->innermost);
	}
	flush(&o);
	h->block.payload = NULL;
	h->size = l->size;
	h->states_at = l->states;
	if (!o.failed)
		appended(w, h);
	return o.failed ? -1 : 0;
}
