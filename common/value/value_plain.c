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
	char text[18], *p = text + sizeof text;

	do
		*--p = "0123456789abcdef"[number & 15];
	while (number >>= 4);
	*--p = 'x';
	*--p = '0';
	buffer_clear(s->scratch);
	return buffer_append(s->scratch, p, (size_t)(text + sizeof text - p))
		       ? -1
		       : from_scratch(s, out);
}

/* backwards: the first byte is the last one written. */
static int set_bytes_hex(const struct plain_source *s, const uint8_t *p, size_t n,
			 const char *prefix, bool backwards, struct plain_value *out)
{
	buffer_clear(s->scratch);
	if (buffer_append(s->scratch, prefix, strlen(prefix)) || buffer_reserve(s->scratch, 2 * n))
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint8_t byte = p[backwards ? n - 1 - i : i];

		s->scratch->data[s->scratch->size++] = (uint8_t) "0123456789abcdef"[byte >> 4];
		s->scratch->data[s->scratch->size++] = (uint8_t) "0123456789abcdef"[byte & 15];
	}
	return from_scratch(s, out);
}

static void set_string(const struct value *v, struct plain_value *out)
{
	/* the bytes that uftrace records for a NULL string */
	if (v->n == 4 && !memcmp(v->bytes, "\xff\xff\xff\xff", 4))
		out->kind = PLAIN_NULL;
	else
		set_text(out, v->bytes, v->n);
}

static void set_real(long double number, size_t size, struct plain_value *out)
{
	out->kind = PLAIN_REAL;
	out->size = (uint8_t)size;
	/* the digits of the float: 0.1, not those of the next double */
	out->real = size == 4 ? shortest_widen((float)number) : (double)number;
}

static void set_float(const struct value *v, struct plain_value *out)
{
	long double number;

	if (value_real(v, &number))
		set_real(number, v->size, out);
}

static int set_number(const struct plain_source *s, const struct value *v, struct plain_value *out)
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

int value_plain(const struct plain_source *s, const struct value *v, struct plain_value *out)
{
	const struct definition *d =
		v->definition ? dictionary_definition_id(s->dictionary, v->definition) : NULL;

	*out = (struct plain_value){.kind = PLAIN_NULL, .number = v->number};
	switch (v->tag) {
	case VALUE_FALSE:
	case VALUE_TRUE: out->kind = PLAIN_BOOL; break;
	case VALUE_NEGATIVE: out->kind = PLAIN_INT; break;
	case VALUE_UINT: out->kind = PLAIN_UINT; break;
	case VALUE_FLOAT:
	case VALUE_DOUBLE: set_float(v, out); break;
	case VALUE_STRING: set_string(v, out); break;
	case VALUE_BLOB: return set_blob(s, v, out);
	case VALUE_ENUM: return set_enum(s, d, v, out);
	case VALUE_BITMASK: return set_bits(s, d, v->number, out);
	case VALUE_POINTER: return set_hex(s, v->number, out);
	case VALUE_NUMBER: return set_number(s, v, out);
	case VALUE_OPAQUE: return set_opaque(s, v, out);
	case VALUE_WSTRING: return set_wide(s, v, out);
	}
	return 0;
}

int field_plain(const struct plain_source *s, const struct field *f, const struct field_value *v,
		struct plain_value *out)
{
	*out = (struct plain_value){.kind = PLAIN_NULL};
	switch (v->form) {
	case FORM_NONE: break;
	case FORM_INT:
	case FORM_UINT:
		if (f->kind == FIELD_HEX)
			return set_hex(s, v->u, out);
		if (f->kind == FIELD_ENUM)
			return set_label(s, f->definition, v->u, out);
		if (f->kind == FIELD_BITMASK)
			return set_bits(s, f->definition, v->u, out);
		out->kind = v->form == FORM_INT ? PLAIN_INT : PLAIN_UINT;
		out->number = v->u;
		break;
	case FORM_REAL: set_real(v->real, v->size, out); break;
	case FORM_TEXT:
		if (f->kind == FIELD_BYTES || f->kind == FIELD_BITMAP)
			return set_bytes_hex(s, v->text, v->size, "", false, out);
		set_text(out, v->text, v->size);
	}
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
