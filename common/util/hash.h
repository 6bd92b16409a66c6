/*
 * hash.h - check sums and hashes
 */
#ifndef TR_UTIL_HASH_H
#define TR_UTIL_HASH_H

#include <libdeflate.h>
#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32 as in zlib, gzip and PNG (polynomial 0xedb88320, both ends inverted).
 *
 * All bytes of a stream in a file are checked by it. libdeflate uses the processor's carry-less
 * multiplication where available, zlib does not.
 */

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

/*
 * SipHash-2-4 (Aumasson, Bernstein): a keyed hash of bytes.
 *
 * Without the key no one can find the bytes by trial, or choose bytes with a given hash.
 */

struct siphash_key {
	uint64_t k0, k1;
};

uint64_t siphash(const struct siphash_key *key, const void *data, size_t n);
/* Derive a key from any text. */
struct siphash_key siphash_key(const char *text);

#endif
