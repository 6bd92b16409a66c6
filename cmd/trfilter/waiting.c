#include "waiting.h"

#include <stdlib.h>
#include <unistd.h>

#include "cut.h"
#include "temporary.h"

void waiting_init(struct waiting *w, size_t limit)
{
	*w = (struct waiting){.limit = limit, .fd = -1};
}

static void free_held(struct held *h)
{
	free(h->memory);
	free(h->owners);
}

void waiting_free(struct waiting *w)
{
	for (size_t i = 0; i < w->count; i++)
		free_held(&w->held[w->first + i]);
	free(w->held);
	if (w->fd >= 0)
		close(w->fd);
	waiting_init(w, 0);
}

/* --- the parts of a held block's memory --- */

struct layout {
	size_t states, types, lanes, places, size;
};

/* Behind the payload there is room for cut_block. */
static struct layout layout(const struct block *b, size_t payload, uint32_t rows)
{
	struct layout l = {.states = align_up(payload + 8, 8)};

	l.types = l.states + align_up(rows, 8);
	l.lanes = l.types + b->ntypes * sizeof *b->types;
	l.places = l.lanes + b->nlanes * sizeof *b->lanes;
	l.size = l.places + ((size_t)b->nplaces + 1) * sizeof *b->places;
	return l;
}

/* Let the block's pointers go into memory; NULL: none may be followed. */
static void point(struct block *b, uint8_t *memory, const struct layout *l, size_t front)
{
	b->payload = memory;
	b->type_ids = memory + EVENTS_HEADER;
	b->lane_ids = b->type_ids + 4 * b->ntypes;
	b->place_ids = b->lane_ids + 4 * b->nlanes;
	b->row_data = memory + front;
	b->types = (const struct type **)(void *)(memory + l->types);
	b->lanes = (const struct lane **)(void *)(memory + l->lanes);
	b->places = (const uint32_t *)(void *)(memory + l->places);
}

static size_t front_of(const struct block *b)
{
	return EVENTS_HEADER + align_up(4 * ((size_t)b->ntypes + b->nlanes + b->nplaces), 8);
}

/* --- memory and file --- */

static void forget_memory(struct waiting *w, struct held *h)
{
	if (h->memory)
		w->bytes -= h->size;
	free(h->memory);
	h->memory = NULL;
	h->block.payload = NULL;
}

static int spill(struct waiting *w, struct held *h, struct error *e)
{
	if (w->fd < 0)
		w->fd = temporary_open(e);
	if (w->fd < 0 || temporary_write(w->fd, h->memory, h->size, w->file_size, e))
		return -1;
	h->offset = w->file_size;
	h->spilled = true;
	w->file_size += align_up(h->size, 4096);
	forget_memory(w, h);
	return 0;
}

int waiting_load(struct waiting *w, struct held *h, struct error *e)
{
	struct layout l;

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
		l = layout(&h->block, h->states_at - 8, h->block.rows);
		point(&h->block, h->memory, &l, front_of(&h->block));
	}
	if (h->block.kind == BLOCK_HEAD)
		h->head.properties = h->memory;
	return 0;
}

void waiting_pop(struct waiting *w)
{
	struct held *h = &w->held[w->first++];

	forget_memory(w, h);
	free_held(h);
	if (h->spilled)
		temporary_forget(w->fd, h->offset, align_up(h->size, 4096));
	w->sequence++;
	if (--w->count)
		return;
	w->first = 0;
	w->file_size = 0;
}

/* --- rows that go when others are decided --- */

struct copied {
	uint8_t *end;
	uint64_t low, high;
	uint32_t rows;
};

static inline void copy(struct copied *c, const struct block *b, const uint8_t *row, size_t n)
{
	uint64_t time = b->base + cut_row_time(b, row);

	memmove(c->end, row, n);
	c->end += n;
	c->rows++;
	c->low = time < c->low ? time : c->low;
	c->high = time > c->high ? time : c->high;
}

/* Drop what was decided to be dropped, all in its memory. */
static int squeeze(struct waiting *w, size_t index)
{
	struct held *h = &w->held[index];
	uint64_t sequence = w->sequence + (index - w->first);
	struct block *b = &h->block, all = *b;
	size_t front = front_of(b);
	uint8_t *states = h->memory + h->states_at;
	struct copied c = {.end = h->memory + front, .low = UINT64_MAX};
	const uint8_t *row = b->row_data;
	struct layout l;
	uint32_t owner = h->owner, kept = h->owner, dropped = 0;
	uint8_t *memory;

	for (uint32_t i = 0; i < b->rows; i++)
		dropped += states[i] == ROW_DROP;
	if (dropped < b->rows / 4 || !dropped)
		return 0;
	for (uint32_t i = 0; i < all.rows; i++) {
		size_t n = cut_row_size(&all, row);

		while (owner < h->nowners && h->owners[owner].row < i)
			owner++;
		if (row_waits(states[i]) && owner < h->nowners && h->owners[owner].row == i) {
			h->owners[kept] = h->owners[owner];
			h->owners[kept].row = c.rows;
			w->moved(w->ctx, h->owners[kept++].frame, sequence, c.rows);
		}
		if (states[i] != ROW_DROP) {
			states[c.rows] = states[i];
			copy(&c, &all, row, n);
		}
		row += n;
	}
	h->nowners = kept;
	if (c.rows)
		cut_block(b, &all, h->memory, (size_t)(c.end - h->memory) - front, c.rows, c.low,
			  c.high);
	b->rows = c.rows;
	l = layout(b, (size_t)(c.end - h->memory), c.rows);
	memmove(h->memory + l.states, states, c.rows);
	memmove(h->memory + l.types, all.types, l.lanes - l.types);
	memmove(h->memory + l.lanes, all.lanes, l.places - l.lanes);
	memmove(h->memory + l.places, all.places, l.size - l.places);
	w->bytes -= h->size - l.size;
	h->size = l.size;
	h->states_at = l.states;
	memory = realloc(h->memory, l.size);
	h->memory = memory ? memory : h->memory;
	point(b, h->memory, &l, front);
	return 0;
}

void waiting_clean(struct held *h)
{
	struct block *b = &h->block, all = *b;
	const uint8_t *states = h->memory + h->states_at, *row = b->row_data;
	uint8_t *out = h->memory + cut_front(b);
	uint64_t low = UINT64_MAX, high = 0;
	uint32_t rows = 0;

	if (!memchr(states, ROW_DROP, b->rows) && !memchr(states, ROW_WAIT, b->rows))
		return;
	for (uint32_t i = 0; i < all.rows; i++) {
		size_t n = cut_row_size(&all, row);
		uint64_t time = all.base + cut_row_time(&all, row);

		if (states[i] != ROW_DROP && states[i] != ROW_WAIT) {
			h->memory[h->states_at + rows] = states[i];
			memmove(out, row, n);
			out += n;
			rows++;
			low = time < low ? time : low;
			high = time > high ? time : high;
		}
		row += n;
	}
	if (rows)
		cut_block(b, &all, h->memory, (size_t)(out - h->memory) - cut_front(&all), rows,
			  low, high);
	b->rows = rows;
}

/* More than the limit waits: first without what was decided to be dropped, then in the file. */
static int relieve(struct waiting *w, struct error *e)
{
	if (w->bytes <= w->limit)
		return 0;
	for (size_t i = w->first; i < w->first + w->count; i++)
		if (w->held[i].memory && w->held[i].block.kind == BLOCK_EVENTS)
			squeeze(w, i);
	if (w->bytes <= w->limit / 2)
		return 0;
	for (size_t i = w->first; i < w->first + w->count; i++)
		if (w->held[i].memory && spill(w, &w->held[i], e))
			return -1;
	return 0;
}

/* --- what comes in --- */

static struct held *add(struct waiting *w)
{
	struct held *grown;

	if (w->first + w->count == w->capacity && w->first > w->count) {
		memmove(w->held, w->held + w->first, w->count * sizeof *w->held);
		w->first = 0;
	}
	grown = array_grow(w->held, &w->capacity, w->first + w->count, sizeof *w->held);
	if (!grown)
		return NULL;
	w->held = grown;
	grown += w->first + w->count;
	*grown = (struct held){0};
	return grown;
}

int waiting_other(struct waiting *w, const struct block *b, const struct head *head,
		  const struct end *end, struct error *e)
{
	struct held *h = add(w);
	const void *data = b->kind == BLOCK_HEAD ? head->properties : b->payload;
	size_t size = b->kind == BLOCK_HEAD ? head->properties_size : b->length;

	if (!h)
		return error_no_memory(e);
	h->block = *b;
	h->size = b->kind == BLOCK_END ? 0 : size;
	h->memory = malloc(h->size + 1);
	if (!h->memory)
		return error_no_memory(e);
	if (h->size)
		memcpy(h->memory, data, h->size);
	h->block.payload = h->memory;
	if (b->kind == BLOCK_HEAD) {
		h->head = *head;
		h->head.properties = h->memory;
	} else if (b->kind == BLOCK_END) {
		h->end = *end;
	}
	w->bytes += h->size;
	w->count++;
	return relieve(w, e);
}

/* The next row from i on that is not dropped; most are, where this matters. */
static inline uint32_t next_row(const uint8_t *states, uint32_t rows, uint32_t i)
{
	while (i + 8 <= rows && !get_u64(states + i))
		i += 8;
	while (i < rows && states[i] == ROW_DROP)
		i++;
	return i;
}

/* Where row i stands. */
static inline const uint8_t *row_at(const struct block *b, const uint32_t *offsets, uint32_t i)
{
	if (!(b->row_flags & EVENTS_BARE))
		return b->row_data + offsets[i];
	return b->row_data + (size_t)i * (b->row_flags & EVENTS_WIDE ? WIDE_ROW : NARROW_ROW);
}

/* What is kept of a block, or may be. */
struct sizes {
	uint32_t rows, waiting;
	size_t bytes;
};

static struct sizes count(const struct block *b, const uint8_t *states, const uint32_t *offsets)
{
	struct sizes s = {0};

	for (uint32_t i = 0; (i = next_row(states, b->rows, i)) < b->rows; i++) {
		s.rows++;
		s.waiting += row_waits(states[i]);
		s.bytes += cut_row_size(b, row_at(b, offsets, i));
	}
	return s;
}

int waiting_events(struct waiting *w, const struct block *b, const uint8_t *states,
		   const uint32_t *offsets, const struct frame_at *owners, struct error *e)
{
	struct sizes sizes = count(b, states, offsets);
	uint64_t sequence = waiting_next(w);
	struct copied c = {.low = UINT64_MAX};
	size_t front = front_of(b);
	struct layout l;
	struct held *h;

	if (!sizes.rows)
		return 0;
	h = add(w);
	if (!h)
		return error_no_memory(e);
	l = layout(b, front + sizes.bytes, sizes.rows);
	h->memory = malloc(l.size);
	h->owners = sizes.waiting ? malloc(sizes.waiting * sizeof *h->owners) : NULL;
	if (!h->memory || (sizes.waiting && !h->owners)) {
		free_held(h);
		return error_no_memory(e);
	}
	c.end = h->memory + front;
	for (uint32_t i = 0; (i = next_row(states, b->rows, i)) < b->rows; i++) {
		const uint8_t *row = row_at(b, offsets, i);

		if (row_waits(states[i])) {
			h->owners[h->nowners++] = (struct owner){c.rows, owners[i]};
			w->moved(w->ctx, owners[i], sequence, c.rows);
		}
		h->memory[l.states + c.rows] = states[i];
		copy(&c, b, row, cut_row_size(b, row));
	}
	cut_block(&h->block, b, h->memory, sizes.bytes, c.rows, c.low, c.high);
	memcpy(h->memory + l.types, b->types, l.lanes - l.types);
	memcpy(h->memory + l.lanes, b->lanes, l.places - l.lanes);
	memcpy(h->memory + l.places, b->places, l.size - l.places);
	point(&h->block, h->memory, &l, front);
	h->waiting = sizes.waiting;
	h->size = l.size;
	h->states_at = l.states;
	w->bytes += h->size;
	w->count++;
	return relieve(w, e);
}

int waiting_decide(struct waiting *w, uint64_t block, uint32_t row, uint8_t state, struct error *e)
{
	struct held *h = &w->held[w->first + (block - w->sequence)];

	h->waiting--;
	if (h->memory) {
		h->memory[h->states_at + row] = state;
		return 0;
	}
	return temporary_write(w->fd, &state, 1, h->offset + h->states_at + row, e);
}
