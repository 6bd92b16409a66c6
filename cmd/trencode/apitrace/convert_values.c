/*
 * convert_values.c - convert values of any source to those of a .trace
 */
#include <stdlib.h>

#include "cmd/trencode/apitrace/convert.h"
#include "common/value/value_names.h"

uint32_t apitrace_convert_definition(struct apitrace_convert_values *a, const struct definition *d)
{
	uint32_t *table = array_reach(a->definitions, &a->size, d->number, sizeof *table);
	struct definition *made;

	if (!table)
		return 0;
	a->definitions = table;
	if (table[d->number])
		return table[d->number];
	made = target_definition(a->to);
	if (!made)
		return 0;
	made->name = d->name;
	made->kind = d->kind;
	made->count = d->count;
	made->members = d->members; /* owned by the stream's dictionary */
	return table[d->number] = made->number;
}

/* Convert the definition of a value; *id is 0 if the definition is missing or of another kind. */
static int definition_of(struct apitrace_convert_values *a, const struct value *v, uint32_t kind,
			 uint32_t *id)
{
	const struct definition *d =
		v->definition ? dictionary_definition_id(a->from, v->definition) : NULL;

	*id = 0;
	if (!d || d->kind != kind)
		return 0;
	*id = apitrace_convert_definition(a, d);
	return *id ? 0 : -1;
}

static int put_signed(struct buffer *b, int64_t v)
{
	return v < 0 ? value_put_uint(b, VALUE_NEGATIVE, -(uint64_t)v)
		     : value_put_uint(b, VALUE_UINT, (uint64_t)v);
}

/* A .trace has signed 64-bit enum values; larger values are written without their labels. */
static int put_enum(struct apitrace_convert_values *a, struct buffer *b, uint32_t id,
		    const struct value *v)
{
	const struct definition *names = dictionary_definition_id(a->from, v->definition);
	char digits[I128_SIZE];
	uint8_t bytes[8];
	bool is_signed;
	uint64_t n;

	if (value_integer(v, names, &n, &is_signed)) {
		if (!is_signed && n > INT64_MAX)
			return value_put_uint(b, VALUE_UINT, n);
		put_u64(bytes, n);
		return id ? value_put_enum(b, id, bytes, (int32_t)n == (int64_t)n ? 4 : 8)
			  : put_signed(b, (int64_t)n);
	}
	return value_put_bytes(b, VALUE_STRING, digits, value_enum_decimal(digits, names, v));
}

static int put_real(struct apitrace_convert_values *a, struct buffer *b, const struct value *v)
{
	long double real = 0;
	double twice;

	if (v->size == 4 || v->size == 8)
		return value_put_float(b, v->bytes, v->size);
	value_real(v, &real);
	twice = (double)real;
	a->rounded += (long double)twice != real;
	return value_put_float(b, (const void *)&twice, 8);
}

static int put_number(struct apitrace_convert_values *a, struct buffer *b, const struct value *v)
{
	uint64_t bits = v->size < 8 ? v->number & ((1ull << 8 * v->size) - 1) : v->number;

	if (v->format == 'f')
		return put_real(a, b, v);
	if (v->size > 8)
		return value_put_bytes(b, VALUE_BLOB, v->bytes, v->size);
	switch (v->format) {
	case 'p': return value_put_uint(b, VALUE_POINTER, bits);
	case 'u':
	case 'x':
	case 'o':
	case 'c': return value_put_uint(b, VALUE_UINT, bits);
	}
	return put_signed(b, (int64_t)v->number);
}

static int put_opaque(struct apitrace_convert_values *a, struct buffer *b, const struct value *v)
{
	if (v->type_name_size == 11 && !memcmp(v->type_name, "std::string", 11))
		return value_put_bytes(b, VALUE_STRING, v->bytes, v->n);
	a->opaque++;
	return v->n ? value_put_bytes(b, VALUE_BLOB, v->bytes, v->n)
		    : value_put_bytes(b, VALUE_STRING, v->type_name, v->type_name_size);
}

static int convert_value(struct apitrace_convert_values *a, struct buffer *b, struct values *v,
			 unsigned nesting);

static int convert_children(struct apitrace_convert_values *a, struct buffer *b, struct values *v,
			    uint64_t n, unsigned nesting)
{
	int got = 0;

	while (n-- && !got)
		got = convert_value(a, b, v, nesting + 1);
	return got;
}

static int put_wide(struct buffer *b, const struct value *v)
{
	return buffer_u8(b, VALUE_WSTRING) || buffer_reserve(b, 10) ||
			       (b->size = (size_t)(value_uleb(b->data + b->size, v->number) -
						   b->data),
				v->n && buffer_append(b, v->bytes, v->n))
		       ? -1
		       : 0;
}

static int convert_value(struct apitrace_convert_values *a, struct buffer *b, struct values *v,
			 unsigned nesting)
{
	struct value x;
	uint32_t id;

	if (nesting > VALUE_DEPTH || !values_value(v, &x))
		return -1;
	switch (x.tag) {
	case VALUE_NUMBER: return put_number(a, b, &x);
	case VALUE_STRING:
		if (x.n == 4 && !memcmp(x.bytes, "\xff\xff\xff\xff", 4))
			return value_put_simple(b, VALUE_NULL);
		return value_put_bytes(b, VALUE_STRING, x.bytes, x.n);
	case VALUE_BLOB: return value_put_bytes(b, VALUE_BLOB, x.bytes, x.n);
	case VALUE_WSTRING: return put_wide(b, &x);
	case VALUE_OPAQUE: return put_opaque(a, b, &x);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return value_put_float(b, x.bytes, (uint8_t)x.n);
	case VALUE_NEGATIVE: return put_signed(b, (int64_t)x.number);
	case VALUE_UINT:
	case VALUE_POINTER: return value_put_uint(b, x.tag, x.number);
	case VALUE_ENUM:
		if (definition_of(a, &x, DEFINITION_ENUM, &id))
			return -1;
		return put_enum(a, b, id, &x);
	case VALUE_BITMASK:
		if (definition_of(a, &x, DEFINITION_BITMASK, &id))
			return -1;
		return id ? value_put_bitmask(b, id, x.number)
			  : value_put_uint(b, VALUE_UINT, x.number);
	case VALUE_STRUCT:
		if (definition_of(a, &x, DEFINITION_STRUCT, &id))
			return -1;
		if (id ? value_put_struct(b, id, x.count) : value_put_array(b, x.count))
			return -1;
		return convert_children(a, b, v, x.count, nesting);
	case VALUE_ARRAY:
		return value_put_array(b, x.count) ? -1
						   : convert_children(a, b, v, x.count, nesting);
	case VALUE_REPR:
		return buffer_u8(b, VALUE_REPR) ? -1 : convert_children(a, b, v, 2, nesting);
	case VALUE_FRAME:
		if (definition_of(a, &x, DEFINITION_FRAME, &id))
			return -1;
		if (!id)
			return value_put_simple(b, VALUE_NULL);
		return buffer_u8(b, VALUE_FRAME) || buffer_reserve(b, 10)
			       ? -1
			       : (b->size = (size_t)(value_uleb(b->data + b->size, id) - b->data),
				  0);
	}
	return value_put_simple(b, x.tag);
}

int apitrace_convert_details(struct apitrace_convert_values *a, struct buffer *b,
			     const struct event *ev, bool keep, uint32_t n, uint64_t *lost)
{
	uint64_t index, position = 0;
	struct values v;
	uint8_t what;

	for (values_begin(&v, ev->tail, ev->tail_size); v.at < v.end;) {
		if (!values_what(&v, &what, &index))
			return -1;
		if (what == DETAIL_ARGUMENT && !keep)
			index = ++position;
		if (what == DETAIL_ARGUMENT && index > n) {
			++*lost;
			if (!values_skip(&v))
				return -1;
			continue;
		}
		if (value_put_detail(b, what, index) || convert_value(a, b, &v, 0))
			return -1;
	}
	return 0;
}
