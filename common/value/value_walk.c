#include "common/value/value_walk.h"

/* Returns the tag of a whole number. */
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
