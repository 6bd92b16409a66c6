#include "cmd/trencode/text/values.h"

#include <stdlib.h>
#include <string.h>

#include "common/value/json.h"
#include "common/value/value_names.h"

enum { DECIMAL_LIMIT = 100000 }; /* larger numbers are printed in hexadecimal */

static int put(struct buffer *out, const char *s)
{
	return buffer_append(out, s, strlen(s));
}

static int put_base(struct buffer *out, const char *prefix, uint64_t v, unsigned base)
{
	char digits[24], *p = digits + sizeof digits;

	do {
		*--p = "0123456789abcdef"[v % base];
	} while (v /= base);
	return put(out, prefix) || buffer_append(out, p, (size_t)(digits + sizeof digits - p)) ? -1
											       : 0;
}

static int put_unsigned(struct buffer *out, uint64_t v)
{
	return put_base(out, "", v, 10);
}

static int put_signed(struct buffer *out, int64_t v)
{
	return v < 0 ? put_base(out, "-", -(uint64_t)v, 10) : put_unsigned(out, (uint64_t)v);
}

static int put_hex(struct buffer *out, uint64_t v)
{
	return put_base(out, v ? "0x" : "", v, 16);
}

static uint64_t cut(uint64_t v, unsigned size)
{
	return size < 8 ? v & ((1ull << 8 * size) - 1) : v;
}

/* A number without a sign of its own: small ones as they are, negative ones if they are an int or a
 * long, the others in hexadecimal. */
static int put_auto(struct buffer *out, uint64_t bits, unsigned size)
{
	int64_t wide = size == 8 ? (int64_t)bits : (int64_t)cut(bits, size);

	if (wide >= -DECIMAL_LIMIT && wide <= DECIMAL_LIMIT)
		return put_signed(out, sign_extend(bits, size));
	if (wide > 0xffff0000 && wide <= 0xffffffff)
		return put_signed(out, (int32_t)wide);
	return put_hex(out, (uint64_t)wide);
}

static int put_escaped(struct buffer *out, char c)
{
	switch (c) {
	case '\0': return put(out, "\\0");
	case '\b': return put(out, "\\b");
	case '\n': return put(out, "\\n");
	}
	return buffer_append(out, &c, 1);
}

/* Up to a NUL, with escapes, but UTF-8 as it stands. */
static int put_string(struct buffer *out, const uint8_t *p, size_t n)
{
	const uint8_t *end = memchr(p, 0, n);
	size_t i;

	if (n == 4 && !memcmp(p, "\xff\xff\xff\xff", 4))
		return put(out, "NULL");
	if (end)
		n = (size_t)(end - p);
	for (i = 0; i < n && !(p[i] & 0x80);)
		i++;
	if (put(out, "\""))
		return -1;
	if (i + 1 < n) {
		if (buffer_append(out, p, n))
			return -1;
	} else {
		for (i = 0; i < n; i++)
			if (put_escaped(out, (char)p[i]))
				return -1;
	}
	return put(out, "\"");
}

static int put_pointer(struct buffer *out, const struct value_names *names, uint64_t address)
{
	const char *name = NULL;

	if (names->symbols)
		name = text_symbols_find(names->symbols, names->space, names->time, address, true,
					 NULL);
	if (name)
		return put(out, "&") || put(out, name) ? -1 : 0;
	return put_hex(out, address);
}

static int put_enum_number(struct buffer *out, int64_t v)
{
	return v > DECIMAL_LIMIT || v < -DECIMAL_LIMIT ? put_hex(out, (uint64_t)v)
						       : put_signed(out, v);
}

/* A label, the labels that add up to the number, or the number. */
static int put_sum(struct buffer *out, const struct definition *d, int64_t v)
{
	const struct member *m = definition_member(d, (uint64_t)v);
	size_t before = out->size;

	if (m)
		return put(out, m->name.text);
	if (value_sum_text(out, d, (uint64_t)v))
		return -1;
	return out->size > before ? 0 : put_enum_number(out, v);
}

static int put_enum(struct buffer *out, const struct value_names *names, const struct definition *d,
		    const struct value *v)
{
	const struct member *m = NULL;
	char digits[I128_SIZE];
	bool is_signed, fits;
	uint64_t n;

	fits = value_integer(v, d, &n, &is_signed);
	if (names->sums)
		return put_sum(out, d, (int64_t)n);
	if (fits)
		m = definition_member(d, n);
	return m ? put(out, m->name.text)
		 : buffer_append(out, digits, value_enum_decimal(digits, d, v));
}

static int put_real(struct buffer *out, const struct value *v)
{
	long double number;

	if (!value_real(v, &number))
		return put(out, "?");
	return buffer_printf(out, "%#Lf", number);
}

static int put_number(struct buffer *out, const struct value_names *names, const struct value *v)
{
	uint64_t bits = cut(v->number, v->size);

	if (v->format == 'f')
		return put_real(out, v);
	if (v->size > 8) {
		if (put(out, "0x"))
			return -1;
		for (unsigned i = v->size; i-- > 0;)
			if (buffer_printf(out, "%02x", v->bytes[i]))
				return -1;
		return 0;
	}
	switch (v->format) {
	case 'd': return put_auto(out, bits, v->size);
	case 'u': return bits > DECIMAL_LIMIT ? put_hex(out, bits) : put_unsigned(out, bits);
	case 'x': return put_hex(out, bits);
	case 'o': return put_base(out, bits ? "0" : "", bits, 8);
	case 'p': return put_pointer(out, names, bits);
	case 'c': return put(out, "'") || put_escaped(out, (char)bits) || put(out, "'") ? -1 : 0;
	case 'e': return put_signed(out, (int64_t)v->number);
	}
	return put_signed(out, sign_extend(bits, v->size));
}

/* A string of C++, as a literal of one is written. */
static int put_std_string(struct buffer *out, const struct value *v)
{
	return put_string(out, v->bytes, v->n) || put(out, "s") ? -1 : 0;
}

static bool is_named(const struct value *v, const char *name)
{
	return v->type_name_size == strlen(name) && !memcmp(v->type_name, name, v->type_name_size);
}

/* A struct that nobody took apart. */
static int put_opaque(struct buffer *out, const struct value *v)
{
	if (is_named(v, "std::string"))
		return put_std_string(out, v);
	/* gcc's name for a lambda says nothing */
	if (!is_named(v, "<lambda") && buffer_append(out, v->type_name, v->type_name_size))
		return -1;
	return put(out, v->n ? "{...}" : "{}");
}

static int put_wide(struct buffer *out, const struct value *v)
{
	struct buffer text = {0};
	int bad = buffer_reserve(&text, 1) || value_wide_text(&text, v) ||
		  json_append_string(out, (const char *)text.data, text.size);

	buffer_free(&text);
	return bad;
}

int value_text(struct buffer *out, const struct value_names *names, const struct value *v)
{
	const struct definition *d = NULL;

	if (v->definition)
		d = dictionary_definition_id(names->dictionary, v->definition);
	switch (v->tag) {
	case VALUE_NULL: return put(out, "NULL");
	case VALUE_FALSE: return put(out, "false");
	case VALUE_TRUE: return put(out, "true");
	case VALUE_NEGATIVE: return put_signed(out, (int64_t)v->number);
	case VALUE_UINT: return put_unsigned(out, v->number);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return put_real(out, v);
	case VALUE_STRING:
		return names->sums ? put_string(out, v->bytes, v->n)
				   : json_append_string(out, (const char *)v->bytes, v->n);
	case VALUE_WSTRING: return put_wide(out, v);
	case VALUE_BLOB:
		return names->symbols ? put_std_string(out, v)
				      : buffer_printf(out, "blob(%zu)", v->n);
	case VALUE_ENUM: return put_enum(out, names, d, v);
	case VALUE_BITMASK: return value_bits_text(out, d, v->number);
	case VALUE_ARRAY:
	case VALUE_STRUCT: return put(out, v->count ? "{...}" : "{}");
	case VALUE_POINTER: return put_pointer(out, names, v->number);
	case VALUE_NUMBER: return put_number(out, names, v);
	case VALUE_OPAQUE: return put_opaque(out, v);
	}
	return put(out, "?");
}

/* The next value: of one in two forms that for people. */
static int put_next(struct buffer *out, const struct value_names *names, struct values *v)
{
	struct values at = *v;
	struct value value;

	do
		if (!values_value(&at, &value))
			return -1;
	while (value.tag == VALUE_REPR);
	return value_text(out, names, &value) || !values_skip(v) ? -1 : 0;
}

/* Of an argument that is given more than once the last is the value: *last by number, up to the
 * highest one, where there is such an argument; else NULL. */
static int find_repeated(const uint8_t *tail, size_t n, const uint8_t ***last)
{
	uint8_t seen[VALUE_INDEX_LIMIT / 8 + 1];
	struct values v;
	struct detail d;
	uint64_t most = 0, cleared = 0;
	bool repeated = false;

	*last = NULL;
	for (values_begin(&v, tail, n); values_detail(&v, &d);) {
		if (d.what != DETAIL_ARGUMENT)
			continue;
		for (; cleared <= d.index / 8; cleared++)
			seen[cleared] = 0;
		repeated |= seen[d.index / 8] >> d.index % 8 & 1;
		seen[d.index / 8] |= (uint8_t)(1 << d.index % 8);
		most = d.index > most ? d.index : most;
	}
	if (!repeated)
		return 0;
	*last = calloc(most + 1, sizeof **last);
	if (!*last)
		return -1;
	for (values_begin(&v, tail, n); values_detail(&v, &d);)
		if (d.what == DETAIL_ARGUMENT)
			(*last)[d.index] = v.at;
	return 0;
}

int value_text_arguments(struct buffer *out, const struct value_names *names, const uint8_t *tail,
			 size_t n)
{
	const uint8_t **last;
	struct values v;
	uint64_t index;
	uint8_t what;
	bool any = false;
	int bad;

	if (find_repeated(tail, n, &last))
		return -1;
	bad = put(out, "(");
	values_begin(&v, tail, n);
	while (!bad && values_what(&v, &what, &index)) {
		size_t before = out->size;

		if (what != DETAIL_ARGUMENT) {
			bad = !values_skip(&v);
			continue;
		}
		bad = (any && put(out, ", ")) || put_next(out, names, &v);
		if (last && last[index] != v.at)
			out->size = before;
		else
			any = true;
	}
	free(last);
	return bad || put(out, ")") ? -1 : 0;
}

int value_text_return(struct buffer *out, const struct value_names *names, const uint8_t *tail,
		      size_t n)
{
	struct values v;
	uint64_t index;
	uint8_t what;

	values_begin(&v, tail, n);
	while (values_what(&v, &what, &index)) {
		if (what == DETAIL_RETURN)
			return put(out, " = ") || put_next(out, names, &v) ? -1 : 0;
		if (!values_skip(&v))
			return -1;
	}
	return 0;
}
