/*
 * row_filter_stacks.h - the stacks of calls of which limits leave rows out (THREAD in trstream(5))
 */
#ifndef TRDECODE_LIMITS_STACKS_H
#define TRDECODE_LIMITS_STACKS_H

#include "common/util/buffer.h"
#include "common/util/intern.h"
#include "common/stream/writer.h"

struct row_filter_stack {
	bool left_out; /* a row was refused */
	bool used;     /* a row was not */
	bool said;     /* in this segment: */
	uint32_t segment;
};

struct row_filter_stacks {
	bool all; /* rows may be missing of each, without having been refused */
	struct intern keys;
	uint32_t *numbers[2]; /* by lane, of its thread and of its CPU: in stacks, + 1 */
	size_t nnumbers[2];
	struct row_filter_stack *stacks;
	size_t nstacks;
};

void row_filter_stacks_free(struct row_filter_stacks *x);
/* A row of that lane and type comes, and is refused or not. -1: out of memory, or the entry cannot
 * be written. */
int row_filter_stacks_row(struct row_filter_stacks *x, struct writer *w, uint32_t lane,
			  uint32_t type, bool refused);

#endif
