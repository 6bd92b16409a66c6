/*
 * debug_info_private.h - a file's debug information while it is open
 *
 * Private to common/symbols/debug_info*.c.
 */
#ifndef TR_SYMBOLS_DEBUG_INFO_PRIVATE_H
#define TR_SYMBOLS_DEBUG_INFO_PRIVATE_H

#include "common/symbols/debug_info.h"
#include "common/symbols/debug_info_unit.h"
#include "common/util/intern.h"
#include "common/symbols/symbols_elf.h"

struct debug_info {
	struct elf_file file, debug; /* debug: the separate file, if there is one */
	Dwarf *dwarf;
	uint64_t base;
	struct debug_unit *units;
	size_t count, capacity;
	struct range_index ranges; /* by number of the unit */
	uint64_t budget;	   /* how much may still be read, as for debug_unit_find() */
	struct range_lists lists;
	const Elf_Data *abbreviations, *lines; /* NULL: none */
	const char **names;		       /* of functions */
	size_t nnames, names_capacity;
	uint32_t serial;	       /* of the file, among those that were opened */
	struct source_frame *declared; /* of functions */
	size_t ndeclared, declared_capacity;
	struct intern paths;
	struct id_cache path_numbers; /* by unit and place of a path: 1 + number in `paths` */
};

#endif
