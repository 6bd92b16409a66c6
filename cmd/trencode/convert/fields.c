/*
 * fields.c - fields of events as numbers of a size, or as text
 */
#include <stdlib.h>

#include "cmd/trencode/convert/convert.h"
#include "common/stream/field.h"

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

struct convert_field *convert_fields_plan(const struct type *t, uint32_t most, bool graph,
					  uint32_t *n, uint64_t *lost)
{
	struct convert_field *fields = calloc(t->nfields + (size_t)1, sizeof *fields);
	bool call = t->kind == KIND_ENTER || t->kind == KIND_LEAVE;

	bool ftrace = call && !strcmp(t->group.text, "ftrace");

	*n = 0;
	if (ftrace && !graph)
		return fields;
	for (uint32_t i = 0; fields && i < t->nfields && !(t->flags & TYPE_VALUES); i++) {
		const struct field *f = &t->fields[i];

		if (convert_is_own_field(t, f) || (call && f->role == ROLE_CALL) ||
		    (ftrace && is_in_row(f)))
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

int convert_field_text(struct buffer *b, const struct convert_field *w, const struct event *ev)
{
	struct field_value v;

	field_get(ev, w->from, 0, &v);
	if (v.form == FORM_NONE)
		return 0;
	if (v.form == FORM_TEXT && w->from->kind != FIELD_BYTES && w->from->kind != FIELD_BITMAP)
		return v.size ? buffer_append(b, v.text, v.size) : 0;
	return convert_text_field(b, ev, w->from);
}

/* --- as values --- */

static int put_real(struct buffer *b, const struct field *f, double real)
{
	float single = (float)real;

	return f->size == 4 ? value_put_float(b, (const void *)&single, 4)
			    : value_put_float(b, (const void *)&real, 8);
}

static int put_element(struct buffer *b, const struct field *f, const struct field_value *v)
{
	switch (v->form) {
	case FORM_INT:
		return v->i < 0 ? value_put_uint(b, VALUE_NEGATIVE, -(uint64_t)v->i)
				: value_put_uint(b, VALUE_UINT, v->u);
	case FORM_UINT:
		return value_put_uint(b, f->kind == FIELD_HEX ? VALUE_POINTER : VALUE_UINT, v->u);
	case FORM_REAL: return put_real(b, f, v->real);
	case FORM_TEXT:
		return value_put_bytes(b,
				       f->kind == FIELD_BYTES || f->kind == FIELD_BITMAP
					       ? VALUE_BLOB
					       : VALUE_STRING,
				       v->text, v->size);
	case FORM_NONE: break;
	}
	return value_put_simple(b, VALUE_NULL);
}

static int put_value(struct buffer *b, const struct event *ev, const struct field *f)
{
	uint32_t n = field_count(ev, f);
	struct field_value v;

	field_get(ev, f, 0, &v);
	if (n <= 1 || v.form == FORM_TEXT || v.form == FORM_NONE)
		return put_element(b, f, &v);
	if (value_put_array(b, n))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		field_get(ev, f, i, &v);
		if (put_element(b, f, &v))
			return -1;
	}
	return 0;
}

int convert_field_values(struct buffer *b, const struct convert_field *fields, uint32_t n,
			 const struct event *ev, bool leave)
{
	for (uint32_t i = 0; i < n; i++)
		if (value_put_detail(b, leave && n == 1 ? DETAIL_RETURN : DETAIL_ARGUMENT,
				     leave && n == 1 ? 0 : i + 1) ||
		    put_value(b, ev, fields[i].from))
			return -1;
	return 0;
}
