/*
 * quick.h - converts simple values: small, completely unpacked, and of types defined before
 *
 * Nearly all values are simple. They are converted in line, in registers, from the unpacked
 * bytes to the output. Conversion stops before the first value that is not simple.
 */
#ifndef TR_TRDECODE_APITRACE_QUICK_H
#define TR_TRDECODE_APITRACE_QUICK_H

#include "cmd/trdecode/apitrace/apitrace.h"
#include "common/stream/value.h"

/* The positions of a conversion. */
struct quick {
	const uint8_t *p, *end;
	uint8_t *out, *limit;
	const uint8_t *safe; /* before this position there is space for one more scalar */
};

enum {
	QUICK_IN = 64, /* most bytes of one scalar, without the content of strings */
	QUICK_OUT = 64,
	QUICK_GROWTH = 4, /* most bytes written for one byte read */
	QUICK_SHORT = 32, /* bytes of a string that are always copied, to save a branch */
};

#define QUICK static inline __attribute__((always_inline))

/* Set q->safe, so that one comparison checks both input and output. */
QUICK void quick_measure(struct quick *q)
{
	ptrdiff_t in = q->end - q->p - QUICK_IN,
		  out = (q->limit - q->out - QUICK_OUT) / QUICK_GROWTH;

	q->safe = q->p + (in < out ? in : out);
}

QUICK bool quick_room(const struct quick *q)
{
	return q->p < q->safe;
}

/* Copy a number of up to 8 bytes: the stream has the same encoding. */
QUICK bool quick_number(struct quick *q)
{
	uint64_t bytes = get_u64(q->p), ends = ~bytes & 0x8080808080808080;
	unsigned n = (unsigned)__builtin_ctzll(ends | 1ull << 63) / 8 + 1;

	put_u64(q->out, bytes);
	q->p += n;
	q->out += n;
	return ends != 0;
}

/* Read a number of up to 3 bytes, nearly always 1 or 2. */
QUICK bool quick_uint(struct quick *q, uint32_t *n)
{
	uint32_t number = *q->p++;

	if (number & 0x80) {
		number = (number & 0x7f) | (uint32_t)*q->p++ << 7;
		if (__builtin_expect(number & 1 << 14, 0)) {
			number = (number & 0x3fff) | (uint32_t)*q->p++ << 14;
			if (number & 1 << 21)
				return false;
		}
	}
	*n = number;
	return true;
}

/* Read an id, and return the index + 1 of its element; 0: not defined before, or not a low id. */
QUICK uint32_t quick_id(struct quick *q, const struct apitrace_ids *ids)
{
	uint32_t id;

	return quick_uint(q, &id) && id < ids->direct_size ? ids->direct[id] : 0;
}

QUICK bool quick_enum(struct quick *q, const struct apitrace *a)
{
	uint32_t index = quick_id(q, &a->ids.enums), n;

	if (!index || *q->p++ != APITRACE_UINT || !quick_uint(q, &n))
		return false;
	*q->out++ = VALUE_ENUM;
	q->out = uleb_at(q->out, ((const uint32_t *)a->ids.enums.at)[index - 1]);
	if (n < 0x80) {
		*q->out++ = 1;
		*q->out++ = (uint8_t)n;
	} else if (n < 0x8000) {
		*q->out++ = 2;
		put_u16(q->out, (uint16_t)n);
		q->out += 2;
	} else {
		*q->out++ = 4;
		put_u32(q->out, n);
		q->out += 4;
	}
	return true;
}

/* Copy a string or blob of less than 16 KiB. */
QUICK bool quick_run(struct quick *q)
{
	size_t n = q->p[0];

	*q->out++ = *q->p++;
	if (n & 0x80) {
		n = (n & 0x7f) | (size_t)q->p[0] << 7;
		*q->out++ = *q->p++;
		if (n & 1 << 14 || n < 0x80)
			return false;
	}
	if (__builtin_expect(n <= QUICK_SHORT, 1)) {
		memcpy(q->out, q->p, QUICK_SHORT);
	} else {
		if (q->end - q->p < (ptrdiff_t)n || q->limit - q->out < (ptrdiff_t)n + QUICK_OUT)
			return false;
		memcpy(q->out, q->p, n);
	}
	q->out += n;
	q->p += n;
	if (n > QUICK_SHORT)
		quick_measure(q);
	return true;
}

QUICK bool quick_scalar(struct quick *q, const struct apitrace *a)
{
	uint8_t type = *q->p++;
	uint32_t index;

	switch (type) {
	case APITRACE_NULL:
	case APITRACE_FALSE:
	case APITRACE_TRUE: *q->out++ = type; return true;
	case APITRACE_SINT:
	case APITRACE_UINT: *q->out++ = type; return quick_number(q);
	case APITRACE_OPAQUE: *q->out++ = VALUE_POINTER; return quick_number(q);
	case APITRACE_FLOAT:
		*q->out++ = VALUE_FLOAT;
		memcpy(q->out, q->p, 4);
		q->out += 4;
		q->p += 4;
		return true;
	case APITRACE_DOUBLE:
		*q->out++ = VALUE_DOUBLE;
		memcpy(q->out, q->p, 8);
		q->out += 8;
		q->p += 8;
		return true;
	case APITRACE_STRING:
	case APITRACE_BLOB: *q->out++ = type; return quick_run(q);
	case APITRACE_ENUM: return quick_enum(q, a);
	case APITRACE_BITMASK:
		index = quick_id(q, &a->ids.bitmasks);
		if (!index)
			return false;
		*q->out++ = VALUE_BITMASK;
		q->out = uleb_at(q->out, ((const uint32_t *)a->ids.bitmasks.at)[index - 1]);
		return quick_number(q);
	}
	return false;
}

/* Copy up to n floats of a matrix or vector, whose encoding is the same in the stream. Return how
 * many were copied. */
QUICK unsigned quick_floats(struct quick *q, unsigned n)
{
	const uint64_t tags = 0x0000ff00000000ff, low = tags / 0xff * APITRACE_FLOAT;
	unsigned left = n;

	/* three at once, 5 bytes each */
	for (; left >= 3; left -= 3) {
		uint64_t a = get_u64(q->p), b = get_u64(q->p + 8);

		if ((a & tags) != low || (b >> 16 & 0xff) != APITRACE_FLOAT)
			break;
		put_u64(q->out, a);
		put_u64(q->out + 8, b);
		q->p += 15;
		q->out += 15;
	}
	for (; left && *q->p == APITRACE_FLOAT; left--) {
		put_u64(q->out, get_u64(q->p));
		q->p += 5;
		q->out += 5;
	}
	return n - left;
}

QUICK bool quick_array(struct quick *q, const struct apitrace *a)
{
	uint8_t n = *++q->p;

	q->p++;
	if (n & 0x80 || q->safe - q->p < n * 5)
		return false;
	*q->out++ = VALUE_ARRAY;
	*q->out++ = n;
	for (n -= (uint8_t)quick_floats(q, n); n; n--)
		if (!quick_room(q) || !quick_scalar(q, a))
			return false;
	return true;
}

/* Convert details up to the first that is not simple. true: all details. */
QUICK bool quick_details(struct quick *q, const struct apitrace *a, uint32_t *arguments)
{
	uint32_t most = *arguments;

	while (quick_room(q)) {
		const uint8_t *p = q->p;
		uint8_t *out = q->out;
		uint32_t what = *q->p++, index = 0;

		if (what == APITRACE_END) {
			*arguments = most;
			return true;
		}
		if (what == APITRACE_ARGUMENT)
			index = *q->p++ + 1u;
		/* argument and return value have the same numbers in the stream */
		put_u16(q->out, (uint16_t)(what | index << 8));
		q->out += 2;
		/* the first byte of a longer number is above 0x7f too */
		if (what > APITRACE_RETURN || index > 0x7f ||
		    (*q->p == APITRACE_ARRAY ? !quick_array(q, a) : !quick_scalar(q, a))) {
			q->p = p;
			q->out = out;
			break;
		}
		most = index > most ? index : most;
	}
	*arguments = most;
	return false;
}

#endif
