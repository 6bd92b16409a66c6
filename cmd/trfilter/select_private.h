/*
 * select_private.h - what select.c (blocks) and select_narrow.c (their rows, where that must be
 * fast) share
 */
#ifndef TRFILTER_SELECT_PRIVATE_H
#define TRFILTER_SELECT_PRIVATE_H

#include "select.h"

/*
 * What the leading parts say hangs on a row's lane, type and place alone, so each combination of
 * these that the block's tables allow is a cell that is asked once. An index of the tables that
 * does not matter has the stride 0. Names come from the place where there is one and else from the
 * type: then the types stand behind the places.
 */
enum { DROP = 0, KEEP = 1, UNKNOWN = 2, CELLS_LIMIT = 64 * 1024 };

struct cells {
	uint8_t *at;
	size_t count;
	size_t place, lane, type; /* strides */
	uint32_t nplaces;	  /* indexes of places, with 0 for none */
	bool name;		  /* a row without a place has the index nplaces + type */
};

struct kept {
	uint8_t *rows, *end; /* in select.payload */
	uint64_t low, high;  /* times */
	uint32_t count;
};

static inline size_t cell_of(const struct cells *c, uint32_t place, uint32_t lane, uint32_t type)
{
	if (c->name && !place)
		place = c->nplaces + type;
	return place * c->place + lane * c->lane + type * c->type;
}

/* Ask the leading parts. */
bool select_ask(struct select *s, const struct block *b, uint32_t place, uint32_t lane,
		uint32_t type);

static inline uint8_t select_leading(struct select *s, const struct block *b, const struct cells *c,
				     uint32_t place, uint32_t lane, uint32_t type)
{
	uint8_t *cell = &c->at[cell_of(c, place, lane, type)];

	if (__builtin_expect(*cell == UNKNOWN, 0))
		*cell = select_ask(s, b, place, lane, type);
	return *cell;
}

/* All rows are narrow and no gaps, the leading parts are all that is asked, and all rows may stay.
 */
void select_narrow(struct select *s, const struct block *b, const struct cells *c, struct kept *k);

#endif
