#include "common/util/checksum.h"

#ifdef __x86_64__
#include <immintrin.h>

/*
 * 128 bytes at once, by carry-less multiplications of 256 bits, which libdeflate 1.14 does not
 * know. Each 16 bytes of them are multiplied by what 1024 bits further on makes of them: the
 * remainders of x^1056 and x^992, reflected, times x. What is left in the end has the checksum of
 * all.
 */
__attribute__((target("avx2,pclmul,vpclmulqdq"))) static uint32_t
fold(uint32_t crc, const uint8_t **data, size_t *n)
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
		crc = fold(crc, &p, &n);
#endif
	return n ? libdeflate_crc32(crc, p, n) : crc;
}
