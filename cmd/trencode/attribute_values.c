#include "attribute_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/shortest.h"
#include "common/utf8.h"
#include "common/value_names.h"

int attribute_put_integer(struct buffer *to, uint64_t number, bool minus, bool quote)
{
	char *p;

	if (buffer_reserve(to, 24))
		return -1;
	p = (char *)to->data + to->size;
	if (quote)
		*p++ = '"';
	if (minus)
		*p++ = '-';
	p = decimal_at(p, number);
	if (quote)
		*p++ = '"';
	to->size = (size_t)((uint8_t *)p - to->data);
	return 0;
}

static void set_text(struct attribute *out, const void *text, size_t n)
{
	out->kind = ATTRIBUTE_TEXT;
	out->text = text;
	out->number = n;
}

/* What was appended to the scratch buffer. */
static int from_scratch(const struct attribute_source *s, uint32_t kind, struct attribute *out)
{
	out->kind = kind;
	out->text = (const char *)s->scratch->data;
	out->number = s->scratch->size;
	return 0;
}

static void set_json(const struct attribute_source *s, struct attribute *out)
{
	out->kind = ATTRIBUTE_JSON;
	out->text = (const char *)s->compound->data;
	out->number = s->compound->size;
}

static int set_hex(const struct attribute_source *s, uint64_t number, struct attribute *out)
{
	buffer_clear(s->scratch);
	return buffer_printf(s->scratch, "0x%" PRIx64, number)
		       ? -1
		       : from_scratch(s, ATTRIBUTE_TEXT, out);
}

static int set_bytes_hex(const struct attribute_source *s, const uint8_t *p, size_t n,
			 const char *prefix, bool backwards, struct attribute *out)
{
	buffer_clear(s->scratch);
	if (buffer_append(s->scratch, prefix, strlen(prefix)) || buffer_reserve(s->scratch, 2 * n))
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint8_t byte = p[backwards ? n - 1 - i : i];

		s->scratch->data[s->scratch->size++] = (uint8_t) "0123456789abcdef"[byte >> 4];
		s->scratch->data[s->scratch->size++] = (uint8_t) "0123456789abcdef"[byte & 15];
	}
	return from_scratch(s, ATTRIBUTE_TEXT, out);
}

static void set_string(const struct value *v, struct attribute *out)
{
	/* what uftrace records of a string that is NULL */
	if (v->n == 4 && !memcmp(v->bytes, "\xff\xff\xff\xff", 4))
		out->kind = ATTRIBUTE_NULL;
	else
		set_text(out, v->bytes, v->n);
}

static void set_float(const struct value *v, struct attribute *out)
{
	long double number;

	out->kind = ATTRIBUTE_NULL;
	if (!value_real(v, &number))
		return;
	out->kind = ATTRIBUTE_REAL;
	/* as a float is written: 0.1, not the double that comes next to it */
	out->real = v->size == 4 ? shortest_widen((float)number) : (double)number;
}

static int set_number(const struct attribute_source *s, const struct value *v,
		      struct attribute *out)
{
	uint64_t bits = v->size < 8 ? v->number & ((1ull << 8 * v->size) - 1) : v->number;

	if (v->format == 'f') {
		set_float(v, out);
		return 0;
	}
	if (v->size > 8)
		return set_bytes_hex(s, v->bytes, v->size, "0x", true, out);
	switch (v->format) {
	case 'x':
	case 'o':
	case 'p': return set_hex(s, bits, out);
	case 'u': out->kind = ATTRIBUTE_UINT; break;
	case 'c':
		buffer_clear(s->scratch);
		return buffer_u8(s->scratch, (uint8_t)bits) ? -1
							    : from_scratch(s, ATTRIBUTE_TEXT, out);
	default:
		out->kind = ATTRIBUTE_INT;
		out->number = (uint64_t)sign_extend(bits, v->size);
		return 0;
	}
	out->number = bits;
	return 0;
}

static void set_label(const struct definition *d, uint64_t number, struct attribute *out)
{
	const struct member *m = definition_member(d, number);

	out->kind = definition_is_unsigned(d) ? ATTRIBUTE_UINT : ATTRIBUTE_INT;
	out->number = number;
	if (m)
		set_text(out, m->name.text, m->name.size);
}

static int set_enum(const struct attribute_source *s, const struct definition *d,
		    const struct value *v, struct attribute *out)
{
	char digits[I128_SIZE];
	bool is_signed;
	uint64_t n;

	if (value_integer(v, d, &n, &is_signed)) {
		set_label(d, n, out);
		return 0;
	}
	buffer_clear(s->scratch);
	return buffer_append(s->scratch, digits, value_enum_decimal(digits, d, v))
		       ? -1
		       : from_scratch(s, ATTRIBUTE_TEXT, out);
}

static int set_bitmask(const struct attribute_source *s, const struct definition *d, uint64_t bits,
		       struct attribute *out)
{
	buffer_clear(s->scratch);
	return value_bits_text(s->scratch, d, bits) ? -1 : from_scratch(s, ATTRIBUTE_TEXT, out);
}

static int set_wide(const struct attribute_source *s, const struct value *v, struct attribute *out)
{
	const uint8_t *p = v->bytes, *end = v->bytes + v->n;

	buffer_clear(s->scratch);
	while (p < end) {
		uint64_t c = value_unit(&p);

		if (!c)
			break;
		if (utf8_put(s->scratch, c > 0x10ffff ? 0xfffd : (uint32_t)c))
			return -1;
	}
	return from_scratch(s, ATTRIBUTE_TEXT, out);
}

static int set_blob(const struct attribute_source *s, const struct value *v, struct attribute *out)
{
	if (!s->blobs) {
		set_text(out, v->bytes, v->n);
		return 0;
	}
	buffer_clear(s->scratch);
	return buffer_printf(s->scratch, "blob(%zu)", v->n) ? -1
							    : from_scratch(s, ATTRIBUTE_TEXT, out);
}

/* A struct that nobody took apart. */
static int set_opaque(const struct attribute_source *s, const struct value *v,
		      struct attribute *out)
{
	static const char string[] = "std::string";

	if (v->type_name_size == sizeof string - 1 &&
	    !memcmp(v->type_name, string, sizeof string - 1)) {
		set_text(out, v->bytes, v->n);
		return 0;
	}
	buffer_clear(s->scratch);
	return buffer_append(s->scratch, v->type_name, v->type_name_size) ||
			       buffer_append(s->scratch, "{...}", 5)
		       ? -1
		       : from_scratch(s, ATTRIBUTE_TEXT, out);
}

/* A value without children. */
static int set_scalar(const struct attribute_source *s, const struct value *v,
		      struct attribute *out)
{
	const struct definition *d =
		v->definition ? dictionary_definition_id(s->dictionary, v->definition) : NULL;

	out->number = v->number;
	switch (v->tag) {
	case VALUE_FALSE:
	case VALUE_TRUE:
		out->kind = ATTRIBUTE_BOOL;
		out->number = v->tag == VALUE_TRUE;
		return 0;
	case VALUE_NEGATIVE: out->kind = ATTRIBUTE_INT; return 0;
	case VALUE_UINT: out->kind = ATTRIBUTE_UINT; return 0;
	case VALUE_FLOAT:
	case VALUE_DOUBLE: set_float(v, out); return 0;
	case VALUE_STRING: set_string(v, out); return 0;
	case VALUE_BLOB: return set_blob(s, v, out);
	case VALUE_ENUM: return set_enum(s, d, v, out);
	case VALUE_BITMASK: return set_bitmask(s, d, v->number, out);
	case VALUE_POINTER: return set_hex(s, v->number, out);
	case VALUE_NUMBER: return set_number(s, v, out);
	case VALUE_OPAQUE: return set_opaque(s, v, out);
	case VALUE_WSTRING: return set_wide(s, v, out);
	}
	out->kind = ATTRIBUTE_NULL;
	return 0;
}

/* --- JSON of what has children --- */

static int put_item(const struct attribute_source *s, const struct attribute *item,
		    struct buffer *json)
{
	return attribute_json(item, s->quote_numbers, s->scratch, json);
}

static int put_scalar(const struct attribute_source *s, const struct value *v, struct buffer *json)
{
	struct attribute item;

	return set_scalar(s, v, &item) || put_item(s, &item, json) ? -1 : 0;
}

static int put_children(const struct attribute_source *s, struct values *v,
			const struct value *value, unsigned nesting, struct buffer *json);

static int put_next(const struct attribute_source *s, struct values *v, unsigned nesting,
		    struct buffer *json)
{
	struct value value;

	/* of matrices and vectors there are many */
	if (v->end - v->at >= 5 && *v->at == VALUE_FLOAT) {
		v->at += 5;
		return json_append_float(json, get_float(v->at - 4));
	}
	if (nesting > VALUE_DEPTH || !values_value(v, &value)) {
		v->bad = true;
		return -1;
	}
	return put_children(s, v, &value, nesting, json);
}

static int put_member(const struct definition *d, uint64_t i, struct buffer *json)
{
	char name[32];

	if (d && i < d->count && d->members[i].name.size)
		return json_append_string(json, d->members[i].name.text, d->members[i].name.size) ||
				       buffer_u8(json, ':')
			       ? -1
			       : 0;
	snprintf(name, sizeof name, "\"%" PRIu64 "\":", i);
	return buffer_append(json, name, strlen(name));
}

static int put_children(const struct attribute_source *s, struct values *v,
			const struct value *value, unsigned nesting, struct buffer *json)
{
	const struct definition *d = NULL;
	bool members = value->tag == VALUE_STRUCT;

	if (value->tag == VALUE_REPR) {
		/* the one for people */
		if (put_next(s, v, nesting + 1, json))
			return -1;
		return values_skip(v) ? 0 : -1;
	}
	if (value->tag != VALUE_ARRAY && !members)
		return put_scalar(s, value, json);
	if (value->definition)
		d = dictionary_definition_id(s->dictionary, value->definition);
	if (buffer_u8(json, members ? '{' : '['))
		return -1;
	for (uint64_t i = 0; i < value->count; i++)
		if ((i && buffer_u8(json, ',')) || (members && put_member(d, i, json)) ||
		    put_next(s, v, nesting + 1, json))
			return -1;
	return buffer_u8(json, members ? '}' : ']');
}

static int set_compound(const struct attribute_source *s, struct values *v,
			const struct value *value, struct attribute *out)
{
	buffer_clear(s->compound);
	if (put_children(s, v, value, 0, s->compound))
		return -1;
	set_json(s, out);
	return 0;
}

int attribute_value_json(const struct attribute_source *s, struct values *v, struct buffer *to)
{
	return put_next(s, v, 0, to);
}

int attribute_value(const struct attribute_source *s, struct values *v, struct attribute *out)
{
	struct value value;
	unsigned second = 0; /* the values for the machine, to be stepped over */

	*out = (struct attribute){0};
	do {
		if (second > VALUE_DEPTH || !values_value(v, &value)) {
			v->bad = true;
			return -1;
		}
	} while (value.tag == VALUE_REPR && ++second);
	if (value.tag == VALUE_ARRAY || value.tag == VALUE_STRUCT ? set_compound(s, v, &value, out)
								  : set_scalar(s, &value, out))
		return -1;
	while (second--)
		if (!values_skip(v))
			return -1;
	return 0;
}

/* --- fields --- */

static int set_element(const struct attribute_source *s, const struct field *f,
		       const struct field_value *v, struct attribute *out)
{
	*out = (struct attribute){.kind = ATTRIBUTE_NULL};
	switch (v->form) {
	case FORM_NONE: return 0;
	case FORM_INT:
	case FORM_UINT:
		if (f->kind == FIELD_HEX)
			return set_hex(s, v->u, out);
		if (f->kind == FIELD_ENUM) {
			set_label(f->definition, v->u, out);
			return 0;
		}
		if (f->kind == FIELD_BITMASK)
			return set_bitmask(s, f->definition, v->u, out);
		out->kind = v->form == FORM_INT ? ATTRIBUTE_INT : ATTRIBUTE_UINT;
		out->number = v->u;
		return 0;
	case FORM_REAL:
		out->kind = ATTRIBUTE_REAL;
		out->real = v->size == 4 ? shortest_widen((float)v->real) : v->real;
		return 0;
	case FORM_TEXT:
		if (f->kind == FIELD_BYTES || f->kind == FIELD_BITMAP)
			return set_bytes_hex(s, v->text, v->size, "", false, out);
		set_text(out, v->text, v->size);
	}
	return 0;
}

/* The first element. true: it is the whole field. */
static bool get_single(const struct event *ev, const struct field *f, struct field_value *v)
{
	field_get(ev, f, 0, v);
	if (f->count <= 1 && f->where < WHERE_DATA_LOC)
		return true;
	return v->form == FORM_TEXT || (field_count(ev, f) <= 1 && !field_is_array(ev, f));
}

static int put_elements(const struct attribute_source *s, const struct event *ev,
			const struct field *f, struct buffer *json)
{
	uint32_t n = field_count(ev, f);
	struct field_value v;
	struct attribute item;

	if (buffer_u8(json, '['))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		field_get(ev, f, i, &v);
		if ((i && buffer_u8(json, ',')) || set_element(s, f, &v, &item) ||
		    put_item(s, &item, json))
			return -1;
	}
	return buffer_u8(json, ']');
}

int attribute_field(const struct attribute_source *s, const struct event *ev, const struct field *f,
		    struct attribute *out)
{
	struct field_value v;

	if (get_single(ev, f, &v))
		return set_element(s, f, &v, out);
	buffer_clear(s->compound);
	if (put_elements(s, ev, f, s->compound))
		return -1;
	*out = (struct attribute){0};
	set_json(s, out);
	return 0;
}

int attribute_field_json(const struct attribute_source *s, const struct event *ev,
			 const struct field *f, struct buffer *to)
{
	struct attribute item;
	struct field_value v;

	if (!get_single(ev, f, &v))
		return put_elements(s, ev, f, to);
	if (v.form == FORM_UINT && f->kind == FIELD_UINT)
		return put_item(s, &(struct attribute){.kind = ATTRIBUTE_UINT, .number = v.u}, to);
	return set_element(s, f, &v, &item) || put_item(s, &item, to) ? -1 : 0;
}
