/*
 * symbols_table.h - the fields of struct symbols, for the readers that fill one
 *
 * Private to common/symbols/symbols*.c.
 */
#ifndef TR_SYMBOLS_SYMBOLS_TABLE_H
#define TR_SYMBOLS_SYMBOLS_TABLE_H

#include "common/symbols/symbols.h"

struct symbol_names; /* a chunk of names */

struct symbols {
	struct symbol *entry;
	size_t count, room;
	uint32_t *outer; /* symbols_nest(): 1 + index of the next symbol that reaches further */
	struct symbol_names *names;
	size_t damaged;
	bool hidden, stripped;
	uint64_t text; /* result of symbols_kernel_text */
};

#endif
