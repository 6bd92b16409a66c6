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

struct key_cell key_transform(const struct key *k, struct key_cell c)
{
	bool negative = c.kind == KEY_SIGNED;
	uint64_t size = size_of(c), rest;

	if (c.kind == KEY_PENDING)
		return c;
	if (c.kind != KEY_SIGNED && c.kind != KEY_UNSIGNED && c.kind != KEY_ADDRESS)
		return (struct key_cell){0};
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
