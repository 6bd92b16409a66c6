/*
 * debug_info.h - functions, inlined functions and source lines of an ELF file, from its DWARF
 *
 * Addresses are relative to the module's base, as in symbols.h. The DWARF is read where an address
 * needs it: the list of units when the file is opened, the functions and the lines of a unit at the
 * first call for one of its addresses. Versions 2 to 5, compressed sections, and the files that dwz
 * and -gsplit-dwarf make are read (a missing .dwo costs the functions, not the lines).
 */
#ifndef TR_SYMBOLS_DEBUG_INFO_H
#define TR_SYMBOLS_DEBUG_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/error.h"

/* One source location. Texts live as long as the debug_info; NULL and 0: unknown. */
struct source_frame {
	const char *function; /* as in the symbol table: mangled */
	const char *file;
	uint32_t line;
	uint64_t id; /* of the function's name; never that of another name, 0: none is known */
};

struct debug_info;

/*
 * Open the debug information of the file, or of its separate debug file, found as in
 * symbols_from_elf(), with the same rules for sysroot and build_id. serial: not 0, a number
 * that the caller has given to no other file, for the ids of names. Returns NULL with e filled if
 * none fits.
 */
struct debug_info *debug_info_open(const char *path, const char *sysroot, const char *build_id,
				   uint32_t serial, struct error *e);

/* Close; d may be NULL. */
void debug_info_close(struct debug_info *d);

/*
 * Find the declaration of the function whose code is at the address; if it is not recorded, the
 * line of the address. Returns OUTCOME_NO if neither is known, OUTCOME_FAILED when out of memory.
 */
enum outcome debug_info_function(struct debug_info *d, uint64_t address, struct source_frame *f);

/*
 * Find the functions whose code is at the address: those that were inlined there, the innermost
 * first, and last the function that contains the code. The line of the first is that of the
 * address; the line of each other one is where it calls the one before. Writes at most `most`
 * frames, so the outermost may be missing. lines: find files and lines too. Returns their number, 0
 * if nothing is known of the address, or -1 when out of memory.
 */
int debug_info_frames(struct debug_info *d, uint64_t address, bool lines,
		      struct source_frame *frames, size_t most);

#endif
