/* values.c - fields and values of CTF traces as babeltrace2 prints them */
#include "cmd/trencode/text/ctf/ctf.h"

#include <inttypes.h>

#include "common/util/digits.h"
#include "common/value/value_names.h"

/* Return the number of characters up to the first that is escaped. */
static size_t ctf_plain_run(const char *p, size_t n)
{
	static const bool escaped[256] = {[0 ... 0x1f] = true, ['"'] = true, ['\\'] = true,
					  ['\''] = true,       ['?'] = true, [0x7f] = true};
	size_t run = 0;

	while (run < n && !escaped[(unsigned char)p[run]])
		run++;
	return run;
}

/* Append a string in quotes, with the escapes of C. */
static int ctf_string(struct buffer *out, const char *p, size_t n)
{
	static const char controls[] = "\a\b\t\n\v\f\r\033", letters[] = "abtnvfre";
	int bad = buffer_put(out, "\"", 1);

	for (size_t run; !bad; p += run + 1, n -= run + 1) {
		const char *known;

		run = ctf_plain_run(p, n);
		bad = buffer_put(out, p, run);
		if (bad || run == n)
			break;
		known = p[run] ? strchr(controls, p[run]) : NULL;
		if (known)
			bad = buffer_printf(out, "\\%c", letters[known - controls]);
		else if ((unsigned char)p[run] < ' ' || p[run] == 0x7f)
			bad = buffer_printf(out, "\\x%02x", p[run]);
		else
			bad = buffer_printf(out, "\\%c", p[run]);
	}
	return bad || buffer_put(out, "\"", 1) ? -1 : 0;
}

/* Append ( "label", "another" : container = 3 ). */
static int ctf_enum(struct buffer *out, const struct value_item *item)
{
	const struct definition *d = item->definition;
	const struct member *m = NULL;
	char digits[I128_SIZE];
	bool is_signed;
	uint64_t n = 0;

	if (value_integer(&item->value, d, &n, &is_signed))
		m = definition_member(d, n);
	if (buffer_puts(out, m ? "( " : "( <unknown>"))
		return -1;
	for (const char *lead = ""; m; m = definition_next_member(d, m, n), lead = ", ")
		if (buffer_puts(out, lead) || ctf_string(out, m->name.text, m->name.size))
			return -1;
	return buffer_puts(out, " : container = ") ||
			       buffer_append(out, digits,
					     value_enum_decimal(digits, d, &item->value)) ||
			       buffer_puts(out, " )")
		       ? -1
		       : 0;
}

static int ctf_number(const struct text_ctf_values *c, char format, uint64_t number)
{
	char text[24], *end = text + sizeof text, *p;

	switch (format) {
	case 'i': return buffer_signed(c->out, (int64_t)number);
	case 'x':
		p = digits_base(end, number, 16, true);
		return buffer_put(c->out, "0x", 2) || buffer_put(c->out, p, (size_t)(end - p));
	case 'o': return buffer_printf(c->out, "0%" PRIo64, number);
	}
	return buffer_decimal(c->out, number);
}

static int ctf_scalar(void *to, const struct value_item *item)
{
	const struct text_ctf_values *c = to;
	const struct value *v = &item->value;
	struct plain_value plain;
	long double real;

	switch (v->tag) {
	case VALUE_NUMBER: return ctf_number(c, (char)v->format, v->number);
	case VALUE_UINT:
		return ctf_number(
			c, c->field && !strcmp(c->field->type_name.text, "octal") ? 'o' : 'u',
			v->number);
	case VALUE_POINTER: return ctf_number(c, 'x', v->number);
	case VALUE_ENUM: return ctf_enum(c->out, item);
	case VALUE_STRING:
	case VALUE_BYTES: return ctf_string(c->out, (const char *)v->bytes, v->n);
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		return value_real(v, &real) ? buffer_printf(c->out, "%g", (double)real) : 0;
	case VALUE_MISSING: return buffer_u8(c->out, '?');
	}
	return value_plain(&c->plain, item, &plain) || plain_append(c->out, &plain) ? -1 : 0;
}

static int ctf_begin(void *to, const struct value_parent *v, const struct values *rest)
{
	(void)rest;
	return buffer_u8(((const struct text_ctf_values *)to)->out,
			 v->tag == VALUE_ARRAY ? '[' : '{');
}

static int ctf_child(void *to, const struct value_parent *v, const struct values *rest)
{
	struct buffer *out = ((const struct text_ctf_values *)to)->out;
	const struct text_ref *name = value_child_name(v);

	(void)rest;
	if (v->tag == VALUE_ARRAY)
		return buffer_put(out, ", [", v->index ? 3 : 0) ||
				       buffer_put(out, " [", v->index ? 0 : 2) ||
				       buffer_decimal(out, v->index) || buffer_put(out, "] = ", 4)
			       ? -1
			       : 0;
	if (buffer_put(out, ", ", v->index ? 2 : 0) || buffer_put(out, " ", !v->index))
		return -1;
	/* of a variant only the chosen member, without its name */
	if (!name || !strcmp(v->definition->name.text, "variant"))
		return 0;
	return buffer_append(out, name->text, name->size) || buffer_puts(out, " = ") ? -1 : 0;
}

static int ctf_end(void *to, const struct value_parent *v)
{
	return buffer_puts(((const struct text_ctf_values *)to)->out,
			   v->tag == VALUE_ARRAY ? " ]" : " }");
}

static const struct value_style ctf_style = {
	.scalar = ctf_scalar, .begin = ctf_begin, .child = ctf_child, .end = ctf_end};

int text_ctf_field(struct text_ctf_values *c, const struct event *ev, const struct field *f)
{
	c->field = f;
	return field_walk(&ctf_style, c, ev, f);
}

int text_ctf_value(struct text_ctf_values *c, struct values *v)
{
	c->field = NULL;
	return value_walk(&ctf_style, c, c->plain.dictionary, v);
}
