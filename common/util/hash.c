/*
 * hash.c - check sums and hashes
 */
#include "common/util/hash.h"

#include <string.h>

#include "common/util/bytes.h"

#ifdef __x86_64__
#include <immintrin.h>

/*
 * 128 bytes at once, by carry-less multiplications of 256 bits, which libdeflate 1.14 does not
 * know. Each 16 bytes of them are multiplied by what 1024 bits further on makes of them: the
 * remainders of x^1056 and x^992, reflected, times x. What is left in the end has the checksum of
 * all.
 */
__attribute__((target("avx2,pclmul,vpclmulqdq"))) static uint32_t
common_hash_fold(uint32_t crc, const uint8_t **data, size_t *n)
{
	enum { STEP = 128 };
	const __m256i k = _mm256_set_epi64x(0x14a7fe880, 0x1e88ef372, 0x14a7fe880, 0x1e88ef372);
	const uint8_t *p = *data, *end = p + *n / STEP * STEP;
	__m256i x[4];

	for (int i = 0; i < 4; i++)
		x[i] = _mm256_loadu_si256((const __m256i *)p + i);
	x[0] = _mm256_xor_si256(x[0], _mm256_set_epi32(0, 0, 0, 0, 0, 0, 0, (int)~crc));
	for (p += STEP; p < end; p += STEP)
		for (int i = 0; i < 4; i++) {
			__m256i low = _mm256_clmulepi64_epi128(x[i], k, 0x00);
			__m256i high = _mm256_clmulepi64_epi128(x[i], k, 0x11);

			x[i] = _mm256_xor_si256(_mm256_xor_si256(low, high),
						_mm256_loadu_si256((const __m256i *)p + i));
		}
	*n -= (size_t)(end - *data);
	*data = end;
	/* ~0 as the previous checksum: the computation begins with 0 */
	return libdeflate_crc32(UINT32_MAX, x, sizeof x);
}
#endif

uint32_t checksum_long(uint32_t crc, const void *data, size_t n)
{
	const uint8_t *p = data;

#ifdef __x86_64__
	if (__builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx2"))
		crc = common_hash_fold(crc, &p, &n);
#endif
	return n ? libdeflate_crc32(crc, p, n) : crc;
}

/* --- siphash --- */

static uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void rounds(uint64_t v[4], unsigned n)
{
	while (n--) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

uint64_t siphash(const struct siphash_key *key, const void *data, size_t n)
{
	uint64_t v[4] = {key->k0 ^ 0x736f6d6570736575, key->k1 ^ 0x646f72616e646f6d,
			 key->k0 ^ 0x6c7967656e657261, key->k1 ^ 0x7465646279746573};
	const uint8_t *p = data;
	uint64_t last = (uint64_t)n << 56;
	size_t left = n;

	for (; left >= 8; left -= 8, p += 8) {
		v[3] ^= get_u64(p);
		rounds(v, 2);
		v[0] ^= get_u64(p);
	}
	for (size_t i = 0; i < left; i++)
		last |= (uint64_t)p[i] << 8 * i;
	v[3] ^= last;
	rounds(v, 2);
	v[0] ^= last;
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct siphash_key siphash_key(const char *text)
{
	const struct siphash_key first = {0, 0}, second = {1, 0};

	return (struct siphash_key){siphash(&first, text, strlen(text)),
				    siphash(&second, text, strlen(text))};
}
