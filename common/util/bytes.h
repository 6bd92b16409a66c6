/*
 * bytes.h - numbers in memory: unaligned loads and stores in both byte orders, rounding, hashing
 */
#ifndef TR_UTIL_BYTES_H
#define TR_UTIL_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t get_u16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof v);
	return le16toh(v);
}

static inline uint32_t get_u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return le32toh(v);
}

static inline uint64_t get_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return le64toh(v);
}

/* IEEE 754. */
static inline float get_float(const void *p)
{
	uint32_t bits = get_u32(p);
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

static inline double get_double(const void *p)
{
	uint64_t bits = get_u64(p);
	double d;

	memcpy(&d, &bits, sizeof d);
	return d;
}

static inline void put_u16(void *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof v);
}

static inline void put_u32(void *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof v);
}

static inline void put_u64(void *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof v);
}

static inline void put_float(void *p, float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	put_u32(p, bits);
}

static inline void put_double(void *p, double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof bits);
	put_u64(p, bits);
}

/* Get an unsigned number of 1, 2, 4 or 8 bytes in either byte order; other sizes give 0. */
static inline uint64_t get_uint(const void *p, unsigned size, bool big)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (size) {
	case 1: return *(const uint8_t *)p;
	case 2: memcpy(&v16, p, 2); return big ? be16toh(v16) : le16toh(v16);
	case 4: memcpy(&v32, p, 4); return big ? be32toh(v32) : le32toh(v32);
	case 8: memcpy(&v64, p, 8); return big ? be64toh(v64) : le64toh(v64);
	}
	return 0;
}

/* Get the lowest size bytes of v (1 to 8) as a signed number. */
static inline int64_t sign_extend(uint64_t v, unsigned size)
{
	unsigned shift = size < 8 ? 64 - 8 * size : 0;

	return (int64_t)(v << shift) >> shift;
}

static inline uint64_t align_up(uint64_t n, unsigned to)
{
	return (n + to - 1) & ~(uint64_t)(to - 1);
}

/* Copy n bytes: for few bytes a call costs as much as the copying. */
static inline void copy_short(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	if (n > 64 || n < 4) {
		memcpy(t, f, n);
	} else if (n < 8) {
		/* the last piece overlaps the one before */
		memcpy(t, f, 4);
		memcpy(t + n - 4, f + n - 4, 4);
	} else if (n < 16) {
		memcpy(t, f, 8);
		memcpy(t + n - 8, f + n - 8, 8);
	} else {
		for (size_t i = 0; i + 16 < n; i += 16)
			memcpy(t + i, f + i, 16);
		memcpy(t + n - 16, f + n - 16, 16);
	}
}

/* Mix the bits for a hash table: every input bit affects every output bit. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

/* Hash bytes. The hash is not cryptographic. It is the same on every machine, so files may
 * contain it. */
static inline uint64_t hash_bytes(const void *data, size_t n, uint64_t seed)
{
	const uint8_t *p = data;
	uint64_t h = seed ^ n * 0x9e3779b97f4a7c15u, last = 0;

	for (; n >= 8; n -= 8, p += 8)
		h = (h ^ get_u64(p)) * 0xd6e8feb86659fd93u, h ^= h >> 29;
	for (size_t i = 0; i < n; i++)
		last |= (uint64_t)p[i] << 8 * i;
	return hash_u64(h ^ last);
}

enum { ULEB_MOST = 10 };

/* Write a number in groups of 7 bits, the lowest first, at p, where ULEB_MOST bytes are free.
 * Returns its end. */
static inline uint8_t *uleb_at(uint8_t *p, uint64_t n)
{
	while (n > 0x7f) {
		*p++ = (uint8_t)(n | 0x80);
		n >>= 7;
	}
	*p++ = (uint8_t)n;
	return p;
}

#endif
