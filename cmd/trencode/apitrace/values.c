/*
 * values.c - write the values of a call to a .trace
 */
#include "cmd/trencode/apitrace/apitrace.h"
#include "common/stream/value.h"
#include "common/value/value_names.h"
#include "common/value/value_walk.h"

/* --- any value --- */

static void put_run(struct pack *p, uint8_t tag, const void *bytes, size_t n)
{
	pack_byte(p, tag);
	pack_uint(p, n);
	pack_put(p, bytes, n);
}

static void put_integer(struct pack *p, uint64_t n, bool is_signed)
{
	if (is_signed) {
		apitrace_put_sint(p, (int64_t)n);
	} else {
		pack_byte(p, APITRACE_UINT);
		pack_uint(p, n);
	}
}

/* Write an ENUM as a number if its definition cannot be written or does not have the value. */
static int put_enum(struct apitrace_target *t, const struct value *v)
{
	const struct definition *d = apitrace_definition(t, v->definition, DEFINITION_ENUM);
	struct pack *p = &t->pack;
	char digits[I128_SIZE];
	bool is_signed;
	uint64_t n;

	if (!value_integer(v, d, &n, &is_signed)) {
		put_run(p, APITRACE_STRING, digits, value_enum_decimal(digits, d, v));
		return 0;
	}
	if (!d || (!is_signed && n > INT64_MAX) ||
	    (t->version < APITRACE_ENUM_SETS && (!d->count || d->members[0].low != n))) {
		put_integer(p, n, is_signed);
		return 0;
	}
	pack_byte(p, APITRACE_ENUM);
	if (apitrace_put_definition(t, d))
		return -1;
	if (t->version >= APITRACE_ENUM_SETS)
		apitrace_put_sint(p, (int64_t)n);
	return 0;
}

static int put_bitmask(struct apitrace_target *t, const struct value *v)
{
	const struct definition *d = apitrace_definition(t, v->definition, DEFINITION_BITMASK);

	pack_byte(&t->pack, d ? APITRACE_BITMASK : APITRACE_UINT);
	if (d && apitrace_put_definition(t, d))
		return -1;
	pack_uint(&t->pack, v->number);
	return 0;
}

/* Write a value of a kind that apitrace does not record. */
static void put_foreign(struct pack *p, const struct value *v)
{
	long double real;
	double number;
	bool is_signed;
	uint64_t n;

	if (value_real(v, &real)) {
		number = (double)real;
		pack_byte(p, v->size == 4 ? APITRACE_FLOAT : APITRACE_DOUBLE);
		pack_put(p, v->size == 4 ? v->bytes : (const void *)&number, v->size == 4 ? 4 : 8);
	} else if (value_integer(v, NULL, &n, &is_signed)) {
		put_integer(p, n, is_signed);
	} else if (v->tag == VALUE_FRAME) {
		pack_byte(p, APITRACE_NULL);
	} else {
		put_run(p, APITRACE_BLOB, v->bytes, v->n);
	}
}

static int put_scalar(void *to, const struct value_item *item)
{
	const struct value *v = &item->value;
	struct apitrace_target *t = to;
	struct pack *p = &t->pack;

	switch (v->tag) {
	case VALUE_NULL:
	case VALUE_FALSE:
	case VALUE_TRUE: pack_byte(p, v->tag); return 0;
	case VALUE_NEGATIVE:
		pack_byte(p, APITRACE_SINT);
		pack_uint(p, -v->number);
		return 0;
	case VALUE_UINT:
		pack_byte(p, APITRACE_UINT);
		pack_uint(p, v->number);
		return 0;
	case VALUE_POINTER:
		pack_byte(p, APITRACE_OPAQUE);
		pack_uint(p, v->number);
		return 0;
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		pack_byte(p, v->tag);
		pack_put(p, v->bytes, v->n);
		return 0;
	case VALUE_STRING:
	case VALUE_BLOB: put_run(p, v->tag, v->bytes, v->n); return 0;
	case VALUE_WSTRING:
		pack_byte(p, APITRACE_WSTRING);
		pack_uint(p, v->number);
		pack_put(p, v->bytes, v->n);
		return 0;
	case VALUE_ENUM: return put_enum(t, v);
	case VALUE_BITMASK: return put_bitmask(t, v);
	}
	put_foreign(p, v);
	return 0;
}

/* Return the definition of a struct; NULL: it has none, and is written as an array. */
static const struct definition *struct_of(const struct value_parent *v)
{
	return v->definition && v->definition->kind == DEFINITION_STRUCT ? v->definition : NULL;
}

/* Write what is before the children. The definition of a struct has their number. */
static int put_begin(void *to, const struct value_parent *v, const struct values *rest)
{
	struct apitrace_target *t = to;
	const struct definition *d = struct_of(v);

	(void)rest;
	if (v->tag == VALUE_REPR) {
		pack_byte(&t->pack, APITRACE_REPR);
		return 0;
	}
	pack_byte(&t->pack, d ? APITRACE_STRUCT : APITRACE_ARRAY);
	if (d)
		return apitrace_put_definition(t, d);
	pack_uint(&t->pack, v->count);
	return 0;
}

/* Leave out children that the definition does not have. */
static int put_child(void *to, const struct value_parent *v, const struct values *rest)
{
	const struct definition *d = struct_of(v);

	(void)to;
	(void)rest;
	return d && v->index >= d->count ? VALUE_SKIP : 0;
}

/* Write a NULL for each child that only the definition has. */
static int put_end(void *to, const struct value_parent *v)
{
	struct apitrace_target *t = to;
	const struct definition *d = struct_of(v);

	for (uint64_t i = v->count; d && i < d->count; i++)
		pack_byte(&t->pack, APITRACE_NULL);
	return 0;
}

static const struct value_style apitrace_style = {
	.raw = true, .scalar = put_scalar, .begin = put_begin, .child = put_child, .end = put_end};

static int put_value(struct apitrace_target *t, struct values *v)
{
	return value_walk(&apitrace_style, t, t->dictionary, v);
}

/* Find the next frame that has a definition, among *n frames; NULL: there is none. */
static const struct definition *next_frame(struct apitrace_target *t, struct values *v, uint64_t *n)
{
	const struct definition *d = NULL;
	struct value frame;

	for (; *n && !d && values_value(v, &frame); --*n)
		d = apitrace_definition(t, frame.definition, DEFINITION_FRAME);
	return d;
}

static int put_backtrace(struct apitrace_target *t, struct values *v)
{
	const struct definition *frame;
	struct values ahead;
	struct value array;
	uint64_t n = 0, left;

	if (!values_value(v, &array))
		return -1;
	ahead = *v;
	for (left = array.count; next_frame(t, &ahead, &left);)
		n++;
	pack_byte(&t->pack, APITRACE_BACKTRACE);
	pack_uint(&t->pack, n);
	for (left = array.count; (frame = next_frame(t, v, &left));)
		if (apitrace_put_definition(t, frame))
			return -1;
	return 0;
}

static int put_detail(struct apitrace_target *t, struct values *v)
{
	struct pack *p = &t->pack;
	struct value flags;
	uint64_t index;
	uint8_t what;

	if (!values_what(v, &what, &index))
		return -1;
	switch (what) {
	case DETAIL_ARGUMENT:
		if (!index)
			return -1;
		pack_byte(p, APITRACE_ARGUMENT);
		pack_uint(p, index - 1);
		return put_value(t, v);
	case DETAIL_RETURN: pack_byte(p, APITRACE_RETURN); return put_value(t, v);
	case DETAIL_BACKTRACE: return put_backtrace(t, v);
	case DETAIL_FLAGS:
		if (!values_value(v, &flags))
			return -1;
		pack_byte(p, APITRACE_FLAGS);
		pack_uint(p, flags.number);
		return 0;
	}
	return values_skip(v) ? 0 : -1;
}

/* --- small values --- */

/*
 * Nearly all values are small, and their definitions are already written. The quick_* functions
 * copy such values with their state in registers; put_detail() writes the first other value.
 * Without them 'trdecode | trencode -t apitrace' of t/bench/apitrace.sh's trace takes 1.53 times
 * the instructions.
 */
struct quick {
	const uint8_t *p, *end;
	uint8_t *out, *limit;
};

enum { QUICK_OUT = 32 }; /* bytes written between two tests of the space, at most, except strings */

static inline __attribute__((always_inline)) bool quick_room(const struct quick *q)
{
	return q->limit - q->out >= QUICK_OUT;
}

static inline __attribute__((always_inline)) bool quick_byte(struct quick *q, uint8_t *byte)
{
	if (q->p == q->end)
		return false;
	*byte = *q->p++;
	return true;
}

/* Copy a number, whose encoding is the same in the trace. */
static inline __attribute__((always_inline)) bool quick_number(struct quick *q)
{
	uint8_t byte;

	for (int i = 0; i < 9; i++) {
		if (!quick_byte(q, &byte))
			return false;
		*q->out++ = byte;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static inline __attribute__((always_inline)) bool quick_bytes(struct quick *q, size_t n)
{
	if ((size_t)(q->end - q->p) < n)
		return false;
	memcpy(q->out, q->p, n);
	q->out += n;
	q->p += n;
	return true;
}

static inline __attribute__((always_inline)) bool quick_run(struct quick *q)
{
	uint8_t n;

	if (!quick_byte(q, &n) || n & 0x80 || q->limit - q->out < n + QUICK_OUT)
		return false;
	*q->out++ = n;
	return quick_bytes(q, n);
}

/* Copy the id of a definition that is already written. */
static inline __attribute__((always_inline)) bool
quick_definition(struct quick *q, const struct apitrace_target *t, enum definition_kind kind)
{
	const struct apitrace_written *written;
	uint8_t low, high;
	uint32_t number;

	if (!quick_byte(q, &low))
		return false;
	number = low;
	if (low & 0x80) {
		if (!quick_byte(q, &high) || high & 0x80)
			return false;
		number = (low & 0x7f) | (uint32_t)high << 7;
	}
	number = idmap_get(&t->dictionary->ids[ENTRY_DEFINITION], number);
	if (number >= t->definitions.size)
		return false;
	written = &t->definitions.at[number];
	if (written->kind != kind || !written->size)
		return false;
	memcpy(q->out, written->id, sizeof written->id);
	q->out += written->size;
	return true;
}

static inline __attribute__((always_inline)) bool quick_enum(struct quick *q,
							     const struct apitrace_target *t)
{
	uint8_t size;
	int64_t n;

	if (!quick_definition(q, t, DEFINITION_ENUM) || !quick_byte(q, &size) ||
	    q->end - q->p < size)
		return false;
	switch (size) {
	case 1: n = (int8_t)*q->p; break;
	case 2: n = (int16_t)get_u16(q->p); break;
	case 4: n = (int32_t)get_u32(q->p); break;
	default: return false;
	}
	q->p += size;
	*q->out++ = n < 0 ? APITRACE_SINT : APITRACE_UINT;
	q->out = uleb_at(q->out, (uint64_t)(n < 0 ? -n : n));
	return true;
}

static inline __attribute__((always_inline)) bool quick_scalar(struct quick *q,
							       const struct apitrace_target *t)
{
	uint8_t tag;

	if (!quick_byte(q, &tag))
		return false;
	/* these VALUE_* tags equal the tags of the trace */
	*q->out++ = tag;
	switch (tag) {
	case VALUE_NULL:
	case VALUE_FALSE:
	case VALUE_TRUE: return true;
	case VALUE_NEGATIVE:
	case VALUE_UINT:
	case VALUE_POINTER: return quick_number(q);
	case VALUE_FLOAT: return quick_bytes(q, 4);
	case VALUE_DOUBLE: return quick_bytes(q, 8);
	case VALUE_STRING:
	case VALUE_BLOB: return quick_run(q);
	case VALUE_ENUM: return quick_enum(q, t);
	case VALUE_BITMASK: return quick_definition(q, t, DEFINITION_BITMASK) && quick_number(q);
	}
	return false;
}

static inline __attribute__((always_inline)) bool quick_array(struct quick *q,
							      const struct apitrace_target *t)
{
	size_t floats;
	uint8_t n;

	*q->out++ = *q->p++;
	if (!quick_byte(q, &n) || n & 0x80)
		return false;
	*q->out++ = n;
	/* floats have the same encoding in the trace */
	floats = value_floats(q->p, q->end, n);
	if ((size_t)(q->limit - q->out) < 5 * floats || !quick_bytes(q, 5 * floats))
		return false;
	for (n -= (uint8_t)floats; n; n--)
		if (!quick_room(q) || !quick_scalar(q, t))
			return false;
	return true;
}

/* Write details up to the first that needs put_detail(). */
static void quick_details(struct apitrace_target *t, struct values *v)
{
	struct pack *pack = &t->pack;
	struct quick q = {v->at, v->end, pack->data + pack->size, pack->data + pack->capacity};

	if (t->version < APITRACE_ENUM_SETS)
		return;
	while (q.end - q.p >= 3 && quick_room(&q)) {
		struct quick before = q;
		uint8_t what = q.p[0], index = q.p[1];

		q.p += 2;
		*q.out++ = what;
		if (what == DETAIL_ARGUMENT)
			*q.out++ = (uint8_t)(index - 1);
		if (what < DETAIL_ARGUMENT || what > DETAIL_RETURN || index & 0x80 ||
		    (what == DETAIL_ARGUMENT && !index) ||
		    (*q.p == VALUE_ARRAY ? !quick_array(&q, t) : !quick_scalar(&q, t))) {
			q = before;
			break;
		}
	}
	v->at = q.p;
	pack->size = (size_t)(q.out - pack->data);
}

int apitrace_put_details(struct apitrace_target *t, const struct event *ev)
{
	struct values v;

	values_begin(&v, ev->tail, ev->tail_size);
	while (v.at < v.end) {
		quick_details(t, &v);
		if (v.at < v.end && put_detail(t, &v))
			return -1;
	}
	pack_byte(&t->pack, APITRACE_END);
	return 0;
}
