/*
 * fields.c - fields of events as numbers of a size, or as text
 */
#include <stdlib.h>

#include "cmd/trencode/convert/convert.h"
#include "common/value/value_walk.h"

static void plan_field(struct convert_field *w, const struct field *f)
{
	*w = (struct convert_field){.from = f};
	if (f->count > 1 || f->where > WHERE_TAIL ||
	    (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8))
		return;
	if (f->kind == FIELD_UINT || f->kind == FIELD_HEX || f->kind == FIELD_BITMASK ||
	    (f->kind == FIELD_CHAR && f->size == 1)) {
		w->size = (uint8_t)f->size;
	} else if (f->kind == FIELD_INT || (f->kind == FIELD_ENUM && !f->definition)) {
		w->size = (uint8_t)f->size;
		w->is_signed = true;
	}
}

/* Test for the fields of ftrace's own calls that the row has anyway: the function and the depth. */
static bool is_in_row(const struct field *f)
{
	return f->role == ROLE_ADDRESS || !strcmp(f->name.text, "depth");
}

struct convert_field *convert_fields_plan(const struct type *t, uint32_t most, bool all,
					  uint32_t *n, uint64_t *lost)
{
	struct convert_field *fields = calloc(t->nfields + (size_t)1, sizeof *fields);
	bool call = t->kind == KIND_ENTER || t->kind == KIND_LEAVE;

	bool ftrace = call && !strcmp(t->group.text, "ftrace");

	*n = 0;
	if (ftrace && !all)
		return fields;
	for (uint32_t i = 0; fields && i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		if (convert_is_own_field(t, f) || (call && f->role == ROLE_CALL) ||
		    (ftrace && is_in_row(f)) || (!all && convert_is_repeated(t, f)))
			continue;
		if (*n == most)
			++*lost;
		else
			plan_field(&fields[(*n)++], f);
	}
	return fields;
}

uint64_t convert_field_number(const struct convert_field *w, const struct event *ev)
{
	struct field_value v;

	field_get(ev, w->from, 0, &v);
	return v.form == FORM_NONE ? 0 : v.u;
}

int convert_field_text(struct buffer *b, const struct dictionary *d, const struct convert_field *w,
		       const struct event *ev)
{
	struct field_value v;

	field_get(ev, w->from, 0, &v);
	if (v.form == FORM_NONE)
		return 0;
	if (v.form == FORM_TEXT && w->from->kind != FIELD_BYTES && w->from->kind != FIELD_BITMAP)
		return v.size ? buffer_append(b, v.text, v.size) : 0;
	return convert_text_field(b, d, ev, w->from);
}

/* --- as values --- */

static int put_scalar(void *to, const struct value_item *item)
{
	const struct value *v = &item->value;
	bool is_signed;
	uint64_t n;

	switch (v->tag) {
	case VALUE_POINTER: return value_put_uint(to, VALUE_POINTER, v->number);
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return value_put_float(to, v->bytes, v->size);
	case VALUE_STRING: return value_put_bytes(to, VALUE_STRING, v->bytes, v->n);
	case VALUE_BYTES: return value_put_bytes(to, VALUE_BLOB, v->bytes, v->n);
	}
	if (!value_integer(v, item->definition, &n, &is_signed))
		return value_put_simple(to, VALUE_NULL);
	return is_signed && (int64_t)n < 0 ? value_put_uint(to, VALUE_NEGATIVE, -n)
					   : value_put_uint(to, VALUE_UINT, n);
}

static int put_array(void *to, const struct value_parent *v, const struct values *rest)
{
	(void)rest;
	return value_put_array(to, v->count);
}

static const struct value_style field_style = {.scalar = put_scalar, .begin = put_array};

int convert_field_value(struct buffer *b, const struct convert_field *field, const struct event *ev,
			enum detail_kind what, uint64_t index)
{
	return value_put_detail(b, what, index) || field_walk(&field_style, b, ev, field->from) ? -1
												: 0;
}

/* --- as arguments --- */

const struct convert_fields *convert_arguments_fields(struct convert_arguments *a,
						      const struct type *t)
{
	struct convert_fields *types;
	uint64_t lost = 0;

	if (ARRAY_REACH(a->types, a->size, t->number))
		return NULL;
	types = a->types;
	types += t->number;
	if (!types->list) {
		types->list = convert_fields_plan(t, a->most, false, &types->n, &lost);
		a->lost += lost;
	}
	return types->list ? types : NULL;
}

/* Returns the number of names that the location of a row has for its arguments: fields follow. */
static uint32_t convert_arguments_named(const struct convert_arguments *a, const struct event *ev)
{
	const struct location *location = dictionary_location(a->dictionary, ev->location);

	return location && location->arguments ? location->arguments->count : 0;
}

int convert_arguments_join(struct convert_arguments *a, const struct event *ev, struct event *out)
{
	const struct convert_fields *fields = convert_arguments_fields(a, ev->type);
	bool values = ev->type->flags & TYPE_VALUES;
	uint32_t named;

	if (!fields)
		return -1;
	*out = *ev;
	if (!fields->n && values)
		return 0;
	a->values.size = 0;
	if (values && ev->tail_size && buffer_append(&a->values, ev->tail, ev->tail_size))
		return -1;
	named = convert_arguments_named(a, ev);
	for (uint32_t i = 0; i < fields->n; i++) {
		bool result = convert_is_return(ev->type, fields->list[i].from);

		if (convert_field_value(&a->values, &fields->list[i], ev,
					result ? DETAIL_RETURN : DETAIL_ARGUMENT,
					result ? 0 : named + i + 1))
			return -1;
	}
	out->tail = a->values.data;
	out->tail_size = (uint32_t)a->values.size;
	return 0;
}

void convert_arguments_free(struct convert_arguments *a)
{
	for (size_t i = 0; i < a->size; i++)
		free(a->types[i].list);
	free(a->types);
	buffer_free(&a->values);
}
