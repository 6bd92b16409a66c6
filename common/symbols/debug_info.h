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
#include <stddef.h>
#include <stdint.h>

#include "common/util/bisect.h"
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

/*
 * Finds the innermost of nested ranges of addresses.
 *
 * For any array of ranges that is sorted by their starts. Each range has an "outer" one: 1 + the
 * index of the nearest range before it that reaches beyond its end, 0 if there is none. All
 * functions are in line, so that a constant struct nesting costs nothing.
 */

/* Maximum depth of nested ranges. No compiler nests deeper. */
enum { NESTING_MAX = 1024 };

/* Access functions for range i. */
struct nesting {
	uint64_t (*start)(const void *ranges, size_t i);
	uint64_t (*end)(const void *ranges, size_t i); /* [start, end) */
	bool (*has)(const void *ranges, size_t i,
		    uint64_t address); /* whether it contains an address not below start */
	uint32_t (*outer)(const void *ranges, size_t i);
};

/* Find the outer range of range i; those of the ranges before it are known. The chain from i - 1
 * is the stack of ranges that may reach beyond i: ranges that i covers are popped. */
static inline __attribute__((always_inline)) uint32_t nesting_outer(const struct nesting *n,
								    const void *ranges, size_t i)
{
	uint64_t end = n->end(ranges, i);
	size_t outer = i;

	while (outer && n->end(ranges, outer - 1) <= end)
		outer = n->outer(ranges, outer - 1);
	return (uint32_t)outer;
}

/* Get 1 + the index of the innermost of count ranges that contains the address; 0: none. */
static inline __attribute__((always_inline)) size_t
nesting_find(const struct nesting *n, const void *ranges, size_t count, uint64_t address)
{
	size_t low = BISECT(count, i, n->start(ranges, i) <= address);

	for (unsigned steps = 0; low && steps < NESTING_MAX; steps++) {
		if (n->has(ranges, low - 1, address))
			return low;
		low = n->outer(ranges, low - 1);
	}
	return 0;
}

/*
 * Finds the innermost of many ranges of addresses that contain an address.
 *
 * A zero-initialised index is empty. Ranges are added, sealed once, and then only looked up.
 */

struct debug_range {
	uint64_t start, end; /* [start, end) */
	uint32_t what;	     /* value of the caller */
	uint32_t outer;	     /* 1 + index of the next range that reaches further; 0 none */
};

struct range_index {
	struct debug_range *at;
	size_t count, capacity;
};

/* Add a range. An empty one is ignored. 0, or -1 when out of memory. */
int range_index_add(struct range_index *x, uint64_t start, uint64_t end, uint32_t what);

/* End adding. Of equal ranges the one with the higher number is the inner one. */
void range_index_seal(struct range_index *x);

/* Find the innermost range with the address, or NULL. */
const struct debug_range *range_index_find(const struct range_index *x, uint64_t address);

void range_index_free(struct range_index *x);

#endif
