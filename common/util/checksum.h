/*
 * checksum.h - CRC-32 as in zlib, gzip and PNG (polynomial 0xedb88320, both ends inverted)
 *
 * All bytes of a stream in a file are checked by it. libdeflate uses the processor's carry-less
 * multiplication where available, zlib does not.
 */
#ifndef TR_UTIL_CHECKSUM_H
#define TR_UTIL_CHECKSUM_H

#include <libdeflate.h>
#include <stddef.h>
#include <stdint.h>

/* Compute the checksum of many bytes: n >= 128. */
uint32_t checksum_long(uint32_t crc, const void *data, size_t n);

/* Extend the checksum crc (0: of no bytes) by n bytes. */
static inline uint32_t checksum(uint32_t crc, const void *data, size_t n)
{
	enum { LONG = 1024 };

	if (n >= LONG)
		return checksum_long(crc, data, n);
	/* with NULL libdeflate_crc32 would start at 0 again */
	return n ? libdeflate_crc32(crc, data, n) : crc;
}

#endif
