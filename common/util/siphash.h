/*
 * siphash.h - SipHash-2-4 (Aumasson, Bernstein): a keyed hash of bytes
 *
 * Without the key no one can find the bytes by trial, or choose bytes with a given hash.
 */
#ifndef TR_UTIL_SIPHASH_H
#define TR_UTIL_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t k0, k1;
};

uint64_t siphash(const struct siphash_key *key, const void *data, size_t n);
/* Derive a key from any text. */
struct siphash_key siphash_key(const char *text);

#endif
