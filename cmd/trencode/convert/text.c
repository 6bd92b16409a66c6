/*
 * text.c - values and fields as text (value_text.h), for targets that have no other form for them
 */
#include "cmd/trencode/convert/convert.h"
#include "common/value/value_text.h"

static struct value_text text_of(struct buffer *b, const struct dictionary *d,
				 struct buffer *scratch, uint64_t *blobs)
{
	return (struct value_text){.out = b,
				   .plain = {d, scratch, true},
				   .bytes = CONVERT_TEXT_MOST,
				   .elements = SIZE_MAX,
				   .depth = VALUE_DEPTH,
				   .end = b->size + CONVERT_TEXT_MOST,
				   .blobs = blobs};
}

int convert_text_value(struct buffer *b, const struct dictionary *d, struct values *v,
		       uint64_t *blobs)
{
	struct buffer scratch = {0};
	struct value_text t = text_of(b, d, &scratch, blobs);
	int bad = value_text_value(&t, v) && !v->bad ? -1 : 0;

	buffer_free(&scratch);
	return bad;
}

int convert_text_values(struct buffer *b, const struct dictionary *d, const struct event *ev,
			enum detail_kind what, uint64_t *blobs)
{
	const struct location *location = dictionary_location(d, ev->location);
	size_t from = b->size;
	const struct text_ref *name;
	struct values v;
	uint64_t index;
	uint8_t kind;

	values_begin(&v, ev->tail, ev->tail_size);
	while (values_what(&v, &kind, &index)) {
		if (kind != what) {
			if (!values_skip(&v))
				break;
			continue;
		}
		if (b->size > from && buffer_puts(b, ", "))
			return -1;
		name = what == DETAIL_ARGUMENT ? location_argument(location, index) : NULL;
		if (name && (buffer_append(b, name->text, name->size) || buffer_puts(b, " = ")))
			return -1;
		if (convert_text_value(b, d, &v, blobs))
			return -1;
		/* the values after the end are read to count their blobs */
		if (b->size > from + CONVERT_TEXT_MOST)
			b->size = from + CONVERT_TEXT_MOST;
	}
	return 0;
}

/* --- fields --- */

bool convert_is_own_field(const struct type *t, const struct field *f)
{
	if (f->role == ROLE_SOURCE_TIME || f->role == ROLE_ROW ||
	    (t->flags & TYPE_CALL_NUMBER && type_is_of(t, "apitrace")))
		return true;
	return (t->declaration.size || f->role == ROLE_TID) && !strncmp(f->name.text, "common_", 7);
}

int convert_text_field(struct buffer *b, const struct dictionary *d, const struct event *ev,
		       const struct field *f)
{
	struct buffer scratch = {0};
	struct value_text t = text_of(b, d, &scratch, NULL);
	int bad = value_text_field(&t, ev, f);

	buffer_free(&scratch);
	return bad;
}

bool convert_is_repeated(const struct type *t, const struct field *f)
{
	return t->kind == KIND_LEAVE && type_is_of(t, "chrome") && f->role == ROLE_NONE;
}

bool convert_is_return(const struct type *t, const struct field *f)
{
	return t->kind == KIND_LEAVE &&
	       (!strcmp(f->name.text, "ret") || !strcmp(f->name.text, "return"));
}

/* Append the fields after text that begins at from: as `a = 1, b = 2` if apart, else as `a=1 b=2`;
 * with the return value only if result. */
static int put_fields(struct buffer *b, const struct dictionary *d, const struct event *ev,
		      size_t from, bool apart, bool result)
{
	const char *is = apart ? " = " : "=", *between = apart ? ", " : " ";
	struct field_value v;

	for (uint32_t i = 0; i < ev->type->nfields; i++) {
		const struct field *f = &ev->type->fields[i];

		if (convert_is_own_field(ev->type, f) || f->role == ROLE_CALL ||
		    convert_is_repeated(ev->type, f) || (!result && convert_is_return(ev->type, f)))
			continue;
		field_get(ev, f, 0, &v);
		if (v.form == FORM_NONE)
			continue;
		if ((b->size > from && buffer_puts(b, between)) ||
		    buffer_append(b, f->name.text, f->name.size) || buffer_puts(b, is) ||
		    convert_text_field(b, d, ev, f))
			return -1;
	}
	return 0;
}

int convert_text_fields(struct buffer *b, const struct dictionary *d, const struct event *ev)
{
	return put_fields(b, d, ev, b->size, false, true);
}

int convert_text_arguments(struct buffer *b, const struct dictionary *d, const struct event *ev,
			   uint64_t *blobs)
{
	size_t from = b->size;

	if (ev->type->kind == KIND_GAP)
		return 0;
	if (!(ev->type->flags & TYPE_VALUES))
		return put_fields(b, d, ev, from, false, false);
	return convert_text_values(b, d, ev, DETAIL_ARGUMENT, blobs) ||
			       put_fields(b, d, ev, from, true, false)
		       ? -1
		       : 0;
}

/* Append the return value. */
static int put_result(struct buffer *b, const struct dictionary *d, const struct event *ev,
		      uint64_t *blobs)
{
	if (ev->type->flags & TYPE_VALUES)
		return convert_text_values(b, d, ev, DETAIL_RETURN, blobs);
	for (uint32_t i = 0; i < ev->type->nfields; i++)
		if (convert_is_return(ev->type, &ev->type->fields[i]))
			return convert_text_field(b, d, ev, &ev->type->fields[i]);
	return 0;
}

int convert_text_row(struct buffer *b, const struct dictionary *d, const struct event *ev,
		     uint64_t *blobs)
{
	bool call = ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE;
	size_t from = b->size, inside;

	if (call && buffer_puts(b, "("))
		return -1;
	inside = b->size;
	if (convert_text_arguments(b, d, ev, blobs))
		return -1;
	if (call && b->size == inside)
		b->size = from;
	else if (call && buffer_puts(b, ")"))
		return -1;
	inside = b->size;
	if (buffer_puts(b, b->size > from ? " = " : "= "))
		return -1;
	from = b->size;
	if (put_result(b, d, ev, blobs))
		return -1;
	if (b->size == from)
		b->size = inside;
	return 0;
}

void convert_text_cut(struct buffer *b, size_t from, size_t n, uint64_t *cut)
{
	if (b->size - from <= n)
		return;
	++*cut;
	while (n && (b->data[from + n] & 0xc0) == 0x80)
		n--;
	b->size = from + n;
}
