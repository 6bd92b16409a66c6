/*
 * block.c - headers of blocks, and the clock that they define
 */
#include "cmd/trdecode/lttng/lttng.h"
#include "common/util/u128.h"

static const char *parse_1(struct lttng_header *h, const uint8_t *p, uint32_t *where)
{
	bool big = h->big;
	uint32_t lost;

	h->begin = get_uint(p, 8, big);
	h->end = get_uint(p + 16, 8, big);
	lost = (uint32_t)get_uint(p + 32, 4, big);
	h->size = (uint32_t)get_uint(p + 36, 4, big);
	h->word_size = p[56];
	h->flight = p[59];
	h->heartbeat = p[60];
	h->alignment = p[61];
	h->tsc_shift = p[62];
	h->tsc_bits = p[63];
	h->data_shift = p[64];
	h->scale = get_uint(p + 65, 4, big);
	h->frequency = get_uint(p + 69, 8, big);
	h->start_tsc = get_uint(p + 77, 8, big);
	h->seconds = get_uint(p + 93, 8, big);
	h->microseconds = get_uint(p + 101, 8, big);
	h->length = LTTNG_HEADER_1;
	h->unfinished = lost == UINT32_MAX;
	*where = 36;
	if (h->size < h->length || h->size % LTTNG_PAGE)
		return "the block's size is impossible";
	*where = 32;
	if (!h->unfinished && lost > h->size - h->length)
		return "more is unused than the block holds";
	h->used = h->unfinished ? h->size : h->size - lost;
	return NULL;
}

static const char *parse_2(struct lttng_header *h, const uint8_t *p, uint32_t *where)
{
	bool big = h->big;
	uint32_t n;

	h->begin = get_uint(p, 8, big);
	h->end = get_uint(p + 8, 8, big);
	h->word_size = p[22];
	h->alignment = p[23];
	h->seconds = get_uint(p + 24, 8, big);
	h->microseconds = get_uint(p + 32, 8, big);
	h->frequency = get_uint(p + 40, 8, big);
	h->scale = get_uint(p + 48, 4, big);
	n = (uint32_t)get_uint(p + 52, 4, big);
	h->size = (uint32_t)get_uint(p + 56, 4, big);
	h->length = h->minor == 0 ? 64 : h->minor == 1 ? 60 : LTTNG_HEADER_2;
	if (h->minor >= 2) {
		h->lost = (uint32_t)get_uint(p + 60, 4, big);
		h->corrupt = (uint32_t)get_uint(p + 64, 4, big);
	}
	*where = 56;
	if (h->size < h->length || h->size % LTTNG_PAGE)
		return "the block's size is impossible";
	h->unfinished = n == UINT32_MAX;
	*where = 52;
	if (h->unfinished)
		h->used = h->size;
	else if (n > h->size || (h->minor < 5 ? n > h->size - h->length : n < h->length))
		return "the block's length is impossible";
	else
		h->used = h->minor < 5 ? h->size - n : n;
	return NULL;
}

const char *lttng_header_parse(struct lttng_header *h, const uint8_t *data, size_t n,
			       uint32_t *where)
{
	const char *wrong;
	uint32_t magic;
	bool family_1;

	*h = (struct lttng_header){0};
	*where = 0;
	if (n < 60)
		return "too short for a block";
	for (int i = 0; i < 4; i++) {
		*where = i & 1 ? LTTNG_MAGIC_1 : LTTNG_MAGIC_2;
		magic = (uint32_t)get_uint(data + *where, 4, i & 2);
		if (magic == LTTNG_MAGIC) {
			h->big = i & 2;
			break;
		}
		if (i == 3)
			return "not an LTTng block (no magic 0x00d6b7ed)";
	}
	family_1 = *where == LTTNG_MAGIC_1;
	*where = family_1 ? 57 : 20;
	h->major = data[*where];
	h->minor = data[*where + 1];
	if (family_1 ? h->major > 1 || (h->major == 1 && h->minor) : h->major != 2 || h->minor > 6)
		return "a version of the format that is not known";
	if (!h->major)
		return NULL; /* the caller rejects the version */
	if (n < (family_1 ? LTTNG_HEADER_1 : h->minor < 2 ? 60 : LTTNG_HEADER_2))
		return "too short for a block";
	wrong = family_1 ? parse_1(h, data, where) : parse_2(h, data, where);
	if (wrong)
		return wrong;
	*where = family_1 ? 56 : 22;
	if (h->word_size != 4 && h->word_size != 8)
		return "a word size that is neither 4 nor 8";
	*where = family_1 ? 61 : 23;
	if (h->alignment > 8 || h->alignment & (h->alignment - 1))
		return "an impossible alignment";
	*where = 62;
	if (family_1 && (h->tsc_shift > 31 || h->tsc_bits > 32 || h->data_shift > 32))
		return "impossible numbers for the compact channel";
	*where = family_1 ? 16 : 8;
	if (!h->unfinished && h->end < h->begin && h->end)
		return "the block ends before it begins";
	return NULL;
}

/* --- the clock --- */

/* The most ns after an anchor. */
#define REACH_NS (1ull << 60)

/* start_freq and freq_scale: a factor at first, a divisor since late in 2.2. */
static bool scale_divides(const struct lttng_header *h)
{
	if (h->major == 1 || h->minor < 2)
		return false;
	/* no machine of that time ticked slower */
	return h->minor > 2 || h->frequency / h->scale >= 1000000;
}

uint64_t lttng_clock_hertz(const struct lttng_header *h)
{
	if (!h->frequency || !h->scale)
		return 0;
	return scale_divides(h) ? h->frequency / h->scale
				: multiply_saturated(h->frequency, h->scale);
}

int64_t lttng_clock_slow(struct lttng_clock *c, uint64_t tsc)
{
	/* round down, before zero too */
	__int128 x = ((__int128)tsc - c->zero) * c->numerator, q = x / c->denominator;
	uint64_t rest;

	if (q * c->denominator > x)
		q--;
	rest = (uint64_t)(x - q * c->denominator);
	q += c->base;
	/* no real clock reaches this limit; a shift can still be added */
	if (q >= (int64_t)TIME_LIMIT)
		return (int64_t)TIME_LIMIT - 1;
	if (q <= -(int64_t)TIME_LIMIT)
		return 1 - (int64_t)TIME_LIMIT;
	if (q >= (int64_t)TIME_LIMIT - (int64_t)REACH_NS)
		c->reach = 0; /* times after an anchor would pass the limit */
	if (c->reach) {
		c->anchor = tsc;
		c->anchor_ns = (int64_t)q;
		c->anchor_rest = rest;
	}
	return (int64_t)q;
}

int lttng_clock_init(struct lttng_clock *c, const struct lttng_header *h, uint64_t zero,
		     int64_t zero_ns)
{
	*c = (struct lttng_clock){.zero = zero, .base = zero_ns};
	if (!h->frequency || !h->scale)
		return -1;
	c->numerator = 1000000000;
	if (scale_divides(h)) {
		c->numerator *= h->scale;
		c->denominator = h->frequency;
	} else if (__builtin_mul_overflow(h->frequency, h->scale, &c->denominator)) {
		return -1;
	}
	if (c->denominator > 1) {
		c->inverse = (uint64_t)(((unsigned __int128)1 << 64) / c->denominator);
		/* x = ticks * numerator + rest is at most 2 * REACH_NS, and the ns half of it */
		if (c->denominator < REACH_NS)
			c->reach = REACH_NS / c->numerator;
	}
	lttng_clock_slow(c, zero);
	return 0;
}
