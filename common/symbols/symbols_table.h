/*
 * symbols_table.h - the fields of struct symbols, for the readers that fill one
 *
 * Private to common/symbols/symbols*.c.
 */
#ifndef TR_SYMBOLS_SYMBOLS_TABLE_H
#define TR_SYMBOLS_SYMBOLS_TABLE_H

#include "common/symbols/symbols.h"

struct symbol_names; /* a chunk of names */

/* A segment of code of an ELF file: the offsets [start, end) of the file, and what to add to one
 * for the address. */
struct code_segment {
	uint64_t start, end, shift;
};

struct symbols {
	struct symbol *entry;
	size_t count, room;
	uint32_t *outer; /* symbols_nest(): 1 + index of the next symbol that reaches further */
	struct symbol_names *names;
	size_t damaged;
	bool hidden, stripped;
	struct code_segment *segments;
	size_t nsegments, segments_room;
	uint64_t text; /* result of symbols_kernel_text */
};

#endif
