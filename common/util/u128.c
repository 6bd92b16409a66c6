/*
 * u128.c - sums of input, and their decimal digits
 */
#include "common/util/u128.h"

#include <stdint.h>
#include <string.h>

/* Write the digits of value, ending at end; at least width of them. */
static char *digits(char *end, uint64_t value, int width)
{
	do {
		*--end = (char)('0' + value % 10);
		value /= 10;
	} while (--width > 0 || value);
	return end;
}

size_t u128_decimal(char out[static U128_SIZE], uint128 value)
{
	const uint64_t ten19 = 10000000000000000000u;
	char text[U128_SIZE], *end = text + sizeof text, *at = end;
	size_t length;

	/* Divisions of 128 bits are slow: 19 digits at a time. */
	while (value > UINT64_MAX) {
		at = digits(at, (uint64_t)(value % ten19), 19);
		value /= ten19;
	}
	at = digits(at, (uint64_t)value, 1);
	length = (size_t)(end - at);
	memcpy(out, at, length);
	out[length] = '\0';
	return length;
}

size_t i128_decimal(char out[static I128_SIZE], int128 value)
{
	size_t sign = value < 0;

	out[0] = '-';
	return sign + u128_decimal(out + sign, magnitude(value));
}
