/*
 * writer_rows.h - writes rows of a source of events, in line where they fit the present block
 *
 * Lanes, types and locations are ids of writer.h (location 0: none); depth is the row's. Times are
 * those of the lane's clock.
 */
#ifndef TR_STREAM_WRITER_ROWS_H
#define TR_STREAM_WRITER_ROWS_H

#include "common/stream/writer.h"

int writer_row_slow(struct writer *w, uint64_t time, uint32_t lane, uint32_t type,
		    uint32_t location, uint32_t depth, const void *fixed, uint32_t fixed_size,
		    const void *tail, uint32_t tail_size, bool has_tail);

/* Test whether a row fits the present block, with size bytes after the row's first 8. A slot of
 * another block, or of no block, does not match. */
static inline __attribute__((always_inline)) bool writer_row_fits(const struct writer *w,
								  uint64_t delta, uint32_t lane,
								  uint32_t type, uint32_t location,
								  uint32_t depth, size_t size)
{
	return w->quick && delta <= NARROW_DELTA_MOST && depth <= NARROW_DEPTH_MOST &&
	       (size_t)(w->limit - w->row) >= NARROW_ROW + 8 + size &&
	       location < w->locations.size && lane < w->lanes.size && type < w->types.size &&
	       w->locations.slot[location].block == w->block &&
	       w->lanes.slot[lane].block == w->block && w->types.slot[type].block == w->block;
}

/* Encode the first 8 bytes of a narrow row. */
static inline __attribute__((always_inline)) uint64_t
writer_row_bits(const struct writer *w, uint64_t delta, uint32_t lane, uint32_t type,
		uint32_t location, uint32_t depth)
{
	return row_make(delta, w->lanes.slot[lane].index, w->locations.slot[location].index,
			w->types.slot[type].index, depth);
}

/* Write a row without fixed part or tail. */
static inline int writer_row(struct writer *w, uint64_t time, uint32_t lane, uint32_t type,
			     uint32_t location, uint32_t depth)
{
	uint64_t delta = time - w->base;

	if (__builtin_expect(writer_row_fits(w, delta, lane, type, location, depth, 0), 1)) {
		put_u64(w->row, writer_row_bits(w, delta, lane, type, location, depth));
		w->row += NARROW_ROW;
		w->count++;
		if (time > w->last)
			w->last = time;
		return 0;
	}
	return writer_row_slow(w, time, lane, type, location, depth, NULL, 0, NULL, 0, false);
}

/*
 * Reserve a row of a type with a fixed part (and a tail), if the row fits the present block: size
 * bytes (a multiple of 4), which the caller fills as the type declares, and 8 more that may be
 * overwritten. NULL: the caller uses writer_row_data.
 */
static inline uint8_t *writer_row_put(struct writer *w, uint64_t time, uint32_t lane, uint32_t type,
				      uint32_t location, uint32_t depth, size_t size)
{
	uint64_t delta = time - w->base;
	uint8_t *row = w->row;

	if (__builtin_expect(!writer_row_fits(w, delta, lane, type, location, depth, size), 0))
		return NULL;
	put_u64(row, writer_row_bits(w, delta, lane, type, location, depth));
	w->row = row + NARROW_ROW + size;
	w->count++;
	w->bare = false;
	if (time > w->last)
		w->last = time;
	return row + NARROW_ROW;
}

/* Add a location to the present block after writer_row_put returned NULL, if the segment has the
 * location and only the block lacks it. true: the row may be tried again. */
bool writer_take_location(struct writer *w, uint32_t location);

/* Test whether the present block has that number of a lane, type or location in its table. */
static inline bool writer_block_has(const struct writer *w, const struct slots *s, uint32_t number)
{
	return number < s->size && s->slot[number].block == w->block;
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
	r->row = r->first = w->row;
	r->limit = w->limit - NARROW_ROW - 8;
	r->base = w->base;
	r->last = w->last;
	r->locations = w->locations.slot;
	r->nlocations = w->locations.size;
	r->block = w->quick ? w->block : 0;
}

/* Get the bits of a lane and two types; false unless the present block has all three. */
static inline bool rows_bits(const struct rows *r, const struct writer *w, uint32_t lane,
			     uint32_t type0, uint32_t type1, struct row_bits *bits)
{
	uint32_t index;

	if (!r->block || lane >= w->lanes.size || type0 >= w->types.size ||
	    type1 >= w->types.size || w->lanes.slot[lane].block != r->block ||
	    w->types.slot[type0].block != r->block || w->types.slot[type1].block != r->block)
		return false;
	index = w->lanes.slot[lane].index;
	bits->bits[0] = row_make(0, index, 0, w->types.slot[type0].index, 0);
	bits->bits[1] = row_make(0, index, 0, w->types.slot[type1].index, 0);
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
	w->count += (uint32_t)((r->row - r->first) / NARROW_ROW);
	w->row = r->row;
	w->last = r->last;
}

/* Write a row as its type declares it: fixed_size bytes; has_tail for types with TYPE_TAIL. */
static inline int writer_row_data(struct writer *w, uint64_t time, uint32_t lane, uint32_t type,
				  uint32_t location, uint32_t depth, const void *fixed,
				  uint32_t fixed_size, const void *tail, uint32_t tail_size,
				  bool has_tail)
{
	uint64_t delta = time - w->base;
	size_t size = (size_t)fixed_size + (has_tail ? 4 + align_up(tail_size, 4) : 0);
	uint8_t *p = w->row;

	if (__builtin_expect(!writer_row_fits(w, delta, lane, type, location, depth, size), 0))
		return writer_row_slow(w, time, lane, type, location, depth, fixed, fixed_size,
				       tail, tail_size, has_tail);
	put_u64(p, writer_row_bits(w, delta, lane, type, location, depth));
	p += NARROW_ROW;
	if (fixed_size) {
		memcpy(p, fixed, fixed_size);
		p += fixed_size;
	}
	if (has_tail) {
		put_u32(p, tail_size);
		p += 4;
		if (tail_size) {
			put_u32(p + align_up(tail_size, 4) - 4, 0); /* the padding */
			memcpy(p, tail, tail_size);
		}
	}
	w->bare = w->bare && !fixed_size && !has_tail;
	w->row += NARROW_ROW + size;
	w->count++;
	if (time > w->last)
		w->last = time;
	w->used.size = 0;
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

/* Write a row with only a tail, of a multiple of 4 bytes: the records of a ring buffer. */
static inline int writer_row_words(struct writer *w, uint64_t time, uint32_t lane, uint32_t type,
				   uint32_t location, uint32_t depth, const void *tail,
				   uint32_t tail_size)
{
	uint64_t delta = time - w->base;

	if (__builtin_expect(
		    writer_row_fits(w, delta, lane, type, location, depth, 4 + (size_t)tail_size),
		    1)) {
		put_u64(w->row, writer_row_bits(w, delta, lane, type, location, depth));
		put_u32(w->row + NARROW_ROW, tail_size);
		writer_copy_words(w->row + NARROW_ROW + 4, tail, tail_size);
		w->row += NARROW_ROW + 4 + tail_size;
		w->count++;
		w->bare = false;
		if (time > w->last)
			w->last = time;
		return 0;
	}
	return writer_row_slow(w, time, lane, type, location, depth, NULL, 0, tail, tail_size,
			       true);
}

#endif
