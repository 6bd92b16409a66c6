/*
 * convert_values.c - convert values of any source to those of a .trace
 */
#include <stdlib.h>

#include "cmd/trencode/apitrace/convert.h"
#include "common/value/value_names.h"
#include "common/value/value_walk.h"

/* Return the number of the definition in the target dictionary; 0: out of memory. */
static uint32_t apitrace_convert_definition(struct apitrace_convert_values *a,
					    const struct definition *d)
{
	uint32_t *table;
	struct definition *made;

	if (ARRAY_REACH(a->definitions, a->size, d->number))
		return 0;
	table = a->definitions;
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
static int definition_of(struct apitrace_convert_values *a, const struct definition *d,
			 uint32_t kind, uint32_t *id)
{
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
static int put_enum(struct apitrace_convert_values *a, const struct value_item *item)
{
	const struct value *v = &item->value;
	struct buffer *b = a->out;
	char digits[I128_SIZE];
	uint8_t bytes[8];
	bool is_signed;
	uint32_t id;
	uint64_t n;

	if (definition_of(a, item->definition, DEFINITION_ENUM, &id))
		return -1;
	if (!value_integer(v, item->definition, &n, &is_signed))
		return value_put_bytes(b, VALUE_STRING, digits,
				       value_enum_decimal(digits, item->definition, v));
	if (!is_signed && n > INT64_MAX)
		return value_put_uint(b, VALUE_UINT, n);
	put_u64(bytes, n);
	return id ? value_put_enum(b, id, bytes, (int32_t)n == (int64_t)n ? 4 : 8)
		  : put_signed(b, (int64_t)n);
}

static int put_bitmask(struct apitrace_convert_values *a, const struct value_item *item)
{
	uint32_t id;

	if (definition_of(a, item->definition, DEFINITION_BITMASK, &id))
		return -1;
	return id ? value_put_bitmask(a->out, id, item->value.number)
		  : value_put_uint(a->out, VALUE_UINT, item->value.number);
}

static int put_frame(struct apitrace_convert_values *a, const struct value_item *item)
{
	uint32_t id;

	if (definition_of(a, item->definition, DEFINITION_FRAME, &id))
		return -1;
	return id ? value_put_uint(a->out, VALUE_FRAME, id) : value_put_simple(a->out, VALUE_NULL);
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

static int convert_scalar(void *to, const struct value_item *item)
{
	struct apitrace_convert_values *a = to;
	const struct value *v = &item->value;
	struct buffer *b = a->out;

	switch (v->tag) {
	case VALUE_NUMBER: return put_number(a, b, v);
	case VALUE_STRING:
		if (value_is_null_string(v))
			return value_put_simple(b, VALUE_NULL);
		return value_put_bytes(b, VALUE_STRING, v->bytes, v->n);
	case VALUE_BLOB: return value_put_bytes(b, VALUE_BLOB, v->bytes, v->n);
	case VALUE_WSTRING:
		return value_put_uint(b, VALUE_WSTRING, v->number) ||
				       buffer_append(b, v->bytes, v->n)
			       ? -1
			       : 0;
	case VALUE_OPAQUE: return put_opaque(a, b, v);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return value_put_float(b, v->bytes, (uint8_t)v->n);
	case VALUE_NEGATIVE: return put_signed(b, (int64_t)v->number);
	case VALUE_UINT:
	case VALUE_POINTER: return value_put_uint(b, v->tag, v->number);
	case VALUE_ENUM: return put_enum(a, item);
	case VALUE_BITMASK: return put_bitmask(a, item);
	case VALUE_FRAME: return put_frame(a, item);
	}
	return value_put_simple(b, v->tag);
}

static int convert_begin_children(void *to, const struct value_parent *v, const struct values *rest)
{
	struct apitrace_convert_values *a = to;
	uint32_t id;

	(void)rest;
	if (v->tag == VALUE_REPR)
		return value_put_simple(a->out, VALUE_REPR);
	if (definition_of(a, v->definition, DEFINITION_STRUCT, &id))
		return -1;
	return id ? value_put_struct(a->out, id, v->count) : value_put_array(a->out, v->count);
}

static const struct value_style convert_style = {
	.raw = true, .scalar = convert_scalar, .begin = convert_begin_children};

int apitrace_convert_details(struct apitrace_convert_values *a, struct buffer *b,
			     const struct event *ev, bool keep, uint32_t n, uint64_t *lost)
{
	uint64_t index, position = 0;
	struct values v;
	uint8_t what;

	a->out = b;
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
		if (value_put_detail(b, what, index) || value_walk(&convert_style, a, a->from, &v))
			return -1;
	}
	return 0;
}
