#include "apitrace.h"

#include "common/value.h"

enum { ROOM = 64 }; /* for what is written between two looks at the room */

/* More room in tail; what is larger than any event may be is left out. */
static int make_room(struct apitrace *a)
{
	struct buffer *b = &a->tail;

	if (b->size > APITRACE_VALUES_LIMIT) {
		a->too_large = true;
		b->size = a->detail;
	}
	return buffer_reserve(b, ROOM) ? apitrace_no_memory(a) : 0;
}

static inline int room(struct apitrace *a)
{
	return __builtin_expect(a->tail.capacity - a->tail.size < ROOM ||
					a->tail.size > APITRACE_VALUES_LIMIT,
				0)
		       ? make_room(a)
		       : 0;
}

static inline uint8_t *out(struct apitrace *a)
{
	return a->tail.data + a->tail.size;
}

static inline void written(struct apitrace *a, const uint8_t *end)
{
	a->tail.size = (size_t)(end - a->tail.data);
}

/* A definition stands in the present event's values. */
static int use(struct apitrace *a, uint32_t definition)
{
	/* where there is but one segment, it was sent when it was met first */
	if (__builtin_expect(a->segments, 0) && buffer_u32(&a->used, definition))
		return apitrace_no_memory(a);
	return 0;
}

int apitrace_sint(struct apitrace *a, int64_t *n)
{
	uint64_t magnitude;
	uint8_t type;

	if (apitrace_byte(a, &type))
		return -1;
	if (type != APITRACE_SINT && type != APITRACE_UINT)
		return apitrace_bad(a, "type %u where an integer should stand", type);
	if (apitrace_uint(a, &magnitude))
		return -1;
	*n = (int64_t)(type == APITRACE_SINT ? -magnitude : magnitude);
	return 0;
}

/* n bytes as they are, however many arrive at once. */
static int copy(struct apitrace *a, uint64_t n)
{
	while (n) {
		size_t have = (size_t)(a->unpack.end - a->unpack.at);

		if (!have) {
			if (apitrace_refill(a))
				return -1;
			continue;
		}
		if (have > n)
			have = (size_t)n;
		if (a->tail.size + have > APITRACE_VALUES_LIMIT) {
			a->too_large = true;
			a->tail.size = a->detail;
		}
		if (!a->too_large && buffer_append(&a->tail, a->unpack.at, have))
			return apitrace_no_memory(a);
		a->unpack.at += have;
		n -= have;
	}
	return 0;
}

static int string(struct apitrace *a, uint8_t tag)
{
	uint8_t *p = out(a);
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	*p++ = tag;
	p = value_uleb(p, n);
	written(a, p);
	if (__builtin_expect(n <= ROOM / 2 && (uint64_t)(a->unpack.end - a->unpack.at) >= n, 1)) {
		memcpy(p, a->unpack.at, (size_t)n);
		a->unpack.at += n;
		a->tail.size += (size_t)n;
		return 0;
	}
	return copy(a, n);
}

static int wide_string(struct apitrace *a)
{
	uint8_t *p = out(a);
	uint64_t n, unit;

	if (apitrace_uint(a, &n))
		return -1;
	*p++ = VALUE_WSTRING;
	written(a, value_uleb(p, n));
	while (n--) {
		if (apitrace_uint(a, &unit) || room(a))
			return -1;
		written(a, value_uleb(out(a), unit));
	}
	return 0;
}

static int number(struct apitrace *a, uint8_t tag)
{
	uint8_t *p = out(a);
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	*p++ = tag;
	written(a, value_uleb(p, n));
	return 0;
}

static inline int bytes(struct apitrace *a, uint8_t tag, unsigned n)
{
	uint8_t *p = out(a);

	*p++ = tag;
	if (__builtin_expect((size_t)(a->unpack.end - a->unpack.at) >= n, 1)) {
		memcpy(p, a->unpack.at, n);
		a->unpack.at += n;
		written(a, p + n);
		return 0;
	}
	written(a, p);
	return copy(a, n);
}

static int enumeration(struct apitrace *a)
{
	uint8_t *p = out(a), size = 8;
	uint32_t definition;
	int64_t n;

	if (a->version < APITRACE_ENUM_SETS) {
		if (apitrace_enum_value(a, &definition, &n))
			return -1;
	} else if (apitrace_enum(a, &definition) || apitrace_sint(a, &n)) {
		return -1;
	}
	if (use(a, definition))
		return -1;
	if (n == (int8_t)n)
		size = 1;
	else if (n == (int16_t)n)
		size = 2;
	else if (n == (int32_t)n)
		size = 4;
	*p++ = VALUE_ENUM;
	p = value_uleb(p, definition);
	*p++ = size;
	put_u64(p, (uint64_t)n);
	written(a, p + size);
	return 0;
}

static int bitmask(struct apitrace *a)
{
	uint8_t *p = out(a);
	uint32_t definition;
	uint64_t n;

	if (apitrace_bitmask(a, &definition) || apitrace_uint(a, &n) || use(a, definition))
		return -1;
	*p++ = VALUE_BITMASK;
	p = value_uleb(p, definition);
	written(a, value_uleb(p, n));
	return 0;
}

static int value(struct apitrace *a, unsigned nesting);

static int elements(struct apitrace *a, uint64_t n, unsigned nesting)
{
	if (nesting == APITRACE_NESTING)
		return apitrace_bad(a, "values nested deeper than %d", APITRACE_NESTING);
	while (n--)
		if (value(a, nesting + 1))
			return -1;
	return 0;
}

static int array(struct apitrace *a, unsigned nesting)
{
	uint8_t *p = out(a);
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	*p++ = VALUE_ARRAY;
	written(a, value_uleb(p, n));
	return elements(a, n, nesting);
}

static int structure(struct apitrace *a, unsigned nesting)
{
	uint8_t *p = out(a);
	struct apitrace_struct *s;
	uint32_t members;

	if (apitrace_struct(a, &s) || use(a, s->definition))
		return -1;
	members = s->members;
	*p++ = VALUE_STRUCT;
	p = value_uleb(p, s->definition);
	written(a, value_uleb(p, members));
	return elements(a, members, nesting);
}

static int representation(struct apitrace *a, unsigned nesting)
{
	uint8_t *p = out(a);

	*p++ = VALUE_REPR;
	written(a, p);
	return elements(a, 2, nesting);
}

static int value(struct apitrace *a, unsigned nesting)
{
	uint8_t type;

	if (apitrace_byte(a, &type) || room(a))
		return -1;
	switch (type) {
	case APITRACE_NULL:
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		/* these and most others have the same number in the stream */
		*out(a) = type;
		a->tail.size++;
		return 0;
	case APITRACE_SINT: return number(a, VALUE_NEGATIVE);
	case APITRACE_UINT: return number(a, VALUE_UINT);
	case APITRACE_FLOAT: return bytes(a, VALUE_FLOAT, 4);
	case APITRACE_DOUBLE: return bytes(a, VALUE_DOUBLE, 8);
	case APITRACE_STRING: return string(a, VALUE_STRING);
	case APITRACE_BLOB: return string(a, VALUE_BLOB);
	case APITRACE_ENUM: return enumeration(a);
	case APITRACE_BITMASK: return bitmask(a);
	case APITRACE_ARRAY: return array(a, nesting);
	case APITRACE_STRUCT: return structure(a, nesting);
	case APITRACE_OPAQUE: return number(a, VALUE_POINTER);
	case APITRACE_REPR: return representation(a, nesting);
	case APITRACE_WSTRING: return wide_string(a);
	}
	return apitrace_bad(a, "unknown type %u of a value", type);
}

static void begin_detail(struct apitrace *a, uint8_t what, uint64_t index)
{
	uint8_t *p = out(a);

	a->detail = a->tail.size;
	*p++ = what;
	written(a, value_uleb(p, index));
}

static int backtrace(struct apitrace *a)
{
	uint32_t frame;
	uint64_t n;
	uint8_t *p;

	if (apitrace_uint(a, &n))
		return -1;
	begin_detail(a, DETAIL_BACKTRACE, 0);
	p = out(a);
	*p++ = VALUE_ARRAY;
	written(a, value_uleb(p, n));
	while (n--) {
		if (apitrace_frame(a, &frame) || use(a, frame) || room(a))
			return -1;
		p = out(a);
		*p++ = VALUE_FRAME;
		written(a, value_uleb(p, frame));
	}
	return 0;
}

static int detail(struct apitrace *a, uint8_t what)
{
	uint64_t index;

	switch (what) {
	case APITRACE_ARGUMENT:
		if (apitrace_uint(a, &index))
			return -1;
		if (index >= APITRACE_ARGUMENT_LIMIT)
			return apitrace_bad(a, "an argument of number %llu",
					    (unsigned long long)index);
		if (index >= a->arguments)
			a->arguments = (uint32_t)index + 1;
		begin_detail(a, DETAIL_ARGUMENT, index + 1);
		return value(a, 0);
	case APITRACE_RETURN: begin_detail(a, DETAIL_RETURN, 0); return value(a, 0);
	case APITRACE_BACKTRACE: return backtrace(a);
	case APITRACE_FLAGS: begin_detail(a, DETAIL_FLAGS, 0); return number(a, VALUE_UINT);
	}
	return apitrace_bad(a, "unknown call detail %u", what);
}

/*
 * Nearly all values are small, whole in what is at hand, and of types that were defined before.
 * Those are taken here with everything in registers; the first that is not is left to detail().
 */
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

/* Details up to the first that is not so simple. true: and that is their end. */
static bool quick_details(struct apitrace *a)
{
	struct quick q = {a->unpack.at, a->unpack.end, out(a), a->tail.data + a->tail.capacity};
	uint8_t arguments = 0;
	bool ended = false;

	if (a->version < APITRACE_ENUM_SETS || a->segments || a->tail.size > APITRACE_VALUES_LIMIT)
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
	written(a, q.out);
	return ended;
}

int apitrace_details(struct apitrace *a)
{
	uint8_t what;

	a->tail.size = 0;
	a->used.size = 0;
	a->arguments = 0;
	for (;;) {
		bool was_large = a->too_large;

		if (room(a))
			return -1;
		if (quick_details(a))
			return 0;
		if (apitrace_byte(a, &what) || room(a))
			return -1;
		if (what == APITRACE_END)
			return 0;
		a->too_large = false;
		if (detail(a, what))
			return -1;
		if (a->too_large)
			a->tail.size = a->detail;
		a->too_large |= was_large;
	}
}
