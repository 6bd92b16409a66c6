/*
 * resolve.h - from a place to its symbol
 */
#ifndef TR_TRSYM_RESOLVE_H
#define TR_TRSYM_RESOLVE_H

#include "common/stream/writer.h"
#include "cmd/trsym/tables.h"

/* The mappings of the spaces in an order to search them by. Zero-initialised is empty. */
struct resolver {
	struct tables *tables;
	struct space_index *spaces; /* by number of the space */
	size_t size;
	uint64_t unmapped; /* places that lie in no module */
	bool lines;	   /* with source lines */
};

void resolver_free(struct resolver *r);

/*
 * The symbol of a place: of the mapping that holds its address, else of what was loaded since, the
 * latest first, up to the place's epoch. 1 found; 0 not: then *s has the module if it is known, and
 * SYMBOL_UNKNOWN; -1 when out of memory. Texts in *s live until the next call. count: for the
 * report.
 */
int resolve(struct resolver *r, const struct location *p, bool count, struct symbol_entry *s);

#endif
