/* select_private.h - shared by select.c and its fast path for rows of calls, select_calls.c */
#ifndef TR_TRFILTER_ROWS_SELECT_PRIVATE_H
#define TR_TRFILTER_ROWS_SELECT_PRIVATE_H

#include "cmd/trfilter/calls/pairing_block.h"
#include "cmd/trfilter/calls/row_state.h"
#include "cmd/trfilter/rows/select.h"

/*
 * The result of the leading terms depends on a row's lane, type and location alone, so each
 * combination of these in the block's tables is a cell that is evaluated once. An index that does
 * not matter has the stride 0. Names are those of the location if there is one, else of the type:
 * then the types are after the locations.
 */
enum cell {
	DROP = 0,
	KEEP = 1,
	UNKNOWN = 2,
	/* with cells.call: KEEP is the result of that term alone */
	REACHED = 4, /* the terms before it are true */
	PASSES = 8,  /* the terms after it are true too */
};

enum { CELLS_LIMIT = 64 * 1024, NO_TERM = INT32_MAX };

struct cells {
	uint8_t *at;
	size_t first, end; /* range of terms */
	size_t call;	   /* the term whose calls must be followed; or NO_TERM */
	size_t count;
	size_t location, lane, type; /* strides */
	uint32_t nlocations;	     /* number of indexes of locations; 0 is for none */
	bool name;		     /* a row without a location has the index nlocations + type */
};

struct kept {
	uint8_t *rows, *end; /* output in select.payload */
	uint64_t low, high;  /* lowest and highest time */
	uint32_t count;
};

static inline size_t cell_of(const struct cells *c, uint32_t location, uint32_t lane, uint32_t type)
{
	if (c->name && !location)
		location = c->nlocations + type;
	return location * c->location + lane * c->lane + type * c->type;
}

/* Note that the next row of k has flags, and its state. Returns -1 when out of memory. */
int select_end(struct select *s, const struct kept *k, uint8_t state);

/* Evaluate the terms for a row's cell. */
uint8_t select_ask(struct select *s, const struct block *b, const struct cells *c,
		   uint32_t location, uint32_t lane, uint32_t type);

static inline uint8_t select_cell(struct select *s, const struct block *b, const struct cells *c,
				  uint32_t location, uint32_t lane, uint32_t type)
{
	uint8_t *cell = &c->at[cell_of(c, location, lane, type)];

	if (__builtin_expect(*cell == UNKNOWN, 0))
		*cell = select_ask(s, b, c, location, lane, type);
	return *cell;
}

/* Returns the first row from p on whose location has another cell. Cells must depend on the
 * location alone. */
static inline const uint8_t *select_skip(const uint8_t *p, const uint8_t *end, const uint8_t *cells,
					 uint8_t same)
{
	for (; end - p >= 4 * NARROW_ROW; p += 4 * NARROW_ROW)
		if ((cells[row_location_at(p)] ^ same) |
		    (cells[row_location_at(p + NARROW_ROW)] ^ same) |
		    (cells[row_location_at(p + 2 * NARROW_ROW)] ^ same) |
		    (cells[row_location_at(p + 3 * NARROW_ROW)] ^ same))
			break;
	while (p < end && cells[row_location_at(p)] == same)
		p += NARROW_ROW;
	return p;
}

/* Select from narrow rows without gaps, where the cells decide all and c->call is set. Returns -1
 * when out of memory. */
int select_calls(struct select *s, struct pairing_block *pb, const struct cells *c, struct kept *k);

#endif
