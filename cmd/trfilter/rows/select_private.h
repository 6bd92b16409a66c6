/*
 * select_private.h - what select.c (blocks) and, where that must be fast, select_narrow.c (rows)
 * and select_calls.c (rows of calls) share
 */
#ifndef TR_TRFILTER_ROWS_SELECT_PRIVATE_H
#define TR_TRFILTER_ROWS_SELECT_PRIVATE_H

#include "cmd/trfilter/calls/pairing_block.h"
#include "cmd/trfilter/rows/select.h"

/*
 * What the leading parts say hangs on a row's lane, type and place alone, so each combination of
 * these that the block's tables allow is a cell that is asked once. An index of the tables that
 * does not matter has the stride 0. Names come from the place where there is one and else from the
 * type: then the types stand behind the places.
 */
enum cell {
	DROP = 0,
	KEEP = 1,
	UNKNOWN = 2,
	/* with cells.call: KEEP is what that part says by itself */
	REACHED = 4, /* the parts before it hold */
	PASSES = 8,  /* and those behind it */
};

enum { CELLS_LIMIT = 64 * 1024, NO_PART = INT32_MAX };

struct cells {
	uint8_t *at;
	size_t first, end; /* parts */
	size_t call;	   /* one of them whose calls are to be found; NO_PART */
	size_t count;
	size_t location, lane, type; /* strides */
	uint32_t nplaces;	     /* indexes of places, with 0 for none */
	bool name;		     /* a row without a place has the index nplaces + type */
};

struct kept {
	uint8_t *rows, *end; /* in select.payload */
	uint64_t low, high;  /* times */
	uint32_t count;
};

static inline size_t cell_of(const struct cells *c, uint32_t location, uint32_t lane, uint32_t type)
{
	if (c->name && !location)
		location = c->nplaces + type;
	return location * c->location + lane * c->lane + type * c->type;
}

/* Ask the parts. */
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

/* The first row from p on whose place alone has another cell. Cells are there by place alone. */
static inline const uint8_t *select_skip(const uint8_t *p, const uint8_t *end, const uint8_t *cells,
					 uint8_t same)
{
	for (; end - p >= 4 * NARROW_ROW; p += 4 * NARROW_ROW)
		if ((cells[get_u16(p + 4)] ^ same) | (cells[get_u16(p + 12)] ^ same) |
		    (cells[get_u16(p + 20)] ^ same) | (cells[get_u16(p + 28)] ^ same))
			break;
	while (p < end && cells[get_u16(p + 4)] == same)
		p += NARROW_ROW;
	return p;
}

/* Rows that are all narrow and no gaps, where the cells are all that is asked, and all may stay. */
void select_narrow(struct select *s, const struct block *b, const struct cells *c, struct kept *k);
/* The same with cells.call. -1: out of memory. */
int select_calls(struct select *s, const struct block *b, const struct cells *c, struct kept *k);

#endif
