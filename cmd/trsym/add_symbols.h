/*
 * add_symbols.h - symbols go out with the places that they are of
 */
#ifndef TR_TRSYM_ADD_SYMBOLS_H
#define TR_TRSYM_ADD_SYMBOLS_H

#include "common/cli/stage.h"
#include "cmd/trsym/resolve.h"

/*
 * The places that a DICT block declares, each followed by its symbol. A symbol that an earlier
 * trsym has sent comes in a later block, and may overtake ours or be overtaken: then the better one
 * is sent once more, ours if there is one. 0, or -1 after stage_fail.
 */
int add_symbols(struct stage *s, struct resolver *r, const struct block *b);

#endif
