/*
 * The shortest digits of floats and doubles, against printf by trial and strtod.
 * An argument is the number of random ones: millions, where somebody has changed the algorithm.
 */
#include "common/value/scalar.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "t/unit/tap.h"

static unsigned long wrong;
static uint64_t seed = 88172645463325252;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void differs(const char *got, const char *want)
{
	if (wrong++ < 5)
		printf("# %s should be %s\n", got, want);
}

static double number(const char *text, bool is_float)
{
	return is_float ? (double)strtof(text, NULL) : strtod(text, NULL);
}

static int digits_of(const char *text)
{
	int n = 0, zeros = 0;

	for (; *text && *text != 'e'; text++) {
		if (*text < '0' || *text > '9' || (!n && *text == '0'))
			continue;
		n++;
		zeros = *text == '0' ? zeros + 1 : 0;
	}
	return n - zeros;
}

/* A decimal of so many digits that is the number, next to the nearest of them: as is only where
 * the neighbours of a power of two are not equally far. NULL: there is none. */
static const char *beside(double x, int digits, bool is_float)
{
	static char text[64];
	char mantissa[64], *e;
	uint64_t n = 0;

	snprintf(mantissa, sizeof mantissa, "%.*e", digits - 1, x);
	e = strchr(mantissa, 'e');
	for (const char *p = mantissa; p < e; p++)
		if (*p >= '0' && *p <= '9')
			n = 10 * n + (uint64_t)(*p - '0');
	for (int i = -1; i <= 1; i += 2) {
		snprintf(text, sizeof text, "%s%" PRIu64 "e%d", x < 0 ? "-" : "", n + (uint64_t)i,
			 atoi(e + 1) - digits + 1);
		if (number(text, is_float) == x)
			return text;
	}
	return NULL;
}

/* What there is of x with as few digits as can be. */
static void check(double x, bool is_float, const char *got)
{
	const char *other = NULL;
	char want[64];
	int digits = 0;

	if (number(got, is_float) != x) {
		differs(got, "the same number");
		return;
	}
	do {
		snprintf(want, sizeof want, "%.*g", ++digits, x);
		if (number(want, is_float) == x)
			break;
		other = beside(x, digits, is_float);
	} while (!other);
	if (other) {
		if (strtod(other, NULL) != strtod(got, NULL) || digits_of(got) != digits)
			differs(got, other);
		return;
	}
	/* up to 15 digits are before the point */
	if (fabs(x) >= 1e-4 && digits < 15) {
		if (is_float)
			x = strtod(want, NULL);
		snprintf(want, sizeof want, "%.15g", x);
	}
	if (strcmp(got, want) != 0)
		differs(got, want);
}

static void check_double(double x)
{
	char got[SHORTEST_SIZE + 1];
	size_t n = shortest_double(got, x);

	got[n] = '\0';
	if (n >= SHORTEST_SIZE)
		differs(got, "of another size");
	if (!isnan(x))
		check(x, false, got);
}

static void check_float(float x)
{
	char got[SHORTEST_SIZE + 1];
	size_t n = shortest_float(got, x);
	double wide = shortest_widen(x);

	got[n] = '\0';
	if (n >= SHORTEST_SIZE)
		differs(got, "of another size");
	if (isnan(x))
		return;
	check((double)x, true, got);
	if (wide != strtod(got, NULL) || !signbit(wide) != !signbit(x))
		differs(got, "as a double");
}

static double bits_double(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static float bits_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static void test_powers(void)
{
	for (int e = -1074; e < 1024; e++)
		for (int i = -1; i <= 1; i++) {
			double x = ldexp(1, e);

			check_double(i < 0 ? nextafter(x, 0) : i > 0 ? nextafter(x, INFINITY) : x);
		}
	is_u64(wrong, 0, "powers of two and their neighbours");
	for (int e = -149; e < 128; e++)
		for (int i = -1; i <= 1; i++) {
			float x = ldexpf(1, e);

			check_float(i < 0 ? nextafterf(x, 0) : i > 0 ? nextafterf(x, INFINITY) : x);
		}
	is_u64(wrong, 0, "the same of floats");
	for (int e = -323; e < 309; e++)
		for (int digit = 1; digit < 10; digit++) {
			char text[16];

			snprintf(text, sizeof text, "%de%d", digit, e);
			check_double(strtod(text, NULL));
			check_float(strtof(text, NULL));
		}
	is_u64(wrong, 0, "powers of ten");
}

static void test_halves(void)
{
	/* integers around 2^53, and a half between two decimals of 15 to 17 digits */
	for (int e = 45; e <= 64; e++)
		for (int i = 0; i < 40; i++) {
			double x = ldexp(1, e) + (double)(next() >> (64 - e));

			check_double(x);
			check_double(x + 0.5);
			check_double(x / 1024);
			check_double(-x * 5);
		}
	for (uint32_t i = 0; i < 3000; i++) {
		check_float((float)(16777216 + i) / 2);
		check_float((float)i / 8);
		check_float((float)i / 1000);
	}
	is_u64(wrong, 0, "halfway cases");
}

static void test_random(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		check_double(bits_double(next()));
		check_float(bits_float((uint32_t)next()));
		check_double((double)(int64_t)(next() >> 11) / 1e6);
		check_float((float)(int32_t)next() / 2147483648.0f);
	}
	is_u64(wrong, 0, "random bits");
	for (unsigned long i = 0; i < n / 4; i++) {
		check_double(bits_double(next() >> (12 + next() % 52)));
		check_float(bits_float((uint32_t)next() >> (9 + next() % 23)));
	}
	is_u64(wrong, 0, "subnormal ones");
}

static const char *text_of(double x)
{
	static char text[SHORTEST_SIZE + 1];

	text[shortest_double(text, x)] = '\0';
	return text;
}

int main(int argc, char **argv)
{
	is_str(text_of(0), "0", "zero");
	is_str(text_of(-0.0), "-0", "with a sign");
	is_str(text_of(NAN), "nan", "no number");
	is_str(text_of(-NAN), "nan", "nor this");
	is_str(text_of(INFINITY), "inf", "infinity");
	is_str(text_of(-INFINITY), "-inf", "the other infinity");
	is_str(text_of(5e-324), "5e-324", "the smallest");
	is_str(text_of(DBL_MAX), "1.7976931348623157e+308", "the largest");
	is_str(text_of(-0.0001), "-0.0001", "zeros after the point");
	is_str(text_of(0.00001), "1e-05", "or an exponent");
	is_str(text_of(999999999999999), "999999999999999", "15 digits");
	is_str(text_of(1e15), "1e+15", "and more");
	is_str(text_of(9007199254740993.0), "9007199254740992", "16 that are needed");
	test_powers();
	test_halves();
	test_random(argc > 1 ? strtoul(argv[1], NULL, 10) : 5000);
	return done();
}
