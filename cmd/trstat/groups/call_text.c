#include "cmd/trstat/groups/call_text.h"

#include "common/value/argument.h"
#include "common/value/value_text.h"

enum { TEXT_MOST = 40, ELEMENTS_MOST = 4 };

static int put_values(struct value_text *t, const struct event *e, enum detail_kind wanted)
{
	const struct location *p = dictionary_location(t->plain.dictionary, e->location);
	size_t before = t->out->size;
	struct values v;
	uint64_t index;
	uint8_t what;

	values_begin(&v, e->tail, e->tail_size);
	while (values_what(&v, &what, &index)) {
		if (what != wanted) {
			if (!values_skip(&v))
				break;
			continue;
		}
		if ((t->out->size > before && buffer_puts(t->out, ", ")) ||
		    (wanted == DETAIL_ARGUMENT &&
		     (argument_put_name(t->out, p, index, false) || buffer_u8(t->out, '='))) ||
		    (value_text_value(t, &v) && !v.bad))
			return -1;
	}
	return 0;
}

/* ftrace gives all events these fields; the thread and the type are known without them. */
static bool is_common(const struct field *f)
{
	return f->name.size > 7 && !memcmp(f->name.text, "common_", 7);
}

static int put_fields(struct value_text *t, const struct event *e)
{
	size_t before = t->out->size;

	for (uint32_t i = 0; i < e->type->nfields; i++) {
		const struct field *f = &e->type->fields[i];
		struct field_value v;

		field_get(e, f, 0, &v);
		if (v.form == FORM_NONE || f->role == ROLE_CALL || f->role == ROLE_ROW ||
		    f->role == ROLE_SOURCE_TIME || is_common(f))
			continue;
		if ((t->out->size > before && buffer_puts(t->out, ", ")) ||
		    buffer_append(t->out, f->name.text, f->name.size) || buffer_u8(t->out, '=') ||
		    value_text_field(t, e, f))
			return -1;
	}
	return 0;
}

static int put_call(struct buffer *b, const struct dictionary *d, const struct event *e,
		    enum detail_kind wanted)
{
	struct buffer scratch = {0};
	struct value_text t = {.out = b,
			       .plain = {d, &scratch, argument_blobs(e->type)},
			       .bytes = TEXT_MOST,
			       .elements = ELEMENTS_MOST,
			       .depth = 1,
			       .end = SIZE_MAX};
	int bad = e->type->flags & TYPE_VALUES ? put_values(&t, e, wanted) : put_fields(&t, e);

	buffer_free(&scratch);
	return bad;
}

int call_arguments(struct buffer *b, const struct dictionary *d, const struct event *e)
{
	return put_call(b, d, e, DETAIL_ARGUMENT);
}

int call_returned(struct buffer *b, const struct dictionary *d, const struct event *e)
{
	return put_call(b, d, e, DETAIL_RETURN);
}
