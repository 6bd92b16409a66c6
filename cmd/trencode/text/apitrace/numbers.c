/*
 * numbers.c - floating point numbers as C++ streams print them with apitrace's precision: %.7g and
 * %.16g. Common numbers are converted here, others by printf.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "common/value/shortest.h"
#include "cmd/trencode/text/apitrace/apitrace.h"

/*
 * Write seven digits of x, 1e-4 <= x < 1e6, not an integer. x * 10^k has one rounding error: 24 of
 * the 53 bits are before the point, so the last digit can be wrong only where the rest is within
 * 2^-20 of a half. Returns 0 in that case.
 */
static size_t seven_digits(char *out, double x)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4,  1e5,
					1e6, 1e7, 1e8, 1e9, 1e10, 1e11};
	/* 1233 / 4096 is the logarithm of 2 to base 10; rounded down it is at most one too few */
	int decimals = 5 - (ilogb(x) * 1233 >> 12);
	double scaled, rest;
	uint64_t n;

	while (x * powers[decimals] < 1e6)
		decimals++;
	scaled = x * powers[decimals];
	n = (uint64_t)scaled;
	rest = scaled - (double)n;
	if (fabs(rest - 0.5) < 1e-6 || scaled >= 9999999)
		return 0;
	return shortest_layout(out, n + (rest > 0.5), -decimals);
}

size_t apitrace_float(char *out, float f)
{
	size_t sign = 0, size;
	double x = f;

	if (signbit(x)) {
		out[sign++] = '-';
		x = -x;
	}
	if (x < 1e6 && x == (double)(uint32_t)x)
		return (size_t)(decimal_at(out + sign, (uint32_t)x) - out);
	if (x >= 1e-4 && x < 1e6) {
		size = seven_digits(out + sign, x);
		if (size)
			return sign + size;
	}
	return (size_t)snprintf(out, 40, "%.7g", (double)f);
}

size_t apitrace_double(char *out, double d)
{
	size_t sign = 0;
	double x = d;

	if (signbit(x)) {
		out[sign++] = '-';
		x = -x;
	}
	if (x < 1e15 && x == (double)(uint64_t)x)
		return (size_t)(decimal_at(out + sign, (uint64_t)x) - out);
	return (size_t)snprintf(out, 40, "%.16g", d);
}
