/*
 * u128.h - sums of input, and their decimal digits
 *
 * A sum of times, weights or counts saturates or has 128 bits: no input makes it wrap. A sum of
 * 2^64 values of 64 bits fits an unsigned __int128, which the C library cannot print. A product or
 * a sum of few numbers of input is computed with 128 bits, and then saturated.
 */
#ifndef TR_UTIL_U128_H
#define TR_UTIL_U128_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned __int128 uint128;
typedef __int128 int128;

#define UINT128_MAX ((uint128)-1)
#define INT128_MAX  ((int128)(UINT128_MAX >> 1))
#define INT128_MIN  (-INT128_MAX - 1)

#define U128_SIZE 40 /* 39 digits and a NUL */
#define I128_SIZE 41 /* the same with a sign */

/* Add to a sum of 64 bits, which is UINT64_MAX where it would be larger. */
static inline void add_saturated(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* Add numbers of input modulo 2^64, as the program that wrote them did. */
static inline int64_t add_wrapping(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Get a product, or UINT64_MAX where it would be larger. */
static inline uint64_t multiply_saturated(uint64_t a, uint64_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

/* Get the absolute value: that of INT128_MIN too. */
static inline uint128 magnitude(int128 n)
{
	return n < 0 ? -(uint128)n : (uint128)n;
}

/* Get the nearest number of 64 bits. */
static inline uint64_t saturated_u64(int128 n)
{
	return n < 0 ? 0 : n > UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

static inline int128 saturated_64(int128 n) /* with a sign or without */
{
	return n < INT64_MIN ? INT64_MIN : n > (int128)UINT64_MAX ? (int128)UINT64_MAX : n;
}

static inline int64_t saturated_i64(int128 n)
{
	return n < INT64_MIN ? INT64_MIN : n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* Writes the decimal digits and a NUL; returns the length without the NUL. */
size_t u128_decimal(char out[static U128_SIZE], uint128 value);
size_t i128_decimal(char out[static I128_SIZE], int128 value);

#endif
