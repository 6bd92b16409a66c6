#include "cmd/trstat/groups/call_text.h"

#include <ctype.h>
#include <inttypes.h>

#include "common/value/argument.h"
#include "common/stream/field.h"
#include "common/value/shortest.h"
#include "common/value/value_plain.h"

enum { TEXT_MOST = 40, ELEMENTS_MOST = 4 };

static int put_text(struct buffer *b, const uint8_t *p, size_t n)
{
	int bad = buffer_u8(b, '"');

	for (size_t i = 0; i < n && i < TEXT_MOST && !bad; i++) {
		if (p[i] == '"' || p[i] == '\\')
			bad = buffer_printf(b, "\\%c", p[i]);
		else if (p[i] == '\n')
			bad = buffer_append(b, "\\n", 2);
		else if (p[i] < 0x20 || p[i] > 0x7e)
			bad = buffer_printf(b, "\\x%02x", p[i]);
		else
			bad = buffer_u8(b, p[i]);
	}
	return bad || buffer_printf(b, "\"%s", n > TEXT_MOST ? "..." : "") ? -1 : 0;
}

static int put_real(struct buffer *b, double real, size_t size)
{
	char text[SHORTEST_SIZE];

	return buffer_append(b, text, shortest_real(text, real, size));
}

static bool is_string(const struct plain_source *s, uint8_t tag)
{
	return tag == VALUE_STRING || tag == VALUE_WSTRING || (tag == VALUE_BLOB && !s->blobs);
}

/* Append a value without children, in the spelling of keys. */
static int put_plain(struct buffer *b, const struct plain_source *s, const struct value *v)
{
	struct plain_value plain;
	const char *text;
	size_t size;

	if (value_plain(s, v, &plain))
		return -1;
	if (plain.kind == PLAIN_INT)
		return buffer_printf(b, "%" PRId64, (int64_t)plain.number);
	if (plain.kind == PLAIN_UINT)
		return buffer_printf(b, "%" PRIu64, plain.number);
	if (plain.kind == PLAIN_TEXT && is_string(s, v->tag))
		return put_text(b, (const uint8_t *)plain.text, plain.number);
	return plain_text(&plain, &text, &size) ? buffer_append(b, text, size)
						: put_real(b, plain.real, 8);
}

static int put_value(struct buffer *b, const struct plain_source *s, struct values *v, int depth);

/* Append a value that nests no deeper than VALUE_DEPTH. */
static int put_sound(struct buffer *b, const struct plain_source *s, struct values *v, int depth)
{
	struct value out;

	values_value(v, &out);
	switch (out.tag) {
	/* the first child is the human-readable form */
	case VALUE_REPR: return put_sound(b, s, v, depth);
	case VALUE_ARRAY:
	case VALUE_STRUCT: break;
	case VALUE_NUMBER:
		if (out.format == 'c' && out.number < 128 && isprint((int)out.number))
			return buffer_printf(b, "'%c'", (int)out.number);
		/* fall through */
	default: return put_plain(b, s, &out);
	}
	if (buffer_u8(b, out.tag == VALUE_ARRAY ? '[' : '{'))
		return -1;
	for (uint64_t i = 0; i < out.count && depth > 0 && i < ELEMENTS_MOST; i++)
		if ((i && buffer_append(b, ", ", 2)) || put_value(b, s, v, depth - 1))
			return -1;
	if (out.count > (depth > 0 ? ELEMENTS_MOST : 0) && buffer_append(b, "...", 3))
		return -1;
	return buffer_u8(b, out.tag == VALUE_ARRAY ? ']' : '}');
}

/* Append the next value, and step over it. Elements nested deeper than depth are left out. */
static int put_value(struct buffer *b, const struct plain_source *s, struct values *v, int depth)
{
	struct values inside = *v;

	return values_skip(v) ? put_sound(b, s, &inside, depth) : 0;
}

static int put_argument_name(struct buffer *b, const struct dictionary *d, const struct event *e,
			     uint64_t index)
{
	const struct location *p = dictionary_location(d, e->location);
	const struct definition *names = p ? p->arguments : NULL;

	if (names && index && index <= names->count && names->members[index - 1].name.size)
		return buffer_append(b, names->members[index - 1].name.text,
				     names->members[index - 1].name.size) ||
		       buffer_u8(b, '=');
	if (index > FLOAT_ARGUMENTS)
		return buffer_printf(b, "fparg%" PRIu64 "=", index - FLOAT_ARGUMENTS);
	return buffer_printf(b, "arg%" PRIu64 "=", index);
}

static int put_values(struct buffer *b, const struct dictionary *d, const struct event *e,
		      enum detail_kind wanted)
{
	struct buffer scratch = {0};
	const struct plain_source source = {d, &scratch, argument_blobs(e->type)};
	size_t before = b->size;
	struct values v;
	uint64_t index;
	uint8_t what;
	int bad = 0;

	values_begin(&v, e->tail, e->tail_size);
	while (!bad && values_what(&v, &what, &index)) {
		if (what != wanted) {
			if (!values_skip(&v))
				break;
			continue;
		}
		bad = (b->size > before && buffer_append(b, ", ", 2)) ||
		      (wanted == DETAIL_ARGUMENT && put_argument_name(b, d, e, index)) ||
		      put_value(b, &source, &v, 1);
	}
	buffer_free(&scratch);
	return bad ? -1 : 0;
}

static int put_fields(struct buffer *b, const struct event *e)
{
	size_t before = b->size;

	for (uint32_t i = 0; i < e->type->nfields; i++) {
		const struct field *f = &e->type->fields[i];
		struct field_value v;
		int bad = 0;

		field_get(e, f, 0, &v);
		if (v.form == FORM_NONE || f->role == ROLE_CALL || f->role == ROLE_ROW ||
		    f->role == ROLE_SOURCE_TIME)
			continue;
		if ((b->size > before && buffer_append(b, ", ", 2)) ||
		    buffer_append(b, f->name.text, f->name.size) || buffer_u8(b, '='))
			return -1;
		if (v.form == FORM_TEXT)
			bad = put_text(b, v.text, v.size);
		else if (v.form == FORM_REAL)
			bad = put_real(b, v.real, v.size);
		else if (f->role == ROLE_ADDRESS)
			bad = buffer_printf(b, "0x%" PRIx64, v.u);
		else if (v.form == FORM_INT)
			bad = buffer_printf(b, "%" PRId64, v.i);
		else
			bad = buffer_printf(b, "%" PRIu64, v.u);
		if (bad)
			return -1;
	}
	return 0;
}

int call_arguments(struct buffer *b, const struct dictionary *d, const struct event *e)
{
	return e->type->flags & TYPE_VALUES ? put_values(b, d, e, DETAIL_ARGUMENT)
					    : put_fields(b, e);
}

int call_returned(struct buffer *b, const struct dictionary *d, const struct event *e)
{
	return e->type->flags & TYPE_VALUES ? put_values(b, d, e, DETAIL_RETURN) : put_fields(b, e);
}
