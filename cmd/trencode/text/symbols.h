/*
 * symbols.h - names of pointers in values, by the symbol tables of the trace
 *
 * trsym names the locations of events. Pointers among the arguments are named here, when they are
 * printed, by the META blocks that the mappings of an address space refer to.
 */
#ifndef TR_TRENCODE_TEXT_SYMBOLS_H
#define TR_TRENCODE_TEXT_SYMBOLS_H

#include "common/util/buffer.h"
#include "common/stream/reader.h"
#include "common/symbols/symbols.h"

struct text_symbols;

/* Returns NULL when out of memory. */
struct text_symbols *text_symbols_new(void);
void text_symbols_free(struct text_symbols *s);

/* Take a piece of a META block. Returns -1 when out of memory. */
int text_symbols_meta(struct text_symbols *s, const struct meta *m);

/*
 * Return the demangled name of the symbol that contains an address in a space at a time, or NULL.
 * The symbol is searched in the initial mapping of the address and, with loaded, in the modules
 * that were loaded later, the latest first. *offset (may be NULL) is the distance of the address
 * from the symbol's start, bytes. The name is valid until the next call.
 */
const char *text_symbols_find(struct text_symbols *s, const struct space *space, uint64_t time,
			      uint64_t address, bool loaded, uint64_t *offset);

#endif
