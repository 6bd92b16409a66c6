/*
 * shortest.h - floats and doubles as the shortest decimals that read back as the same number
 *
 * Of several such decimals the one nearest to the number is taken. The layout is that of "%.15g",
 * or of "%.16g" and "%.17g" where so many digits are needed.
 */
#ifndef TR_VALUE_SHORTEST_H
#define TR_VALUE_SHORTEST_H

#include <stddef.h>
#include <stdint.h>

enum { SHORTEST_SIZE = 40 };

/* Write the digits to out, which has SHORTEST_SIZE bytes; returns how many were written. There is
 * no NUL. NaN and the infinities are "nan", "inf" and "-inf". */
size_t shortest_double(char *out, double x);
size_t shortest_float(char *out, float x);

/* Write digits * 10^exponent, digits not 0, in the same layout. */
size_t shortest_layout(char *out, uint64_t digits, int exponent);

/* Write the shortest digits of a field of so many bytes: 4 (x is a float) or 8. */
size_t shortest_real(char *out, double x, size_t size);

/* Get the double nearest to the shortest decimal of a float: 0.1 for 0.1f. */
double shortest_widen(float x);

#endif
