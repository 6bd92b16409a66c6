#include "cmd/trencode/table/field_columns.h"

#include <stdlib.h>

/* Values of field_columns.fields. */
enum { NOT_KNOWN, NO_FIELD, FIRST_FIELD };

void field_columns_init(struct field_columns *c, struct dictionary *d)
{
	attributes_init(&c->attributes, d);
	c->bytes.spills = true;
}

void field_columns_free(struct field_columns *c)
{
	attributes_free(&c->attributes);
	buffer_free(&c->bytes);
	free(c->fields);
}

int field_columns_add(struct field_columns *c, const char *name, size_t n)
{
	struct dictionary *d = c->attributes.dictionary;
	bool dot = n > 1 && *name == '.';
	struct text_ref column = dictionary_text(d, name, n);
	struct text_ref text = dictionary_text(d, name + dot, n - dot);

	if (!column.number || !text.number)
		return -1;
	c->columns[c->count] = column;
	c->names[c->count++] = text;
	return 0;
}

static uint32_t find_field(const struct type *t, const struct text_ref *name)
{
	const struct field *f = field_find(t, name->text);

	return f ? FIRST_FIELD + (uint32_t)(f - t->fields) : NO_FIELD;
}

int field_columns_take(struct field_columns *c, const struct event *ev)
{
	const struct type *t = ev->type;
	uint32_t *fields;

	if (ARRAY_REACH(c->fields, c->nfields, (size_t)(t->number + 1) * c->count - 1))
		return -1;
	fields = c->fields;
	fields += (size_t)t->number * c->count;
	for (size_t i = 0; i < c->count; i++) {
		const struct field *f;

		if (fields[i] == NOT_KNOWN)
			fields[i] = find_field(t, &c->names[i]);
		f = fields[i] == NO_FIELD ? NULL : &t->fields[fields[i] - FIRST_FIELD];
		if ((f || t->flags & TYPE_VALUES) &&
		    attributes_append_key(&c->attributes, ev, f, c->names[i], &c->bytes))
			return -1;
	}
	return 0;
}

int field_columns_read(struct field_columns *c)
{
	const struct attributes *a = &c->attributes;

	memset(c->cells, 0, sizeof c->cells);
	if (!c->bytes.size)
		return 0;
	if (attributes_read(&c->attributes, &c->bytes))
		return -1;
	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; k < c->count; k++)
			if (c->names[k].number == a->items[i].name)
				c->cells[k] = &a->items[i];
	return 0;
}

static enum field_form_of_column form_of(const struct field *f)
{
	if (f->where != WHERE_FIXED && f->where != WHERE_TAIL)
		return FIELD_COLUMN_TEXT;
	if (f->count > 1 || f->definition)
		return FIELD_COLUMN_TEXT;
	if (f->kind == FIELD_UINT || f->kind == FIELD_INT)
		return FIELD_COLUMN_INT;
	return f->kind == FIELD_FLOAT ? FIELD_COLUMN_REAL : FIELD_COLUMN_TEXT;
}

enum field_form_of_column field_columns_form(const struct field_columns *c, size_t column)
{
	const struct dictionary *d = c->attributes.dictionary;
	enum field_form_of_column form = FIELD_COLUMN_NONE, next;
	struct field element;
	uint32_t index;

	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);
		const struct field *f = field_find(t, c->names[column].text);

		if (!f)
			continue;
		element = *f;
		if (field_element(f, c->names[column].text, &index))
			element.count = 1;
		next = form_of(&element);
		form = form == FIELD_COLUMN_NONE || form == next ? next : FIELD_COLUMN_TEXT;
	}
	return form;
}
