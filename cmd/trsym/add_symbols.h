/*
 * add_symbols.h - write each location with its symbol
 */
#ifndef TR_TRSYM_ADD_SYMBOLS_H
#define TR_TRSYM_ADD_SYMBOLS_H

#include "common/cli/stage.h"
#include "cmd/trsym/resolve.h"

/*
 * Write the locations that a DICT block declares, each followed by its symbol. The symbol that an
 * earlier trsym wrote for a location follows in a later block, before or after ours is read: the
 * better one is written again, ours if there is one. Returns 0, or -1 after stage_fail.
 */
int add_symbols(struct stage *s, struct resolver *r, const struct block *b);

#endif
