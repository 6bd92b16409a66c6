/*
 * event.h - the events of a block, one after the other
 *
 *     struct events it;
 *     struct event ev;
 *
 *     events_begin(&it, block);
 *     while (event_next(&it, &ev))
 *             ...
 *
 * The reader has checked the block as a whole, so nothing here can run outside of it.
 */
#ifndef TR_STREAM_EVENT_H
#define TR_STREAM_EVENT_H

#include "common/util/bytes.h"
#include "common/stream/dictionary.h"

/* Whose values a program reads. */
enum reads_values {
	READS_NO_VALUES,
	READS_EVENTS, /* those of events that are no calls */
	READS_ALL,
};

struct block {
	uint16_t kind, flags; /* enum block_kind, block_flags */
	uint32_t length;      /* of the payload */
	uint32_t crc;
	uint64_t offset;	/* of the block in its input */
	const char *file;	/* the input, for messages */
	const uint8_t *payload; /* NULL until reader_load, in a reader that loads on demand */
	uint32_t available;	/* bytes of the payload that are there */
	bool cut;		/* the input ended inside: length and rows are what is left of it */

	bool unchecked;	 /* EVENTS: reader_rows is to be asked before the rows are looked at */
	bool bad_values; /* EVENTS: some of those that the reader's caller reads are damaged */

	bool redeclares; /* DICT: an id of the segment got a new meaning */

	/* EVENTS only */
	uint64_t base, last; /* lowest and highest time, ns or ticks */
	uint32_t rows;
	uint16_t row_flags; /* enum events_flags */
	uint32_t ntypes, nlanes, nplaces;
	const struct type **types; /* by index in the block */
	const struct lane **lanes;
	const uint32_t *locations;			   /* numbers; places[0] is 0 */
	const uint8_t *type_ids, *lane_ids, *location_ids; /* the segment's ids, u32 each */
	const uint8_t *row_data;
	size_t row_size;
};

struct event {
	uint64_t time;
	const struct type *type;
	const struct lane *lane;
	uint32_t location; /* number in the dictionary, 0 none */
	uint32_t depth;
	uint32_t tail_size;
	const uint8_t *fixed; /* type->fixed_size bytes */
	const uint8_t *tail;  /* tail_size bytes, 4-aligned in the block; NULL without one */
	/* where it stands in the block, for those who pass it on */
	uint32_t type_index, lane_index, location_index;
	const uint8_t *row;
};

struct events {
	const struct block *block;
	const uint8_t *row, *end;
	/* as the block has them: here they stay in registers */
	const struct type **types;
	const struct lane **lanes;
	const uint32_t *locations;
	uint64_t base;
	bool wide, bare;
};

static inline void events_begin(struct events *it, const struct block *b)
{
	it->block = b;
	it->row = b->row_data;
	it->end = b->row_data + b->row_size;
	it->types = b->types;
	it->lanes = b->lanes;
	it->locations = b->locations;
	it->base = b->base;
	it->wide = b->row_flags & EVENTS_WIDE;
	it->bare = b->row_flags & EVENTS_BARE;
}

/* What a narrow row says, as indexes into the block's tables. */
struct plain_row {
	uint64_t time;
	uint32_t lane, location, type, depth;
};

static inline __attribute__((always_inline)) struct plain_row plain_row(const struct events *it,
									const uint8_t *row)
{
	uint64_t w = get_u64(row);

	return (struct plain_row){.time = it->base + (w & 0xffffff),
				  .lane = w >> 24 & 0xff,
				  .location = w >> 32 & 0xffff,
				  .type = w >> 48 & 0xff,
				  .depth = (uint32_t)(w >> 56)};
}

/* Step over a narrow row of that type. */
static inline void event_skip(struct events *it, uint32_t type)
{
	const struct type *t = it->types[type];

	it->row += NARROW_ROW + t->fixed_size;
	if (t->flags & TYPE_TAIL)
		it->row += 4 + align_up(get_u32(it->row), 4);
}

static inline bool event_next(struct events *it, struct event *e)
{
	const uint8_t *row = it->row;

	if (row == it->end)
		return false;
	e->row = row;
	if (__builtin_expect(!it->wide, 1)) {
		uint64_t w = get_u64(row);

		e->time = it->base + (w & 0xffffff);
		e->lane_index = w >> 24 & 0xff;
		e->location_index = w >> 32 & 0xffff;
		e->type_index = w >> 48 & 0xff;
		e->depth = (uint32_t)(w >> 56);
		row += NARROW_ROW;
	} else {
		uint64_t w = get_u64(row), v = get_u64(row + 8);

		e->time = it->base + (w & 0xffffffffffff);
		e->type_index = (uint32_t)(w >> 48);
		e->location_index = (uint32_t)v;
		e->lane_index = v >> 32 & 0xffff;
		e->depth = (uint32_t)(v >> 48);
		row += WIDE_ROW;
	}
	e->type = it->types[e->type_index];
	e->lane = it->lanes[e->lane_index];
	e->location = it->locations[e->location_index];
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

#endif
