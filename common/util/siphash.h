/*
 * siphash.h - SipHash-2-4 (Aumasson, Bernstein): a keyed hash of bytes
 *
 * Who does not know the key can neither find the bytes by trying nor choose bytes of a wanted hash.
 */
#ifndef TR_UTIL_SIPHASH_H
#define TR_UTIL_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t k0, k1;
};

uint64_t siphash(const struct siphash_key *key, const void *data, size_t n);
/* A key out of any text. */
struct siphash_key siphash_key(const char *text);

#endif
