#include "cmd/trencode/text/values.h"

#include <stdlib.h>
#include <string.h>

#include "common/value/json.h"
#include "common/value/value_names.h"

enum { DECIMAL_LIMIT = 100000 }; /* larger numbers are printed in hexadecimal */

static int put_text(struct buffer *out, const char *s)
{
	return buffer_append(out, s, strlen(s));
}

static int put_base(struct buffer *out, const char *prefix, uint64_t v, unsigned base)
{
	char digits[24], *p = digits + sizeof digits;

	do {
		*--p = "0123456789abcdef"[v % base];
	} while (v /= base);
	return put_text(out, prefix) || buffer_append(out, p, (size_t)(digits + sizeof digits - p))
		       ? -1
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

static uint64_t truncate_bits(uint64_t v, unsigned size)
{
	return size < 8 ? v & ((1ull << 8 * size) - 1) : v;
}

/* Append a number whose signedness is unknown: small numbers in decimal, negative ones too if they
 * have the size of an int or a long, others in hexadecimal. */
static int put_auto(struct buffer *out, uint64_t bits, unsigned size)
{
	int64_t wide = size == 8 ? (int64_t)bits : (int64_t)truncate_bits(bits, size);

	if (wide >= -DECIMAL_LIMIT && wide <= DECIMAL_LIMIT)
		return put_signed(out, sign_extend(bits, size));
	if (wide > 0xffff0000 && wide <= 0xffffffff)
		return put_signed(out, (int32_t)wide);
	return put_hex(out, (uint64_t)wide);
}

static int put_escaped(struct buffer *out, char c)
{
	switch (c) {
	case '\0': return put_text(out, "\\0");
	case '\b': return put_text(out, "\\b");
	case '\n': return put_text(out, "\\n");
	}
	return buffer_append(out, &c, 1);
}

/* Append a string up to its NUL, with escapes; strings with UTF-8 unchanged. */
static int put_string(struct buffer *out, const uint8_t *p, size_t n)
{
	const uint8_t *end = memchr(p, 0, n);
	size_t i;

	if (n == 4 && !memcmp(p, "\xff\xff\xff\xff", 4))
		return put_text(out, "NULL");
	if (end)
		n = (size_t)(end - p);
	for (i = 0; i < n && !(p[i] & 0x80);)
		i++;
	if (put_text(out, "\""))
		return -1;
	if (i + 1 < n) {
		if (buffer_append(out, p, n))
			return -1;
	} else {
		for (i = 0; i < n; i++)
			if (put_escaped(out, (char)p[i]))
				return -1;
	}
	return put_text(out, "\"");
}

static int put_pointer(struct buffer *out, const struct value_names *names, uint64_t address)
{
	const char *name = NULL;

	if (names->symbols)
		name = text_symbols_find(names->symbols, names->space, names->time, address, true,
					 NULL);
	if (name)
		return put_text(out, "&") || put_text(out, name) ? -1 : 0;
	return put_hex(out, address);
}

static int put_enum_number(struct buffer *out, int64_t v)
{
	return v > DECIMAL_LIMIT || v < -DECIMAL_LIMIT ? put_hex(out, (uint64_t)v)
						       : put_signed(out, v);
}

/* Append a label, the labels that add up to the number, or the number. */
static int put_sum(struct buffer *out, const struct definition *d, int64_t v)
{
	const struct member *m = definition_member(d, (uint64_t)v);
	size_t before = out->size;

	if (m)
		return put_text(out, m->name.text);
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
	return m ? put_text(out, m->name.text)
		 : buffer_append(out, digits, value_enum_decimal(digits, d, v));
}

static int put_real(struct buffer *out, const struct value *v)
{
	long double number;

	if (!value_real(v, &number))
		return put_text(out, "?");
	return buffer_printf(out, "%#Lf", number);
}

static int put_number(struct buffer *out, const struct value_names *names, const struct value *v)
{
	uint64_t bits = truncate_bits(v->number, v->size);

	if (v->format == 'f')
		return put_real(out, v);
	if (v->size > 8) {
		if (put_text(out, "0x"))
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
	case 'c':
		return put_text(out, "'") || put_escaped(out, (char)bits) || put_text(out, "'") ? -1
												: 0;
	case 'e': return put_signed(out, (int64_t)v->number);
	}
	return put_signed(out, sign_extend(bits, v->size));
}

/* Append a std::string as a literal of C++. */
static int put_std_string(struct buffer *out, const struct value *v)
{
	return put_string(out, v->bytes, v->n) || put_text(out, "s") ? -1 : 0;
}

static bool is_named(const struct value *v, const char *name)
{
	return v->type_name_size == strlen(name) && !memcmp(v->type_name, name, v->type_name_size);
}

/* Append a struct whose members were not recorded. */
static int put_opaque(struct buffer *out, const struct value *v)
{
	if (is_named(v, "std::string"))
		return put_std_string(out, v);
	/* gcc's name for a lambda is of no use */
	if (!is_named(v, "<lambda") && buffer_append(out, v->type_name, v->type_name_size))
		return -1;
	return put_text(out, v->n ? "{...}" : "{}");
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
	case VALUE_NULL: return put_text(out, "NULL");
	case VALUE_FALSE: return put_text(out, "false");
	case VALUE_TRUE: return put_text(out, "true");
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
	case VALUE_STRUCT: return put_text(out, v->count ? "{...}" : "{}");
	case VALUE_POINTER: return put_pointer(out, names, v->number);
	case VALUE_NUMBER: return put_number(out, names, v);
	case VALUE_OPAQUE: return put_opaque(out, v);
	}
	return put_text(out, "?");
}

/* Append the next value; of a value with a raw and a display form, the display form. */
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

/* Find repeated arguments, whose last value is the valid one. *last: the end of the last value of
 * each argument, by number; NULL if no argument is repeated. */
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
	bad = put_text(out, "(");
	values_begin(&v, tail, n);
	while (!bad && values_what(&v, &what, &index)) {
		size_t before = out->size;

		if (what != DETAIL_ARGUMENT) {
			bad = !values_skip(&v);
			continue;
		}
		bad = (any && put_text(out, ", ")) || put_next(out, names, &v);
		if (last && last[index] != v.at)
			out->size = before;
		else
			any = true;
	}
	free(last);
	return bad || put_text(out, ")") ? -1 : 0;
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
			return put_text(out, " = ") || put_next(out, names, &v) ? -1 : 0;
		if (!values_skip(&v))
			return -1;
	}
	return 0;
}
