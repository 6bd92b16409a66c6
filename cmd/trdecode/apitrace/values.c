/*
 * values.c - converts the details of events: arguments, return values, back traces
 */
#include "cmd/trdecode/apitrace/apitrace.h"

#include "common/stream/value.h"
#include "common/util/stack_table.h"

enum { ROOM = 64 }; /* most bytes written between two calls of tail_room */

/* Enlarge tail; discard a detail that exceeds the limit of one event. */
static int make_room(struct apitrace *a)
{
	struct buffer *b = &a->values.tail;

	if (b->size > a->values.limit) {
		a->values.too_large = true;
		b->size = a->values.detail;
	}
	return buffer_reserve(b, ROOM) ? apitrace_no_memory(a) : 0;
}

static inline int tail_room(struct apitrace *a)
{
	return __builtin_expect(a->values.tail.capacity - a->values.tail.size < ROOM ||
					a->values.tail.size > a->values.limit,
				0)
		       ? make_room(a)
		       : 0;
}

static inline uint8_t *tail_out(struct apitrace *a)
{
	return a->values.tail.data + a->values.tail.size;
}

static inline void tail_written(struct apitrace *a, const uint8_t *end)
{
	a->values.tail.size = (size_t)(end - a->values.tail.data);
}

/* Record that the current event's values use a definition. */
static int use_definition(struct apitrace *a, uint32_t definition)
{
	/* a stream of one segment has the definition since its first use */
	if (__builtin_expect(a->segments, 0) && buffer_u32(&a->values.used, definition))
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
		return apitrace_bad(a, "type %u where an integer is expected", type);
	if (apitrace_uint(a, &magnitude))
		return -1;
	*n = (int64_t)(type == APITRACE_SINT ? -magnitude : magnitude);
	return 0;
}

/* Copy n bytes, in pieces as they are unpacked. */
static int copy_bytes(struct apitrace *a, uint64_t n)
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
		if (a->values.tail.size + have > a->values.limit) {
			a->values.too_large = true;
			a->values.tail.size = a->values.detail;
		}
		if (!a->values.too_large && buffer_append(&a->values.tail, a->unpack.at, have))
			return apitrace_no_memory(a);
		a->unpack.at += have;
		n -= have;
	}
	return 0;
}

static int copy_string(struct apitrace *a, uint8_t tag)
{
	uint8_t *p = tail_out(a);
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	*p++ = tag;
	p = uleb_at(p, n);
	tail_written(a, p);
	if (__builtin_expect(n <= ROOM / 2 && (uint64_t)(a->unpack.end - a->unpack.at) >= n, 1)) {
		memcpy(p, a->unpack.at, (size_t)n);
		a->unpack.at += n;
		a->values.tail.size += (size_t)n;
		return 0;
	}
	return copy_bytes(a, n);
}

static int wide_string(struct apitrace *a)
{
	uint8_t *p = tail_out(a);
	uint64_t n, unit;

	if (apitrace_uint(a, &n))
		return -1;
	*p++ = VALUE_WSTRING;
	tail_written(a, uleb_at(p, n));
	while (n--) {
		if (apitrace_uint(a, &unit) || tail_room(a))
			return -1;
		tail_written(a, uleb_at(tail_out(a), unit));
	}
	return 0;
}

static int copy_number(struct apitrace *a, uint8_t tag)
{
	uint8_t *p = tail_out(a);
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	*p++ = tag;
	tail_written(a, uleb_at(p, n));
	return 0;
}

/* Read a negative number. A magnitude of 64 bits wraps to a number that is not negative. */
static int signed_number(struct apitrace *a)
{
	uint8_t *p = tail_out(a);
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	*p++ = n > NEGATIVE_MOST ? VALUE_UINT : VALUE_NEGATIVE;
	tail_written(a, uleb_at(p, n > NEGATIVE_MOST ? -n : n));
	return 0;
}

static inline int put_bytes(struct apitrace *a, uint8_t tag, unsigned n)
{
	uint8_t *p = tail_out(a);

	*p++ = tag;
	if (__builtin_expect((size_t)(a->unpack.end - a->unpack.at) >= n, 1)) {
		memcpy(p, a->unpack.at, n);
		a->unpack.at += n;
		tail_written(a, p + n);
		return 0;
	}
	tail_written(a, p);
	return copy_bytes(a, n);
}

static int put_enumeration(struct apitrace *a)
{
	uint8_t *p = tail_out(a), size = 8;
	uint32_t definition;
	int64_t n;

	if (a->version < APITRACE_ENUM_SETS) {
		if (apitrace_enum_value(a, &definition, &n))
			return -1;
	} else if (apitrace_enum(a, &definition) || apitrace_sint(a, &n)) {
		return -1;
	}
	if (use_definition(a, definition))
		return -1;
	if (n == (int8_t)n)
		size = 1;
	else if (n == (int16_t)n)
		size = 2;
	else if (n == (int32_t)n)
		size = 4;
	*p++ = VALUE_ENUM;
	p = uleb_at(p, definition);
	*p++ = size;
	put_u64(p, (uint64_t)n);
	tail_written(a, p + size);
	return 0;
}

static int put_bitmask(struct apitrace *a)
{
	uint8_t *p = tail_out(a);
	uint32_t definition;
	uint64_t n;

	if (apitrace_bitmask(a, &definition) || apitrace_uint(a, &n) ||
	    use_definition(a, definition))
		return -1;
	*p++ = VALUE_BITMASK;
	p = uleb_at(p, definition);
	tail_written(a, uleb_at(p, n));
	return 0;
}

static int put_value(struct apitrace *a, unsigned nesting);

static int put_elements(struct apitrace *a, uint64_t n, unsigned nesting)
{
	if (nesting == APITRACE_NESTING)
		return apitrace_bad(a, "values nested deeper than %d", APITRACE_NESTING);
	while (n--)
		if (put_value(a, nesting + 1))
			return -1;
	return 0;
}

static int put_array(struct apitrace *a, unsigned nesting)
{
	uint8_t *p = tail_out(a);
	uint64_t n;

	if (apitrace_uint(a, &n))
		return -1;
	*p++ = VALUE_ARRAY;
	tail_written(a, uleb_at(p, n));
	return put_elements(a, n, nesting);
}

static int put_structure(struct apitrace *a, unsigned nesting)
{
	uint8_t *p = tail_out(a);
	struct apitrace_struct *s;
	uint32_t members;

	if (apitrace_struct(a, &s) || use_definition(a, s->definition))
		return -1;
	members = s->members;
	*p++ = VALUE_STRUCT;
	p = uleb_at(p, s->definition);
	tail_written(a, uleb_at(p, members));
	return put_elements(a, members, nesting);
}

static int put_representation(struct apitrace *a, unsigned nesting)
{
	uint8_t *p = tail_out(a);

	*p++ = VALUE_REPR;
	tail_written(a, p);
	return put_elements(a, 2, nesting);
}

static int put_value(struct apitrace *a, unsigned nesting)
{
	uint8_t type;

	if (apitrace_byte(a, &type) || tail_room(a))
		return -1;
	switch (type) {
	case APITRACE_NULL:
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		/* these and most other tags have the same number in the stream */
		*tail_out(a) = type;
		a->values.tail.size++;
		return 0;
	case APITRACE_SINT: return signed_number(a);
	case APITRACE_UINT: return copy_number(a, VALUE_UINT);
	case APITRACE_FLOAT: return put_bytes(a, VALUE_FLOAT, 4);
	case APITRACE_DOUBLE: return put_bytes(a, VALUE_DOUBLE, 8);
	case APITRACE_STRING: return copy_string(a, VALUE_STRING);
	case APITRACE_BLOB: return copy_string(a, VALUE_BLOB);
	case APITRACE_ENUM: return put_enumeration(a);
	case APITRACE_BITMASK: return put_bitmask(a);
	case APITRACE_ARRAY: return put_array(a, nesting);
	case APITRACE_STRUCT: return put_structure(a, nesting);
	case APITRACE_OPAQUE: return copy_number(a, VALUE_POINTER);
	case APITRACE_REPR: return put_representation(a, nesting);
	case APITRACE_WSTRING: return wide_string(a);
	}
	return apitrace_bad(a, "unknown type %u of a value", type);
}

static void begin_detail(struct apitrace *a, uint8_t what, uint64_t index)
{
	uint8_t *p = tail_out(a);

	a->values.detail = a->values.tail.size;
	*p++ = what;
	tail_written(a, uleb_at(p, index));
}

static int put_backtrace(struct apitrace *a)
{
	struct apitrace_frame_ids frame;
	uint64_t n;
	uint8_t *p;

	if (apitrace_uint(a, &n))
		return -1;
	begin_detail(a, DETAIL_BACKTRACE, 0);
	p = tail_out(a);
	*p++ = VALUE_ARRAY;
	tail_written(a, uleb_at(p, n));
	while (n--) {
		if (apitrace_frame(a, &frame) || use_definition(a, frame.definition) ||
		    tail_room(a))
			return -1;
		if (a->values.frames.size < 4 * STACK_FRAMES_MOST &&
		    buffer_u32(&a->values.frames, frame.location))
			return apitrace_no_memory(a);
		p = tail_out(a);
		*p++ = VALUE_FRAME;
		tail_written(a, uleb_at(p, frame.definition));
	}
	return 0;
}

static int put_detail(struct apitrace *a, uint8_t what)
{
	uint64_t index;

	switch (what) {
	case APITRACE_ARGUMENT:
		if (apitrace_uint(a, &index))
			return -1;
		if (index >= APITRACE_ARGUMENT_LIMIT)
			return apitrace_bad(a, "an argument of number %llu",
					    (unsigned long long)index);
		if (index >= a->values.arguments)
			a->values.arguments = (uint32_t)index + 1;
		begin_detail(a, DETAIL_ARGUMENT, index + 1);
		return put_value(a, 0);
	case APITRACE_RETURN: begin_detail(a, DETAIL_RETURN, 0); return put_value(a, 0);
	case APITRACE_BACKTRACE: return put_backtrace(a);
	case APITRACE_FLAGS: begin_detail(a, DETAIL_FLAGS, 0); return copy_number(a, VALUE_UINT);
	}
	return apitrace_bad(a, "unknown call detail %u", what);
}

int apitrace_details(struct apitrace *a)
{
	uint8_t what;

	a->values.tail.size = 0;
	a->values.used.size = 0;
	a->values.frames.size = 0;
	a->values.arguments = 0;
	a->values.detail = 0;
	for (;;) {
		bool was_large = a->values.too_large;

		if (tail_room(a))
			return -1;
		if (apitrace_quick_details(a))
			return 0;
		if (apitrace_byte(a, &what) || tail_room(a))
			return -1;
		if (what == APITRACE_END)
			return 0;
		a->values.too_large = false;
		if (put_detail(a, what))
			return -1;
		if (a->values.too_large)
			a->values.tail.size = a->values.detail;
		a->values.too_large |= was_large;
	}
}
