#include "common/value/value_plain.h"

#include <math.h>

#include "common/value/shortest.h"
#include "common/value/value_names.h"

static void set_text(struct plain_value *out, const void *text, size_t n)
{
	out->kind = PLAIN_TEXT;
	out->text = text;
	out->number = n;
}

/* Get the text that was appended to the scratch buffer. */
static int from_scratch(const struct plain_source *s, struct plain_value *out)
{
	set_text(out, s->scratch->data, s->scratch->size);
	return 0;
}

static int set_hex(const struct plain_source *s, uint64_t number, struct plain_value *out)
{
	buffer_clear(s->scratch);
	return buffer_hex(s->scratch, number) ? -1 : from_scratch(s, out);
}

static int set_bytes(const struct plain_source *s, const struct value *v, struct plain_value *out)
{
	buffer_clear(s->scratch);
	return buffer_hex_bytes(s->scratch, v->bytes, v->n) ? -1 : from_scratch(s, out);
}

/* Set a number of more than 8 bytes. */
static int set_long_hex(const struct plain_source *s, const struct value *v,
			struct plain_value *out)
{
	uint8_t turned[16];

	for (size_t i = 0; i < v->n; i++)
		turned[i] = v->bytes[v->n - 1 - i];
	buffer_clear(s->scratch);
	return buffer_puts(s->scratch, "0x") || buffer_hex_bytes(s->scratch, turned, v->n)
		       ? -1
		       : from_scratch(s, out);
}

static void set_string(const struct value *v, struct plain_value *out)
{
	if (value_is_null_string(v))
		out->kind = PLAIN_NULL;
	else
		set_text(out, v->bytes, v->n);
}

static void set_real(const struct value *v, struct plain_value *out)
{
	long double number;

	if (!value_real(v, &number))
		return;
	out->kind = PLAIN_REAL;
	out->size = v->size;
	/* the digits of the float: 0.1, not those of the next double */
	out->real = v->size == 4 ? shortest_widen((float)number) : (double)number;
}

static int set_number(const struct plain_source *s, const struct value *v, struct plain_value *out)
{
	uint64_t bits = v->size < 8 ? v->number & ((1ull << 8 * v->size) - 1) : v->number;

	if (v->format == 'f') {
		set_real(v, out);
		return 0;
	}
	if (v->size > 8)
		return set_long_hex(s, v, out);
	switch (v->format) {
	case 'x':
	case 'o':
	case 'p': return set_hex(s, bits, out);
	case 'u': out->kind = PLAIN_UINT; break;
	case 'c':
		buffer_clear(s->scratch);
		return buffer_u8(s->scratch, (uint8_t)bits) ? -1 : from_scratch(s, out);
	default:
		out->kind = PLAIN_INT;
		out->number = (uint64_t)sign_extend(bits, v->size);
		return 0;
	}
	out->number = bits;
	return 0;
}

/* Set the label of an enum's number, the labels that add up to it, or the number. */
static int set_label(const struct plain_source *s, const struct definition *d, uint64_t number,
		     struct plain_value *out)
{
	const struct member *m = definition_member(d, number);

	if (m) {
		set_text(out, m->name.text, m->name.size);
		return 0;
	}
	if (d && d->flags & DEFINITION_SUMS) {
		buffer_clear(s->scratch);
		if (value_sum_text(s->scratch, d, number))
			return -1;
		if (s->scratch->size)
			return from_scratch(s, out);
	}
	out->kind = definition_is_unsigned(d) ? PLAIN_UINT : PLAIN_INT;
	out->number = number;
	return 0;
}

static int set_enum(const struct plain_source *s, const struct definition *d, const struct value *v,
		    struct plain_value *out)
{
	char digits[I128_SIZE];
	bool is_signed;
	uint64_t n;

	if (value_integer(v, d, &n, &is_signed))
		return set_label(s, d, n, out);
	buffer_clear(s->scratch);
	return buffer_append(s->scratch, digits, value_enum_decimal(digits, d, v))
		       ? -1
		       : from_scratch(s, out);
}

static int set_bits(const struct plain_source *s, const struct definition *d, uint64_t bits,
		    struct plain_value *out)
{
	buffer_clear(s->scratch);
	return value_bits_text(s->scratch, d, bits) ? -1 : from_scratch(s, out);
}

static int set_wide(const struct plain_source *s, const struct value *v, struct plain_value *out)
{
	buffer_clear(s->scratch);
	return buffer_reserve(s->scratch, 1) || value_wide_text(s->scratch, v)
		       ? -1
		       : from_scratch(s, out);
}

static int set_blob(const struct plain_source *s, const struct value *v, struct plain_value *out)
{
	if (!s->blobs) {
		set_text(out, v->bytes, v->n);
		return 0;
	}
	buffer_clear(s->scratch);
	return buffer_printf(s->scratch, "blob(%zu)", v->n) ? -1 : from_scratch(s, out);
}

/* Set an undecoded struct. */
static int set_opaque(const struct plain_source *s, const struct value *v, struct plain_value *out)
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
		       : from_scratch(s, out);
}

int value_plain(const struct plain_source *s, const struct value_item *item,
		struct plain_value *out)
{
	const struct value *v = &item->value;

	*out = (struct plain_value){.kind = PLAIN_NULL, .number = v->number};
	switch (v->tag) {
	case VALUE_FALSE:
	case VALUE_TRUE: out->kind = PLAIN_BOOL; break;
	case VALUE_NEGATIVE: out->kind = PLAIN_INT; break;
	case VALUE_UINT: out->kind = PLAIN_UINT; break;
	case VALUE_FLOAT:
	case VALUE_DOUBLE: set_real(v, out); break;
	case VALUE_STRING: set_string(v, out); break;
	case VALUE_BLOB: return set_blob(s, v, out);
	case VALUE_ENUM: return set_enum(s, item->definition, v, out);
	case VALUE_BITMASK: return set_bits(s, item->definition, v->number, out);
	case VALUE_POINTER: return set_hex(s, v->number, out);
	case VALUE_NUMBER: return set_number(s, v, out);
	case VALUE_OPAQUE: return set_opaque(s, v, out);
	case VALUE_WSTRING: return set_wide(s, v, out);
	case VALUE_BYTES: return set_bytes(s, v, out);
	}
	return 0;
}

int plain_append(struct buffer *b, const struct plain_value *p)
{
	const char *text;
	size_t size;

	if (plain_text(p, &text, &size))
		return buffer_append(b, text, size);
	if (p->kind == PLAIN_UINT)
		return buffer_decimal(b, p->number);
	if (p->kind == PLAIN_INT)
		return buffer_signed(b, (int64_t)p->number);
	if (buffer_reserve(b, SHORTEST_SIZE))
		return -1;
	b->size += shortest_double((char *)b->data + b->size, p->real);
	return 0;
}

bool plain_text(const struct plain_value *p, const char **text, size_t *size)
{
	const char *constant = NULL;

	if (p->kind == PLAIN_TEXT) {
		*text = p->text;
		*size = p->number;
		return true;
	}
	if (p->kind == PLAIN_NULL)
		constant = "NULL";
	else if (p->kind == PLAIN_BOOL)
		constant = p->number ? "true" : "false";
	else if (p->kind == PLAIN_REAL && !isfinite(p->real))
		constant = isnan(p->real) ? "nan" : p->real < 0 ? "-inf" : "inf";
	if (!constant)
		return false;
	*text = constant;
	*size = strlen(constant);
	return true;
}
