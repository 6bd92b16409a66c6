/*
 * packed.c - numbers and bytes in sequence, the encoding of summaries of trstat
 */
#include "common/util/packed.h"

int packed_put_u128(struct buffer *b, uint128 v)
{
	uint8_t bytes[20];
	size_t n = 0;

	do {
		bytes[n++] = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
	} while (v);
	return buffer_append(b, bytes, n);
}

/* Encode the sign in the lowest bit; the lowest number of all is encoded as -0. */
int packed_put_i128(struct buffer *b, int128 v)
{
	return packed_put_u128(b, v < 0 ? (uint128)~v << 1 | 1 : (uint128)v << 1);
}

int packed_put_bytes(struct buffer *b, const void *data, size_t n)
{
	return buffer_uleb(b, n) || buffer_append(b, data, n) ? -1 : 0;
}

uint128 packed_u128(struct packed *in)
{
	uint128 v = 0;

	for (unsigned shift = 0; shift < 128 && in->p < in->end; shift += 7) {
		uint8_t byte = *in->p++;

		if (shift == 126 && byte > 3)
			break;
		v |= (uint128)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	in->bad = true;
	return 0;
}

int128 packed_i128(struct packed *in)
{
	uint128 v = packed_u128(in);

	return v & 1 ? (int128) ~(v >> 1) : (int128)(v >> 1);
}

uint64_t packed_limited(struct packed *in, uint64_t limit)
{
	uint128 v = packed_u128(in);

	if (v <= limit)
		return (uint64_t)v;
	in->bad = true;
	return 0;
}

uint64_t packed_u64(struct packed *in)
{
	return packed_limited(in, UINT64_MAX);
}

uint64_t packed_count(struct packed *in, size_t least)
{
	uint64_t n = packed_u64(in);

	if (n <= (size_t)(in->end - in->p) / least)
		return n;
	in->bad = true;
	return 0;
}

const uint8_t *packed_take(struct packed *in, size_t n)
{
	const uint8_t *p = in->p;

	if (n > (size_t)(in->end - in->p)) {
		in->bad = true;
		return NULL;
	}
	in->p += n;
	return p;
}

const uint8_t *packed_bytes(struct packed *in, size_t *n)
{
	*n = (size_t)packed_u64(in);
	if (*n > (size_t)(in->end - in->p)) {
		in->bad = true;
		*n = 0;
		return NULL;
	}
	return packed_take(in, *n);
}
