/*
 * writer_rows.h - writes rows of a source of events, in line where they fit the present block
 *
 * Lanes, types and locations are ids of writer.h (location 0: none); depth is the row's. Times are
 * those of the lane's clock.
 */
#ifndef TR_STREAM_WRITER_ROWS_H
#define TR_STREAM_WRITER_ROWS_H

#include "common/stream/writer.h"

/* A row to be written, as its type declares it. */
struct new_row {
	uint64_t time;
	const void *fixed, *tail;
	/* in this order the compiler gathers the first ones less often in a vector register, for
	   the slow path: -1 % instructions for a trace of LTTng UST */
	uint32_t lane, fixed_size, type, tail_size, location, depth;
	bool has_tail; /* the type has TYPE_TAIL */
};

/* Write a row that does not fit the present block, or that the writer's test may refuse. The row is
 * passed by value: the copies in line then stay in registers. */
int writer_row_slow(struct writer *w, struct new_row r);
/* Write a row of a type of KIND_SAMPLE; its location is the id of its stack, 0 none. */
int writer_sample(struct writer *w, struct new_row r);

/* Fetch what writer_sample needs for a row of this stack. */
static inline __attribute__((always_inline)) void writer_fetch_stack(const struct writer *w,
								     uint32_t stack)
{
	if (stack < w->block.stacks.size)
		__builtin_prefetch(&w->block.stacks.slot[stack]);
	if (stack < w->stacks.size)
		__builtin_prefetch(&w->stacks.segment[stack]);
}

/* Test whether a row fits the present block, with size bytes after the row's first 8. A slot of
 * another block, or of no block, does not match. */
static inline __attribute__((always_inline)) bool
writer_row_fits(const struct writer *w, const struct new_row *r, size_t size)
{
	const struct open_block *b = &w->block;
	const struct slots *s = &b->locations;

	return b->quick && r->time - b->base <= NARROW_DELTA_MOST &&
	       r->depth <= NARROW_DEPTH_MOST &&
	       (size_t)(b->limit - b->row) >= NARROW_ROW + 8 + size && r->lane < b->lanes.size &&
	       r->type < b->types.size && b->lanes.slot[r->lane].block == b->number &&
	       b->types.slot[r->type].block == b->number && r->location < s->size &&
	       s->slot[r->location].block == b->number;
}

/* Write the first 8 bytes of a narrow row, and count the row with size bytes after them. Returns
 * the place of these bytes. */
static inline __attribute__((always_inline)) uint8_t *
writer_row_begin(struct writer *w, const struct new_row *r, size_t size)
{
	struct open_block *b = &w->block;
	uint8_t *row = b->row;

	put_u64(row, row_make(r->time - b->base, b->lanes.slot[r->lane].index,
			      b->locations.slot[r->location].index, b->types.slot[r->type].index,
			      r->depth));
	b->row = row + NARROW_ROW + size;
	b->count++;
	if (r->time > b->last)
		b->last = r->time;
	return row + NARROW_ROW;
}

/* Write a row without fixed part or tail. */
static inline int writer_row(struct writer *w, uint64_t time, uint32_t lane, uint32_t type,
			     uint32_t location, uint32_t depth)
{
	struct new_row r = {
		.time = time, .lane = lane, .type = type, .location = location, .depth = depth};

	if (__builtin_expect(!writer_row_fits(w, &r, 0), 0))
		return writer_row_slow(w, r);
	writer_row_begin(w, &r, 0);
	return 0;
}

/*
 * Reserve a row of a type with a fixed part (and a tail), if the row fits the present block: size
 * bytes (a multiple of 4), which the caller fills as the type declares, and 8 more that may be
 * overwritten. NULL: the caller uses writer_row_data. r->fixed and r->tail are not used.
 */
static inline __attribute__((always_inline)) uint8_t *
writer_row_put(struct writer *w, const struct new_row *r, size_t size)
{
	if (__builtin_expect(!writer_row_fits(w, r, size), 0))
		return NULL;
	w->block.bare = false;
	return writer_row_begin(w, r, size);
}

/* Add a location to the present block after writer_row_put returned NULL, if the segment has the
 * location and only the block lacks it. true: the row may be tried again. */
bool writer_take_location(struct writer *w, uint32_t location);

/* Test whether the present block has that number of a lane, type or location in its table. */
static inline bool writer_block_has(const struct writer *w, const struct slots *s, uint32_t number)
{
	return number < s->size && s->slot[number].block == w->block.number;
}

/*
 * A writer of many bare rows of few lanes and two types: values that are constant in a block are
 * looked up once.
 *
 *     rows_open(&rows, w);
 *     if (bits.block == rows.block || rows_bits(&rows, w, lane, enter, leave, &bits))
 *             while (rows_put(&rows, &bits, time, location, depth, is_leave)) ...
 *     rows_close(&rows, w);
 *
 * rows_put returns false if the row does not fit the present block; then the caller calls
 * rows_close and writer_row.
 */
struct rows {
	uint8_t *row, *first, *limit;
	uint64_t base, last;
	const struct slot *locations;
	size_t nlocations;
	uint32_t block; /* 0: no open block takes narrow rows */
};

struct row_bits {
	uint32_t block; /* block that the bits are valid for */
	uint64_t bits[2];
};

static inline void rows_open(struct rows *r, const struct writer *w)
{
	r->row = r->first = w->block.row;
	r->limit = w->block.limit - NARROW_ROW - 8;
	r->base = w->block.base;
	r->last = w->block.last;
	r->locations = w->block.locations.slot;
	r->nlocations = w->block.locations.size;
	r->block = w->block.quick ? w->block.number : 0;
}

/* Get the bits of a lane and two types; false unless the present block has all three. */
static inline bool rows_bits(const struct rows *r, const struct writer *w, uint32_t lane,
			     uint32_t type0, uint32_t type1, struct row_bits *bits)
{
	uint32_t index;

	if (!r->block || lane >= w->block.lanes.size || type0 >= w->block.types.size ||
	    type1 >= w->block.types.size || w->block.lanes.slot[lane].block != r->block ||
	    w->block.types.slot[type0].block != r->block ||
	    w->block.types.slot[type1].block != r->block)
		return false;
	index = w->block.lanes.slot[lane].index;
	bits->bits[0] = row_make(0, index, 0, w->block.types.slot[type0].index, 0);
	bits->bits[1] = row_make(0, index, 0, w->block.types.slot[type1].index, 0);
	bits->block = r->block;
	return true;
}

/* Write a row. which: of the two types. */
static inline bool rows_put(struct rows *r, const struct row_bits *b, uint64_t time,
			    uint32_t location, uint32_t depth, unsigned which)
{
	uint64_t delta = time - r->base;

	if (__builtin_expect(delta > NARROW_DELTA_MOST || r->row > r->limit ||
				     depth > NARROW_DEPTH_MOST || location >= r->nlocations ||
				     r->locations[location].block != r->block,
			     0))
		return false;
	put_u64(r->row,
		row_make(delta, 0, r->locations[location].index, 0, depth) | b->bits[which]);
	r->row += NARROW_ROW;
	if (time > r->last)
		r->last = time;
	return true;
}

static inline void rows_close(struct rows *r, struct writer *w)
{
	if (!r->block)
		return;
	w->block.count += (uint32_t)((r->row - r->first) / NARROW_ROW);
	w->block.row = r->row;
	w->block.last = r->last;
}

/* Write the fixed part and the tail of a row at p. */
static inline void writer_row_end(struct writer *w, const struct new_row *r, uint8_t *p)
{
	if (r->fixed_size) {
		memcpy(p, r->fixed, r->fixed_size);
		p += r->fixed_size;
	}
	if (r->has_tail) {
		put_u32(p, r->tail_size);
		p += 4;
		if (r->tail_size) {
			put_u32(p + align_up(r->tail_size, 4) - 4, 0); /* the padding */
			memcpy(p, r->tail, r->tail_size);
		}
	}
	w->block.bare = w->block.bare && !r->fixed_size && !r->has_tail;
	w->used.size = 0;
}

/* Write a row as its type declares it. */
static inline int writer_row_data(struct writer *w, struct new_row r)
{
	size_t size = (size_t)r.fixed_size + (r.has_tail ? 4 + align_up(r.tail_size, 4) : 0);
	uint8_t *p;

	if (__builtin_expect(!writer_row_fits(w, &r, size), 0))
		return writer_row_slow(w, r);
	p = writer_row_begin(w, &r, size);
	writer_row_end(w, &r, p);
	return 0;
}

/* Copy n bytes, a multiple of 4: short runs, for which a call costs as much as the copying. */
static inline void writer_copy_words(uint8_t *to, const uint8_t *from, size_t n)
{
	if (n < 16) {
		for (size_t i = 0; i < n; i += 4)
			memcpy(to + i, from + i, 4);
		return;
	}
	if (n > 128) {
		memcpy(to, from, n);
		return;
	}
	/* the last piece overlaps the one before */
	for (size_t i = 0; i + 16 < n; i += 16)
		memcpy(to + i, from + i, 16);
	memcpy(to + n - 16, from + n - 16, 16);
}

#endif
