#include "cmd/trencode/convert/attribute_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/value/json.h"

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

static void set_json(const struct attribute_source *s, struct attribute *out)
{
	out->kind = ATTRIBUTE_JSON;
	out->text = (const char *)s->compound->data;
	out->number = s->compound->size;
}

static void take_plain(const struct plain_value *p, struct attribute *out)
{
	out->kind = p->kind;
	out->number = p->number;
	out->real = p->real;
	out->text = p->text;
}

/* Convert a value without children. */
static int set_scalar(const struct attribute_source *s, const struct value *v,
		      struct attribute *out)
{
	struct plain_value plain;

	if (value_plain(&s->plain, v, &plain))
		return -1;
	take_plain(&plain, out);
	return 0;
}

/* --- JSON of values with children --- */

static int put_item(const struct attribute_source *s, const struct attribute *item,
		    struct buffer *json)
{
	return attribute_json(item, s->quote_numbers, s->plain.scratch, json);
}

static int put_scalar(const struct attribute_source *s, const struct value *v, struct buffer *json)
{
	struct attribute item;

	return set_scalar(s, v, &item) || put_item(s, &item, json) ? -1 : 0;
}

static int put_children(const struct attribute_source *s, struct values *v,
			const struct value *value, unsigned nesting, struct buffer *json);

static int put_next(const struct attribute_source *s, struct values *v, unsigned nesting,
		    struct buffer *json)
{
	struct value value;

	/* matrices and vectors have many of these */
	if (v->end - v->at >= 5 && *v->at == VALUE_FLOAT) {
		v->at += 5;
		return json_append_float(json, get_float(v->at - 4));
	}
	if (v->end - v->at >= 2 && *v->at == VALUE_UINT && v->at[1] < 0x80) {
		v->at += 2;
		return attribute_put_integer(json, v->at[-1], false, false);
	}
	if (nesting > VALUE_DEPTH || !values_value(v, &value)) {
		v->bad = true;
		return -1;
	}
	return put_children(s, v, &value, nesting, json);
}

static int put_member(const struct definition *d, uint64_t i, struct buffer *json)
{
	char name[32];

	if (d && i < d->count && d->members[i].name.size)
		return json_append_string(json, d->members[i].name.text, d->members[i].name.size) ||
				       buffer_u8(json, ':')
			       ? -1
			       : 0;
	snprintf(name, sizeof name, "\"%" PRIu64 "\":", i);
	return buffer_append(json, name, strlen(name));
}

/* Append the elements of a matrix or a vector, at most `most`, up to the first that is no FLOAT. */
static int put_floats(struct values *v, uint64_t most, uint64_t *n, struct buffer *json)
{
	size_t count = value_floats(v->at, v->end, most);

	*n = count;
	for (; count--; v->at += 5)
		if (json_append_float(json, get_float(v->at + 1)) || buffer_u8(json, ','))
			return -1;
	return 0;
}

static int put_children(const struct attribute_source *s, struct values *v,
			const struct value *value, unsigned nesting, struct buffer *json)
{
	const struct definition *d = NULL;
	bool members = value->tag == VALUE_STRUCT;
	uint64_t i = 0;

	if (value->tag == VALUE_REPR) {
		/* the display form; the raw form is skipped */
		if (put_next(s, v, nesting + 1, json))
			return -1;
		return values_skip(v) ? 0 : -1;
	}
	if (value->tag != VALUE_ARRAY && !members)
		return put_scalar(s, value, json);
	if (value->definition)
		d = dictionary_definition_id(s->plain.dictionary, value->definition);
	if (buffer_u8(json, members ? '{' : '['))
		return -1;
	if (!members && put_floats(v, value->count, &i, json))
		return -1;
	for (; i < value->count; i++)
		if ((members && put_member(d, i, json)) || put_next(s, v, nesting + 1, json) ||
		    buffer_u8(json, ','))
			return -1;
	json->size -= i > 0;
	return buffer_u8(json, members ? '}' : ']');
}

static int set_compound(const struct attribute_source *s, struct values *v,
			const struct value *value, struct attribute *out)
{
	buffer_clear(s->compound);
	if (put_children(s, v, value, 0, s->compound))
		return -1;
	set_json(s, out);
	return 0;
}

int attribute_value_json(const struct attribute_source *s, struct values *v, struct buffer *to)
{
	return put_next(s, v, 0, to);
}

int attribute_value(const struct attribute_source *s, struct values *v, struct attribute *out)
{
	struct value value;
	unsigned raw = 0; /* raw forms that follow, to be skipped */

	*out = (struct attribute){0};
	do {
		if (raw > VALUE_DEPTH || !values_value(v, &value)) {
			v->bad = true;
			return -1;
		}
	} while (value.tag == VALUE_REPR && ++raw);
	if (value.tag == VALUE_ARRAY || value.tag == VALUE_STRUCT ? set_compound(s, v, &value, out)
								  : set_scalar(s, &value, out))
		return -1;
	while (raw--)
		if (!values_skip(v))
			return -1;
	return 0;
}

/* --- fields --- */

static int set_element(const struct attribute_source *s, const struct field *f,
		       const struct field_value *v, struct attribute *out)
{
	struct plain_value plain;

	*out = (struct attribute){0};
	if (field_plain(&s->plain, f, v, &plain))
		return -1;
	take_plain(&plain, out);
	return 0;
}

/* Get the first element. Returns true if it is the whole field. */
static bool get_single(const struct event *ev, const struct field *f, struct field_value *v)
{
	field_get(ev, f, 0, v);
	if (f->count <= 1 && f->where < WHERE_DATA_LOC)
		return true;
	return v->form == FORM_TEXT || (field_count(ev, f) <= 1 && !field_is_array(ev, f));
}

static int put_elements(const struct attribute_source *s, const struct event *ev,
			const struct field *f, struct buffer *json)
{
	uint32_t n = field_count(ev, f);
	struct field_value v;
	struct attribute item;

	if (buffer_u8(json, '['))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		field_get(ev, f, i, &v);
		if ((i && buffer_u8(json, ',')) || set_element(s, f, &v, &item) ||
		    put_item(s, &item, json))
			return -1;
	}
	return buffer_u8(json, ']');
}

int attribute_field(const struct attribute_source *s, const struct event *ev, const struct field *f,
		    struct attribute *out)
{
	struct field_value v;

	if (get_single(ev, f, &v))
		return set_element(s, f, &v, out);
	buffer_clear(s->compound);
	if (put_elements(s, ev, f, s->compound))
		return -1;
	*out = (struct attribute){0};
	set_json(s, out);
	return 0;
}

int attribute_field_json(const struct attribute_source *s, const struct event *ev,
			 const struct field *f, struct buffer *to)
{
	struct attribute item;
	struct field_value v;

	if (!get_single(ev, f, &v))
		return put_elements(s, ev, f, to);
	if (v.form == FORM_UINT && f->kind == FIELD_UINT && v.u <= UINT32_MAX)
		return attribute_put_integer(to, v.u, false, false);
	return set_element(s, f, &v, &item) || put_item(s, &item, to) ? -1 : 0;
}
