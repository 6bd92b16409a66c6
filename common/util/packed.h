/*
 * packed.h - numbers and bytes in sequence: what summaries of trstat are made of
 *
 * Numbers are LEB128: seven bits a byte, the lowest first, all bytes but the last with bit 7 set.
 * Reading never goes beyond the end: what is not there, or is no number of that size, is 0 and sets
 * bad, which is to be looked at now and then, at the latest before something is believed.
 */
#ifndef TR_UTIL_PACKED_H
#define TR_UTIL_PACKED_H

#include "common/util/buffer.h"
#include "common/util/u128.h"

struct packed {
	const uint8_t *p, *end;
	bool bad;
};

/* Append; -1 when out of memory. */
int packed_put(struct buffer *b, uint64_t v);
int packed_put_u128(struct buffer *b, uint128 v);
int packed_put_i128(struct buffer *b, int128 v);
/* The length, then the bytes. */
int packed_put_bytes(struct buffer *b, const void *data, size_t n);

uint128 packed_u128(struct packed *in);
int128 packed_i128(struct packed *in);
uint64_t packed_u64(struct packed *in);
/* At most limit, or bad. */
uint64_t packed_limited(struct packed *in, uint64_t limit);
static inline uint32_t packed_u32(struct packed *in)
{
	return (uint32_t)packed_limited(in, UINT32_MAX);
}

/* A count of things of at least `least` bytes each (> 0): never more than there is room for. */
uint64_t packed_count(struct packed *in, size_t least);
/* n bytes there, or NULL (with n 0 too: only bad tells). */
const uint8_t *packed_take(struct packed *in, size_t n);
const uint8_t *packed_bytes(struct packed *in, size_t *n);

#endif
