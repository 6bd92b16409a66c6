/*
 * raw.c - the fields of an event as `trace-cmd report -R` prints them
 *
 * Small signed numbers are printed with their sign; libtraceevent prints them as unsigned.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/stream/field.h"
#include "cmd/trencode/text/tracecmd/plan.h"

static uint64_t raw_number(const struct event *ev, const struct plan_field *f)
{
	struct field_value v;

	/* a field with neither size nor brackets is not an array for trace-cmd, and its number is 0
	 */
	if (f->field->where == WHERE_REST)
		return 0;
	field_get(ev, f->field, 0, &v);
	if (v.form == FORM_INT)
		return (uint64_t)v.i;
	if (v.form == FORM_UINT)
		return v.u;
	/* one character, or a structure: the number that its bytes are */
	if (v.form == FORM_TEXT && v.size && v.size <= 8)
		return get_uint(v.text, (unsigned)v.size, ev->type->flags & TYPE_BIG_ENDIAN);
	return 0;
}

static bool is_printable(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n && p[i]; i++)
		if (p[i] >= 0x80 || (!isprint(p[i]) && !isspace(p[i])))
			return false;
	return true;
}

/* Return the size in bytes of an array by the brackets of its type; 0: no brackets. The callers of
 * a stack may exceed it. */
static size_t declared_size(const struct field *f)
{
	const char *bracket = strchr(f->type_name.text, '[');

	return bracket ? f->size * (size_t)strtoul(bracket + 1, NULL, 10) : 0;
}

static void raw_print_array(struct line *out, const struct event *ev, struct plan_field *f)
{
	size_t n, most = f->field->where == WHERE_REST ? declared_size(f->field) : SIZE_MAX;
	bool rest = !most;
	const uint8_t *p = field_bytes(ev, f->field, &n), *nul;

	if (!rest && n > most)
		n = most;

	/* the record is shorter than its format: print the part there is */
	if (!p && f->field->where == WHERE_TAIL && f->field->offset < ev->tail_size) {
		p = ev->tail + f->field->offset;
		n = ev->tail_size - f->field->offset;
	}
	if (!p)
		return;
	/* without a length the field is text up to its NUL, printable or not; with one, it is no
	   text any more after the first record where it is not printable */
	f->string = f->string && (rest || is_printable(p, n));
	if (f->string) {
		nul = memchr(p, 0, n);
		line_put(out, (const char *)p, nul ? (size_t)(nul - p) : n);
		return;
	}
	line_puts(out, "ARRAY[");
	for (size_t i = 0; i < n && !rest; i++) {
		if (i)
			line_puts(out, ", ");
		line_hex(out, p[i], 2);
	}
	line_char(out, ']');
}

static void raw_print_plain(struct line *out, const struct plan_field *f, uint64_t v)
{
	if (f->pointer || (f->is_long && (!f->is_signed || f->field->size == 4))) {
		line_puts(out, "0x");
		line_hex(out, f->field->size == 4 ? (uint32_t)v : v, 1);
	} else if (f->is_signed) {
		line_i64(out, (int64_t)v);
	} else {
		line_u64(out, v);
	}
}

static void raw_print_function(struct line *out, const struct print_kernel *k,
			       const struct plan_field *f, uint64_t v)
{
	size_t n;
	uint64_t offset;
	const char *name = k->symbol(k->context, v, &n, &offset);

	if (!name) {
		line_puts(out, "0x");
		line_hex(out, v, 1);
		return;
	}
	line_put(out, name, n);
	if (f->how == PLAN_FUNCTION_AT) {
		line_puts(out, "+0x");
		line_hex(out, offset, 1);
	}
}

/* Convert a number to one of so many bytes. */
static uint64_t truncate_to(uint64_t v, unsigned bytes, bool is_signed)
{
	if (bytes >= 8)
		return v;
	if (is_signed)
		return (uint64_t)sign_extend(v, bytes);
	return v & ((1ull << 8 * bytes) - 1);
}

static void raw_print_number(struct line *out, const struct plan_field *f, uint64_t v)
{
	char last = f->conversion[strlen(f->conversion) - 1], text[512], c = (char)v;
	bool is_signed = last == 'd' || last == 'i';

	if (f->cast)
		v = truncate_to(v, f->cast, f->cast_signed);
	if (last == 'c') {
		if (c)
			line_char(out, c);
		return;
	}
	v = truncate_to(v, f->bits / 8, is_signed);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	/* the format consists of flags and digits, see take_conversion */
	snprintf(text, sizeof text, f->conversion, (unsigned long long)v);
#pragma GCC diagnostic pop
	line_puts(out, text);
}

static void raw_print_value(struct line *out, const struct event *ev, struct plan_field *f,
			    const struct print_kernel *k)
{
	const char *string;
	const uint8_t *rest;
	uint64_t v;
	size_t n;

	if (f->array) {
		raw_print_array(out, ev, f);
		return;
	}
	v = raw_number(ev, f);
	if (f->prefix && f->how != PLAN_PLAIN)
		line_puts(out, "0x");
	switch (f->how) {
	case PLAN_PLAIN: raw_print_plain(out, f, v); break;
	case PLAN_NUMBER: raw_print_number(out, f, v); break;
	case PLAN_FUNCTION:
	case PLAN_FUNCTION_AT: raw_print_function(out, k, f, v); break;
	case PLAN_POINTER:
		if (!v) {
			line_puts(out, "(nil)");
			break;
		}
		line_puts(out, "0x");
		line_hex(out, v, 1);
		break;
	case PLAN_STRING:
		/* old kernels declare the text of a marker with size 0 */
		rest = f->field->where == WHERE_REST ? field_bytes(ev, f->field, &n) : NULL;
		if (rest) {
			line_put(out, (const char *)rest, strnlen((const char *)rest, n));
			break;
		}
		string = k->string(k->context, v, &n);
		if (string)
			line_put(out, string, n);
		else
			line_hex(out, v, 1);
		break;
	}
}

void plan_text(struct plan *p, const struct event *ev, const struct print_kernel *k,
	       struct line *out)
{
	for (size_t i = 0; i < p->count; i++) {
		struct plan_field *f = &p->fields[i];

		line_char(out, ' ');
		line_put(out, f->field->name.text, f->field->name.size);
		line_char(out, '=');
		raw_print_value(out, ev, f, k);
	}
}
