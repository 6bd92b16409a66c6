/*
 * text.c - values and fields as text, for targets that have no other form for them
 *
 * Strings are in quotes with the escapes of C, and bytes that are no UTF-8 are \xHH; names are
 * before their values; arrays are [1, 2], structs {a = 1}.
 */
#include <inttypes.h>

#include "cmd/trencode/convert/convert.h"
#include "common/stream/field.h"
#include "common/value/shortest.h"
#include "common/util/utf8.h"
#include "common/value/value_names.h"
#include "cmd/trencode/text/values.h"

static int put_text(struct buffer *b, const char *s)
{
	return buffer_append(b, s, strlen(s));
}

/* Append a string in quotes. The bytes of the text after the first `most` may be left out. */
static int put_quoted(struct buffer *b, const uint8_t *p, size_t n, size_t most)
{
	static const char letters[] = "abtnvfr";
	size_t from = b->size;

	if (put_text(b, "\""))
		return -1;
	n = n < most ? n : most;
	while (n && b->size - from <= most) {
		size_t plain = 0, one;

		while (plain < n &&
		       (p[plain] >= 0x20 && p[plain] != 0x7f && p[plain] != '"' &&
			p[plain] != '\\') &&
		       (one = utf8_length((const char *)p + plain, n - plain)))
			plain += one;
		if (plain && buffer_append(b, p, plain))
			return -1;
		p += plain;
		n -= plain;
		if (!n)
			break;
		if (*p == '"' || *p == '\\' ? buffer_printf(b, "\\%c", *p)
		    : *p >= 7 && *p <= 13   ? buffer_printf(b, "\\%c", letters[*p - 7])
					    : buffer_printf(b, "\\x%02x", *p))
			return -1;
		p++;
		n--;
	}
	return put_text(b, "\"");
}

static int put_wide(struct buffer *b, const struct value *v)
{
	struct buffer text = {0};
	const uint8_t *at = v->bytes;
	int result = 0;

	for (uint64_t i = 0; i < v->number && !result && text.size <= CONVERT_TEXT_MOST; i++) {
		uint64_t c = value_unit(&at);
		uint8_t u[4];
		size_t n = 1;

		u[0] = (uint8_t)c;
		if (c >= 0x10000) {
			u[0] = (uint8_t)(0xf0 | c >> 18), u[1] = (uint8_t)(0x80 | (c >> 12 & 63));
			u[2] = (uint8_t)(0x80 | (c >> 6 & 63)), u[3] = (uint8_t)(0x80 | (c & 63));
			n = 4;
		} else if (c >= 0x800) {
			u[0] = (uint8_t)(0xe0 | c >> 12), u[1] = (uint8_t)(0x80 | (c >> 6 & 63));
			u[2] = (uint8_t)(0x80 | (c & 63));
			n = 3;
		} else if (c >= 0x80) {
			u[0] = (uint8_t)(0xc0 | c >> 6), u[1] = (uint8_t)(0x80 | (c & 63));
			n = 2;
		}
		result = buffer_append(&text, u, n);
	}
	if (!result)
		result = put_text(b, "L") || put_quoted(b, text.data, text.size, CONVERT_TEXT_MOST)
				 ? -1
				 : 0;
	buffer_free(&text);
	return result;
}

/* One text of values while it is made. */
struct text_of {
	struct buffer *b;
	const struct dictionary *d;
	uint64_t *blobs;
	bool sums;  /* a number without a name of its own is the sum of several */
	size_t end; /* of b->size */
};

static struct text_of text_of(struct buffer *b, const struct dictionary *d, const struct event *ev,
			      uint64_t *blobs)
{
	return (struct text_of){b, d, blobs, !strcmp(ev->type->group.text, "uftrace"),
				b->size + CONVERT_TEXT_MOST};
}

/* Drop text after the end, which is never used; the values there are read to count their blobs. */
static void drop_rest(struct text_of *t)
{
	if (t->b->size > t->end)
		t->b->size = t->end;
}

static int put_value(struct text_of *t, struct values *v, unsigned nesting);

static int put_children(struct text_of *t, struct values *v, const struct value *of,
			unsigned nesting)
{
	const struct definition *d = NULL;
	bool braces = of->tag == VALUE_STRUCT;

	if (braces && of->definition)
		d = dictionary_definition_id(t->d, of->definition);
	if (put_text(t->b, braces ? "{" : "["))
		return -1;
	for (uint64_t i = 0; i < of->count; i++) {
		if (v->bad || v->at == v->end)
			break;
		if (i && put_text(t->b, ", "))
			return -1;
		if (d && i < d->count && d->members[i].name.size &&
		    (buffer_append(t->b, d->members[i].name.text, d->members[i].name.size) ||
		     put_text(t->b, " = ")))
			return -1;
		if (put_value(t, v, nesting + 1))
			return -1;
		drop_rest(t);
	}
	return put_text(t->b, braces ? "}" : "]");
}

/* Append the value x, which was read from v; its children follow in v. */
static int put_one(struct text_of *t, const struct value *x, struct values *v, unsigned nesting)
{
	struct value_names names = {.dictionary = t->d, .sums = t->sums};
	long double real;

	switch (x->tag) {
	case VALUE_STRING: return put_quoted(t->b, x->bytes, x->n, CONVERT_TEXT_MOST);
	case VALUE_WSTRING: return put_wide(t->b, x);
	case VALUE_BLOB: ++*t->blobs; return buffer_printf(t->b, "blob(%zu)", x->n);
	case VALUE_ARRAY:
	case VALUE_STRUCT: return put_children(t, v, x, nesting);
	case VALUE_REPR:
		if (put_value(t, v, nesting + 1))
			return -1;
		values_skip(v);
		return 0;
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		if (!value_real(x, &real))
			return put_text(t->b, "?");
		return value_real_text(t->b, x);
	case VALUE_UINT: return buffer_printf(t->b, "%" PRIu64, x->number);
	case VALUE_POINTER: return buffer_printf(t->b, "0x%" PRIx64, x->number);
	}
	return value_text(t->b, &names, x);
}

static int put_value(struct text_of *t, struct values *v, unsigned nesting)
{
	struct value x;

	v->bad |= nesting > VALUE_DEPTH;
	if (!values_value(v, &x))
		return 0;
	return put_one(t, &x, v, nesting);
}

int convert_text_value(struct buffer *b, const struct dictionary *d, const struct event *ev,
		       const struct value *v, struct values *rest, uint64_t *blobs)
{
	struct text_of t = text_of(b, d, ev, blobs);

	return put_one(&t, v, rest, 0);
}

int convert_text_values(struct buffer *b, const struct dictionary *d, const struct event *ev,
			enum detail_kind what, uint64_t *blobs)
{
	const struct location *location = dictionary_location(d, ev->location);
	const struct definition *names = location ? location->arguments : NULL;
	struct text_of t = text_of(b, d, ev, blobs);
	struct values v;
	uint64_t index;
	uint8_t kind;
	size_t from = b->size;

	for (values_begin(&v, ev->tail, ev->tail_size); v.at < v.end;) {
		if (!values_what(&v, &kind, &index))
			break;
		if (kind != what) {
			if (!values_skip(&v))
				break;
			continue;
		}
		if (b->size > from && put_text(b, ", "))
			return -1;
		if (what == DETAIL_ARGUMENT && names && index && index <= names->count &&
		    names->members[index - 1].name.size &&
		    (buffer_append(b, names->members[index - 1].name.text,
				   names->members[index - 1].name.size) ||
		     put_text(b, " = ")))
			return -1;
		if (put_value(&t, &v, 0))
			return -1;
		drop_rest(&t);
	}
	return 0;
}

/* --- fields --- */

static bool is_of(const struct type *t, const char *format)
{
	return t->source && !strcmp(t->source->format.text, format);
}

bool convert_is_own_field(const struct type *t, const struct field *f)
{
	if (f->role == ROLE_SOURCE_TIME || f->role == ROLE_ROW ||
	    (t->flags & TYPE_CALL_NUMBER && is_of(t, "apitrace")))
		return true;
	return (t->declaration.size || f->role == ROLE_TID) && !strncmp(f->name.text, "common_", 7);
}

static int put_element(struct buffer *b, const struct field *f, const struct field_value *v)
{
	const struct member *m;
	char real[SHORTEST_SIZE];

	switch (v->form) {
	case FORM_INT:
	case FORM_UINT:
		m = f->kind == FIELD_ENUM ? definition_member(f->definition, v->u) : NULL;
		if (m)
			return put_text(b, m->name.text);
		if (v->form == FORM_INT)
			return buffer_printf(b, "%" PRId64, v->i);
		return buffer_printf(b, f->kind == FIELD_HEX ? "0x%" PRIx64 : "%" PRIu64, v->u);
	case FORM_REAL: return buffer_append(b, real, shortest_real(real, v->real, v->size));
	case FORM_TEXT:
		if (f->kind != FIELD_BYTES && f->kind != FIELD_BITMAP)
			return put_quoted(b, v->text, v->size, SIZE_MAX);
		if (put_text(b, "0x"))
			return -1;
		for (size_t i = 0; i < v->size; i++)
			if (buffer_printf(b, "%02x", v->text[i]))
				return -1;
		return 0;
	case FORM_NONE: break;
	}
	return put_text(b, "?");
}

int convert_text_field(struct buffer *b, const struct event *ev, const struct field *f)
{
	uint32_t n = field_count(ev, f);
	struct field_value v;

	field_get(ev, f, 0, &v);
	if (n <= 1 || v.form == FORM_TEXT || v.form == FORM_NONE)
		return put_element(b, f, &v);
	for (uint32_t i = 0; i < n; i++) {
		field_get(ev, f, i, &v);
		if (put_text(b, i ? ", " : "[") || put_element(b, f, &v))
			return -1;
	}
	return put_text(b, "]");
}

bool convert_is_repeated(const struct type *t, const struct field *f)
{
	return t->kind == KIND_LEAVE && is_of(t, "chrome") && f->role == ROLE_NONE;
}

bool convert_is_return(const struct type *t, const struct field *f)
{
	return t->kind == KIND_LEAVE &&
	       (!strcmp(f->name.text, "ret") || !strcmp(f->name.text, "return"));
}

/* Append the fields with `is` before each value and `between` two of them, and after text that
 * begins at from; with the return value only if result. */
static int put_fields(struct buffer *b, const struct event *ev, size_t from, const char *is,
		      const char *between, bool result)
{
	struct field_value v;

	for (uint32_t i = 0; i < ev->type->nfields; i++) {
		const struct field *f = &ev->type->fields[i];

		if (convert_is_own_field(ev->type, f) || f->role == ROLE_CALL ||
		    convert_is_repeated(ev->type, f) || (!result && convert_is_return(ev->type, f)))
			continue;
		field_get(ev, f, 0, &v);
		if (v.form == FORM_NONE)
			continue;
		if ((b->size > from && put_text(b, between)) ||
		    buffer_append(b, f->name.text, f->name.size) || put_text(b, is) ||
		    convert_text_field(b, ev, f))
			return -1;
	}
	return 0;
}

int convert_text_fields(struct buffer *b, const struct event *ev)
{
	return put_fields(b, ev, b->size, "=", " ", true);
}

int convert_text_arguments(struct buffer *b, const struct dictionary *d, const struct event *ev,
			   uint64_t *blobs)
{
	size_t from = b->size;

	if (ev->type->kind == KIND_GAP)
		return 0;
	if (!(ev->type->flags & TYPE_VALUES))
		return put_fields(b, ev, from, "=", " ", false);
	return convert_text_values(b, d, ev, DETAIL_ARGUMENT, blobs) ||
			       put_fields(b, ev, from, " = ", ", ", false)
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
			return convert_text_field(b, ev, &ev->type->fields[i]);
	return 0;
}

int convert_text_row(struct buffer *b, const struct dictionary *d, const struct event *ev,
		     uint64_t *blobs)
{
	bool call = ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE;
	size_t from = b->size, inside;

	if (call && put_text(b, "("))
		return -1;
	inside = b->size;
	if (convert_text_arguments(b, d, ev, blobs))
		return -1;
	if (call && b->size == inside)
		b->size = from;
	else if (call && put_text(b, ")"))
		return -1;
	inside = b->size;
	if (put_text(b, b->size > from ? " = " : "= "))
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
