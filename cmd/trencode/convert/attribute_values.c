#include "cmd/trencode/convert/attribute_values.h"

#include "common/value/json.h"
#include "common/value/value_walk.h"

int attribute_put_integer(struct buffer *to, uint64_t number, bool minus, bool quote)
{
	char *p;

	if (buffer_reserve(to, 24))
		return -1;
	p = (char *)to->data + to->size;
	if (quote)
		*p++ = '"';
	if (minus)
		*p++ = '-';
	p = decimal_at(p, number);
	if (quote)
		*p++ = '"';
	to->size = (size_t)((uint8_t *)p - to->data);
	return 0;
}

/* --- a value with its children, as JSON --- */

/* The output of one value. */
struct attribute_json {
	const struct attribute_source *source;
	struct buffer *json;
	struct attribute *out; /* an outermost value without children is put here; may be NULL */
};

/* Test for a string that a reader would take for a pointer. */
static bool is_marked(const struct attribute_json *j, uint8_t tag, const struct plain_value *p)
{
	return j->source->mark_strings && p->kind == PLAIN_TEXT && p->number > 2 &&
	       p->number <= 18 && !memcmp(p->text, "0x", 2) &&
	       (tag == VALUE_STRING || tag == VALUE_WSTRING || tag == VALUE_BLOB);
}

static int json_scalar(void *to, const struct value_item *v)
{
	const struct attribute_json *j = to;
	const struct plain_source *source = &j->source->plain;
	struct attribute item = {0};
	struct plain_value plain;

	if (value_plain(source, v, &plain))
		return -1;
	if (is_marked(j, v->value.tag, &plain))
		return buffer_puts(j->json, "\"\\u0030") ||
				       json_append_inside(j->json, plain.text + 1,
							  plain.number - 1) ||
				       buffer_u8(j->json, '"')
			       ? -1
			       : 0;
	item.kind = plain.kind;
	item.number = plain.number;
	item.real = plain.real;
	item.text = plain.text;
	if (!j->out || j->json->size)
		return attribute_json(&item, j->source->quote_numbers, source->scratch, j->json);
	*j->out = item;
	return 0;
}

static int json_begin(void *to, const struct value_parent *v, const struct values *rest)
{
	const struct attribute_json *j = to;

	(void)rest;
	return buffer_u8(j->json, v->tag == VALUE_STRUCT ? '{' : '[');
}

VALUE_INLINE int json_child(void *to, const struct value_parent *v, const struct values *rest)
{
	const struct text_ref *name = value_child_name(v);
	struct buffer *json = ((const struct attribute_json *)to)->json;

	(void)rest;
	if (v->index && buffer_u8(json, ','))
		return -1;
	if (v->tag != VALUE_STRUCT)
		return 0;
	if (name && name->size)
		return json_append_string(json, name->text, name->size) || buffer_u8(json, ':') ? -1
												: 0;
	return attribute_put_integer(json, v->index, false, true) || buffer_u8(json, ':') ? -1 : 0;
}

static int json_end(void *to, const struct value_parent *v)
{
	const struct attribute_json *j = to;

	return buffer_u8(j->json, v->tag == VALUE_STRUCT ? '}' : ']');
}

static int json_single(void *to, float number)
{
	return json_append_float(((const struct attribute_json *)to)->json, number);
}

static int json_small(void *to, uint8_t number)
{
	return buffer_decimal(((const struct attribute_json *)to)->json, number);
}

/* The outermost value may be no JSON. */
static const struct value_style attribute_style = {
	.scalar = json_scalar, .begin = json_begin, .child = json_child, .end = json_end};

static const struct value_style json_style = {.scalar = json_scalar,
					      .begin = json_begin,
					      .child = json_child,
					      .end = json_end,
					      .single = json_single,
					      .small = json_small};

int attribute_value_json(const struct attribute_source *s, struct values *v, struct buffer *to)
{
	struct attribute_json j = {s, to, NULL};

	return value_walk(&json_style, &j, s->plain.dictionary, v);
}

/* Take the JSON of a value with children. */
static void take_json(const struct attribute_source *s, struct attribute *out)
{
	if (!s->compound->size)
		return;
	*out = (struct attribute){.kind = ATTRIBUTE_JSON,
				  .text = (const char *)s->compound->data,
				  .number = s->compound->size};
}

int attribute_value(const struct attribute_source *s, struct values *v, struct attribute *out)
{
	struct attribute_json j = {s, s->compound, out};

	buffer_clear(s->compound);
	if (value_walk(&attribute_style, &j, s->plain.dictionary, v))
		return -1;
	take_json(s, out);
	return 0;
}

int attribute_field(const struct attribute_source *s, const struct event *ev, const struct field *f,
		    struct attribute *out)
{
	struct attribute_json j = {s, s->compound, out};

	buffer_clear(s->compound);
	if (field_walk(&attribute_style, &j, ev, f))
		return -1;
	take_json(s, out);
	return 0;
}

int attribute_element(const struct attribute_source *s, const struct event *ev,
		      const struct field *f, uint32_t index, struct attribute *out)
{
	struct attribute_json j = {s, s->compound, out};
	struct field_value v;
	struct value_item item;

	buffer_clear(s->compound);
	field_get(ev, f, index, &v);
	field_item(f, &v, &item);
	return json_scalar(&j, &item);
}

int attribute_field_json(const struct attribute_source *s, const struct event *ev,
			 const struct field *f, struct buffer *to)
{
	struct attribute_json j = {s, to, NULL};

	return field_walk(&attribute_style, &j, ev, f);
}
