/*
 * value_text.c - values as text
 */
#include "common/value/value_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/util/text.h"
#include "common/value/scalar.h"

size_t value_enum_decimal(char out[static I128_SIZE], const struct definition *d,
			  const struct value *v)
{
	bool is_unsigned = definition_is_unsigned(d);
	uint128 number = 0;

	if (v->size <= 8) {
		number = is_unsigned ? v->number : (uint128)(int128)sign_extend(v->number, v->size);
	} else {
		for (unsigned i = v->size; i-- > 0;)
			number = number << 8 | v->bytes[i];
		if (!is_unsigned && v->size < 16 && v->bytes[v->size - 1] & 0x80)
			number |= UINT128_MAX << 8 * v->size;
	}
	return is_unsigned ? u128_decimal(out, number) : i128_decimal(out, (int128)number);
}

struct text_ref value_enum_text(char room[static I128_SIZE], const struct definition *d,
				const struct value *v)
{
	const struct member *m = NULL;
	bool is_signed;
	uint64_t n;

	if (value_integer(v, d, &n, &is_signed))
		m = definition_member(d, n);
	return m ? m->name
		 : (struct text_ref){.text = room, .size = value_enum_decimal(room, d, v)};
}

int value_sum_text(struct buffer *b, const struct definition *d, uint64_t number)
{
	int64_t rest = (int64_t)number;
	bool any = false;

	for (uint32_t i = 0; d && i < d->count && rest; i++) {
		const struct member *m = &d->members[i];

		if ((int64_t)m->low > rest)
			continue;
		rest = (int64_t)((uint64_t)rest - m->low);
		if ((any && buffer_append(b, "|", 1)) ||
		    buffer_append(b, m->name.text, m->name.size))
			return -1;
		any = true;
	}
	return any && rest && buffer_printf(b, "+0x%" PRIx64, (uint64_t)rest) ? -1 : 0;
}

int value_bits_text(struct buffer *b, const struct definition *d, uint64_t bits)
{
	uint64_t rest = bits;
	bool any = false;

	for (uint32_t i = 0; d && i < d->count && !(any && !rest); i++) {
		const struct member *m = &d->members[i];

		if (m->low ? (rest & m->low) != m->low : rest != 0)
			continue;
		if ((any && buffer_append(b, "|", 1)) ||
		    buffer_append(b, m->name.text, m->name.size))
			return -1;
		rest &= ~m->low;
		any = true;
	}
	if (any && !rest)
		return 0;
	return buffer_printf(b, "%s0x%" PRIx64, any ? "|" : "", rest);
}

/* Append a WSTRING as UTF-8, up to a unit 0; an invalid character becomes U+FFFD. -1: out of
 * memory. */
static int value_wide_text(struct buffer *b, const struct value *v)
{
	const uint8_t *at = v->bytes, *end = at + v->n;

	while (at < end) {
		uint64_t c = value_unit(&at);

		if (!c)
			break;
		if (utf8_put(b, c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0xfffd : (uint32_t)c))
			return -1;
	}
	return 0;
}

static int value_text_put_frame(struct buffer *b, const struct definition *d)
{
	const struct text_ref *module = NULL, *function = NULL;
	uint64_t offset = 0;

	/* the name of a text is followed by the text */
	for (uint32_t i = 0; d && i < d->count; i++) {
		const char *key = d->members[i].name.text;
		const struct text_ref *text =
			i + 1 < d->count ? &d->members[i + 1].name : &d->members[i].name;

		if (!strcmp(key, "offset"))
			offset = d->members[i].low;
		else if (!strcmp(key, "line"))
			continue;
		else if (!strcmp(key, "function"))
			function = text, i++;
		else if (!strcmp(key, "module"))
			module = text, i++;
		else
			i++;
	}
	if (function)
		return buffer_append(b, function->text, function->size);
	return buffer_append(b, module ? module->text : "?", module ? module->size : 1) ||
			       buffer_printf(b, "+0x%" PRIx64, offset)
		       ? -1
		       : 0;
}

int value_backtrace_text(struct buffer *b, const struct dictionary *d, const struct values *v,
			 uint64_t count)
{
	uint32_t *frames = calloc(count + 1, sizeof *frames);
	struct values at = *v;
	struct value frame;
	uint64_t n = 0;
	int bad = !frames;

	for (; !bad && n < count && values_value(&at, &frame); n++)
		frames[n] = frame.definition;
	while (!bad && n--)
		bad = value_text_put_frame(b, dictionary_definition_id(d, frames[n])) ||
		      (n && buffer_u8(b, ';'));
	free(frames);
	return bad ? -1 : 0;
}

/* --- value plain --- */

static void value_text_set_text(struct plain_value *out, const void *text, size_t n)
{
	out->kind = PLAIN_TEXT;
	out->text = text;
	out->number = n;
}

/* Get the text that was appended to the scratch buffer. */
static int from_scratch(const struct plain_source *s, struct plain_value *out)
{
	value_text_set_text(out, s->scratch->data, s->scratch->size);
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
		value_text_set_text(out, v->bytes, v->n);
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

static int value_text_set_number(const struct plain_source *s, const struct value *v,
				 struct plain_value *out)
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
		value_text_set_text(out, m->name.text, m->name.size);
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
		value_text_set_text(out, v->bytes, v->n);
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
		value_text_set_text(out, v->bytes, v->n);
		return 0;
	}
	buffer_clear(s->scratch);
	return buffer_append(s->scratch, v->type_name, v->type_name_size) ||
			       buffer_append(s->scratch, "{...}", 5)
		       ? -1
		       : from_scratch(s, out);
}

bool value_is_named(const struct value_item *item)
{
	const struct definition *d = item->definition;
	bool is_signed;
	uint64_t n;

	if (!d || !value_integer(&item->value, d, &n, &is_signed))
		return false;
	if (d->kind == DEFINITION_ENUM)
		return definition_member(d, n) != NULL;
	for (uint32_t i = 0; d->kind == DEFINITION_BITMASK && i < d->count; i++)
		if (d->members[i].low ? (n & d->members[i].low) == d->members[i].low : !n)
			return true;
	return false;
}

/* Get the tag of a number, that of a name if it has one. */
static uint8_t named_tag(const struct value_item *item)
{
	uint8_t tag = item->value.tag;

	if (!item->definition || tag == VALUE_ENUM || tag == VALUE_BITMASK || !value_is_named(item))
		return tag;
	return item->definition->kind == DEFINITION_ENUM ? VALUE_ENUM : VALUE_BITMASK;
}

int value_plain(const struct plain_source *s, const struct value_item *item,
		struct plain_value *out)
{
	const struct value *v = &item->value;

	*out = (struct plain_value){.kind = PLAIN_NULL, .number = v->number};
	switch (s->names ? named_tag(item) : v->tag) {
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
	case VALUE_NUMBER: return value_text_set_number(s, v, out);
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

/* --- value walk --- */

/* Get the tag of a whole number. */
static uint8_t field_number_tag(const struct field *f, enum field_form form)
{
	switch (f->kind) {
	case FIELD_ENUM: return VALUE_ENUM;
	case FIELD_BITMASK: return VALUE_BITMASK;
	case FIELD_HEX: return VALUE_POINTER;
	}
	return form == FORM_INT ? VALUE_NUMBER : VALUE_UINT;
}

void field_item(const struct field *f, const struct field_value *v, struct value_item *item)
{
	struct value *value = &item->value;
	float single;

	*item = (struct value_item){.value = {.tag = VALUE_MISSING}, .definition = f->definition};
	switch (v->form) {
	case FORM_NONE: return;
	case FORM_INT:
	case FORM_UINT:
		value->tag = field_number_tag(f, v->form);
		value->format = 'i';
		value->number = v->u;
		value->size = 8;
		return;
	case FORM_REAL:
		single = (float)v->real;
		value->tag = v->size == 4 ? VALUE_FLOAT : VALUE_DOUBLE;
		value->size = (uint8_t)v->size;
		value->bytes = item->bytes;
		value->n = v->size;
		if (v->size == 4)
			put_float(item->bytes, single);
		else
			put_double(item->bytes, v->real);
		return;
	case FORM_TEXT:
		value->tag = f->kind == FIELD_BYTES || f->kind == FIELD_BITMAP ? VALUE_BYTES
									       : VALUE_STRING;
		value->format = 's'; /* no NULL string of uftrace */
		value->bytes = v->text;
		value->n = v->size;
	}
}

void field_named_item(const struct event *e, const struct field *f, const char *name,
		      struct value_item *item)
{
	struct field_part part = field_part(f, name);
	struct field_value v;

	field_get(e, f, part.index, &v);
	field_item(f, &v, item);
	if (!part.name)
		return;
	if (value_is_named(item))
		item->value.tag = named_tag(item);
	else
		*item = (struct value_item){.value = {.tag = VALUE_MISSING}};
}

int stack_frames(const struct dictionary *d, uint32_t stack, struct buffer *locations)
{
	uint8_t *data;
	size_t n;

	stack = dictionary_stack_limited(d, stack);
	for (; stack; stack = dictionary_stack_parent(d, stack))
		if (buffer_u32(locations, dictionary_stack_location(d, stack)))
			return -1;
	data = locations->data;
	n = locations->size / 4;
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t inner = get_u32(data + 4 * i);

		put_u32(data + 4 * i, get_u32(data + 4 * (n - 1 - i)));
		put_u32(data + 4 * (n - 1 - i), inner);
	}
	return 0;
}

/* --- value text --- */

static int text_quoted(struct buffer *b, const char *p, size_t n, size_t most)
{
	static const char letters[] = "abtnvfr";
	const char *cut = n > most ? "\"..." : "\"", *end = p + (n < most ? n : most);
	int bad = buffer_u8(b, '"');

	while (p < end && !bad) {
		unsigned char c = (unsigned char)*p;
		size_t plain = 0, one;

		while (p + plain < end && (unsigned char)p[plain] >= 0x20 && p[plain] != 0x7f &&
		       p[plain] != '"' && p[plain] != '\\' &&
		       (one = utf8_length(p + plain, (size_t)(end - p) - plain)))
			plain += one;
		if (plain)
			bad = buffer_append(b, p, plain);
		else if (c == '"' || c == '\\')
			bad = buffer_printf(b, "\\%c", c);
		else
			bad = c >= 7 && c <= 13 ? buffer_printf(b, "\\%c", letters[c - 7])
						: buffer_printf(b, "\\x%02x", c);
		p += plain ? plain : 1;
	}
	return bad || buffer_puts(b, cut) ? -1 : 0;
}

static bool value_text_is_string(const struct plain_source *s, uint8_t tag)
{
	return tag == VALUE_STRING || tag == VALUE_WSTRING || (tag == VALUE_BLOB && !s->blobs);
}

static int text_scalar(void *to, const struct value_item *v)
{
	struct value_text *t = to;
	struct plain_value plain;
	uint8_t tag = v->value.tag;

	if (tag == VALUE_MISSING)
		return buffer_u8(t->out, '?');
	if (tag == VALUE_NUMBER && v->value.format == 'c' && v->value.size <= 8)
		return buffer_printf(t->out,
				     isprint((uint8_t)v->value.number) ? "'%c'" : "'\\x%02x'",
				     (uint8_t)v->value.number);
	if (tag == VALUE_BLOB && t->blobs)
		++*t->blobs;
	if (value_plain(&t->plain, v, &plain))
		return -1;
	return plain.kind == PLAIN_TEXT && value_text_is_string(&t->plain, tag)
		       ? text_quoted(t->out, plain.text, plain.number, t->bytes)
		       : plain_append(t->out, &plain);
}

static int value_text_begin(void *to, const struct value_parent *v, const struct values *rest)
{
	struct value_text *t = to;
	bool array = v->tag == VALUE_ARRAY;

	(void)rest;
	if (t->depth) {
		t->depth--;
		return buffer_u8(t->out, array ? '[' : '{');
	}
	if (v->count)
		return buffer_puts(t->out, array ? "[...]" : "{...}") ? -1 : VALUE_SKIP;
	return buffer_puts(t->out, array ? "[]" : "{}") ? -1 : VALUE_SKIP;
}

static int text_child(void *to, const struct value_parent *v, const struct values *rest)
{
	const struct text_ref *name = value_child_name(v);
	struct value_text *t = to;

	(void)rest;
	if (v->index >= t->elements)
		return v->index == t->elements && buffer_puts(t->out, "...") ? -1 : VALUE_SKIP;
	if (t->out->size > t->end)
		t->out->size = t->end;
	if (v->index && buffer_puts(t->out, ", "))
		return -1;
	return name && name->size &&
			       (buffer_append(t->out, name->text, name->size) ||
				buffer_puts(t->out, " = "))
		       ? -1
		       : 0;
}

static int value_text_end(void *to, const struct value_parent *v)
{
	struct value_text *t = to;

	t->depth++;
	return buffer_u8(t->out, v->tag == VALUE_ARRAY ? ']' : '}');
}

static const struct value_style text_style = {.scalar = text_scalar,
					      .begin = value_text_begin,
					      .child = text_child,
					      .end = value_text_end};

int value_text_value(struct value_text *t, struct values *v)
{
	return value_walk(&text_style, t, t->plain.dictionary, v);
}

int value_text_field(struct value_text *t, const struct event *ev, const struct field *f)
{
	if (field_is_stack(f))
		return stack_walk(&text_style, t, t->plain.dictionary,
				  field_stack(t->plain.dictionary, ev, f));
	return field_walk(&text_style, t, ev, f);
}
