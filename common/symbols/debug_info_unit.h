/*
 * debug_info_unit.h - the functions of one unit of DWARF by address
 *
 * The first address of a unit finds its functions that have code of their own. The first address of
 * such a function finds the functions that were inlined in it. So a program pays for the functions
 * that its addresses need.
 *
 * Private to common/symbols/debug_info*.c.
 */
#ifndef TR_SYMBOLS_DEBUG_INFO_UNIT_H
#define TR_SYMBOLS_DEBUG_INFO_UNIT_H

#include "common/symbols/die_reader.h"
#include "common/symbols/range_index.h"

/* A function that has code of its own, or the code of a function that was inlined. */
struct debug_function {
	const uint8_t *die;	 /* DW_TAG_inlined_subroutine: inlined */
	uint32_t outer;		 /* 1 + number of the function that has the code inlined; 0: none */
	uint32_t name, declared; /* values of the caller */
	/* not inlined: ranges of the functions that are inlined there */
	uint32_t first, count;
	bool searched;
};

/* Lists of ranges that the units of a file share: .debug_rnglists (DWARF 5), .debug_ranges. */
struct range_lists {
	Elf_Data *lists, *pairs; /* NULL: none */
	uint32_t row_max;	 /* most entries in a row that are no ranges */
};

struct debug_unit {
	Dwarf_Die lines; /* the unit that has the line table */
	Dwarf_Die tree;	 /* the unit that has the functions: with split DWARF another unit */
	bool has_tree, is_split;
	bool opened, readable, complete; /* complete: all functions were searched for */
	struct die_reader reader;
	uint32_t row_max; /* of the lists that libdw reads for it, as in struct range_lists */
	uint64_t base;	  /* what lists of ranges add to addresses */
	struct debug_function *functions;
	size_t count, capacity;
	struct range_index ranges;  /* of functions that are not inlined */
	struct range_index inlined; /* of inlined functions: a sorted part for each function */
	struct idmap names;	    /* offsets of DIEs: 1 + index of the name */
};

/*
 * Find the innermost function that has code at the address; NULL: none. It is one of u->functions,
 * valid until the next call. *budget is how much may still be read: a hostile file can refer to one
 * long list many times. Returns 0, or -1 when out of memory.
 */
int debug_unit_find(struct debug_unit *u, const struct range_lists *lists, uint64_t *budget,
		    uint64_t address, struct debug_function **function);

/* Get the DIE of a function for libdw. */
Dwarf_Die debug_unit_die(const struct debug_unit *u, const uint8_t *die);

/* Return the DIE that has the name of a function, if that is in the unit; else the function's. */
const uint8_t *debug_unit_origin(const struct debug_unit *u, const uint8_t *die);

/* Return an attribute that is an unsigned constant; 0: there is none. */
uint64_t debug_unit_number(const struct debug_unit *u, const uint8_t *die, unsigned name);

void debug_unit_free(struct debug_unit *u);

#endif
