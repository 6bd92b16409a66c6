/*
 * seal.h - headers of blocks that a fuzzer has changed, made such that a reader takes them
 */
#ifndef TR_T_FUZZ_SEAL_H
#define TR_T_FUZZ_SEAL_H

#include "common/util/bytes.h"
#include "common/util/hash.h"
#include "common/stream/stream.h"

/* Give every block header in the bytes the check that it should have, and where its checksum is 0
 * that one too. A header with another number than 0 in the place of zero stays as it is. */
static inline void seal(uint8_t *data, size_t size)
{
	for (size_t at = 0; at + BLOCK_HEADER <= size; at++) {
		uint8_t *p = data + at;
		size_t left = size - at - BLOCK_HEADER, length = get_u32(p + 8);

		if (get_u32(p) != BLOCK_SYNC || get_u32(p + 16))
			continue;
		if (get_u16(p + 6) & BLOCK_HAS_CRC && !get_u32(p + 12) && length <= left)
			put_u32(p + 12, checksum(0, p + BLOCK_HEADER, length));
		put_u32(p + BLOCK_CHECKED, checksum(0, p, BLOCK_CHECKED));
	}
}

#endif
