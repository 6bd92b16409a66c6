/*
 * select.h - the rows of a block that are to be kept
 */
#ifndef TR_TRFILTER_ROWS_SELECT_H
#define TR_TRFILTER_ROWS_SELECT_H

#include "cmd/trfilter/rows/filter.h"
#include "cmd/trfilter/rows/time_range.h"

enum selected {
	SELECTED_NONE,
	SELECTED_ALL,
	SELECTED_SOME, /* select.block has them */
	SELECTED_ROWS, /* the rows have to be looked at */
};

struct select {
	struct filter *filter;
	struct time_range *limits; /* NULL none */
	bool invert;
	uint64_t limit;	  /* stop when so many events matched */
	uint64_t matched; /* events, gap rows not counted */

	struct block block; /* the kept rows behind the tables of the block they came from */
	uint8_t *payload;
	size_t capacity;
	uint8_t *cells; /* what the leading parts say: see select_private.h */
	size_t cells_capacity;
	bool lopsided; /* nearly all rows of the last block stayed, or nearly none */

	/* between select_block and select_rows */
	bool limited; /* limits have to be asked of each row */
	uint8_t says; /* of all rows of the block: enum cell */
	size_t first; /* or the first part that has to be asked of each */
};

/*
 * Select from an EVENTS block by its tables, in which case its rows need not have been checked,
 * but for their size. The answer in *selected: NONE, ALL, or ROWS: the rows are to be checked, and
 * select_rows asked, which says NONE, ALL or SOME. 0, or -1: out of memory.
 */
int select_block(struct select *s, const struct block *b, enum selected *selected);
int select_rows(struct select *s, const struct block *b, enum selected *selected);
void select_free(struct select *s);

static inline bool select_done(const struct select *s)
{
	return s->matched >= s->limit;
}

#endif
