/*
 * event.h - alignment and times of events in a block
 */
#ifndef TR_TRDECODE_LTTNG_EVENT_H
#define TR_TRDECODE_LTTNG_EVENT_H

#include <stdint.h>

#include "cmd/trdecode/lttng/block.h"

/* Return the bytes from a position to the next multiple of `to`, a power of two; `to` 0: no
 * alignment. */
static inline uint32_t lttng_pad(uint32_t position, unsigned to)
{
	return -position & (to - (to != 0));
}

/* Replace the low bits of the file's TSC by those of an event, which can only be later. */
static inline uint64_t lttng_advance(uint64_t tsc, uint64_t low, unsigned bits)
{
	uint64_t mask = ((uint64_t)1 << bits) - 1;

	return (tsc & ~mask) + low + (low < (tsc & mask) ? mask + 1 : 0);
}

static inline unsigned lttng_at_most(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Return the alignment of a datum of this size. */
static inline unsigned lttng_align_of(const struct lttng_header *h, unsigned alignment,
				      unsigned size)
{
	if (!alignment)
		return 1;
	/* 2.4 and 2.5 have no cap */
	if (h->major == 2 && (h->minor == 4 || h->minor == 5))
		return size;
	return lttng_at_most(alignment, size);
}

#endif
