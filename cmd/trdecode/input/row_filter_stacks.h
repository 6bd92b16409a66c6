/*
 * row_filter_stacks.h - the stacks of calls some of whose rows are refused (THREAD in trstream(5))
 */
#ifndef TR_TRDECODE_INPUT_ROW_FILTER_STACKS_H
#define TR_TRDECODE_INPUT_ROW_FILTER_STACKS_H

#include "common/util/buffer.h"
#include "common/util/intern.h"
#include "common/stream/writer.h"

struct row_filter_stack {
	bool left_out; /* a row was refused */
	bool used;     /* a row was kept */
	bool written;  /* the THREAD entry was written, in this segment: */
	uint32_t segment;
};

struct row_filter_stacks {
	bool all; /* rows of each stack may be missing without having been refused */
	struct intern keys;
	uint8_t *
		calls; /* by type: 0 unknown, 1 no calls on stacks, 2 calls of threads, 3 of CPUs */
	size_t ncalls;
	uint32_t *numbers[2]; /* 1 + index in stacks, by lane: of its thread, of its CPU */
	size_t nnumbers[2];
	struct row_filter_stack *stacks;
	size_t nstacks;
};

void row_filter_stacks_free(struct row_filter_stacks *x);
/* Note that a row of that lane and type is refused or kept. Returns 0, or -1: out of memory, or
 * the entry cannot be written. */
int row_filter_stacks_row(struct row_filter_stacks *x, struct writer *w, uint32_t lane,
			  uint32_t type, bool refused);

#endif
