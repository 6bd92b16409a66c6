/*
 * symbols.h - names for addresses in a trace's values, from the symbol tables it came with
 *
 * trsym names the places of events; pointers among the arguments are named here, where they are
 * printed, from the META blocks that the mappings of an address space refer to.
 */
#ifndef TR_TRENCODE_TEXT_SYMBOLS_H
#define TR_TRENCODE_TEXT_SYMBOLS_H

#include "common/util/buffer.h"
#include "common/stream/reader.h"
#include "common/symbols/symbols.h"

struct text_symbols;

struct text_symbols *text_symbols_new(void);
void text_symbols_free(struct text_symbols *s);

/* Take in a piece of a META block. -1: out of memory. */
int text_symbols_meta(struct text_symbols *s, const struct meta *m);

/*
 * The symbol of an address in a space at a time, demangled the simple way, or NULL: in the mapping
 * that has the address, else in what was loaded since, the latest first. *offset (may be NULL) is
 * what the address is behind the symbol's start. loaded: look in what was loaded later too. The
 * name is valid until the next call.
 */
const char *text_symbols_find(struct text_symbols *s, const struct space *space, uint64_t time,
			      uint64_t address, bool loaded, uint64_t *offset);

#endif
