/*
 * u128.h - sums that cannot wrap, and their decimal digits
 *
 * A sum of 2^64 values of 64 bits fits an unsigned __int128, which the C library cannot print.
 */
#ifndef TR_UTIL_U128_H
#define TR_UTIL_U128_H

#include <stddef.h>

typedef unsigned __int128 uint128;
typedef __int128 int128;

#define UINT128_MAX ((uint128)-1)
#define INT128_MAX  ((int128)(UINT128_MAX >> 1))
#define INT128_MIN  (-INT128_MAX - 1)

#define U128_SIZE 40 /* 39 digits and a NUL */
#define I128_SIZE 41 /* the same with a sign */

/* Writes the decimal digits and a NUL; returns the length without the NUL. */
size_t u128_decimal(char out[static U128_SIZE], uint128 value);
size_t i128_decimal(char out[static I128_SIZE], int128 value);

#endif
