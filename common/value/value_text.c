#include "common/value/value_text.h"

#include <ctype.h>

#include "common/util/utf8.h"

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

static bool is_string(const struct plain_source *s, uint8_t tag)
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
	return plain.kind == PLAIN_TEXT && is_string(&t->plain, tag)
		       ? text_quoted(t->out, plain.text, plain.number, t->bytes)
		       : plain_append(t->out, &plain);
}

static int text_begin(void *to, const struct value_parent *v, const struct values *rest)
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

static int text_end(void *to, const struct value_parent *v)
{
	struct value_text *t = to;

	t->depth++;
	return buffer_u8(t->out, v->tag == VALUE_ARRAY ? ']' : '}');
}

static const struct value_style text_style = {
	.scalar = text_scalar, .begin = text_begin, .child = text_child, .end = text_end};

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
