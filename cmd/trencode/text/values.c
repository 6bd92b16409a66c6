#include "cmd/trencode/text/values.h"

#include <inttypes.h>

#include "common/value/value_names.h"
#include "common/value/value_walk.h"

enum { DECIMAL_LIMIT = 100000 }; /* larger numbers are printed in hexadecimal */

static int put_hex(struct buffer *out, uint64_t v)
{
	return v ? buffer_hex(out, v) : buffer_u8(out, '0');
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
		return buffer_signed(out, sign_extend(bits, size));
	if (wide > 0xffff0000 && wide <= 0xffffffff)
		return buffer_signed(out, (int32_t)wide);
	return put_hex(out, (uint64_t)wide);
}

static int put_escaped(struct buffer *out, char c)
{
	switch (c) {
	case '\0': return buffer_puts(out, "\\0");
	case '\b': return buffer_puts(out, "\\b");
	case '\n': return buffer_puts(out, "\\n");
	}
	return buffer_append(out, &c, 1);
}

/* Append a string up to its NUL, with escapes; strings with UTF-8 unchanged. */
static int put_string(struct buffer *out, const uint8_t *p, size_t n)
{
	const uint8_t *end = memchr(p, 0, n);
	size_t i;

	if (end)
		n = (size_t)(end - p);
	for (i = 0; i < n && !(p[i] & 0x80);)
		i++;
	if (buffer_puts(out, "\""))
		return -1;
	if (i + 1 < n) {
		if (buffer_append(out, p, n))
			return -1;
	} else {
		for (i = 0; i < n; i++)
			if (put_escaped(out, (char)p[i]))
				return -1;
	}
	return buffer_puts(out, "\"");
}

static int put_pointer(struct buffer *out, const struct value_names *names, uint64_t address)
{
	const char *name = NULL;

	if (names->symbols)
		name = text_symbols_find(names->symbols, names->space, names->time, address, true,
					 NULL);
	if (name)
		return buffer_puts(out, "&") || buffer_puts(out, name) ? -1 : 0;
	return put_hex(out, address);
}

static int put_enum_number(struct buffer *out, int64_t v)
{
	return v > DECIMAL_LIMIT || v < -DECIMAL_LIMIT ? put_hex(out, (uint64_t)v)
						       : buffer_signed(out, v);
}

/* Append a label, the labels that add up to the number, or the number. */
static int put_enum(struct buffer *out, const struct definition *d, int64_t v)
{
	const struct member *m = definition_member(d, (uint64_t)v);
	size_t before = out->size;

	if (m)
		return buffer_puts(out, m->name.text);
	if (value_sum_text(out, d, (uint64_t)v))
		return -1;
	return out->size > before ? 0 : put_enum_number(out, v);
}

static int put_real(struct buffer *out, const struct value *v)
{
	long double number;

	if (!value_real(v, &number))
		return buffer_puts(out, "?");
	return buffer_printf(out, "%#Lf", number);
}

static int put_number(struct buffer *out, const struct value_names *names, const struct value *v)
{
	uint64_t bits = truncate_bits(v->number, v->size);

	if (v->format == 'f')
		return put_real(out, v);
	if (v->size > 8) {
		if (buffer_puts(out, "0x"))
			return -1;
		for (unsigned i = v->size; i-- > 0;)
			if (buffer_printf(out, "%02x", v->bytes[i]))
				return -1;
		return 0;
	}
	switch (v->format) {
	case 'd': return put_auto(out, bits, v->size);
	case 'u': return bits > DECIMAL_LIMIT ? put_hex(out, bits) : buffer_decimal(out, bits);
	case 'x': return put_hex(out, bits);
	case 'o': return buffer_printf(out, "%#" PRIo64, bits);
	case 'p': return put_pointer(out, names, bits);
	case 'c':
		return buffer_puts(out, "'") || put_escaped(out, (char)bits) ||
				       buffer_puts(out, "'")
			       ? -1
			       : 0;
	case 'e': return buffer_signed(out, (int64_t)v->number);
	}
	return buffer_signed(out, sign_extend(bits, v->size));
}

/* Append a std::string as a literal of C++. */
static int put_std_string(struct buffer *out, const struct value *v)
{
	return put_string(out, v->bytes, v->n) || buffer_puts(out, "s") ? -1 : 0;
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
	return buffer_puts(out, v->n ? "{...}" : "{}");
}

static int replay_scalar(void *to, const struct value_item *item)
{
	const struct value_names *names = to;
	const struct value *v = &item->value;
	struct buffer *out = names->out;
	bool is_signed;
	uint64_t n;

	switch (v->tag) {
	case VALUE_NULL: return buffer_puts(out, "NULL");
	case VALUE_FALSE: return buffer_puts(out, "false");
	case VALUE_TRUE: return buffer_puts(out, "true");
	case VALUE_NEGATIVE: return buffer_signed(out, (int64_t)v->number);
	case VALUE_UINT: return buffer_decimal(out, v->number);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return put_real(out, v);
	case VALUE_STRING:
		return value_is_null_string(v) ? buffer_puts(out, "NULL")
					       : put_string(out, v->bytes, v->n);
	case VALUE_BLOB: return put_std_string(out, v);
	case VALUE_ENUM:
		value_integer(v, item->definition, &n, &is_signed);
		return put_enum(out, item->definition, (int64_t)n);
	case VALUE_BITMASK: return value_bits_text(out, item->definition, v->number);
	case VALUE_POINTER: return put_pointer(out, names, v->number);
	case VALUE_NUMBER: return put_number(out, names, v);
	case VALUE_OPAQUE: return put_opaque(out, v);
	}
	return buffer_puts(out, "?");
}

/* uftrace has no values with children. */
static int replay_begin(void *to, const struct value_parent *v, const struct values *rest)
{
	(void)rest;
	return buffer_puts(((const struct value_names *)to)->out, v->count ? "{...}" : "{}")
		       ? -1
		       : VALUE_SKIP;
}

static const struct value_style replay_style = {.scalar = replay_scalar, .begin = replay_begin};

int value_text(void *names, struct values *v)
{
	return value_walk(&replay_style, names, ((const struct value_names *)names)->dictionary, v);
}
