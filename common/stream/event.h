/*
 * event.h - iterates over the events of a block
 *
 *     struct events it;
 *     struct event ev;
 *
 *     events_begin(&it, block);
 *     while (event_next(&it, &ev))
 *             ...
 *
 * The reader has checked the whole block, so no function here reads outside of it.
 */
#ifndef TR_STREAM_EVENT_H
#define TR_STREAM_EVENT_H

#include "common/stream/dictionary.h"
#include "common/stream/row.h"

/* Which events' values a program reads. */
enum reads_values {
	READS_NO_VALUES,
	READS_EVENTS, /* those of instants, counters, samples and gaps */
	READS_ALL,
};

struct snapshot;

struct block {
	uint16_t kind, flags; /* enum block_kind, block_flags */
	uint32_t length;      /* of the payload */
	uint32_t crc;
	uint64_t offset;	/* of the block in its input */
	const char *file;	/* the input, for messages */
	const uint8_t *payload; /* NULL until reader_load, in a reader that loads on demand */
	uint32_t available;	/* bytes of the payload that were read */
	bool truncated; /* the input ended inside the block: length and rows are those of the rest
			 */

	bool unchecked;	 /* EVENTS: the caller must call reader_rows before it reads the rows */
	bool bad_values; /* EVENTS: some values that the caller reads are malformed */

	bool redeclares; /* DICT: an id of the segment got a new meaning */

	/* SNAPSHOT: calls that are open, for calls_restore; NULL: the rows before show them */
	struct snapshot *snapshot;

	/* lowest and highest time, ns or ticks; of a SNAPSHOT with calls the same of all rows
	   before (UINT64_MAX, 0: none) */
	uint64_t base, last;
	/* EVENTS only */
	uint32_t rows;
	uint16_t row_flags; /* enum events_flags */
	uint32_t front;	    /* bytes of the head and the tables, with their padding */
	uint32_t ntypes, nlanes;
	uint32_t nlocations; /* highest index of a row; the table of locations has zeros after it */
	const struct type **types; /* by index in the block */
	const struct lane **lanes;
	const uint32_t *locations;			   /* numbers; locations[0] is 0 */
	const uint8_t *type_ids, *lane_ids, *location_ids; /* the segment's ids, u32 each */
	/* the table of stacks, which rows of KIND_SAMPLE index */
	struct {
		uint32_t count;
		uint32_t locations;	   /* entries of the table of locations */
		bool sampled;		   /* some type of the block is of KIND_SAMPLE */
		const uint32_t *numbers;   /* by index, from 0, which is none */
		const uint32_t *innermost; /* numbers of the locations of their innermost frames */
		const uint8_t *ids;	   /* the segment's, u32 each */
	} stacks;
	const uint8_t *row_data;
	size_t row_size;
};

/* Get the rows of the enters of the calls that a SNAPSHOT opens; NULL: it opens none. */
struct block *block_enters(const struct block *b);

struct event {
	uint64_t time;
	const struct type *type;
	const struct lane *lane;
	uint32_t location; /* number in the dictionary, 0 none; of a sample: of the innermost frame
			    */
	uint32_t depth;
	uint32_t tail_size;
	uint32_t stack;	      /* of a sample: number in the dictionary; else 0 */
	const uint8_t *fixed; /* type->fixed_size bytes */
	const uint8_t *tail;  /* tail_size bytes, 4-aligned in the block; NULL without one */
	/* indexes into the block's tables, for callers that copy the row; location_index of a
	   sample is that of its stack */
	uint32_t type_index, lane_index, location_index;
	const uint8_t *row;
};

struct events {
	const struct block *block;
	const uint8_t *row, *end;
	/* copies of the block's: here they stay in registers */
	const struct type **types;
	const struct lane **lanes;
	const uint32_t *locations;
	uint64_t base;
	bool wide, bare;
	bool plain; /* rows are narrow, and none is a sample */
};

static inline void events_begin(struct events *it, const struct block *b)
{
	it->block = b;
	it->row = b->row_data;
	it->end = b->row_size ? b->row_data + b->row_size : b->row_data;
	it->types = b->types;
	it->lanes = b->lanes;
	it->locations = b->locations;
	it->base = b->base;
	it->wide = b->row_flags & EVENTS_WIDE;
	it->bare = b->row_flags & EVENTS_BARE;
	it->plain = !it->wide && !b->stacks.sampled;
}

/* Decode a narrow row. */
static inline __attribute__((always_inline)) struct plain_row plain_row(const struct events *it,
									const uint8_t *row)
{
	return row_read(row, it->base);
}

/* Decode a row of the block. */
static inline struct plain_row block_row(const struct block *b, const uint8_t *row)
{
	return row_load(row, b->base, b->row_flags & EVENTS_WIDE);
}

/* Get the bytes of a row of the block. */
static inline size_t row_size(const struct block *b, const uint8_t *row)
{
	bool wide = b->row_flags & EVENTS_WIDE;
	size_t n = wide ? WIDE_ROW : NARROW_ROW;
	const struct type *t;

	if (b->row_flags & EVENTS_BARE)
		return n;
	t = b->types[row_load(row, 0, wide).type];
	n += t->fixed_size;
	if (t->flags & TYPE_TAIL)
		n += 4 + align_up(get_u32(row + n), 4);
	return n;
}

/* Get the first byte after a narrow row of that type. */
static inline const uint8_t *row_after(const struct type *t, const uint8_t *row)
{
	row += NARROW_ROW + t->fixed_size;
	return t->flags & TYPE_TAIL ? row + 4 + align_up(get_u32(row), 4) : row;
}

/* Step over a narrow row of that type. */
static inline void event_skip(struct events *it, uint32_t type)
{
	it->row = row_after(it->types[type], it->row);
}

static inline bool event_next(struct events *it, struct event *e)
{
	const uint8_t *row = it->row;
	const uint32_t *locations = it->locations;
	uint32_t stack = 0;

	if (row == it->end)
		return false;
	e->row = row;
	if (__builtin_expect(it->plain, 1)) {
		uint64_t w = get_u64(row);

		e->time = it->base + row_delta(w);
		e->lane_index = row_lane(w);
		e->location_index = row_location(w);
		e->type_index = row_type(w);
		e->depth = row_depth(w);
		row += NARROW_ROW;
	} else {
		struct plain_row r = row_load(row, it->base, it->wide);
		const struct block *b = it->block;

		/* in another order: the compiler would move stores common to both after the
		   branch, which costs loops over narrow rows up to 5 % */
		e->time = r.time;
		e->type_index = r.type;
		e->location_index = r.location;
		e->lane_index = r.lane;
		e->depth = r.depth;
		row += it->wide ? WIDE_ROW : NARROW_ROW;
		if (b->stacks.sampled && it->types[r.type]->kind == KIND_SAMPLE) {
			locations = b->stacks.innermost;
			stack = b->stacks.numbers[r.location];
		}
	}
	e->type = it->types[e->type_index];
	e->lane = it->lanes[e->lane_index];
	e->location = locations[e->location_index];
	e->stack = stack;
	e->fixed = row;
	e->tail = NULL;
	e->tail_size = 0;
	if (!it->bare) {
		row += e->type->fixed_size;
		if (e->type->flags & TYPE_TAIL) {
			e->tail_size = get_u32(row);
			e->tail = row + 4;
			row += 4 + align_up(e->tail_size, 4);
		}
	}
	it->row = row;
	return true;
}

/* Test whether the weights of samples of a type may be negative. */
static inline bool type_weight_is_signed(const struct type *t)
{
	return t->period && t->period->kind == FIELD_INT;
}

/* Get the weight of an event of KIND_SAMPLE: an int64_t if type_weight_is_signed. */
static inline uint64_t sample_weight(const struct event *e)
{
	const struct type *t = e->type;

	return t->period ? get_u64(e->fixed + t->period->offset) : t->weight;
}

/* Get the total of an event whose type has one; signed as the weight is. */
static inline uint64_t sample_total(const struct event *e)
{
	return get_u64(e->fixed + e->type->total->offset);
}

/* Get the number of calls that such an event is the sum of. */
static inline uint64_t sample_calls(const struct event *e)
{
	return e->type->calls ? get_u64(e->fixed + e->type->calls->offset) : 0;
}

static inline bool sample_is_negative(const struct event *e)
{
	return type_weight_is_signed(e->type) && (int64_t)sample_weight(e) < 0;
}

#endif
