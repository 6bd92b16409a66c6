/*
 * The algorithm is Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2020),
 * with the powers of ten computed at the first use instead of 617 lines of constants.
 */
#include "common/value/shortest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/digits.h"

__extension__ typedef unsigned __int128 u128;

enum {
	POWER_LEAST = -292, /* of ten */
	POWER_MOST = 324,
	WORDS = 14, /* 64 bits each: for 5^324, and for 2^832 */
	PLAIN_DIGITS = 15,
	DIGITS_MOST = 17,
	POINT_LEAST = -4, /* numbers with a point further left are written with an exponent */
};

#define PLAIN_LIMIT 1000000000000000 /* with more than PLAIN_DIGITS */

/* digits * 10^exponent */
struct decimal {
	uint64_t digits;
	int exponent;
};

/* Powers of ten, each times the power of two that leaves 128 bits, rounded up. */
static _Thread_local u128 powers[POWER_MOST - POWER_LEAST + 1];

/* The upper 128 bits of a large number; *rest: bits are left below them. */
static u128 upper_bits(const uint64_t *words, bool *rest)
{
	int high = WORDS - 1, shift;
	uint64_t w[3];

	while (!words[high])
		high--;
	for (int i = 0; i < 3; i++)
		w[i] = high >= i ? words[high - i] : 0;
	shift = __builtin_clzll(w[0]);
	*rest = high >= 2;
	if (shift) {
		w[0] = w[0] << shift | w[1] >> (64 - shift);
		w[1] = w[1] << shift | w[2] >> (64 - shift);
		*rest = high > 2 || w[2] << shift;
	}
	return (u128)w[0] << 64 | w[1];
}

static void make_powers(void)
{
	uint64_t words[WORDS] = {1};
	bool rest;

	for (int k = 0; k <= POWER_MOST; k++) {
		u128 carry = 0;

		powers[k - POWER_LEAST] = upper_bits(words, &rest);
		powers[k - POWER_LEAST] += rest;
		for (int i = 0; i < WORDS; i++) {
			carry += (u128)words[i] * 5;
			words[i] = (uint64_t)carry;
			carry >>= 64;
		}
	}
	memset(words, 0, sizeof words);
	words[WORDS - 1] = 1;
	for (int k = -1; k >= POWER_LEAST; k--) {
		u128 left = 0;

		for (int i = WORDS - 1; i >= 0; i--) {
			left = left << 64 | words[i];
			words[i] = (uint64_t)(left / 5);
			left %= 5;
		}
		/* no power of two is a multiple of 5 */
		powers[k - POWER_LEAST] = upper_bits(words, &rest) + 1;
	}
}

static inline int floor_shift(int64_t n, unsigned bits)
{
	return (int)(n >> bits);
}

/* The upper 64 bits of n * power; bit 0 is set where there are others. */
static inline uint64_t round_to_odd(u128 power, uint64_t n)
{
	u128 low = (u128)(uint64_t)power * n, product = (u128)(uint64_t)(power >> 64) * n;

	product += (uint64_t)(low >> 64);
	return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

/* The shortest decimal that is nearer to n * 2^q than to its neighbours. closer: the next smaller
 * one is half as far away as the next larger one. The names of the paper. */
static struct decimal shortest(uint64_t n, int q, bool closer)
{
	bool odd = n & 1;
	int k = floor_shift((int64_t)q * 1262611 - (closer ? 524031 : 0), 22);
	int h = q + floor_shift((int64_t)-k * 1741647, 19) + 1;
	u128 g = powers[-k - POWER_LEAST];
	uint64_t lower = round_to_odd(g, (4 * n - 2 + closer) << h) + odd;
	uint64_t upper = round_to_odd(g, (4 * n + 2) << h) - odd;
	uint64_t v = round_to_odd(g, 4 * n << h), s = v / 4;

	if (s >= 10) {
		uint64_t ten = s / 10;
		bool down = lower <= 40 * ten, up = 40 * ten + 40 <= upper;

		if (down != up)
			return (struct decimal){ten + up, k + 1};
	}
	{
		bool down = lower <= 4 * s, up = 4 * s + 4 <= upper;
		bool half_up = v > 4 * s + 2 || (v == 4 * s + 2 && s & 1);

		return (struct decimal){s + (down != up ? up : half_up), k};
	}
}

/* Get the decimal of a number above 0, of `fraction` bits and the exponent as they are stored.
 * */
static struct decimal decimal_of(uint64_t bits, unsigned exponent, int fraction, int bias)
{
	uint64_t n = bits | 1ull << fraction;
	int q = (int)exponent - bias - fraction;

	if (!powers[0])
		make_powers();
	if (!exponent)
		return shortest(bits, 1 - bias - fraction, false);
	/* an integer whose neighbours the type also represents */
	if (q <= 0 && q >= -fraction && !(n & ((1ull << -q) - 1)))
		return (struct decimal){n >> -q, 0};
	return shortest(n, q, !bits && exponent > 1);
}

static struct decimal decimal_of_float(uint32_t bits)
{
	return decimal_of(bits & 0x7fffff, bits >> 23 & 0xff, 23, 127);
}

/* --- layout --- */

static char *put_exponent(char *out, int exponent)
{
	char text[8], *end = text + sizeof text, *p;

	*out++ = 'e';
	*out++ = exponent < 0 ? '-' : '+';
	p = digits_decimal(end, (uint64_t)abs(exponent));
	p = digits_fill(p, end, 2, 2, '0');
	memcpy(out, p, (size_t)(end - p));
	return out + (end - p);
}

/* Remove trailing zeros. */
static struct decimal strip(struct decimal d)
{
	if (d.digits % 100000000 == 0) {
		d.digits /= 100000000;
		d.exponent += 8;
	}
	for (; d.digits % 10 == 0; d.exponent++)
		d.digits /= 10;
	return d;
}

static char *put_decimal(char *out, struct decimal d)
{
	char text[24 + DIGITS_MOST] = {0}, *end = text + 24, *p;
	int n, point; /* digits; of them before the point */

	if (d.exponent || d.digits >= PLAIN_LIMIT)
		d = strip(d);
	p = digits_decimal(end, d.digits);
	n = (int)(end - p);
	point = n + d.exponent;
	if (point <= POINT_LEAST || point > (n > PLAIN_DIGITS ? n : PLAIN_DIGITS)) {
		*out++ = *p++;
		if (--n) {
			*out++ = '.';
			memcpy(out, p, (size_t)n);
		}
		return put_exponent(out + n, point - 1);
	}
	/* copies of DIGITS_MOST bytes are of a length the compiler knows */
	if (point >= n) {
		memcpy(out, p, DIGITS_MOST);
		memset(out + n, '0', (size_t)(point - n));
		return out + point;
	}
	if (point > 0) {
		memcpy(out, p, DIGITS_MOST);
		out[point] = '.';
		memcpy(out + point + 1, p + point, DIGITS_MOST);
		return out + n + 1;
	}
	memcpy(out, "0.000", 5);
	memcpy(out + 2 - point, p, DIGITS_MOST);
	return out + 2 - point + n;
}

size_t shortest_layout(char *out, uint64_t digits, int exponent)
{
	return (size_t)(put_decimal(out, (struct decimal){digits, exponent}) - out);
}

/* Write a number without digits. */
static size_t put_special(char *out, bool minus, bool nan)
{
	if (nan || !minus) {
		memcpy(out, nan ? "nan" : "inf", 3);
		return 3;
	}
	memcpy(out, "-inf", 4);
	return 4;
}

size_t shortest_double(char *out, double x)
{
	const uint64_t fraction = (1ull << 52) - 1;
	uint64_t bits;
	char *p = out;

	memcpy(&bits, &x, sizeof bits);
	if ((bits >> 52 & 0x7ff) == 0x7ff)
		return put_special(out, bits >> 63, bits & fraction);
	if (bits >> 63)
		*p++ = '-';
	if (bits << 1)
		p = put_decimal(p, decimal_of(bits & fraction, bits >> 52 & 0x7ff, 52, 1023));
	else
		*p++ = '0';
	return (size_t)(p - out);
}

size_t shortest_float(char *out, float x)
{
	uint32_t bits;
	char *p = out;

	memcpy(&bits, &x, sizeof bits);
	if ((bits >> 23 & 0xff) == 0xff)
		return put_special(out, bits >> 31, bits & 0x7fffff);
	/* the common elements of matrices */
	if (!(bits >> 31) && x < 10 && x == (float)(int)x) {
		*out = (char)('0' + (int)x);
		return 1;
	}
	if (bits >> 31)
		*p++ = '-';
	if (bits << 1)
		p = put_decimal(p, decimal_of_float(bits));
	else
		*p++ = '0';
	return (size_t)(p - out);
}

size_t shortest_real(char *out, double x, size_t size)
{
	return size == 4 ? shortest_float(out, (float)x) : shortest_double(out, x);
}

double shortest_widen(float x)
{
	/* doubles hold these, and the digits, so that one operation rounds once */
	static const double tens[] = {1e0,  1e1,  1e2,	1e3,  1e4,  1e5,  1e6,	1e7,
				      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	enum { TENS = sizeof tens / sizeof *tens };
	char text[SHORTEST_SIZE + 1];
	struct decimal d;
	uint32_t bits;
	double wide;

	memcpy(&bits, &x, sizeof bits);
	if (!(bits << 1) || (bits >> 23 & 0xff) == 0xff)
		return x;
	d = decimal_of_float(bits);
	if (d.exponent > -TENS && d.exponent < TENS) {
		wide = d.exponent < 0 ? (double)d.digits / tens[-d.exponent]
				      : (double)d.digits * tens[d.exponent];
		return bits >> 31 ? -wide : wide;
	}
	text[shortest_float(text, x)] = '\0';
	return strtod(text, NULL);
}
