/*
 * keys_transform.c - numbers as keys: bucket(F,N), log2(F), hist(F)
 */
#include <math.h>

#include "common/util/histogram.h"
#include "common/util/u128.h"
#include "common/pairs/keys.h"

static struct key_cell with_sign(bool negative, uint64_t size)
{
	/* a negative size is at most that of INT64_MIN */
	return negative ? key_signed((int64_t)-size) : key_unsigned(size);
}

/* Returns the key of a number that may have more than 64 bits. */
static struct key_cell key_wide(int128 number)
{
	if (number != saturated_64(number))
		return key_real((double)number, false);
	return number < 0 ? key_signed((int64_t)number) : key_unsigned((uint64_t)number);
}

/* Returns the bucket of an integer: rounded down, also negative numbers. */
static struct key_cell bucket_of(int128 number, uint64_t width)
{
	int128 rest = number % width;

	return key_wide(number - rest - (rest < 0 ? width : 0));
}

/* Returns the key of a float beyond the integers of 64 bits, of a bucket beyond those of 127. */
static struct key_cell transform_large(const struct key *k, double real)
{
	enum { HIST = 2 << HISTOGRAM_PRECISION }; /* the fraction is in [0.5, 1) */
	double fraction, sign = real < 0 ? -1 : 1;
	long double rest;
	int exponent;

	if (k->transform == KEY_BUCKET) {
		rest = fmodl(real, k->width);
		return key_real((double)(real - rest - (rest < 0 ? k->width : 0)), false);
	}
	fraction = frexp(fabs(real), &exponent);
	fraction = k->transform == KEY_LOG2 ? 0.5 : floor(fraction * HIST) / HIST;
	return key_real(ldexp(sign * fraction, exponent), false);
}

static struct key_cell transform_real(const struct key *k, double real)
{
	if (k->transform == KEY_BUCKET && fabs(real) < 0x1p126)
		return bucket_of((int128)floor(real), k->width);
	if (real >= 0x1p64 || real < -0x1p63)
		return transform_large(k, real);
	return key_transform(k, key_wide((int128)real));
}

struct key_cell key_transform(const struct key *k, struct key_cell c)
{
	bool negative = c.kind == KEY_SIGNED;
	uint64_t size = negative ? -c.value : c.value;

	if (c.kind == KEY_PENDING || k->transform == KEY_AS_IT_IS)
		return c;
	if (c.kind == KEY_REAL)
		return transform_real(k, key_real_value(&c));
	if (c.kind != KEY_SIGNED && c.kind != KEY_UNSIGNED && c.kind != KEY_ADDRESS)
		return (struct key_cell){0};
	switch (k->transform) {
	case KEY_AS_IT_IS: break;
	case KEY_BUCKET: return bucket_of(negative ? -(int128)size : size, k->width);
	case KEY_LOG2:
		return with_sign(negative, size ? (uint64_t)1 << (63 - __builtin_clzll(size)) : 0);
	case KEY_HIST: return with_sign(negative, histogram_low(histogram_index(size)));
	}
	return c;
}

size_t keys_time_bucket(const struct keys *k)
{
	size_t least = 0;

	for (size_t i = 0; i < k->count; i++)
		if (key_is_time_bucket(&k->key[i]) &&
		    (!least || k->key[i].width < k->key[least - 1].width))
			least = i + 1;
	return least;
}

bool keys_same_time(const struct keys *k, uint64_t first, uint64_t last)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->key[i].kind == BY_TIME &&
		    key_transform(&k->key[i], key_unsigned(first)).value !=
			    key_transform(&k->key[i], key_unsigned(last)).value)
			return false;
	return true;
}
