/*
 * convert_types.c - types of any source as markers of LTTng
 */
#include <stdlib.h>

#include "cmd/trencode/lttng/convert_types.h"
#include "common/stream/field.h"

enum { FIELDS_MOST = 200, TYPES_MOST = 60000, NUMBERS_AT = 8 };

static int put_number_format(struct buffer *b, const struct convert_field *w)
{
	return buffer_printf(b, " #%u%c%%%s%c", w->size, w->is_signed ? 'd' : 'u',
			     w->size == 8 ? "ll" : "",
			     w->from->kind == FIELD_HEX ? 'x'
			     : w->is_signed		? 'd'
							: 'u');
}

static int put_name(struct buffer *b, const struct text_ref *name, uint32_t number)
{
	if (b->size && buffer_u8(b, ' '))
		return -1;
	if (!name->size)
		return buffer_printf(b, "field%u", number + 1);
	return convert_name_escaped(b, name->text, name->size, " %#");
}

/* Append the format of a type as LTTng announces markers. */
static int make_format(const struct lttng_converted_type *w, const struct type *t, struct buffer *b)
{
	b->size = 0;
	if (buffer_printf(b, "_tid #4d%%d _pid #4d%%d"))
		return -1;
	if (w->call &&
	    (w->number ? buffer_printf(b, " _call #4u%%u") : buffer_printf(b, " _depth #4u%%u")))
		return -1;
	/* several functions may have the same name */
	if (((w->call || w->location) && buffer_printf(b, " _function #4u%%u")) ||
	    buffer_printf(b, " _order #4u%%u"))
		return -1;
	for (uint32_t i = 0; i < w->nfields; i++)
		if (w->fields[i].size && (put_name(b, &w->fields[i].from->name, i) ||
					  put_number_format(b, &w->fields[i])))
			return -1;
	if (buffer_printf(b, " _comm %%s"))
		return -1;
	if (w->call && buffer_printf(b, " _%s%s %%s",
				     t->flags & TYPE_PER_CPU  ? "cpu_"
				     : t->flags & TYPE_KERNEL ? "kernel_"
				     : t->flags & TYPE_INNER  ? "inner_"
							      : "",
				     w->leave ? "leave" : "enter"))
		return -1;
	if (w->location && buffer_printf(b, " _at %%s"))
		return -1;
	/* a leave may record arguments that the call changed */
	if (w->values &&
	    buffer_printf(b, w->leave ? " _outputs %%s _return %%s" : " _arguments %%s"))
		return -1;
	for (uint32_t i = 0; i < w->nfields; i++)
		if (!w->fields[i].size &&
		    (put_name(b, &w->fields[i].from->name, i) || buffer_printf(b, " %%s")))
			return -1;
	return 0;
}

/* Escape '~', after which the native encoder numbers formats of one name. */
static int marker_name(struct target_dictionary *d, const struct type *from, struct text_ref *out)
{
	struct buffer b = {0};
	int result = convert_name_escaped(&b, from->name.text, from->name.size, "~") ||
				     (!b.size && buffer_append(&b, "unnamed", 7))
			     ? -1
			     : 0;

	if (!result)
		*out = target_string(d, b.data, b.size);
	buffer_free(&b);
	return result;
}

/* Name the channel of a type, by which files are named. */
static int channel_name(struct lttng_types *l, struct target_dictionary *d, const struct type *from,
			struct text_ref *out)
{
	struct text_ref name = from->group;
	struct buffer b = {0};
	int result;

	if (!name.size && from->source)
		name = from->source->format;
	if (name.size > 60)
		name.size = 60;
	/* ids of a channel's markers have 16 bits */
	l->count++;
	if (l->count > TYPES_MOST)
		result = buffer_printf(&b, "types%u", l->count / TYPES_MOST);
	else if (name.size)
		result = convert_name_identifier(&b, name.text, name.size);
	else
		result = buffer_append(&b, "trace", 5);
	if (!result && b.size == 8 && !memcmp(b.data, "metadata", 8))
		result = buffer_append(&b, "_x", 2);
	if (!result)
		*out = target_string(d, b.data, b.size);
	buffer_free(&b);
	return result;
}

/* Declare the fields of the target type, in the order in which put_row writes them. */
static int describe_type(struct target_dictionary *d, const struct lttng_converted_type *w,
			 struct type *t)
{
	uint32_t n = 0, texts = 0, at = NUMBERS_AT, want = w->nfields + 10, all;
	struct field *f = target_fields(d, want), *x;

	if (!f)
		return -1;
	x = &f[n++];
	x->role = ROLE_SOURCE_TIME;
	x->size = 8;
	all = 3 + w->call + (w->call || w->location);
	for (uint32_t i = 0; i < all; i++, at += 4) {
		x = &f[n++];
		x->kind = i < 2 ? FIELD_INT : FIELD_UINT;
		x->offset = at;
		x->size = 4;
	}
	for (uint32_t i = 0; i < w->nfields; i++) {
		if (!w->fields[i].size)
			continue;
		x = &f[n++];
		x->kind = w->fields[i].is_signed ? FIELD_INT : FIELD_UINT;
		x->offset = at;
		x->size = w->fields[i].size;
		at += x->size;
	}
	for (uint32_t i = 0; i < w->nfields; i++)
		texts += !w->fields[i].size;
	texts += 1 + (w->call || w->location) + w->values + (w->values && w->leave);
	for (uint32_t i = 0; i < texts; i++) {
		x = &f[n++];
		x->kind = FIELD_STRING;
		x->where = i ? WHERE_STRING : WHERE_REST;
		x->offset = i;
		x->size = 1;
	}
	t->fixed_size = (uint32_t)align_up(at, 4);
	t->flags = TYPE_TAIL;
	t->fields = f;
	t->nfields = n;
	return 0;
}

static int new_type(struct lttng_types *l, struct target_dictionary *d, const struct type *from,
		    struct lttng_converted_type *w, bool location)
{
	struct type *t = target_type(d, "", "");
	uint64_t lost = 0;

	if (!t || marker_name(d, from, &t->name) || channel_name(l, d, from, &t->group))
		return -1;
	w->call = from->kind == KIND_ENTER || from->kind == KIND_LEAVE;
	w->leave = from->kind == KIND_LEAVE;
	w->number = w->call && from->flags & TYPE_CALL_NUMBER;
	w->values = from->flags & TYPE_VALUES;
	w->location = location;
	w->fields = convert_fields_plan(from, FIELDS_MOST, true, &w->nfields, &lost);
	l->fields_lost += lost;
	if (!w->fields || make_format(w, from, &l->text) || describe_type(d, w, t))
		return -1;
	t->declaration = target_string(d, l->text.data, l->text.size);
	w->type = t;
	return 0;
}

int lttng_types_find(struct lttng_types *l, struct target_dictionary *d, const struct event *ev,
		     const struct lttng_converted_type **out)
{
	bool call = ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE;
	bool location = ev->location && !call;
	size_t number = 2 * (size_t)ev->type->number + location;
	struct lttng_converted_type *list;

	if (ARRAY_REACH(l->list, l->size, number))
		return -1;
	list = l->list;
	*out = &list[number];
	return list[number].type ? 0 : new_type(l, d, ev->type, &list[number], location);
}

void lttng_types_free(struct lttng_types *l)
{
	for (size_t i = 0; i < l->size; i++)
		free(l->list[i].fields);
	free(l->list);
	buffer_free(&l->text);
}
