/*
 * select.h - select the rows of a block that are kept
 */
#ifndef TR_TRFILTER_ROWS_SELECT_H
#define TR_TRFILTER_ROWS_SELECT_H

#include "cmd/trfilter/rows/filter.h"
#include "cmd/trfilter/rows/results.h"
#include "cmd/trfilter/rows/time_range.h"

enum selected {
	SELECTED_NONE,
	SELECTED_ALL,
	SELECTED_SOME, /* select.block has them */
	SELECTED_ROWS, /* each row must be read */
};

struct select {
	struct filter *filter;
	struct time_range *time_range; /* NULL: none */
	bool invert;

	struct block block; /* the kept rows after the tables of their source block */
	/* rows of block with flags (row_state.h), in its order; those with ROW_LEFT_OUT are not
	 * kept */
	struct row_ends {
		uint32_t row;
		uint8_t state;
	} * ends;
	size_t nends, ends_capacity;
	struct row_ends *next_ends; /* scratch of select_limit */
	size_t next_capacity;
	uint8_t *payload;
	size_t capacity;
	uint8_t *cells; /* results of the leading terms: see select_private.h */
	size_t cells_capacity;
	bool lopsided; /* nearly all rows of the last block were kept, or nearly none */

	/* state between select_block and select_rows */
	bool limited; /* the time range must be tested for each row */
	uint8_t says; /* result for all rows of the block: enum cell */
	size_t first; /* or the first term that must be evaluated for each row */
};

/*
 * Select from an EVENTS block by its tables; its rows need no check but for their size. *selected
 * is NONE, ALL, or ROWS: check the rows and call select_rows, which sets NONE, ALL or SOME. Returns
 * 0, or -1 when out of memory.
 */
int select_block(struct select *s, const struct block *b, enum selected *selected);
int select_rows(struct select *s, const struct block *b, enum selected *selected);
/* Count the selected rows; those beyond the limit are left out. Returns -1 when out of memory. */
int select_limit(struct select *s, const struct block *b, struct results *r,
		 enum selected *selected);
void select_free(struct select *s);

#endif
