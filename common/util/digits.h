/*
 * digits.h - numbers as digits
 */
#ifndef TR_UTIL_DIGITS_H
#define TR_UTIL_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Count the decimal digits of v. */
static inline unsigned digits_count(uint64_t v)
{
	static const uint64_t tens[] = {0,
					10,
					100,
					1000,
					10000,
					100000,
					1000000,
					10000000,
					100000000,
					1000000000,
					10000000000,
					100000000000,
					1000000000000,
					10000000000000,
					100000000000000,
					1000000000000000,
					10000000000000000,
					100000000000000000,
					1000000000000000000,
					10000000000000000000u};
	/* 1233 / 4096 is the logarithm of 2 to base 10 */
	unsigned least = (unsigned)(64 - __builtin_clzll(v | 1)) * 1233 >> 12;

	return least + (v >= tens[least]);
}

/* Write the digits of v, ending before end, at most 20; returns where they begin. */
static inline char *digits_decimal(char *end, uint64_t v)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";

	while (v >= 100) {
		end -= 2;
		end[0] = pairs[2 * (v % 100)];
		end[1] = pairs[2 * (v % 100) + 1];
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		end[0] = pairs[2 * v];
		end[1] = pairs[2 * v + 1];
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

char *decimal_long(char *p, uint64_t v);

/* Write the digits of v at p, where 20 bytes are free; returns their end. */
static inline char *decimal_at(char *p, uint64_t v)
{
	if (v > 9)
		return decimal_long(p, v);
	*p = (char)('0' + v);
	return p + 1;
}

/* Write digits in base 8, 10 or 16. */
static inline char *digits_base(char *end, uint64_t v, unsigned base, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned shift = base == 16 ? 4 : 3;

	if (base == 10)
		return digits_decimal(end, v);
	do {
		*--end = digits[v & (base - 1)];
		v >>= shift;
	} while (v);
	return end;
}

/* Fill on the left until there are width characters, at most `most`. */
static inline char *digits_fill(char *p, const char *end, unsigned width, unsigned most, char pad)
{
	if (width > most)
		width = most;
	while ((size_t)(end - p) < width)
		*--p = pad;
	return p;
}

/* Read one to sixteen hex digits at *p, not beyond end. Returns false if there are none or too
 * many. *p moves to after them. */
bool digits_hex(const char **p, const char *end, uint64_t *value);

#endif
