/*
 * die_ranges.h - reads the ranges of addresses of a DIE
 *
 * The layout is that of DWARF 2 to 4, section 2.17 (.debug_ranges), and of DWARF 5, section 7.28
 * (.debug_rnglists). Without it `trsym -i` takes 1.11 times the instructions for the program of
 * die_reader.h, and 1.14 times for libpython.
 *
 * Private to common/symbols/debug_info*.c.
 */
#ifndef TR_SYMBOLS_DIE_RANGES_H
#define TR_SYMBOLS_DIE_RANGES_H

#include "common/symbols/debug_info_unit.h"

struct die_ranges_source {
	const struct die_reader *reader;
	const struct range_lists *lists;
	uint64_t base; /* what lists of the unit add */
};

/*
 * Add the ranges of a DIE that was read, each entry of its list for one of *budget. Returns
 * OUTCOME_NO, with nothing added, if they are in a form that libdw must read, such as an index of
 * addresses.
 */
enum outcome die_ranges(const struct die_ranges_source *s, const struct die *d, uint32_t what,
			struct range_index *to, uint64_t *budget);

/* Find the sections of a file that have lists. */
struct range_lists range_lists_of(Elf *elf);

/*
 * Let libdw add the ranges of a DIE. Each costs 1 + row_max of *budget, as libdw reads a row of
 * entries that are no ranges without a word. Returns 0, or -1 when out of memory.
 */
int libdw_ranges(Dwarf_Die *die, uint32_t row_max, uint32_t what, struct range_index *to,
		 uint64_t *budget);

#endif
