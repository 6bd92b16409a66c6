/*
 * checksum.h - CRC-32 as in zlib, gzip and PNG (polynomial 0xedb88320, both ends inverted)
 *
 * Every byte of a stream in a file goes through it. libdeflate's uses the processor's carry-less
 * multiplication where there is one, which zlib's does not.
 */
#ifndef TR_UTIL_CHECKSUM_H
#define TR_UTIL_CHECKSUM_H

#include <libdeflate.h>
#include <stddef.h>
#include <stdint.h>

/* The same of many bytes: n >= 128. */
uint32_t checksum_long(uint32_t crc, const void *data, size_t n);

/* Of what crc is the sum of, 0 of nothing, with n bytes behind it. */
static inline uint32_t checksum(uint32_t crc, const void *data, size_t n)
{
	enum { LONG = 1024 };

	if (n >= LONG)
		return checksum_long(crc, data, n);
	/* of no bytes at NULL it would begin anew */
	return n ? libdeflate_crc32(crc, data, n) : crc;
}

#endif
