/*
 * packed.h - numbers and bytes in sequence, the encoding of summaries of trstat
 *
 * Numbers are LEB128: seven bits per byte, the lowest first, all bytes but the last with bit 7 set.
 * Reading never passes the end: a missing or oversized number is read as 0 and sets bad. The caller
 * checks bad before it uses the results.
 */
#ifndef TR_UTIL_PACKED_H
#define TR_UTIL_PACKED_H

#include "common/util/buffer.h"
#include "common/util/u128.h"

struct packed {
	const uint8_t *p, *end;
	bool bad;
};

/* Append, as buffer_uleb does a number of 64 bits; -1 when out of memory. */
int packed_put_u128(struct buffer *b, uint128 v);
int packed_put_i128(struct buffer *b, int128 v);
/* Append the length, then the bytes. */
int packed_put_bytes(struct buffer *b, const void *data, size_t n);

uint128 packed_u128(struct packed *in);
int128 packed_i128(struct packed *in);
uint64_t packed_u64(struct packed *in);
/* Read a number of at most limit, else set bad. */
uint64_t packed_limited(struct packed *in, uint64_t limit);
static inline uint32_t packed_u32(struct packed *in)
{
	return (uint32_t)packed_limited(in, UINT32_MAX);
}

/* Read a count of items of at least `least` bytes each (> 0): never more than fit in the rest.
 * */
uint64_t packed_count(struct packed *in, size_t least);
/* Get n bytes, or NULL (also if n is 0: only bad shows an error). */
const uint8_t *packed_take(struct packed *in, size_t n);
const uint8_t *packed_bytes(struct packed *in, size_t *n);

#endif
