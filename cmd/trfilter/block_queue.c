/*
 * block_queue.c - the queue of blocks with undecided rows, in memory and in a temporary file
 *
 *     block    rows
 *     1        left out, kept, undecided    waits until the call of the undecided row is decided
 *     2        kept, kept                   waits for block 1
 *
 * A block that leaves the queue has only the rows that are kept.
 */
#include "cmd/trfilter/block_queue.h"

#include <stdlib.h>
#include <unistd.h>

#include "cmd/trfilter/rows.h"
#include "common/stream/snapshot.h"
#include "common/util/output.h"

/* --- a block of some rows of another block --- */

/* Make the rows' times relative to out's base, which is step after their present base. */
static void move_base(const struct block *out, uint8_t *p, uint64_t step)
{
	const uint8_t *end = p + out->row_size;

	for (; step && p < end; p += row_size(out, p))
		row_move(p, out->row_flags & EVENTS_WIDE, step);
}

/*
 * Describe the block that compact_block would make, for callers that write the payload themselves:
 * header and tables are unchanged, and out's base less b's is to be subtracted from the rows'
 * times. The pointers are b's.
 */
static void compact_describe(struct block *out, const struct block *b,
			     const struct compact_rows *rows, size_t size)
{
	*out = *b;
	out->truncated = false;
	out->flags &= (uint16_t)~BLOCK_HAS_CRC; /* it was the CRC of b's payload */
	out->row_size = size;
	out->rows = rows->count;
	/* below the base: times exceed 64 bits, a damaged block */
	out->base = rows->low < b->base ? b->base : rows->low;
	out->last = rows->high;
	out->length = out->available = (uint32_t)align_up(b->front + size, 8);
}

/* Write the block's numbers to the beginning of its payload. */
static void compact_put_header(uint8_t *p, const struct block *b)
{
	put_u64(p, b->base);
	put_u64(p + 8, b->last);
	put_u32(p + 16, b->rows);
	put_u16(p + 20, b->row_flags);
}

void compact_block(struct block *out, const struct block *b, uint8_t *payload,
		   const struct compact_rows *rows)
{
	size_t front = b->front;

	if (payload != b->payload)
		memcpy(payload, b->payload, front);
	compact_describe(out, b, rows, (size_t)(rows->end - payload) - front);
	out->type_ids = payload + (b->type_ids - b->payload);
	out->lane_ids = payload + (b->lane_ids - b->payload);
	out->location_ids = payload + (b->location_ids - b->payload);
	out->stacks.ids = payload + (b->stacks.ids - b->payload);
	out->payload = payload;
	out->row_data = payload + front;
	move_base(out, payload + front, out->base - b->base);
	memset(rows->end, 0, 8);
	compact_put_header(payload, out);
}

/* --- the queue --- */

/*
 * Everything after an undecided row is queued too, blocks of other kinds included, so the order of
 * the stream is kept. Of EVENTS blocks only the rows that may be kept are copied. When the queue
 * exceeds a limit, it spills to a temporary file, and a few hundred bytes of each block stay in
 * memory. A block that is large by itself (a value of many MiB) spills at once, so that it is not
 * in memory twice.
 */

/*
 * Memory and temporary file of the queue.
 */

/* Offsets of the parts of a queued EVENTS block, which are after its payload. */
struct block_queue_layout {
	size_t states, types, lanes, locations, stacks, innermost, size;
};

/* Get the next row from i on that is not left out; where speed matters, most are left out. */
static inline uint32_t block_queue_next_row(const uint8_t *states, uint32_t rows, uint32_t i)
{
	while (i + 8 <= rows && !get_u64(states + i))
		i += 8;
	while (i < rows && states[i] == ROW_LEFT_OUT)
		i++;
	return i;
}

/* Get the address of row i. */
static inline const uint8_t *block_queue_row_at(const struct block *b, const uint32_t *offsets,
						uint32_t i)
{
	if (!(b->row_flags & EVENTS_BARE))
		return b->row_data + offsets[i];
	return b->row_data + (size_t)i * (b->row_flags & EVENTS_WIDE ? WIDE_ROW : NARROW_ROW);
}

/* --- layout of a queued block's memory --- */

/* Compute the layout; after the payload there is room for compact_block. */
static struct block_queue_layout block_queue_layout(const struct block *b, size_t payload,
						    uint32_t rows)
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

/* Set the block's pointers into memory. */
static void block_queue_point(struct block *b, uint8_t *memory, const struct block_queue_layout *l)
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

static void block_queue_forget(struct block_queue *w, struct queued_block *h)
{
	if (h->memory)
		w->bytes -= h->size;
	free(h->memory);
	h->memory = NULL;
	h->block.payload = NULL;
}

static int block_queue_open_file(struct block_queue *w, struct error *e)
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

/* Move a block from memory to the file. */
static int block_queue_spill(struct block_queue *w, struct queued_block *h, struct error *e)
{
	if (block_queue_open_file(w, e) ||
	    temporary_write(w->fd, h->memory, h->size, w->file_size, e))
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

static void block_queue_flush(struct outgoing *o)
{
	o->failed = o->failed || temporary_write(o->fd, o->bytes, o->size, o->at, o->e);
	o->at += o->size;
	o->size = 0;
}

static void outgoing_put(struct outgoing *o, const void *data, size_t n)
{
	if (n > sizeof o->bytes - o->size)
		block_queue_flush(o);
	if (n > sizeof o->bytes) {
		o->failed = o->failed || temporary_write(o->fd, data, n, o->at, o->e);
		o->at += n;
	} else {
		memcpy(o->bytes + o->size, data, n);
		o->size += n;
	}
}

/* Write zeros up to an offset of the block, less than 24 bytes away. */
static void block_queue_pad(struct outgoing *o, uint64_t start, size_t to)
{
	static const uint8_t zeros[24];

	outgoing_put(o, zeros, (size_t)(start + to - o->at - o->size));
}

/* Describe the block that the kept rows form, as compact_describe does. */
static struct block described(const struct block *b, const uint8_t *states, const uint32_t *offsets)
{
	struct compact_rows rows = {.low = UINT64_MAX};
	struct block out;
	size_t size = 0;

	for (uint32_t i = 0; (i = block_queue_next_row(states, b->rows, i)) < b->rows; i++) {
		const uint8_t *row = block_queue_row_at(b, offsets, i);
		uint64_t time = block_row(b, row).time;

		rows.low = time < rows.low ? time : rows.low;
		rows.high = time > rows.high ? time : rows.high;
		size += row_size(b, row);
		rows.count++;
	}
	compact_describe(&out, b, &rows, size);
	return out;
}

static void block_queue_put_rows(struct outgoing *o, const struct block *b, const struct block *out,
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

/* Write an EVENTS block, or the rows of it that may be kept, to the file without a copy in
 * memory. */
static int block_queue_write(struct block_queue *w, struct queued_block *h, const struct block *b,
			     const uint8_t *states, const uint32_t *offsets, struct error *e)
{
	struct block_queue_layout l;
	struct outgoing o = {.fd = -1};
	uint8_t header[EVENTS_HEADER];

	if (block_queue_open_file(w, e))
		return -1;
	o.fd = w->fd;
	o.at = w->file_size;
	o.e = e;
	h->block = described(b, states, offsets);
	l = block_queue_layout(b, b->front + h->block.row_size, h->block.rows);
	memcpy(header, b->payload, sizeof header);
	compact_put_header(header, &h->block);
	outgoing_put(&o, header, sizeof header);
	outgoing_put(&o, b->payload + sizeof header, b->front - sizeof header);
	block_queue_put_rows(&o, b, &h->block, states, offsets);
	block_queue_pad(&o, w->file_size, l.states);
	for (uint32_t i = 0; (i = block_queue_next_row(states, b->rows, i)) < b->rows; i++)
		outgoing_put(&o, &states[i], 1);
	block_queue_pad(&o, w->file_size, l.types);
	outgoing_put(&o, b->types, l.lanes - l.types);
	outgoing_put(&o, b->lanes, l.locations - l.lanes);
	outgoing_put(&o, b->locations, l.stacks - l.locations);
	if (l.stacks < l.size) {
		outgoing_put(&o, b->stacks.numbers, l.innermost - l.stacks);
		outgoing_put(&o, b->stacks.innermost, l.size - l.innermost);
	}
	block_queue_flush(&o);
	h->block.payload = NULL;
	h->size = l.size;
	h->states_at = l.states;
	if (!o.failed)
		appended(w, h);
	return o.failed ? -1 : 0;
}

/* --- block queue --- */

void block_queue_init(struct block_queue *w, size_t limit)
{
	*w = (struct block_queue){.limit = limit, .fd = -1};
}

static void free_block(struct queued_block *h)
{
	free(h->memory);
	free(h->owners);
}

void block_queue_free(struct block_queue *w)
{
	for (size_t i = 0; i < w->count; i++)
		free_block(&w->blocks[w->first + i]);
	free(w->blocks);
	if (w->fd >= 0)
		close(w->fd);
	block_queue_init(w, 0);
}

void block_queue_pop(struct block_queue *w)
{
	struct queued_block *h = &w->blocks[w->first++];

	block_queue_forget(w, h);
	free_block(h);
	if (h->spilled)
		temporary_forget(w->fd, h->offset, align_up(h->size, 4096));
	w->sequence++;
	if (--w->count)
		return;
	w->first = 0;
	w->file_size = 0;
}

/* --- removal of decided rows --- */

static inline void copy(struct compact_rows *c, const struct block *b, const uint8_t *row, size_t n)
{
	uint64_t time = block_row(b, row).time;

	memmove(c->end, row, n);
	c->end += n;
	c->count++;
	c->low = time < c->low ? time : c->low;
	c->high = time > c->high ? time : c->high;
}

/* Remove rows that were decided to be left out, within the block's memory. */
static void remove_left_out(struct block_queue *w, size_t index)
{
	struct queued_block *h = &w->blocks[index];
	uint64_t sequence = w->sequence + (index - w->first);
	struct block *b = &h->block, all = *b;
	uint8_t *states = h->memory + h->states_at;
	struct compact_rows c = {.end = h->memory + b->front, .low = UINT64_MAX};
	const uint8_t *row = b->row_data;
	struct block_queue_layout l;
	uint32_t owner = h->owner, kept = h->owner, left_out = 0;
	uint8_t *memory;

	for (uint32_t i = 0; i < b->rows; i++)
		left_out += states[i] == ROW_LEFT_OUT;
	if (left_out < b->rows / 4 || !left_out)
		return;
	for (uint32_t i = 0; i < all.rows; i++) {
		size_t n = row_size(&all, row);

		while (owner < h->nowners && h->owners[owner].row < i)
			owner++;
		if (row_undecided(states[i]) && owner < h->nowners && h->owners[owner].row == i) {
			h->owners[kept] = h->owners[owner];
			h->owners[kept].row = c.count;
			w->moved(w->ctx, h->owners[kept++].call, sequence, c.count);
		}
		if (states[i] != ROW_LEFT_OUT) {
			states[c.count] = states[i];
			copy(&c, &all, row, n);
		}
		row += n;
	}
	h->nowners = kept;
	if (c.count)
		compact_block(b, &all, h->memory, &c);
	b->rows = c.count;
	l = block_queue_layout(b, (size_t)(c.end - h->memory), c.count);
	memmove(h->memory + l.states, states, c.count);
	memmove(h->memory + l.types, all.types, l.lanes - l.types);
	memmove(h->memory + l.lanes, all.lanes, l.locations - l.lanes);
	memmove(h->memory + l.locations, all.locations, l.size - l.locations);
	w->bytes -= h->size - l.size;
	h->size = l.size;
	h->states_at = l.states;
	memory = realloc(h->memory, l.size);
	h->memory = memory ? memory : h->memory;
	block_queue_point(b, h->memory, &l);
}

void block_queue_clean(struct queued_block *h)
{
	struct block *b = &h->block, all = *b;
	const uint8_t *states, *row = b->row_data;
	struct compact_rows c = {.low = UINT64_MAX};

	if ((b->kind != BLOCK_EVENTS && b->kind != BLOCK_SNAPSHOT) || !b->rows)
		return;
	states = h->memory + h->states_at;
	if (b->kind == BLOCK_SNAPSHOT) {
		for (uint32_t i = 0; i < b->rows; i++)
			if (!row_passes(states[i]))
				snapshot_leave_out(h->memory, i);
		return;
	}
	c.end = h->memory + b->front;
	if (!memchr(states, ROW_LEFT_OUT, b->rows) && !memchr(states, ROW_UNDECIDED, b->rows))
		return;
	for (uint32_t i = 0; i < all.rows; i++) {
		size_t n = row_size(&all, row);

		if (states[i] != ROW_LEFT_OUT && states[i] != ROW_UNDECIDED) {
			h->memory[h->states_at + c.count] = states[i];
			copy(&c, &all, row, n);
		}
		row += n;
	}
	if (c.count)
		compact_block(b, &all, h->memory, &c);
	b->rows = c.count;
}

/* Bring the queue below its limit: first remove left-out rows, then spill. */
static int reduce_memory(struct block_queue *w, struct error *e)
{
	if (w->bytes <= w->limit)
		return 0;
	for (size_t i = w->first; i < w->first + w->count; i++)
		if (w->blocks[i].memory && w->blocks[i].block.kind == BLOCK_EVENTS)
			remove_left_out(w, i);
	if (w->bytes <= w->limit / 2)
		return 0;
	for (size_t i = w->first; i < w->first + w->count; i++)
		if (w->blocks[i].memory && block_queue_spill(w, &w->blocks[i], e))
			return -1;
	return 0;
}

/* --- input --- */

static struct queued_block *block_queue_add_block(struct block_queue *w)
{
	if (w->first + w->count == w->capacity && w->first > w->count) {
		memmove(w->blocks, w->blocks + w->first, w->count * sizeof *w->blocks);
		w->first = 0;
	}
	if (ARRAY_GROW(w->blocks, w->capacity, w->first + w->count))
		return NULL;
	w->blocks[w->first + w->count] = (struct queued_block){0};
	return &w->blocks[w->first + w->count];
}

/* Queue the content of a block of another kind, with room after it. NULL: out of memory. */
static struct queued_block *add_copy(struct block_queue *w, const struct block *b, const void *data,
				     size_t size, size_t room)
{
	struct queued_block *h = block_queue_add_block(w);

	if (!h)
		return NULL;
	h->block = *b;
	h->size = size + room;
	h->memory = malloc(h->size + 1);
	if (!h->memory)
		return NULL;
	if (size)
		memcpy(h->memory, data, size);
	h->block.payload = h->memory;
	w->bytes += h->size;
	w->count++;
	return h;
}

int block_queue_other(struct block_queue *w, const struct block *b, const struct head *head,
		      const struct end *end, struct error *e)
{
	const void *data = b->kind == BLOCK_HEAD ? head->properties : b->payload;
	size_t size = b->kind == BLOCK_HEAD ? head->properties_size : b->length;
	struct queued_block *h = add_copy(w, b, data, b->kind == BLOCK_END ? 0 : size, 0);

	if (!h)
		return error_no_memory(e);
	if (head)
		h->head = *head;
	if (b->kind == BLOCK_HEAD) {
		h->head.properties = h->memory;
	} else if (b->kind == BLOCK_END) {
		h->end = *end;
	}
	return reduce_memory(w, e);
}

int block_queue_enters(struct block_queue *w, const struct block *b, const uint8_t *states,
		       const struct call_address *owners, bool exact, struct error *e)
{
	uint32_t n = b->snapshot->head.frames;
	struct queued_block *h = add_copy(w, b, b->payload, b->length, n);

	if (!h)
		return error_no_memory(e);
	if (!exact)
		snapshot_set_flags(h->memory, SNAPSHOT_APPROXIMATE);
	h->states_at = b->length;
	if (n)
		memcpy(h->memory + h->states_at, states, n);
	h->block.rows = n;
	h->owners = malloc(n * sizeof *h->owners + 1);
	if (!h->owners)
		return error_no_memory(e);
	for (uint32_t i = 0; i < n; i++)
		if (row_undecided(states[i]))
			h->owners[h->nowners++] = (struct owner){i, owners[i]};
	h->undecided = h->nowners;
	return reduce_memory(w, e);
}

/* Count the rows of a block that are kept or undecided, and those that are undecided. Returns their
 * size in bytes. */
static size_t block_queue_count_rows(const struct block *b, const uint8_t *states,
				     const uint32_t *offsets, uint32_t *rows, uint32_t *undecided)
{
	size_t bytes = 0;

	*rows = *undecided = 0;
	for (uint32_t i = 0; (i = block_queue_next_row(states, b->rows, i)) < b->rows; i++) {
		++*rows;
		*undecided += row_undecided(states[i]);
		bytes += row_size(b, block_queue_row_at(b, offsets, i));
	}
	return bytes;
}

/* Record the owners of a block's undecided rows. */
static void record_owners(struct block_queue *w, struct queued_block *h, const struct block *b,
			  const uint8_t *states, const struct call_address *owners,
			  uint64_t sequence)
{
	uint32_t row = 0;

	for (uint32_t i = 0; (i = block_queue_next_row(states, b->rows, i)) < b->rows; i++, row++)
		if (row_undecided(states[i])) {
			h->owners[h->nowners++] = (struct owner){row, owners[i]};
			w->moved(w->ctx, owners[i], sequence, row);
		}
}

/* Queue a large block that is kept unchanged, without a copy in memory. If it is the first, its
 * memory is borrowed until the next block is read; otherwise it spills. */
static int add_unchanged(struct block_queue *w, struct queued_block *h, const struct block *b,
			 const uint8_t *states, const uint32_t *offsets, struct error *e)
{
	if (w->count || b->truncated)
		return block_queue_write(w, h, b, states, offsets, e);
	h->memory = malloc(b->rows);
	if (!h->memory)
		return error_no_memory(e);
	memcpy(h->memory, states, b->rows);
	h->size = b->rows;
	h->block = *b;
	w->bytes += h->size;
	return 0;
}

int block_queue_events(struct block_queue *w, const struct block *b, const uint8_t *states,
		       const uint32_t *offsets, const struct call_address *owners, struct error *e)
{
	uint32_t rows, undecided;
	size_t bytes = block_queue_count_rows(b, states, offsets, &rows, &undecided);
	uint64_t sequence = block_queue_next(w);
	struct compact_rows c = {.low = UINT64_MAX};
	struct block_queue_layout l;
	struct queued_block *h;
	int bad;

	if (!rows)
		return 0;
	h = block_queue_add_block(w);
	if (!h)
		return error_no_memory(e);
	l = block_queue_layout(b, b->front + bytes, rows);
	h->undecided = undecided;
	h->owners = undecided ? malloc(undecided * sizeof *h->owners) : NULL;
	if (undecided && !h->owners)
		return error_no_memory(e);
	if (l.size > w->limit / 2) {
		bad = !undecided && rows == b->rows
			      ? add_unchanged(w, h, b, states, offsets, e)
			      : block_queue_write(w, h, b, states, offsets, e);
		record_owners(w, h, b, states, owners, sequence);
		w->count++;
		return bad;
	}
	h->memory = malloc(l.size);
	if (!h->memory) {
		free_block(h);
		return error_no_memory(e);
	}
	c.end = h->memory + b->front;
	for (uint32_t i = 0; (i = block_queue_next_row(states, b->rows, i)) < b->rows; i++) {
		const uint8_t *row = block_queue_row_at(b, offsets, i);

		if (row_undecided(states[i])) {
			h->owners[h->nowners++] = (struct owner){c.count, owners[i]};
			w->moved(w->ctx, owners[i], sequence, c.count);
		}
		h->memory[l.states + c.count] = states[i];
		copy(&c, b, row, row_size(b, row));
	}
	compact_block(&h->block, b, h->memory, &c);
	memcpy(h->memory + l.types, b->types, l.lanes - l.types);
	memcpy(h->memory + l.lanes, b->lanes, l.locations - l.lanes);
	memcpy(h->memory + l.locations, b->locations, l.stacks - l.locations);
	if (l.stacks < l.size) {
		memcpy(h->memory + l.stacks, b->stacks.numbers, l.innermost - l.stacks);
		memcpy(h->memory + l.innermost, b->stacks.innermost, l.size - l.innermost);
	}
	block_queue_point(&h->block, h->memory, &l);
	h->size = l.size;
	h->states_at = l.states;
	w->bytes += h->size;
	w->count++;
	return reduce_memory(w, e);
}

int block_queue_decide(struct block_queue *w, uint64_t block, uint32_t row, uint8_t state,
		       struct error *e)
{
	struct queued_block *h = &w->blocks[w->first + (block - w->sequence)];

	uint8_t flags = 0;

	h->undecided--;
	if (h->memory) {
		h->memory[h->states_at + row] = row_flags(h->memory[h->states_at + row]) | state;
		return 0;
	}
	if (w->flagged && temporary_read(w->fd, &flags, 1, h->offset + h->states_at + row, e))
		return -1;
	state |= row_flags(flags);
	return temporary_write(w->fd, &state, 1, h->offset + h->states_at + row, e);
}
