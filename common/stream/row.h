/*
 * row.h - the layout of a row: the only place that knows it
 *
 * A narrow row is a little-endian number of 64 bits, and a wide row one of 128 bits (two words).
 * The functions compile to single loads and shifts.
 */
#ifndef TR_STREAM_ROW_H
#define TR_STREAM_ROW_H

#include "common/util/bytes.h"

enum {
	NARROW_ROW = 8, /* bytes */
	WIDE_ROW = 16,
};

/* Lowest bits of the fields. Index and depth fields are
 * whole bytes. ROW_REVERSED: another layout, with which t/layout.bats finds code that does not use
 * this header. */
enum {
#ifndef ROW_REVERSED
	NARROW_DELTA = 0,
	NARROW_LANE = 24,
	NARROW_LOCATION = 32,
	NARROW_TYPE = 48,
	NARROW_DEPTH = 56,
	WIDE_DELTA = 0,
	WIDE_TYPE = 48,
	WIDE_LOCATION = 64,
	WIDE_LANE = 96,
	WIDE_DEPTH = 112,
#else
	NARROW_DEPTH = 0,
	NARROW_TYPE = 8,
	NARROW_LOCATION = 16,
	NARROW_LANE = 32,
	NARROW_DELTA = 40,
	WIDE_DEPTH = 0,
	WIDE_LANE = 16,
	WIDE_LOCATION = 32,
	WIDE_TYPE = 64,
	WIDE_DELTA = 80,
#endif
	NARROW_DELTA_MOST = 0xffffff,
	NARROW_LANE_MOST = 0xff,
	NARROW_LOCATION_MOST = 0xffff,
	NARROW_TYPE_MOST = 0xff,
	NARROW_DEPTH_MOST = 0xff,
	WIDE_DEPTH_MOST = 0xffff,
};
#define WIDE_DELTA_MOST 0xffffffffffffu

/* A decoded row: indexes are into the block's tables. */
struct plain_row {
	uint64_t time;
	uint32_t lane, location, type, depth;
};

/* Each field of a narrow row, as a number. */
static inline uint64_t row_delta(uint64_t w)
{
	return w >> NARROW_DELTA & NARROW_DELTA_MOST;
}

static inline uint32_t row_lane(uint64_t w)
{
	return w >> NARROW_LANE & NARROW_LANE_MOST;
}

static inline uint32_t row_location(uint64_t w)
{
	return w >> NARROW_LOCATION & NARROW_LOCATION_MOST;
}

static inline uint32_t row_type(uint64_t w)
{
	return w >> NARROW_TYPE & NARROW_TYPE_MOST;
}

static inline uint32_t row_depth(uint64_t w)
{
	return w >> NARROW_DEPTH & NARROW_DEPTH_MOST;
}

/* Each field of a narrow row, in memory. */
static inline uint32_t row_delta_at(const uint8_t *p)
{
	return (uint32_t)row_delta(get_u64(p));
}

static inline uint32_t row_lane_at(const uint8_t *p)
{
	return p[NARROW_LANE / 8];
}

static inline uint32_t row_location_at(const uint8_t *p)
{
	return get_u16(p + NARROW_LOCATION / 8);
}

static inline uint32_t row_type_at(const uint8_t *p)
{
	return p[NARROW_TYPE / 8];
}

static inline uint32_t row_depth_at(const uint8_t *p)
{
	return p[NARROW_DEPTH / 8];
}

/* Decode a narrow row of a block with that base. */
static inline __attribute__((always_inline)) struct plain_row row_read(const uint8_t *p,
								       uint64_t base)
{
	uint64_t w = get_u64(p);

	return (struct plain_row){.time = base + row_delta(w),
				  .lane = row_lane(w),
				  .location = row_location(w),
				  .type = row_type(w),
				  .depth = row_depth(w)};
}

/* Decode a row of either form. */
static inline __attribute__((always_inline)) struct plain_row row_load(const uint8_t *p,
								       uint64_t base, bool wide)
{
	uint64_t w = wide ? get_u64(p + WIDE_DELTA / 64 * 8) >> WIDE_DELTA % 64 & WIDE_DELTA_MOST
			  : row_delta_at(p);

	return (struct plain_row){.time = base + w,
				  .lane = wide ? get_u16(p + WIDE_LANE / 8) : row_lane_at(p),
				  .location = wide ? get_u32(p + WIDE_LOCATION / 8)
						   : row_location_at(p),
				  .type = wide ? get_u16(p + WIDE_TYPE / 8) : row_type_at(p),
				  .depth = wide ? get_u16(p + WIDE_DEPTH / 8) : row_depth_at(p)};
}

/* Make a narrow row of fields that are not above their limits. */
static inline uint64_t row_make(uint64_t delta, uint64_t lane, uint64_t location, uint64_t type,
				uint64_t depth)
{
	return delta << NARROW_DELTA | lane << NARROW_LANE | location << NARROW_LOCATION |
	       type << NARROW_TYPE | depth << NARROW_DEPTH;
}

/* Write a wide row, with its time less the base. Deeper rows get WIDE_DEPTH_MOST. */
static inline void row_put_wide(uint8_t *p, const struct plain_row *r)
{
	uint32_t depth = r->depth < WIDE_DEPTH_MOST ? r->depth : WIDE_DEPTH_MOST;

	/* the time's word has the type, too, which is written after it */
	put_u64(p + WIDE_DELTA / 64 * 8, r->time << WIDE_DELTA % 64);
	put_u16(p + WIDE_TYPE / 8, (uint16_t)r->type);
	put_u32(p + WIDE_LOCATION / 8, r->location);
	put_u16(p + WIDE_LANE / 8, (uint16_t)r->lane);
	put_u16(p + WIDE_DEPTH / 8, (uint16_t)depth);
}

/* Subtract a step, which is not above the time, from the time of a row. */
static inline void row_move(uint8_t *p, bool wide, uint64_t step)
{
	uint8_t *word = wide ? p + WIDE_DELTA / 64 * 8 : p;

	put_u64(word, get_u64(word) - (step << (wide ? WIDE_DELTA % 64 : (int)NARROW_DELTA)));
}

#endif
