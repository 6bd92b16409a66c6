/*
 * keys_transform.c - numbers as keys: bucket(F,N), log2(F), hist(F)
 */
#include "common/util/histogram.h"
#include "common/pairs/keys.h"

/* Size of a number; signed_of restores the sign. */
static uint64_t size_of(struct key_cell c)
{
	return c.kind == KEY_SIGNED ? -c.value : c.value;
}

static struct key_cell with_sign(bool negative, uint64_t size)
{
	if (!negative || !size)
		return key_unsigned(size);
	/* below the least number of 64 bits the result is that number */
	return key_signed(size > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)size);
}

/* Make an integer of a number that is none: the next one below it, or toward 0. */
static struct key_cell integer_of(const struct key_cell *c, bool down)
{
	double real = key_real_value(c);

	if (real >= 0x1p64)
		return key_unsigned(UINT64_MAX);
	if (real >= 0)
		return key_unsigned((uint64_t)real);
	if (real < -0x1p63)
		return key_signed(INT64_MIN);
	return key_signed((int64_t)real - down);
}

struct key_cell key_transform(const struct key *k, struct key_cell c)
{
	uint64_t size, rest;
	bool negative;

	if (c.kind == KEY_PENDING)
		return c;
	if (c.kind == KEY_REAL)
		c = integer_of(&c, k->transform == KEY_BUCKET);
	if (c.kind != KEY_SIGNED && c.kind != KEY_UNSIGNED && c.kind != KEY_ADDRESS)
		return (struct key_cell){0};
	negative = c.kind == KEY_SIGNED;
	size = size_of(c);
	switch (k->transform) {
	case KEY_AS_IT_IS: break;
	case KEY_BUCKET:
		rest = size % k->width;
		/* round down, also negative numbers */
		if (negative && rest && __builtin_add_overflow(size, k->width, &size))
			size = UINT64_MAX;
		return with_sign(negative, size - rest);
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
