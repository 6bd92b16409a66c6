/*
 * drops.h - writes rows of KIND_DROP, which end calls without a leave (CALLS in trstream(5))
 *
 * Such a row has the time, lane and depth of the row that ended the calls in the input. Its type is
 * declared in each segment that needs it, with an id that no other type has.
 */
#ifndef TR_TRFILTER_ROWS_DROPS_H
#define TR_TRFILTER_ROWS_DROPS_H

#include "common/cli/stage.h"

enum { DROP_TYPES = 8 }; /* combinations of TYPE_INNER, TYPE_KERNEL and TYPE_PER_CPU */

/* Zero-initialised is unused. */
struct drops {
	struct drop_type {
		uint32_t id;	  /* in the stream */
		uint32_t segment; /* of the output that has it; 0 none */
		const struct type *type;
	} types[DROP_TYPES];
};

/* A row of KIND_DROP: the flags of its type, and its depth. */
struct drop_row {
	uint16_t flags;
	uint32_t depth;
};

/* Get the rows that a row needs whose state has flags (row_state.h). Returns their number. */
unsigned drops_of(const struct event *e, uint8_t state, struct drop_row rows[2]);
/* Write the rows that a row needs whose state has flags (row_state.h). Returns 0, or -1 after
 * stage_fail. */
int drops_put(struct drops *x, struct stage *s, const struct block *b, const struct event *e,
	      uint8_t state);

#endif
