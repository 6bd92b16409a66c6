/*
 * block.h - the headers of blocks, and the clock that they define
 */
#ifndef TR_TRDECODE_LTTNG_BLOCK_H
#define TR_TRDECODE_LTTNG_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/formats/lttng.h"

/* The header of a block. */
struct lttng_header {
	bool big;
	uint8_t major, minor, word_size, alignment;
	uint8_t flight, heartbeat, tsc_shift, tsc_bits, data_shift; /* 1.0 */
	uint32_t length;	/* bytes of the header: events follow it */
	uint64_t begin, end;	/* TSC */
	uint32_t size;		/* bytes of the block */
	uint32_t used;		/* bytes of the block up to the end of its events */
	bool unfinished;	/* the tracer did not complete the block: used is size */
	uint32_t lost, corrupt; /* from 2.2 on: numbers since the trace began */
	uint64_t frequency, scale, start_tsc, seconds, microseconds;
};

enum { LTTNG_HEADER_MOST = 112 };

/* Parse the header in the first n bytes of a block. Return NULL, or what is wrong, with the offset
 * of the fault in *where. */
const char *lttng_header_parse(struct lttng_header *h, const uint8_t *data, size_t n,
			       uint32_t *where);

/* --- TSC to nanoseconds --- */

/* The conversion of a TSC to ns. */
struct lttng_clock {
	uint64_t numerator, denominator; /* ns per tick */
	uint64_t zero;			 /* TSC at time base */
	int64_t base;			 /* ns */
	uint64_t inverse;		 /* 2^64 / denominator */
	/* a TSC and its time, from which later ones are computed */
	uint64_t anchor, anchor_rest;
	int64_t anchor_ns;
	uint64_t reach; /* ticks after the anchor that 64-bit arithmetic can convert */
};

/* Set a clock that is at zero_ns at TSC zero, with the rate of header h. -1: the header contains no
 * rate. */
int lttng_clock_init(struct lttng_clock *c, const struct lttng_header *h, uint64_t zero,
		     int64_t zero_ns);
uint64_t lttng_clock_hertz(const struct lttng_header *h);
int64_t lttng_clock_slow(struct lttng_clock *c, uint64_t tsc);

static inline int64_t lttng_clock_ns(struct lttng_clock *c, uint64_t tsc)
{
	uint64_t ticks = tsc - c->anchor, x, q;

	if (__builtin_expect(ticks >= c->reach, 0))
		return lttng_clock_slow(c, tsc);
	x = ticks * c->numerator + c->anchor_rest;
	q = (uint64_t)((unsigned __int128)x * c->inverse >> 64);
	/* the inverse is rounded down, and x below 2^64: q is right or 1 too low */
	q += x - q * c->denominator >= c->denominator;
	return c->anchor_ns + (int64_t)q;
}

#endif
