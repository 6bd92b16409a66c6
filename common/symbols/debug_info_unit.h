/*
 * debug_info_unit.h - the functions of one unit of DWARF by address
 *
 * Private to common/symbols/debug_info*.c.
 */
#ifndef TR_SYMBOLS_DEBUG_INFO_UNIT_H
#define TR_SYMBOLS_DEBUG_INFO_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "common/symbols/range_index.h"

/* A function that has code of its own, or the code of a function that was inlined. */
struct debug_function {
	Dwarf_Die die;	/* DW_TAG_inlined_subroutine: inlined */
	uint32_t outer; /* 1 + number of the function that has the code inlined; 0: not inlined */
};

struct debug_unit {
	Dwarf_Die lines; /* the unit that has the line table */
	Dwarf_Die tree;	 /* the unit that has the functions: with split DWARF another unit */
	bool has_tree;
	bool indexed;
	struct debug_function *functions;
	size_t count, capacity;
	struct range_index ranges; /* by number of the function */
};

/*
 * Collect the functions, once. *budget is how many ranges may still be added: a hostile file can
 * refer to one long list many times. Returns 0, or -1 when out of memory.
 */
int debug_unit_index(struct debug_unit *u, uint64_t *budget);

/* Add the ranges of a DIE. Returns 0, or -1 when out of memory. */
int debug_unit_ranges(Dwarf_Die *die, uint32_t what, struct range_index *to, uint64_t *budget);

void debug_unit_free(struct debug_unit *u);

#endif
