#include "cmd/trfilter/calls/block_queue.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/util/temporary.h"
#include "cmd/trfilter/calls/block_queue_private.h"
#include "common/stream/snapshot.h"

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

struct copied {
	uint8_t *end;
	uint64_t low, high;
	uint32_t rows;
};

static inline void copy(struct copied *c, const struct block *b, const uint8_t *row, size_t n)
{
	uint64_t time = block_row(b, row).time;

	memmove(c->end, row, n);
	c->end += n;
	c->rows++;
	c->low = time < c->low ? time : c->low;
	c->high = time > c->high ? time : c->high;
}

/* Remove rows that were decided to be left out, within the block's memory. */
static int remove_left_out(struct block_queue *w, size_t index)
{
	struct queued_block *h = &w->blocks[index];
	uint64_t sequence = w->sequence + (index - w->first);
	struct block *b = &h->block, all = *b;
	size_t front = b->front;
	uint8_t *states = h->memory + h->states_at;
	struct copied c = {.end = h->memory + front, .low = UINT64_MAX};
	const uint8_t *row = b->row_data;
	struct block_queue_layout l;
	uint32_t owner = h->owner, kept = h->owner, left_out = 0;
	uint8_t *memory;

	for (uint32_t i = 0; i < b->rows; i++)
		left_out += states[i] == ROW_LEFT_OUT;
	if (left_out < b->rows / 4 || !left_out)
		return 0;
	for (uint32_t i = 0; i < all.rows; i++) {
		size_t n = row_size(&all, row);

		while (owner < h->nowners && h->owners[owner].row < i)
			owner++;
		if (row_undecided(states[i]) && owner < h->nowners && h->owners[owner].row == i) {
			h->owners[kept] = h->owners[owner];
			h->owners[kept].row = c.rows;
			w->moved(w->ctx, h->owners[kept++].call, sequence, c.rows);
		}
		if (states[i] != ROW_LEFT_OUT) {
			states[c.rows] = states[i];
			copy(&c, &all, row, n);
		}
		row += n;
	}
	h->nowners = kept;
	if (c.rows)
		compact_block(b, &all, h->memory,
			      &(struct compact_rows){(size_t)(c.end - h->memory) - front, c.rows,
						     c.low, c.high});
	b->rows = c.rows;
	l = block_queue_layout(b, (size_t)(c.end - h->memory), c.rows);
	memmove(h->memory + l.states, states, c.rows);
	memmove(h->memory + l.types, all.types, l.lanes - l.types);
	memmove(h->memory + l.lanes, all.lanes, l.locations - l.lanes);
	memmove(h->memory + l.locations, all.locations, l.size - l.locations);
	w->bytes -= h->size - l.size;
	h->size = l.size;
	h->states_at = l.states;
	memory = realloc(h->memory, l.size);
	h->memory = memory ? memory : h->memory;
	block_queue_point(b, h->memory, &l);
	return 0;
}

void block_queue_clean(struct queued_block *h)
{
	struct block *b = &h->block, all = *b;
	const uint8_t *states, *row = b->row_data;
	struct copied c = {.low = UINT64_MAX};
	uint8_t *begin;

	if ((b->kind != BLOCK_EVENTS && b->kind != BLOCK_SNAPSHOT) || !b->rows)
		return;
	states = h->memory + h->states_at;
	if (b->kind == BLOCK_SNAPSHOT) {
		for (uint32_t i = 0; i < b->rows; i++)
			if (!row_passes(states[i]))
				snapshot_leave_out(h->memory, i);
		return;
	}
	begin = c.end = h->memory + b->front;
	if (!memchr(states, ROW_LEFT_OUT, b->rows) && !memchr(states, ROW_UNDECIDED, b->rows))
		return;
	for (uint32_t i = 0; i < all.rows; i++) {
		size_t n = row_size(&all, row);

		if (states[i] != ROW_LEFT_OUT && states[i] != ROW_UNDECIDED) {
			h->memory[h->states_at + c.rows] = states[i];
			copy(&c, &all, row, n);
		}
		row += n;
	}
	if (c.rows)
		compact_block(
			b, &all, h->memory,
			&(struct compact_rows){(size_t)(c.end - begin), c.rows, c.low, c.high});
	b->rows = c.rows;
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

static struct queued_block *add_block(struct block_queue *w)
{
	struct queued_block *grown;

	if (w->first + w->count == w->capacity && w->first > w->count) {
		memmove(w->blocks, w->blocks + w->first, w->count * sizeof *w->blocks);
		w->first = 0;
	}
	if (ARRAY_GROW(w->blocks, w->capacity, w->first + w->count))
		return NULL;
	grown = w->blocks;
	grown += w->first + w->count;
	*grown = (struct queued_block){0};
	return grown;
}

/* Queue the content of a block of another kind, with room after it. NULL: out of memory. */
static struct queued_block *add_copy(struct block_queue *w, const struct block *b, const void *data,
				     size_t size, size_t room)
{
	struct queued_block *h = add_block(w);

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

/* The size of the rows of a block that are kept or undecided. */
struct sizes {
	uint32_t rows, undecided;
	size_t bytes;
};

static struct sizes count_rows(const struct block *b, const uint8_t *states,
			       const uint32_t *offsets)
{
	struct sizes s = {0};

	for (uint32_t i = 0; (i = block_queue_next_row(states, b->rows, i)) < b->rows; i++) {
		s.rows++;
		s.undecided += row_undecided(states[i]);
		s.bytes += row_size(b, block_queue_row_at(b, offsets, i));
	}
	return s;
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

/*
 * Queue a large block without a copy in memory. If it is kept unchanged and is the first, its
 * memory is borrowed until the next block is read; otherwise it spills. Returns 1 if done, 0 if the
 * block is not large, -1 after a failure.
 */
static int add_large(struct block_queue *w, struct queued_block *h, const struct decided_rows *rows,
		     const struct sizes *sizes, const struct block_queue_layout *l, struct error *e)
{
	const struct block *b = rows->block;

	if (l->size <= w->limit / 2)
		return 0;
	if (w->count || sizes->undecided || sizes->rows < b->rows || b->truncated)
		return block_queue_write(w, h, rows, l, e) ? -1 : 1;
	h->memory = malloc(b->rows);
	if (!h->memory)
		return error_no_memory(e);
	memcpy(h->memory, rows->states, b->rows);
	h->size = b->rows;
	h->block = *b;
	w->bytes += h->size;
	return 1;
}

int block_queue_events(struct block_queue *w, const struct block *b, const uint8_t *states,
		       const uint32_t *offsets, const struct call_address *owners, struct error *e)
{
	struct sizes sizes = count_rows(b, states, offsets);
	uint64_t sequence = block_queue_next(w);
	struct copied c = {.low = UINT64_MAX};
	size_t front = b->front;
	struct block_queue_layout l;
	struct queued_block *h;
	int large;

	if (!sizes.rows)
		return 0;
	h = add_block(w);
	if (!h)
		return error_no_memory(e);
	l = block_queue_layout(b, front + sizes.bytes, sizes.rows);
	h->undecided = sizes.undecided;
	h->owners = sizes.undecided ? malloc(sizes.undecided * sizeof *h->owners) : NULL;
	if (sizes.undecided && !h->owners)
		return error_no_memory(e);
	large = add_large(w, h, &(struct decided_rows){b, states, offsets}, &sizes, &l, e);
	if (large) {
		record_owners(w, h, b, states, owners, sequence);
		w->count++;
		return large < 0 ? -1 : 0;
	}
	h->memory = malloc(l.size);
	if (!h->memory) {
		free_block(h);
		return error_no_memory(e);
	}
	c.end = h->memory + front;
	for (uint32_t i = 0; (i = block_queue_next_row(states, b->rows, i)) < b->rows; i++) {
		const uint8_t *row = block_queue_row_at(b, offsets, i);

		if (row_undecided(states[i])) {
			h->owners[h->nowners++] = (struct owner){c.rows, owners[i]};
			w->moved(w->ctx, owners[i], sequence, c.rows);
		}
		h->memory[l.states + c.rows] = states[i];
		copy(&c, b, row, row_size(b, row));
	}
	compact_block(&h->block, b, h->memory,
		      &(struct compact_rows){sizes.bytes, c.rows, c.low, c.high});
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
