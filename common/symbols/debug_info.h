/*
 * debug_info.h - source lines and inlined functions of an ELF file, from its DWARF
 *
 * Addresses are relative to the module's base, as in symbols.h. The DWARF is read where an address
 * needs it: the list of units when the file is opened, the functions and the lines of a unit when
 * the first address in it is asked for. Versions 2 to 5, compressed sections, the files that dwz
 * and -gsplit-dwarf made (a .dwo that is gone costs the functions, not the lines).
 */
#ifndef TR_SYMBOLS_DEBUG_INFO_H
#define TR_SYMBOLS_DEBUG_INFO_H

#include <stdint.h>

#include "common/util/error.h"

enum { SOURCE_FRAMES_MAX = 64 };

/* Texts live as long as the debug_info; NULL and 0: not known. */
struct source_frame {
	const char *function; /* as the linker knows it: mangled */
	const char *file;
	uint32_t line;
};

struct debug_info;

/*
 * The debug information of the file, or of its separate debug file, found as in symbols_from_elf(),
 * with the same rules for sysroot and build_id. NULL and e filled: there is none that fits.
 */
struct debug_info *debug_info_open(const char *path, const char *sysroot, const char *build_id,
				   struct error *e);

/* d may be NULL. */
void debug_info_close(struct debug_info *d);

/*
 * Where the function is declared that has its code at the address; where that is not said, the line
 * of the address itself. 1 found, 0 not, -1 out of memory.
 */
int debug_info_function(struct debug_info *d, uint64_t address, struct source_frame *f);

/*
 * The frames of an address as addr2line -i tells them: the innermost function that was inlined
 * there first, with the line of the address; then who it was inlined into, with the line of that,
 * and so on; the function that is one in the file comes last. Returns how many, at most
 * SOURCE_FRAMES_MAX; 0: nothing is known; -1: out of memory.
 */
int debug_info_frames(struct debug_info *d, uint64_t address,
		      struct source_frame frames[SOURCE_FRAMES_MAX]);

#endif
