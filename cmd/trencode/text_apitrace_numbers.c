/*
 * Floating point numbers as C++ streams print them with the precision that apitrace asks for:
 * %.7g and %.16g. Those of everyday are done here, the others by printf.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "text_apitrace.h"

static size_t integer(char *out, uint64_t n)
{
	char digits[20];
	size_t count = 0;

	if (n < 10) {
		*out = (char)('0' + n);
		return 1;
	}
	do
		digits[count++] = (char)('0' + n % 10);
	while (n /= 10);
	for (size_t i = 0; i < count; i++)
		out[i] = digits[count - 1 - i];
	return count;
}

/*
 * Seven digits of x, 1e-4 <= x < 1e6, no integer. x * 10^k is one rounding away from the truth: of
 * 53 bits 24 are before the point, so it can only mislead where the rest is within 2^-20 of a half.
 * 0: it may mislead.
 */
static size_t seven_digits(char *out, double x)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4,  1e5,
					1e6, 1e7, 1e8, 1e9, 1e10, 1e11};
	int decimals = 0, point, from = 7;
	double scaled, rest;
	uint64_t n;
	char digits[8];
	size_t size = 0;

	while (x * powers[decimals] < 1e6)
		decimals++;
	scaled = x * powers[decimals];
	n = (uint64_t)scaled;
	rest = scaled - (double)n;
	if (fabs(rest - 0.5) < 1e-6 || scaled >= 9999999)
		return 0;
	n += rest > 0.5;
	for (int i = 6; i >= 0; i--, n /= 10)
		digits[i] = (char)('0' + n % 10);
	point = 7 - decimals; /* digits before the point; not positive: zeros behind it */
	while (from > 1 && digits[from - 1] == '0')
		from--;
	if (point <= 0) {
		out[size++] = '0';
		out[size++] = '.';
		for (int i = point; i < 0; i++)
			out[size++] = '0';
	}
	for (int i = 0; i < from || i < point; i++) {
		if (i == point && point > 0)
			out[size++] = '.';
		out[size++] = digits[i];
	}
	return size;
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
		return sign + integer(out + sign, (uint32_t)x);
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
		return sign + integer(out + sign, (uint64_t)x);
	return (size_t)snprintf(out, 40, "%.16g", d);
}
