/*
 * apitrace_quick.c - the values of nearly all calls
 *
 * They are small, whole in what is at hand, and of types that were defined before. Those are taken
 * here with everything in registers; the first that is not is left to apitrace_values.c.
 */
#include "apitrace.h"
#include "common/value.h"

struct quick {
	const uint8_t *p, *end;
	uint8_t *out, *limit;
};

enum { QUICK_IN = 32, QUICK_OUT = 48 }; /* bytes that one scalar cannot exceed */

static inline __attribute__((always_inline)) bool quick_room(const struct quick *q)
{
	return q->end - q->p >= QUICK_IN && q->limit - q->out >= QUICK_OUT;
}

/* A number as it stands: in the stream it looks the same. */
static inline __attribute__((always_inline)) bool quick_number(struct quick *q)
{
	for (int i = 0; i < 9; i++) {
		uint8_t byte = *q->p++;

		*q->out++ = byte;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* An id of at most two bytes, and what it stands for; 0: none of these. */
static inline __attribute__((always_inline)) uint32_t quick_id(struct quick *q,
							       const struct apitrace_ids *ids)
{
	uint32_t id = *q->p++;

	if (id & 0x80)
		id = (id & 0x7f) | (uint32_t)*q->p++ << 7;
	return id < ids->direct_size ? ids->direct[id] : 0;
}

static inline __attribute__((always_inline)) bool quick_enum(struct quick *q,
							     const struct apitrace *a)
{
	uint32_t index = quick_id(q, &a->enums);
	uint8_t tag = *q->p++;
	uint64_t n;

	if (!index || tag != APITRACE_UINT)
		return false;
	n = *q->p++;
	if (n & 0x80) {
		n = (n & 0x7f) | (uint64_t)*q->p++ << 7;
		if (n & 1 << 14) {
			n = (n & 0x3fff) | (uint64_t)*q->p++ << 14;
			if (n & 1 << 21)
				return false;
		}
	}
	*q->out++ = VALUE_ENUM;
	q->out = value_uleb(q->out, ((const uint32_t *)a->enums.at)[index - 1]);
	if (n < 0x80) {
		*q->out++ = 1;
		*q->out++ = (uint8_t)n;
	} else if (n < 0x8000) {
		*q->out++ = 2;
		put_u16(q->out, (uint16_t)n);
		q->out += 2;
	} else {
		*q->out++ = 4;
		put_u32(q->out, (uint32_t)n);
		q->out += 4;
	}
	return true;
}

static inline __attribute__((always_inline)) bool quick_run(struct quick *q)
{
	uint8_t n = *q->p++;

	if (n & 0x80 || q->end - q->p < n || q->limit - q->out < n + QUICK_OUT)
		return false;
	*q->out++ = n;
	memcpy(q->out, q->p, n);
	q->out += n;
	q->p += n;
	return true;
}

static inline __attribute__((always_inline)) bool quick_scalar(struct quick *q,
							       const struct apitrace *a)
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
	case APITRACE_STRING: *q->out++ = VALUE_STRING; return quick_run(q);
	case APITRACE_ENUM: return quick_enum(q, a);
	case APITRACE_BITMASK:
		index = quick_id(q, &a->bitmasks);
		if (!index)
			return false;
		*q->out++ = VALUE_BITMASK;
		q->out = value_uleb(q->out, ((const uint32_t *)a->bitmasks.at)[index - 1]);
		return quick_number(q);
	}
	return false;
}

static inline __attribute__((always_inline)) bool quick_array(struct quick *q,
							      const struct apitrace *a)
{
	uint8_t n = *++q->p;

	q->p++;
	if (n & 0x80)
		return false;
	*q->out++ = VALUE_ARRAY;
	*q->out++ = n;
	while (n--)
		if (!quick_room(q) || !quick_scalar(q, a))
			return false;
	return true;
}

bool apitrace_quick_details(struct apitrace *a)
{
	struct buffer *tail = &a->tail;
	struct quick q = {a->unpack.at, a->unpack.end, tail->data + tail->size,
			  tail->data + tail->capacity};
	uint8_t arguments = 0;
	bool ended = false;

	if (a->version < APITRACE_ENUM_SETS || a->segments || tail->size > APITRACE_VALUES_LIMIT)
		return false;
	while (quick_room(&q)) {
		struct quick before = q;
		uint8_t what = *q.p++, index = 0;

		if (what == APITRACE_END) {
			ended = true;
			break;
		}
		if (what == APITRACE_ARGUMENT)
			index = (uint8_t)(*q.p++ + 1);
		if (what > APITRACE_RETURN || index > 0x7f) {
			q = before;
			break;
		}
		/* both have the same number in the stream */
		*q.out++ = what;
		*q.out++ = index;
		if (*q.p == APITRACE_ARRAY ? !quick_array(&q, a) : !quick_scalar(&q, a)) {
			q = before;
			break;
		}
		arguments = index > arguments ? index : arguments;
	}
	if (arguments > a->arguments)
		a->arguments = arguments;
	a->unpack.at = q.p;
	tail->size = (size_t)(q.out - tail->data);
	return ended;
}
