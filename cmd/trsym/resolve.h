/*
 * resolve.h - find the symbol of a location
 */
#ifndef TR_TRSYM_RESOLVE_H
#define TR_TRSYM_RESOLVE_H

#include "common/stream/writer.h"
#include "cmd/trsym/tables.h"

/* The mappings of all spaces, ordered for searching. Zero-initialised is empty. */
struct resolver {
	struct tables *tables;
	struct space_index *spaces; /* by number of the space */
	size_t size;
	uint64_t unmapped; /* locations that are in no module */
	bool lines;	   /* with source lines */
};

void resolver_free(struct resolver *r);

/*
 * Find the symbol of a location: in the mapping that contains its address, else in the modules
 * loaded since, the latest first, up to the location's epoch. OUTCOME_NO: *s has the module if it
 * is known, and SYMBOL_UNKNOWN. Texts in *s are valid until the next call. count: count the
 * location for the report.
 */
enum outcome resolve(struct resolver *r, const struct location *p, bool count,
		     struct symbol_entry *s);

/*
 * Find the functions whose code is at a location, or before it if the location is the return
 * address of a caller: as debug_info_frames does. The texts are valid until the next call.
 */
int resolve_frames(struct resolver *r, const struct location *p, bool caller,
		   struct source_frame *frames, size_t most);

#endif
