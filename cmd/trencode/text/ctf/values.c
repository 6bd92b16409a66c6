/* values.c - fields and values of CTF traces as babeltrace2 prints them */
#include "cmd/trencode/text/ctf/ctf.h"

#include <inttypes.h>

#include "common/value/value_names.h"

/* Print a string in quotes, with the escapes of C. */
static void ctf_print_string(struct text *out, const char *p, size_t n)
{
	static const char controls[] = "\a\b\t\n\v\f\r\033", letters[] = "abtnvfre";
	size_t from = 0;

	text_char(out, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];
		const char *known;

		if (c >= ' ' && c != 0x7f && c != '"' && c != '\\' && c != '\'' && c != '?')
			continue;
		text_masked(out, p + from, i - from);
		from = i + 1;
		text_char(out, '\\');
		known = c ? strchr(controls, c) : NULL;
		if (known) {
			text_char(out, letters[known - controls]);
		} else if (c < ' ' || c == 0x7f) {
			text_char(out, 'x');
			text_hex(out, c, 2);
		} else {
			text_char(out, (char)c);
		}
	}
	text_masked(out, p + from, n - from);
	text_char(out, '"');
}

static void ctf_print_hex(struct text *out, uint64_t v)
{
	text_printf(out, "0x%" PRIX64, v);
}

/* Print the beginning of ( "label", "another" : container = 3 ), up to the number. */
static void ctf_print_labels(struct text *out, const struct definition *d, const struct member *m,
			     uint64_t number)
{
	text_puts(out, "( ");
	if (!m)
		text_puts(out, "<unknown>");
	for (const char *lead = ""; m; m = definition_next_member(d, m, number), lead = ", ") {
		text_puts(out, lead);
		ctf_print_string(out, m->name.text, m->name.size);
	}
	text_puts(out, " : container = ");
}

static void ctf_print_enum_field(struct text *out, const struct definition *d,
				 const struct field_value *v)
{
	ctf_print_labels(out, d, definition_member(d, v->u), v->u);
	if (v->form == FORM_INT)
		text_i64(out, v->i);
	else
		text_u64(out, v->u);
	text_puts(out, " )");
}

static void ctf_print_enum(struct text *out, const struct definition *d, const struct value *v)
{
	char digits[I128_SIZE];
	bool is_signed;
	uint64_t n = 0;
	bool fits = value_integer(v, d, &n, &is_signed);

	ctf_print_labels(out, d, fits ? definition_member(d, n) : NULL, n);
	text_put(out, digits, value_enum_decimal(digits, d, v));
	text_puts(out, " )");
}

static void ctf_print_real(struct text *out, double v)
{
	text_printf(out, "%g", v);
}

static void ctf_print_element(struct text *out, const struct field *f, const struct field_value *v)
{
	switch (v->form) {
	case FORM_NONE: text_char(out, '?'); break;
	case FORM_REAL: ctf_print_real(out, v->real); break;
	case FORM_TEXT: ctf_print_string(out, (const char *)v->text, v->size); break;
	case FORM_INT:
		if (f->kind == FIELD_ENUM)
			ctf_print_enum_field(out, f->definition, v);
		else
			text_i64(out, v->i);
		break;
	case FORM_UINT:
		if (f->kind == FIELD_ENUM)
			ctf_print_enum_field(out, f->definition, v);
		else if (f->kind == FIELD_HEX)
			ctf_print_hex(out, v->u);
		else if (!strcmp(f->type_name.text, "octal"))
			text_printf(out, "0%" PRIo64, v->u);
		else
			text_u64(out, v->u);
	}
}

void text_ctf_field(struct text *out, const struct event *ev, const struct field *f)
{
	struct field_value v;
	uint32_t n;

	if (f->count <= 1 || f->kind == FIELD_CHAR) {
		field_get(ev, f, 0, &v);
		ctf_print_element(out, f, &v);
		return;
	}
	n = field_count(ev, f);
	text_char(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		text_puts(out, i ? ", [" : " [");
		text_u64(out, i);
		text_puts(out, "] = ");
		field_get(ev, f, i, &v);
		ctf_print_element(out, f, &v);
	}
	text_puts(out, " ]");
}

static void ctf_print_number(struct text *out, const struct value *v)
{
	switch (v->format) {
	case 'i': text_i64(out, (int64_t)v->number); break;
	case 'x': ctf_print_hex(out, v->number); break;
	case 'o': text_printf(out, "0%" PRIo64, v->number); break;
	default: text_u64(out, v->number);
	}
}

/* Print the next value with the values nested in it. */
static void ctf_print_nested(struct text *out, const struct dictionary *dictionary,
			     struct values *v, int depth)
{
	const struct definition *d;
	long double real;
	struct value value;
	bool variant;

	if (depth > VALUE_DEPTH || !values_value(v, &value)) {
		text_char(out, '?');
		v->bad = true;
		return;
	}
	d = dictionary_definition_id(dictionary, value.definition);
	switch (value.tag) {
	case VALUE_NUMBER: ctf_print_number(out, &value); break;
	case VALUE_ENUM: ctf_print_enum(out, d, &value); break;
	case VALUE_STRING: ctf_print_string(out, (const char *)value.bytes, value.n); break;
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		if (value_real(&value, &real))
			ctf_print_real(out, (double)real);
		break;
	case VALUE_ARRAY:
		text_char(out, '[');
		for (uint64_t i = 0; i < value.count && !v->bad; i++) {
			text_puts(out, i ? ", [" : " [");
			text_u64(out, i);
			text_puts(out, "] = ");
			ctf_print_nested(out, dictionary, v, depth + 1);
		}
		text_puts(out, " ]");
		break;
	case VALUE_STRUCT:
		/* of a variant only the chosen member, without its name */
		variant = d && !strcmp(d->name.text, "variant");
		text_char(out, '{');
		for (uint64_t i = 0; i < value.count && !v->bad; i++) {
			text_puts(out, i ? ", " : " ");
			if (!variant && d && i < d->count) {
				text_masked(out, d->members[i].name.text, d->members[i].name.size);
				text_puts(out, " = ");
			}
			ctf_print_nested(out, dictionary, v, depth + 1);
		}
		text_puts(out, " }");
		break;
	case VALUE_REPR:
		/* the display form */
		ctf_print_nested(out, dictionary, v, depth + 1);
		values_skip(v);
		break;
	default: text_char(out, '?');
	}
}

void text_ctf_value(struct text *out, const struct dictionary *d, struct values *v)
{
	ctf_print_nested(out, d, v, 0);
}
